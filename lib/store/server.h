/* SPDX-License-Identifier: BSD-2-Clause
 *
 * server: the store that is a Redis or Valkey server.
 *
 *	main thread ─ cluster ─────────── records, states, questions
 *	workers ───── cluster each ────── items, pipelined
 *	lease ─────── cluster, a thread ─ the lock, every few seconds
 *
 * Which generation readers get is what the states of the live filters say,
 * bucket by bucket; manifests only follow.  Everything that changes a set is
 * a script that compares tokens and fences (script.h), so that a run that has
 * lost its lock changes nothing more, whenever it wakes up.
 *
 * This header is for the files server*.c and lease*.c alone.
 */
#ifndef BLOOMCTL_STORE_SERVER_H
#define BLOOMCTL_STORE_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/redis/cluster.h"
#include "lib/store/evicted.h"
#include "lib/store/keys.h"
#include "lib/store/script.h"
#include "lib/store/store.h"

/* Room for 32 hexadecimal digits and a NUL. */
#define SERVER_TOKEN_MAX 33
/* Buckets that are looked at ahead of the one that is asked for. */
#define SERVER_LOOK_AHEAD 256
/* What a server needs beside the bits: key, object, state; in bytes. */
#define SERVER_OVERHEAD 1024
/* Room for a number in decimal and a NUL. */
#define SERVER_NUMBER_MAX 24

struct lease;
struct serverbuild;
struct serverlook;
struct serverpass;
struct serverpromise;

struct server {
	struct store base;
	const struct bloomkey_spec *spec;    /* borrowed */
	const struct store_options *options; /* borrowed */
	struct redis_target target;
	char set[NAMES_SET_MAX];
	int slot;                /* of a cluster, in which the set's keys lie */
	struct cluster *cluster; /* of the main thread; NULL: not opened yet */
	unsigned flags;          /* of it */
	bool tidying;
	const struct engine *engine;   /* NULL: not asked yet, or not known */
	struct engine limited;         /* engine, where it is none of the table:
					  one with a limit of the server's */
	struct lease *lease;           /* owned; NULL: the lock is not held */
	struct lease *sync;            /* likewise, of those that keep up */
	struct serverbuild *build;     /* reserved last; owned, or NULL */
	struct serverpass *pass;       /* begun and not ended; owned, or NULL */
	struct serverpromise *promise; /* of the last pass that was not into
					  what is live; owned, or NULL */
	char begun[NAMES_ID_MAX];      /* the last generation of which
					  something was written; or "" */
	struct serverlook *look;       /* owned; NULL: nothing looked at */
};

/* Opens a server as the store of a set; see store_open(). */
int server_open(const char *target, const struct bloomkey_spec *spec,
		const struct store_options *options, struct store **out,
		struct error *err);

/* "redis://HOST:6379", for messages. */
const char *server_place(const struct server *server);

/*
 * Sees to it that the main thread's connection can be used: one that failed,
 * or was left by a stop in the middle of something, is opened anew.  Before
 * whatever uses it.
 */
int server_ready(struct server *server, struct error *err);

/*
 * From now on, or no more: what the main thread does must be done also after a
 * stop, and within CONN_TIDY_MS.
 */
void server_tidy(struct server *server, bool tidying);

/*
 * Connections of their own, as for a worker; like is as of cluster_open(): for
 * the main thread server->cluster, for any other NULL.
 */
int server_connect(const struct server *server, const struct cluster *like,
		   unsigned flags, struct cluster **out, struct error *err);

/*
 * A node's reply to INFO of a section, borrowed as cluster_call() says; NULL
 * where the user may not ask, with *err untouched.  -1: it could not be asked.
 */
int server_info(struct cluster *c, size_t node, const char *section,
		const struct reply **out, struct error *err);

/*
 * 0, or why the lock is held no more, as lease_check(); or also why what is
 * being built is of no use any more, as lease_check_all().
 */
int server_need_lock(const struct server *server, struct error *err);
int server_need_all(const struct server *server, struct error *err);

/*
 * 0, or why the lock of those that keep the set up to date is held no more; 0
 * where it was not taken.  From any thread.
 */
int server_keep_sync(const struct server *server, struct error *err);

/* The fence and the token of the lock that is held. */
uint64_t server_fence(const struct server *server);
const char *server_token(const struct server *server);

/* A number as a word of a command.  Returns out. */
const char *server_number(uint64_t n, char out[SERVER_NUMBER_MAX]);

/* --- the locks: lease*.c -------------------------------------------------- */

/*
 * Takes the lock, or that of those that keep the set up to date, and keeps it,
 * by a thread.  As store_ops.lock().
 */
int lease_take(struct server *server, const char *command, bool sync,
	       struct lease **out, struct error *err);

/* Ends the thread and releases the lock if it is still held. */
void lease_release(struct lease *lease);

/*
 * 0 while the lock is held.  ERROR_LOCKED: somebody else has it;
 * ERROR_TEMPORARY: it could not be kept.  From any thread.  Waits where a
 * whole lease has passed without a beat, until it is known; a stop ends that.
 */
