/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fails the n-th allocation of a manifest's text, n rising until it passes.
 */
#include <jansson.h>

#include "lib/store/manifest.h"
#include "tests/unit/alloc.h"
#include "tests/unit/unit.h"

static void *json_malloc(size_t size)
{
	return malloc(size);
}

static void json_free(void *data)
{
	free(data);
}

/* A manifest of 50 buckets from a source that is no UTF-8. */
static void make(struct manifest *m)
{
	memset(m, 0, sizeof(*m));
	(void)strcpy(m->set, "s-01234567");
	memset(m->fingerprint, 'a', BLOOMKEY_FINGERPRINT_LEN);
	(void)strcpy(m->generation, "20260102T030405Z-00ff");
	(void)strcpy(m->previous, "20260101T030405Z-00fe");
	m->state = MANIFEST_COMPLETE;
	(void)strcpy(m->engine, "redisbloom");
	m->buckets = 50;
	m->capacity = 100;
	m->error = 0.01;
	m->bytes = 120;
	m->rows = m->keys = 50 * 7;
	m->started = m->ended = INT64_C(1767225600000);
	m->bucket_keys = calloc(m->buckets, sizeof(*m->bucket_keys));
	m->source = strdup("file:\xff");
	if (m->bucket_keys == NULL || m->source == NULL)
		abort();
	for (uint32_t b = 0; b < m->buckets; b++)
		m->bucket_keys[b] = 7;
}

static bool zeroed(const struct manifest *m)
{
	const unsigned char *bytes = (const unsigned char *)m;

	for (size_t i = 0; i < sizeof(*m); i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

static void encoding(void)
{
	struct manifest m;
	unsigned long n = 1;
	bool met = true;

	ALLOC_NEEDED();
	json_set_alloc_funcs(json_malloc, json_free);
	make(&m);
	for (; met && n < 1000; n++) {
		struct error err = ERROR_INIT;
		size_t len = 0;
		char *text;

		alloc_fail(n, true);
		text = manifest_encode(&m, &len, &err);
		met = alloc_pass();
		CHECK((text == NULL) == met);
		if (text == NULL)
			CHECK_U64(err.code, ERROR_INTERNAL);
		else
			CHECK_U64(len, strlen(text));
		free(text);
	}
	CHECK(n > 40 && n < 1000);
	manifest_release(&m);
}

/* That memory is out is no fault of the text. */
static void decoding(void)
{
	struct error err = ERROR_INIT;
	struct manifest m, back;
	unsigned long n = 1, wrong = 0;
	bool met = true;
	size_t len;
	char *text;

	ALLOC_NEEDED();
	json_set_alloc_funcs(json_malloc, json_free);
	make(&m);
	text = manifest_encode(&m, &len, &err);
	REQUIRE(text != NULL);
	for (; met && n < 1000; n++) {
		int rc;

		memset(&err, 0, sizeof(err));
		alloc_fail(n, true);
		rc = manifest_decode(text, len, &back, &err);
		met = alloc_pass();
		CHECK((rc != 0) == met);
		if (rc != 0) {
			if (err.code != ERROR_INTERNAL && wrong++ == 0)
				printf("# allocation %lu: %s\n", n, err.text);
			CHECK(zeroed(&back));
		} else {
			CHECK_U64(back.bucket_keys[49], 7);
		}
		manifest_release(&back);
	}
	CHECK(n > 40 && n < 1000);
	CHECK_U64(wrong, 0);
	free(text);
	manifest_release(&m);
}

static void copying(void)
{
	struct manifest m;
	unsigned long n = 1;
	bool met = true;

	ALLOC_NEEDED();
	make(&m);
	for (; met && n < 100; n++) {
		struct error err = ERROR_INIT;
		struct manifest copy;
		int rc;

		alloc_fail(n, false);
		rc = manifest_copy(&copy, &m, &err);
		met = alloc_pass();
		CHECK((rc != 0) == met);
		if (rc != 0) {
			CHECK_U64(err.code, ERROR_INTERNAL);
			CHECK(copy.bucket_keys == NULL && copy.source == NULL);
		}
		manifest_release(&copy);
	}
	CHECK_U64(n, 4);
	manifest_release(&m);
}

int main(void)
{
	UNIT(encoding, "alloc: writing survives each failing allocation");
	UNIT(decoding, "alloc: reading survives each, as an internal error");
	UNIT(copying, "alloc: copying survives each failing allocation");
	return unit_end();
}
