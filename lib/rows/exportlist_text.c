/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hex.h"
#include "lib/base/record.h"
#include "lib/rows/exportlist.h"
#include "lib/rows/origin.h"

/* Members of the text with the checksum, and of a part. */
#define MEMBERS      17
#define PART_MEMBERS 4

static int read_columns(const json_t *json, struct exportlist *out,
			struct error *err)
{
	const json_t *columns = json_object_get(json, "columns");
	size_t count = json_array_size(columns);

	if (json_is_null(columns))
		return 0;
	if (!json_is_array(columns) || count == 0)
		return record_wrong("columns", err);
	out->columns = calloc(count, sizeof(char *));
	if (out->columns == NULL)
		return error_nomem(err);
	out->column_count = count;
	for (size_t i = 0; i < count; i++) {
		const char *name =
			json_string_value(json_array_get(columns, i));

		if (name == NULL)
			return record_wrong("columns", err);
		out->columns[i] = strdup(name);
		if (out->columns[i] == NULL)
			return error_nomem(err);
	}
	return 0;
}

/* A short text of 1 to size - 1 bytes, or null for "". */
static int read_short(const json_t *json, const char *name, char *out,
		      size_t size, struct error *err)
{
	const json_t *value = json_object_get(json, name);
	size_t len = json_string_length(value);

	if (json_is_null(value))
		return 0;
	if (!json_is_string(value) || len == 0 || len >= size)
		return record_wrong(name, err);
	memcpy(out, json_string_value(value), len + 1);
	return 0;
}

static int read_origin(const json_t *json, struct exportlist *out,
		       struct error *err)
{
	const json_t *value = json_object_get(json, "origin");
	struct origin origin;
	size_t len;

	if (json_is_null(value))
		return 0;
	if (origin_read(value, &origin, err) != 0)
		return -1;
	origin_release(&origin);
	out->origin = json_text(value, 0, &len, err);
	return out->origin != NULL ? 0 : -1;
}

static int read_part(const json_t *json, struct exportpart *out,
		     struct error *err)
{
	unsigned char sum[8];
	const char *name;
	const char *xxh64;

	if (!json_is_object(json) || json_object_size(json) != PART_MEMBERS)
		return record_wrong("parts", err);
	if (json_get_text(json, "name", &name, err) != 0 ||
	    json_get_u64(json, "rows", &out->rows, err) != 0 ||
	    json_get_u64(json, "bytes", &out->bytes, err) != 0 ||
	    json_get_text(json, "xxh64", &xxh64, err) != 0)
		return -1;
	if (strlen(xxh64) != 16 || hex_bytes(xxh64, sum, sizeof(sum)) != 0)
		return record_wrong("xxh64", err);
	for (size_t i = 0; i < sizeof(sum); i++)
		out->xxh64 = out->xxh64 << 8 | sum[i];
	/* It is opened in the folder of the list, and nowhere else. */
	if (exportlist_base_len(name) == 0 || strchr(name, '/') != NULL)
		return record_wrong("name", err);
	out->name = strdup(name);
	return out->name != NULL ? 0 : error_nomem(err);
}

/* Names are those of one base, in order, none left out. */
static int check_names(const struct exportlist *list, struct error *err)
{
	const char *first = list->parts[0].name;
	size_t len = first != NULL ? exportlist_base_len(first) : 0;
	char *base = first != NULL ? strndup(first, len) : NULL;
	size_t size = len + 64;
	char *name = malloc(size);
	int rc = base == NULL || name == NULL ? error_nomem(err) : 0;

	for (size_t i = 0; rc == 0 && i < list->count; i++) {
		rc = exportlist_part_name(list, base, i + 1, name, size, err);
		if (rc == 0 && strcmp(name, list->parts[i].name) != 0)
			rc = record_wrong("name", err);
	}
	free(base);
	free(name);
	return rc;
}

static int read_parts(const json_t *json, struct exportlist *out,
		      struct error *err)
{
	const json_t *parts = json_object_get(json, "parts");
	size_t count = json_array_size(parts);
	uint64_t bytes = 0;
	uint64_t rows = 0;

