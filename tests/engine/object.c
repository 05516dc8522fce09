/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/object.h"

#include "tests/engine/engine.h"
#include "tests/engine/server.h"
#include "tests/engine/size.h"

#include <float.h>
#include <string.h>

enum { BLOB_VERSION = 1, SEED_AT = 13 };

static const char too_large[] =
	"ERR operation exceeds bloom object memory limit";

const unsigned char fixed_seed[SEED_SIZE] = {
	89,  15,  245, 34,  234, 120, 17,  218, 167, 20, 216,
	9,   59,  62,  123, 217, 29,  137, 138, 115, 62, 152,
	136, 135, 48,  127, 151, 205, 40,  7,   51,  131};

void shape_init(struct shape *shape)
{
	*shape = (struct shape){.error = 0.01,
				.tightening = 0.5,
				.capacity = 100,
				.expansion = 2};
}

/* --- what INFO tells ---------------------------------------------------- */

static void count(const struct object *o, int sign)
{
	atomic_fetch_add(&engine.objects, sign);
	atomic_fetch_add(&engine.filters, sign * (long long)o->n_filters);
	atomic_fetch_add(&engine.items, sign * object_items(o));
	atomic_fetch_add(&engine.capacity, sign * object_capacity(o));
	atomic_fetch_add(&engine.memory, sign * (long long)object_memory(o));
}

uint64_t object_memory(const struct object *o)
{
	uint64_t memory = OBJECT_FIXED;
	for (uint64_t i = 0; i < o->n_filters; i++)
		memory += FILTER_FIXED + o->filters[i].bytes;
	return memory;
}

int64_t object_items(const struct object *o)
{
	int64_t sum = 0;
	for (uint64_t i = 0; i < o->n_filters; i++)
		sum += o->filters[i].items;
	return sum;
}

int64_t object_capacity(const struct object *o)
{
	int64_t sum = 0;
	for (uint64_t i = 0; i < o->n_filters; i++)
		sum += o->filters[i].capacity;
	return sum;
}

/* --- making and freeing -------------------------------------------------- */

struct object *object_empty(void)
{
	return server.Calloc(1, sizeof(struct object));
}

static void push(struct object *o, struct filter filter)
{
	o->filters =
		server.Realloc(o->filters, (o->n_filters + 1) * sizeof(filter));
	o->filters[o->n_filters++] = filter;
}

/* One more filter, of nothing.  Answers as object_new(). */
static const char *extend(struct object *o, int64_t capacity, bool limited)
{
	double error = size_error(o->error, o->tightening, o->n_filters);
	if (error < DBL_MIN)
		return "ERR false positive degrades to 0 on scale out";
	if (o->n_filters >= INT32_MAX)
		return "ERR bloom object reached max number of filters";
	struct filter filter = {.bytes = size_bytes(capacity, error),
				.capacity = capacity};
	if (limited &&
	    !size_fits(object_memory(o) + FILTER_FIXED + filter.bytes))
		return too_large;

	filter.hashes = size_hashes(filter.bytes, capacity);
	filter.blob = server.Calloc(1, BLOB_HEADER + filter.bytes);
	filter.blob[0] = BLOB_VERSION;
	little_put(filter.blob + 1, 8, filter.bytes);
	little_put(filter.blob + 9, 4, filter.hashes);
	memcpy(filter.blob + SEED_AT, o->seed, SEED_SIZE);
	push(o, filter);
	return NULL;
}

const char *object_new(struct object **object, const struct shape *shape,
		       bool limited)
{
	struct object *o = object_empty();
	o->error = shape->error;
	o->tightening = shape->tightening;
	o->expansion = shape->expansion;
	if (shape->has_seed)
		memcpy(o->seed, shape->seed, SEED_SIZE);
	else if (atomic_load(&engine.fixed_seed))
		memcpy(o->seed, fixed_seed, SEED_SIZE);
	else
		server.GetRandomBytes(o->seed, SEED_SIZE);
	o->random_seed = memcmp(o->seed, fixed_seed, SEED_SIZE) != 0;

	const char *wrong = extend(o, shape->capacity, limited);
	if (wrong != NULL) {
		server.Free(o);
		return wrong;
	}
	o->counted = true;
	count(o, 1);
	*object = o;
	return NULL;
}

bool object_take(struct object *o, void *blob, uint64_t size, int64_t capacity,
		 int64_t items)
{
	const unsigned char *at = blob;
	if (size <= BLOB_HEADER || at[0] != BLOB_VERSION ||
	    little_get(at + 1, 8) != size - BLOB_HEADER)
		return false;
	struct filter filter = {.blob = blob,
				.bytes = size - BLOB_HEADER,
				.hashes = (uint32_t)little_get(at + 9, 4),
				.capacity = capacity,
				.items = items};
	if (filter.hashes == 0 || capacity < 1 || items < 0)
		return false;
	if (o->n_filters == 0)
		memcpy(o->seed, at + SEED_AT, SEED_SIZE);
	else if (memcmp(o->seed, at + SEED_AT, SEED_SIZE) != 0)
		return false;
	push(o, filter);
	return true;
}

