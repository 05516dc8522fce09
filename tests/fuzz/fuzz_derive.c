/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_derive: any values through any transforms.  The first bytes choose a
 * keyspec of two fields, the rest is the values.  Aborts where a promise of
 * bloomkey.h or SPEC.md is broken that needs no second implementation;
 * tests/differential has one.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bloomkey/bloomkey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

/* The fuzzer's bytes; behind the end they are 0. */
struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned take(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

static const char *const transforms[] = {
	"trim",   "rtrim",   "lower",   "upper",  "uuid",        "int",
	"digits", "first:1", "first:3", "sha256", "hmac-sha256", "first:300",
};
#define TRANSFORMS (sizeof(transforms) / sizeof(transforms[0]))

/* What all results of the last transform have in common. */
struct field {
	bool bytes;
	bool empty;
	bool null_empty;
	const char *last; /* transform, or NULL */
};

static int secret(void *ctx, int place, const char *name, void *out, size_t cap)
{
	(void)ctx;
	(void)place;
	(void)name;
	require(cap > 20);
	memcpy(out, "0123456789abcdef0123", 20);
	return 20;
}

/* Appends a field section to text and returns its end. */
static char *section(struct input *in, char *text, const char *name,
		     struct field *f)
{
	unsigned flags = take(in), n = take(in) % 5;
	bool keyed = false;

	f->bytes = flags & 1;
	f->empty = flags & 2;
	f->null_empty = f->empty && (flags & 4);
	f->last = NULL;
	text += sprintf(text,
			"[field %s]\nencoding = %s\nempty = %s\n"
			"null = %s\n",
			name, f->bytes ? "bytes" : "utf-8",
			f->empty ? "allow" : "reject",
			f->null_empty ? "empty" : "reject");
	for (unsigned i = 0; i < n; i++) {
		const char *t = transforms[take(in) % TRANSFORMS];

		if (strcmp(t, "hmac-sha256") == 0 && keyed)
			t = "trim";
		keyed |= strcmp(t, "hmac-sha256") == 0;
		text += sprintf(text, "%s%s", i == 0 ? "transform = " : ", ",
				t);
		f->last = t;
	}
	return text + sprintf(text, "\n%s", keyed ? "secret = env:S\n" : "");
}

static struct bloomkey_spec *keyspec(struct input *in, struct field fields[2])
{
	char text[2048];
	struct bloomkey_error err;
	struct bloomkey_spec *spec;
	char *end = text;

	end += sprintf(end, "[keyspec]\nversion = 1\nname = f\nbuckets = 3\n"
			    "key = {a}:{b}\nfilter = {name}{bucket}\n");
	end = section(in, end, "a", &fields[0]);
	end = section(in, end, "b", &fields[1]);
	require(bloomkey_parse(text, (size_t)(end - text), secret, NULL, &spec,
			       &err) == BLOOMKEY_OK);
	return spec;
}

/* Whether the value is what the last transform leaves. */
static void check_value(const struct field *f, const uint8_t *v, size_t len)
{
	char text[BLOOMKEY_MAX + 1];

	require(len > 0 || f->empty);
	if (f->last == NULL || memchr(v, 0, len) != NULL)
		return;
	memcpy(text, v, len);
	text[len] = '\0';
	if (strcmp(f->last, "lower") == 0)
		require(strpbrk(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL);
	if (strcmp(f->last, "upper") == 0)
		require(strpbrk(text, "abcdefghijklmnopqrstuvwxyz") == NULL);
	if (strcmp(f->last, "digits") == 0)
		require(strspn(text, "0123456789") == len);
	if (strcmp(f->last, "uuid") == 0)
		require(len == 36 && strspn(text, "0123456789abcdef-") == len);
	if (strcmp(f->last, "int") == 0)
		require(len > 0 &&
			strspn(text + (*text == '-'), "0123456789") ==
				len - (*text == '-'));
	if (strstr(f->last, "sha256") != NULL)
		require(len == 64 && strspn(text, "0123456789abcdef") == len);
	if (strcmp(f->last, "first:3") == 0)
		require(len <= 3);
	if (strcmp(f->last, "trim") == 0 && len > 0)
		require(strchr("\t\n\v\f\r ", text[0]) == NULL &&
			strchr("\t\n\v\f\r ", text[len - 1]) == NULL);
}

static void check_row(const struct bloomkey_spec *spec,
		      const struct field fields[2], const void *const *values,
		      const size_t *lens)
{
	static uint8_t out[BLOOMKEY_MAX], again[BLOOMKEY_MAX];
	struct bloomkey_result r, s;
	const uint8_t *colon;
	int code = bloomkey_derive(spec, values, lens, out, sizeof(out), &r);

	require(code == BLOOMKEY_OK || bloomkey_reason(code) != NULL);
	require(code != BLOOMKEY_REJECT_NULL || values[r.field] == NULL);
	if (code != BLOOMKEY_OK) {
		require(r.field <= 2 && r.len == 0);
		require(bloomkey_derive(spec, values, lens, again, 1, &s) ==
			code);
		require(s.field == r.field);
		return;
	}
	require(bloomkey_derive(spec, values, lens, again, r.len - 1, &s) ==
		BLOOMKEY_ERANGE);
	require(s.len == r.len);
	require(bloomkey_derive(spec, values, lens, again, r.len, &s) ==
		BLOOMKEY_OK);
	require(s.hash == r.hash && memcmp(out, again, r.len) == 0);
	/* The first field cannot hold the delimiter. */
	colon = memchr(out, ':', r.len);
	require(colon != NULL);
	check_value(&fields[0], out, (size_t)(colon - out));
	check_value(&fields[1], colon + 1, r.len - (size_t)(colon + 1 - out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct field fields[2];
	struct bloomkey_spec *spec = keyspec(&in, fields);
	unsigned nulls = take(&in);
	size_t cut = take(&in) << 8;
	const void *values[2];
	uint8_t *copies[2];
	size_t lens[2];

	cut = (cut | take(&in)) % (in.left + 1);
	lens[0] = cut;
	lens[1] = in.left - cut;
	/* Copies, so that a sanitizer sees one byte too far. */
	for (int i = 0; i < 2; i++) {
		copies[i] = malloc(lens[i] > 0 ? lens[i] : 1);
		require(copies[i] != NULL);
		if (lens[i] > 0)
			memcpy(copies[i], in.at, lens[i]);
		in.at += lens[i];
		values[i] = nulls & (1u << i) ? NULL : copies[i];
	}
	check_row(spec, fields, values, lens);
	free(copies[0]);
	free(copies[1]);
	bloomkey_free(spec);
	return 0;
}
