/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fails the n-th allocation of bloomkey_parse(), n rising until it passes; and
 * counts those of the functions that have none, libcrypto's included.
 */
#include <openssl/crypto.h>

#include "tests/unit/alloc.h"
#include "tests/unit/bloomkey/secret.h"

static const char text[] =
	PAIR "[field a]\nempty = allow\nnull = empty\n[field b]\ncolumn = x\n";
static const char keyed[] =
	PAIR "[field a]\ntransform = trim,hmac-sha256\nsecret = hex:env:S\n"
	     "[field b]\ntransform = hmac-sha256\nsecret = file:f\n";

/* What libcrypto allocates for itself. */
static unsigned long crypto_made;
static bool crypto_counted;

static void *crypto_malloc(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	crypto_made++;
	return malloc(size);
}

static void *crypto_realloc(void *old, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	crypto_made++;
	return realloc(old, size);
}

static void crypto_free(void *block, const char *file, int line)
{
	(void)file;
	(void)line;
	free(block);
}

/* With each allocation failing alone, or with all after it. */
static void check_parse(const char *keyspec, unsigned expected, bool on)
{
	static const char content[] = "00112233445566778899aabbccddeeff";
	struct vault vault = {.data = content, .len = sizeof(content) - 1};
	struct bloomkey_spec *spec = NULL;
	struct bloomkey_error err;
	int rc = BLOOMKEY_ENOMEM;
	unsigned failed = 0;

	for (unsigned n = 1; rc != BLOOMKEY_OK && n < 100; n++) {
		err.text[0] = '\0';
		spec = (struct bloomkey_spec *)&err;
		alloc_fail(n, on);
		rc = bloomkey_parse(keyspec, strlen(keyspec), serve, &vault,
				    &spec, &err);
		(void)alloc_pass();
		if (rc == BLOOMKEY_OK)
			break;
		failed++;
		CHECK(rc == BLOOMKEY_ENOMEM);
		CHECK(spec == NULL);
		CHECK_STR(err.text, "out of memory");
		CHECK_U64(err.line, 0);
	}
	CHECK(rc == BLOOMKEY_OK);
	CHECK_U64(failed, expected);
	CHECK_U64(alloc.made, expected);
	bloomkey_free(spec);
}

static void parse_fails(void)
{
	ALLOC_NEEDED();
	/*
	 * The keyspec, the text, the sections, the fields, the literals, the
	 * fingerprint's lines.
	 */
	check_parse(text, 6, false);
	check_parse(text, 6, true);
}

static void keyed_fails(void)
{
	ALLOC_NEEDED();
	/* And for each secret the room to read it, and its states. */
	check_parse(keyed, 10, false);
	check_parse(keyed, 10, true);
}

/* That a callback has no memory is no fault of the secret's. */
static void callback_fails(void)
{
	struct vault vault = {.code = ENOMEM};
	struct bloomkey_error err = {7, ""};
	struct bloomkey_spec *spec;

	CHECK(bloomkey_parse(keyed, strlen(keyed), serve, &vault, &spec,
			     &err) == BLOOMKEY_ENOMEM);
	CHECK(spec == NULL);
	CHECK_STR(err.text, "out of memory");
	CHECK_U64(err.line, 0);
}

static void load_fails(void)
{
	struct bloomkey_spec *spec = NULL;
	struct bloomkey_error err;
	int rc;

	ALLOC_NEEDED();
	for (unsigned n = 1; n < 3; n++) {
		err.text[0] = '\0';
		alloc_fail(n, false);
		rc = bloomkey_load("Makefile", NULL, &spec, &err);
		CHECK(alloc_pass());
		CHECK(rc == BLOOMKEY_ENOMEM);
		CHECK(spec == NULL);
		CHECK_STR(err.text, "out of memory");
	}
}

