/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_exportlist: any bytes as the list of an export, as they are and with a
 * tail that is right, which no fuzzer would find.  Aborts where what was read
 * is not written as it was, or names a file of another folder.
 */
#include "lib/rows/exportlist.h"
#include "tests/fuzz/fuzz_record.h"

static void check_values(const struct exportlist *l)
{
	uint64_t rows = 0;

	require(l->kind < EXPORTLIST_KINDS && l->packed < PACK_KINDS);
	require(l->count >= 1 && l->count <= EXPORTLIST_PARTS_MAX);
	require(l->header || l->columns != NULL);
	require((l->kind == EXPORTLIST_KEYS) == (l->set[0] != '\0'));
	for (size_t i = 0; i < l->count; i++) {
		require(strchr(l->parts[i].name, '/') == NULL);
		require(exportlist_base_len(l->parts[i].name) > 0);
		rows += l->parts[i].rows;
	}
	require(rows == l->rows);
}

static void decode(const char *text, size_t len)
{
	struct error err = ERROR_INIT;
	struct exportlist l, again;
	size_t len1, len2;
	char *one, *two;

	if (exportlist_decode(text, len, &l, &err) != 0) {
		require(err.code == ERROR_DATA && err.text[0] != '\0');
		require(l.parts == NULL && l.columns == NULL);
		return;
	}
	check_values(&l);
	one = exportlist_encode(&l, &len1, &err);
	require(one != NULL);
	require(exportlist_decode(one, len1, &again, &err) == 0);
	two = exportlist_encode(&again, &len2, &err);
	require(two != NULL && len1 == len2 && memcmp(one, two, len1) == 0);
	free(one);
	free(two);
	exportlist_release(&l);
	exportlist_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_record(data, size, decode);
	return 0;
}
