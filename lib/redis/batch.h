/* SPDX-License-Identifier: BSD-2-Clause
 *
 * batch: many items for many filters, gathered into few commands.
 *
 *	batch_add(bucket, item) ─► slot of the bucket ─► cluster_send, whole
 *slots
 *
 * A batch is one arena of slots.  Each bucket has one, into which its items
 * are encoded in place, in the form in which they go over the wire; a full
 * slot is sent from where it lies, and the bucket takes a free one meanwhile.
 * The slots under way are the window.  Memory is the arena and does not
 * depend on how many items there are; an item too long for a slot goes alone,
 * from memory of its own.
 *
 * A command is WORDS... KEY WORDS... ITEM...: what stands before and behind
 * the key is the same for all buckets.
 */
#ifndef BLOOMCTL_REDIS_BATCH_H
#define BLOOMCTL_REDIS_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/redis/cluster.h"

/* The most items of one command. */
#define BATCH_ITEMS_MAX 1000

/* The key of a bucket's filter, at most 1024 bytes.  Returns its length. */
typedef size_t batch_key_fn(void *ctx, uint32_t bucket, char out[1024]);

struct batch_items;

/*
 * The answer to the items of one command; reply may be an error.  0, or -1:
 * the batch's cluster fails with that.
 */
typedef int batch_reply_fn(void *ctx, uint32_t bucket,
			   const struct batch_items *items,
			   const struct reply *reply, struct error *err);

struct batch_options {
	uint32_t buckets;
	size_t memory;      /* of the arena, in bytes; where that is too little
			       to give each bucket a slot of 64 bytes of items,
			       so much as does */
	const char *before; /* "BF.INSERT"; borrowed */
	const char
		*behind[4]; /* "NOCREATE", "ITEMS"; ended by NULL; borrowed */
	const void *first;  /* an item at the head of every command, or NULL;
			       borrowed; counted as an item */
	size_t first_len;
	batch_key_fn *key;
	batch_reply_fn *reply;
	void *ctx; /* of both */
};

struct batch;

/* cluster is borrowed until batch_free().  ERROR_INTERNAL: out of memory. */
int batch_new(struct cluster *cluster, const struct batch_options *options,
	      struct batch **out, struct error *err);

/* Frees; nothing may be under way that would still be answered: call it after
 * batch_flush() or cluster_close().  NULL is legal. */
void batch_free(struct batch *b);

/* Adds an item; borrowed until return.  Waits only while the window is full. */
int batch_add(struct batch *b, uint32_t bucket, const void *item, size_t len,
	      struct error *err);

/* Sends what is gathered and waits for every answer. */
int batch_flush(struct batch *b, struct error *err);

/* How many items a command had, with the first one of every command. */
size_t batch_items_count(const struct batch_items *items);

/*
 * Goes through the items of a command in order: *at is 0 at the beginning;
 * returns the item, borrowed, and its length, or NULL behind the last.
 */
const void *batch_items_next(const struct batch_items *items, size_t *at,
			     size_t *len);

#endif
