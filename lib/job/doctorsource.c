/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/doctorsource.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/num.h"

/* So old a standby's last transaction may be before it is told. */
#define LAG_MS (INT64_C(60) * 1000)

/* Milliseconds as a person would write them. */
static const char *span(int64_t ms, char out[CLOCK_TEXT_MAX])
{
	if (ms >= 10000)
		return clock_span(ms, out);
	(void)snprintf(out, CLOCK_TEXT_MAX, "%" PRId64 " ms", ms);
	return out;
}

static void look_at_server(struct findings *f, const struct examination *x)
{
	findings_add(f, FINDING_OK, "source", NULL,
		     "PostgreSQL %s at '%s', a %s; database '%s', user '%s'",
		     x->facts.software, x->facts.place,
		     x->facts.standby ? "standby" : "primary",
		     x->facts.database, x->facts.user);
	if (x->proxied)
		findings_add(f, FINDING_WARNING, "source proxy",
			     "give the address of the server itself: a read "
			     "takes a connection for as long as it lasts, and "
			     "several --jobs need the same server",
			     "a proxy answers in place of the server");
}

static void look_at_tls(struct findings *f, const struct examination *x)
{
	static const char remedy[] =
		"put sslmode=verify-full and sslrootcert=FILE into the source";
	bool tls = strncmp(x->protection, "TLS", 3) == 0;

	if (x->local)
		findings_add(f, FINDING_OK, "source TLS", NULL,
			     "%s, and the server is on this machine",
			     x->protection[0] != '\0' ? x->protection : "none");
	else if (x->protection[0] == '\0')
		findings_add(f, FINDING_WARNING, "source TLS", remedy,
			     "none: whoever is in between can read and change "
			     "rows");
	else if (tls && strcmp(x->sslmode, "verify-full") != 0)
		findings_add(f, FINDING_WARNING, "source TLS", remedy,
			     "%s, but sslmode is %s: whoever is in between can "
			     "pass for the server",
			     x->protection, x->sslmode);
	else
		findings_add(f, FINDING_OK, "source TLS", NULL, "%s%s",
			     x->protection,
			     tls ? ", and sslmode is verify-full" : "");
}

/* Whether each field takes bytes as they are. */
static bool takes_bytes(const struct bloomkey_spec *spec)
{
	for (size_t i = 0; i < bloomkey_fields(spec); i++) {
		size_t len;
		const char *rule = doctor_field_rule(spec, i, "encoding", &len);

		if (rule == NULL || len != 5 || memcmp(rule, "bytes", 5) != 0)
			return false;
	}
	return true;
}

static void look_at_encoding(struct findings *f, const struct examination *x,
			     const struct bloomkey_spec *spec)
{
	const char *name = x->facts.encoding;

	if (strcmp(name, "SQL_ASCII") != 0)
		findings_add(
			f, FINDING_OK, "source encoding", NULL, "%s%s", name,
			strcmp(name, "UTF8") == 0 ? "" : ", read as UTF-8");
	else if (takes_bytes(spec))
		findings_add(f, FINDING_OK, "source encoding", NULL,
			     "SQL_ASCII, and the keyspec takes bytes as they "
			     "are");
	else
		findings_add(f, FINDING_WARNING, "source encoding",
			     "say encoding = bytes in the keyspec, and have "
			     "programs use the same bytes",
			     "SQL_ASCII: nothing says what its bytes stand "
			     "for, and rows that are not UTF-8 have no key");
}

/* They are switched off where rows are read; a proxy or a hook may not know. */
static void look_at_timeouts(struct findings *f, const struct examination *x)
{
	const struct {
		const char *name;
		int64_t ms;
	} all[] = {
		{"statement_timeout", x->statement_timeout},
		{"idle_in_transaction_session_timeout", x->idle_timeout},
		{"transaction_timeout", x->transaction_timeout},
	};
	char text[256] = "";
	char number[CLOCK_TEXT_MAX];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		size_t len = strlen(text);

		if (all[i].ms > 0)
			(void)snprintf(text + len, sizeof(text) - len,
				       "%s%s %s", len > 0 ? ", " : "",
				       all[i].name, span(all[i].ms, number));
	}
	if (text[0] == '\0')
		findings_add(f, FINDING_OK, "source timeouts", NULL,
			     "this user has none");
	else
		findings_add(f, FINDING_OK, "source timeouts", NULL,
			     "%s of this user, which bloomctl switches off for "
			     "its own reads",
			     text);
}

/*
 * How long replay waits for a read that is in its way.  A read of two passes,
 * as a build makes to count first, is to fit into that.
 */
