/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/job/doctor.h"

#define COLUMN "source column 'id'"

static void types(void)
{
	static const struct {
		unsigned oid;
		const char *name;
	} bad[] = {
		{16, "boolean"},
		{17, "bytea"},
		{114, "json"},
		{700, "real"},
		{701, "double precision"},
		{1042, "character(n)"},
		{1114, "without time"},
		{1184, "with time"},
		{3802, "jsonb"},
	};
	static const unsigned good[] = {20, 21, 23, 25, 1043, 1082, 1700, 2950};
	struct patient_source s;

	patient_init(&s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		s.column.type = bad[i].oid;
		CHECK(finds(&s, FINDING_WARNING, COLUMN, bad[i].name));
		CHECK(finds_no(&s, "source columns"));
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		s.column.type = good[i];
		CHECK(finds_no(&s, COLUMN));
		CHECK(finds(&s, FINDING_OK, "source columns", "fit for keys"));
	}
}

/* Whether padding is told where the keyspec's only field has these lines. */
static bool padding_told(const char *field)
{
	struct patient_source s;
	struct findings f;
	char keyspec[512];
	bool told;

	(void)snprintf(keyspec, sizeof(keyspec), "%s[field id]\n%s",
		       JOB_KEYSPEC, field);
	patient_init(&s);
	s.column.type = 1042;
	f = examined(&s, keyspec);
	told = findings_worst(&f)->level == FINDING_WARNING;
	findings_release(&f);
	return told;
}

static void padding(void)
{
	CHECK(padding_told(""));
	CHECK(padding_told("transform = lower\n"));
	CHECK(padding_told("transform = first:3\n"));
	CHECK(!padding_told("transform = rtrim\n"));
	CHECK(!padding_told("transform = lower, trim\n"));
	CHECK(!padding_told("transform = digits, sha256\n"));
}

/* What one field does says nothing of another. */
static void rules_are_of_a_field(void)
{
	struct bloomkey_spec *spec = job_spec(
		"[keyspec]\nversion = 1\nname = s\nbuckets = 4\n"
		"key = k:{a}:{ab}:{b}\nfilter = s:{bucket}\n"
		"[field ab]\ntransform = rtrim,lower\nencoding = bytes\n");
	size_t len;
	const char *rule;

	CHECK(doctor_field_rule(spec, 0, "transform", &len) != NULL);
	CHECK_U64(len, 0);
	rule = doctor_field_rule(spec, 1, "transform", &len);
	REQUIRE(rule != NULL);
	CHECK_U64(len, 11);
	CHECK(memcmp(rule, "rtrim,lower", 11) == 0);
	rule = doctor_field_rule(spec, 2, "encoding", &len);
	REQUIRE(rule != NULL && len == 5);
	CHECK(memcmp(rule, "utf-8", 5) == 0);
	CHECK(doctor_field_rule(spec, 3, "encoding", &len) == NULL);
	CHECK(doctor_field_rule(spec, 0, "nothing", &len) == NULL);
	CHECK_U64(len, 0);
	bloomkey_free(spec);
}

/* The column of another name is none of the keyspec's. */
static void columns_are_those_of_the_keyspec(void)
{
	struct patient_source s;
	struct findings f;

	patient_init(&s);
	strcpy(s.column.name, "other");
	s.column.type = 701;
	CHECK(finds(&s, FINDING_OK, "source columns", "fit"));
	f = examined(&s, JOB_KEYSPEC "[field id]\ncolumn = other\n");
	CHECK(found_says(&f, FINDING_WARNING, "source column 'other'",
			 "double precision"));
	findings_release(&f);
}

static void plans(void)
{
	struct patient_source s;

	patient_init(&s);
	CHECK(finds(&s, FINDING_OK, "source plan", "Seq Scan on t"));
	s.x.plan.dear = PLAN_SORTS;
	s.x.plan.dear_rows = 2000000;
	strcpy(s.x.plan.dear_node, "Sort");
	CHECK(finds(&s, FINDING_WARNING, "source plan",
		    "Seq Scan on t, and in it Sort, of about 2,000,000 rows: "
		    "no row comes"));
	strcpy(s.x.plan.node, "Sort");
	CHECK(finds(&s, FINDING_WARNING, "source plan",
		    "Sort, of about 2,000,000 rows: no row comes"));
	s.x.plan.dear = PLAN_GROUPS;
	CHECK(finds(&s, FINDING_WARNING, "source plan", "are compared"));
	s.x.plan.dear = PLAN_LOOPS;
	CHECK(finds(&s, FINDING_WARNING, "source plan", "once for each"));
}

