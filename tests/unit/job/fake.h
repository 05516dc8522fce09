/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fake: a store in memory, for tests of what the jobs decide.
 *
 * It keeps the contract of store.h and nothing of any target.  Switches make
 * the n-th call of an operation fail, lose members, answer late, damage a
 * filter or hold the lock for another run.  It notes what a job must not do:
 * change a set without its lock, call a generation complete that is not
 * sealed, or leave a writer or a probe open.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_FAKE_H
#define BLOOMCTL_TESTS_UNIT_JOB_FAKE_H

#include <stdatomic.h>

#include "lib/filter/image.h"
#include "lib/store/store.h"
#include "tests/unit/unit.h"

#define FAKE_BUCKETS     4
#define FAKE_GENERATIONS 12
#define FAKE_LATE        64

enum fake_op {
	FAKE_FACTS,
	FAKE_ENGINE,
	FAKE_NODES,
	FAKE_HELD,
	FAKE_LIST,
	FAKE_LOCK,
	FAKE_LOCKED_BY,
	FAKE_RESERVE,
	FAKE_WRITER,
	FAKE_ADD,
	FAKE_FLUSH,
	FAKE_SEAL,
	FAKE_PUT,
	FAKE_INFO,
	FAKE_PROBE,
	FAKE_ASK,
	FAKE_ASK_FLUSH,
	FAKE_PROMOTE,
	FAKE_DROP,
	FAKE_FITS,
	FAKE_OPS,
};

static const char *const fake_names[FAKE_OPS] = {
	"facts", "engine",    "nodes",   "held",   "list",
	"lock",  "locked_by", "reserve", "writer", "add",
	"flush", "seal",      "put",     "info",   "probe",
	"ask",   "ask flush", "promote", "drop",   "fits",
};

struct fake_generation {
	struct manifest m; /* id "" if the place is free */
	enum manifest_state recorded;
	bool sealed;
	struct image image;
	uint64_t keys[FAKE_BUCKETS];
	uint64_t added[FAKE_BUCKETS];
	bool damaged[FAKE_BUCKETS];
	bool missing[FAKE_BUCKETS];
	bool foreign[FAKE_BUCKETS];
	int64_t ttl_ms[FAKE_BUCKETS]; /* 0: never */
};

struct fake {
	struct store base;
	const struct bloomkey_spec *spec;
	struct fake_generation all[FAKE_GENERATIONS];
	struct fake_generation *reserved;

	/* Switches. */
	unsigned fail_at[FAKE_OPS]; /* from 1; 0: never */
	bool fail_on[FAKE_OPS];     /* and all calls after it */
	enum error_code fail_code;
	unsigned lose_every; /* every so many-th member is not set */
	bool lose_sentinel;
	bool say_yes;     /* every bit is set when it is sealed */
	bool late;        /* answers come by the flush */
	const char *held; /* who has the lock; NULL: nobody */
	uint64_t room;
	bool server;                   /* it says that it is one */
	const struct engine *engine;   /* that its filters are of; NULL: any */
	const struct store_node *node; /* its one; NULL: none */

	/* What was done. */
	atomic_uint calls[FAKE_OPS];
	atomic_uint failed;
	bool locked;
	char command[32];
	char phases[256]; /* each with a blank behind it */
	uint64_t fence;
	unsigned faults; /* things that a job must not do */
	unsigned completes;
	atomic_int open;             /* writers and probes */
	char promoted[NAMES_ID_MAX]; /* the last promotion, and what with it */
	char retired[NAMES_ID_MAX];
	struct exposure exposure;
};

static inline int fake_call(struct fake *f, enum fake_op op, struct error *err)
{
	unsigned n = atomic_fetch_add(&f->calls[op], 1) + 1;

	if (f->fail_at[op] == 0 || n < f->fail_at[op] ||
	    (n > f->fail_at[op] && !f->fail_on[op]))
		return 0;
	atomic_fetch_add(&f->failed, 1);
	return error_set(err, f->fail_code, "fake: %s fails", fake_names[op]);
}

/* A call that changes the set. */
static inline int fake_change(struct fake *f, enum fake_op op,
			      struct error *err)
{
	if (!f->locked)
		f->faults++;
	return fake_call(f, op, err);
}

static inline struct fake_generation *fake_find(struct fake *f, const char *id)
{
	for (size_t i = 0; i < FAKE_GENERATIONS; i++)
		if (f->all[i].m.generation[0] != '\0' &&
		    strcmp(f->all[i].m.generation, id) == 0)
			return &f->all[i];
	return NULL;
}

