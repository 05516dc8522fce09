/* SPDX-License-Identifier: BSD-2-Clause
 *
 * store: where the filters of one set live.
 *
 *	store ─ generations: [live][complete][old]...  each N filters + manifest
 *
 * A folder and a server are two stores; the jobs never ask which one they
 * have.  One struct store is one set on one target.  Reading needs no lease;
 * everything that changes a set is done while its lease is held.
 *
 * The caller's threads may use writers and probes of their own side by side;
 * all other calls come from one thread.
 */
#ifndef BLOOMCTL_STORE_STORE_H
#define BLOOMCTL_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/filter/engine.h"
#include "lib/store/exposure.h"
#include "lib/store/manifest.h"

/* How long a server keeps a lock unless told otherwise, in milliseconds. */
#define LEASE_MS 30000

struct redis_options;
struct store;

/* What a target is. */
struct store_facts {
	const char *place; /* the target as messages name it; borrowed */
	bool server;       /* not a folder */
};

/* One server of a target. */
struct store_node {
	char name[300];    /* as messages name it */
	char software[64]; /* "redis 7.0.15, RedisBloom 2.8.2" */
	char policy[32];   /* maxmemory-policy; "": not known */
	bool evicts;       /* filters too, when memory is short */
	uint64_t used;     /* bytes of memory */
	uint64_t limit;    /* maxmemory, or all there is; 0: not known */
	uint64_t evicted;  /* keys, since it was started */
	uint64_t replicas; /* that are connected to it */
	bool replica;      /* it is one itself */
};

/* What store_open() is told beside the target. */
struct store_options {
	bool create;  /* a folder may be made */
	bool writes;  /* a replica will not do; create means it, too */
	int lease_ms; /* how long a server keeps the lock of a run that
			 is not heard of any more; 0: LEASE_MS */
	const struct redis_options *server; /* how to log in; borrowed; NULL:
					       nothing is said */
	unsigned wait_replicas;  /* replicas that must have a generation before
				    it is complete */
	bool allow_eviction;     /* keys may be evicted while it is built */
	uint64_t eviction_bytes; /* and so many bytes of them are room */
};

/* What one filter is and holds. */
struct bucket_info {
	const struct layout_ops *layout;
	struct filter_params params;
	uint64_t items;         /* members that set a bit, with the sentinel */
	uint64_t keys;          /* keys sent to it, with duplicates */
	uint64_t bits_set;      /* bits that are 1; UINT64_MAX: not known */
	uint64_t memory;        /* bytes it takes where it is, all told */
	int64_t ttl_ms;         /* it goes away by itself after; -1: never */
	struct horizon horizon; /* from where on it may lack something */
	int slot;               /* of a cluster; -1: no server's */
	/* Of what is live: the generation that readers get here instead; ""
	 * where they get it. */
	char instead[NAMES_ID_MAX];
	bool missing; /* set on failure: because it is not there */
	bool foreign; /* set on failure: because it is something else */
};

/* Receives members on their way into a generation; one per worker. */
struct writer {
	const struct writer_ops *ops;
};

struct writer_ops {
	/*
	 * Sends a member; key is borrowed until return.  ERROR_FULL naming the
	 * bucket may come with any later call.
	 */
	int (*add)(struct writer *w, uint32_t bucket, const void *key,
		   size_t len, struct error *err);
	/* Sends what is under way and reads every reply. */
	int (*flush)(struct writer *w, struct error *err);
	void (*close)(struct writer *w);
};

/* The answer to one question.  key is borrowed until return. */
typedef void probe_fn(void *ctx, uint32_t bucket, const void *key, size_t len,
		      bool found);

/* Asks whether members are in the filters of a generation; one per worker. */
struct probe {
	const struct probe_ops *ops;
};

struct probe_ops {
	/* Asks; the answer comes by the call-back, now or by the flush. */
	int (*ask)(struct probe *p, uint32_t bucket, const void *key,
		   size_t len, struct error *err);
	int (*flush)(struct probe *p, struct error *err);
	void (*close)(struct probe *p);
};

/* What a pass did. */
struct pass_report {
	uint64_t acknowledged; /* keys, by the store */
	uint64_t added;        /* of them, those that set a bit */
	uint32_t moved;        /* filters whose horizon was moved */
	uint32_t changed;      /* filters that are not what they were when the
				  pass began: it has to be done once more */
	uint32_t failed;       /* filters that took not all, or are not there:
				  their horizon is as it was */
	struct error why;      /* of the first of these; ERROR_FULL, ERROR_DATA,
				  ERROR_VERIFY; NONE */
	double fill;           /* the fullest filter's items by its capacity */
	uint32_t fullest;      /* which that is */
};

