/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/asking.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bloomkey/bloomkey.h"

/* A block that is longer is full; it may grow by one row past that. */
#define BLOCK ((size_t)8 << 20)

/* What stands for the length of a value that is NULL. */
#define NO_VALUE UINT32_MAX

/* How a row stands in the block; behind it the key, and for each value its
 * length and its bytes. */
struct entry {
	uint32_t bucket;
	uint32_t len;
	uint32_t size; /* of all that is behind it */
};

static void on_answer(void *ctx, uint32_t bucket, const void *key, size_t len,
		      bool found)
{
	struct asking *a = ctx;

	a->asked.keys[bucket]++;
	if (found)
		return;
	a->missing.keys[bucket]++;
	if (a->failed.code == ERROR_NONE)
		(void)missed_add(&a->missed, bucket, key, len, &a->failed);
}

int asking_init(struct asking *out, struct store *store,
		const struct manifest *m, size_t fields, struct error *err)
{
	memset(out, 0, sizeof(*out));
	out->fields = fields;
	buf_init(&out->block, 2 * BLOCK + fields * (BLOOMKEY_MAX + 8));
	if (tally_init(&out->asked, m->buckets, err) != 0 ||
	    tally_init(&out->missing, m->buckets, err) != 0)
		return -1;
	return store->ops->probe(store, m, on_answer, out, &out->probe, err);
}

/* The values of an entry, into arrays of `fields` elements. */
static void read_values(const char *at, size_t fields, const void **values,
			size_t *lens)
{
	for (size_t i = 0; i < fields; i++) {
		uint32_t len;

		memcpy(&len, at, sizeof(len));
		at += sizeof(len);
		values[i] = len != NO_VALUE ? at : NULL;
		lens[i] = len != NO_VALUE ? len : 0;
		at += lens[i];
	}
}

/* Gives a row's values to those of the keys that have none yet. */
static int give(struct asking *a, const struct entry *e, const char *key,
		const void **values, size_t *lens, struct error *err)
{
	for (size_t i = a->open; i < a->missed.count; i++) {
		struct missed_key *to = &a->missed.keys[i];

		if (to->values != NULL || to->bucket != e->bucket ||
		    to->len != e->len || memcmp(to->key, key, e->len) != 0)
			continue;
		read_values(key + e->len, a->fields, values, lens);
		if (missed_values(to, a->fields, values, lens, err) != 0)
			return -1;
	}
	return 0;
}

/* All in the block is answered: what was missed gets its values. */
static int settle(struct asking *a, struct error *err)
{
	const void **values = calloc(a->fields + 1, sizeof(*values));
	size_t *lens = calloc(a->fields + 1, sizeof(*lens));
	int rc = values != NULL && lens != NULL ? 0 : error_nomem(err);
	size_t at = 0;

	while (rc == 0 && a->open < a->missed.count && at < a->block.len) {
		struct entry e;

		memcpy(&e, a->block.data + at, sizeof(e));
		rc = give(a, &e, a->block.data + at + sizeof(e), values, lens,
			  err);
		at += sizeof(e) + e.size;
	}
	a->block.len = 0;
	a->open = a->missed.count;
	free(values);
	free(lens);
	return rc;
}

static int keep(struct asking *a, uint32_t bucket, const void *key, size_t len,
		const void *const *values, const size_t *lens,
		struct error *err)
{
	struct entry e = {.bucket = bucket, .len = (uint32_t)len};
	size_t size = len;
	int bad;

	for (size_t i = 0; i < a->fields; i++)
		size += sizeof(uint32_t) + (values[i] != NULL ? lens[i] : 0);
	e.size = (uint32_t)size;
	bad = buf_add(&a->block, &e, sizeof(e)) | buf_add(&a->block, key, len);
	for (size_t i = 0; i < a->fields; i++) {
		uint32_t n = values[i] != NULL ? (uint32_t)lens[i] : NO_VALUE;

		bad |= buf_add(&a->block, &n, sizeof(n));
		if (values[i] != NULL)
			bad |= buf_add(&a->block, values[i], lens[i]);
	}
	return bad == 0 ? 0 : error_nomem(err);
}

int asking_add(struct asking *a, uint32_t bucket, const void *key, size_t len,
	       const void *const *values, const size_t *lens, struct error *err)
{
	if (a->fields > 0 && values != NULL) {
		if (a->block.len >= BLOCK && asking_flush(a, err) != 0)
			return -1;
		if (keep(a, bucket, key, len, values, lens, err) != 0)
			return -1;
	}
	return a->probe->ops->ask(a->probe, bucket, key, len, err);
}

int asking_flush(struct asking *a, struct error *err)
{
	if (a->probe->ops->flush(a->probe, err) != 0)
		return -1;
	if (a->failed.code != ERROR_NONE) {
		*err = a->failed;
		return -1;
	}
	return a->fields > 0 ? settle(a, err) : 0;
}

int asking_mark(struct asking *a, struct error *err)
{
	if (asking_flush(a, err) != 0)
		return -1;
	tally_mark(&a->asked);
	tally_mark(&a->missing);
	a->marked = a->missed.count;
	return 0;
}

int asking_back(struct asking *a, struct error *err)
{
	if (asking_flush(a, err) != 0)
		return -1;
	tally_back(&a->asked);
	tally_back(&a->missing);
	missed_cut(&a->missed, a->marked);
	a->open = a->missed.count;
	return 0;
}

void asking_release(struct asking *a)
{
	if (a->probe != NULL)
		a->probe->ops->close(a->probe);
	tally_release(&a->asked);
	tally_release(&a->missing);
	missed_release(&a->missed);
	buf_release(&a->block);
	memset(a, 0, sizeof(*a));
}
