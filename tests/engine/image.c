/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/image.h"

#include "tests/engine/engine.h"
#include "tests/engine/server.h"
#include "tests/engine/size.h"

#include <string.h>

enum {
	TYPE_VERSION = 1,
	PAYLOAD_VERSION = 1,
	/* Version, expansion, rates, whether the seed is random, filters. */
	PAYLOAD_HEADER = 1 + 4 + 8 + 8 + 1 + 8,
	/* What is around a blob there. */
	PAYLOAD_FILTER = 8 + 8 + 8,
};

/* --- the server's saves --------------------------------------------------- */

void image_save(struct module_io *io, void *object)
{
	const struct object *o = object;

	server.SaveUnsigned(io, o->n_filters);
	server.SaveUnsigned(io, o->expansion);
	server.SaveDouble(io, o->error);
	server.SaveDouble(io, o->tightening);
	server.SaveUnsigned(io, o->random_seed);
	for (uint64_t i = 0; i < o->n_filters; i++) {
		const struct filter *f = &o->filters[i];
		const char *blob = (const char *)f->blob;
		if (engine.blob_first)
			server.SaveStringBuffer(io, blob,
						BLOB_HEADER + f->bytes);
		server.SaveUnsigned(io, (uint64_t)f->capacity);
		/* All but the last are full. */
		if (i + 1 == o->n_filters)
			server.SaveUnsigned(io, (uint64_t)f->items);
		if (!engine.blob_first)
			server.SaveStringBuffer(io, blob,
						BLOB_HEADER + f->bytes);
	}
}

/* false: it cannot be read, or is not as a filter can be. */
static bool load_filter(struct module_io *io, struct object *o, bool last)
{
	char *blob = NULL;
	size_t size = 0;

	if (engine.blob_first)
		blob = server.LoadStringBuffer(io, &size);
	int64_t capacity = (int64_t)server.LoadUnsigned(io);
	int64_t items = last ? (int64_t)server.LoadUnsigned(io) : capacity;
	if (!engine.blob_first)
		blob = server.LoadStringBuffer(io, &size);
	if (!server.IsIOError(io) && blob != NULL &&
	    object_take(o, blob, size, capacity, items))
		return true;
	server.Free(blob);
	return false;
}

void *image_load(struct module_io *io, int version)
{
	if (version > TYPE_VERSION)
		return NULL;
	struct object *o = object_empty();
	uint64_t filters = server.LoadUnsigned(io);
	uint64_t expansion = server.LoadUnsigned(io);
	o->error = server.LoadDouble(io);
	o->tightening = server.LoadDouble(io);
	uint64_t random = server.LoadUnsigned(io);
	o->expansion = (uint32_t)expansion;
	o->random_seed = random == 1;

	bool good =
		!server.IsIOError(io) && expansion <= UINT32_MAX && random <= 1;
	for (uint64_t i = 0; good && i < filters; i++)
		good = load_filter(io, o, i + 1 == filters) &&
		       size_fits(object_memory(o));
	if (good && object_complete(o))
		return o;
	object_free(o);
	return NULL;
}

/* --- BF.LOAD ------------------------------------------------------------- */

static void put(unsigned char **at, size_t bytes, uint64_t value)
{
	little_put(*at, bytes, value);
	*at += bytes;
}

static void put_double(unsigned char **at, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	put(at, 8, bits);
}

/* *size bytes for the caller to free. */
static unsigned char *encode(const struct object *o, size_t *size)
{
	*size = PAYLOAD_HEADER;
	for (uint64_t i = 0; i < o->n_filters; i++)
		*size += PAYLOAD_FILTER + BLOB_HEADER + o->filters[i].bytes;
	unsigned char *payload = server.Alloc(*size), *at = payload;

	put(&at, 1, PAYLOAD_VERSION);
	put(&at, 4, o->expansion);
	put_double(&at, o->error);
	put_double(&at, o->tightening);
	put(&at, 1, o->random_seed);
	put(&at, 8, o->n_filters);
	for (uint64_t i = 0; i < o->n_filters; i++) {
		const struct filter *f = &o->filters[i];
		size_t blob = BLOB_HEADER + f->bytes;
		put(&at, 8, blob);
		memcpy(at, f->blob, blob);
		at += blob;
		put(&at, 8, (uint64_t)f->items);
		put(&at, 8, (uint64_t)f->capacity);
	}
	return payload;
}

void image_rewrite(struct module_io *io, struct module_string *key,
		   void *object)
{
	size_t size;
	unsigned char *payload = encode(object, &size);
	server.EmitAOF(io, "BF.LOAD", "sb", key, (const char *)payload, size);
	server.Free(payload);
}

/* What is left of a payload; after its end, all is 0 and `cut` true. */
struct rest {
	const unsigned char *at;
	size_t size;
	bool cut;
};

static const unsigned char *take(struct rest *rest, uint64_t bytes)
{
	rest->cut = rest->cut || bytes > rest->size;
	if (rest->cut)
		return NULL;
	const unsigned char *at = rest->at;
	rest->at += bytes;
	rest->size -= bytes;
	return at;
}

static uint64_t get(struct rest *rest, size_t bytes)
{
	const unsigned char *at = take(rest, bytes);
	return at == NULL ? 0 : little_get(at, bytes);
}

static double get_double(struct rest *rest)
{
	uint64_t bits = get(rest, 8);
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static bool decode_filter(struct rest *rest, struct object *o)
{
	uint64_t size = get(rest, 8);
	const unsigned char *at = take(rest, size);
	int64_t items = (int64_t)get(rest, 8);
	int64_t capacity = (int64_t)get(rest, 8);
	if (rest->cut)
		return false;
	unsigned char *blob = server.Alloc(size + 1);
	memcpy(blob, at, size);
	if (object_take(o, blob, size, capacity, items))
		return true;
	server.Free(blob);
	return false;
}

const char *image_decode(struct object **object, const char *payload,
			 size_t size)
{
	struct rest rest = {(const unsigned char *)payload, size, false};
	const char *wrong = "ERR bloom object decoding failed";

	if (get(&rest, 1) != PAYLOAD_VERSION)
		return rest.cut ? wrong
				: "ERR bloom object decoding failed. "
				  "Unsupported version";
	struct object *o = object_empty();
	o->expansion = (uint32_t)get(&rest, 4);
	o->error = get_double(&rest);
	o->tightening = get_double(&rest);
	o->random_seed = get(&rest, 1) == 1;
	uint64_t filters = get(&rest, 8);
	bool good = !rest.cut;
	for (uint64_t i = 0; good && i < filters; i++)
		good = decode_filter(&rest, o);
	if (good && !size_fits(object_memory(o)))
		wrong = "ERR operation exceeds bloom object memory limit";
	if (good && object_complete(o)) {
		*object = o;
		return NULL;
	}
	object_free(o);
	return wrong;
}
