/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/out.h"
#include "lib/base/show.h"
#include "lib/job/missed.h"

enum output_format output_format(const struct opts *opts)
{
	const char *text = opts_text(opts, OPT_FORMAT);

	if (text == NULL || strcmp(text, "table") == 0)
		return OUTPUT_TABLE;
	return strcmp(text, "json") == 0 ? OUTPUT_JSON : OUTPUT_CSV;
}

/* There is one standard output, so there is one of these. */
static struct out answers = OUT_INIT(STDOUT_FILENO, "standard output");

int output_write(const void *data, size_t len, struct error *err)
{
	return out_write(&answers, data, len, err);
}

int output_flush(struct error *err)
{
	return out_flush(&answers, err);
}

bool output_failed(void)
{
	return answers.failure.code != ERROR_NONE;
}

int output_json(json_t *json, struct error *err)
{
	size_t len;
	char *text;
	int rc;

	if (json == NULL)
		return error_nomem(err);
	text = json_text(json, 2, &len, err);
	json_decref(json);
	if (text == NULL)
		return -1;
	rc = output_write(text, len, err);
	free(text);
	return rc;
}

int output_table(const struct table *t, const int *right, bool failed,
		 enum output_format format, struct error *err)
{
	struct buf out;
	int rc;

	buf_init(&out, 256u << 20);
	if (format == OUTPUT_CSV)
		failed = failed || table_csv(t, &out) != 0;
	else
		failed = failed || table_text(t, right, &out) != 0;
	rc = failed ? error_nomem(err) : output_write(out.data, out.len, err);
	buf_release(&out);
	return rc;
}

json_t *output_time(int64_t wall_ms)
{
	char text[CLOCK_TEXT_MAX];

	return wall_ms == 0 ? json_null()
			    : json_string(clock_text(wall_ms, text));
}

/* Names of files may be no UTF-8, which JSON must be. */
json_t *output_text(const char *text)
{
	json_t *json;
	char *clean;

	if (text == NULL || text[0] == '\0')
		return json_null();
	clean = strdup(text);
	if (clean == NULL)
		return NULL;
	show_clean(clean);
	json = json_string(clean);
	free(clean);
	return json;
}

static json_t *parse_origin(const char *origin)
{
	struct error ignored = ERROR_INIT;

	return origin != NULL ? json_parse(origin, strlen(origin), &ignored)
			      : json_null();
}

json_t *output_horizon(const struct manifest *m)
{
	return m != NULL ? horizon_json(&m->horizon) : json_null();
}

json_t *output_origin(const struct manifest *m)
{
	return parse_origin(m != NULL ? m->origin : NULL);
}

json_t *output_finding(const struct finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:o}", "level",
			 finding_level_name(f->level), "what", f->what,
			 "evidence", f->evidence, "remedy",
			 output_text(f->remedy));
}

int output_finding_text(const struct finding *f, struct buf *out)
{
	if (buf_addf(out, "%-7s  %s: %s\n", finding_level_name(f->level),
		     f->what, f->evidence) != 0)
		return -1;
	return f->remedy[0] != '\0' ? buf_addf(out, "         %s\n", f->remedy)
				    : 0;
}

long long output_recent_s(const struct receipt *r)
{
	return (long long)(r->recent_ms + 999) / 1000;
}

/* The reasons that were met, with how often. */
static json_t *rejects_json(const struct rejects_count *count)
{
	json_t *json = json_object();
	int bad = json == NULL;

	for (size_t i = 0; count != NULL && i < REJECTS_REASONS; i++)
		if (count->reasons[i] > 0)
			bad |= json_object_set_new(
				json, rejects_reason_name(i),
				json_integer((json_int_t)count->reasons[i]));
	if (bad == 0)
		return json;
	json_decref(json);
	return NULL;
}

