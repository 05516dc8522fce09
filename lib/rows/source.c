/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/source.h"

#include <stdlib.h>
#include <string.h>

#include "lib/rows/file.h"

/* How a word of -s begins, and who opens what follows the colon. */
static const struct scheme {
	const char *name;
	int (*open)(const char *const *rests, size_t count, struct source **out,
		    struct error *err);
} schemes[] = {
	{"file", file_source_open},
};

/* What a message lists; a test holds it to the table. */
#define KNOWN_KINDS "file:PATH"

/* How long the scheme at the start of a word is, or 0: it has none. */
static size_t scheme_len(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789+.-";
	size_t len = strspn(text, letters);

	return text[len] == ':' ? len : 0;
}

static const struct scheme *find(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (strlen(schemes[i].name) == len &&
		    memcmp(schemes[i].name, text, len) == 0)
			return &schemes[i];
	}
	return NULL;
}

/* The word itself stays out of messages: it may hold a password. */
static int unknown(const char *text, size_t len, size_t number,
		   struct error *err)
{
	if (len == 0) {
		error_set(err, ERROR_USAGE,
			  "source %zu does not say what kind it is", number);
		return error_hint(err, "a file is named %s", KNOWN_KINDS);
	}
	error_set(err, ERROR_USAGE,
		  "source %zu: no such kind of source: '%.*s'", number,
		  len < 32 ? (int)len : 32, text);
	return error_hint(err, "there is: %s", KNOWN_KINDS);
}

int source_open(const char *const *texts, size_t count, struct source **out,
		struct error *err)
{
	const struct scheme *scheme = NULL;
	const char **rests;
	int rc = -1;

	*out = NULL;
	rests = calloc(count + 1, sizeof(*rests));
	if (rests == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++) {
		size_t len = scheme_len(texts[i]);
		const struct scheme *found = find(texts[i], len);

		if (found == NULL) {
			unknown(texts[i], len, i + 1, err);
			goto out;
		}
		if (scheme != NULL && scheme != found) {
			error_set(err, ERROR_USAGE,
				  "sources of different kinds, '%s' and '%s'",
				  scheme->name, found->name);
			goto out;
		}
		scheme = found;
		rests[i] = texts[i] + len + 1;
	}
	rc = scheme != NULL ? scheme->open(rests, count, out, err)
			    : error_set(err, ERROR_USAGE, "no source is given");
out:
	free(rests);
	return rc;
}

void source_parts_free(struct source_part *parts, size_t count)
{
	if (parts == NULL)
		return;
	for (size_t i = 0; i < count; i++) {
		free(parts[i].name);
		free(parts[i].header);
	}
	free(parts);
}
