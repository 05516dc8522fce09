/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/commands.h"

#include "tests/engine/args.h"
#include "tests/engine/engine.h"
#include "tests/engine/image.h"
#include "tests/engine/server.h"

#include <stdio.h>

bool commands_open(struct module_ctx *ctx, struct module_string *name, int mode,
		   struct module_key **key, struct object **object)
{
	struct module_key *found = server.OpenKey(ctx, name, mode);
	bool empty = found == NULL || server.KeyType(found) == MODULE_KEY_EMPTY;
	bool good = empty || server.ModuleTypeGetType(found) == engine.type;

	*object = empty || !good ? NULL : server.ModuleTypeGetValue(found);
	if (!good)
		server.ReplyWithError(ctx, "WRONGTYPE Operation against a key "
					   "holding the wrong kind of value");
	if (good && key != NULL)
		*key = found;
	else if (found != NULL)
		server.CloseKey(found);
	return good;
}

/* What a primary has accepted is not judged again. */
static bool is_limited(struct module_ctx *ctx)
{
	return !(server.GetContextFlags(ctx) &
		 (MODULE_FROM_PRIMARY | MODULE_LOADING));
}

static int refuse(struct module_ctx *ctx, const char *wrong)
{
	if (wrong == wrong_arity)
		return server.WrongArity(ctx);
	return server.ReplyWithError(ctx, wrong);
}

/* --- making -------------------------------------------------------------- */

/* That the object was made, with these items. */
static void replicate_made(struct module_ctx *ctx, const struct object *o,
			   struct module_string *key,
			   struct module_string **items, size_t n)
{
	char error[32], tightening[32];
	const char *seed = (const char *)o->seed;
	long long capacity = o->filters[0].capacity;

	/* As many digits as make the same number again. */
	snprintf(error, sizeof(error), "%.17g", o->error);
	snprintf(tightening, sizeof(tightening), "%.17g", o->tightening);
	if (o->expansion == 0)
		server.Replicate(
			ctx, "BF.INSERT", n > 0 ? "sclcccccbccv" : "sclcccccbc",
			key, "CAPACITY", capacity, "ERROR", error, "TIGHTENING",
			tightening, "SEED", seed, (size_t)SEED_SIZE,
			"NONSCALING", "ITEMS", items, n);
	else
		server.Replicate(ctx, "BF.INSERT",
				 n > 0 ? "sclcccccbclcv" : "sclcccccbcl", key,
				 "CAPACITY", capacity, "ERROR", error,
				 "TIGHTENING", tightening, "SEED", seed,
				 (size_t)SEED_SIZE, "EXPANSION",
				 (long long)o->expansion, "ITEMS", items, n);
}

static int reserve(struct module_ctx *ctx, struct module_string **argv,
		   int argc)
{
	struct request r;
	struct module_key *key;
	struct object *o;

	const char *wrong = args_reserve(&r, argv, argc);
	if (wrong != NULL)
		return refuse(ctx, wrong);
	if (!commands_open(ctx, argv[1], MODULE_READ | MODULE_WRITE, &key, &o))
		return MODULE_OK;
	wrong = o != NULL ? "ERR item exists"
			  : object_new(&o, &r.shape, is_limited(ctx));
	if (wrong == NULL) {
		server.ModuleTypeSetValue(key, engine.type, o);
		replicate_made(ctx, o, argv[1], NULL, 0);
		server.ReplyWithSimpleString(ctx, "OK");
	} else {
		server.ReplyWithError(ctx, wrong);
	}
	server.CloseKey(key);
	return MODULE_OK;
}

/* What 1.0 tells its replicas of an image is that the image itself was added
 * to an empty object.  This is how it is. */
static int load(struct module_ctx *ctx, struct module_string **argv, int argc)
{
	struct module_key *key;
	struct object *o;

	if (argc != 3)
		return server.WrongArity(ctx);
	if (!commands_open(ctx, argv[1], MODULE_READ | MODULE_WRITE, &key, &o))
		return MODULE_OK;
	size_t size;
	const char *payload = server.StringPtrLen(argv[2], &size);
	const char *wrong = o != NULL
				    ? "BUSYKEY Target key name already exists."
				    : image_decode(&o, payload, size);
	if (wrong == NULL) {
		server.ModuleTypeSetValue(key, engine.type, o);
		replicate_made(ctx, o, argv[1], argv + 2, 1);
		server.ReplyWithSimpleString(ctx, "OK");
	} else {
		server.ReplyWithError(ctx, wrong);
	}
	server.CloseKey(key);
	return MODULE_OK;
}

/* --- adding -------------------------------------------------------------- */

/* What became of the items of a request. */
struct outcome {
	const char *wrong; /* what ended it before them all, or NULL */
	bool *added;
	int n;      /* so many were tried and not refused */
	bool any;   /* one at least was new */
	bool whole; /* nothing was added, as it could not be all */
};

static void add_items(struct object *o, const struct request *r, bool limited,
		      struct outcome *out)
{
	int n = r->argc - r->items;
	struct log log;

	if (engine.refuse_whole)
		log_begin(&log, o, (size_t)n);
	for (; out->n < n && out->wrong == NULL; out->n++) {
		size_t size;
		const char *item =
			server.StringPtrLen(r->argv[r->items + out->n], &size);
		bool *added = &out->added[out->n];
		out->wrong =
			object_add(o, item, size, limited,
				   engine.refuse_whole ? &log : NULL, added);
		if (out->wrong != NULL)
			break;
		out->any = out->any || *added;
	}
	if (!engine.refuse_whole)
		return;
	if (out->wrong != NULL) {
		log_undo(&log, o);
		out->whole = true;
		out->any = false;
	}
	log_end(&log);
}

