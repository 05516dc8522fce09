/* SPDX-License-Identifier: BSD-2-Clause
 *
 * manifest: the record of one generation, the only thing that a swap trusts.
 *
 *	building → complete → live → old
 *	      └──→ aborted
 *
 * As text it is one JSON object whose last member is a checksum over the rest.
 */
#ifndef BLOOMCTL_STORE_MANIFEST_H
#define BLOOMCTL_STORE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/horizon.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/filter/layout.h"
#include "lib/store/names.h"

enum manifest_state {
	MANIFEST_BUILDING,
	MANIFEST_COMPLETE,
	MANIFEST_LIVE,
	MANIFEST_OLD,
	MANIFEST_ABORTED,
	MANIFEST_BROKEN, /* unreadable or not there; never written */
};

struct manifest {
	char set[NAMES_SET_MAX];
	char fingerprint[BLOOMKEY_FINGERPRINT_LEN + 1];
	char generation[NAMES_ID_MAX];
	char previous[NAMES_ID_MAX]; /* live before this one; "" for none */
	enum manifest_state state;
	enum manifest_state recorded; /* by store's list(): as its file says,
					 where a crash left it behind state */
	bool linked;     /* by store's list(): readers get this one */
	char engine[16]; /* its name, as --engine says it */
	uint32_t buckets;
	uint64_t capacity;                   /* members per filter */
	double error;                        /* designed, at capacity */
	unsigned char seed[LAYOUT_SEED_LEN]; /* of the hashes; all zero: none,
						or each filter has one that its
						server knows */
	uint64_t bytes;                      /* of one filter's bits */
	uint64_t rows;                       /* read from the source */
	uint64_t keys;         /* of them with a key; sent to the filters */
	uint64_t rejects;      /* of them without one, passed over */
	uint64_t added;        /* keys that set a bit; without sentinels */
	uint64_t fence;        /* of the lock under which it was built */
	int64_t started;       /* ms since 1970; 0: not yet */
	int64_t ended;         /* when it was complete, or aborted */
	int64_t promoted;      /* when it became live, the last time */
	int64_t retired;       /* when it ceased to be live, the last time */
	uint64_t *bucket_keys; /* keys sent per bucket: `buckets` counts, owned;
				  NULL until complete */
	uint64_t *bucket_again; /* sent besides, of parts of the source that
				  were read once more; not in the text; owned,
				  NULL: none */
	char *source;           /* the source as it was named, for people;
				   owned, may be NULL */
	char *origin;           /* what the source said of itself, the text of
				   a JSON object that is not looked into here;
				   owned, may be NULL */
	struct horizon horizon; /* from where on it may lack what was committed,
				   when it was built */
	char broken[160];       /* MANIFEST_BROKEN: why */
	bool unread;            /* MANIFEST_BROKEN, but only because it could
				   not be read: it may be whole */
};

/* The name of a state, as in the text and in tables. */
const char *manifest_state_name(enum manifest_state state);

/* Frees what the manifest owns; the struct itself is the caller's. */
void manifest_release(struct manifest *m);

/* Makes it MANIFEST_BROKEN, of a set and a generation; releases what it was. */
void manifest_break(struct manifest *m, const char *set, const char *id,
		    const char *why);

/*
 * ERROR_DATA if it is not that of the place where it was found: of this set,
 * keyspec and generation.
 */
int manifest_check_place(const struct manifest *m, const char *set,
			 const struct bloomkey_spec *spec, const char *id,
			 struct error *err);

/*
 * Sets the state that it counts as where readers get the generation `live`
 * ("": none) and the lock is held, or not, under a fence (0: not known).
 */
void manifest_set_effective(struct manifest *m, const char *live, bool held,
			    uint64_t fence);

/* Keys that were sent to a bucket in all, also twice. */
uint64_t manifest_sent(const struct manifest *m, uint32_t bucket);

/* A deep copy, without bucket_again.  0 or -1 (ERROR_INTERNAL). */
int manifest_copy(struct manifest *out, const struct manifest *m,
		  struct error *err);

/* Its text, owned by the caller (free()); NULL with ERROR_INTERNAL. */
char *manifest_encode(const struct manifest *m, size_t *len, struct error *err);

/*
 * Reads a text.  ERROR_DATA if it is not a whole, unchanged manifest of this
 * format; *out is then zeroed.
 */
int manifest_decode(const char *text, size_t len, struct manifest *out,
		    struct error *err);

#endif
