/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/redis/batch_private.h"

#define CACHE_LINE 64

struct batch_items {
	const char *bytes; /* as they were sent */
	size_t len;
	size_t count;
};

/* An item that no slot has room for. */
struct batch_lone {
	struct batch *batch;
	struct batch_lone *next; /* of the batch's list */
	struct batch_lone **at;  /* what points to this one */
	uint32_t bucket;
	size_t head; /* bytes before the first item */
	size_t len;
	char bytes[];
};

/* --- what was sent ------------------------------------------------------- */

size_t batch_items_count(const struct batch_items *items)
{
	return items->count;
}

const void *batch_items_next(const struct batch_items *items, size_t *at,
			     size_t *len)
{
	const char *item = items->bytes + *at;
	size_t n = 0;

	if (*at >= items->len)
		return NULL;
	for (item++; *item != '\r'; item++)
		n = n * 10 + (size_t)(*item - '0');
	item += 2;
	*len = n;
	*at = (size_t)(item - items->bytes) + n + 2;
	return item;
}

static int tell(const struct batch *b, uint32_t bucket,
		const struct batch_items *items, const struct reply *reply,
		struct error *err)
{
	return b->options.reply(b->options.ctx, bucket, items, reply, err);
}

/* --- the head of a command ----------------------------------------------- */

static int add_word(struct buf *out, const void *word, size_t len)
{
	if (buf_addf(out, "$%zu\r\n", len) != 0 || buf_add(out, word, len) != 0)
		return -1;
	return buf_add(out, "\r\n", 2);
}

int batch_head(struct batch *b, uint32_t bucket, size_t items, size_t *first)
{
	const struct batch_options *o = &b->options;
	char key[BATCH_KEY_MAX];
	size_t key_len = o->key(o->ctx, bucket, key);
	size_t words = 2 + items + (o->first != NULL ? 1 : 0);

	for (int i = 0; i < 4 && o->behind[i] != NULL; i++)
		words++;
	b->head.len = 0;
	b->head_slot = slots_of(key, key_len);
	if (buf_addf(&b->head, "*%zu\r\n", words) != 0 ||
	    add_word(&b->head, o->before, strlen(o->before)) != 0 ||
	    add_word(&b->head, key, key_len) != 0)
		return -1;
	for (int i = 0; i < 4 && o->behind[i] != NULL; i++)
		if (add_word(&b->head, o->behind[i], strlen(o->behind[i])) != 0)
			return -1;
	*first = b->head.len;
	if (o->first == NULL)
		return 0;
	return add_word(&b->head, o->first, o->first_len);
}

/* --- slots --------------------------------------------------------------- */

static char *items_of(const struct batch *b, uint32_t slot)
{
	return b->arena + (size_t)slot * b->slot_size + b->head_max;
}

void batch_put_back(struct batch *b, uint32_t slot)
{
	b->slots[slot].bucket = b->free;
	b->free = slot;
}

/* A slot's command has its answer. */
static int slot_answered(void *ctx, uint64_t tag, const struct reply *reply,
			 struct error *err)
{
	struct batch *b = ctx;
	const struct batch_slot *s = &b->slots[tag];
	/* The first item of the command is the end of its head. */
	const struct batch_items items = {
		.bytes = items_of(b, (uint32_t)tag) - b->first_size,
		.len = b->first_size + s->len,
		.count = s->count + (b->options.first != NULL ? 1 : 0)};
	int rc;

	rc = tell(b, s->bucket, &items, reply, err);
	batch_put_back(b, (uint32_t)tag);
	return rc;
}

/* Sends a bucket's slot, which is not the bucket's any more. */
static int send_slot(struct batch *b, uint32_t bucket, struct error *err)
{
	uint32_t slot = b->slot_of[bucket];
	const struct batch_slot *s = &b->slots[slot];
	char *items = items_of(b, slot);
	size_t first;

	if (batch_head(b, bucket, s->count, &first) != 0)
		return error_nomem(err);
	if (b->head.len > b->head_max)
		return error_set(err, ERROR_INTERNAL,
				 "the key of bucket %u is longer than those of "
				 "the first and the last one",
				 bucket);
	memcpy(items - b->head.len, b->head.data, b->head.len);
	b->slot_of[bucket] = BATCH_NONE;
	return cluster_send(b->cluster, b->head_slot, items - b->head.len,
			    b->head.len + s->len, slot_answered, b, slot, err);
}

/*
 * Buckets fill at the same pace: that all become full at once, and the server
 * has nothing to do until then, is kept from happening by the first slot of
 * each, which is full when it holds its share of one.
 */
static void set_limits(const struct batch *b, struct batch_slot *s, bool first)
{
	size_t room = b->slot_size - b->head_max;
	size_t share = first ? (size_t)s->bucket + 1 : b->options.buckets;

	s->count_max =
		1 + (uint32_t)((b->items_max - 1) * share / b->options.buckets);
	s->len_max = (uint32_t)(room * share / b->options.buckets);
}

static bool has_slot(const struct batch *b, uint32_t bucket)
{
	return b->slot_of[bucket] < BATCH_NEW;
}

