/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_manifest: any bytes as a manifest, as they are and with a tail that is
 * right, which no fuzzer would find.  Aborts where what was read is not
 * written as it was.
 */
#include "lib/store/manifest.h"
#include "lib/store/manifest_text.h"
#include "tests/fuzz/fuzz_record.h"

static void check_values(const struct manifest *m)
{
	require(m->state < MANIFEST_BROKEN);
	require(m->buckets >= 1 && m->buckets <= 65536);
	require(m->capacity > 0 && m->error > 0 && m->error < 1);
	require(names_id_valid(m->generation));
	require(memchr(m->set, '\0', sizeof(m->set)) != NULL);
	require(strlen(m->fingerprint) == BLOOMKEY_FINGERPRINT_LEN);
	require(strcmp(m->engine, "elasticache") != 0 ||
		!layout_seed_none(m->seed));
	require(strcmp(m->engine, "redis8") != 0 || layout_seed_none(m->seed));
}

static void decode(const char *text, size_t len)
{
	struct error err = ERROR_INIT;
	struct manifest m;
	struct manifest again;
	size_t len1;
	size_t len2;
	char *one;
	char *two;

	if (manifest_decode(text, len, &m, &err) != 0) {
		require(err.code == ERROR_DATA && err.text[0] != '\0');
		require(m.source == NULL && m.bucket_keys == NULL);
		return;
	}
	check_values(&m);
	one = manifest_encode(&m, &len1, &err);
	require(one != NULL);
	require(manifest_decode(one, len1, &again, &err) == 0);
	two = manifest_encode(&again, &len2, &err);
	require(two != NULL && len1 == len2 && memcmp(one, two, len1) == 0);
	free(one);
	free(two);
	manifest_release(&m);
	manifest_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_record(data, size, decode);
	return 0;
}
