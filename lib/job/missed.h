/* SPDX-License-Identifier: BSD-2-Clause
 *
 * missed: keys that were not found, kept so that they can be asked for again.
 */
#ifndef BLOOMCTL_JOB_MISSED_H
#define BLOOMCTL_JOB_MISSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

/* So many keys are kept, and no more than so many bytes of them. */
#define MISSED_MAX   1000
#define MISSED_BYTES ((size_t)4 << 20)

/* Why a key is not found, as far as that is known. */
enum missed_why {
	MISSED_OPEN,    /* nobody knows more */
	MISSED_CAME,    /* it was found when it was asked for once more */
	MISSED_GONE,    /* no row of the database makes it any more */
	MISSED_COVERED, /* it is in recent-writes, where readers find it */
	MISSED_LATER,   /* its row changed since the horizon of its filter */
	MISSED_UNMOVED, /* so it did, without moving the column of time */
	MISSED_BEFORE,  /* its row was committed before that horizon */
	MISSED_WHYS,
};

/* "came" and so on; of MISSED_OPEN "unknown". */
const char *missed_why_name(enum missed_why why);

struct missed_key {
	uint32_t bucket;
	size_t len;
	unsigned char *key; /* owned */
	char **values;      /* of each field of its row, NULL: SQL's; owned in
			       one block with the texts; NULL: not known */
	enum missed_why why;
};

/* A zeroed one is empty. */
struct missed {
	struct missed_key *keys; /* owned */
	size_t count;
	size_t room;
	size_t bytes;
};

/* Makes a copy of a key, without values.  0 or -1 (ERROR_INTERNAL). */
int missed_key_init(struct missed_key *out, uint32_t bucket, const void *key,
		    size_t len, struct error *err);
void missed_key_release(struct missed_key *key);

/* Adds a copy; what is too much is passed over.  0 or -1 (ERROR_INTERNAL). */
int missed_add(struct missed *missed, uint32_t bucket, const void *key,
	       size_t len, struct error *err);

/* Adds to a kept key copies of the values of its row.  0 or -1 likewise. */
int missed_values(struct missed_key *key, size_t fields,
		  const void *const *values, const size_t *lens,
		  struct error *err);

/* Forgets all from that one on. */
void missed_cut(struct missed *missed, size_t count);

/* Takes over the keys of another one, as far as there is room. */
int missed_take(struct missed *missed, struct missed *from, struct error *err);

/* Legal after zeroing. */
void missed_release(struct missed *missed);

#endif
