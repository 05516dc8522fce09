/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/job/doctor.h"

static void a_clean_primary(void)
{
	static const char *const names[] = {
		"source",          "source TLS",    "source timeouts",
		"source encoding", "source rights", "source columns",
		"source plan",     "source rows",   "source jobs"};
	struct patient_source s;
	struct findings f;

	patient_init(&s);
	f = examined(&s, JOB_KEYSPEC);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)found(&f, FINDING_OK, names[i]);
	CHECK_U64(f.count, sizeof(names) / sizeof(names[0]));
	CHECK(found_says(&f, FINDING_OK, "source",
			 "PostgreSQL 15.18 at 'h:5432', a primary; "
			 "database 'd', user 'u'"));
	findings_release(&f);
}

static void a_clean_standby(void)
{
	struct patient_source s;
	struct findings f;

	patient_init(&s);
	patient_follows(&s);
	f = examined(&s, JOB_KEYSPEC);
	CHECK_U64(findings_worst(&f)->level, FINDING_OK);
	CHECK_U64(f.count, 11);
	CHECK(found_says(&f, FINDING_OK, "source", "a standby"));
	CHECK(found_says(&f, FINDING_OK, "source standby",
			 "hot_standby_feedback is off, "
			 "max_standby_streaming_delay 30 s"));
	CHECK(found_says(&f, FINDING_OK, "source lag", "all that"));
	findings_release(&f);
}

static void tls(void)
{
	struct patient_source s;

	patient_init(&s);
	CHECK(finds(&s, FINDING_OK, "source TLS", "none, and the server"));
	s.x.local = false;
	CHECK(finds(&s, FINDING_WARNING, "source TLS", "none: whoever"));
	strcpy(s.x.protection, "TLSv1.3");
	CHECK(finds(&s, FINDING_WARNING, "source TLS",
		    "TLSv1.3, but sslmode is prefer"));
	strcpy(s.x.sslmode, "verify-ca");
	CHECK(finds(&s, FINDING_WARNING, "source TLS", "verify-ca"));
	strcpy(s.x.sslmode, "verify-full");
	CHECK(finds(&s, FINDING_OK, "source TLS", "TLSv1.3, and sslmode"));
	strcpy(s.x.protection, "GSSAPI");
	strcpy(s.x.sslmode, "prefer");
	CHECK(finds(&s, FINDING_OK, "source TLS", "GSSAPI"));
}

static void a_proxy(void)
{
	struct patient_source s;

	patient_init(&s);
	CHECK(finds_no(&s, "source proxy"));
	s.x.proxied = true;
	CHECK(finds(&s, FINDING_WARNING, "source proxy", "a proxy answers"));
}

static void encodings(void)
{
	struct patient_source s;
	struct findings f;

	patient_init(&s);
	strcpy(s.x.facts.encoding, "LATIN1");
	CHECK(finds(&s, FINDING_OK, "source encoding", "read as UTF-8"));
	strcpy(s.x.facts.encoding, "SQL_ASCII");
	CHECK(finds(&s, FINDING_WARNING, "source encoding", "SQL_ASCII: "));
	f = examined(&s, JOB_KEYSPEC "encoding = bytes\n");
	CHECK(found_says(&f, FINDING_OK, "source encoding", "as they are"));
	findings_release(&f);
	f = examined(&s, JOB_KEYSPEC "encoding = bytes\n"
				     "[field id]\nencoding = utf-8\n");
	CHECK(found_says(&f, FINDING_WARNING, "source encoding", "SQL_ASCII"));
	findings_release(&f);
}

static void timeouts(void)
{
	struct patient_source s;

	patient_init(&s);
	CHECK(finds(&s, FINDING_OK, "source timeouts", "has none"));
	s.x.statement_timeout = 5000;
	CHECK(finds(&s, FINDING_OK, "source timeouts",
		    "statement_timeout 5000 ms of this user"));
	s.x.idle_timeout = 86400000;
	s.x.transaction_timeout = 600000;
	CHECK(finds(&s, FINDING_OK, "source timeouts",
		    "statement_timeout 5000 ms, "
		    "idle_in_transaction_session_timeout 24 h, "
		    "transaction_timeout 10 min of this user"));
}

