/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The low-level functions, because SHA256() and HMAC() of OpenSSL 3 load
 * providers, read the configuration that the environment names, and allocate.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define BLOCK SHA256_CBLOCK

/*
 * RFC 2104 begins both hashes with a block that depends on the secret alone:
 * the states after it are kept instead of the secret.
 */
struct bk_hmac {
	SHA256_CTX inner;
	SHA256_CTX outer;
};

void bk_hex(const void *bytes, size_t len, char *out)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++) {
		*out++ = hex[p[i] >> 4];
		*out++ = hex[p[i] & 15];
	}
}

static void finish(SHA256_CTX *ctx, char out[BK_SHA256_HEX])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	(void)SHA256_Final(digest, ctx);
	bk_hex(digest, sizeof(digest), out);
}

void bk_sha256(const void *bytes, size_t len, char out[BK_SHA256_HEX])
{
	SHA256_CTX ctx;

	(void)SHA256_Init(&ctx);
	(void)SHA256_Update(&ctx, bytes, len);
	finish(&ctx, out);
}

static void begin(SHA256_CTX *ctx, const unsigned char key[BLOCK],
		  unsigned char pad)
{
	unsigned char block[BLOCK];

	for (size_t i = 0; i < BLOCK; i++)
		block[i] = key[i] ^ pad;
	(void)SHA256_Init(ctx);
	(void)SHA256_Update(ctx, block, BLOCK);
	OPENSSL_cleanse(block, sizeof(block));
}

struct bk_hmac *bk_hmac_new(const void *secret, size_t len)
{
	struct bk_hmac *hmac = malloc(sizeof(*hmac));
	unsigned char key[BLOCK] = {0};

	if (hmac == NULL)
		return NULL;
	if (len > BLOCK) {
		(void)SHA256_Init(&hmac->inner);
		(void)SHA256_Update(&hmac->inner, secret, len);
		(void)SHA256_Final(key, &hmac->inner);
	} else {
		memcpy(key, secret, len);
	}
	begin(&hmac->inner, key, 0x36);
	begin(&hmac->outer, key, 0x5c);
	OPENSSL_cleanse(key, sizeof(key));
	return hmac;
}

void bk_hmac_free(struct bk_hmac *hmac)
{
	if (hmac == NULL)
		return;
	OPENSSL_cleanse(hmac, sizeof(*hmac));
	free(hmac);
}

/* The copies end as hashes of the message: nothing in them needs wiping. */
void bk_hmac(const struct bk_hmac *hmac, const void *bytes, size_t len,
	     char out[BK_SHA256_HEX])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	SHA256_CTX ctx = hmac->inner;

	(void)SHA256_Update(&ctx, bytes, len);
	(void)SHA256_Final(digest, &ctx);
	ctx = hmac->outer;
	(void)SHA256_Update(&ctx, digest, sizeof(digest));
	finish(&ctx, out);
}
