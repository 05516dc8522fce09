/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "internal.h"

void bk_lines_init(struct bk_lines *lines, char *text, size_t len,
		   struct bloomkey_error *err)
{
	lines->at = text;
	lines->end = text + len;
	lines->number = 0;
	lines->err = err;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		lines->at += 3;
}

static int check_bytes(const struct bk_lines *lines, struct bk_slice s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.data[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return bk_error(lines->err, lines->number,
					"control byte 0x%02x in the line", c);
	}
	if (!bk_utf8_valid(s.data, s.len))
		return bk_error(lines->err, lines->number,
				"the line is not UTF-8");
	return BLOOMKEY_OK;
}

/* Cuts the next line off, without its end; there is one. */
static int cut(struct bk_lines *lines, struct bk_slice *s)
{
	size_t left = (size_t)(lines->end - lines->at);
	char *lf = memchr(lines->at, '\n', left);

	s->data = lines->at;
	s->len = lf != NULL ? (size_t)(lf - lines->at) : left;
	lines->at = lf != NULL ? lf + 1 : lines->end;
	lines->number++;
	if (lf != NULL && s->len > 0 && s->data[s->len - 1] == '\r')
		s->len--;
	return check_bytes(lines, *s);
}

static int section(const struct bk_lines *lines, struct bk_slice s,
		   struct bk_line *line)
{
	struct bk_slice inner = {s.data + 1, s.len - 1};
	struct bk_slice name;

	if (inner.len == 0 || inner.data[inner.len - 1] != ']')
		return bk_error(lines->err, lines->number,
				"the section does not end with ']'");
	inner.len--;
	inner = bk_slice_trim(inner);
	if (bk_slice_is(inner, "keyspec")) {
		line->kind = BK_LINE_KEYSPEC;
		return BLOOMKEY_OK;
	}
	name = inner;
	if (!bk_slice_take(&name, "field") ||
	    (name.len > 0 && !bk_blank(name.data[0])))
		return bk_error(lines->err, lines->number,
				"unknown section '[%s]'",
				bk_escape(inner).text);
	name = bk_slice_trim(name);
	if (!bk_name_valid(name))
		return bk_error(
			lines->err, lines->number,
			"'%s' is not a field's name: 1 to 64 of A-Za-z0-9_.-",
			bk_escape(name).text);
	line->kind = BK_LINE_FIELD;
	line->name = name;
	return BLOOMKEY_OK;
}

/* raw begins with a quote; what it says is moved to its start. */
static int unquote(const struct bk_lines *lines, struct bk_slice raw, char *to,
		   size_t *len)
{
	size_t used = 0, i = 1;

	for (; i < raw.len && raw.data[i] != '"'; i++) {
		if (raw.data[i] == '\\') {
			i++;
			if (i == raw.len ||
			    (raw.data[i] != '"' && raw.data[i] != '\\'))
				return bk_error(lines->err, lines->number,
						"a backslash in quotes stands "
						"only before '\"' or '\\'");
		}
		to[used++] = raw.data[i];
	}
	if (i == raw.len)
		return bk_error(lines->err, lines->number,
				"the value's closing quote is missing");
	if (i + 1 != raw.len)
		return bk_error(lines->err, lines->number,
				"text after the value's closing quote");
	*len = used;
	return BLOOMKEY_OK;
}

static int check_comment(const struct bk_lines *lines, struct bk_slice value)
{
	for (size_t i = 1; i < value.len; i++)
		if (bk_blank(value.data[i - 1]) &&
		    (value.data[i] == '#' || value.data[i] == ';'))
			return bk_error(lines->err, lines->number,
					"no comment can follow a value (quote "
					"the value if it is none)");
	return BLOOMKEY_OK;
}

static int assignment(const struct bk_lines *lines, struct bk_slice s,
		      char *line_start, struct bk_line *line)
{
	const char *equals = memchr(s.data, '=', s.len);
	struct bk_slice raw;
	char *to;
	size_t len;
	int rc;

	if (equals == NULL)
		return bk_error(lines->err, lines->number,
				"neither a section nor 'name = value': '%s'",
				bk_escape(s).text);
	line->name.data = s.data;
	line->name.len = (size_t)(equals - s.data);
	line->name = bk_slice_trim(line->name);
	if (line->name.len == 0)
		return bk_error(lines->err, lines->number,
				"no name stands before '='");
	raw.data = equals + 1;
	raw.len = s.len - (size_t)(raw.data - s.data);
	raw = bk_slice_trim(raw);
	to = line_start + (raw.data - line_start);
	len = raw.len;
	rc = len > 0 && raw.data[0] == '"' ? unquote(lines, raw, to, &len)
					   : check_comment(lines, raw);
	if (rc != BLOOMKEY_OK)
		return rc;
	if (len == 0)
		return bk_error(lines->err, lines->number,
				"'%s' has an empty value",
				bk_escape(line->name).text);
	to[len] = '\0';
	line->value.data = to;
	line->value.len = len;
	line->kind = BK_LINE_VALUE;
	return BLOOMKEY_OK;
}

int bk_lines_next(struct bk_lines *lines, struct bk_line *line)
{
	struct bk_slice s;
	char *start;

	while (lines->at < lines->end) {
		int rc;

		start = lines->at;
		rc = cut(lines, &s);
		if (rc != BLOOMKEY_OK)
			return rc;
		line->number = lines->number;
		s = bk_slice_trim(s);
		if (s.len == 0 || s.data[0] == '#' || s.data[0] == ';')
			continue;
		if (s.data[0] == '[')
			return section(lines, s, line);
		return assignment(lines, s, start, line);
	}
	line->kind = BK_LINE_END;
	return BLOOMKEY_OK;
}
