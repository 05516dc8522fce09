/* SPDX-License-Identifier: BSD-2-Clause
 *
 * transform: what transforms make of a value, checked with every room, by
 * values and keys that end where their memory ends.
 */
#ifndef BLOOMCTL_TESTS_UNIT_BLOOMKEY_TRANSFORM_H
#define BLOOMCTL_TESTS_UNIT_BLOOMKEY_TRANSFORM_H

#include "tests/unit/bloomkey/keyspec.h"

/* What field `id` of a key is, and what stands around it. */
struct how {
	const char *list; /* the transforms */
	const char *encoding;
	const char *empty;
	const char *key; /* the template */
};

struct value {
	const char *data; /* NULL: NULL */
	size_t len;
};

#define V(text) ((struct value){text, sizeof(text) - 1})

/* A code, and the key or the field at fault. */
struct answer {
	int code;
	struct value key;
	size_t field;
};

static inline struct bloomkey_spec *spec_of(const struct how *how)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
		       HEAD "filter = f\nkey = %s\n[field id]\n"
			    "encoding = %s\nempty = %s\ntransform = %s\n%s",
		       how->key, how->encoding, how->empty, how->list,
		       strstr(how->list, "hmac") ? "secret = env:S\n" : "");
	return parse_keyed(text, SECRET);
}

/* One call, with memory of its own for the value and for the key. */
static inline bool derives(const struct bloomkey_spec *spec, struct value v,
			   size_t cap, const struct answer *is)
{
	const bool good = is->code == BLOOMKEY_OK;
	const bool fits = good && cap >= is->key.len;
	char *value = malloc(v.len > 0 ? v.len : 1);
	char *out = malloc(cap > 0 ? cap : 1);
	/* Of no bytes: one that may not be read. */
	const void *values[] = {v.len > 0 ? value : value + 1};
	struct bloomkey_result r = {9, 9, 9, 9};
	uint64_t hash = 0;
	bool same;
	int rc;

	if (value == NULL || out == NULL)
		abort();
	if (v.data == NULL)
		values[0] = NULL;
	else if (v.len > 0)
		memcpy(value, v.data, v.len);
	rc = bloomkey_derive(spec, values, &v.len, cap > 0 ? out : out + 1, cap,
			     &r);
	if (fits)
		(void)bloomkey_bucket(spec, out, r.len, &hash);
	same = rc == (good && !fits ? BLOOMKEY_ERANGE : is->code) &&
	       r.len == (good ? is->key.len : 0) && r.hash == hash &&
	       r.field == (good ? 0 : is->field) &&
	       (!fits || memcmp(out, is->key.data, r.len) == 0) &&
	       (v.data == NULL || v.len == 0 ||
		memcmp(value, v.data, v.len) == 0);
	if (!same)
		printf("# cap %zu: code %d len %zu field %zu: %.*s\n", cap, rc,
		       r.len, r.field,
		       rc == BLOOMKEY_OK && r.len < 200 ? (int)r.len : 0, out);
	free(out);
	free(value);
	return same;
}

static inline void check_value(const char *file, int at, const struct how *how,
			       struct value v, struct answer is)
{
	struct bloomkey_spec *spec = spec_of(how);
	bool same = derives(spec, v, BLOOMKEY_MAX, &is) &&
		    derives(spec, v, 0, &is) && derives(spec, v, 1, &is);

	if (same && is.key.len > 0)
		same = derives(spec, v, is.key.len - 1, &is) &&
		       derives(spec, v, is.key.len, &is) &&
		       derives(spec, v, is.key.len + 1, &is);
	if (!same) {
		unit_fail(file, at, how->list);
		printf("#   of %zu bytes: %.40s\n", v.len,
		       v.data != NULL ? v.data : "NULL");
	}
	bloomkey_free(spec);
}

#define UTF8(list)  (&(struct how){list, "utf-8", "reject", "{id}"})
#define BYTES(list) (&(struct how){list, "bytes", "reject", "{id}"})
/* The empty value is legal, and so is a key without it. */
#define ALLOW(list) (&(struct how){list, "utf-8", "allow", "k{id}"})

/* A value, as literal text, and the key, as literal text. */
#define BECOMES(how, text, key)                       \
	check_value(__FILE__, __LINE__, how, V(text), \
		    (struct answer){BLOOMKEY_OK, V(key), 0})
#define FAILS(how, text, reason)                      \
	check_value(__FILE__, __LINE__, how, V(text), \
		    (struct answer){BLOOMKEY_REJECT_##reason, {NULL, 0}, 0})

#endif