static void look_at_conflicts(struct findings *f, const struct examination *x)
{
	const char *name = x->receives ? "max_standby_streaming_delay"
				       : "max_standby_archive_delay";
	int64_t delay = x->receives ? x->streaming_delay : x->archive_delay;
	int64_t read = doctor_read_ms(x);
	bool bad = x->feedback == 0 && delay >= 0 &&
		   (read < 0 || 2 * read > delay);
	char number[CLOCK_TEXT_MAX];
	char text[128];

	if (x->feedback == EXAMINE_UNKNOWN || delay == EXAMINE_UNKNOWN) {
		findings_add(f, FINDING_WARNING, "source standby",
			     "look at hot_standby_feedback and "
			     "max_standby_streaming_delay there",
			     "it does not say how long it lets a read go on");
		return;
	}
	(void)snprintf(text, sizeof(text), "hot_standby_feedback is %s, %s %s",
		       x->feedback == 1 ? "on" : "off", name,
		       delay < 0 ? "without end" : span(delay, number));
	if (bad)
		findings_add(f, FINDING_WARNING, "source standby",
			     "set hot_standby_feedback = on there, or raise "
			     "that delay above the time of a build",
			     "%s: a VACUUM on the primary can cancel a read "
			     "that takes longer",
			     text);
	else
		findings_add(f, FINDING_OK, "source standby", NULL, "%s", text);
}

static void look_at_lag(struct findings *f, const struct examination *x)
{
	bool current = x->receives && x->behind == 0;
	char age[CLOCK_TEXT_MAX];
	char bytes[NUM_TEXT_MAX] = "";

	if (x->facts.lag_ms >= 0)
		(void)span(x->facts.lag_ms, age);
	else
		(void)snprintf(age, sizeof(age), "of an age not known");
	if (x->behind > 0)
		(void)num_bytes_text((uint64_t)x->behind, bytes);
	if (x->paused)
		findings_add(f, FINDING_WARNING, "source lag",
			     "SELECT pg_wal_replay_resume() there, or wait for "
			     "whoever paused it",
			     "replay is paused: what was committed since is "
			     "missing in what is read");
	else if (current)
		findings_add(f, FINDING_OK, "source lag", NULL,
			     "it has replayed all that it has received");
	else if (x->facts.lag_ms > LAG_MS)
		findings_add(f, FINDING_WARNING, "source lag",
			     "wait until it has caught up, or read another "
			     "standby",
			     "the last transaction that it has replayed is %s "
			     "old%s%s%s: what was committed since is missing "
			     "in what is read",
			     age, bytes[0] != '\0' ? ", and " : "", bytes,
			     bytes[0] != '\0' ? " of log are to be replayed"
					      : "");
	else
		findings_add(
			f, FINDING_OK, "source lag", NULL,
			"the last transaction that it has replayed is %s%s",
			age, x->facts.lag_ms >= 0 ? " old" : "");
}

static int look_at_database(struct source *source,
			    const struct bloomkey_spec *spec,
			    struct findings *f, struct error *err)
{
	struct examination x;
	int rc;

	memset(&x, 0, sizeof(x));
	rc = source->ops->examine(source, &x, err);
	if (rc == 0) {
		look_at_server(f, &x);
		look_at_tls(f, &x);
		if (x.facts.standby) {
			look_at_conflicts(f, &x);
			look_at_lag(f, &x);
		}
		look_at_timeouts(f, &x);
		look_at_encoding(f, &x, spec);
		doctor_rows(f, &x, spec);
	}
	examination_release(&x);
	return rc;
}

/* Files, which have a size, or what is read once and not before it must. */
static int look_at_bytes(struct source *source, struct findings *f,
			 struct error *err)
{
	const struct rowformat format = {.kind = ROWFORMAT_CSV};
	struct source_part *parts = NULL;
	size_t count = 0;
	char bytes[NUM_TEXT_MAX];

	if (source->ops->split(source, 1, &format, &parts, &count, err) != 0)
		return -1;
	if (source->ops->bytes == NULL)
		for (size_t i = 0; i < count; i++)
			findings_add(f, FINDING_OK, "source", NULL,
				     "%s, of which nothing is read before a "
				     "build is",
				     parts[i].name);
	else
		findings_add(f, FINDING_OK, "source", NULL,
			     "%zu %s there, %s in all", count,
			     count == 1 ? "file is" : "files are",
			     num_bytes_text(source->ops->bytes(source), bytes));
	source_parts_free(parts, count);
	return 0;
}

static void add_error(struct findings *f, const struct error *why)
{
	static const char twice[] = "source: ";
	struct error one = *why;

	if (strncmp(one.text, twice, sizeof(twice) - 1) == 0)
		memmove(one.text, one.text + sizeof(twice) - 1,
			strlen(one.text + sizeof(twice) - 1) + 1);
	findings_add_error(f, "source", &one);
}

int doctor_source(struct source *source, const struct bloomkey_spec *spec,
		  const struct error *opened, struct findings *findings,
		  struct error *err)
{
	struct error why = ERROR_INIT;
	int rc = 0;

	if (source == NULL)
		add_error(findings, opened);
	else if (source->ops->examine != NULL)
		rc = look_at_database(source, spec, findings, &why);
	else
		rc = look_at_bytes(source, findings, &why);
	if (rc != 0 &&
	    (why.code == ERROR_INTERNAL || why.code == ERROR_INTERRUPTED ||
	     why.code == ERROR_TERMINATED)) {
		*err = why;
		return -1;
	}
	if (rc != 0)
		add_error(findings, &why);
	return findings_end(findings, err);
}
