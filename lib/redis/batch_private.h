/* SPDX-License-Identifier: BSD-2-Clause
 *
 * batch_private: what the files of batch share.
 *
 *	batch.c     items into slots, slots into commands
 *	batchnew.c  how large the slots are, and how many
 */
#ifndef BLOOMCTL_REDIS_BATCH_PRIVATE_H
#define BLOOMCTL_REDIS_BATCH_PRIVATE_H

#include "lib/base/buf.h"
#include "lib/redis/batch.h"

#define BATCH_KEY_MAX 1024
/* "$18446744073709551615\r\n" */
#define BATCH_FRAME_MAX 24
#define BATCH_NONE      UINT32_MAX
/* A bucket that never had a slot. */
#define BATCH_NEW (UINT32_MAX - 1)

struct batch_slot {
	uint32_t bucket; /* or, of a free one, the next free one */
	uint32_t count;  /* of items, without the first of the command */
	uint32_t len;    /* of their bytes */
	uint32_t count_max;
	uint32_t len_max;
};

struct batch {
	struct cluster *cluster;
	struct batch_options options;
	char *arena;
	struct batch_slot *slots;
	uint32_t *slot_of; /* by bucket; BATCH_NONE or BATCH_NEW: none */
	uint32_t free;     /* the first free slot, or BATCH_NONE */
	size_t head_max;   /* of a command */
	size_t slot_size;
	uint32_t items_max; /* of a slot */
	size_t first_size;  /* of the first item as it is sent; 0: none */
	struct buf head;    /* one being made */
	int head_slot;      /* of a cluster, for its key */
	struct batch_lone *lones;
};

/*
 * Makes in b->head the command for a bucket with so many items, up to them,
 * with the first one, which begins at *first.  0, or -1: out of memory.
 */
int batch_head(struct batch *b, uint32_t bucket, size_t items, size_t *first);

/* A slot is free. */
void batch_put_back(struct batch *b, uint32_t slot);

/* Takes an item that was too long for a slot off the list and frees it. */
void batch_lone_free(struct batch_lone *lone);

#endif
