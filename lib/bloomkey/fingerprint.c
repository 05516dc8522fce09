/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The lines so far; once memory is short, nothing is added any more. */
struct text {
	char *data;
	size_t len, cap;
	bool failed;
};

/* Room for len more bytes, or NULL. */
static char *extend(struct text *t, size_t len)
{
	size_t cap = t->cap > 0 ? t->cap : 512;
	char *grown;

	while (cap - t->len < len)
		cap *= 2;
	if (!t->failed && cap != t->cap) {
		grown = realloc(t->data, cap);
		t->failed = grown == NULL;
		if (grown != NULL) {
			t->data = grown;
			t->cap = cap;
		}
	}
	if (t->failed)
		return NULL;
	t->len += len;
	return t->data + t->len - len;
}

static void put_bytes(struct text *t, const char *bytes, size_t len)
{
	char *to = extend(t, len);

	if (to != NULL)
		memcpy(to, bytes, len);
}

static void put(struct text *t, const char *text)
{
	put_bytes(t, text, strlen(text));
}

static void put_line(struct text *t, const char *name, const char *value)
{
	put(t, name);
	put(t, "=");
	put(t, value);
	put(t, "\n");
}

static void put_number(struct text *t, const char *name, uint64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put_line(t, name, digits);
}

static void put_hex(struct text *t, const char *name, struct bk_slice bytes)
{
	char *to;

	put(t, name);
	put(t, "=");
	to = extend(t, 2 * bytes.len);
	if (to != NULL)
		bk_hex(bytes.data, bytes.len, to);
	put(t, "\n");
}

static void put_sentinel(struct text *t, const struct bloomkey_spec *spec)
{
	switch (spec->sentinel_kind) {
	case BK_SENTINEL_DEFAULT:
		put_line(t, "sentinel", "default");
		break;
	case BK_SENTINEL_NONE:
		put_line(t, "sentinel", "none");
		break;
	case BK_SENTINEL_BYTES:
		put_hex(t, "sentinel", spec->sentinel);
		break;
	}
}

static void put_transforms(struct text *t, const struct bk_rules *r)
{
	char n[16];

	put(t, "transform=");
	for (unsigned i = 0; i < r->ntransforms; i++) {
		const struct bk_transform *tf = &r->transforms[i];

		if (i > 0)
			put(t, ",");
		put(t, bk_transform_name(tf->kind));
		if (tf->kind == BK_FIRST) {
			(void)snprintf(n, sizeof(n), ":%" PRIu32, tf->n);
			put(t, n);
		}
	}
	put(t, "\n");
}

static void put_field(struct text *t, const struct bk_field *f)
{
	const struct bk_rules *r = &f->rules;

	put_line(t, "field", f->name);
	put_line(t, "encoding",
		 r->encoding == BK_ENCODING_BYTES ? "bytes" : "utf-8");
	put_line(t, "empty", r->empty_allowed ? "allow" : "reject");
	put_line(t, "null", r->null_is_empty ? "empty" : "reject");
	put_transforms(t, r);
	if (r->keyed)
		put_line(t, "check", f->check);
}

/*
 * What depends on the fingerprint, the default sentinel and {fp} in filter
 * names, goes in as the words that ask for it.
 */
int bk_fingerprint(struct bloomkey_spec *spec)
{
	struct bk_slice delimiter = {&spec->delimiter, 1};
	struct text t = {NULL, 0, 0, false};
	char *end;

	put(&t, "bloomkey-keyspec-1\n");
	put_line(&t, "name", spec->name);
	put_number(&t, "buckets", spec->buckets);
	put_number(&t, "seed", spec->seed);
	put_hex(&t, "delimiter", delimiter);
	put_hex(&t, "key", spec->key);
	put_hex(&t, "filter", spec->filter);
	put_sentinel(&t, spec);
	for (size_t i = 0; i < spec->nfields; i++)
		put_field(&t, &spec->fields[i]);
	end = extend(&t, 1);
	if (end == NULL) {
		free(t.data);
		return BLOOMKEY_ENOMEM;
	}
	*end = '\0';
	spec->fingerprint_text = t.data;
	bk_sha256(t.data, t.len - 1, spec->fingerprint);
	spec->fingerprint[BLOOMKEY_FINGERPRINT_LEN] = '\0';
	(void)snprintf(spec->default_sentinel, sizeof(spec->default_sentinel),
		       "bloomkey:%.8s", spec->fingerprint);
	return BLOOMKEY_OK;
}
