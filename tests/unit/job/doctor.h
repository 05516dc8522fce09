/* SPDX-License-Identifier: BSD-2-Clause
 *
 * doctor: a database that answers an examination as a test says, and what is
 * found in it.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_DOCTOR_H
#define BLOOMCTL_TESTS_UNIT_JOB_DOCTOR_H

#include "lib/job/doctorsource.h"
#include "tests/unit/job/job.h"

struct patient_source {
	struct source base;
	struct examination x;         /* columns: see column */
	struct examine_column column; /* the one that there is */
	struct error why;             /* in place of an answer, unless NONE */
};

static inline int patient_examine(struct source *source,
				  struct examination *out, struct error *err)
{
	struct patient_source *s = (struct patient_source *)source;

	if (s->why.code != ERROR_NONE) {
		*err = s->why;
		return -1;
	}
	*out = s->x;
	out->columns = malloc(sizeof(s->column));
	if (out->columns == NULL)
		abort();
	out->columns[0] = s->column;
	out->column_count = 1;
	return 0;
}

/* A primary on this machine that has nothing to find. */
static inline void patient_init(struct patient_source *s)
{
	static const struct source_ops ops = {.examine = patient_examine};

	memset(s, 0, sizeof(*s));
	s->base.ops = &ops;
	strcpy(s->x.facts.place, "h:5432");
	strcpy(s->x.facts.database, "d");
	strcpy(s->x.facts.user, "u");
	strcpy(s->x.facts.software, "15.18");
	strcpy(s->x.facts.encoding, "UTF8");
	s->x.facts.version = 150018;
	s->x.facts.lag_ms = -1;
	s->x.local = true;
	strcpy(s->x.sslmode, "prefer");
	s->x.feedback = 0;
	s->x.streaming_delay = 30000;
	s->x.archive_delay = 30000;
	s->x.behind = EXAMINE_UNKNOWN;
	s->x.transaction_timeout = EXAMINE_UNKNOWN;
	strcpy(s->x.name, "public.t");
	s->x.kind = 'r';
	s->x.ranged = true;
	strcpy(s->x.plan.node, "Seq Scan on t");
	s->x.plan.rows = 1000;
	strcpy(s->column.name, "id");
	s->column.type = 25;
}

/* Makes it a standby that follows well. */
static inline void patient_follows(struct patient_source *s)
{
	s->x.facts.standby = true;
	s->x.facts.lag_ms = 1000;
	s->x.receives = true;
	s->x.behind = 0;
}

/* The finding of this name, if it is the only one and of that level. */
static inline const struct finding *
found(const struct findings *f, enum finding_level level, const char *what)
{
	static const struct finding none;
	const struct finding *one = NULL;

	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->list[i].what, what) == 0 && one == NULL)
			one = &f->list[i];
		else if (strcmp(f->list[i].what, what) == 0)
			unit_fail(__FILE__, __LINE__, "it is there twice");
	if (one != NULL && one->level == level)
		return one;
	printf("# no such finding: %s\n", what);
	unit_bad = true;
	return &none;
}

/* Whether it is there, says that, and has a remedy where one is needed. */
static inline bool found_says(const struct findings *f,
			      enum finding_level level, const char *what,
			      const char *part)
{
	const struct finding *one = found(f, level, what);

	if (strstr(one->evidence, part) == NULL)
		printf("# '%s' is not in '%s'\n", part, one->evidence);
	else if (level == FINDING_WARNING && one->remedy[0] == '\0')
		printf("# '%s' has no remedy\n", what);
	else
		return true;
	return false;
}

/* What is found in it with this keyspec; to be released. */
static inline struct findings examined(struct patient_source *s,
				       const char *keyspec)
{
	struct bloomkey_spec *spec = job_spec(keyspec);
	struct findings findings;
	struct error err = ERROR_INIT;

	memset(&findings, 0, sizeof(findings));
	CHECK(doctor_source(&s->base, spec, NULL, &findings, &err) == 0);
	bloomkey_free(spec);
	return findings;
}

/* Whether one finding of this level is among them and says that. */
static inline bool finds(struct patient_source *s, enum finding_level level,
			 const char *what, const char *part)
{
	struct findings f = examined(s, JOB_KEYSPEC);
	bool good = found_says(&f, level, what, part);

	findings_release(&f);
	return good;
}

/* Whether it finds nothing of this name. */
static inline bool finds_no(struct patient_source *s, const char *what)
{
	struct findings f = examined(s, JOB_KEYSPEC);
	bool none = true;

	for (size_t i = 0; i < f.count; i++)
		none = none && strcmp(f.list[i].what, what) != 0;
	findings_release(&f);
	return none;
}

#endif
