/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static bool same(struct bk_slice a, struct bk_slice b)
{
	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static int open_field(struct bk_parser *p, struct bk_slice name)
{
	struct bk_section *grown;

	for (size_t i = 0; i < p->nsections; i++)
		if (same(p->sections[i].name, name))
			return bk_error(p->err, p->line,
					"[field %.*s] is repeated, it stands "
					"in line %u already",
					(int)name.len, name.data,
					p->sections[i].line);
	if (p->nsections == p->capacity) {
		p->capacity = p->capacity == 0 ? 8 : 2 * p->capacity;
		grown = realloc(p->sections, p->capacity * sizeof(*grown));
		if (grown == NULL)
			return BLOOMKEY_ENOMEM;
		p->sections = grown;
	}
	memset(&p->sections[p->nsections], 0, sizeof(*p->sections));
	p->sections[p->nsections].name = name;
	p->sections[p->nsections].line = p->line;
	p->nsections++;
	p->where = BK_IN_FIELD;
	return BLOOMKEY_OK;
}

static int take_line(struct bk_parser *p, const struct bk_line *line)
{
	p->line = line->number;
	if (line->kind == BK_LINE_FIELD)
		return open_field(p, line->name);
	if (line->kind == BK_LINE_KEYSPEC) {
		if (p->keyspec_line != 0)
			return bk_error(p->err, p->line,
					"[keyspec] is repeated, it stands in "
					"line %u already",
					p->keyspec_line);
		p->keyspec_line = p->line;
		p->where = BK_IN_KEYSPEC;
		return BLOOMKEY_OK;
	}
	return bk_option_set(p, line);
}

static int apply_section(struct bk_parser *p, struct bk_section *s)
{
	struct bloomkey_spec *spec = p->spec;
	size_t i = 0;

	while (i < spec->nfields && !bk_slice_is(s->name, spec->fields[i].name))
		i++;
	if (i == spec->nfields)
		return bk_error(p->err, s->line,
				"[field %.*s]: the key has no such field",
				(int)s->name.len, s->name.data);
	if (s->rules.null_is_empty && !s->rules.empty_allowed)
		return bk_error(p->err, s->lines[BK_FIELD_OPTION_NULL],
				"null: 'empty' needs 'empty = allow'");
	if (s->rules.keyed && s->secret.name == NULL)
		return bk_error(p->err, s->lines[BK_FIELD_OPTION_TRANSFORM],
				"transform: hmac-sha256 needs 'secret = ...'");
	if (!s->rules.keyed && s->secret.name != NULL)
		return bk_error(p->err, s->lines[BK_FIELD_OPTION_SECRET],
				"secret: only 'transform = hmac-sha256' has "
				"one");
	s->field = i;
	spec->fields[i].rules = s->rules;
	if (s->column != NULL)
		spec->fields[i].column = s->column;
	return BLOOMKEY_OK;
}

/* Secrets come last: whoever is asked for them is asked for a good keyspec. */
static int get_secrets(const struct bk_parser *p)
{
	int rc = BLOOMKEY_OK;

	for (size_t i = 0; rc == BLOOMKEY_OK && i < p->nsections; i++) {
		const struct bk_section *s = &p->sections[i];

		if (s->rules.keyed)
			rc = bk_secret_get(p, s, &p->spec->fields[s->field]);
	}
	return rc;
}

/* All lines are read: what needs more than one of them. */
static int finish(struct bk_parser *p)
{
	struct bloomkey_spec *spec = p->spec;
	int rc = bk_options_complete(p);

	if (rc == BLOOMKEY_OK)
		rc = bk_key_compile(spec, p->lines[BK_OPTION_KEY], p->err);
	for (size_t i = 0; rc == BLOOMKEY_OK && i < p->nsections; i++)
		rc = apply_section(p, &p->sections[i]);
	if (rc != BLOOMKEY_OK)
		return rc;
	for (size_t i = 0; i < spec->nfields; i++)
		if (spec->fields[i].rules.encoding == BK_ENCODING_UNSET)
			spec->fields[i].rules.encoding = spec->encoding;
	rc = get_secrets(p);
	if (rc == BLOOMKEY_OK)
		rc = bk_fingerprint(spec);
	if (rc != BLOOMKEY_OK)
		return rc;
	return bk_filter_compile(spec, p->lines[BK_OPTION_FILTER], p->err);
}

static int parse_text(struct bk_parser *p, size_t len)
{
	struct bk_lines lines;
	struct bk_line line;
	int rc;

	bk_lines_init(&lines, p->spec->text, len, p->err);
	while ((rc = bk_lines_next(&lines, &line)) == BLOOMKEY_OK &&
	       line.kind != BK_LINE_END) {
		rc = take_line(p, &line);
		if (rc != BLOOMKEY_OK)
			return rc;
	}
	return rc == BLOOMKEY_OK ? finish(p) : rc;
}

int bloomkey_parse(const void *text, size_t len, bloomkey_secret *secret,
		   void *ctx, struct bloomkey_spec **out,
		   struct bloomkey_error *err)
{
	struct bk_parser p = {.err = err, .secret = secret, .secret_ctx = ctx};
	int rc = BLOOMKEY_ENOMEM;

	*out = NULL;
	if (len > BK_FILE_MAX)
		return bk_error(err, 0, "the file is longer than %d bytes",
				BK_FILE_MAX);
	p.spec = calloc(1, sizeof(*p.spec));
	if (p.spec != NULL)
		p.spec->text = malloc(len + 1);
	if (p.spec != NULL && p.spec->text != NULL) {
		p.spec->delimiter = ':';
		p.spec->encoding = BK_ENCODING_UTF8;
		if (len > 0)
			memcpy(p.spec->text, text, len);
		p.spec->text[len] = '\0';
		rc = parse_text(&p, len);
	}
	free(p.sections);
	if (rc == BLOOMKEY_OK) {
		*out = p.spec;
		return rc;
	}
	bloomkey_free(p.spec);
	if (rc == BLOOMKEY_ENOMEM)
		(void)bk_error(err, 0, "out of memory");
	return rc;
}
