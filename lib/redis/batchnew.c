/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/redis/batch.h"
#include "lib/redis/batch_private.h"

/* A slot: room for the head of its command, and items behind it. */
#define SLOT_MAX  (16u << 10)
#define ITEMS_MIN 64
/*
 * More slots than buckets: so many bytes, but no more than a quarter of all,
 * and at least and at most so many.
 */
#define SPARE_BYTES (1u << 20)
#define SPARE_MIN   16
#define SPARE_MAX   CONN_COMMANDS_MAX

/* The longest head, by the keys of the first and the last bucket. */
static int measure_head(struct batch *b)
{
	size_t first;

	if (batch_head(b, 0, BATCH_ITEMS_MAX, &first) != 0)
		return -1;
	b->head_max = b->head.len;
	b->first_size = b->head.len - first;
	if (batch_head(b, b->options.buckets - 1, BATCH_ITEMS_MAX, &first) != 0)
		return -1;
	if (b->head.len > b->head_max)
		b->head_max = b->head.len;
	return 0;
}

static uint32_t spare(const struct batch *b, size_t slot_size)
{
	size_t part = b->options.memory / 4;
	size_t n = (part < SPARE_BYTES ? part : SPARE_BYTES) / slot_size;

	if (n < SPARE_MIN)
		return SPARE_MIN;
	return n > SPARE_MAX ? SPARE_MAX : (uint32_t)n;
}

/* Bytes of all slots if they are of this size; SIZE_MAX: too many. */
static size_t needed(const struct batch *b, size_t slot_size)
{
	size_t count = (size_t)b->options.buckets + spare(b, slot_size);
	size_t bytes;

	if (__builtin_mul_overflow(count, slot_size + sizeof(struct batch_slot),
				   &bytes) ||
	    __builtin_add_overflow(bytes, b->options.buckets * sizeof(uint32_t),
				   &bytes))
		return SIZE_MAX;
	return bytes;
}

/* The largest slots for which there is memory. */
static void choose_size(struct batch *b)
{
	size_t low = b->head_max + ITEMS_MIN;
	size_t high = low > SLOT_MAX ? low : SLOT_MAX;

	while (low < high) {
		size_t mid = low + (high - low + 1) / 2;

		if (needed(b, mid) <= b->options.memory)
			low = mid;
		else
			high = mid - 1;
	}
	b->slot_size = low;
}

int batch_new(struct cluster *cluster, const struct batch_options *options,
	      struct batch **out, struct error *err)
{
	struct batch *b = calloc(1, sizeof(*b));
	uint32_t count;

	*out = NULL;
	if (b == NULL)
		return error_nomem(err);
	b->cluster = cluster;
	b->options = *options;
	b->items_max = BATCH_ITEMS_MAX - (options->first != NULL ? 1 : 0);
	b->free = BATCH_NONE;
	buf_init(&b->head, SIZE_MAX);
	if (measure_head(b) != 0) {
		batch_free(b);
		return error_nomem(err);
	}
	choose_size(b);
	count = options->buckets + spare(b, b->slot_size);
	if (needed(b, b->slot_size) != SIZE_MAX) {
		b->arena = malloc(count * b->slot_size);
		b->slots = malloc(count * sizeof(b->slots[0]));
		b->slot_of = malloc(options->buckets * sizeof(b->slot_of[0]));
	}
	if (b->arena == NULL || b->slots == NULL || b->slot_of == NULL) {
		batch_free(b);
		return error_nomem(err);
	}
	for (uint32_t i = 0; i < options->buckets; i++)
		b->slot_of[i] = BATCH_NEW;
	/* The lowest first: pages that are never needed are never touched. */
	while (count > 0)
		batch_put_back(b, --count);
	*out = b;
	return 0;
}

void batch_free(struct batch *b)
{
	if (b == NULL)
		return;
	while (b->lones != NULL)
		batch_lone_free(b->lones);
	buf_release(&b->head);
	free(b->arena);
	free(b->slots);
	free(b->slot_of);
	free(b);
}