struct store_ops {
	int (*facts)(struct store *s, struct store_facts *out,
		     struct error *err);

	/*
	 * The engine that its filters will be of; it may be one of no table,
	 * with a limit of the server's own, and lives as long as the store.
	 * *out is NULL where any will do, as in a folder, and where a server
	 * does not tell and the store is only read.  Leaves nothing behind.
	 * ERROR_ENGINE: a server has none, or one that lacks a command.
	 */
	int (*engine)(struct store *s, const struct engine **out,
		      struct error *err);

	/*
	 * Its servers, *out owned by the caller (free()); a folder has none:
	 * NULL and 0.
	 */
	int (*nodes)(struct store *s, struct store_node **out, size_t *count,
		     struct error *err);

	/*
	 * All generations of the set, newest id first, owned by the caller
	 * (store_list_free()).  States are the effective ones: exactly the
	 * generation that readers get is MANIFEST_LIVE.  A set that is not
	 * there is no error and has none.
	 */
	int (*list)(struct store *s, struct manifest **out, size_t *count,
		    struct error *err);

	/*
	 * Takes the set's lock for one run.  command names it to others.
	 * *fence is a number that only grows.  ERROR_LOCKED says who holds it
	 * and since when.
	 */
	int (*lock)(struct store *s, const char *command, uint64_t *fence,
		    struct error *err);
	void (*unlock)(struct store *s);
	/*
	 * Says to others, while the lock is held, what the run is doing and
	 * how far it is; done and total are 0 where that is not known.
	 */
	void (*phase)(struct store *s, const char *phase, uint64_t done,
		      uint64_t total);
	/*
	 * While the lock is held: 0, or why the run need not go on, as far as
	 * that is known: ERROR_LOCKED or ERROR_TEMPORARY, the lock is lost;
	 * ERROR_SPACE, keys were evicted.  Asks nobody, so it is cheap.
	 */
	int (*held)(struct store *s, struct error *err);
	/*
	 * Who holds the lock, or with sync that of sync_lock(), and how far, as
	 * text; empty if nobody does.
	 */
	int (*locked_by)(struct store *s, bool sync, char *out, size_t size,
			 struct error *err);

	/*
	 * Whether reserve() would find room and rights, for a dry run: writes
	 * nothing.  ERROR_SPACE with what is needed and what there is;
	 * ERROR_RIGHTS.
	 */
	int (*fits)(struct store *s, const struct filter_params *params,
		    unsigned workers, struct error *err);

	/*
	 * Makes the shadows of a new generation, every bucket, and plants the
	 * sentinel; its manifest is put as MANIFEST_BUILDING first.  workers
	 * says how many writers will be open side by side.
	 */
	int (*reserve)(struct store *s, const struct manifest *m,
		       const struct layout_ops *layout,
		       const struct filter_params *params, unsigned workers,
		       struct error *err);
	/* A writer into the generation that was reserved last. */
	int (*writer)(struct store *s, struct writer **out, struct error *err);
	/*
	 * After the last writer is closed: makes the filters durable and
	 * writes each one's state.  m->bucket_keys is given; m->added is set.
	 * ERROR_FULL if a filter took more than its capacity.
	 */
	int (*seal)(struct store *s, struct manifest *m, struct error *err);

	/*
	 * Begins a pass: what is added to filters that are whole.  live: to
	 * those that readers get, of whatever generation each is, and m (the
	 * live one) says what they are; beside whoever builds or swaps, without
	 * the set's lock, and also while another pass is under way on a server.
	 * Else to those of m, which is complete or old, and the set's lock is
	 * held.  Notes what each filter is before the first add, and sets
	 * *oldest to the oldest of their horizons, none if one has none; on a
	 * server of those that can be added to.
	 * workers is how many writers will be open side by side: writer() is of
	 * the pass then.  Its add() fails for no filter that is full or gone,
	 * which pass_end() tells; its flush() returns when all is acknowledged.
	 * ERROR_TEMPORARY: a folder's filters are being added to by another
	 * pass, and were for longer than is waited for.
	 */
	int (*pass_begin)(struct store *s, const struct manifest *m, bool live,
			  unsigned workers, struct horizon *oldest,
			  struct error *err);
	/*
	 * Ends it, after the last writer is closed.  Moves the horizon of each
	 * filter that is what it was (generation, horizon, fence and server)
	 * from what it had to `to`, as horizon_move() says; of no other one.
	 * to NULL: no horizon is moved, and what was added stays.  keys are
	 * those that were sent, per bucket.  After a pass into a generation
	 * that is not live promote() of it wants these very horizons.  0 also
	 * where *out says that it is not all done.
	 */
	int (*pass_end)(struct store *s, const struct horizon *to,
			const uint64_t *keys, struct pass_report *out,
			struct error *err);
	/* In place of pass_end(), where something failed; NULL: none begun. */
	void (*pass_drop)(struct store *s);

