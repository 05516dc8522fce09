/* SPDX-License-Identifier: BSD-2-Clause
 *
 * generation: which of a set's generations a command means.
 */
#ifndef BLOOMCTL_JOB_GENERATION_H
#define BLOOMCTL_JOB_GENERATION_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/store/store.h"

/* The generations of a set, as store's list() gives them. */
struct generations {
	struct manifest *list; /* newest first; owned */
	size_t count;
};

/* Reads the list; generations_release() frees it. */
int generations_read(struct store *store, struct generations *g,
		     struct error *err);
void generations_release(struct generations *g);

/*
 * The live one; the one that readers get, which may be too broken to be live;
 * the one of an id; the newest of a state; NULL if there is none.
 */
struct manifest *generations_live(const struct generations *g);
struct manifest *generations_linked(const struct generations *g);
struct manifest *generations_find(const struct generations *g, const char *id);
struct manifest *generations_newest(const struct generations *g,
				    enum manifest_state state);

/*
 * The generation that a reading command means: the one of id, or where id is
 * NULL the live one.  It must be whole.  NULL with ERROR_SOURCE for a set
 * without any generation, ERROR_GENERATION otherwise.  place names the target.
 */
struct manifest *generations_choose(const struct generations *g, const char *id,
				    const char *set, const char *place,
				    struct error *err);

/*
 * Reads the list, chooses as generations_choose() and copies the choice to
 * *out, for a job that needs one generation only; manifest_release(out) in
 * any case.
 */
int generation_pick(struct store *store, const struct bloomkey_spec *spec,
		    const char *id, struct manifest *out, struct error *err);

/*
 * For a dry run, which takes no lock: ERROR_LOCKED, as taking it would be,
 * while somebody holds it.
 */
int generations_unlocked(struct store *store, const char *set,
			 struct error *err);

/*
 * Gives a new generation its id, behind all that have been.  ERROR_GENERATION
 * if none can follow.
 */
int generations_next_id(const struct generations *g, struct manifest *m,
			struct error *err);

/*
 * While the lock is held: removes what dead builds have left, for none of
 * them is alive.  *removed is raised by how many.
 */
int generations_drop_dead(struct store *store, const struct generations *g,
			  unsigned *removed, struct error *err);

/* Checks that a manifest fits the keyspec.  ERROR_DATA if not. */
int generation_check(const struct manifest *m, const struct bloomkey_spec *spec,
		     struct error *err);

#endif
