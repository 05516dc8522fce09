/* SPDX-License-Identifier: BSD-2-Clause
 *
 * script: what a server does in one step, without anything in between: the
 * guarded changes of locks, records and filters.
 *
 * All keys of a script lie in one slot.  Each may be run twice: what was done
 * by the first run is found by the second.  A script answers with an array
 * whose first element is a word; script.c says which.
 */
#ifndef BLOOMCTL_STORE_SCRIPT_H
#define BLOOMCTL_STORE_SCRIPT_H

#include "lib/base/error.h"
#include "lib/redis/cluster.h"

enum script {
	SCRIPT_PROBE,
	SCRIPT_LOCK,
	SCRIPT_BEAT,
	SCRIPT_UNLOCK,
	SCRIPT_RECORD,
	SCRIPT_FORGET,
	SCRIPT_MOVING,
	SCRIPT_STATE,
	SCRIPT_SEAL,
	SCRIPT_ADVANCE,
	SCRIPT_FED,
	SCRIPT_LOOK,
	SCRIPT_PROMOTE,
	SCRIPT_DROP,
	SCRIPT_ADOPT,
	SCRIPT_DISOWN,
	SCRIPT_COUNT,
};

/* The most keys and arguments of a script, together. */
#define SCRIPT_WORDS_MAX 32

/* The text of one; its lines have a call each. */
const char *script_text(enum script script);

/*
 * Sends a script with its keys and arguments, each list ended by NULL; they
 * are copied.  fn, ctx and tag as for conn_send().
 */
int script_send(struct cluster *c, enum script script, const char *const keys[],
		const char *const args[], conn_fn *fn, void *ctx, uint64_t tag,
		struct error *err);

/*
 * The same as one call; *out is borrowed until the next one.  An error reply
 * is -1: script_refused() with `what` in front.
 */
int script_call(struct cluster *c, enum script script, const char *const keys[],
		const char *const args[], const char *what,
		const struct reply **out, struct error *err);

/* As cluster_call_node(): also an error reply is 0. */
int script_call_node(struct cluster *c, size_t node, enum script script,
		     const char *const keys[], const char *const args[],
		     const struct reply **out, struct error *err);

/*
 * reply_refused() of a script's answer.  Where a command in it was refused,
 * the message names that command.
 */
int script_refused(enum script script, const struct reply *reply,
		   struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * The word of a script's answer, and in *detail, if not NULL, what stands
 * behind it ("" if nothing does, or it is no text).  "" if it is no such
 * answer.
 */
const char *script_word(const struct reply *reply, const char **detail);

#endif
