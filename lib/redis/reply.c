/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "lib/base/buf.h"
#include "lib/base/num.h"
#include "lib/redis/replyarena.h"
#include "lib/redis/replyflat.h"

/* How deep arrays may lie in each other; what 0.14 allows. */
#define DEPTH_MAX 8
/* What stands around a text at most: its length and the ends of lines. */
#define FRAME 32
/* What the parser keeps of an empty buffer. */
#define KEEP_BUFFER (256u << 10)

/* Where the number of elements was an int, there is no RESP3 either. */
#if HIREDIS_MAJOR >= 1
#define HIREDIS_COUNT size_t
#define HIREDIS_RESP3 1
#else
#define HIREDIS_COUNT int
#define HIREDIS_RESP3 0
#endif

/* Why an object could not be made; the parser knows only "no memory". */
enum fault {
	FAULT_NONE,
	FAULT_MEMORY,
	FAULT_LARGE,
	FAULT_DEEP,
	FAULT_RESP3,
};

struct reader {
	redisReader *parser;
	redisReplyObjectFunctions functions; /* not const to the parser */
	struct replyarena arena;
	struct buf ahead; /* fed, and not given to the parser yet */
	size_t at;        /* what of it is done with */
	bool parsing;     /* the parser has bytes */
	uint64_t fed;
	uint64_t whole; /* of those fed, what whole replies were made of */
	bool done;      /* the reply in root is given out */
	enum fault fault;
	struct reply root;
};

/* Memory that stays until the next reply; NULL with a fault. */
static void *take(struct reader *r, size_t size)
{
	bool large;
	void *p = replyarena_take(&r->arena, size, &large);

	if (p == NULL)
		r->fault = large ? FAULT_LARGE : FAULT_MEMORY;
	return p;
}

/* --- what the parser calls ----------------------------------------------- */

/* Where the object of a task belongs: children of an array lie in a row. */
static struct reply *place(const redisReadTask *task)
{
	struct reader *r = task->privdata;
	const struct reply *array;

	if (task->parent == NULL)
		return &r->root;
	array = task->parent->obj;
	/* The memory is the arena's, which the items only lend out. */
	return (struct reply *)array->u.items + task->idx;
}

static void *create_string(const redisReadTask *task, char *text, size_t len)
{
	struct reader *r = task->privdata;
	struct reply *reply = place(task);
	char *copy;

	switch (task->type) {
	case REDIS_REPLY_STATUS:
		reply->type = REPLY_STATUS;
		break;
	case REDIS_REPLY_ERROR:
		reply->type = REPLY_ERROR;
		break;
	case REDIS_REPLY_STRING:
		reply->type = REPLY_BULK;
		break;
	default:
		r->fault = FAULT_RESP3;
		return NULL;
	}
	copy = take(r, len + 1);
	if (copy == NULL)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	reply->len = len;
	reply->u.text = copy;
	return reply;
}

static void *create_array(const redisReadTask *task, HIREDIS_COUNT count)
{
	struct reader *r = task->privdata;
	struct reply *reply = place(task);
	const redisReadTask *up = task;
	unsigned depth = 1;
	size_t size = 0;

	while ((up = up->parent) != NULL && depth <= DEPTH_MAX)
		depth++;
	if (task->type != REDIS_REPLY_ARRAY)
		r->fault = FAULT_RESP3;
	else if (depth > DEPTH_MAX)
		r->fault = FAULT_DEEP;
	else if (__builtin_mul_overflow(count, sizeof(struct reply), &size))
		r->fault = FAULT_LARGE;
	if (r->fault != FAULT_NONE)
		return NULL;
	reply->type = REPLY_ARRAY;
	reply->len = (size_t)count;
	reply->u.items = NULL;
	if (count > 0) {
		reply->u.items = take(r, size);
		if (reply->u.items == NULL)
			return NULL;
	}
	return reply;
}

static void *create_integer(const redisReadTask *task, long long value)
{
	struct reply *reply = place(task);

	reply->type = REPLY_INTEGER;
	reply->len = 0;
	reply->u.integer = value;
	return reply;
}

static void *create_nil(const redisReadTask *task)
{
	struct reply *reply = place(task);

	reply->type = REPLY_NIL;
	reply->len = 0;
	reply->u.integer = 0;
	return reply;
}

#if HIREDIS_RESP3
/* Never asked for by HELLO 3, so nothing that is expected. */
static void *create_double(const redisReadTask *task, double value, char *text,
			   size_t len)
{
	struct reader *r = task->privdata;

	(void)value, (void)text, (void)len;
	r->fault = FAULT_RESP3;
	return NULL;
}

static void *create_bool(const redisReadTask *task, int value)
{
	return create_double(task, value, NULL, 0);
}
#endif

static const redisReplyObjectFunctions functions = {
	.createString = create_string,
	.createArray = create_array,
	.createInteger = create_integer,
	.createNil = create_nil,
#if HIREDIS_RESP3
	.createDouble = create_double,
	.createBool = create_bool,
#endif
};