/* Values of a length, to a keyspec with these transforms, and the key. */
static void check_none(const char *list, char letter, size_t len, int code)
{
	static char value[BLOOMKEY_MAX], out[BLOOMKEY_MAX];
	const void *values[] = {value};
	struct bloomkey_spec *spec;
	struct bloomkey_result r;
	unsigned long made;
	char spelled[512], name[32];
	int rc, n;

	(void)snprintf(spelled, sizeof(spelled),
		       HEAD "key = {id}\nfilter = f:{fp}\n[field id]\n"
			    "transform = %s\n%s",
		       list, strstr(list, "hmac") ? "secret = env:S\n" : "");
	spec = parse_keyed(spelled, SECRET);
	memset(value, letter, len);
	crypto_made = 0;
	alloc_fail(0, false);
	rc = bloomkey_derive(spec, values, &len, out, sizeof(out), &r);
	n = bloomkey_filter(spec, 0, name, sizeof(name));
	(void)bloomkey_bucket(spec, value, len, &r.hash);
	(void)alloc_pass();
	made = alloc.made + crypto_made;
	if (rc != code || n != 10 || made != 0) {
		unit_fail(__FILE__, __LINE__, list);
		printf("#   %d of %zu bytes: %lu allocations\n", rc, len, made);
	}
	bloomkey_free(spec);
}

static void nothing_allocated(void)
{
	static const struct {
		const char *list;
		char letter;
		int code;
	} rows[] = {
		{"trim", 'x', BLOOMKEY_OK},
		{"rtrim", 'x', BLOOMKEY_OK},
		{"lower", 'X', BLOOMKEY_OK},
		{"upper", 'x', BLOOMKEY_OK},
		{"uuid", 'x', BLOOMKEY_REJECT_UUID},
		{"int", '7', BLOOMKEY_OK},
		{"int", '0', BLOOMKEY_OK},
		{"int", 'x', BLOOMKEY_REJECT_INT},
		{"digits", '7', BLOOMKEY_OK},
		{"digits", 'x', BLOOMKEY_REJECT_DIGITS},
		{"first:1", 'x', BLOOMKEY_OK},
		{"first:32,uuid", 'a', BLOOMKEY_OK},
		{"sha256", 'x', BLOOMKEY_OK},
		{"hmac-sha256", 'x', BLOOMKEY_OK},
		{"trim,rtrim,lower,upper,digits,int,first:9,sha256,"
		 "hmac-sha256,first:32,uuid",
		 '7', BLOOMKEY_OK},
		{"trim", '\xff', BLOOMKEY_REJECT_ENCODING},
	};
	static const size_t lens[] = {32, 256, 257, BLOOMKEY_MAX};

	ALLOC_NEEDED();
	CHECK(crypto_counted);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t n = 0; n < sizeof(lens) / sizeof(*lens); n++)
			check_none(rows[i].list, rows[i].letter, lens[n],
				   rows[i].code);
}

static void without_transforms(void)
{
	struct bloomkey_spec *spec;
	const void *values[] = {"a", "b"};
	const size_t lens[] = {1, 1};
	char out[64];
	struct bloomkey_result r;
	int rc;

	ALLOC_NEEDED();
	spec = parse_good(text);
	crypto_made = 0;
	alloc_fail(0, false);
	rc = bloomkey_derive(spec, values, lens, out, sizeof(out), &r);
	(void)bloomkey_filter(spec, r.bucket, out, sizeof(out));
	(void)alloc_pass();
	CHECK(rc == BLOOMKEY_OK);
	CHECK_U64(alloc.made, 0);
	CHECK_U64(crypto_made, 0);
	bloomkey_free(spec);
}

/* That what libcrypto allocates would be seen. */
static void crypto_is_seen(void)
{
	void *block;

	crypto_made = 0;
	block = OPENSSL_malloc(1);
	CHECK_U64(crypto_made, 1);
	OPENSSL_free(block);
}

int main(void)
{
	crypto_counted = CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc,
						  crypto_free) == 1;
	UNIT(parse_fails, "alloc: parsing survives each failing allocation");
	UNIT(keyed_fails, "alloc: so it does with secrets");
	UNIT(callback_fails, "alloc: a callback may be out of memory");
	UNIT(load_fails, "alloc: so it does when it loads a file");
	UNIT(without_transforms, "alloc: a key takes no allocation");
	UNIT(nothing_allocated, "alloc: nor does one with any transform");
	UNIT(crypto_is_seen, "alloc: libcrypto's allocations are counted");
	return unit_end();
}
