/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "internal.h"

/* Where the state of a filter lives beside it; no filter may be there. */
#define RESERVED_PREFIX "bloomctl:"
#define RESERVED_INFIX  ":bloomctl"

static int append(struct bk_filtername *f, struct bk_slice text,
		  const struct bk_template *t)
{
	if (text.len > sizeof(f->zero) - f->len)
		return bk_error(t->err, t->line,
				"filter: the name is longer than %d bytes",
				BLOOMKEY_FILTER_MAX);
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < 0x21 || text.data[i] > 0x7e)
			return bk_error(t->err, t->line,
					"filter: byte 0x%02x in the name, "
					"legal are 0x21 to 0x7e",
					(unsigned char)text.data[i]);
	memcpy(f->zero + f->len, text.data, text.len);
	f->len += text.len;
	return BLOOMKEY_OK;
}

static int append_named(struct bloomkey_spec *spec, struct bk_slice name,
			const struct bk_template *t)
{
	struct bk_filtername *f = &spec->filtername;
	struct bk_slice text;

	if (bk_slice_is(name, "name")) {
		text.data = spec->name;
		text.len = strlen(spec->name);
	} else if (bk_slice_is(name, "fp")) {
		text.data = spec->fingerprint;
		text.len = 8;
	} else if (bk_slice_is(name, "bucket")) {
		text.data = "00000";
		text.len = f->width;
		/* Once the name is full, append() has the last word. */
		if (f->len < sizeof(f->zero))
			f->place[f->places++] = (uint16_t)f->len;
	} else {
		return bk_error(t->err, t->line,
				"filter: '{%s}' is none of '{name}', "
				"'{bucket}', '{fp}'",
				bk_escape(name).text);
	}
	return append(f, text, t);
}

static bool holds(struct bk_slice s, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i + len <= s.len; i++)
		if (memcmp(s.data + i, text, len) == 0)
			return true;
	return false;
}

/*
 * Redis takes the bytes between the first { and the first } behind it for the
 * hash tag, unless there are none: then the whole name counts, and a filter
 * would lie in another slot than its shadow.
 */
static bool tag_is_sound(struct bk_slice s)
{
	const char *open = memchr(s.data, '{', s.len);
	const char *close;

	if (open == NULL)
		return memchr(s.data, '}', s.len) == NULL;
	close = memchr(open, '}', s.len - (size_t)(open - s.data));
	return close != NULL && close - open >= 2;
}

/* The digits of a bucket cannot change the answer: bucket 0 will do. */
static int check_name(const struct bk_filtername *f,
		      const struct bk_template *t)
{
	struct bk_slice s = {f->zero, f->len};
	struct bk_slice rest = s;

	if (bk_slice_take(&rest, RESERVED_PREFIX))
		return bk_error(t->err, t->line,
				"filter: the name begins with '%s'",
				RESERVED_PREFIX);
	if (holds(s, RESERVED_INFIX))
		return bk_error(t->err, t->line, "filter: the name holds '%s'",
				RESERVED_INFIX);
	if (!tag_is_sound(s))
		return bk_error(t->err, t->line,
				"filter: the name holds a brace but no hash "
				"tag of at least one byte");
	return BLOOMKEY_OK;
}

int bk_filter_compile(struct bloomkey_spec *spec, unsigned line,
		      struct bloomkey_error *err)
{
	struct bk_filtername *f = &spec->filtername;
	struct bk_template t = {spec->filter.data,
				spec->filter.data + spec->filter.len, "filter",
				line, err};
	struct bk_token token;
	int rc;

	f->width = 1;
	for (uint32_t n = spec->buckets - 1; n >= 10; n /= 10)
		f->width++;
	while ((rc = bk_template_next(&t, &token)) == BLOOMKEY_OK &&
	       token.kind != BK_TOKEN_END) {
		rc = token.kind == BK_TOKEN_LITERAL
			     ? append(f, token.text, &t)
			     : append_named(spec, token.text, &t);
		if (rc != BLOOMKEY_OK)
			break;
	}
	if (rc != BLOOMKEY_OK)
		return rc;
	if (f->places == 0 && spec->buckets > 1)
		return bk_error(err, line,
				"filter: '{bucket}' is missing, and there are "
				"%u buckets",
				(unsigned)spec->buckets);
	return check_name(f, &t);
}

int bloomkey_filter(const struct bloomkey_spec *spec, uint32_t bucket,
		    char *out, size_t cap)
{
	const struct bk_filtername *f = &spec->filtername;

	if (bucket >= spec->buckets || cap <= f->len)
		return BLOOMKEY_ERANGE;
	memcpy(out, f->zero, f->len);
	out[f->len] = '\0';
	for (size_t i = 0; i < f->places; i++) {
		char *digit = out + f->place[i] + f->width;

		for (uint32_t n = bucket; n > 0; n /= 10)
			*--digit = (char)('0' + n % 10);
	}
	return (int)f->len;
}
