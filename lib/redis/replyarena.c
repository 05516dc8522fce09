/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/replyarena.h"

#include <stdlib.h>

#include "lib/redis/reply.h"

/* The first chunk holds the answer to a whole command of 1000 items. */
#define CHUNK_FIRST (32u << 10)
#define CHUNK_LARGE (1u << 20)

struct replychunk {
	struct replychunk *next;
	size_t cap;
	size_t used;
	_Alignas(max_align_t) unsigned char bytes[];
};

static struct replychunk *chunk_new(size_t cap)
{
	struct replychunk *c = malloc(sizeof(*c) + cap);

	if (c != NULL) {
		c->next = NULL;
		c->cap = cap;
		c->used = 0;
	}
	return c;
}

static void free_chunks(struct replychunk *c)
{
	while (c != NULL) {
		struct replychunk *next = c->next;

		free(c);
		c = next;
	}
}

int replyarena_init(struct replyarena *a, size_t max)
{
	a->max = max;
	a->used = 0;
	a->first = a->last = chunk_new(CHUNK_FIRST);
	return a->first != NULL ? 0 : -1;
}

void replyarena_release(struct replyarena *a)
{
	free_chunks(a->first);
}

void replyarena_reset(struct replyarena *a)
{
	free_chunks(a->first->next);
	a->first->next = NULL;
	a->first->used = 0;
	a->last = a->first;
	a->used = 0;
}

void *replyarena_take(struct replyarena *a, size_t size, bool *large)
{
	const size_t align = _Alignof(struct reply) - 1;
	struct replychunk *c = a->last;
	void *p;

	*large = size > a->max - a->used;
	if (*large)
		return NULL;
	if (size > c->cap - c->used) {
		size_t cap =
			c->cap < CHUNK_LARGE / 2 ? 2 * c->cap : CHUNK_LARGE;

		c->next = chunk_new(size > cap ? size : cap);
		if (c->next == NULL)
			return NULL;
		c = a->last = c->next;
	}
	p = c->bytes + c->used;
	a->used += size;
	size = (size + align) & ~align;
	c->used = size > c->cap - c->used ? c->cap : c->used + size;
	return p;
}
