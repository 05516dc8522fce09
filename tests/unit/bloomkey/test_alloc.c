/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fails the n-th allocation of bloomkey_parse(), n rising until it passes.
 */
#include "tests/unit/alloc.h"
#include "tests/unit/bloomkey/keyspec.h"

static const char text[] =
	PAIR "[field a]\nempty = allow\nnull = empty\n[field b]\ncolumn = x\n";

static void parse_fails(void)
{
	struct bloomkey_spec *spec = NULL;
	struct bloomkey_error err;
	int rc = BLOOMKEY_ENOMEM;
	unsigned failed = 0;

	ALLOC_NEEDED();
	for (unsigned n = 1; rc != BLOOMKEY_OK && n < 100; n++) {
		err.text[0] = '\0';
		spec = (struct bloomkey_spec *)&err;
		alloc_fail(n, false);
		rc = bloomkey_parse(text, sizeof(text) - 1, &spec, &err);
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
	/* The keyspec, the text, the sections, the fields, the literals. */
	CHECK_U64(failed, 5);
	CHECK_U64(alloc.made, 5);
	bloomkey_free(spec);
}

static void derive_allocates_nothing(void)
{
	struct bloomkey_spec *spec;
	const void *values[] = {"a", "b"};
	const size_t lens[] = {1, 1};
	char out[64];
	struct bloomkey_result r;
	int rc;

	ALLOC_NEEDED();
	spec = parse_good(text);
	alloc_fail(0, false);
	rc = bloomkey_derive(spec, values, lens, out, sizeof(out), &r);
	(void)bloomkey_filter(spec, r.bucket, out, sizeof(out));
	(void)alloc_pass();
	CHECK(rc == BLOOMKEY_OK);
	CHECK_U64(alloc.made, 0);
	bloomkey_free(spec);
}

int main(void)
{
	UNIT(parse_fails, "alloc: parsing survives each failing allocation");
	UNIT(derive_allocates_nothing, "alloc: a key takes no allocation");
	return unit_end();
}
