/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/random.h"
#include "lib/base/stop.h"
#include "lib/store/lease_private.h"

/* Beats within a lease: one or two may fail. */
#define BEATS 4
/* Evictions are looked for at least so often, in milliseconds. */
#define WATCH_MS 1000
/* How long the thread waits for an answer, in milliseconds. */
#define PATIENCE_MS 4000
/* How often somebody looks who waits for the thread. */
#define LOOK_MS 20

/*
 * *spoiled is set if there were any.  All nodes are asked, and one that hangs
 * elsewhere is to cost neither the beat that went well nor the next: whether
 * the lock is ours is another matter, and so it is not asked again for a lease.
 * A generation is not sealed before all have answered.
 */
static void look_for_evictions(struct lease *l, const struct evicted *before,
			       struct error *spoiled)
{
	struct error ignored = ERROR_INIT;
	const char *place;
	uint64_t keys;

	if (clock_ns() < l->next_look)
		return;
	if (evicted_since(before, l->cluster, &keys, &place, &ignored) != 0) {
		l->broken = true;
		l->next_look = clock_ns() + (int64_t)l->lease_ms * 1000000;
	} else if (keys > 0) {
		(void)evicted_error(place, keys, spoiled);
	}
}

/* --- the thread ----------------------------------------------------------- */

static void wait_ms(struct lease *l, int ms)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (!l->stop && !l->changed &&
	       pthread_cond_timedwait(&l->wake, &l->mutex, &until) == 0)
		;
}

static bool is_over(const struct lease *l)
{
	return clock_ns() - l->beaten >= (int64_t)l->lease_ms * 1000000;
}

/* A server without an answer or memory leaves the lease running out. */
static void after_failure(struct lease *l, const struct error *why)
{
	bool silent =
		why->code == ERROR_TEMPORARY || why->code == ERROR_UNREACHED;
	bool bearable = silent || why->code == ERROR_SPACE;

	l->broken = true;
	if (bearable && !is_over(l))
		return;
	/* A process that was stopped had its time-outs while it was. */
	if (silent && !l->last_try) {
		l->last_try = true;
		return;
	}
	l->lost = *why;
	if (silent)
		(void)error_prefix(&l->lost,
				   "set '%s': its lock could not be "
				   "kept",
				   l->server->set);
}

static int reopen(struct lease *l, struct error *err)
{
	const unsigned flags = CONN_WRITES | CONN_TIDIES | CONN_KNOWN;
	int rc = 0;

	if (l->cluster == NULL)
		rc = server_connect(l->server, NULL, flags, &l->cluster, err);
	else if (l->broken)
		rc = cluster_reopen(l->cluster, flags, err);
	l->broken = rc != 0;
	return rc;
}

static void *lease_run(void *arg)
{
	struct lease *l = arg;
	int every = l->lease_ms / BEATS;
	/* A stop waits for the answer that is awaited. */
	int patience = every < PATIENCE_MS ? every : PATIENCE_MS;
	int64_t next = 0;

	/* What is tidied up after a stop needs the lock. */
	input_set_patient(true);
	(void)pthread_mutex_lock(&l->mutex);
	while (!l->stop && l->lost.code == ERROR_NONE) {
		struct error why = ERROR_INIT;
		struct error spoiled = ERROR_INIT;
		bool watching = l->watching && l->spoiled.code == ERROR_NONE;
		const struct evicted *evicted = l->evicted;
		int64_t now = clock_ns();
		bool due = l->changed || now >= next;
		int rc;

		l->changed = false;
		(void)pthread_mutex_unlock(&l->mutex);
		rc = reopen(l, &why);
		if (rc == 0)
			cluster_set_patient(l->cluster, patience);
		if (rc == 0 && due)
			rc = lease_confirm(l, l->cluster, &why);
		if (rc == 0 && watching)
			look_for_evictions(l, evicted, &spoiled);
		(void)pthread_mutex_lock(&l->mutex);
		if (spoiled.code != ERROR_NONE)
			l->spoiled = spoiled;
		if (rc == 0 && due) {
			l->last_try = false;
			l->beaten = now;
			next = now + (int64_t)every * 1000000;
		} else if (rc != 0) {
			after_failure(l, &why);
		}
		wait_ms(l, every < WATCH_MS ? every : WATCH_MS);
	}
	(void)pthread_mutex_unlock(&l->mutex);
	return NULL;
}

/* A process that was stopped may wake up long after its lease has ended. */
static int wait_for_beat(struct lease *l, struct error *err)
{
	int rc = 0;

	while (rc == 0 && l->lost.code == ERROR_NONE && is_over(l)) {
		(void)pthread_mutex_unlock(&l->mutex);
		rc = input_wait(-1, LOOK_MS, err) < 0 ? -1 : 0;
		(void)pthread_mutex_lock(&l->mutex);
	}
	return rc;
}

static int check(struct lease *l, bool spoiled, struct error *err)
{
	int rc;

	(void)pthread_mutex_lock(&l->mutex);
	rc = wait_for_beat(l, err);
	if (rc == 0 && l->lost.code != ERROR_NONE) {
		*err = l->lost;
		rc = -1;
	} else if (rc == 0 && spoiled && l->spoiled.code != ERROR_NONE) {
		*err = l->spoiled;
		rc = -1;
	}
	(void)pthread_mutex_unlock(&l->mutex);
	return rc;
}

