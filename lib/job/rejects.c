/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/rejects.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/show.h"
#include "lib/rows/exportlist.h"

/* How each list begins. */
#define HEADER "source\trow\tfield\treason"

/* Written when so much is there; a line is at most a row longer. */
#define LIST_PART 65536u
#define LIST_MAX  (LIST_PART + 5 * (size_t)ROWPARSE_ROW_MAX)

static const struct {
	int code;
	const char *name;
} reasons[REJECTS_REASONS] = {
#define BLOOMKEY_REJECT_ROW(name, code, text) [REJECTS_##name] = {code, text},
#include "lib/bloomkey/reject.def"
#undef BLOOMKEY_REJECT_ROW
};

const char *rejects_reason_name(enum rejects_reason reason)
{
	return reasons[reason].name;
}

int rejects_error(const struct bloomkey_spec *spec, int code, size_t field,
		  struct error *err)
{
	const char *reason = bloomkey_reason(code);

	if (reason == NULL)
		return error_set(err, ERROR_INTERNAL, "key function: result %d",
				 code);
	if (field < bloomkey_fields(spec))
		(void)error_set(err, ERROR_ROWS, "field '%s': no key: %s",
				bloomkey_field_name(spec, field), reason);
	else
		(void)error_set(err, ERROR_ROWS, "whole key: no key: %s",
				reason);
	return error_hint(err, "mend or leave out the row, or let the keyspec "
			       "allow it; see REJECTS in bloomctl(1)");
}

static int prefix(const struct rejects *r, struct error *err)
{
	return error_prefix(err, "rejects file '%.200s'", r->path);
}

static int write_list(struct rejects *r, struct error *err)
{
	int rc = file_write_all(r->fd, r->list.data, r->list.len,
				"cannot write it", err);

	r->list.len = 0;
	return rc == 0 ? 0 : prefix(r, err);
}

/*
 * Whether a file is empty or a list, perhaps one that did not fit on the disk:
 * all else, such as the source, is kept.
 */
static bool replaceable(int fd)
{
	char start[sizeof(HEADER) - 1];
	ssize_t got = pread(fd, start, sizeof(start), 0);

	return got >= 0 && memcmp(start, HEADER, (size_t)got) == 0;
}

static int open_list(struct rejects *r, struct error *err)
{
	/* O_NONBLOCK: a FIFO is no list, and nobody may be at its end. */
	int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat st;

	r->fd = open(r->path, flags, 0600);
	if (r->fd < 0 && errno != ENXIO)
		error_errno(err, error_code_of_errno(errno), errno,
			    "cannot open it");
	else if (r->fd >= 0 && fstat(r->fd, &st) != 0)
		error_errno(err, error_code_of_errno(errno), errno,
			    "cannot look at it");
	else if (r->fd < 0 || !S_ISREG(st.st_mode))
		error_set(err, ERROR_DATA, "not a regular file");
	else if (!replaceable(r->fd)) {
		error_set(err, ERROR_DATA,
			  "it is there and no list of rejects");
		error_hint(err, "it was left as it is; name another file, or "
				"remove it");
	}
	/* One that was there may have been for others to read. */
	else if (fchmod(r->fd, 0600) != 0 || ftruncate(r->fd, 0) != 0)
		error_errno(err, error_code_of_errno(errno), errno,
			    "cannot begin it");
	else
		return 0;
	return prefix(r, err);
}

/* How many values a row has. */
static size_t value_count(const struct rejects *r)
{
	return r->keys ? 1 : bloomkey_fields(r->spec);
}

/* The header; with the values, a column for each that the keyspec reads. */
static int add_header(struct rejects *r)
{
	int bad = buf_adds(&r->list, HEADER);

	for (size_t i = 0; r->raw && i < value_count(r); i++) {
		const char *name = r->keys ? EXPORTLIST_KEY
					   : bloomkey_field_column(r->spec, i);

		bad |= buf_adds(&r->list, "\t") |
		       show_copy(&r->list, name, strlen(name));
	}
	return bad | buf_adds(&r->list, "\n");
}

int rejects_begin(struct rejects *r, const struct bloomkey_spec *spec,
		  struct error *err)
{
	memset(&r->count, 0, sizeof(r->count));
	r->spec = spec;
	r->fd = -1;
	(void)pthread_mutex_init(&r->mutex, NULL);
	buf_init(&r->list, LIST_MAX);
	if (r->path == NULL)
		return 0;
	if (open_list(r, err) != 0)
		return -1;
	if (add_header(r) == 0)
		return write_list(r, err);
	buf_release(&r->list);
	return error_nomem(err);
}

static int add_values(struct rejects *r, const struct row *row)
{
	int bad = 0;

	for (size_t i = 0; i < value_count(r); i++) {
		bad |= buf_adds(&r->list, "\t");
		bad |= row->values[i] == NULL
			       ? buf_adds(&r->list, "\\N")
			       : show_copy(&r->list, row->values[i],
					   row->lens[i]);
	}
	return bad;
}

static int add_line(struct rejects *r, const char *part, const struct row *row,
		    const char *reason, size_t field, struct error *err)
{
	const char *name = field < bloomkey_fields(r->spec)
				   ? bloomkey_field_name(r->spec, field)
				   : "\\N";
	size_t before = r->list.len;
	int bad = show_copy(&r->list, part, strlen(part));

	bad |= buf_addf(&r->list, "\t%" PRIu64 "\t%s\t%s", row->number, name,
			reason);
	if (r->raw)
		bad |= add_values(r, row);
	bad |= buf_adds(&r->list, "\n");
	if (bad != 0) {
		r->list.len = before;
		return error_nomem(err);
	}
	return r->list.len < LIST_PART ? 0 : write_list(r, err);
}

static int too_many(const struct rejects *r, int code, size_t field,
		    const struct row *row, struct error *err)
{
	(void)rejects_error(r->spec, code, field, err);
	(void)error_prefix(err, "row %" PRIu64, row->number);
	if (r->max == 0)
		return -1;
	return error_hint(err,
			  "%" PRIu64 " row%s without a key %s passed over "
			  "before it, which is all that --max-rejects allows",
			  r->max, r->max == 1 ? "" : "s",
			  r->max == 1 ? "was" : "were");
}

int rejects_add(struct rejects *r, const char *part, const struct row *row,
		int code, size_t field, struct error *err)
{
	size_t reason = 0;
	int rc = 0;

	while (reason < REJECTS_REASONS && reasons[reason].code != code)
		reason++;
	if (reason == REJECTS_REASONS)
		return rejects_error(r->spec, code, field, err);
	(void)pthread_mutex_lock(&r->mutex);
	if (r->fd >= 0)
		rc = add_line(r, part, row, reasons[reason].name, field, err);
	if (rc == 0 && r->count.total >= r->max) {
		rc = too_many(r, code, field, row, err);
	} else if (rc == 0) {
		r->count.total++;
		r->count.reasons[reason]++;
	}
	(void)pthread_mutex_unlock(&r->mutex);
	return rc;
}

int rejects_end(struct rejects *r, struct error *err)
{
	int rc = 0;

	if (r->fd >= 0) {
		rc = write_list(r, err);
		if (close(r->fd) != 0 && rc == 0) {
			error_errno(err, error_code_of_errno(errno), errno,
				    "cannot write it");
			rc = prefix(r, err);
		}
	}
	r->fd = -1;
	buf_release(&r->list);
	(void)pthread_mutex_destroy(&r->mutex);
	return rc;
}
