/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/redis/conn_private.h"

struct conn *conn_new(const struct redis_target *target, unsigned flags)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->target = target;
	c->flags = flags;
	c->reached = (flags & CONN_KNOWN) != 0;
	if ((flags & CONN_TIDIES) != 0)
		conn_set_patient(c, CONN_TIDY_MS);
	return c;
}

int conn_open(const struct redis_target *target, unsigned flags,
	      struct conn **out, struct error *err)
{
	struct conn *c = conn_new(target, flags);

	*out = NULL;
	if (c == NULL)
		return error_nomem(err);
	if (conn_connect(c, err) != 0) {
		conn_close(c);
		return -1;
	}
	*out = c;
	return 0;
}

void conn_close(struct conn *c)
{
	if (c == NULL)
		return;
	net_close(c->net);
	reader_free(c->reader);
	for (size_t i = 0; i < c->count; i++)
		free(c->ring[(c->head + i) % CONN_COMMANDS_MAX].copy);
	free(c);
}

const struct conn_facts *conn_facts(const struct conn *c)
{
	return &c->facts;
}

uint64_t conn_made(const struct conn *c)
{
	return c->made;
}

void conn_pin(struct conn *c)
{
	c->pinned = true;
	c->pin = c->facts;
}

void conn_set_patient(struct conn *c, int ms)
{
	c->patient_ms = ms;
	c->patient_until = ms > 0 ? clock_ns() + (int64_t)ms * 1000000 : 0;
	if (c->net != NULL)
		net_set_patient(c->net, ms > 0);
}

bool conn_failed(const struct conn *c)
{
	return c->err.code != ERROR_NONE;
}

size_t conn_pending(const struct conn *c)
{
	return c->count;
}

/* --- errors -------------------------------------------------------------- */

int conn_fail(struct conn *c, struct error *err)
{
	error_prefix(err, "%s", c->target->place);
	c->err = *err;
	net_close(c->net);
	c->net = NULL;
	return -1;
}

const char *conn_span(int ms, char out[CONN_SPAN_MAX])
{
	char text[CLOCK_TEXT_MAX];

	if (ms % 1000 != 0)
		(void)snprintf(out, CONN_SPAN_MAX, "%d ms", ms);
	else
		(void)snprintf(out, CONN_SPAN_MAX, "%s", clock_span(ms, text));
	return out;
}

bool conn_transient(const struct reply *reply)
{
	static const char *const words[] = {"LOADING", "READONLY", "MASTERDOWN",
					    "CLUSTERDOWN", "TRYAGAIN"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (reply_is_error(reply, words[i]))
			return true;
	return reply_error_begins(reply, "ERR max number of clients");
}

int conn_left(const struct conn *c, int64_t since)
{
	int64_t now = clock_ns();
	int64_t until = since + (int64_t)c->target->timeout_ms * 1000000;

	if (c->patient_until != 0 && c->patient_until < until)
		until = c->patient_until;
	/* Rounded up, so that a wait is over when it has ended. */
	return until > now ? (int)((until - now + 999999) / 1000000) : 0;
}

int conn_step_left(const struct conn *c, int64_t since)
{
	int left = conn_left(c, since);
	int64_t over = (clock_ns() - since) / 1000000;

	if (c->try_ms == 0 || c->try_ms - over >= left)
		return left;
	return c->try_ms > over ? (int)(c->try_ms - over) : 0;
}

/* --- commands ------------------------------------------------------------ */

static size_t length(const char *const argv[], const size_t *lens, int i)
{
	return lens != NULL ? lens[i] : strlen(argv[i]);
}

int conn_encode(struct buf *out, int argc, const char *const argv[],
		const size_t *lens)
{
	if (buf_addf(out, "*%d\r\n", argc) != 0)
		return -1;
	for (int i = 0; i < argc; i++) {
		size_t len = length(argv, lens, i);

		if (buf_addf(out, "$%zu\r\n", len) != 0 ||
		    buf_add(out, argv[i], len) != 0 ||
		    buf_add(out, "\r\n", 2) != 0)
			return -1;
	}
	return 0;
}

/* At least the bytes that conn_encode() writes; SIZE_MAX: too many. */
static size_t encoded_max(int argc, const char *const argv[],
			  const size_t *lens)
{
	const size_t frame = sizeof("$18446744073709551615\r\n\r\n");
	size_t sum = frame;

	for (int i = 0; i < argc; i++)
		if (__builtin_add_overflow(sum, length(argv, lens, i), &sum) ||
		    __builtin_add_overflow(sum, frame, &sum))
			return SIZE_MAX;
	return sum;
}

int conn_command(int argc, const char *const argv[], const size_t *lens,
		 struct conn_pending *out, struct error *err)
{
	struct buf bytes;

	/* Reserved at once: what is in it is not left elsewhere in memory. */
	buf_init(&bytes, encoded_max(argc, argv, lens));
	if (buf_reserve(&bytes, bytes.max) != 0 ||
	    conn_encode(&bytes, argc, argv, lens) != 0) {
		buf_release(&bytes);
		return error_nomem(err);
	}
	out->bytes = out->copy = bytes.data;
	out->len = bytes.len;
	return 0;
}

int conn_sendv(struct conn *c, int argc, const char *const argv[],
	       const size_t *lens, conn_fn *fn, void *ctx, uint64_t tag,
	       struct error *err)
{
	struct conn_pending command = {.fn = fn, .ctx = ctx, .tag = tag};

	if (conn_command(argc, argv, lens, &command, err) != 0)
		return -1;
	return conn_add(c, &command, err);
}

int conn_send(struct conn *c, const void *bytes, size_t len, conn_fn *fn,
	      void *ctx, uint64_t tag, struct error *err)
{
	const struct conn_pending command = {
		.bytes = bytes, .len = len, .fn = fn, .ctx = ctx, .tag = tag};

	return conn_add(c, &command, err);
}

static int keep_reply(void *ctx, uint64_t tag, const struct reply *reply,
		      struct error *err)
{
	struct conn *c = ctx;

	(void)tag, (void)err;
	c->called = reply;
	return 0;
}

int conn_call(struct conn *c, int argc, const char *const argv[],
	      const size_t *lens, const struct reply **out, struct error *err)
{
	*out = NULL;
	c->called = NULL;
	if (conn_sendv(c, argc, argv, lens, keep_reply, c, 0, err) != 0 ||
	    conn_flush(c, err) != 0)
		return -1;
	*out = c->called;
	return 0;
}

int conn_flush(struct conn *c, struct error *err)
{
	return conn_wait(c, 0, err);
}
