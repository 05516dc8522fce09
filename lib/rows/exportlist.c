/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/exportlist.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/record.h"

/* Of a part's number, at least. */
#define DIGITS 5

static const char *const kinds[EXPORTLIST_KINDS] = {"csv", "text", "key"};

const char *exportlist_kind_name(enum exportlist_kind kind)
{
	return kinds[kind];
}

void exportlist_release(struct exportlist *list)
{
	for (size_t i = 0; list->columns != NULL && i < list->column_count; i++)
		free(list->columns[i]);
	for (size_t i = 0; list->parts != NULL && i < list->count; i++)
		free(list->parts[i].name);
	free(list->columns);
	free(list->parts);
	free(list->source);
	free(list->origin);
	memset(list, 0, sizeof(*list));
}

int exportlist_part_name(const struct exportlist *list, const char *base,
			 size_t number, char *out, size_t size,
			 struct error *err)
{
	int n = snprintf(out, size, "%s.%0*zu.%s%s", base, DIGITS, number,
			 kinds[list->kind], pack_suffix(list->packed));

	if (n > 0 && (size_t)n < size)
		return 0;
	return error_set(err, ERROR_USAGE, "the name '%.100s...' is too long",
			 base);
}

/* Cuts a suffix off name's first *len bytes, if it is there. */
static bool cut(const char *name, size_t *len, const char *suffix)
{
	size_t n = strlen(suffix);

	if (n > *len || memcmp(name + *len - n, suffix, n) != 0)
		return false;
	*len -= n;
	return true;
}

/* How long the base is in the first len bytes of a name, or 0. */
static size_t base_len(const char *name, size_t len)
{
	bool is = false;

	(void)(cut(name, &len, ".gz") || cut(name, &len, ".zst"));
	is = cut(name, &len, ".csv") || cut(name, &len, ".text") ||
	     cut(name, &len, ".key");
	if (!is || len < DIGITS + 2)
		return 0;
	for (size_t i = len - DIGITS; i < len; i++)
		is = is && name[i] >= '0' && name[i] <= '9';
	len -= DIGITS + 1;
	return is && name[len] == '.' ? len : 0;
}

size_t exportlist_base_len(const char *name)
{
	return base_len(name, strlen(name));
}

size_t exportlist_aside_len(const char *name)
{
	size_t len = strlen(name);

	return cut(name, &len, EXPORTLIST_ASIDE) ? base_len(name, len) : 0;
}

int exportlist_check_base(const struct exportlist *list, const char *base,
			  size_t len, struct error *err)
{
	const char *name = list->parts[0].name;
	size_t own = exportlist_base_len(name);

	if (own == len && memcmp(name, base, len) == 0)
		return 0;
	(void)error_set(
		err, ERROR_DATA,
		"it is the list of an export to '%.*s', and has another "
		"name",
		(int)(own < 200 ? own : 200), name);
	return error_hint(err, "lists and parts keep their names; export again "
			       "for others");
}

static json_t *encode_number(uint64_t n)
{
	return n <= INT64_MAX ? json_integer((json_int_t)n) : NULL;
}

static json_t *encode_columns(const struct exportlist *list)
{
	json_t *json;

	if (list->columns == NULL)
		return json_null();
	json = json_array();
	for (size_t i = 0; i < list->column_count; i++) {
		if (json_array_append_new(json,
					  json_string(list->columns[i])) == 0)
			continue;
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *encode_parts(const struct exportlist *list)
{
	json_t *json = json_array();
	char sum[17];

	for (size_t i = 0; i < list->count; i++) {
		const struct exportpart *part = &list->parts[i];

		(void)snprintf(sum, sizeof(sum), "%016" PRIx64, part->xxh64);
		if (json_array_append_new(
			    json, json_pack("{s:s, s:o, s:o, s:s}", "name",
					    part->name, "rows",
					    encode_number(part->rows), "bytes",
					    encode_number(part->bytes), "xxh64",
					    sum)) == 0)
			continue;
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *or_null(const char *text)
{
	return text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *encode_origin(const struct exportlist *list, struct error *err)
{
	return list->origin != NULL
		       ? json_parse(list->origin, strlen(list->origin), err)
		       : json_null();
}

static uint64_t all_bytes(const struct exportlist *list)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < list->count; i++)
		bytes += list->parts[i].bytes;
	return bytes;
}

static json_t *encode(const struct exportlist *list, struct error *err)
{
	json_t *json = json_object();
	int bad = json == NULL;

#define PUT(name, value) (bad |= json_object_set_new(json, name, value))
	PUT("format", json_integer(EXPORTLIST_FORMAT));
	PUT("kind", json_string(kinds[list->kind]));
	PUT("packed", json_string(pack_name(list->packed)));
	PUT("header", json_boolean(list->header));
	PUT("columns", encode_columns(list));
	PUT("set", or_null(list->set));
	PUT("fingerprint", or_null(list->fingerprint));
	PUT("rows", encode_number(list->rows));
	PUT("bytes", encode_number(all_bytes(list)));
	PUT("rejects", encode_number(list->rejects));
	PUT("started", record_time(list->started));
	PUT("ended", record_time(list->ended));
	PUT("source", record_bytes(list->source));
	PUT("origin", encode_origin(list, err));
	PUT("horizon", horizon_json(&list->horizon));
	PUT("parts", encode_parts(list));
#undef PUT
	if (bad == 0)
		return json;
	json_decref(json);
	return NULL;
}

char *exportlist_encode(const struct exportlist *list, size_t *len,
			struct error *err)
{
	static const char end[] = "\n}\n";
	json_t *json = encode(list, err);
	struct buf out;
	size_t used;
	char *text;

	if (json == NULL) {
		(void)error_set(err, ERROR_INTERNAL,
				"export list: out of memory, or no legal list");
		return NULL;
	}
	text = json_text(json, 2, &used, err);
	json_decref(json);
	if (text == NULL)
		return NULL;
	buf_init(&out, EXPORTLIST_MAX);
	if (buf_add(&out, text, used - strlen(end)) != 0 ||
	    record_end(&out) != 0 || buf_string(&out) == NULL) {
		(void)error_set(err, ERROR_INTERNAL,
				"export list: out of memory, or too long");
		buf_release(&out);
	}
	free(text);
	*len = out.len;
	return out.data;
}
