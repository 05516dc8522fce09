/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "internal.h"

bool bk_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct bk_slice bk_slice_trim(struct bk_slice s)
{
	while (s.len > 0 && bk_blank(s.data[0])) {
		s.data++;
		s.len--;
	}
	while (s.len > 0 && bk_blank(s.data[s.len - 1]))
		s.len--;
	return s;
}

bool bk_slice_is(struct bk_slice slice, const char *text)
{
	return slice.len == strlen(text) &&
	       memcmp(slice.data, text, slice.len) == 0;
}

bool bk_slice_take(struct bk_slice *slice, const char *prefix)
{
	size_t len = strlen(prefix);

	if (slice->len < len || memcmp(slice->data, prefix, len) != 0)
		return false;
	slice->data += len;
	slice->len -= len;
	return true;
}

bool bk_slice_number(struct bk_slice slice, uint64_t min, uint64_t max,
		     uint64_t *out)
{
	uint64_t n = 0;

	if (slice.len == 0 || (slice.len > 1 && slice.data[0] == '0'))
		return false;
	for (size_t i = 0; i < slice.len; i++) {
		char c = slice.data[i];

		if (c < '0' || c > '9' ||
		    __builtin_mul_overflow(n, (uint64_t)10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(c - '0'), &n))
			return false;
	}
	if (n < min || n > max)
		return false;
	*out = n;
	return true;
}
