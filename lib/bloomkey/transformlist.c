/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "internal.h"

static const char *const names[] = {
	[BK_TRIM] = "trim",     [BK_RTRIM] = "rtrim",
	[BK_LOWER] = "lower",   [BK_UPPER] = "upper",
	[BK_UUID] = "uuid",     [BK_INT] = "int",
	[BK_DIGITS] = "digits", [BK_FIRST] = "first",
	[BK_SHA256] = "sha256", [BK_HMAC_SHA256] = "hmac-sha256",
};
#define NAMES (sizeof(names) / sizeof(names[0]))

const char *bk_transform_name(enum bk_transform_kind kind)
{
	return names[kind];
}

/* The N of "first:N". */
static bool number(struct bk_slice text, uint32_t *n)
{
	*n = 0;
	if (text.len == 0 || text.len > 5 || text.data[0] == '0')
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		*n = *n * 10 + (uint32_t)(text.data[i] - '0');
	}
	return *n <= BLOOMKEY_MAX;
}

static int one(struct bk_slice text, struct bk_transform *t, unsigned line,
	       struct bloomkey_error *err)
{
	struct bk_slice n;

	for (size_t i = 0; i < NAMES; i++) {
		t->kind = (enum bk_transform_kind)i;
		if (i != BK_FIRST && bk_slice_is(text, names[i]))
			return BLOOMKEY_OK;
	}
	t->kind = BK_FIRST;
	n.data = text.data + strlen("first:");
	n.len = text.len - strlen("first:");
	if (text.len < strlen("first:") ||
	    memcmp(text.data, "first:", strlen("first:")) != 0)
		return bk_error(err, line,
				"transform: '%s' is none of trim, rtrim, "
				"lower, upper, uuid, int, digits, first:N, "
				"sha256, hmac-sha256",
				bk_escape(text).text);
	if (!number(n, &t->n))
		return bk_error(err, line,
				"transform: '%s': N is a number from 1 to %d",
				bk_escape(text).text, BLOOMKEY_MAX);
	return BLOOMKEY_OK;
}

static int add(struct bk_rules *rules, struct bk_slice text, unsigned line,
	       struct bloomkey_error *err)
{
	struct bk_transform t = {BK_TRIM, 0};
	int rc;

	if (rules->ntransforms == BK_TRANSFORMS_MAX)
		return bk_error(err, line, "transform: more than %d",
				BK_TRANSFORMS_MAX);
	rc = one(text, &t, line, err);
	if (rc != BLOOMKEY_OK)
		return rc;
	if (t.kind == BK_HMAC_SHA256 && rules->keyed)
		return bk_error(err, line,
				"transform: hmac-sha256 stands there twice");
	rules->keyed |= t.kind == BK_HMAC_SHA256;
	rules->transforms[rules->ntransforms++] = t;
	return BLOOMKEY_OK;
}

int bk_transforms_compile(struct bk_slice value, struct bk_rules *rules,
			  unsigned line, struct bloomkey_error *err)
{
	for (;;) {
		const char *comma = memchr(value.data, ',', value.len);
		struct bk_slice text = value;
		int rc;

		if (comma != NULL)
			text.len = (size_t)(comma - value.data);
		rc = add(rules, bk_slice_trim(text), line, err);
		if (rc != BLOOMKEY_OK || comma == NULL)
			return rc;
		value.len -= text.len + 1;
		value.data = comma + 1;
	}
}