/* --- the reader ---------------------------------------------------------- */

struct reader *reader_new(size_t max)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	buf_init(&r->ahead, SIZE_MAX);
	r->functions = functions;
	r->parser = redisReaderCreateWithFunctions(&r->functions);
	if (replyarena_init(&r->arena, max) != 0 || r->parser == NULL) {
		reader_free(r);
		return NULL;
	}
	r->parser->privdata = r;
	r->parser->maxbuf = KEEP_BUFFER;
	return r;
}

void reader_free(struct reader *r)
{
	if (r == NULL)
		return;
	if (r->parser != NULL)
		redisReaderFree(r->parser);
	replyarena_release(&r->arena);
	buf_release(&r->ahead);
	free(r);
}

/* What ended the parser's work. */
static int failed(const struct reader *r, struct error *err)
{
	char max[NUM_TEXT_MAX];

	switch (r->fault) {
	case FAULT_MEMORY:
		return error_nomem(err);
	case FAULT_LARGE:
		return error_set(err, ERROR_DATA,
				 "its answer needs more than %s",
				 num_bytes_text(r->arena.max, max));
	case FAULT_DEEP:
		return error_set(err, ERROR_DATA,
				 "its answer is nested deeper than %d arrays",
				 DEPTH_MAX);
	case FAULT_RESP3:
		return error_set(err, ERROR_DATA,
				 "its answer is in RESP3, which was not asked "
				 "for");
	case FAULT_NONE:
		break;
	}
	if (r->parser->err == REDIS_ERR_OOM)
		return error_nomem(err);
	error_set(err, ERROR_DATA,
		  "what it sends is not the protocol of Redis (%.100s)",
		  r->parser->errstr);
	return error_hint(err, "is this the port of a Redis or Valkey server, "
			       "and is TLS on at both ends or at neither?");
}

static int give(struct reader *r, const void *data, size_t len,
		struct error *err)
{
	const redisReader *parser = r->parser;

	/* A text is buffered until it is whole, whatever length it claims. */
	if (parser->err == 0 &&
	    parser->len - parser->pos > r->arena.max + FRAME)
		r->fault = FAULT_LARGE;
	if (r->fault != FAULT_NONE ||
	    redisReaderFeed(r->parser, data, len) != REDIS_OK)
		return failed(r, err);
	return 0;
}

int reader_feed(struct reader *r, const void *data, size_t len,
		struct error *err)
{
	size_t left = r->ahead.len - r->at;

	if (r->parsing && give(r, data, len, err) != 0)
		return -1;
	if (!r->parsing) {
		if (left > 0)
			memmove(r->ahead.data, r->ahead.data + r->at, left);
		r->ahead.len = left;
		r->at = 0;
		if (buf_add(&r->ahead, data, len) != 0)
			return error_nomem(err);
	}
	r->fed += len;
	return 0;
}

/* As reader_next(), where the parser has nothing; 2: now it has. */
static int next_ahead(struct reader *r, struct error *err)
{
	const char *data = r->ahead.data + r->at;
	size_t len = r->ahead.len - r->at;
	struct reply *items;
	size_t count, first;

	if (len == 0)
		return 0;
	switch (replyflat_scan(data, len, &count, &first)) {
	case REPLYFLAT_PART:
		return 0;
	case REPLYFLAT_NO:
		r->parsing = true;
		r->at = r->ahead.len;
		return give(r, data, len, err) == 0 ? 2 : -1;
	case REPLYFLAT_WHOLE:
		break;
	}
	items = take(r, count * sizeof(*items));
	if (items == NULL)
		return failed(r, err);
	data += first + REPLYFLAT_DIGIT;
	for (size_t i = 0; i < count; i++)
		items[i] = (struct reply){
			.type = REPLY_INTEGER,
			.u.integer = data[i * REPLYFLAT_STEP] - '0'};
	r->root = (struct reply){
		.type = REPLY_ARRAY, .len = count, .u.items = items};
	r->at += first + count * REPLYFLAT_STEP;
	r->whole = r->fed - (r->ahead.len - r->at);
	return 1;
}

static int next_parsed(struct reader *r, struct error *err)
{
	const redisReader *parser = r->parser;
	void *reply = NULL;

	if (redisReaderGetReply(r->parser, &reply) != REDIS_OK)
		return failed(r, err);
	if (reply == NULL)
		return 0;
	r->parsing = parser->len > parser->pos;
	r->whole = r->fed - (parser->len - parser->pos);
	return 1;
}

int reader_next(struct reader *r, const struct reply **out, struct error *err)
{
	int rc = 2;

	*out = NULL;
	if (r->done)
		replyarena_reset(&r->arena);
	r->done = false;
	if (r->fault != FAULT_NONE)
		return failed(r, err);
	if (!r->parsing)
		rc = next_ahead(r, err);
	if (rc == 2)
		rc = next_parsed(r, err);
	r->done = rc == 1;
	*out = rc == 1 ? &r->root : NULL;
	return rc;
}

bool reader_empty(const struct reader *r)
{
	return r->whole == r->fed;
}