bool object_complete(struct object *o)
{
	bool fixed = memcmp(o->seed, fixed_seed, SEED_SIZE) == 0;
	/* Of comparisons with what is no number, all are false. */
	if (o->n_filters == 0 || !(o->error > 0 && o->error < 1) ||
	    !(o->tightening > 0 && o->tightening < 1) ||
	    !(o->random_seed || fixed) || !size_fits(object_memory(o)))
		return false;
	o->counted = true;
	count(o, 1);
	return true;
}

struct object *object_copy(const struct object *from)
{
	struct object *o = object_empty();
	*o = *from;
	o->filters = server.Alloc(o->n_filters * sizeof(*o->filters));
	for (uint64_t i = 0; i < o->n_filters; i++) {
		size_t size = BLOB_HEADER + from->filters[i].bytes;
		o->filters[i] = from->filters[i];
		o->filters[i].blob = server.Alloc(size);
		memcpy(o->filters[i].blob, from->filters[i].blob, size);
	}
	count(o, 1);
	return o;
}

void object_free(struct object *o)
{
	if (o->counted)
		count(o, -1);
	for (uint64_t i = 0; i < o->n_filters; i++)
		server.Free(o->filters[i].blob);
	server.Free(o->filters);
	server.Free(o);
}

/* --- items --------------------------------------------------------------- */

static bool filter_has(const struct filter *filter, const struct hash *hash)
{
	for (uint32_t i = 0; i < filter->hashes; i++) {
		uint64_t at = hash_position(hash, i, filter->bytes * 8);
		if (!(filter->blob[BLOB_HEADER + at / 8] & 1U << at % 8))
			return false;
	}
	return true;
}

static bool has(const struct object *o, const struct hash *hash)
{
	for (uint64_t i = 0; i < o->n_filters; i++)
		if (filter_has(&o->filters[i], hash))
			return true;
	return false;
}

bool object_has(const struct object *o, const void *item, size_t size)
{
	struct hash hash;
	hash_item(&hash, o->seed, item, size);
	return has(o, &hash);
}

static void filter_add(struct filter *filter, const struct hash *hash,
		       struct log *log)
{
	for (uint32_t i = 0; i < filter->hashes; i++) {
		uint64_t at = hash_position(hash, i, filter->bytes * 8);
		unsigned char *byte = filter->blob + BLOB_HEADER + at / 8;
		unsigned char bit = (unsigned char)(1U << at % 8);
		if (*byte & bit)
			continue;
		*byte |= bit;
		if (log != NULL)
			log->positions[log->n++] = at;
	}
	filter->items++;
	atomic_fetch_add(&engine.items, 1);
}

const char *object_add(struct object *o, const void *item, size_t size,
		       bool limited, struct log *log, bool *added)
{
	struct hash hash;
	hash_item(&hash, o->seed, item, size);
	*added = false;
	if (has(o, &hash))
		return NULL;
	struct filter *last = &o->filters[o->n_filters - 1];
	if (last->items >= last->capacity) {
		int64_t capacity;
		if (o->expansion == 0)
			return "ERR non scaling filter is full";
		if (__builtin_mul_overflow(last->capacity, o->expansion,
					   &capacity))
			return "ERR bad capacity";
		count(o, -1);
		const char *wrong = extend(o, capacity, limited);
		count(o, 1);
		if (wrong != NULL)
			return wrong;
		last = &o->filters[o->n_filters - 1];
	}
	/* Filters that come later go as a whole when this is undone. */
	filter_add(last, &hash,
		   log != NULL && log->n_filters == o->n_filters ? log : NULL);
	*added = true;
	return NULL;
}

/* --- taking adds back ---------------------------------------------------- */

void log_begin(struct log *log, const struct object *o, size_t items)
{
	const struct filter *last = &o->filters[o->n_filters - 1];
	*log = (struct log){.n_filters = o->n_filters, .items = last->items};
	log->positions =
		server.Calloc(items * last->hashes, sizeof(*log->positions));
}

void log_undo(struct log *log, struct object *o)
{
	count(o, -1);
	while (o->n_filters > log->n_filters)
		server.Free(o->filters[--o->n_filters].blob);
	struct filter *last = &o->filters[o->n_filters - 1];
	last->items = log->items;
	for (size_t i = 0; i < log->n; i++) {
		uint64_t at = log->positions[i];
		last->blob[BLOB_HEADER + at / 8] &=
			(unsigned char)~(1U << at % 8);
	}
	count(o, 1);
}

void log_end(struct log *log)
{
	server.Free(log->positions);
}
