/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "internal.h"

/* No ctype: it asks the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return (c >= 0x09 && c <= 0x0d) || c == ' ';
}

static void trim(struct bk_slice *v)
{
	while (v->len > 0 && is_space(v->data[v->len - 1]))
		v->len--;
	while (v->len > 0 && is_space(v->data[0])) {
		v->data++;
		v->len--;
	}
}

static void rtrim(struct bk_slice *v)
{
	while (v->len > 0 && v->data[v->len - 1] == ' ')
		v->len--;
}

/*
 * Flips the case of the 26 letters from `first` on.  A result in scratch never
 * overtakes the value that may be there: it is no longer than what was read.
 */
static void fold(struct bk_slice *v, char first, char *scratch)
{
	for (size_t i = 0; i < v->len; i++) {
		unsigned char c = (unsigned char)v->data[i];
		unsigned char nth = (unsigned char)(c - (unsigned char)first);

		scratch[i] = (char)(c ^ (nth < 26 ? 0x20 : 0));
	}
	v->data = scratch;
}

/*
 * A hexadecimal digit in lower case, or 0.  Without branches, here and below:
 * digits come in no order that a processor could foresee.
 */
static char hex_lower(char c)
{
	const unsigned char lower = (unsigned char)(c | 0x20);
	const char letter = (unsigned char)(lower - 'a') < 6 ? (char)lower : 0;

	return is_digit(c) ? c : letter;
}

static int uuid(struct bk_slice *v, char *scratch)
{
	enum { DIGITS = 32, DASHED = 36 };
	char out[DASHED];
	const char *in = v->data;
	size_t len = v->len;
	bool dashes, bad = false;

	if (len > 2 && in[0] == '{' && in[len - 1] == '}') {
		in++;
		len -= 2;
	}
	if (len != DIGITS && len != DASHED)
		return BLOOMKEY_REJECT_UUID;
	dashes = len == DASHED;
	for (size_t i = 0; i < DASHED; i++) {
		if (i == 8 || i == 13 || i == 18 || i == 23) {
			out[i] = '-';
			bad |= dashes && *in != '-';
			in += dashes;
			continue;
		}
		out[i] = hex_lower(*in++);
		bad |= out[i] == 0;
	}
	if (bad)
		return BLOOMKEY_REJECT_UUID;
	memcpy(scratch, out, sizeof(out));
	v->data = scratch;
	v->len = sizeof(out);
	return BLOOMKEY_OK;
}

static int integer(struct bk_slice *v, char *scratch)
{
	bool minus = v->len > 0 && v->data[0] == '-';
	struct bk_slice digits = *v;

	if (minus || (v->len > 0 && v->data[0] == '+')) {
		digits.data++;
		digits.len--;
	}
	if (digits.len == 0)
		return BLOOMKEY_REJECT_INT;
	for (size_t i = 0; i < digits.len; i++)
		if (!is_digit(digits.data[i]))
			return BLOOMKEY_REJECT_INT;
	while (digits.len > 1 && digits.data[0] == '0') {
		digits.data++;
		digits.len--;
	}
	if (!minus || digits.data[0] == '0') {
		*v = digits;
	} else if (digits.data != v->data + 1) {
		memmove(scratch + 1, digits.data, digits.len);
		scratch[0] = '-';
		v->data = scratch;
		v->len = digits.len + 1;
	}
	return BLOOMKEY_OK;
}

/* The characters that `digits` drops, all of them below 64. */
#define BIT(c) (UINT64_C(1) << (c))
#define DROPPED                                                            \
	(BIT(' ') | BIT('(') | BIT(')') | BIT('-') | BIT('.') | BIT('/') | \
	 BIT('+'))

static int digits(struct bk_slice *v, char *scratch)
{
	size_t used = 0;
	bool bad = false;

	for (size_t i = 0; i < v->len; i++) {
		const char c = v->data[i];
		const unsigned char u = (unsigned char)c;
		const bool dropped = u < 64 && (DROPPED >> (u & 63) & 1) != 0;

		/* What is dropped is written over by the next. */
		scratch[used] = c;
		used += is_digit(c);
		bad |= !is_digit(c) && !dropped;
	}
	if (bad)
		return BLOOMKEY_REJECT_DIGITS;
	v->data = scratch;
	v->len = used;
	return BLOOMKEY_OK;
}

static void first(struct bk_slice *v, size_t n, bool code_points)
{
	if (v->len <= n)
		return;
	/* A byte 10xxxxxx goes on with what the one before it began. */
	while (code_points && n > 0 &&
	       ((unsigned char)v->data[n] & 0xc0) == 0x80)
		n--;
	v->len = n;
}

static void hashed(struct bk_slice *v, const struct bk_hmac *hmac,
		   char *scratch)
{
	if (hmac != NULL)
		bk_hmac(hmac, v->data, v->len, scratch);
	else
		bk_sha256(v->data, v->len, scratch);
	v->data = scratch;
	v->len = BK_SHA256_HEX;
}

static int apply(const struct bk_transform *t, const struct bk_field *field,
		 struct bk_slice *v, char *scratch)
{
	switch (t->kind) {
	case BK_TRIM:
		trim(v);
		break;
	case BK_RTRIM:
		rtrim(v);
		break;
	case BK_LOWER:
		fold(v, 'A', scratch);
		break;
	case BK_UPPER:
		fold(v, 'a', scratch);
		break;
	case BK_UUID:
		return uuid(v, scratch);
	case BK_INT:
		return integer(v, scratch);
	case BK_DIGITS:
		return digits(v, scratch);
	case BK_FIRST:
		first(v, t->n, field->rules.encoding == BK_ENCODING_UTF8);
		break;
	case BK_SHA256:
		hashed(v, NULL, scratch);
		break;
	case BK_HMAC_SHA256:
		hashed(v, field->hmac, scratch);
		break;
	}
	return BLOOMKEY_OK;
}

int bk_transform(const struct bk_field *field, struct bk_slice *value,
		 char *scratch)
{
	const struct bk_rules *rules = &field->rules;
	int rc = BLOOMKEY_OK;

	for (unsigned i = 0; rc == BLOOMKEY_OK && i < rules->ntransforms; i++)
		rc = apply(&rules->transforms[i], field, value, scratch);
	return rc;
}
