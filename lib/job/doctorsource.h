/* SPDX-License-Identifier: BSD-2-Clause
 *
 * doctorsource: whether a source is fit to be read, before it is.
 *
 *	doctorsource.c  what a source is, and the server that a database is on
 *	doctorrows.c    the rows of a database that are to be read
 */
#ifndef BLOOMCTL_JOB_DOCTORSOURCE_H
#define BLOOMCTL_JOB_DOCTORSOURCE_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/finding.h"
#include "lib/pg/examine.h"
#include "lib/rows/source.h"

/*
 * Looks at a source without reading a row: a database is asked, files are
 * there or not, and of what can be read once only nothing is read.  What is
 * wrong is a finding, whose name begins with "source"; the call fails only if
 * it is stopped or memory is out.  source is NULL where it could not be opened,
 * and opened says why.
 */
int doctor_source(struct source *source, const struct bloomkey_spec *spec,
		  const struct error *opened, struct findings *findings,
		  struct error *err);

/* The part of it that is about the rows of a database. */
void doctor_rows(struct findings *findings, const struct examination *x,
		 const struct bloomkey_spec *spec);

/* How long one read of them takes by one worker, in ms; -1: not known. */
int64_t doctor_read_ms(const struct examination *x);

/*
 * What a field of the keyspec has for this rule, as "transform"; *len is its
 * length, and 0 with NULL if there is no such field or rule.
 */
const char *doctor_field_rule(const struct bloomkey_spec *spec, size_t field,
			      const char *rule, size_t *len);

#endif
