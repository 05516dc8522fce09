/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/json.h"

#include <stdlib.h>
#include <string.h>

json_t *json_parse(const char *data, size_t len, struct error *err)
{
	json_error_t at;
	json_t *json = json_loadb(data, len, JSON_REJECT_DUPLICATES, &at);

	/* Out of memory leaves no text where it meets the parser's start. */
	if (json == NULL && (at.text[0] == '\0' ||
			     json_error_code(&at) == json_error_out_of_memory))
		(void)error_nomem(err);
	else if (json == NULL)
		(void)error_set(err, ERROR_DATA, "not JSON: line %d: %s",
				at.line, at.text);
	return json;
}

char *json_text(const json_t *json, int indent, size_t *len, struct error *err)
{
	size_t flags = indent > 0 ? JSON_INDENT((size_t)indent) : JSON_COMPACT;
	char *text = json_dumps(json, flags | JSON_PRESERVE_ORDER);
	char *whole;
	size_t n;

	if (text == NULL) {
		(void)error_nomem(err);
		return NULL;
	}
	n = strlen(text);
	whole = realloc(text, n + 2);
	if (whole == NULL) {
		free(text);
		(void)error_nomem(err);
		return NULL;
	}
	whole[n] = '\n';
	whole[n + 1] = '\0';
	*len = n + 1;
	return whole;
}

int json_get_text(const json_t *json, const char *name, const char **out,
		  struct error *err)
{
	*out = json_string_value(json_object_get(json, name));
	if (*out == NULL)
		return error_set(err, ERROR_DATA, "no text \"%s\"", name);
	return 0;
}

int json_get_u64(const json_t *json, const char *name, uint64_t *out,
		 struct error *err)
{
	const json_t *value = json_object_get(json, name);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return error_set(err, ERROR_DATA, "no number \"%s\"", name);
	*out = (uint64_t)json_integer_value(value);
	return 0;
}

int json_get_real(const json_t *json, const char *name, double *out,
		  struct error *err)
{
	const json_t *value = json_object_get(json, name);

	if (!json_is_number(value))
		return error_set(err, ERROR_DATA, "no number \"%s\"", name);
	*out = json_number_value(value);
	return 0;
}