/* Gives a bucket an empty slot. */
static int take_slot(struct batch *b, uint32_t bucket, struct error *err)
{
	uint32_t slot;

	/* There are more than buckets: so some are under way. */
	while (b->free == BATCH_NONE) {
		size_t pending = cluster_pending(b->cluster);

		if (pending == 0)
			return error_set(err, ERROR_INTERNAL,
					 "no slot is free and none is sent");
		if (cluster_wait(b->cluster, pending - 1, err) != 0)
			return -1;
	}
	slot = b->free;
	b->free = b->slots[slot].bucket;
	b->slots[slot] = (struct batch_slot){.bucket = bucket};
	set_limits(b, &b->slots[slot], b->slot_of[bucket] == BATCH_NEW);
	b->slot_of[bucket] = slot;
	return 0;
}

/* --- one item ------------------------------------------------------------ */

void batch_lone_free(struct batch_lone *lone)
{
	*lone->at = lone->next;
	if (lone->next != NULL)
		lone->next->at = lone->at;
	free(lone);
}

static int lone_answered(void *ctx, uint64_t tag, const struct reply *reply,
			 struct error *err)
{
	struct batch_lone *lone = ctx;
	struct batch_items items = {.bytes = lone->bytes + lone->head,
				    .len = lone->len - lone->head,
				    .count = (size_t)tag};
	int rc = tell(lone->batch, lone->bucket, &items, reply, err);

	batch_lone_free(lone);
	return rc;
}

/* Sends an item that is too long for a slot, with memory of its own. */
static int send_lone(struct batch *b, uint32_t bucket, const void *item,
		     size_t len, struct error *err)
{
	struct batch_lone *lone;
	size_t count = b->options.first != NULL ? 2 : 1;
	size_t first;
	size_t size;

	if (batch_head(b, bucket, 1, &first) != 0 ||
	    __builtin_add_overflow(sizeof(*lone) + b->head.len +
					   BATCH_FRAME_MAX + 2,
				   len, &size))
		return error_nomem(err);
	lone = malloc(size);
	if (lone == NULL)
		return error_nomem(err);
	lone->batch = b;
	lone->next = b->lones;
	lone->at = &b->lones;
	if (lone->next != NULL)
		lone->next->at = &lone->next;
	b->lones = lone;
	lone->bucket = bucket;
	lone->head = first;
	memcpy(lone->bytes, b->head.data, b->head.len);
	lone->len = b->head.len;
	lone->len += (size_t)snprintf(lone->bytes + lone->len, BATCH_FRAME_MAX,
				      "$%zu\r\n", len);
	memcpy(lone->bytes + lone->len, item, len);
	memcpy(lone->bytes + lone->len + len, "\r\n", 2);
	lone->len += len + 2;
	return cluster_send(b->cluster, b->head_slot, lone->bytes, lone->len,
			    lone_answered, lone, count, err);
}

/* "$LEN\r\n" at the end of digits.  Where it begins. */
static size_t frame(char digits[BATCH_FRAME_MAX], size_t len)
{
	size_t at = BATCH_FRAME_MAX;

	digits[--at] = '\n';
	digits[--at] = '\r';
	do
		digits[--at] = (char)('0' + len % 10);
	while ((len /= 10) > 0);
	digits[--at] = '$';
	return at;
}

int batch_add(struct batch *b, uint32_t bucket, const void *item, size_t len,
	      struct error *err)
{
	char digits[BATCH_FRAME_MAX];
	size_t at = frame(digits, len);
	size_t head_len = BATCH_FRAME_MAX - at;
	size_t room = b->slot_size - b->head_max;
	bool lone = len > room || head_len + len + 2 > room;
	struct batch_slot *s;
	char *to;

	if (has_slot(b, bucket)) {
		s = &b->slots[b->slot_of[bucket]];
		if ((lone || s->count >= s->count_max || s->len >= s->len_max ||
		     head_len + len + 2 > room - s->len) &&
		    send_slot(b, bucket, err) != 0)
			return -1;
	}
	if (lone)
		return send_lone(b, bucket, item, len, err);
	if (!has_slot(b, bucket) && take_slot(b, bucket, err) != 0)
		return -1;
	s = &b->slots[b->slot_of[bucket]];
	to = items_of(b, b->slot_of[bucket]) + s->len;
	memcpy(to, digits + at, head_len);
	memcpy(to + head_len, item, len);
	to[head_len + len] = '\r';
	to[head_len + len + 1] = '\n';
	s->len += (uint32_t)(head_len + len + 2);
	s->count++;
	/* The bucket's next item is to find its line in the cache: where
	 * stores wait for memory, the hash of the next key waits for them. */
	__builtin_prefetch(to + head_len + len + 2 + CACHE_LINE, 1);
	return 0;
}

int batch_flush(struct batch *b, struct error *err)
{
	for (uint32_t i = 0; i < b->options.buckets; i++)
		if (has_slot(b, i) && send_slot(b, i, err) != 0)
			return -1;
	return cluster_flush(b->cluster, err);
}