int lease_check(struct lease *lease, struct error *err);

/* The same, and ERROR_SPACE if keys were evicted that may not be. */
int lease_check_all(struct lease *lease, struct error *err);

/* As lease_check(), but the server is asked, over c: one beat. */
int lease_confirm(struct lease *lease, struct cluster *c, struct error *err);

void lease_phase(struct lease *lease, const char *phase, uint64_t done,
		 uint64_t total);

/*
 * From now on lease_check_all() tells if more keys than these were evicted;
 * before is copied.  The lock is kept all the same, to tidy up with.
 */
void lease_watch(struct lease *lease, const struct evicted *before);
void lease_unwatch(struct lease *lease);

/* Who holds a lock, from the fields of its key, as text. */
void lease_owner(const struct reply *fields, char *out, size_t size);

/* --- the store's operations, each in the file of its noun ----------------- */

/* The name of TYPE for filters of an engine. */
const char *server_type(const struct engine *engine);
/*
 * The version of the module "bf" in the lines of INFO modules,
 * "module:name=bf,ver=20802,..."; 0 if it is not there.
 */
uint64_t serverengine_version(const struct reply *info);
/* The name of the software that a version of the module belongs to. */
const char *serverengine_module(uint64_t version);
int serverengine_engine(struct store *s, const struct engine **out,
			struct error *err);
int servernodes_nodes(struct store *s, struct store_node **out, size_t *count,
		      struct error *err);

int serverlist_list(struct store *s, struct manifest **out, size_t *count,
		    struct error *err);
/*
 * The generation of each live filter's state: `buckets` ids, "" for none,
 * owned by the caller; and the highest of their fences, 0 for none.
 */
int serverlive_read(struct server *server, char (**out)[NAMES_ID_MAX],
		    uint64_t *fence, struct error *err);

int serverroom_fits(struct store *s, const struct filter_params *params,
		    unsigned workers, struct error *err);
int serverbuild_reserve(struct store *s, const struct manifest *m,
			const struct layout_ops *layout,
			const struct filter_params *params, unsigned workers,
			struct error *err);
void serverbuild_free(struct serverbuild *build);
int serverseal_seal(struct store *s, struct manifest *m, struct error *err);
int server_put(struct store *s, const struct manifest *m, struct error *err);
/*
 * One of SCRIPT_RECORD, SCRIPT_FORGET and SCRIPT_MOVING, which change nothing
 * where the lock is not held any more: ERROR_LOCKED.  name is for messages;
 * text may be NULL.
 */
int server_record(struct server *server, enum script script, const char *name,
		  const char *id, const char *text, struct error *err);

int serverpass_begin(struct store *s, const struct manifest *m, bool live,
		     unsigned workers, struct horizon *oldest,
		     struct error *err);
int serverpass_end(struct store *s, const struct horizon *to,
		   const uint64_t *keys, struct pass_report *out,
		   struct error *err);
void serverpass_drop(struct store *s);
/*
 * The horizon that a pass of this run gave to a filter of a generation that is
 * not live, as its state has it; "*" where none did.  Returns out or that.
 */
const char *serverpass_promised(const struct server *server,
				const char *generation, uint32_t bucket,
				char out[HORIZON_TEXT_MAX]);
void serverpass_forget(struct server *server);

int serversync_lock(struct store *s, const char *command, struct error *err);
void serversync_unlock(struct store *s);
int serversync_fed(struct store *s, int64_t *at, struct error *err);
int serversync_set_fed(struct store *s, int64_t at, struct error *err);
int serversync_exposure(struct store *s, struct exposure *out,
			struct error *err);
int serversync_set_exposure(struct store *s, const struct exposure *e,
			    struct error *err);

int serverlook_info(struct store *s, const struct manifest *m, uint32_t bucket,
		    bool whole, struct bucket_info *out, struct error *err);
/* What was looked at ahead is not true any more. */
void serverlook_forget(struct server *server);

int serverprobe_probe(struct store *s, const struct manifest *m, probe_fn *fn,
		      void *ctx, struct probe **out, struct error *err);

/*
 * What a guard of SCRIPT_PROMOTE said of a filter, as an error: its word and
 * detail.  seen is the generation that was live when the promotion began, "".
 */
void serverswap_refuse(const struct server *server, const char *generation,
		       const char *seen, uint32_t bucket, const char *word,
		       const char *detail, struct error *err);
int serverswap_promote(struct store *s, struct manifest *next,
		       struct manifest *live, struct error *err);

int serveradopt_survey(struct store *s, struct manifest *m, struct error *err);
int serveradopt_adopt(struct store *s, const struct manifest *m,
		      struct error *err);
int serveradopt_disown(struct store *s, const struct manifest *m,
		       struct error *err);

int serverdrop_drop(struct store *s, const char *generation, struct error *err);
int serverdrop_retire(struct store *s, struct error *err);
/* Removes a generation's filters and states, and not its record. */
int serverdrop_filters(struct server *server, const char *generation,
		       struct error *err);

#endif
