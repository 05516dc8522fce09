/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/rows/file.h"
#include "lib/rows/listed_private.h"
#include "lib/rows/quote.h"

static int no_list(const struct file_source *s, const struct file_entry *file,
		   bool named, bool unfinished, struct error *err)
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
			named ? "there is no list of its export"
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
	const char *name = listed_name(file->path);
	size_t number = strtoul(name + len + 1, NULL, 10);

	if (number < 1 || number > l->list.count ||
	    strcmp(l->list.parts[number - 1].name, name) != 0)
		return not_in_list(file, l, err);
	l->met[number - 1] = true;
	file->listed = &l->list.parts[number - 1];
	return 0;
}

/*
 * Whether there is a list, 1, 0 or -1.  Where there is none an export may be
 * about to end: the mark becomes the list.
 */
static int look_for(const char *path, const char *name, size_t len,
		    bool *unfinished, struct error *err)
{
	int there = listed_exists(path, name, len, EXPORTLIST_SUFFIX, err);
	int mark;

	*unfinished = false;
	if (there != 0)
		return there;
	mark = listed_exists(path, name, len, EXPORTLIST_MARK, err);
	*unfinished = mark > 0;
	return mark != 0
		       ? (mark > 0 ? 0 : -1)
		       : listed_exists(path, name, len, EXPORTLIST_SUFFIX, err);
}

static int find_of(struct file_source *s, struct file_entry *file,
		   struct error *err)
{
	const char *name = listed_name(file->path);
	size_t len = exportlist_base_len(name);
	bool unfinished = exportlist_aside_len(name) > 0;
	struct listed *l = NULL;
	char *list;
	int there;

	if (len == 0)
		return no_list(s, file, false, unfinished, err);
	there = look_for(file->path, name, len, &unfinished, err);
	if (there <= 0)
		return there < 0 ? -1 : no_list(s, file, true, unfinished, err);
	list = listed_beside(file->path, name, len, EXPORTLIST_SUFFIX);
	if (list != NULL)
		l = listed_find(s, list, err);
	else
		(void)error_nomem(err);
	free(list);
	return l != NULL ? join(file, l, len, err) : -1;
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
	for (size_t i = 0; i < s->list_count; i++)
		if (__builtin_add_overflow(s->base.lacking,
					   s->lists[i].list.rejects,
					   &s->base.lacking))
			s->base.lacking = UINT64_MAX;
	return check_alike(s, err);
}
