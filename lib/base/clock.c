/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/clock.h"

#include <inttypes.h>
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
