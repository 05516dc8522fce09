/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* snprintf() and strtod() follow LC_NUMERIC; this undoes it. */
static void point(char *text)
{
	const char *dp = localeconv()->decimal_point;
	char *at;

	if (strcmp(dp, ".") == 0 || dp[0] == '\0')
		return;
	at = strstr(text, dp);
	if (at == NULL)
		return;
	*at = '.';
	memmove(at + 1, at + strlen(dp), strlen(at + strlen(dp)) + 1);
}

int num_u64(const char *text, uint64_t *out)
{
	char *end;
	unsigned long long n;

	if (text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0')
		return -1;
	*out = n;
	return 0;
}

/* digits [. digits] [e [sign] digits], and nothing else */
static int is_decimal(const char *text)
{
	size_t whole = strspn(text, "0123456789");
	size_t part = 0;

	text += whole;
	if (*text == '.') {
		part = strspn(text + 1, "0123456789");
		text += 1 + part;
	}
	if (whole + part == 0)
		return 0;
	if (*text == 'e' || *text == 'E') {
		text++;
		if (*text == '+' || *text == '-')
			text++;
		if (*text < '0' || *text > '9')
			return 0;
		text += strspn(text, "0123456789");
	}
	return *text == '\0';
}

int num_double(const char *text, double *out)
{
	char copy[64];
	const char *dp = localeconv()->decimal_point;
	const char *dot = strchr(text, '.');
	char *end;
	double x;
	int n;

	if (!is_decimal(text))
		return -1;
	if (dot != NULL)
		n = snprintf(copy, sizeof(copy), "%.*s%s%s", (int)(dot - text),
			     text, dp, dot + 1);
	else
		n = snprintf(copy, sizeof(copy), "%s", text);
	if (n < 0 || (size_t)n >= sizeof(copy))
		return -1;
	errno = 0;
	x = strtod(copy, &end);
	if (*end != '\0' || !isfinite(x) || (errno == ERANGE && x != 0))
		return -1;
	*out = x;
	return 0;
}

int num_bytes(const char *text, uint64_t *out)
{
	static const char units[] = "kmgt";
	char digits[32];
	size_t n = strspn(text, "0123456789");
	const char *unit = text + n;
	unsigned shift = 0;
	const char *at;
	char c;

	if (n == 0 || n >= sizeof(digits))
		return -1;
	memcpy(digits, text, n);
	digits[n] = '\0';
	if (num_u64(digits, out) != 0)
		return -1;
	c = *unit >= 'A' && *unit <= 'Z' ? (char)(*unit - 'A' + 'a') : *unit;
	if (c != '\0' && (at = strchr(units, c)) != NULL) {
		shift = 10 * (unsigned)(at - units + 1);
		unit++;
		if (*unit == 'i')
			unit++;
	}
	if (*unit == 'b' || *unit == 'B')
		unit++;
	if (*unit != '\0' || (shift > 0 && *out > UINT64_MAX >> shift))
		return -1;
	*out <<= shift;
	return 0;
}

const char *num_bytes_text(uint64_t bytes, char out[NUM_TEXT_MAX])
{
	static const char *const units[] = {"KiB", "MiB", "GiB",
					    "TiB", "PiB", "EiB"};
	double x = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		(void)snprintf(out, NUM_TEXT_MAX, "%" PRIu64 " B", bytes);
		return out;
	}
	while (x >= 1023.95 && i + 1 < sizeof(units) / sizeof(units[0])) {
		x /= 1024;
		i++;
	}
	(void)snprintf(out, NUM_TEXT_MAX, "%.1f %s", x, units[i]);
	point(out);
	return out;
}

const char *num_grouped(uint64_t n, char out[NUM_TEXT_MAX])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *to = out;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

const char *num_hex(uint64_t n, char out[NUM_TEXT_MAX])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 15; i >= 0; i--, n >>= 4)
		out[i] = digits[n & 15];
	out[16] = '\0';
	return out;
}

const char *num_double_text(double x, char out[NUM_TEXT_MAX])
{
	for (int digits = 1; digits <= 17; digits++) {
		(void)snprintf(out, NUM_TEXT_MAX, "%.*g", digits, x);
		if (strtod(out, NULL) == x &&
		    (strchr(out, 'e') == NULL || fabs(x) >= 1e15 ||
		     fabs(x) < 1e-4))
			break;
	}
	point(out);
	return out;
}

const char *num_fixed(double x, int decimals, char out[NUM_TEXT_MAX])
{
	if (fabs(x) < 1e30)
		(void)snprintf(out, NUM_TEXT_MAX, "%.*f", decimals, x);
	else
		(void)snprintf(out, NUM_TEXT_MAX, "%g", x);
	point(out);
	return out;
}
