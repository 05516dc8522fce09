/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#ifndef __clang_analyzer__ /* it would report on xxHash, too */
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include "internal.h"

/* The longest value that is transformed on a small stack. */
#define SHORT_VALUE 256
_Static_assert(SHORT_VALUE >= BK_SCRATCH_MIN, "scratch of add_short()");

/*
 * The key so far.  len counts on when out is full, so that a row is judged
 * the same whatever the caller's room.
 */
struct key {
	unsigned char *out;
	size_t cap;
	size_t len;
};

static inline void append(struct key *key, struct bk_slice bytes)
{
	if (bytes.len > 0 && key->len + bytes.len <= key->cap)
		memcpy(key->out + key->len, bytes.data, bytes.len);
	key->len += bytes.len;
}

/* Steps 1 to 4 of SPEC.md section 3: before the transforms. */
static inline int admit(const struct bk_rules *rules, struct bk_slice *value)
{
	if (value->data == NULL) {
		if (!rules->null_is_empty)
			return BLOOMKEY_REJECT_NULL;
		value->data = "";
		value->len = 0;
	}
	if (value->len > BLOOMKEY_MAX)
		return BLOOMKEY_REJECT_TOO_LONG;
	if (rules->encoding == BK_ENCODING_UTF8 &&
	    !bk_utf8_valid(value->data, value->len))
		return BLOOMKEY_REJECT_ENCODING;
	if (value->len == 0 && !rules->empty_allowed)
		return BLOOMKEY_REJECT_EMPTY;
	return BLOOMKEY_OK;
}

/* Step 7, and the field becomes part of the key. */
static inline int add(struct key *key, const struct bloomkey_spec *spec,
		      const struct bk_field *f, struct bk_slice value)
{
	bool last = f == &spec->fields[spec->nfields - 1];

	if (!last && memchr(value.data, spec->delimiter, value.len) != NULL)
		return BLOOMKEY_REJECT_DELIMITER;
	append(key, f->literal);
	append(key, value);
	return BLOOMKEY_OK;
}

/*
 * Steps 5 and 6, then 7.  No transform makes a value longer than BLOOMKEY_MAX
 * of one that is not.
 */
static int add_transformed(struct key *key, const struct bloomkey_spec *spec,
			   const struct bk_field *f, struct bk_slice value,
			   char *scratch)
{
	int rc = bk_transform(f, &value, scratch);

	if (rc != BLOOMKEY_OK)
		return rc;
	if (value.len == 0 && !f->rules.empty_allowed)
		return BLOOMKEY_REJECT_EMPTY;
	return add(key, spec, f, value);
}

/* Two functions, so that the usual value does not cost a large stack. */
static int add_short(struct key *key, const struct bloomkey_spec *spec,
		     const struct bk_field *f, struct bk_slice value)
{
	char scratch[SHORT_VALUE];

	return add_transformed(key, spec, f, value, scratch);
}

static __attribute__((noinline)) int add_long(struct key *key,
					      const struct bloomkey_spec *spec,
					      const struct bk_field *f,
					      struct bk_slice value)
{
	char scratch[BK_SCRATCH_MAX];

	return add_transformed(key, spec, f, value, scratch);
}

static int reject(struct bloomkey_result *result, size_t field, int code)
{
	result->field = field;
	return code;
}

int bloomkey_derive(const struct bloomkey_spec *spec, const void *const *values,
		    const size_t *lens, void *out, size_t cap,
		    struct bloomkey_result *result)
{
	const size_t n = spec->nfields;
	struct key key = {out, cap, 0};

	memset(result, 0, sizeof(*result));
	for (size_t i = 0; i < n; i++) {
		const struct bk_field *f = &spec->fields[i];
		struct bk_slice value = {values[i], lens[i]};
		int rc = admit(&f->rules, &value);

		if (rc == BLOOMKEY_OK && f->rules.ntransforms == 0)
			rc = add(&key, spec, f, value);
		else if (rc == BLOOMKEY_OK)
			rc = value.len <= SHORT_VALUE
				     ? add_short(&key, spec, f, value)
				     : add_long(&key, spec, f, value);
		if (rc != BLOOMKEY_OK)
			return reject(result, i, rc);
	}
	append(&key, spec->tail);
	if (key.len == 0)
		return reject(result, n, BLOOMKEY_REJECT_EMPTY);
	if (key.len > BLOOMKEY_MAX)
		return reject(result, n, BLOOMKEY_REJECT_TOO_LONG);
	result->len = key.len;
	if (key.len > cap)
		return BLOOMKEY_ERANGE;
	result->bucket = bloomkey_bucket(spec, out, key.len, &result->hash);
	return BLOOMKEY_OK;
}

uint32_t bloomkey_bucket(const struct bloomkey_spec *spec, const void *key,
			 size_t len, uint64_t *hash)
{
	uint64_t h = XXH64(key, len, spec->seed);

	if (hash != NULL)
		*hash = h;
	return (uint32_t)(h % spec->buckets);
}
