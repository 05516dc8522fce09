/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/origin.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/record.h"
#include "lib/rows/source.h"

/* The members that are texts of a fixed size. */
static const struct {
	const char *name;
	size_t offset;
	size_t size;
} texts[] = {
#define TEXT(name)                                            \
	{                                                     \
#name, offsetof(struct origin, name),         \
			sizeof(((struct origin *)NULL)->name) \
	}
	TEXT(software), TEXT(place),    TEXT(database), TEXT(encoding),
	TEXT(lsn),      TEXT(timeline), TEXT(system),   TEXT(snapshot),
#undef TEXT
};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

void origin_init(struct origin *origin)
{
	memset(origin, 0, sizeof(*origin));
	origin->lag_ms = -1;
}

void origin_release(struct origin *origin)
{
	free(origin->query);
	origin_init(origin);
}

static json_t *or_null(const char *text)
{
	return text != NULL && text[0] != '\0' ? json_string(text)
					       : json_null();
}

json_t *origin_json(const struct origin *origin)
{
	json_t *json = json_object();
	int bad = json == NULL;

	for (size_t i = 0; i < TEXTS; i++)
		bad |= json_object_set_new(
			json, texts[i].name,
			or_null((const char *)origin + texts[i].offset));
	bad |= json_object_set_new(json, "standby",
				   json_boolean(origin->standby));
	bad |= json_object_set_new(json, "lag_ms",
				   origin->lag_ms >= 0
					   ? json_integer(origin->lag_ms)
					   : json_null());
	bad |= json_object_set_new(json, "taken", record_time(origin->taken));
	bad |= json_object_set_new(json, "again", json_boolean(origin->again));
	bad |= json_object_set_new(json, "query", or_null(origin->query));
	if (bad == 0)
		return json;
	json_decref(json);
	return NULL;
}

int origin_text(const struct source *source, char **out, struct error *err)
{
	struct origin origin;
	json_t *json;
	size_t len;
	int rc;

	*out = NULL;
	if (source->ops->origin == NULL)
		return 0;
	rc = source->ops->origin(source, &origin, err);
	if (rc != 0)
		return rc > 0 ? 0 : -1;
	json = origin_json(&origin);
	origin_release(&origin);
	if (json == NULL)
		return error_nomem(err);
	*out = json_text(json, 0, &len, err);
	json_decref(json);
	return *out != NULL ? 0 : -1;
}

static int read_texts(const json_t *json, struct origin *origin,
		      struct error *err)
{
	for (size_t i = 0; i < TEXTS; i++) {
		const json_t *value = json_object_get(json, texts[i].name);
		size_t len = json_string_length(value);

		if (json_is_null(value))
			continue;
		if (!json_is_string(value) || len == 0 || len >= texts[i].size)
			return record_wrong(texts[i].name, err);
		memcpy((char *)origin + texts[i].offset,
		       json_string_value(value), len + 1);
	}
	return 0;
}

static int read_flag(const json_t *json, const char *name, bool *out,
		     struct error *err)
{
	const json_t *value = json_object_get(json, name);

	*out = json_is_true(value);
	return json_is_boolean(value) ? 0 : record_wrong(name, err);
}

static int read_times(const json_t *json, struct origin *origin,
		      struct error *err)
{
	const json_t *lag = json_object_get(json, "lag_ms");

	if (json_is_integer(lag) && json_integer_value(lag) >= 0)
		origin->lag_ms = json_integer_value(lag);
	else if (!json_is_null(lag))
		return record_wrong("lag_ms", err);
	return record_get_time(json, "taken", &origin->taken, err);
}

int origin_read(const json_t *json, struct origin *origin, struct error *err)
{
	origin_init(origin);
	if (!json_is_object(json))
		return error_set(err, ERROR_DATA, "an origin is no object");
	if (json_object_size(json) != TEXTS + 5)
		return error_set(err, ERROR_DATA,
				 "an origin with members that this bloomctl "
				 "does not know, or without some that it must "
				 "have");
	if (read_texts(json, origin, err) == 0 &&
	    read_flag(json, "standby", &origin->standby, err) == 0 &&
	    read_flag(json, "again", &origin->again, err) == 0 &&
	    read_times(json, origin, err) == 0 &&
	    record_get_bytes(json, "query", &origin->query, err) == 0)
		return 0;
	origin_release(origin);
	return -1;
}
