/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/exposure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/num.h"

#define DIGITS 19

void exposure_text(const struct exposure *e, char out[EXPOSURE_SIZE + 1])
{
	(void)snprintf(out, EXPOSURE_SIZE + 1,
		       "%019" PRId64 " %019" PRId64 " %019" PRId64 "\n", e->at,
		       e->ms, e->recent_ms);
}

static int parse_one(const char *text, int64_t *out)
{
	char digits[DIGITS + 1];
	uint64_t n;

	memcpy(digits, text, DIGITS);
	digits[DIGITS] = '\0';
	if (strspn(digits, "0123456789") != DIGITS)
		return -1;
	/* num_u64() takes no zeros in front. */
	*out = 0;
	if (strspn(digits, "0") == DIGITS)
		return 0;
	if (num_u64(digits + strspn(digits, "0"), &n) != 0 || n > INT64_MAX)
		return -1;
	*out = (int64_t)n;
	return 0;
}

int exposure_parse(const char *text, size_t len, struct exposure *out)
{
	const char *second = text + DIGITS + 1;
	const char *third = second + DIGITS + 1;

	if (len == EXPOSURE_SIZE && second[-1] == ' ' && third[-1] == ' ' &&
	    third[DIGITS] == '\n' && parse_one(text, &out->at) == 0 &&
	    parse_one(second, &out->ms) == 0 &&
	    parse_one(third, &out->recent_ms) == 0)
		return 0;
	memset(out, 0, sizeof(*out));
	return -1;
}