	/*
	 * Takes the lock of those that keep the live set up to date, of whom
	 * there is one; others build and swap meanwhile.  As lock(), unlock().
	 */
	int (*sync_lock)(struct store *s, const char *command,
			 struct error *err);
	void (*sync_unlock)(struct store *s);
	/*
	 * The mark that a set has members that came by no source that could be
	 * read again: when it was fed last, ms since 1970; 0: never.
	 */
	int (*fed)(struct store *s, int64_t *at, struct error *err);
	int (*set_fed)(struct store *s, int64_t at, struct error *err);
	/* What the last run that caught up has found; out->at 0: none has. */
	int (*exposure)(struct store *s, struct exposure *out,
			struct error *err);
	/* Of a set that is there, while one of its locks is held. */
	int (*set_exposure)(struct store *s, const struct exposure *e,
			    struct error *err);

	/*
	 * Writes a generation's manifest.  An aborted one has no filters: what
	 * there is of them is removed.
	 */
	int (*put)(struct store *s, const struct manifest *m,
		   struct error *err);

	/*
	 * What a filter is and holds.  whole: also reads all of it, checks it
	 * and counts its bits.  ERROR_DATA names a filter that is missing,
	 * damaged, cut off, foreign or unfinished.
	 */
	int (*info)(struct store *s, const struct manifest *m, uint32_t bucket,
		    bool whole, struct bucket_info *out, struct error *err);
	/*
	 * Opens a probe on a generation.  A filter that is missing, damaged,
	 * foreign or unfinished is ERROR_DATA at the first question about it.
	 */
	int (*probe)(struct store *s, const struct manifest *m, probe_fn *fn,
		     void *ctx, struct probe **out, struct error *err);

	/*
	 * Makes `next` live and `live` (NULL at a first swap) old, and sets
	 * states, times and next->previous in both.  On failure the code is
	 * ERROR_SWAP once readers may see the new one, else nothing changed.
	 */
	int (*promote)(struct store *s, struct manifest *next,
		       struct manifest *live, struct error *err);

	/*
	 * Looks at live filters that are not of a store's making, so that they
	 * can be adopted: sets m's engine, capacity and bytes, and its error to
	 * that of the filters, which must be one of those that m->error, as the
	 * reserving command gave it, can mean.  ERROR_GENERATION names a filter
	 * that is missing, of another size, scaled, or owned already.  NULL:
	 * there cannot be any, as in a folder.
	 */
	int (*survey)(struct store *s, struct manifest *m, struct error *err);
	/*
	 * After put() of m as MANIFEST_BUILDING: plants the sentinel in every
	 * live filter and writes their states.  With m->bucket_keys they are
	 * whole then, so that m can be put as MANIFEST_LIVE.
	 */
	int (*adopt)(struct store *s, const struct manifest *m,
		     struct error *err);
	/* Undoes it, but for the sentinels; m is forgotten. */
	int (*disown)(struct store *s, const struct manifest *m,
		      struct error *err);

	/*
	 * Takes what is live away from readers, for good, and the mark of
	 * fed(); drop() removes the rest of it then.  What is gone already is
	 * no error.
	 */
	int (*retire)(struct store *s, struct error *err);

	/* Removes a generation that is not live, whole or half made. */
	int (*drop)(struct store *s, const char *generation, struct error *err);

	void (*close)(struct store *s);
};

struct store {
	const struct store_ops *ops;
};

/*
 * Opens the set of a keyspec on a target ("dir:PATH", "redis://HOST").  spec
 * and options are borrowed until the store is closed.  create: a folder is
 * made if it is not there; otherwise one that is not there is ERROR_SOURCE.
 * ERROR_USAGE for a word that is no target; errors of cluster_open().
 */
int store_open(const char *target, const struct bloomkey_spec *spec,
	       const struct store_options *options, struct store **out,
	       struct error *err);

/*
 * For a dry run, after store_open() has failed on a target that is not there:
 * 0 if it could make it, else -1 with the error that it would meet; *err is
 * left as it is where that is the same.  Makes nothing.
 */
int store_creatable(const char *target, struct error *err);

/* Closes a store, releasing its lock; NULL is legal. */
void store_close(struct store *s);

/*
 * What the filters of a manifest are, by its engine, capacity and error rate,
 * with its seed.  ERROR_DATA if that is not known, or not what it says.
 */
int store_params(const struct manifest *m, const struct engine **engine,
		 struct filter_params *out, struct error *err);

/* Frees what list() made; NULL is legal. */
void store_list_free(struct manifest *list, size_t count);

#endif
