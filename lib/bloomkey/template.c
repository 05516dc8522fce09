/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

bool bk_name_valid(struct bk_slice name)
{
	if (name.len == 0 || name.len > BK_NAME_MAX)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];

		/* Not isalnum(): it asks the locale. */
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9') || c == '_' || c == '.' ||
		      c == '-'))
			return false;
	}
	return true;
}

static bool is_brace(char c)
{
	return c == '{' || c == '}';
}

static int lone_brace(const struct bk_template *t)
{
	return bk_error(t->err, t->line,
			"%s: lone '%c' (a brace is written '%c%c')", t->what,
			*t->at, *t->at, *t->at);
}

int bk_template_next(struct bk_template *t, struct bk_token *token)
{
	const char *p = t->at;
	size_t left = (size_t)(t->end - p);

	token->text.data = p;
	if (left == 0) {
		token->kind = BK_TOKEN_END;
		token->text.len = 0;
		return BLOOMKEY_OK;
	}
	token->kind = BK_TOKEN_LITERAL;
	if (!is_brace(*p)) {
		while (p < t->end && !is_brace(*p))
			p++;
		token->text.len = (size_t)(p - t->at);
		t->at = p;
		return BLOOMKEY_OK;
	}
	if (left >= 2 && p[1] == *p) {
		token->text.len = 1;
		t->at += 2;
		return BLOOMKEY_OK;
	}
	p = *p == '{' ? memchr(p, '}', left) : NULL;
	if (p == NULL)
		return lone_brace(t);
	token->kind = BK_TOKEN_NAME;
	token->text.data = t->at + 1;
	token->text.len = (size_t)(p - token->text.data);
	if (memchr(token->text.data, '{', token->text.len) != NULL)
		return lone_brace(t);
	if (!bk_name_valid(token->text))
		return bk_error(
			t->err, t->line,
			"%s: '{%s}' holds no name: 1 to 64 of A-Za-z0-9_.-",
			t->what, bk_escape(token->text).text);
	t->at = p + 1;
	return BLOOMKEY_OK;
}

static void start(struct bk_template *t, const struct bloomkey_spec *spec,
		  unsigned line, struct bloomkey_error *err)
{
	t->at = spec->key.data;
	t->end = spec->key.data + spec->key.len;
	t->what = "key";
	t->line = line;
	t->err = err;
}

static int count_fields(const struct bloomkey_spec *spec, unsigned line,
			size_t *count, struct bloomkey_error *err)
{
	struct bk_template t;
	struct bk_token token;
	int rc;

	start(&t, spec, line, err);
	*count = 0;
	while ((rc = bk_template_next(&t, &token)) == BLOOMKEY_OK &&
	       token.kind != BK_TOKEN_END)
		*count += token.kind == BK_TOKEN_NAME;
	if (rc == BLOOMKEY_OK && *count == 0) {
		(void)bk_error(err, line, "key: names no field");
		return BLOOMKEY_EINVAL; /* spelt out for the analyzers */
	}
	return rc;
}

/* Adds the field after the literal text that has been gathered in front. */
static int add_field(struct bloomkey_spec *spec, struct bk_slice name,
		     struct bk_slice literal, const struct bk_template *t)
{
	struct bk_field *f = &spec->fields[spec->nfields];

	memcpy(f->name, name.data, name.len);
	f->name[name.len] = '\0';
	f->column = f->name;
	f->literal = literal;
	for (size_t i = 0; i < spec->nfields; i++)
		if (strcmp(spec->fields[i].name, f->name) == 0)
			return bk_error(t->err, t->line,
					"key: '{%s}' stands there twice",
					f->name);
	if (spec->nfields > 0 &&
	    (literal.len == 0 ||
	     memchr(literal.data, spec->delimiter, literal.len) == NULL))
		return bk_error(t->err, t->line,
				"key: no delimiter '%c' between '{%s}' and "
				"'{%s}'",
				spec->delimiter, f[-1].name, f->name);
	spec->nfields++;
	return BLOOMKEY_OK;
}

int bk_key_compile(struct bloomkey_spec *spec, unsigned line,
		   struct bloomkey_error *err)
{
	struct bk_template t;
	struct bk_token token;
	struct bk_slice literal;
	size_t count, used = 0;
	int rc = count_fields(spec, line, &count, err);

	if (rc != BLOOMKEY_OK)
		return rc;
	spec->fields = calloc(count, sizeof(*spec->fields));
	spec->literals = malloc(spec->key.len);
	if (spec->fields == NULL || spec->literals == NULL)
		return BLOOMKEY_ENOMEM;
	start(&t, spec, line, err);
	literal.data = spec->literals;
	literal.len = 0;
	while ((rc = bk_template_next(&t, &token)) == BLOOMKEY_OK &&
	       token.kind != BK_TOKEN_END) {
		if (token.kind == BK_TOKEN_LITERAL) {
			memcpy(spec->literals + used, token.text.data,
			       token.text.len);
			used += token.text.len;
			literal.len += token.text.len;
			continue;
		}
		rc = add_field(spec, token.text, literal, &t);
		if (rc != BLOOMKEY_OK)
			return rc;
		literal.data = spec->literals + used;
		literal.len = 0;
	}
	spec->tail = literal;
	return rc;
}
