/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/keyfacts.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/output.h"
#include "lib/base/log.h"
#include "lib/base/show.h"

/* A sentinel is no longer than its file; each byte may become \xHH. */
#define SHOWN_MAX ((size_t)4 * 65536 + 8)

/* What a keyspec of 64 KiB is told as, with a name in front of each line. */
#define TOLD_MAX ((size_t)4 << 20)

bool keyfacts_wanted(const struct opts *opts)
{
	return opts_flag(opts, OPT_FINGERPRINT) ||
	       opts_flag(opts, OPT_SENTINEL);
}

/* The sentinel as `key` shows keys, or "none"; NULL without memory. */
static const char *show_sentinel(const struct bloomkey_spec *spec,
				 struct buf *out)
{
	const void *data;
	size_t len = bloomkey_sentinel(spec, &data);
	int rc = len > 0 ? show_copy(out, data, len) : buf_adds(out, "none");

	return rc == 0 ? buf_string(out) : NULL;
}

static json_t *as_json(const struct bloomkey_spec *spec, const char *sentinel)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < bloomkey_fields(spec); i++) {
		const char *check = bloomkey_field_check(spec, i);

		if (check != NULL &&
		    json_array_append_new(
			    checks, json_pack("{s:s, s:s}", "field",
					      bloomkey_field_name(spec, i),
					      "check", check)) != 0) {
			json_decref(checks);
			return NULL;
		}
	}
	return json_pack("{s:s, s:I, s:s, s:s, s:o}", "name",
			 bloomkey_name(spec), "buckets",
			 (json_int_t)bloomkey_buckets(spec), "fingerprint",
			 bloomkey_fingerprint(spec), "sentinel", sentinel,
			 "checks", checks);
}

static int as_table(const struct bloomkey_spec *spec, const char *sentinel,
		    enum output_format format, struct error *err)
{
	static const int right[] = {0, 0};
	struct table t;
	int bad = 0, rc;

	table_init(&t, 2);
	if (format == OUTPUT_CSV)
		bad |= table_add(&t, "name") | table_add(&t, "value");
	bad |= table_add(&t, "name") | table_add(&t, bloomkey_name(spec));
	bad |= table_add(&t, "buckets") |
	       table_addf(&t, "%" PRIu32, bloomkey_buckets(spec));
	bad |= table_add(&t, "fingerprint") |
	       table_add(&t, bloomkey_fingerprint(spec));
	bad |= table_add(&t, "sentinel") | table_add(&t, sentinel);
	for (size_t i = 0; i < bloomkey_fields(spec); i++)
		if (bloomkey_field_check(spec, i) != NULL)
			bad |= table_addf(&t, "check %s",
					  bloomkey_field_name(spec, i)) |
			       table_add(&t, bloomkey_field_check(spec, i));
	rc = output_table(&t, right, bad != 0, format, err);
	table_release(&t);
	return rc;
}

static int one_line(const char *text, struct error *err)
{
	return output_write(text, strlen(text), err) != 0 ||
			       output_write("\n", 1, err) != 0
		       ? -1
		       : 0;
}

/*
 * Each line that the fingerprint is the hash of, as a line of the log but as
 * it is: cut short or cleaned, two that differ could look alike, and nobody
 * could work out the hash.
 */
static int tell_text(const struct opts *opts, const struct bloomkey_spec *spec)
{
	const char *line = bloomkey_fingerprint_text(spec);
	struct buf out;
	int bad = 0;

	if (!log_wants(LOG_STEP))
		return 0;
	buf_init(&out, TOLD_MAX);
	while (*line != '\0' && bad == 0) {
		size_t len = strcspn(line, "\n");

		bad |= buf_addf(&out, "bloomctl %s: ", opts->command->name) |
		       buf_add(&out, line, len) | buf_adds(&out, "\n");
		line += len + (line[len] == '\n');
	}
	if (bad == 0)
		log_text(out.data, out.len);
	buf_release(&out);
	return bad;
}

int keyfacts_print(const struct opts *opts, const struct bloomkey_spec *spec,
		   struct error *err)
{
	struct buf shown;
	const char *sentinel;
	int rc;

	if (opts->arg_count > 0)
		return error_set(err, ERROR_USAGE,
				 "option --%s: no values beside it",
				 opts_flag(opts, OPT_SENTINEL) ? "sentinel"
							       : "fingerprint");
	buf_init(&shown, SHOWN_MAX);
	sentinel = show_sentinel(spec, &shown);
	if (tell_text(opts, spec) != 0 || sentinel == NULL)
		rc = error_nomem(err);
	else if (!opts_has(opts, OPT_FORMAT))
		rc = one_line(opts_flag(opts, OPT_SENTINEL)
				      ? sentinel
				      : bloomkey_fingerprint(spec),
			      err);
	else if (output_format(opts) == OUTPUT_JSON)
		rc = output_json(as_json(spec, sentinel), err);
	else
		rc = as_table(spec, sentinel, output_format(opts), err);
	buf_release(&shown);
	return rc;
}