/* Keys that were not found at first, by what became of them. */
static json_t *missed_json(const uint64_t *whys)
{
	json_t *json = json_object();
	int bad = json == NULL;

	for (int i = 0; whys != NULL && i < MISSED_WHYS; i++)
		bad |= json_object_set_new(json,
					   missed_why_name((enum missed_why)i),
					   json_integer((json_int_t)whys[i]));
	if (bad == 0)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *replicas_json(const struct replicas *replicas)
{
	json_t *json = json_array();
	int bad = json == NULL;

	for (size_t i = 0; replicas != NULL && i < replicas->count; i++) {
		const struct replica *r = &replicas->all[i];

		bad |= json_array_append_new(
			json, json_pack("{s:o, s:o, s:I, s:I, s:I}", "name",
					output_text(r->name), "primary",
					output_text(r->primary), "asked",
					(json_int_t)r->asked, "missing",
					(json_int_t)r->missing, "behind",
					(json_int_t)r->behind));
	}
	if (bad == 0)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *receipt_json(const struct receipt *r, int status,
			    const struct error *err)
{
	const struct manifest *m = r->m;
	json_t *json = json_object();
	char run[NAMES_ID_MAX];
	char set[NAMES_SET_MAX] = "";
	int bad = json == NULL;

	if (r->run[0] != '\0')
		memcpy(run, r->run, sizeof(run));
	else
		names_id_new(r->started, run);
	if (r->spec != NULL)
		names_set(r->spec, set);
#define PUT(name, value) (bad |= json_object_set_new(json, name, value))
	PUT("command", json_string(r->command));
	PUT("run", json_string(run));
	PUT("status",
	    json_integer(status < 0 ? (json_int_t)err->code : status));
	PUT("message", status < 0 ? json_string(err->text) : json_null());
	PUT("step", output_text(r->step));
	PUT("dry_run", json_boolean(r->dry_run));
	PUT("set", output_text(set));
	PUT("fingerprint",
	    output_text(r->spec != NULL ? bloomkey_fingerprint(r->spec)
					: NULL));
	PUT("generation", output_text(m != NULL ? m->generation : NULL));
	PUT("previous", output_text(r->previous));
	PUT("source",
	    json_pack("{s:o, s:o}", "names", output_text(r->source), "origin",
		      r->origin != NULL ? parse_origin(r->origin)
					: output_origin(m)));
	PUT("rows", json_integer((json_int_t)r->rows));
	PUT("keys", json_integer((json_int_t)r->keys));
	PUT("rejects", rejects_json(r->rejects));
	PUT("sent", json_integer((json_int_t)r->sent));
	PUT("acknowledged", json_integer((json_int_t)r->acknowledged));
	PUT("added", json_integer(m != NULL ? (json_int_t)m->added : 0));
	PUT("asked", json_integer((json_int_t)r->asked));
	PUT("missing", json_integer((json_int_t)r->missing));
	PUT("missed", missed_json(r->missed));
	PUT("replicas", replicas_json(r->replicas));
	PUT("absent", json_integer((json_int_t)r->absent));
	PUT("absent_found", json_integer((json_int_t)r->absent_hits));
	PUT("capacity",
	    m != NULL ? json_integer((json_int_t)m->capacity) : json_null());
	PUT("error", m != NULL ? json_real(m->error) : json_null());
	PUT("horizon",
	    r->horizon != NULL ? horizon_json(r->horizon) : output_horizon(m));
	PUT("exposure_s", r->exposed ? json_real((double)r->exposure_ms / 1000)
				     : json_null());
	PUT("recent_ttl_s",
	    r->exposed ? json_integer(output_recent_s(r)) : json_null());
	PUT("started", output_time(r->started));
	PUT("ended", output_time(clock_wall_ms()));
#undef PUT
	if (bad == 0)
		return json;
	json_decref(json);
	return NULL;
}

char *output_receipt_text(const struct receipt *r, int status,
			  const struct error *why, size_t *len,
			  struct error *err)
{
	json_t *json = receipt_json(r, status, why);
	char *text = NULL;

	if (json != NULL)
		text = json_text(json, 2, len, err);
	else
		(void)error_nomem(err);
	json_decref(json);
	return text;
}

int output_receipt(const struct opts *opts, const struct receipt *r, int status,
		   struct error *err)
{
	const char *path = opts_text(opts, OPT_RECEIPT);
	struct error wrong = ERROR_INIT;
	char *text;
	size_t len = 0;
	int rc = -1;

	/* Before it says that all went well. */
	if (status >= 0 && output_flush(err) != 0)
		status = -1;
	if (path == NULL)
		return status;
	text = output_receipt_text(r, status, err, &len, &wrong);
	if (text != NULL)
		rc = file_replace_path(path, text, len, 0644, &wrong);
	free(text);
	if (rc == 0)
		return status;
	(void)error_prefix(&wrong, "receipt");
	if (status < 0) {
		log_warn("%s", wrong.text);
		return status;
	}
	*err = wrong;
	return error_hint(err, "all else went well; only the receipt is "
			       "missing");
}
