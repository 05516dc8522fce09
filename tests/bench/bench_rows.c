/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How long a row takes to parse: two columns, 37 bytes, in 64 KiB chunks, as
 * a worker reads them.  Prints nanoseconds of CPU time per row for each kind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/rows/rowparse.h"

#define ROWS  10000000u
#define CHUNK 65536u

struct sum {
	uint64_t rows;
	uint64_t bytes;
};

static int count_row(void *ctx, const struct row *row, struct error *err)
{
	struct sum *sum = ctx;

	(void)err;
	sum->rows++;
	sum->bytes += row->lens[0] + row->lens[1];
	return 0;
}

/* 37 bytes with the newline: a uuid's shape would be longer. */
static size_t make_rows(char *out, char separator, int quoted)
{
	size_t len = 0;

	for (uint32_t i = 0; i < ROWS; i++)
		len += (size_t)sprintf(
			out + len,
			quoted ? "\"%016" PRIx64 "\"%c\"merchant:%06u\"\n"
			       : "%016" PRIx64 "%cmerchant:MID%07u\n",
			(uint64_t)i * 0x9e3779b97f4a7c15u, separator,
			i % 1000000);
	return len;
}

static int bench(const char *name, const struct rowformat *format, int quoted,
		 char *data)
{
	char separator = format->kind == ROWFORMAT_CSV ? ',' : '\t';
	size_t len = make_rows(data, separator, quoted);
	struct sum sum = {0, 0};
	struct error err = ERROR_INIT;
	struct rowparse *parse = NULL;
	struct timespec start, end;
	double seconds;
	int rc;

	rc = rowparse_new(format, count_row, &sum, &parse, &err);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (size_t at = 0; rc == 0 && at < len; at += CHUNK)
		rc = rowparse_feed(parse, data + at,
				   len - at < CHUNK ? len - at : CHUNK, &err);
	if (rc == 0)
		rc = rowparse_end(parse, true, &err);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	rowparse_free(parse);
	if (rc != 0 || sum.rows != ROWS) {
		fprintf(stderr, "%s: %s\n", name, err.text);
		return 1;
	}
	seconds = (double)(end.tv_sec - start.tv_sec) +
		  (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	printf("%-24s %6.1f ns/row %4.0f MB/s\n", name, seconds * 1e9 / ROWS,
	       (double)len / seconds / 1e6);
	return 0;
}

int main(void)
{
	static const char *const names[] = {"entity_id", "scope"};
	struct rowformat format = {.names = names,
				   .name_count = 2,
				   .wanted = names,
				   .wanted_count = 2};
	char *data = malloc((size_t)ROWS * 48 + 64);
	int rc;

	if (data == NULL)
		return 1;
	format.kind = ROWFORMAT_TEXT;
	rc = bench("COPY text", &format, 0, data);
	format.kind = ROWFORMAT_CSV;
	rc |= bench("CSV, bare", &format, 0, data);
	rc |= bench("CSV, quoted", &format, 1, data);
	format.null = "NULL";
	rc |= bench("CSV, bare, null text", &format, 0, data);
	free(data);
	return rc;
}
