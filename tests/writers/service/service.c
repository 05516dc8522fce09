/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What writers and readers share: the key of a card, and the log.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service.h"

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void sleep_for(double seconds)
{
	struct timespec t = {.tv_sec = (time_t)seconds};

	if (seconds <= 0)
		return;
	t.tv_nsec = (long)((seconds - floor(seconds)) * 1e9);
	nanosleep(&t, NULL);
}

int derive(struct service *s, const char *const values[FIELDS], struct key *out)
{
	const void *data[FIELDS];
	size_t lens[FIELDS];
	struct bloomkey_result at;
	int code;

	for (int i = 0; i < FIELDS; i++) {
		data[i] = values[i];
		lens[i] = strlen(values[i]);
	}
	code = bloomkey_derive(s->spec, data, lens, s->buffer,
			       sizeof(s->buffer), &at);
	if (code != BLOOMKEY_OK) {
		snprintf(s->why, sizeof(s->why), "the key is rejected: %s",
			 bloomkey_reason(code));
		return code;
	}
	out->bytes = s->buffer;
	out->len = at.len;
	out->bucket = at.bucket;
	out->hash = at.hash;
	return 0;
}

const char *ttl(struct service *s)
{
	FILE *file = s->ttl_file != NULL ? fopen(s->ttl_file, "r") : NULL;

	if (file == NULL)
		return s->ttl;
	if (fgets(s->ttl_text, sizeof(s->ttl_text), file) != NULL) {
		s->ttl_text[strcspn(s->ttl_text, "\n")] = '\0';
		s->ttl = s->ttl_text;
	}
	fclose(file);
	return s->ttl;
}

size_t recent_name(struct service *s, const struct key *key)
{
	memcpy(s->name, RECENT, sizeof(RECENT) - 1);
	memcpy(s->name + sizeof(RECENT) - 1, key->bytes, key->len);
	return sizeof(RECENT) - 1 + key->len;
}

int log_key(struct service *s, const struct key *key, bool gone)
{
	static char line[BLOOMKEY_MAX + 64];
	size_t len = key->len;

	if (s->log < 0)
		return 0;
	memcpy(line, key->bytes, len);
	len += (size_t)snprintf(line + len, sizeof(line) - len, "\t%.6f%s\n",
				now(), gone ? "\tgone" : "");
	/* By one call, as several writers may share the file. */
	if (write(s->log, line, len) == (ssize_t)len)
		return 0;
	snprintf(s->why, sizeof(s->why), "the log cannot be written");
	return -1;
}
