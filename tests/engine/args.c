/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/args.h"

#include "tests/engine/server.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char wrong_arity[] = "wrong arity";

/* The text of a word; one with a zero byte in it is no number and no option. */
static const char *text(const struct module_string *word)
{
	size_t size;
	const char *s = server.StringPtrLen(word, &size);
	return strlen(s) == size ? s : "";
}

static bool is(const struct module_string *word, const char *name)
{
	return strcasecmp(text(word), name) == 0;
}

bool args_number(const char *s, int64_t *number)
{
	char *end;
	errno = 0;
	*number = strtoll(s, &end, 10);
	return *s != '\0' && !isspace((unsigned char)*s) && *end == '\0' &&
	       errno == 0;
}

/* Between 0 and 1, both not included. */
static const char *ratio(const struct module_string *word, double *value,
			 const char *bad, const char *outside)
{
	const char *s = text(word);
	char *end;
	*value = strtod(s, &end);
	if (*s == '\0' || isspace((unsigned char)*s) || *end != '\0')
		return bad;
	return *value > 0 && *value < 1 ? NULL : outside;
}

static const char *set_error(struct request *r,
			     const struct module_string *word)
{
	return ratio(word, &r->shape.error, "ERR bad error rate",
		     "ERR (0 < error rate range < 1)");
}

static const char *set_tightening(struct request *r,
				  const struct module_string *word)
{
	return ratio(word, &r->shape.tightening, "ERR bad tightening ratio",
		     "ERR (0 < tightening ratio range < 1)");
}

static const char *items(const struct module_string *word, int64_t *value)
{
	if (!args_number(text(word), value))
		return "ERR bad capacity";
	return *value > 0 ? NULL : "ERR (capacity should be larger than 0)";
}

static const char *set_capacity(struct request *r,
				const struct module_string *word)
{
	return items(word, &r->shape.capacity);
}

static const char *set_scale_to(struct request *r,
				const struct module_string *word)
{
	return items(word, &r->scale_to);
}

static const char *set_expansion(struct request *r,
				 const struct module_string *word)
{
	int64_t value;
	if (!args_number(text(word), &value) || value < 1 || value > UINT32_MAX)
		return "ERR bad expansion";
	r->shape.expansion = (uint32_t)value;
	return NULL;
}

static const char *set_seed(struct request *r, const struct module_string *word)
{
	size_t size;
	const char *seed = server.StringPtrLen(word, &size);
	if (size != SEED_SIZE)
		return "ERR invalid seed";
	memcpy(r->shape.seed, seed, SEED_SIZE);
	r->shape.has_seed = true;
	return NULL;
}

/* --- commands ------------------------------------------------------------ */

static void begin(struct request *r, struct module_string **argv, int argc)
{
	*r = (struct request){.argv = argv, .argc = argc, .items = argc};
	shape_init(&r->shape);
}

const char *args_reserve(struct request *r, struct module_string **argv,
			 int argc)
{
	begin(r, argv, argc);
	if (argc < 4 || argc > 6)
		return wrong_arity;
	const char *wrong = set_error(r, argv[2]);
	if (wrong == NULL)
		wrong = set_capacity(r, argv[3]);
	if (wrong != NULL || argc == 4)
		return wrong;
	if (argc == 6 && is(argv[4], "EXPANSION"))
		return set_expansion(r, argv[5]);
	if (argc != 5 || !is(argv[4], "NONSCALING"))
		return "ERROR";
	r->shape.expansion = 0;
	return NULL;
}

/* An option of BF.INSERT, at word *at, which becomes the next one's. */
static const char *option(struct request *r, int *at)
{
	static const struct {
		const char *name;
		const char *(*set)(struct request *,
				   const struct module_string *);
	} options[] = {
		{"ERROR", set_error},         {"CAPACITY", set_capacity},
		{"EXPANSION", set_expansion}, {"TIGHTENING", set_tightening},
		{"SEED", set_seed},           {"VALIDATESCALETO", set_scale_to},
	};
	const struct module_string *word = r->argv[(*at)++];

	if (is(word, "NOCREATE")) {
		r->no_create = true;
		return NULL;
	}
	if (is(word, "NONSCALING")) {
		r->shape.expansion = 0;
		return NULL;
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!is(word, options[i].name))
			continue;
		if (*at == r->argc)
			return wrong_arity;
		return options[i].set(r, r->argv[(*at)++]);
	}
	return "ERR unknown argument received";
}

const char *args_insert(struct request *r, struct module_string **argv,
			int argc)
{
	begin(r, argv, argc);
	if (argc < 2)
		return wrong_arity;
	int at = 2;
	while (at < argc && !is(argv[at], "ITEMS")) {
		const char *wrong = option(r, &at);
		if (wrong != NULL)
			return wrong;
	}
	if (at < argc) {
		r->items = at + 1;
		if (r->items == argc)
			return wrong_arity;
	}
	if (r->scale_to == 0)
		return NULL;
	if (r->shape.expansion == 0)
		return "ERR cannot use NONSCALING and VALIDATESCALETO options "
		       "together";
	int64_t most;
	return shape_grow(&r->shape, r->scale_to, &most);
}
