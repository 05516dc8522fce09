/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/base/num.h"

int64_t clock_wall_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

int64_t clock_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

const char *clock_text(int64_t wall_ms, char out[CLOCK_TEXT_MAX])
{
	time_t s = (time_t)(wall_ms / 1000);
	struct tm tm;
	size_t n;

	(void)gmtime_r(&s, &tm);
	n = strftime(out, CLOCK_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(out + n, CLOCK_TEXT_MAX - n, ".%03dZ",
		       (int)(wall_ms % 1000));
	return out;
}

/* Two digits of text at *p into *out, and *p behind them and a separator. */
static int pair(const char **p, char separator, int *out)
{
	if ((*p)[0] < '0' || (*p)[0] > '9' || (*p)[1] < '0' || (*p)[1] > '9' ||
	    (*p)[2] != separator)
		return -1;
	*out = ((*p)[0] - '0') * 10 + ((*p)[1] - '0');
	*p += 3;
	return 0;
}

int clock_parse(const char *text, int64_t *wall_ms)
{
	struct tm tm;
	int century;
	int year;
	uint64_t ms;
	char millis[4];
	const char *p = text;

	memset(&tm, 0, sizeof(tm));
	if (strlen(text) != strlen("2026-11-30T19:56:54.123Z"))
		return -1;
	if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9')
		return -1;
	century = (p[0] - '0') * 10 + (p[1] - '0');
	p += 2;
	if (pair(&p, '-', &year) != 0 || pair(&p, '-', &tm.tm_mon) != 0 ||
	    pair(&p, 'T', &tm.tm_mday) != 0 ||
	    pair(&p, ':', &tm.tm_hour) != 0 || pair(&p, ':', &tm.tm_min) != 0 ||
	    pair(&p, '.', &tm.tm_sec) != 0)
		return -1;
	memcpy(millis, p, 3);
	millis[3] = '\0';
	if (num_u64(millis, &ms) != 0 || p[3] != 'Z')
		return -1;
	tm.tm_year = century * 100 + year - 1900;
	tm.tm_mon -= 1;
	*wall_ms = (int64_t)timegm(&tm) * 1000 + (int64_t)ms;
	return 0;
}

/* So many digits at *p as a number; *p is behind them. */
static int digits(const char **p, int count, int *out)
{
	*out = 0;
	for (; count > 0; count--, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		*out = *out * 10 + (**p - '0');
	}
	return 0;
}

static int skip(const char **p, const char *any)
{
	if (**p == '\0' || strchr(any, **p) == NULL)
		return -1;
	(*p)++;
	return 0;
}

/* Whether the fields of a time are in their ranges; a leap second is. */
static bool in_range(int year, const struct tm *tm)
{
	static const int days[] = {31, 28, 31, 30, 31, 30,
				   31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return tm->tm_mon >= 1 && tm->tm_mon <= 12 && tm->tm_mday >= 1 &&
	       tm->tm_mday <=
		       days[tm->tm_mon - 1] + (leap && tm->tm_mon == 2) &&
	       tm->tm_hour <= 23 && tm->tm_min <= 59 && tm->tm_sec <= 60;
}

/* "Z", or "+01:00" as seconds that local time is ahead. */
static int parse_offset(const char **p, int64_t *seconds)
{
	bool behind = **p == '-';
	int hours;
	int minutes;

	*seconds = 0;
	if (skip(p, "Zz") == 0)
		return 0;
	if (skip(p, "+-") != 0 || digits(p, 2, &hours) != 0 ||
	    skip(p, ":") != 0 || digits(p, 2, &minutes) != 0 || hours > 23 ||
	    minutes > 59)
		return -1;
	*seconds = (behind ? -1 : 1) *
		   ((int64_t)hours * 3600 + (int64_t)minutes * 60);
	return 0;
}

int clock_parse_time(const char *text, int64_t *wall_ms)
{
	const char *p = text;
	struct tm tm;
	int64_t ahead;
	int64_t ms = 0;
	int year;

	memset(&tm, 0, sizeof(tm));
	if (digits(&p, 4, &year) != 0 || skip(&p, "-") != 0 ||
	    digits(&p, 2, &tm.tm_mon) != 0 || skip(&p, "-") != 0 ||
	    digits(&p, 2, &tm.tm_mday) != 0 || skip(&p, "Tt ") != 0 ||
	    digits(&p, 2, &tm.tm_hour) != 0 || skip(&p, ":") != 0 ||
	    digits(&p, 2, &tm.tm_min) != 0 || skip(&p, ":") != 0 ||
	    digits(&p, 2, &tm.tm_sec) != 0 || !in_range(year, &tm))
		return -1;
	if (skip(&p, ".") == 0) {
		if (*p < '0' || *p > '9')
			return -1;
		for (int64_t unit = 100; *p >= '0' && *p <= '9'; unit /= 10)
			ms += unit * (*p++ - '0');
	}
	if (parse_offset(&p, &ahead) != 0 || *p != '\0')
		return -1;
	tm.tm_year = year - 1900;
	tm.tm_mon -= 1;
	*wall_ms = ((int64_t)timegm(&tm) - ahead) * 1000 + ms;
	return 0;
}

int clock_parse_span(const char *text, int64_t *ms)
{
	static const struct {
		char name;
		int64_t ms;
	} units[] = {{'s', 1000},
		     {'m', 60000},
		     {'h', INT64_C(3600000)},
		     {'d', INT64_C(86400000)}};
	int64_t n = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, INT64_C(10), &n) ||
		    __builtin_add_overflow(n, (int64_t)(*p - '0'), &n))
			return -1;
	if (p == text || *p == '\0' || p[1] != '\0')
		return -1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (*p == units[i].name)
			return __builtin_mul_overflow(n, units[i].ms, ms) ? -1
									  : 0;
	return -1;
}

const char *clock_span(int64_t ms, char out[CLOCK_TEXT_MAX])
{
	static const struct {
		int64_t from; /* seconds from which the unit is used */
		int64_t unit;
		const char *name;
	} units[] = {{INT64_C(2) * 86400, 86400, "days"},
		     {INT64_C(2) * 3600, 3600, "h"},
		     {120, 60, "min"},
		     {0, 1, "s"}};
	int64_t s = ms > 0 ? ms / 1000 : 0;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (s < units[i].from)
			continue;
		(void)snprintf(out, CLOCK_TEXT_MAX, "%" PRId64 " %s",
			       s / units[i].unit, units[i].name);
		break;
	}
	return out;
}