/* A build reads 7.5 M rows twice in 30 s. */
static void a_standby_that_cancels(void)
{
	struct patient_source s;

	patient_init(&s);
	patient_follows(&s);
	s.x.plan.rows = 7500000;
	CHECK(finds(&s, FINDING_OK, "source standby", "30 s"));
	s.x.plan.rows = 8000000;
	CHECK(finds(&s, FINDING_WARNING, "source standby",
		    "hot_standby_feedback is off, max_standby_streaming_delay "
		    "30 s: a VACUUM"));
	s.x.feedback = 1;
	CHECK(finds(&s, FINDING_OK, "source standby",
		    "hot_standby_feedback is on"));
	s.x.feedback = 0;
	s.x.streaming_delay = -1;
	CHECK(finds(&s, FINDING_OK, "source standby", "without end"));
	s.x.receives = false;
	CHECK(finds(&s, FINDING_WARNING, "source standby",
		    "max_standby_archive_delay 30 s"));
	s.x.archive_delay = -1;
	CHECK(finds(&s, FINDING_OK, "source standby", "without end"));
	s.x.archive_delay = EXAMINE_UNKNOWN;
	CHECK(finds(&s, FINDING_WARNING, "source standby", "does not say"));
	s.x.archive_delay = 0;
	s.x.feedback = EXAMINE_UNKNOWN;
	CHECK(finds(&s, FINDING_WARNING, "source standby", "does not say"));
}

/* Nobody knows how long it would take. */
static void a_standby_without_a_plan(void)
{
	struct patient_source s;

	patient_init(&s);
	patient_follows(&s);
	s.x.plan.node[0] = '\0';
	CHECK(finds(&s, FINDING_WARNING, "source standby", "a VACUUM"));
}

static void a_standby_that_lags(void)
{
	struct patient_source s;

	patient_init(&s);
	patient_follows(&s);
	/* Nothing has happened for an hour. */
	s.x.facts.lag_ms = 3600000;
	CHECK(finds(&s, FINDING_OK, "source lag", "all that"));
	s.x.behind = 2048;
	CHECK(finds(&s, FINDING_WARNING, "source lag",
		    "60 min old, and 2.0 KiB of log are to be replayed: what"));
	s.x.facts.lag_ms = 60000;
	CHECK(finds(&s, FINDING_OK, "source lag", "is 60 s old"));
	s.x.behind = 0;
	s.x.receives = false;
	s.x.facts.lag_ms = 3600000;
	CHECK(finds(&s, FINDING_WARNING, "source lag", "60 min old: what"));
	s.x.facts.lag_ms = -1;
	CHECK(finds(&s, FINDING_OK, "source lag", "of an age not known"));
	s.x.receives = true;
	s.x.paused = true;
	CHECK(finds(&s, FINDING_WARNING, "source lag", "replay is paused"));
}

static void one_that_was_not_opened(void)
{
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct findings f;
	struct error opened = ERROR_INIT;
	struct error err = ERROR_INIT;

	memset(&f, 0, sizeof(f));
	(void)error_set(&opened, ERROR_UNREACHED, "source: nobody is there");
	(void)error_hint(&opened, "go there");
	CHECK(doctor_source(NULL, spec, &opened, &f, &err) == 0);
	REQUIRE(f.count == 1);
	CHECK(found_says(&f, FINDING_ERROR, "source", "nobody is there"));
	CHECK_U64(f.list[0].code, ERROR_UNREACHED);
	CHECK_STR(f.list[0].evidence, "nobody is there");
	CHECK_STR(f.list[0].remedy, "go there");
	findings_release(&f);
	bloomkey_free(spec);
}

static void one_that_is_lost(void)
{
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct patient_source s;
	struct findings f;
	struct error err = ERROR_INIT;

	patient_init(&s);
	(void)error_set(&s.why, ERROR_TEMPORARY, "the connection was lost");
	CHECK(finds(&s, FINDING_ERROR, "source", "the connection was lost"));
	memset(&f, 0, sizeof(f));
	(void)error_set(&s.why, ERROR_INTERRUPTED, "stop");
	CHECK(doctor_source(&s.base, spec, NULL, &f, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	CHECK_U64(f.count, 0);
	findings_release(&f);
	bloomkey_free(spec);
}

int main(void)
{
	UNIT(a_clean_primary, "doctorsource: a clean primary gives no warning");
	UNIT(a_clean_standby, "doctorsource: a clean standby gives no warning");
	UNIT(tls, "doctorsource: to another machine all but verify-full is a "
		  "warning");
	UNIT(a_proxy, "doctorsource: a proxy is a warning");
	UNIT(encodings, "doctorsource: SQL_ASCII is a warning, unless every "
			"field takes bytes");
	UNIT(timeouts, "doctorsource: a user's time-outs are told");
	UNIT(a_standby_that_cancels,
	     "doctorsource: a delay shorter than a build without feedback is a "
	     "warning");
	UNIT(a_standby_without_a_plan,
	     "doctorsource: a read of a length not known is taken for long");
	UNIT(a_standby_that_lags,
	     "doctorsource: a standby that lags or is paused is a warning");
	UNIT(one_that_was_not_opened,
	     "doctorsource: a source that was not opened is an error");
	UNIT(one_that_is_lost,
	     "doctorsource: one that is lost is an error, a stop ends it");
	return unit_end();
}
