/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/horizon.h"
#include "lib/base/show.h"
#include "lib/rows/exec.h"
#include "lib/rows/file.h"
#include "lib/rows/pipe.h"
#include "lib/rows/postgres.h"

/* How a word of -s begins, and who opens what follows the colon. */
static const struct scheme {
	const char *name;
	int (*open)(const char *const *rests, size_t count,
		    const struct source_options *options, struct source **out,
		    struct error *err);
} schemes[] = {
	{"file", file_source_open},
	{"exec", exec_source_open},
	{"-", pipe_source_open}, /* the whole word */
};

/* What libpq reads has schemes of its own, or none: the whole word is one. */
static const struct scheme database = {"postgresql", postgres_source_open};

/* What a message lists; a test holds it to the table. */
#define KNOWN_KINDS "file:PATH, exec:COMMAND, postgresql://HOST/DATABASE, -"

/* How long the scheme at the start of a word is, or 0: it has none. */
static size_t scheme_len(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789+.-";
	size_t len = strspn(text, letters);

	if (strcmp(text, "-") == 0)
		return 1;
	return text[len] == ':' && text[0] != '-' ? len : 0;
}

static const struct scheme *find(const char *text, size_t len)
{
	if (session_is_word(text))
		return &database;
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
		return error_hint(err, "there is: %s", KNOWN_KINDS);
	}
	error_set(err, ERROR_USAGE,
		  "source %zu: no such kind of source: '%.*s'", number,
		  len < 32 ? (int)len : 32, text);
	return error_hint(err, "there is: %s", KNOWN_KINDS);
}

int source_open(const char *const *texts, size_t count,
		const struct source_options *options, struct source **out,
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
		rests[i] = found == &database
				   ? texts[i]
				   : texts[i] + len + (texts[i][len] == ':');
	}
	rc = scheme != NULL ? scheme->open(rests, count, options, out, err)
			    : error_set(err, ERROR_USAGE, "no source is given");
out:
	free(rests);
	return rc;
}

int source_horizon(const struct source *source, struct horizon *out,
		   struct error *err)
{
	memset(out, 0, sizeof(*out));
	return source->ops->horizon != NULL
		       ? source->ops->horizon(source, out, err)
		       : 0;
}

void stream_count_of(struct stream *stream, const struct stream *inner)
{
	stream->counted = inner->counted;
	stream->rows = inner->rows;
	stream->witness = inner->witness;
}

int stream_check_rows(const struct stream *stream, uint64_t rows,
		      struct error *err)
{
	if (!stream->counted || stream->rows == rows)
		return 0;
	(void)error_set(err, ERROR_DATA,
			"%s says %" PRIu64 " rows, and %" PRIu64 " were read",
			stream->witness != NULL ? stream->witness
						: "its trailer",
			stream->rows, rows);
	return error_hint(err, "read it with the row format and the header "
			       "with which it was exported");
}

int source_is_database(const char *text, bool *is, bool *password,
		       struct error *err)
{
	*password = false;
	*is = session_is_word(text);
	return *is ? session_check_word(text, password, err) : 0;
}

int source_label(const char *text, char **out, struct error *err)
{
	char label[SHOW_COMMAND_MAX];
	size_t len = scheme_len(text);
	const struct scheme *scheme = find(text, len);

	*out = NULL;
	if (scheme == &database)
		return session_label(text, out, err);
	if (scheme == NULL || scheme->open != exec_source_open) {
		*out = strdup(text);
		return *out != NULL ? 0 : error_nomem(err);
	}
	(void)show_command(text + len + 1, label);
	*out = malloc(len + 1 + strlen(label) + 1);
	if (*out == NULL)
		return error_nomem(err);
	memcpy(*out, text, len + 1);
	memcpy(*out + len + 1, label, strlen(label) + 1);
	return 0;
}

struct source_part *source_part_add(struct source_part **parts, size_t *count,
				    const char *name, struct error *err)
{
	struct source_part *list, *part;
	char *copy = strdup(name);

	list = copy != NULL ? realloc(*parts, (*count + 1) * sizeof(*list))
			    : NULL;
	if (list == NULL) {
		free(copy);
		(void)error_nomem(err);
		return NULL;
	}
	*parts = list;
	part = &list[(*count)++];
	memset(part, 0, sizeof(*part));
	part->name = copy;
	part->at_end = true;
	return part;
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
