/* SPDX-License-Identifier: BSD-2-Clause
 *
 * verify: what the files of the subcommand share.
 *
 *	verify.c        the subcommand
 *	verifyask.c     its options, as what is audited and how
 *	verifyprint.c   what was found, as text
 */
#ifndef BLOOMCTL_CMD_VERIFY_H
#define BLOOMCTL_CMD_VERIFY_H

#include "cmd/inputs.h"
#include "cmd/target.h"
#include "lib/job/audit.h"

struct verify {
	struct audit_options options;
	struct tiers_database database;
	int64_t fresh_ms; /* 0: rows of any age */
	char *fresh;      /* the SQL of these, which the inputs borrow; owned */
};

/*
 * What the options say, after inputs_format() and before inputs_source(), whose
 * query is narrowed to the rows that are fresh.  ERROR_USAGE where they do not
 * go together.
 */
int verifyask(struct verify *v, const struct opts *opts, struct inputs *in,
	      struct error *err);

/* How recent-writes are asked: after target_open(). */
void verifyask_target(struct verify *v, const struct opts *opts,
		      const struct target *target);

/* Lists the keys that count as missing, a line each, as COPY text. */
int verifyprint_missed(const struct audit_report *report, struct error *err);

/* One line, where none is missing. */
int verifyprint(const struct verify *v, const struct audit_report *report,
		struct error *err);

#endif