static inline void fake_forget(struct fake_generation *g)
{
	manifest_release(&g->m);
	image_release(&g->image);
	memset(g, 0, sizeof(*g));
}

static inline size_t fake_count(const struct fake *f)
{
	size_t n = 0;

	for (size_t i = 0; i < FAKE_GENERATIONS; i++)
		n += f->all[i].m.generation[0] != '\0';
	return n;
}

#include "tests/unit/job/fake_server.h"

static inline int fake_fits(struct store *s, const struct filter_params *params,
			    unsigned workers, struct error *err)
{
	struct fake *f = (struct fake *)s;

	(void)workers;
	if (fake_call(f, FAKE_FITS, err) != 0)
		return -1;
	if (image_size(params, bloomkey_buckets(f->spec)) <= f->room)
		return 0;
	return error_set(err, ERROR_SPACE, "fake:place: no room");
}

static inline int fake_newer(const void *a, const void *b)
{
	return -strcmp(((const struct manifest *)a)->generation,
		       ((const struct manifest *)b)->generation);
}

static inline int fake_list(struct store *s, struct manifest **out,
			    size_t *count, struct error *err)
{
	struct fake *f = (struct fake *)s;
	struct manifest *list;
	size_t n = 0;

	if (fake_call(f, FAKE_LIST, err) != 0)
		return -1;
	list = calloc(FAKE_GENERATIONS, sizeof(*list));
	for (size_t i = 0; list != NULL && i < FAKE_GENERATIONS; i++) {
		if (f->all[i].m.generation[0] == '\0')
			continue;
		if (manifest_copy(&list[n], &f->all[i].m, err) != 0)
			abort();
		list[n++].recorded = f->all[i].recorded;
	}
	if (list != NULL)
		qsort(list, n, sizeof(*list), fake_newer);
	*out = list;
	*count = n;
	return 0;
}

static inline int fake_lock(struct store *s, const char *command,
			    uint64_t *fence, struct error *err)
{
	struct fake *f = (struct fake *)s;

	if (fake_call(f, FAKE_LOCK, err) != 0)
		return -1;
	if (f->held != NULL)
		return error_set(err, ERROR_LOCKED, "set: held by %s", f->held);
	f->faults += f->locked;
	f->locked = true;
	(void)snprintf(f->command, sizeof(f->command), "%s", command);
	*fence = ++f->fence;
	return 0;
}

static inline void fake_unlock(struct store *s)
{
	struct fake *f = (struct fake *)s;

	f->faults += !f->locked;
	f->locked = false;
}

static inline int fake_locked_by(struct store *s, bool sync, char *out,
				 size_t size, struct error *err)
{
	struct fake *f = (struct fake *)s;

	if (fake_call(f, FAKE_LOCKED_BY, err) != 0)
		return -1;
	(void)snprintf(out, size, "%s",
		       !sync && f->held != NULL ? f->held : "");
	return 0;
}

/* No test of a job feeds it but test_feed.c, which has its own. */
static inline int fake_fed(struct store *s, int64_t *at, struct error *err)
{
	(void)s;
	(void)err;
	*at = 0;
	return 0;
}

static inline int fake_exposure(struct store *s, struct exposure *out,
				struct error *err)
{
	(void)err;
	*out = ((struct fake *)s)->exposure;
	return 0;
}

static inline int fake_set_exposure(struct store *s, const struct exposure *e,
				    struct error *err)
{
	(void)err;
	((struct fake *)s)->exposure = *e;
	return 0;
}

static inline int fake_put(struct store *s, const struct manifest *m,
			   struct error *err)
{
	struct fake *f = (struct fake *)s;
	struct fake_generation *g = fake_find(f, m->generation);

	if (fake_change(f, FAKE_PUT, err) != 0)
		return -1;
	if (g == NULL)
		return error_set(err, ERROR_DATA, "fake: nothing to put into");
	if (m->state == MANIFEST_COMPLETE) {
		f->completes++;
		f->faults += f->failed > 0 || f->open != 0 || !g->sealed ||
			     m->bucket_keys == NULL;
	}
	manifest_release(&g->m);
	if (manifest_copy(&g->m, m, err) != 0)
		abort();
	g->recorded = m->state;
	return 0;
}

