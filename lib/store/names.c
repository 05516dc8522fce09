/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"

/* The form of an id; a 0 stands for any digit, an x for a hexadecimal one. */
static const char id_form[] = "00000000T000000Z-xxxx";

void names_set(const struct bloomkey_spec *spec, char out[NAMES_SET_MAX])
{
	(void)snprintf(out, NAMES_SET_MAX, "%.64s-%.8s", bloomkey_name(spec),
		       bloomkey_fingerprint(spec));
}

void names_id_new(int64_t wall_ms, char out[NAMES_ID_MAX])
{
	time_t s = (time_t)(wall_ms / 1000);
	struct tm tm;
	uint16_t chance;
	size_t n;

	/* Two builds of one second differ by this; the lock does the rest. */
	if (getentropy(&chance, sizeof(chance)) != 0)
		chance = (uint16_t)((uint64_t)clock_ns() >> 10);
	memset(&tm, 0, sizeof(tm));
	(void)gmtime_r(&s, &tm);
	n = strftime(out, NAMES_ID_MAX, "%Y%m%dT%H%M%SZ", &tm);
	(void)snprintf(out + n, NAMES_ID_MAX - n, "-%04x", (unsigned)chance);
}

/* The second in which an id was made, in ms; -1 if it is none. */
static int64_t id_time(const char *id)
{
	char text[CLOCK_TEXT_MAX];
	int64_t ms;

	if (!names_id_valid(id))
		return -1;
	(void)snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s.000Z",
		       id, id + 4, id + 6, id + 9, id + 11, id + 13);
	return clock_parse(text, &ms) == 0 ? ms : -1;
}

void names_id_after(int64_t wall_ms, const char *newest, char out[NAMES_ID_MAX])
{
	int64_t last = id_time(newest);

	if (last >= 0 && wall_ms < last + 1000)
		wall_ms = last + 1000;
	names_id_new(wall_ms, out);
}

bool names_id_valid(const char *text)
{
	if (strlen(text) != strlen(id_form))
		return false;
	for (size_t i = 0; id_form[i] != '\0'; i++) {
		const char *of = id_form[i] == '0'   ? "0123456789"
				 : id_form[i] == 'x' ? "0123456789abcdef"
						     : NULL;

		if (of == NULL ? text[i] != id_form[i]
			       : strchr(of, text[i]) == NULL)
			return false;
	}
	return true;
}

void names_bucket(uint32_t bucket, uint32_t buckets, char out[NAMES_BUCKET_MAX])
{
	int width = 1;

	for (uint32_t last = buckets - 1; last >= 10; last /= 10)
		width++;
	(void)snprintf(out, NAMES_BUCKET_MAX, "%0*" PRIu32 ".bloom", width,
		       bucket);
}
