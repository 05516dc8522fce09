/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/replyflat.h"

#include <stdbool.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether p is the byte that stands there in an element. */
static bool fits(const char *p, size_t at)
{
	switch (at % REPLYFLAT_STEP) {
	case 0:
		return *p == ':';
	case REPLYFLAT_DIGIT:
		return is_digit(*p);
	case 2:
		return *p == '\r';
	default:
		return *p == '\n';
	}
}

/* All of them, without a branch for each: nearly always all fit. */
static bool all_fit(const char *p, size_t count)
{
	unsigned bad = 0;

	for (size_t i = 0; i < count; i++, p += REPLYFLAT_STEP)
		bad |= (unsigned)(p[0] ^ ':') | (unsigned)(p[2] ^ '\r') |
		       (unsigned)(p[3] ^ '\n') | (unsigned)!is_digit(p[1]);
	return bad == 0;
}

/* "*COUNT\r\n", without leading zeros. */
static enum replyflat head(const char *data, size_t len, size_t *count,
			   size_t *first)
{
	size_t at = 1;
	size_t n = 0;

	if (len > 0 && data[0] != '*')
		return REPLYFLAT_NO;
	for (; at < len && is_digit(data[at]); at++) {
		n = 10 * n + (size_t)(data[at] - '0');
		if (n == 0 || n > REPLYFLAT_COUNT_MAX)
			return REPLYFLAT_NO;
	}
	if ((at < len && (at == 1 || data[at] != '\r')) ||
	    (at + 1 < len && data[at + 1] != '\n'))
		return REPLYFLAT_NO;
	*count = n;
	*first = at + 2;
	return len >= *first ? REPLYFLAT_WHOLE : REPLYFLAT_PART;
}

enum replyflat replyflat_scan(const char *data, size_t len, size_t *count,
			      size_t *first)
{
	enum replyflat found = head(data, len, count, first);
	size_t whole;

	if (found != REPLYFLAT_WHOLE)
		return found;
	data += *first;
	len -= *first;
	whole = len / REPLYFLAT_STEP;
	if (whole > *count)
		whole = *count;
	if (!all_fit(data, whole))
		return REPLYFLAT_NO;
	if (whole == *count)
		return REPLYFLAT_WHOLE;
	for (size_t at = whole * REPLYFLAT_STEP; at < len; at++)
		if (!fits(data + at, at))
			return REPLYFLAT_NO;
	return REPLYFLAT_PART;
}
