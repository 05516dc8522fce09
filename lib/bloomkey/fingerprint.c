/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The low-level functions, because SHA256() of OpenSSL 3 loads providers and
 * reads the configuration that the environment names.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static void put(SHA256_CTX *ctx, const char *text)
{
	(void)SHA256_Update(ctx, text, strlen(text));
}

static void put_line(SHA256_CTX *ctx, const char *name, const char *value)
{
	put(ctx, name);
	put(ctx, "=");
	put(ctx, value);
	put(ctx, "\n");
}

static void put_number(SHA256_CTX *ctx, const char *name, uint64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put_line(ctx, name, digits);
}

static void to_hex(const void *bytes, size_t len, char *out)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++) {
		*out++ = hex[p[i] >> 4];
		*out++ = hex[p[i] & 15];
	}
	*out = '\0';
}

static void put_hex(SHA256_CTX *ctx, const char *name, struct bk_slice bytes)
{
	char digits[3];

	put(ctx, name);
	put(ctx, "=");
	for (size_t i = 0; i < bytes.len; i++) {
		to_hex(bytes.data + i, 1, digits);
		put(ctx, digits);
	}
	put(ctx, "\n");
}

static void put_sentinel(SHA256_CTX *ctx, const struct bloomkey_spec *spec)
{
	switch (spec->sentinel_kind) {
	case BK_SENTINEL_DEFAULT:
		put_line(ctx, "sentinel", "default");
		break;
	case BK_SENTINEL_NONE:
		put_line(ctx, "sentinel", "none");
		break;
	case BK_SENTINEL_BYTES:
		put_hex(ctx, "sentinel", spec->sentinel);
		break;
	}
}

static void put_field(SHA256_CTX *ctx, const struct bk_field *f)
{
	const struct bk_rules *r = &f->rules;

	put_line(ctx, "field", f->name);
	put_line(ctx, "encoding",
		 r->encoding == BK_ENCODING_BYTES ? "bytes" : "utf-8");
	put_line(ctx, "empty", r->empty_allowed ? "allow" : "reject");
	put_line(ctx, "null", r->null_is_empty ? "empty" : "reject");
	put_line(ctx, "transform", "");
}

/*
 * What depends on the fingerprint, the default sentinel and {fp} in filter
 * names, goes in as the words that ask for it.
 */
void bk_fingerprint(struct bloomkey_spec *spec)
{
	struct bk_slice delimiter = {&spec->delimiter, 1};
	unsigned char digest[SHA256_DIGEST_LENGTH];
	SHA256_CTX ctx;

	(void)SHA256_Init(&ctx);
	put(&ctx, "bloomkey-keyspec-1\n");
	put_line(&ctx, "name", spec->name);
	put_number(&ctx, "buckets", spec->buckets);
	put_number(&ctx, "seed", spec->seed);
	put_hex(&ctx, "delimiter", delimiter);
	put_hex(&ctx, "key", spec->key);
	put_hex(&ctx, "filter", spec->filter);
	put_sentinel(&ctx, spec);
	for (size_t i = 0; i < spec->nfields; i++)
		put_field(&ctx, &spec->fields[i]);
	(void)SHA256_Final(digest, &ctx);
	to_hex(digest, sizeof(digest), spec->fingerprint);
	(void)snprintf(spec->default_sentinel, sizeof(spec->default_sentinel),
		       "bloomkey:%.8s", spec->fingerprint);
}
