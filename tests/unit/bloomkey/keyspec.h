/* SPDX-License-Identifier: BSD-2-Clause
 *
 * keyspec: keyspecs for the tests of libbloomkey, good ones and bad ones.
 */
#ifndef BLOOMCTL_TESTS_UNIT_BLOOMKEY_KEYSPEC_H
#define BLOOMCTL_TESTS_UNIT_BLOOMKEY_KEYSPEC_H

#include "lib/bloomkey/bloomkey.h"
#include "tests/unit/unit.h"

/* Three of the five names; the fourth and fifth are lines 5 and 6. */
#define HEAD "[keyspec]\nversion = 1\nname = s\nbuckets = 1\n"
/* All five: line 7 is free. */
#define BASE HEAD "key = {id}\nfilter = f\n"
/* The same with two fields. */
#define PAIR HEAD "key = {a}:{b}\nfilter = f\n"

/* What parsing came to; printed with a failed check. */
struct outcome {
	struct bloomkey_spec *spec;
	struct bloomkey_error err;
	int code;
};

/* Parses bytes that no NUL follows, so that a sanitizer sees an overrun. */
static inline struct outcome parse_bytes(const void *text, size_t len)
{
	struct outcome o = {.err = {77, "untouched"}};
	char *copy = malloc(len > 0 ? len : 1);

	if (copy == NULL)
		abort();
	if (len > 0)
		memcpy(copy, text, len);
	o.code = bloomkey_parse(copy, len, NULL, NULL, &o.spec, &o.err);
	free(copy);
	return o;
}

/* The keyspec of a text that has to be good; ends the program if it is not. */
static inline struct bloomkey_spec *parse_good(const char *text)
{
	struct outcome o = parse_bytes(text, strlen(text));

	if (o.code != BLOOMKEY_OK) {
		printf("Bail out! line %u: %s\n# in: %s\n", o.err.line,
		       o.err.text, text);
		exit(99);
	}
	return o.spec;
}

static inline void check_good(const char *file, int at, const char *text)
{
	struct outcome o = parse_bytes(text, strlen(text));

	if (o.code != BLOOMKEY_OK || o.spec == NULL) {
		unit_fail(file, at, "the keyspec is good");
		printf("#   %d, line %u: %s\n", o.code, o.err.line, o.err.text);
	}
	bloomkey_free(o.spec);
}

static inline void check_bad(const char *file, int at, const void *text,
			     size_t len, unsigned line, const char *part)
{
	struct outcome o = parse_bytes(text, len);

	if (o.code != BLOOMKEY_EINVAL || o.spec != NULL || o.err.line != line ||
	    strstr(o.err.text, part) == NULL) {
		unit_fail(file, at, "the keyspec is refused");
		printf("#   %d, line %u: %s\n#   not line %u: %s\n", o.code,
		       o.err.line, o.err.text, line, part);
	}
	bloomkey_free(o.spec);
}

/* The secret of keyed fields in the tests, 20 bytes. */
#define SECRET "0123456789abcdef0123"

/* A bloomkey_secret that has the text that is its ctx. */
static inline int serve_text(void *ctx, int place, const char *name, void *out,
			     size_t cap)
{
	size_t len = strlen(ctx);

	(void)place;
	(void)name;
	memcpy(out, ctx, len < cap ? len : cap);
	return (int)(len < cap ? len : cap);
}

/* parse_good() with a text that is the content of every secret. */
static inline struct bloomkey_spec *parse_keyed(const char *text,
						const char *content)
{
	struct bloomkey_error err = {0, ""};
	struct bloomkey_spec *spec;

	/* The callback has it back as it was. */
	if (bloomkey_parse(text, strlen(text), serve_text, (void *)content,
			   &spec, &err) != BLOOMKEY_OK) {
		printf("Bail out! line %u: %s\n# in: %s\n", err.line, err.text,
		       text);
		exit(99);
	}
	return spec;
}

#define GOOD(text) check_good(__FILE__, __LINE__, text)
#define BAD(text, line, part) \
	check_bad(__FILE__, __LINE__, text, strlen(text), line, part)
/* For literals that hold NUL. */
#define BAD_BYTES(text, line, part) \
	check_bad(__FILE__, __LINE__, text, sizeof(text) - 1, line, part)

#endif