	if (!json_is_array(parts) || count < 1 || count > EXPORTLIST_PARTS_MAX)
		return record_wrong("parts", err);
	out->parts = calloc(count, sizeof(*out->parts));
	if (out->parts == NULL)
		return error_nomem(err);
	out->count = count;
	for (size_t i = 0; i < count; i++) {
		struct exportpart *part = &out->parts[i];

		if (read_part(json_array_get(parts, i), part, err) != 0)
			return -1;
		if (__builtin_add_overflow(rows, part->rows, &rows) ||
		    __builtin_add_overflow(bytes, part->bytes, &bytes))
			return record_wrong("parts", err);
	}
	if (check_names(out, err) != 0 ||
	    json_get_u64(json, "rows", &out->rows, err) != 0)
		return -1;
	if (rows != out->rows)
		return record_wrong("rows", err);
	if (json_get_u64(json, "bytes", &rows, err) != 0)
		return -1;
	return rows == bytes ? 0 : record_wrong("bytes", err);
}

static int read_kinds(const json_t *json, struct exportlist *out,
		      struct error *err)
{
	const json_t *header = json_object_get(json, "header");
	const char *kind, *packed;
	unsigned i = 0;

	if (json_get_text(json, "kind", &kind, err) != 0 ||
	    json_get_text(json, "packed", &packed, err) != 0)
		return -1;
	while (i < EXPORTLIST_KINDS &&
	       strcmp(exportlist_kind_name((enum exportlist_kind)i), kind) != 0)
		i++;
	out->kind = (enum exportlist_kind)i;
	out->packed = pack_by_name(packed);
	out->header = json_is_true(header);
	if (i == EXPORTLIST_KINDS || out->packed == PACK_KINDS)
		return record_wrong(i == EXPORTLIST_KINDS ? "kind" : "packed",
				    err);
	return json_is_boolean(header) ? 0 : record_wrong("header", err);
}

/* What holds between members. */
static int check_values(const struct exportlist *list, struct error *err)
{
	bool keys = list->kind == EXPORTLIST_KEYS;

	if (keys != (list->set[0] != '\0'))
		return record_wrong("set", err);
	if (strlen(list->fingerprint) != (keys ? 64 : 0) ||
	    strspn(list->fingerprint, "0123456789abcdef") !=
		    strlen(list->fingerprint))
		return record_wrong("fingerprint", err);
	if ((!list->header && list->columns == NULL) ||
	    (keys && (list->header || list->column_count != 1 ||
		      strcmp(list->columns[0], EXPORTLIST_KEY) != 0)))
		return record_wrong("columns", err);
	if (list->started == 0 || list->ended == 0)
		return record_wrong(list->started == 0 ? "started" : "ended",
				    err);
	return 0;
}

static int decode(const json_t *json, struct exportlist *out, struct error *err)
{
	uint64_t format;

	if (json_get_u64(json, "format", &format, err) != 0)
		return -1;
	if (format != EXPORTLIST_FORMAT)
		return error_set(err, ERROR_DATA,
				 "format %" PRIu64
				 ": this bloomctl reads format %d",
				 format, EXPORTLIST_FORMAT);
	if (json_object_size(json) != MEMBERS)
		return error_set(err, ERROR_DATA,
				 "members that this bloomctl does not know, or "
				 "fewer than there must be");
	if (read_kinds(json, out, err) != 0 ||
	    read_columns(json, out, err) != 0 ||
	    read_short(json, "set", out->set, sizeof(out->set), err) != 0 ||
	    read_short(json, "fingerprint", out->fingerprint,
		       sizeof(out->fingerprint), err) != 0 ||
	    json_get_u64(json, "rejects", &out->rejects, err) != 0 ||
	    record_get_time(json, "started", &out->started, err) != 0 ||
	    record_get_time(json, "ended", &out->ended, err) != 0 ||
	    record_get_bytes(json, "source", &out->source, err) != 0 ||
	    read_origin(json, out, err) != 0 ||
	    horizon_read(json_object_get(json, "horizon"), &out->horizon,
			 err) != 0 ||
	    read_parts(json, out, err) != 0)
		return -1;
	return check_values(out, err);
}

int exportlist_decode(const char *text, size_t len, struct exportlist *out,
		      struct error *err)
{
	json_t *json;
	int rc;

	memset(out, 0, sizeof(*out));
	if (record_check(text, len, EXPORTLIST_MAX, "export list", err) != 0)
		return -1;
	json = json_parse(text, len, err);
	if (json == NULL)
		return -1;
	rc = decode(json, out, err);
	json_decref(json);
	if (rc != 0)
		exportlist_release(out);
	return rc;
}
