/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/listed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/rows/file.h"
#include "lib/rows/quote.h"

#define ASIDE ".tmp"

static bool ends(const char *text, const char *suffix)
{
	size_t len = strlen(text);
	size_t n = strlen(suffix);

	return len >= n && strcmp(text + len - n, suffix) == 0;
}

/* The name without its folder. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* "FOLDER/" of a path and a name in that folder; owned, NULL: no memory. */
static char *beside(const char *path, const char *name, size_t len,
		    const char *suffix)
{
	size_t folder = (size_t)(name_of(path) - path);
	size_t size = folder + len + strlen(suffix) + 1;
	char *out = malloc(size);

	if (out != NULL)
		(void)snprintf(out, size, "%.*s%.*s%s", (int)folder, path,
			       (int)len, name, suffix);
	return out;
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* --- lists ---------------------------------------------------------------- */

static int read_list(struct listed *l, struct error *err)
{
	struct buf text;
	int rc;

	buf_init(&text, EXPORTLIST_MAX);
	rc = file_read(l->path, &text, ERROR_SOURCE, err);
	if (rc == 0 &&
	    exportlist_decode(text.data, text.len, &l->list, err) != 0)
		rc = error_prefix(err, "file '%s'", l->path);
	buf_release(&text);
	if (rc != 0)
		return -1;
	l->met = calloc(l->list.count, sizeof(*l->met));
	return l->met != NULL ? 0 : error_nomem(err);
}

/* The list of that path, which is read once. */
static struct listed *find_list(struct file_source *s, const char *path,
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

/* A word that names a list, or whose list there is; owned, NULL: none. */
static int list_of(const char *word, char **out, struct error *err)
{
	*out = NULL;
	if (ends(word, EXPORTLIST_SUFFIX)) {
		*out = strdup(word);
		return *out != NULL ? 0 : error_nomem(err);
	}
	if (exists(word))
		return 0;
	*out = beside(word, name_of(word), strlen(name_of(word)),
		      EXPORTLIST_SUFFIX);
	if (*out == NULL)
		return error_nomem(err);
	if (!exists(*out)) {
		free(*out);
		*out = NULL;
	}
	return 0;
}

static int add_parts(struct file_source *s, const char *path, struct error *err)
{
	struct listed *l = find_list(s, path, err);

	if (l == NULL)
		return -1;
	if (l->named)
		return error_set(err, ERROR_USAGE, "file '%s' is named twice",
				 path);
	l->named = true;
	for (size_t i = 0; i < l->list.count; i++) {
		const char *name = l->list.parts[i].name;
		char *part = beside(path, name, strlen(name), "");
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

	if (list_of(word, &path, err) != 0)
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
	char *part;
	bool aside;

	if (ends(path, EXPORTLIST_SUFFIX)) {
		if (s->kind == SOURCE_PARTS_ANY)
			return 1;
		return find_list(s, path, err) != NULL ? 1 : -1;
	}
	if (ends(path, EXPORTLIST_MARK) || ends(path, EXPORTLIST_OLD))
		return 1;
	if (!ends(path, ASIDE))
		return 0;
	part = beside(path, name_of(path),
		      strlen(name_of(path)) - strlen(ASIDE), "");
	if (part == NULL)
		return error_nomem(err);
	aside = exportlist_base_len(name_of(part)) > 0;
	free(part);
	return aside ? 1 : 0;
}

/* --- files and their lists ------------------------------------------------ */

static int no_list(const struct file_source *s, const struct file_entry *file,
		   const char *list, bool unfinished, struct error *err)
{
	if (unfinished) {
		(void)error_set(
			err, ERROR_SOURCE,
			"the export that it is a part of has not ended");
		(void)error_hint(err,
				 "wait for it or run it again; --parts any "
				 "takes files as they are");
		return file_entry_prefix(file, err);
	}
	if (s->kind != SOURCE_PARTS_LISTED)
		return 0;
	(void)error_set(err, ERROR_SOURCE,
			list != NULL ? "there is no list of its export"
				     : "it has not the name of a part of an "
				       "export");
	(void)error_hint(err, "--parts any takes files as they are");
	return file_entry_prefix(file, err);
}

static int not_in_list(const struct file_entry *file, const struct listed *l,
		       struct error *err)
{
	char shown[QUOTE_SIZE(QUOTE_PATH_MAX)];

	quote_bytes(shown, l->path, strlen(l->path), QUOTE_PATH_MAX);
	(void)error_set(err, ERROR_SOURCE, "it is not in the list '%.200s'",
			shown);
	(void)error_hint(err, "name the list in place of its parts, or take "
			      "files as they are with --parts any");
	return file_entry_prefix(file, err);
}

static int join(struct file_entry *file, struct listed *l, size_t len,
		struct error *err)
{
	const char *name = name_of(file->path);
	size_t number = strtoul(name + len + 1, NULL, 10);

	if (number < 1 || number > l->list.count ||
	    strcmp(l->list.parts[number - 1].name, name) != 0)
		return not_in_list(file, l, err);
	l->met[number - 1] = true;
	file->listed = &l->list.parts[number - 1];
	return 0;
}

static int find_of(struct file_source *s, struct file_entry *file,
		   struct error *err)
{
	const char *name = name_of(file->path);
	size_t len = exportlist_base_len(name);
	struct listed *l;
	char *list, *mark;
	int rc = -1;

	if (len == 0)
		return no_list(s, file, NULL, false, err);
	list = beside(file->path, name, len, EXPORTLIST_SUFFIX);
	mark = beside(file->path, name, len, EXPORTLIST_MARK);
	if (list == NULL || mark == NULL) {
		(void)error_nomem(err);
	} else if (!exists(list)) {
		rc = no_list(s, file, list, exists(mark), err);
	} else {
		l = find_list(s, list, err);
		rc = l != NULL ? join(file, l, len, err) : -1;
	}
	free(list);
	free(mark);
	return rc;
}

static int check_met(const struct listed *l, struct error *err)
{
	size_t met = 0;

	for (size_t i = 0; i < l->list.count; i++)
		met += l->met[i];
	if (met == l->list.count)
		return 0;
	(void)error_set(err, ERROR_SOURCE,
			"file '%s': it lists %zu parts, and %zu of them %s "
			"named",
			l->path, l->list.count, met, met == 1 ? "is" : "are");
	return error_hint(err, "name the list itself, for all of them; --parts "
			       "any takes files as they are");
}

static bool same_columns(const struct exportlist *a, const struct exportlist *b)
{
	bool same = a->column_count == b->column_count;

	for (size_t i = 0; same && i < a->column_count; i++)
		same = strcmp(a->columns[i], b->columns[i]) == 0;
	return same;
}

static int check_alike(const struct file_source *s, struct error *err)
{
	const struct exportlist *a = &s->lists[0].list;

	for (size_t i = 1; i < s->list_count; i++) {
		const struct exportlist *b = &s->lists[i].list;

		if (a->kind != b->kind || a->header != b->header ||
		    strcmp(a->fingerprint, b->fingerprint) != 0 ||
		    !same_columns(a, b))
			return error_set(err, ERROR_USAGE,
					 "files '%.200s' and '%.200s': exports "
					 "of different rows cannot be read as "
					 "one source",
					 s->lists[0].path, s->lists[i].path);
	}
	return 0;
}

int listed_check(struct file_source *s, struct error *err)
{
	const struct file_entry *other = NULL;

	if (s->kind == SOURCE_PARTS_ANY)
		return 0;
	for (size_t i = 0; i < s->count; i++) {
		if (find_of(s, &s->files[i], err) != 0)
			return -1;
		if (s->files[i].listed == NULL)
			other = &s->files[i];
	}
	for (size_t i = 0; i < s->list_count; i++)
		if (check_met(&s->lists[i], err) != 0)
			return -1;
	if (s->list_count == 0)
		return 0;
	if (other != NULL) {
		(void)error_set(err, ERROR_USAGE,
				"it is no part of an export, and other files "
				"of the source are");
		(void)error_hint(err,
				 "read one or the other; --parts any takes "
				 "files as they are");
		return file_entry_prefix(other, err);
	}
	return check_alike(s, err);
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
