/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A program that scripts/verify-writer can check (SPEC.md section 10), with
 * libbloomkey and nothing else of the tree: rows of COPY text to keys.
 *
 *	cc writer.c -o writer $(pkg-config --cflags --libs bloomkey)
 *	./writer cards.keyspec <rows
 */
#define _POSIX_C_SOURCE 200809L
#include <bloomkey.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_octal(char c)
{
	return c >= '0' && c <= '7';
}

static int hex_value(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *at = c != '\0' ? strchr(digits, c) : NULL;
	int n = at != NULL ? (int)(at - digits) : -1;

	return n > 15 ? n - 6 : n;
}

/* The byte of the escape at *at, which stands behind its backslash. */
static char escaped(const char **at, const char *end)
{
	static const char letters[] = "bfnrtv", bytes[] = "\b\f\n\r\t\v";
	char c = *(*at)++;
	const char *letter = c != '\0' ? strchr(letters, c) : NULL;
	int n = 0;

	if (letter != NULL)
		return bytes[letter - letters];
	if (c == 'x' && *at < end && hex_value(**at) >= 0) {
		for (int i = 0; i < 2 && *at < end && hex_value(**at) >= 0; i++)
			n = n * 16 + hex_value(*(*at)++);
		return (char)n;
	}
	if (!is_octal(c))
		return c;
	n = c - '0';
	for (int i = 0; i < 2 && *at < end && is_octal(**at); i++)
		n = n * 8 + (*(*at)++ - '0');
	return (char)n;
}

/* Cuts a line into values, in place; how many there are. */
static size_t split(char *line, size_t len, const void **values, size_t *lens,
		    size_t n)
{
	const char *at = line, *const end = line + len;
	size_t count = 0;

	for (;;) {
		char *start = (char *)at, *to = start;
		const char *raw = at;

		while (at < end && *at != '\t') {
			if (*at == '\\' && at + 1 < end) {
				at++;
				*to++ = escaped(&at, end);
			} else {
				*to++ = *at++;
			}
		}
		if (count < n) {
			int null = at - raw == 2 && to - start == 1 &&
				   *start == 'N';

			values[count] = null ? NULL : start;
			lens[count] = null ? 0 : (size_t)(to - start);
		}
		count++;
		if (at == end)
			return count;
		at++;
	}
}

static void answer(const struct bloomkey_spec *spec, const void *const *values,
		   const size_t *lens)
{
	static unsigned char key[BLOOMKEY_MAX];
	char filter[BLOOMKEY_FILTER_MAX + 1];
	struct bloomkey_result r;
	int code = bloomkey_derive(spec, values, lens, key, sizeof(key), &r);

	if (code != BLOOMKEY_OK) {
		printf("!%s\n", bloomkey_reason(code));
		return;
	}
	if (bloomkey_filter(spec, r.bucket, filter, sizeof(filter)) < 0)
		abort();
	for (size_t i = 0; i < r.len; i++)
		printf("%02x", key[i]);
	printf("\t%016" PRIx64 "\t%" PRIu32 "\t%s\n", r.hash, r.bucket, filter);
}

int main(int argc, char **argv)
{
	struct bloomkey_error err;
	struct bloomkey_spec *spec;
	const void **values;
	size_t *lens, room = 0, n;
	char *line = NULL;
	ssize_t len;

	if (argc != 2)
		return 64;
	if (bloomkey_load(argv[1], getenv, &spec, &err) != BLOOMKEY_OK) {
		fprintf(stderr, "%s: line %u: %s\n", argv[1], err.line,
			err.text);
		return 78;
	}
	n = bloomkey_fields(spec);
	values = calloc(n, sizeof(*values));
	lens = calloc(n, sizeof(*lens));
	if (values == NULL || lens == NULL)
		return 70;
	while ((len = getline(&line, &room, stdin)) > 0) {
		len -= line[len - 1] == '\n';
		if (split(line, (size_t)len, values, lens, n) != n) {
			fprintf(stderr, "a row has not %zu values\n", n);
			return 65;
		}
		answer(spec, values, lens);
	}
	free(line);
	free(values);
	free(lens);
	bloomkey_free(spec);
	return fflush(stdout) == 0 && !ferror(stdin) ? 0 : 74;
}
