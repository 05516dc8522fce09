/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/show.h"
#include "lib/base/sum.h"

/* The longest text of a member, escaped. */
#define SHOWN_MAX (4u << 20)

int record_end(struct buf *members)
{
	return buf_addf(members, RECORD_TAIL,
			sum_xxh64(members->data, members->len));
}

int record_check(const char *text, size_t len, size_t max, const char *kind,
		 struct error *err)
{
	char tail[RECORD_TAIL_LEN + 1];
	size_t body;

	if (len <= RECORD_TAIL_LEN || memcmp(text + len - 4, "\"\n}\n", 4) != 0)
		return error_set(err, ERROR_DATA,
				 "cut off at %zu bytes, or no %s", len, kind);
	if (len > max)
		return error_set(err, ERROR_DATA, "longer than %zu bytes", max);
	body = len - RECORD_TAIL_LEN;
	(void)snprintf(tail, sizeof(tail), RECORD_TAIL, sum_xxh64(text, body));
	if (memcmp(text + body, tail, RECORD_TAIL_LEN) != 0)
		return error_set(err, ERROR_DATA,
				 "damaged: its checksum does not match");
	return 0;
}

json_t *record_time(int64_t ms)
{
	char text[CLOCK_TEXT_MAX];

	return ms != 0 ? json_string(clock_text(ms, text)) : json_null();
}

json_t *record_bytes(const char *text)
{
	struct buf shown;
	json_t *json;

	if (text == NULL)
		return json_null();
	json = json_string(text);
	if (json != NULL)
		return json;
	buf_init(&shown, SHOWN_MAX);
	if (show_copy(&shown, text, strlen(text)) == 0 &&
	    buf_string(&shown) != NULL)
		json = json_string(shown.data);
	buf_release(&shown);
	return json;
}

int record_get_time(const json_t *json, const char *name, int64_t *out,
		    struct error *err)
{
	char text[CLOCK_TEXT_MAX];
	const char *value;

	*out = 0;
	if (json_is_null(json_object_get(json, name)))
		return 0;
	if (json_get_text(json, name, &value, err) != 0)
		return -1;
	/* What reads as another time, as the 31st of April, is none. */
	if (clock_parse(value, out) != 0 || *out <= 0 ||
	    strcmp(clock_text(*out, text), value) != 0)
		return record_wrong(name, err);
	return 0;
}

int record_get_bytes(const json_t *json, const char *name, char **out,
		     struct error *err)
{
	const char *text;

	*out = NULL;
	if (json_is_null(json_object_get(json, name)))
		return 0;
	if (json_get_text(json, name, &text, err) != 0)
		return -1;
	*out = strdup(text);
	return *out != NULL ? 0 : error_nomem(err);
}

int record_wrong(const char *name, struct error *err)
{
	return error_set(err, ERROR_DATA,
			 "\"%s\" is missing or not as it must be", name);
}