static void a_plan_that_is_refused(void)
{
	struct patient_source s;

	patient_init(&s);
	s.x.plan.node[0] = '\0';
	(void)error_set(&s.x.refused, ERROR_RIGHTS, "no");
	CHECK(finds(&s, FINDING_ERROR, "source plan", "no"));
	CHECK(finds_no(&s, "source rows"));
}

static void long_reads(void)
{
	struct patient_source s;

	patient_init(&s);
	CHECK(finds(&s, FINDING_OK, "source rows",
		    "about 1,000, which one worker reads in about 1 s"));
	s.x.plan.rows = 900000000;
	CHECK(finds(&s, FINDING_OK, "source rows", "about 30 min"));
	s.x.plan.rows = 901000000;
	CHECK(finds(&s, FINDING_WARNING, "source rows", "on this primary"));
	s.x.plan.rows = 1000000001;
	CHECK(finds(&s, FINDING_WARNING, "source rows", "about 1,000,000,001"));
	patient_follows(&s);
	s.x.streaming_delay = -1;
	CHECK(finds(&s, FINDING_WARNING, "source rows",
		    "a serving standby can hardly"));
	s.x.feedback = 1;
	CHECK(finds(&s, FINDING_WARNING, "source rows", "on the primary"));
	s.x.plan.rows = UINT64_MAX;
	CHECK(finds(&s, FINDING_WARNING, "source rows", "days"));
}

static void rights(void)
{
	struct patient_source s;

	patient_init(&s);
	CHECK(finds(&s, FINDING_OK, "source rights",
		    "user 'u' may read the columns of table 'public.t'"));
	s.x.row_security = true;
	CHECK(finds(&s, FINDING_OK, "source rights", "no policy hides rows"));
	s.x.row_security = false;
	s.x.kind = 'm';
	CHECK(finds(&s, FINDING_OK, "source rights", "its last REFRESH"));
	s.x.kind = 0;
	CHECK(finds(&s, FINDING_OK, "source rights", "may run the query"));
}

static void jobs(void)
{
	struct patient_source s;

	patient_init(&s);
	CHECK(finds(&s, FINDING_OK, "source jobs", "side by side"));
	s.x.ranged = false;
	CHECK(finds(&s, FINDING_OK, "source jobs", "may not be read by"));
	s.x.row_security = true;
	CHECK(finds(&s, FINDING_OK, "source jobs", "row-level security"));
	s.x.facts.version = 130004;
	CHECK(finds(&s, FINDING_OK, "source jobs", "need PostgreSQL 14"));
	s.x.kind = 'f';
	CHECK(finds(&s, FINDING_OK, "source jobs", "a foreign table"));
	s.x.kind = 'v';
	CHECK(finds(&s, FINDING_OK, "source jobs", "it is a view"));
	s.x.kind = 0;
	CHECK(finds(&s, FINDING_OK, "source jobs", "it is a query"));
}

int main(void)
{
	UNIT(types, "doctorrows: types whose text programs do not write are "
		    "warnings");
	UNIT(padding, "doctorrows: padding is a warning unless it falls off");
	UNIT(rules_are_of_a_field, "doctorrows: a rule is that of one field");
	UNIT(columns_are_those_of_the_keyspec,
	     "doctorrows: columns are those that fields name");
	UNIT(plans, "doctorrows: a plan that is dear is a warning");
	UNIT(a_plan_that_is_refused,
	     "doctorrows: a plan that is refused is an error");
	UNIT(long_reads, "doctorrows: a read of more than 30 minutes is a "
			 "warning");
	UNIT(rights, "doctorrows: it is said as whom rows are read");
	UNIT(jobs, "doctorrows: it is said why a read cannot be split");
	return unit_end();
}