static inline int fake_reserve(struct store *s, const struct manifest *m,
			       const struct layout_ops *layout,
			       const struct filter_params *params,
			       unsigned workers, struct error *err)
{
	struct fake *f = (struct fake *)s;
	struct fake_generation *g = f->all;
	uint64_t added[FAKE_BUCKETS] = {0};
	struct image_ring *ring;
	const void *sentinel;
	size_t len = bloomkey_sentinel(f->spec, &sentinel);

	if (fake_change(f, FAKE_RESERVE, err) != 0 ||
	    fake_fits(s, params, workers, err) != 0)
		return -1;
	if (fake_find(f, m->generation) != NULL)
		return error_set(err, ERROR_GENERATION,
				 "generation '%s': is there already",
				 m->generation);
	while (g->m.generation[0] != '\0')
		if (++g == f->all + FAKE_GENERATIONS)
			abort();
	if (m->state != MANIFEST_BUILDING || m->buckets > FAKE_BUCKETS ||
	    memcmp(m->seed, params->seed, sizeof(m->seed)) != 0 ||
	    manifest_copy(&g->m, m, err) != 0 ||
	    image_init(&g->image, layout, params, m->buckets, workers > 1,
		       err) != 0)
		abort();
	ring = image_ring_new(&g->image, added);
	for (uint32_t b = 0; len > 0 && b < m->buckets; b++)
		if (!f->lose_sentinel)
			image_ring_add(ring, b, sentinel, len);
	image_ring_flush(ring);
	image_ring_free(ring);
	g->recorded = MANIFEST_BUILDING;
	f->reserved = g;
	return 0;
}

#include "tests/unit/job/fake_write.h"

static inline int fake_seal(struct store *s, struct manifest *m,
			    struct error *err)
{
	struct fake *f = (struct fake *)s;
	struct fake_generation *g = fake_find(f, m->generation);

	f->faults += f->open != 0 || g == NULL;
	if (fake_change(f, FAKE_SEAL, err) != 0)
		return -1;
	m->added = 0;
	for (uint32_t b = 0; b < m->buckets; b++) {
		m->added += g->added[b];
		f->faults += m->bucket_keys[b] != g->keys[b];
		if (g->added[b] + 1 > m->capacity)
			return error_set(err, ERROR_FULL, "bucket %u: full",
					 (unsigned)b);
	}
	if (f->say_yes)
		memset(g->image.bits, 0xff, g->image.size);
	g->sealed = true;
	return 0;
}

#include "tests/unit/job/fake_read.h"

static inline int fake_promote(struct store *s, struct manifest *next,
			       struct manifest *live, struct error *err)
{
	struct fake *f = (struct fake *)s;
	struct fake_generation *g = fake_find(f, next->generation);

	if (fake_change(f, FAKE_PROMOTE, err) != 0)
		return -1;
	memcpy(f->promoted, next->generation, sizeof(f->promoted));
	f->retired[0] = '\0';
	/* Without a live one it is a first swap, or one that is finished. */
	if (live != NULL) {
		struct fake_generation *l = fake_find(f, live->generation);

		memcpy(f->retired, live->generation, sizeof(f->retired));
		memcpy(next->previous, live->generation,
		       sizeof(next->previous));
		live->state = l->m.state = l->recorded = MANIFEST_OLD;
		live->retired = l->m.retired = (int64_t)f->fence;
	}
	next->state = g->m.state = g->recorded = MANIFEST_LIVE;
	next->promoted = g->m.promoted = (int64_t)f->fence;
	memcpy(g->m.previous, next->previous, sizeof(g->m.previous));
	return 0;
}

static inline int fake_drop(struct store *s, const char *generation,
			    struct error *err)
{
	struct fake *f = (struct fake *)s;
	struct fake_generation *g = fake_find(f, generation);

	if (fake_change(f, FAKE_DROP, err) != 0)
		return -1;
	f->faults += g != NULL && g->m.state == MANIFEST_LIVE;
	if (g != NULL)
		fake_forget(g);
	return 0;
}

static inline void fake_close(struct store *s)
{
	(void)s;
}

static const struct store_ops fake_ops = {
	.facts = fake_facts,
	.engine = fake_engine,
	.nodes = fake_nodes,
	.phase = fake_phase,
	.held = fake_held,
	.fits = fake_fits,
	.list = fake_list,
	.lock = fake_lock,
	.unlock = fake_unlock,
	.locked_by = fake_locked_by,
	.fed = fake_fed,
	.exposure = fake_exposure,
	.set_exposure = fake_set_exposure,
	.reserve = fake_reserve,
	.writer = fake_writer,
	.seal = fake_seal,
	.put = fake_put,
	.info = fake_info,
	.probe = fake_probe,
	.promote = fake_promote,
	.drop = fake_drop,
	.close = fake_close,
};

#endif
