/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads rows, a tab between two values and \N for NULL, and prints what
 * becomes of each: key, hash, bucket and filter, or ! and the reason.
 *
 *	cc derive.c -o derive $(pkg-config --cflags --libs bloomkey)
 *	./derive cards.keyspec <rows
 */
#include <bloomkey.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the first max values of a row are.  Returns how many it has. */
static size_t split(const char *at, size_t len, const void **values,
		    size_t *lens, size_t max)
{
	const char *end = at + len;

	for (size_t n = 0;; n++) {
		const char *tab = memchr(at, '\t', (size_t)(end - at));
		size_t used = (size_t)((tab != NULL ? tab : end) - at);
		int null = used == 2 && memcmp(at, "\\N", 2) == 0;

		if (n < max) {
			values[n] = null ? NULL : at;
			lens[n] = used;
		}
		if (tab == NULL)
			return n + 1;
		at = tab + 1;
	}
}

static void answer(const struct bloomkey_spec *spec, const void *const *values,
		   const size_t *lens)
{
	char key[BLOOMKEY_MAX];
	char filter[BLOOMKEY_FILTER_MAX + 1];
	struct bloomkey_result result;
	int rc = bloomkey_derive(spec, values, lens, key, sizeof(key), &result);

	if (rc != BLOOMKEY_OK) {
		/* In no filter: such a row is looked up in the database. */
		printf("!%s\n", bloomkey_reason(rc));
		return;
	}
	(void)bloomkey_filter(spec, result.bucket, filter, sizeof(filter));
	(void)fwrite(key, 1, result.len, stdout);
	printf("\t%016" PRIx64 "\t%" PRIu32 "\t%s\n", result.hash,
	       result.bucket, filter);
}

/* 0, or -1 for a row that is cut off or has not a value for each field. */
static int answer_all(const struct bloomkey_spec *spec, const void **values,
		      size_t *lens)
{
	const size_t fields = bloomkey_fields(spec);
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int rc = 0;

	while (rc == 0 && (len = getline(&line, &cap, stdin)) > 0) {
		if (line[len - 1] == '\n' &&
		    split(line, (size_t)len - 1, values, lens, fields) ==
			    fields)
			answer(spec, values, lens);
		else
			rc = -1;
	}
	free(line);
	return rc != 0 || ferror(stdin) || fflush(stdout) != 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct bloomkey_spec *spec;
	struct bloomkey_error error;
	const void **values;
	size_t *lens;
	int rc = -1;

	if (argc != 2) {
		fprintf(stderr, "usage: derive KEYSPEC <ROWS\n");
		return 64;
	}
	if (bloomkey_load(argv[1], &spec, &error) != BLOOMKEY_OK) {
		fprintf(stderr, "derive: '%s': line %u: %s\n", argv[1],
			error.line, error.text);
		return 78;
	}
	values = calloc(bloomkey_fields(spec), sizeof(*values));
	lens = calloc(bloomkey_fields(spec), sizeof(*lens));
	if (values != NULL && lens != NULL)
		rc = answer_all(spec, values, lens);
	if (rc != 0)
		fprintf(stderr, "derive: a row or the output is not whole\n");
	free(lens);
	free(values);
	bloomkey_free(spec);
	return rc == 0 ? 0 : 74;
}
