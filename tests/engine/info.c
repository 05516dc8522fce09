/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/commands.h"
#include "tests/engine/engine.h"
#include "tests/engine/object.h"
#include "tests/engine/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void reply_ratio(struct module_ctx *ctx, double value)
{
	char text[32];
	if (server.GetContextFlags(ctx) & MODULE_RESP3) {
		server.ReplyWithDouble(ctx, value);
		return;
	}
	/* The fewest digits that make the same number again. */
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	server.ReplyWithStringBuffer(ctx, text, strlen(text));
}

static void reply_capacity(struct module_ctx *ctx, const struct object *o)
{
	server.ReplyWithLongLong(ctx, object_capacity(o));
}

static void reply_size(struct module_ctx *ctx, const struct object *o)
{
	server.ReplyWithLongLong(ctx, (long long)object_memory(o));
}

static void reply_filters(struct module_ctx *ctx, const struct object *o)
{
	server.ReplyWithLongLong(ctx, (long long)o->n_filters);
}

static void reply_items(struct module_ctx *ctx, const struct object *o)
{
	server.ReplyWithLongLong(ctx, object_items(o));
}

static void reply_error(struct module_ctx *ctx, const struct object *o)
{
	reply_ratio(ctx, o->error);
}

static void reply_expansion(struct module_ctx *ctx, const struct object *o)
{
	if (o->expansion == 0)
		server.ReplyWithNull(ctx);
	else
		server.ReplyWithLongLong(ctx, o->expansion);
}

static void reply_tightening(struct module_ctx *ctx, const struct object *o)
{
	reply_ratio(ctx, o->tightening);
}

static void reply_most(struct module_ctx *ctx, const struct object *o)
{
	struct shape shape = {.error = o->error,
			      .tightening = o->tightening,
			      .capacity = o->filters[0].capacity,
			      .expansion = o->expansion};
	int64_t most;
	shape_grow(&shape, 0, &most);
	server.ReplyWithLongLong(ctx, most);
}

/* The last two only of objects that grow. */
static const struct field {
	const char *name;
	const char *word;
	void (*reply)(struct module_ctx *, const struct object *);
} fields[] = {
	{"Capacity", "CAPACITY", reply_capacity},
	{"Size", "SIZE", reply_size},
	{"Number of filters", "FILTERS", reply_filters},
	{"Number of items inserted", "ITEMS", reply_items},
	{"Error rate", "ERROR", reply_error},
	{"Expansion rate", "EXPANSION", reply_expansion},
	{"Tightening ratio", "TIGHTENING", reply_tightening},
	{"Max scaled capacity", "MAXSCALEDCAPACITY", reply_most},
};
enum { FIELDS = 8, FIELDS_FIXED = 6 };

int info_command(struct module_ctx *ctx, struct module_string **argv, int argc)
{
	struct object *o;

	if (argc < 2 || argc > 3)
		return server.WrongArity(ctx);
	if (!commands_open(ctx, argv[1], MODULE_READ, NULL, &o))
		return MODULE_OK;
	if (o == NULL)
		return server.ReplyWithError(ctx, "ERR not found");
	int n = o->expansion == 0 ? FIELDS_FIXED : FIELDS;
	if (argc == 3) {
		const char *word = server.StringPtrLen(argv[2], NULL);
		for (int i = 0; i < n; i++) {
			if (strcasecmp(word, fields[i].word) != 0)
				continue;
			fields[i].reply(ctx, o);
			return MODULE_OK;
		}
		return server.ReplyWithError(ctx,
					     "ERR invalid information value");
	}
	server.ReplyWithArray(ctx, 2L * n);
	for (int i = 0; i < n; i++) {
		server.ReplyWithSimpleString(ctx, fields[i].name);
		fields[i].reply(ctx, o);
	}
	return MODULE_OK;
}

void info_sections(struct module_info *info, int for_crash_report)
{
	const struct {
		const char *name;
		const atomic_llong *value;
	} metrics[] = {
		{"bloom_total_memory_bytes", &engine.memory},
		{"bloom_num_objects", &engine.objects},
		{"bloom_num_filters_across_objects", &engine.filters},
		{"bloom_num_items_across_objects", &engine.items},
		{"bloom_capacity_across_objects", &engine.capacity},
	};

	(void)for_crash_report;
	server.InfoAddSection(info, "bloom_core_metrics");
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		server.InfoAddFieldLongLong(info, metrics[i].name,
					    atomic_load(metrics[i].value));
	server.InfoAddSection(info, "bloom_defrag_metrics");
	server.InfoAddFieldLongLong(info, "bloom_defrag_hits", 0);
	server.InfoAddFieldLongLong(info, "bloom_defrag_misses", 0);
}
