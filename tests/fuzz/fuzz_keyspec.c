/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_keyspec: any bytes as a keyspec and, behind the first byte 0xFF, which
 * no good keyspec holds, as values.  Aborts where a promise of bloomkey.h is
 * broken.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bloomkey/bloomkey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELDS 16

static void require(int holds)
{
	if (!holds)
		abort();
}

/* What a secret holds depends on its name: all that is refused, and more. */
static int secret(void *ctx, int place, const char *name, void *out, size_t cap)
{
	static const char *const contents[] = {
		"0123456789abcdef0123456789abcdef\n",
		"MDEyMzQ1Njc4OWFiY2RlZg==\r\n", "short", ""};
	size_t len = strlen(name);
	const char *content = contents[len % 4];

	(void)ctx;
	require(len > 0 && cap > BLOOMKEY_SECRET_MAX);
	require(place == BLOOMKEY_PLACE_ENV || place == BLOOMKEY_PLACE_FILE);
	if (len % 7 == 0) {
		errno = EACCES;
		return -1;
	}
	memcpy(out, content, strlen(content));
	return (int)strlen(content);
}

static void check_error(int code, const struct bloomkey_spec *spec,
			const struct bloomkey_error *err)
{
	size_t len = strnlen(err->text, sizeof(err->text));

	require(code == BLOOMKEY_EINVAL || code == BLOOMKEY_ESECRET);
	require(spec == NULL);
	require(len > 0 && len < sizeof(err->text) && err->line <= 65537);
	for (size_t i = 0; i < len; i++)
		require(err->text[i] >= 0x20 && err->text[i] <= 0x7e);
}

static void check_filter(const struct bloomkey_spec *spec, uint32_t bucket,
			 int expected)
{
	char name[BLOOMKEY_FILTER_MAX + 1];
	int len = bloomkey_filter(spec, bucket, name, sizeof(name));

	require(len >= 1 && len <= BLOOMKEY_FILTER_MAX && name[len] == '\0');
	require(expected == 0 || len == expected);
	for (int i = 0; i < len; i++)
		require(name[i] >= 0x21 && name[i] <= 0x7e);
	require(strncmp(name, "bloomctl:", 9) != 0);
	require(strstr(name, ":bloomctl") == NULL);
	require(bloomkey_filter(spec, bucket, name, (size_t)len) ==
		BLOOMKEY_ERANGE);
}

static void check_field(const struct bloomkey_spec *spec, size_t i)
{
	const char *check = bloomkey_field_check(spec, i);
	const char *text = bloomkey_fingerprint_text(spec);

	require(*bloomkey_field_name(spec, i) != '\0');
	require(*bloomkey_field_column(spec, i) != '\0');
	require(check == NULL ||
		(strlen(check) == BLOOMKEY_CHECK_LEN && strstr(text, check)));
}

static void check_spec(const struct bloomkey_spec *spec)
{
	uint32_t buckets = bloomkey_buckets(spec);
	size_t n = bloomkey_fields(spec), len;
	const void *sentinel;
	char name[BLOOMKEY_FILTER_MAX + 1];
	int width;

	require(buckets >= 1 && buckets <= 65536 && n >= 1);
	len = strlen(bloomkey_name(spec));
	require(len >= 1 && len <= 64);
	require(strspn(bloomkey_fingerprint(spec), "0123456789abcdef") ==
		BLOOMKEY_FINGERPRINT_LEN);
	for (size_t i = 0; i < n; i++)
		check_field(spec, i);
	require(bloomkey_field_name(spec, n) == NULL);
	len = bloomkey_sentinel(spec, &sentinel);
	require((len == 0) == (sentinel == NULL));
	width = bloomkey_filter(spec, 0, name, sizeof(name));
	require(width > 0);
	check_filter(spec, 0, width);
	check_filter(spec, buckets - 1, width);
	check_filter(spec, buckets / 2, width);
	require(bloomkey_filter(spec, buckets, name, sizeof(name)) ==
		BLOOMKEY_ERANGE);
}

/* Cuts values off the rest: a byte of length, or 0xFF for NULL. */
static void cut_values(const uint8_t **at, size_t *left, size_t n,
		       const void **values, size_t *lens)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t len = *left > 0 ? **at : 0;

		if (*left > 0) {
			++*at;
			--*left;
		}
		lens[i] = len < *left ? len : *left;
		values[i] = len == 0xff ? NULL : *at;
		if (values[i] == NULL)
			continue;
		*at += lens[i];
		*left -= lens[i];
	}
}

static void check_row(const struct bloomkey_spec *spec,
		      const void *const *values, const size_t *lens)
{
	static uint8_t out[BLOOMKEY_MAX], again[BLOOMKEY_MAX];
	struct bloomkey_result r, s;
	size_t n = bloomkey_fields(spec);
	uint64_t hash;
	int code = bloomkey_derive(spec, values, lens, out, sizeof(out), &r);

	if (code != BLOOMKEY_OK) {
		require(bloomkey_reason(code) != NULL);
		require(r.len == 0 && r.field <= n);
		require(bloomkey_derive(spec, values, lens, NULL, 0, &s) ==
			code);
		require(s.field == r.field);
		return;
	}
	require(r.len >= 1 && r.len <= BLOOMKEY_MAX);
	require(r.bucket < bloomkey_buckets(spec));
	require(r.bucket == r.hash % bloomkey_buckets(spec));
	require(bloomkey_derive(spec, values, lens, again, r.len, &s) ==
		BLOOMKEY_OK);
	require(s.len == r.len && s.hash == r.hash && s.bucket == r.bucket);
	require(memcmp(out, again, r.len) == 0);
	require(bloomkey_bucket(spec, out, r.len, &hash) == r.bucket);
	require(hash == r.hash);
	require(bloomkey_derive(spec, values, lens, again, r.len - 1, &s) ==
		BLOOMKEY_ERANGE);
	require(s.len == r.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size > 0 ? memchr(data, 0xff, size) : NULL;
	size_t len = cut != NULL ? (size_t)(cut - data) : size;
	const uint8_t *at = cut != NULL ? cut + 1 : data + size;
	size_t left = (size_t)(data + size - at);
	const void *values[FIELDS];
	size_t lens[FIELDS];
	struct bloomkey_error err = {0, ""};
	struct bloomkey_spec *spec;
	int code = bloomkey_parse(data, len, secret, NULL, &spec, &err);

	if (code != BLOOMKEY_OK) {
		check_error(code, spec, &err);
		return 0;
	}
	check_spec(spec);
	for (int i = 0; i < 8 && bloomkey_fields(spec) <= FIELDS; i++) {
		cut_values(&at, &left, bloomkey_fields(spec), values, lens);
		check_row(spec, values, lens);
	}
	bloomkey_free(spec);
	return 0;
}
