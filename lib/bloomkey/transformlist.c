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

static int one(struct bk_slice text, struct bk_transform *t, unsigned line,
	       struct bloomkey_error *err)
{
	struct bk_slice number = text;
	uint64_t n;

	for (size_t i = 0; i < NAMES; i++) {
		t->kind = (enum bk_transform_kind)i;
		if (i != BK_FIRST && bk_slice_is(text, names[i]))
			return BLOOMKEY_OK;
	}
	t->kind = BK_FIRST;
	if (!bk_slice_take(&number, "first:"))
		return bk_error(err, line,
				"transform: '%s' is none of trim, rtrim, "
				"lower, upper, uuid, int, digits, first:N, "
				"sha256, hmac-sha256",
				bk_escape(text).text);
	if (!bk_slice_number(number, 1, BLOOMKEY_MAX, &n))
		return bk_error(err, line,
				"transform: '%s': N is a number from 1 to %d",
				bk_escape(text).text, BLOOMKEY_MAX);
	t->n = (uint32_t)n;
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
