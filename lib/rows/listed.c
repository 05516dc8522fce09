/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/listed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/rows/file.h"
#include "lib/rows/listed_private.h"
#include "lib/rows/quote.h"

static bool ends(const char *text, const char *suffix)
{
	size_t len = strlen(text);
	size_t n = strlen(suffix);

	return len >= n && strcmp(text + len - n, suffix) == 0;
}

const char *listed_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

char *listed_beside(const char *path, const char *name, size_t len,
		    const char *suffix)
{
	size_t folder = (size_t)(listed_name(path) - path);
	size_t size = folder + len + strlen(suffix) + 1;
	char *out = malloc(size);

	if (out != NULL)
		(void)snprintf(out, size, "%.*s%.*s%s", (int)folder, path,
			       (int)len, name, suffix);
	return out;
}

/* By errno: it is not there, rather than that nobody knows. */
static bool is_absent(void)
{
	return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
}

/* 1 if a file is there, 0 or -1. */
static int exists(const char *path, struct error *err)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		return 1;
	return is_absent() ? 0
			   : error_errno(err, ERROR_SOURCE, errno,
					 "file '%s': cannot look at it", path);
}

int listed_exists(const char *path, const char *name, size_t len,
		  const char *suffix, struct error *err)
{
	char *other = listed_beside(path, name, len, suffix);
	int rc = other != NULL ? exists(other, err) : error_nomem(err);

	free(other);
	return rc;
}

/* --- lists ---------------------------------------------------------------- */

static int read_list(struct listed *l, struct error *err)
{
	const char *name = listed_name(l->path);
	struct buf text;
	int rc;

	buf_init(&text, EXPORTLIST_MAX);
	rc = file_read(l->path, &text, ERROR_SOURCE, err);
	if (rc == 0 &&
	    (exportlist_decode(text.data, text.len, &l->list, err) != 0 ||
	     exportlist_check_base(&l->list, name,
				   strlen(name) - strlen(EXPORTLIST_SUFFIX),
				   err) != 0))
		rc = error_prefix(err, "file '%s'", l->path);
	buf_release(&text);
	if (rc != 0)
		return -1;
	l->met = calloc(l->list.count, sizeof(*l->met));
	return l->met != NULL ? 0 : error_nomem(err);
}

struct listed *listed_find(struct file_source *s, const char *path,
			   struct error *err)
{
	struct listed *lists;
	struct listed *l;

	for (size_t i = 0; i < s->list_count; i++)
		if (strcmp(s->lists[i].path, path) == 0)
			return &s->lists[i];
	lists = realloc(s->lists, (s->list_count + 1) * sizeof(*lists));
	if (lists == NULL) {
		(void)error_nomem(err);
		return NULL;
	}
	s->lists = lists;
	l = &lists[s->list_count++];
	memset(l, 0, sizeof(*l));
	l->path = strdup(path);
	if (l->path == NULL) {
		(void)error_nomem(err);
		return NULL;
	}
	return read_list(l, err) == 0 ? l : NULL;
}

/* A path that is a file, too. */
static int two_meanings(const char *word, struct error *err)
{
	char shown[QUOTE_SIZE(QUOTE_PATH_MAX)];

	quote_bytes(shown, word, strlen(word), QUOTE_PATH_MAX);
	(void)error_set(err, ERROR_USAGE,
			"file '%.300s': it is there, and so is the list of an "
			"export to that path",
			shown);
	return error_hint(err,
			  "add '%s' for the export, or --parts any for "
			  "the file",
			  EXPORTLIST_SUFFIX);
}

/* A path whose export is being written, or died. */
static int not_ended(const char *word, struct error *err)
{
	char shown[QUOTE_SIZE(QUOTE_PATH_MAX)];

	quote_bytes(shown, word, strlen(word), QUOTE_PATH_MAX);
	(void)error_set(err, ERROR_SOURCE,
			"file '%.300s': the export to that path has not ended",
			shown);
	return error_hint(err, "wait for it or run it again");
}

/* A word that names a list, or whose list there is; owned, NULL: none. */
static int list_of(const struct file_source *s, const char *word, char **out,
		   struct error *err)
{
	const char *name = listed_name(word);
	struct stat st;
	bool is_file;
	int there;

	*out = NULL;
	if (ends(word, EXPORTLIST_SUFFIX)) {
		*out = strdup(word);
		return *out != NULL ? 0 : error_nomem(err);
	}
	/* A folder is no rows. */
	is_file = lstat(word, &st) == 0 ? !S_ISDIR(st.st_mode) : !is_absent();
	if (is_file && s->kind == SOURCE_PARTS_ANY)
		return 0;
	*out = listed_beside(word, name, strlen(name), EXPORTLIST_SUFFIX);
	if (*out == NULL)
		return error_nomem(err);
	there = exists(*out, err);
	if (there > 0 && (!is_file || s->kind == SOURCE_PARTS_LISTED))
		return 0;
	free(*out);
	*out = NULL;
	if (there == 0 && !is_file &&
	    listed_exists(word, name, strlen(name), EXPORTLIST_MARK, err) != 0)
		return not_ended(word, err);
	return there > 0 ? two_meanings(word, err) : there;
}

bool listed_is(const char *word)
{
	struct error ignored = ERROR_INIT;
	const char *name = listed_name(word);

	return listed_exists(word, name, strlen(name), EXPORTLIST_SUFFIX,
			     &ignored) > 0;
}

static int add_parts(struct file_source *s, const char *path, struct error *err)
{
	struct listed *l = listed_find(s, path, err);

	if (l == NULL)
		return -1;
	if (l->named)
		return error_set(err, ERROR_USAGE, "file '%s' is named twice",
				 path);
	l->named = true;
	for (size_t i = 0; i < l->list.count; i++) {
		const char *name = l->list.parts[i].name;
		char *part = listed_beside(path, name, strlen(name), "");
		int rc = part != NULL ? filelist_add(s, part, err)
				      : error_nomem(err);

		free(part);
		if (rc != 0)
			return -1;
	}
	return 0;
}

int listed_take(struct file_source *s, const char *word, struct error *err)
{
	char *path;
	int rc;

	if (list_of(s, word, &path, err) != 0)
		return -1;
	if (path == NULL)
		return 0;
	if (s->kind == SOURCE_PARTS_ANY) {
		(void)error_set(err, ERROR_USAGE,
				"file '%s' is the list of an export, and "
				"--parts any reads none",
				path);
		rc = error_hint(err, "leave out --parts, or name the parts "
				     "themselves");
	} else {
		rc = add_parts(s, path, err);
	}
	free(path);
	return rc == 0 ? 1 : -1;
}

int listed_skip(struct file_source *s, const char *path, struct error *err)
{
	if (ends(path, EXPORTLIST_SUFFIX)) {
		if (s->kind == SOURCE_PARTS_ANY)
			return 1;
		return listed_find(s, path, err) != NULL ? 1 : -1;
	}
	if (ends(path, EXPORTLIST_MARK) || ends(path, EXPORTLIST_OLD))
		return 1;
	return exportlist_aside_len(listed_name(path)) > 0 ? 1 : 0;
}

void listed_free(struct file_source *s)
{
	for (size_t i = 0; i < s->list_count; i++) {
		free(s->lists[i].path);
		free(s->lists[i].met);
		exportlist_release(&s->lists[i].list);
	}
	free(s->lists);
}