static void answer(struct module_ctx *ctx, const struct request *r,
		   const struct outcome *out)
{
	bool failed = out->wrong != NULL;
	if (failed && (out->whole || r->single)) {
		server.ReplyWithError(ctx, out->wrong);
		return;
	}
	if (!r->single)
		server.ReplyWithArray(ctx, out->n + failed);
	for (int i = 0; i < out->n; i++)
		server.ReplyWithLongLong(ctx, out->added[i]);
	if (failed)
		server.ReplyWithError(ctx, out->wrong);
}

static int add(struct module_ctx *ctx, const struct request *r)
{
	struct module_key *key;
	struct object *o;
	struct outcome out = {0};
	bool limited = is_limited(ctx);

	if (!commands_open(ctx, r->argv[1], MODULE_READ | MODULE_WRITE, &key,
			   &o))
		return MODULE_OK;
	bool made = o == NULL;
	if (made) {
		const char *wrong =
			r->no_create ? "ERR not found"
				     : object_new(&o, &r->shape, limited);
		if (wrong != NULL) {
			server.CloseKey(key);
			return server.ReplyWithError(ctx, wrong);
		}
	}
	out.added = server.Calloc((size_t)(r->argc - r->items) + 1,
				  sizeof(*out.added));
	add_items(o, r, limited, &out);
	answer(ctx, r, &out);
	if (made && out.whole) {
		object_free(o);
	} else if (made) {
		server.ModuleTypeSetValue(key, engine.type, o);
		replicate_made(ctx, o, r->argv[1], r->argv + r->items,
			       (size_t)(r->argc - r->items));
	} else if (out.any) {
		server.ReplicateVerbatim(ctx);
	}
	server.Free(out.added);
	server.CloseKey(key);
	return MODULE_OK;
}

static int insert(struct module_ctx *ctx, struct module_string **argv, int argc)
{
	struct request r;
	const char *wrong = args_insert(&r, argv, argc);
	return wrong != NULL ? refuse(ctx, wrong) : add(ctx, &r);
}

static int add_many(struct module_ctx *ctx, struct module_string **argv,
		    int argc)
{
	if (argc < 3)
		return server.WrongArity(ctx);
	struct request r = {.argv = argv, .argc = argc, .items = 2};
	shape_init(&r.shape);
	return add(ctx, &r);
}

static int add_one(struct module_ctx *ctx, struct module_string **argv,
		   int argc)
{
	if (argc != 3)
		return server.WrongArity(ctx);
	struct request r = {
		.argv = argv, .argc = argc, .items = 2, .single = true};
	shape_init(&r.shape);
	return add(ctx, &r);
}

/* --- asking -------------------------------------------------------------- */

static void exists(struct module_ctx *ctx, const struct object *o,
		   const struct module_string *word)
{
	size_t size;
	const char *item = server.StringPtrLen(word, &size);
	server.ReplyWithLongLong(ctx, o != NULL && object_has(o, item, size));
}

static int has_one(struct module_ctx *ctx, struct module_string **argv,
		   int argc)
{
	struct object *o;
	if (argc != 3)
		return server.WrongArity(ctx);
	if (commands_open(ctx, argv[1], MODULE_READ, NULL, &o))
		exists(ctx, o, argv[2]);
	return MODULE_OK;
}

static int has_many(struct module_ctx *ctx, struct module_string **argv,
		    int argc)
{
	struct object *o;
	if (argc < 3)
		return server.WrongArity(ctx);
	if (!commands_open(ctx, argv[1], MODULE_READ, NULL, &o))
		return MODULE_OK;
	server.ReplyWithArray(ctx, argc - 2);
	for (int i = 2; i < argc; i++)
		exists(ctx, o, argv[i]);
	return MODULE_OK;
}

static int card(struct module_ctx *ctx, struct module_string **argv, int argc)
{
	struct object *o;
	if (argc != 2)
		return server.WrongArity(ctx);
	if (commands_open(ctx, argv[1], MODULE_READ, NULL, &o))
		server.ReplyWithLongLong(ctx, o == NULL ? 0 : object_items(o));
	return MODULE_OK;
}

/* ------------------------------------------------------------------------- */

bool commands_register(struct module_ctx *ctx)
{
	static const struct {
		const char *name;
		module_command_fn *run;
		const char *flags;
		const char *categories;
	} commands[] = {
		{"BF.ADD", add_one, "write fast deny-oom", "bloom write fast"},
		{"BF.MADD", add_many, "write fast deny-oom",
		 "bloom write fast"},
		{"BF.INSERT", insert, "write fast deny-oom",
		 "bloom write fast"},
		{"BF.RESERVE", reserve, "write fast deny-oom",
		 "bloom write fast"},
		{"BF.LOAD", load, "write deny-oom", "bloom write"},
		{"BF.EXISTS", has_one, "readonly fast", "bloom read fast"},
		{"BF.MEXISTS", has_many, "readonly fast", "bloom read fast"},
		{"BF.CARD", card, "readonly fast", "bloom read fast"},
		{"BF.INFO", info_command, "readonly fast", "bloom read fast"},
	};
	bool categories = server.AddACLCategory != NULL &&
			  server.GetCommand != NULL &&
			  server.SetCommandACLCategories != NULL;

	if (categories && server.AddACLCategory(ctx, "bloom") != MODULE_OK)
		return false;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (server.CreateCommand(ctx, commands[i].name, commands[i].run,
					 commands[i].flags, 1, 1,
					 1) != MODULE_OK)
			return false;
		if (!categories)
			continue;
		struct module_command *command =
			server.GetCommand(ctx, commands[i].name);
		if (command == NULL ||
		    server.SetCommandACLCategories(
			    command, commands[i].categories) != MODULE_OK)
			return false;
	}
	return true;
}
