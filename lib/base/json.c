/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"

/* The largest is inspect's, with some 300 bytes for each bucket. */
#define JSON_TEXT_MAX (256u << 20)

/*
 * jansson's lexer passes over an append that failed and then asserts, and its
 * writer leaves out a name.  So while it reads or writes, an allocation that
 * fails is served from a reserve, the failure is remembered, and the work is
 * cut short as soon as jansson calls back: what it still takes until then
 * fits.  One thread at a time reads and writes JSON.
 */
#define RESERVE (256u << 10)

static struct {
	bool guarded; /* jansson is at work */
	bool failed;  /* and an allocation has failed */
	size_t used;
	_Alignas(max_align_t) char bytes[RESERVE];
} reserve;

static void *guarded_malloc(size_t size)
{
	void *p = malloc(size);
	size_t room = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) *
		      sizeof(max_align_t);

	if (p != NULL || !reserve.guarded)
		return p;
	reserve.failed = true;
	if (room < size || room > sizeof(reserve.bytes) - reserve.used)
		return NULL;
	p = reserve.bytes + reserve.used;
	reserve.used += room;
	return p;
}

static void guarded_free(void *p)
{
	uintptr_t at = (uintptr_t)p;
	uintptr_t first = (uintptr_t)reserve.bytes;

	if (at < first || at >= first + sizeof(reserve.bytes))
		free(p);
}

static void guard_begin(void)
{
	/* Global in jansson, and the same each time. */
	json_set_alloc_funcs(guarded_malloc, guarded_free);
	reserve.guarded = true;
	reserve.failed = false;
	reserve.used = 0;
}

/* Whether all allocations since guard_begin() were served. */
static bool guard_end(void)
{
	reserve.guarded = false;
	return !reserve.failed;
}

struct text {
	const char *data;
	size_t left;
};

static size_t read_piece(void *buffer, size_t size, void *ctx)
{
	struct text *t = ctx;
	size_t n = t->left < size ? t->left : size;

	if (reserve.failed)
		return (size_t)-1;
	memcpy(buffer, t->data, n);
	t->data += n;
	t->left -= n;
	return n;
}

json_t *json_parse(const char *data, size_t len, struct error *err)
{
	struct text text = {data, len};
	json_error_t at;
	json_t *json;

	guard_begin();
	json = json_load_callback(read_piece, &text, JSON_REJECT_DUPLICATES,
				  &at);
	if (!guard_end()) {
		json_decref(json);
		(void)error_nomem(err);
		return NULL;
	}
	if (json == NULL)
		(void)error_set(err, ERROR_DATA, "not JSON: line %d: %s",
				at.line, at.text);
	return json;
}

struct dump {
	struct buf text;
	bool quoted; /* within a string, whose quotes are pieces of their own */
	bool failed;
};

static int dump_piece(const char *data, size_t len, void *ctx)
{
	struct dump *d = ctx;
	char text[NUM_TEXT_MAX];
	double x;

	if (len == 1 && *data == '"')
		d->quoted = !d->quoted;
	/*
	 * jansson writes 0.1 as 0.10000000000000001, and jq takes that for
	 * another number since its version 1.7.
	 */
	if (!d->quoted && len < sizeof(text) &&
	    (memchr(data, '.', len) != NULL ||
	     memchr(data, 'e', len) != NULL)) {
		memcpy(text, data, len);
		text[len] = '\0';
		if (num_double(text, &x) == 0) {
			data = num_double_text(x, text);
			len = strlen(data);
		}
	}
	if (reserve.failed || buf_add(&d->text, data, len) != 0)
		d->failed = true;
	return d->failed ? -1 : 0;
}

char *json_text(const json_t *json, int indent, size_t *len, struct error *err)
{
	size_t flags = indent > 0 ? JSON_INDENT((size_t)indent) : JSON_COMPACT;
	struct dump d = {.failed = false};

	buf_init(&d.text, JSON_TEXT_MAX);
	guard_begin();
	if (json_dump_callback(json, dump_piece, &d,
			       flags | JSON_PRESERVE_ORDER) != 0)
		d.failed = true;
	if (!guard_end() || d.failed || buf_add(&d.text, "\n", 1) != 0 ||
	    buf_string(&d.text) == NULL) {
		buf_release(&d.text);
		(void)error_nomem(err);
		return NULL;
	}
	*len = d.text.len;
	return d.text.data;
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
