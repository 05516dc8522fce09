/* SPDX-License-Identifier: BSD-2-Clause
 *
 * asking: keys that are asked for in a generation, counted by bucket, of which
 * those that are not found are kept.
 *
 *	key + row ─► probe ─► found? no ─► missed ◄─ values of its row
 *	      └────► block, until all in it is answered ─┘
 *
 * Answers come late and out of order, and rows are gone by then.  Where their
 * values are wanted they wait in a block; when it is full what was asked is
 * waited for, and the few that were missed are looked up in it.
 */
#ifndef BLOOMCTL_JOB_ASKING_H
#define BLOOMCTL_JOB_ASKING_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/error.h"
#include "lib/job/missed.h"
#include "lib/job/tally.h"
#include "lib/store/store.h"

struct asking {
	struct probe *probe;
	struct tally asked;
	struct tally missing; /* of them */
	struct missed missed;
	size_t fields; /* values that are kept of a row; 0: none */
	struct buf block;
	size_t open;         /* of missed; behind it none has values yet */
	size_t marked;       /* how many missed there were */
	struct error failed; /* of an answer's; NONE */
};

/*
 * Begins to ask in a generation; *out is zeroed and must stay where it is.  0
 * or -1 as store's probe(); asking_release() in both cases.
 */
int asking_init(struct asking *out, struct store *store,
		const struct manifest *m, size_t fields, struct error *err);

/*
 * Asks; values and lens hold `fields` elements, NULL is SQL's, and may be NULL
 * where there are none.  All is borrowed until return.
 */
int asking_add(struct asking *a, uint32_t bucket, const void *key, size_t len,
	       const void *const *values, const size_t *lens,
	       struct error *err);

/* Waits for all answers. */
int asking_flush(struct asking *a, struct error *err);

/* As tally_mark() and tally_back(), of the counts and of what is kept. */
int asking_mark(struct asking *a, struct error *err);
int asking_back(struct asking *a, struct error *err);

/* Legal after zeroing. */
void asking_release(struct asking *a);

#endif
