/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/draw.h"

#include <stdlib.h>
#include <string.h>

#include "lib/job/sample.h"

/* So many more than wanted are kept before those that are too high go. */
static size_t room_of(size_t wanted)
{
	return 2 * wanted + 64;
}

int draw_init(struct draw *draw, size_t wanted, uint64_t seed,
	      struct error *err)
{
	memset(draw, 0, sizeof(*draw));
	draw->seed = seed;
	draw->wanted = wanted;
	atomic_init(&draw->limit, UINT64_MAX);
	if (pthread_mutex_init(&draw->lock, NULL) != 0)
		return error_nomem(err);
	draw->keys = calloc(room_of(wanted), sizeof(*draw->keys));
	if (draw->keys != NULL) {
		draw->room = room_of(wanted);
		return 0;
	}
	(void)pthread_mutex_destroy(&draw->lock);
	return error_nomem(err);
}

static int compare(const void *a, const void *b)
{
	const struct drawn *x = a;
	const struct drawn *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->key.len != y->key.len)
		return x->key.len < y->key.len ? -1 : 1;
	return memcmp(x->key.key, y->key.key, x->key.len);
}

/* Each key once, the lowest first, and no more than are wanted. */
static void tidy(struct draw *draw)
{
	size_t n = 0;

	qsort(draw->keys, draw->count, sizeof(*draw->keys), compare);
	for (size_t i = 0; i < draw->count; i++) {
		struct drawn *d = &draw->keys[i];

		if (n == draw->wanted ||
		    (n > 0 && compare(d, &draw->keys[n - 1]) == 0))
			missed_key_release(&d->key);
		else
			draw->keys[n++] = *d;
	}
	draw->count = n;
	if (n == draw->wanted)
		atomic_store_explicit(&draw->limit, draw->keys[n - 1].number,
				      memory_order_relaxed);
}

int draw_offer(struct draw *draw, uint64_t hash, uint32_t bucket,
	       const void *key, size_t len, size_t fields,
	       const void *const *values, const size_t *lens, struct error *err)
{
	uint64_t state = hash ^ draw->seed;
	struct drawn d = {.number = sample_random(&state)};

	if (d.number >=
	    atomic_load_explicit(&draw->limit, memory_order_relaxed))
		return 0;
	if (missed_key_init(&d.key, bucket, key, len, err) != 0)
		return -1;
	if (fields > 0 &&
	    missed_values(&d.key, fields, values, lens, err) != 0) {
		missed_key_release(&d.key);
		return -1;
	}
	(void)pthread_mutex_lock(&draw->lock);
	if (draw->count == draw->room)
		tidy(draw);
	draw->keys[draw->count++] = d;
	(void)pthread_mutex_unlock(&draw->lock);
	return 0;
}

void draw_end(struct draw *draw)
{
	tidy(draw);
}

void draw_release(struct draw *draw)
{
	if (draw->keys == NULL)
		return;
	for (size_t i = 0; i < draw->count; i++)
		missed_key_release(&draw->keys[i].key);
	free(draw->keys);
	(void)pthread_mutex_destroy(&draw->lock);
	memset(draw, 0, sizeof(*draw));
}