int lease_check(struct lease *l, struct error *err)
{
	return check(l, false, err);
}

int lease_check_all(struct lease *l, struct error *err)
{
	return check(l, true, err);
}

void lease_phase(struct lease *l, const char *phase, uint64_t done,
		 uint64_t total)
{
	(void)pthread_mutex_lock(&l->mutex);
	if (strcmp(l->phase, phase) != 0) {
		(void)snprintf(l->phase, sizeof(l->phase), "%s", phase);
		l->changed = true;
		(void)pthread_cond_signal(&l->wake);
	}
	l->done = done;
	l->total = total;
	(void)pthread_mutex_unlock(&l->mutex);
}

void lease_watch(struct lease *l, const struct evicted *before)
{
	struct evicted *copy = evicted_copy(before);

	(void)pthread_mutex_lock(&l->mutex);
	/* The thread may be at it with the last one; without memory it only
	 * learns at the end. */
	evicted_free(l->last_evicted);
	l->last_evicted = l->evicted;
	l->evicted = copy;
	l->watching = copy != NULL;
	(void)pthread_mutex_unlock(&l->mutex);
}

void lease_unwatch(struct lease *l)
{
	(void)pthread_mutex_lock(&l->mutex);
	l->watching = false;
	(void)pthread_mutex_unlock(&l->mutex);
}

/* --- taking and releasing ------------------------------------------------- */

static int start(struct lease *l, struct error *err)
{
	int rc = pthread_create(&l->thread, NULL, lease_run, l);

	if (rc != 0)
		return error_errno(err, ERROR_INTERNAL, rc, "thread");
	l->running = true;
	return 0;
}

static int init(struct lease *l, const struct server *server,
		const char *command, struct error *err)
{
	unsigned char bytes[16];
	pthread_condattr_t attr;

	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_mutex_init(&l->mutex, NULL);
	(void)pthread_cond_init(&l->wake, &attr);
	(void)pthread_condattr_destroy(&attr);
	l->server = server;
	l->lease_ms = server->options->lease_ms > 0 ? server->options->lease_ms
						    : LEASE_MS;
	(void)gethostname(l->host, sizeof(l->host) - 1);
	(void)clock_text(clock_wall_ms(), l->since);
	(void)snprintf(l->command, sizeof(l->command), "%s", command);
	if (random_bytes(bytes, sizeof(bytes), err) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(l->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* After a stop, a server that has just not answered is not asked again. */
static bool may_release(const struct lease *l)
{
	return l->fence != 0 && l->lost.code == ERROR_NONE &&
	       (!l->broken || !stop_asked());
}

void lease_release(struct lease *l)
{
	struct error ignored = ERROR_INIT;
	const struct reply *reply;
	char key[KEYS_MAX];
	const char *const keys[] = {key, NULL};
	const char *const args[] = {l->token, NULL};
	int64_t began = clock_ns();
	int64_t left;

	if (l->running) {
		(void)pthread_mutex_lock(&l->mutex);
		l->stop = true;
		(void)pthread_cond_signal(&l->wake);
		(void)pthread_mutex_unlock(&l->mutex);
		(void)pthread_join(l->thread, NULL);
	}
	keys_of_set(l->server->set, lease_name(l), NULL, key);
	/* What cannot be released runs out by itself. */
	input_set_patient(true);
	left = CONN_TIDY_MS - (clock_ns() - began) / 1000000;
	if (l->cluster != NULL)
		cluster_set_patient(l->cluster, left > 1000 ? (int)left : 1000);
	if (may_release(l) && reopen(l, &ignored) == 0)
		(void)script_call(l->cluster, SCRIPT_UNLOCK, keys, args, "lock",
				  &reply, &ignored);
	input_set_patient(false);
	cluster_close(l->cluster);
	evicted_free(l->evicted);
	evicted_free(l->last_evicted);
	(void)pthread_cond_destroy(&l->wake);
	(void)pthread_mutex_destroy(&l->mutex);
	free(l);
}

uint64_t server_fence(const struct server *server)
{
	return server->lease->fence;
}

const char *server_token(const struct server *server)
{
	return server->lease->token;
}

int lease_take(struct server *server, const char *command, bool sync,
	       struct lease **out, struct error *err)
{
	struct lease *l = calloc(1, sizeof(*l));
	char(*ids)[NAMES_ID_MAX] = NULL;
	uint64_t highest = 0;

	*out = NULL;
	if (l == NULL)
		return error_nomem(err);
	l->sync = sync;
	if (init(l, server, command, err) != 0 ||
	    (!sync && serverlive_read(server, &ids, &highest, err) != 0) ||
	    reopen(l, err) != 0 || lease_lock(l, highest + 1, err) != 0 ||
	    start(l, err) != 0) {
		free(ids);
		lease_release(l);
		return -1;
	}
	free(ids);
	*out = l;
	return 0;
}
