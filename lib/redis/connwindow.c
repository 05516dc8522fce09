/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/redis/conn.h"
#include "lib/redis/conn_private.h"

/* So much is written at once, unless somebody waits for it. */
#define WRITE_BYTES    (16u << 10)
#define WRITE_COMMANDS (CONN_COMMANDS_MAX / 4)
/* Commands of one write. */
#define WRITE_PIECES 64

static const struct conn_pending *nth(const struct conn *c, size_t i)
{
	return &c->ring[(c->head + i) % CONN_COMMANDS_MAX];
}

/* --- writing ------------------------------------------------------------- */

/* How many pieces; *total is their bytes. */
static int gather(const struct conn *c, struct iovec *pieces, size_t *total)
{
	int n = 0;

	*total = 0;
	for (size_t i = c->sent; i < c->count && n < WRITE_PIECES; i++, n++) {
		size_t off = i == c->sent ? c->sent_off : 0;

		pieces[n].iov_base = (void *)(nth(c, i)->bytes + off);
		pieces[n].iov_len = nth(c, i)->len - off;
		*total += pieces[n].iov_len;
	}
	return n;
}

static void written(struct conn *c, size_t put)
{
	c->unsent -= put;
	c->sent_off += put;
	while (c->sent < c->count && c->sent_off >= nth(c, c->sent)->len) {
		c->sent_off -= nth(c, c->sent)->len;
		c->sent++;
	}
}

int conn_push(struct conn *c, struct error *err)
{
	struct iovec pieces[WRITE_PIECES];

	while (c->net != NULL && c->unsent > 0) {
		struct error cause;
		size_t total;
		size_t put;
		int count = gather(c, pieces, &total);

		if (net_write(c->net, pieces, count, &put, &cause) != 0) {
			/* It may have said why, before it hung up. */
			if (conn_take(c, err) != 0)
				return -1;
			if (c->net != NULL)
				conn_lost(c, &cause);
			return 0;
		}
		if (put == 0)
			return 0;
		written(c, put);
		c->moved = clock_ns();
		if (put < total)
			return 0;
	}
	return 0;
}

/* --- reading ------------------------------------------------------------- */

int conn_command_name(const struct conn_pending *p, const char **name)
{
	const char *end = p->bytes + p->len;
	const char *at = memchr(p->bytes, '\n', p->len);
	size_t len = 0;

	if (at != NULL)
		at = memchr(at + 1, '\n', (size_t)(end - at - 1));
	*name = "";
	if (at == NULL)
		return 0;
	*name = ++at;
	while (at + len < end && at[len] != '\r' && len < 32)
		len++;
	return (int)len;
}

static int not_asked(struct conn *c, struct error *err)
{
	error_set(err, ERROR_DATA, "it answers what it was not asked");
	return conn_fail(c, err);
}

struct conn_pending conn_pop(struct conn *c)
{
	struct conn_pending p = *nth(c, 0);

	c->head = (c->head + 1) % CONN_COMMANDS_MAX;
	c->count--;
	c->bytes -= p.len;
	if (c->sent > 0) {
		c->sent--;
	} else {
		c->unsent -= p.len - c->sent_off;
		c->sent_off = 0;
	}
	return p;
}

/* Whether the node leaves it to others, or to later. */
static bool is_bounced(const struct reply *reply)
{
	return conn_transient(reply) || reply_is_error(reply, "MOVED") ||
	       reply_is_error(reply, "ASK") || reply_is_throttled(reply);
}

/* One answer, to the oldest command. */
static int answer(struct conn *c, const struct reply *reply, struct error *err)
{
	struct conn_pending p = *nth(c, 0);
	const char *name;
	int len = conn_command_name(&p, &name);
	int rc = 0;

	if (c->sent == 0)
		return not_asked(c, err);
	if (c->bounce != NULL && is_bounced(reply)) {
		(void)conn_pop(c);
		c->bounce(c->bounce_ctx, &p, reply);
		return 0;
	}
	if (conn_transient(reply)) {
		struct error cause;

		reply_refused(reply, &cause, "%.*s", len, name);
		conn_lost(c, &cause);
		return 0;
	}
	(void)conn_pop(c);
	c->trouble = 0;
	c->backoff_ms = 0;
	if (p.fn != NULL)
		rc = p.fn(p.ctx, p.tag, reply, err);
	else if (reply->type == REPLY_ERROR)
		rc = reply_refused(reply, err, "%.*s", len, name);
	free(p.copy);
	return rc == 0 ? 0 : conn_fail(c, err);
}

/* Calls back for every whole answer. */
static int drain(struct conn *c, struct error *err)
{
	const struct reply *reply;

	/* No further than the last: its reply stays valid for conn_call(). */
	while (c->net != NULL && c->count > 0) {
		int rc = reader_next(c->reader, &reply, err);

		if (rc < 0)
			return conn_fail(c, err);
		if (rc == 0)
			return 0;
		if (answer(c, reply, err) != 0)
			return -1;
	}
	if (c->net != NULL && !reader_empty(c->reader))
		return not_asked(c, err);
	return 0;
}

int conn_take(struct conn *c, struct error *err)
{
	size_t got = CONN_READ_SIZE;

	while (c->net != NULL && got == CONN_READ_SIZE) {
		struct error cause;

		if (net_read(c->net, c->in, CONN_READ_SIZE, &got, &cause) !=
		    0) {
			conn_lost(c, &cause);
			return 0;
		}
		if (got == 0)
			return 0;
		c->moved = clock_ns();
		if (c->count == 0)
			return not_asked(c, err);
		if (reader_feed(c->reader, c->in, got, err) != 0)
			return conn_fail(c, err);
		if (drain(c, err) != 0)
			return -1;
	}
	return 0;
}

/* --- waiting ------------------------------------------------------------- */

static int no_answer(struct conn *c, struct error *err)
{
	char span[CONN_SPAN_MAX];
	bool patient = c->patient_until != 0 && c->patient_until <= clock_ns();
	int ms = patient ? c->patient_ms : c->target->timeout_ms;

	error_set(err, ERROR_TEMPORARY, "no answer for %s",
		  conn_span(ms, span));
	if (patient)
		return conn_fail(c, err);
	conn_lost(c, err);
	return 0;
}

/* Waits until something has moved, and moves it. */
static int wait_some(struct conn *c, struct error *err)
{
	int rc;

	if (c->net == NULL && conn_connect(c, err) != 0)
		return -1;
	if (conn_push(c, err) != 0)
		return -1;
	if (c->net == NULL)
		return 0;
	rc = net_wait(c->net, c->unsent > 0, conn_left(c, c->moved), err);
	if (rc < 0)
		return conn_after_wait(err) == CONN_STOP ? -1
							 : conn_fail(c, err);
	if (rc > 0)
		return conn_take(c, err);
	return conn_left(c, c->moved) > 0 ? 0 : no_answer(c, err);
}

static int failed_before(const struct conn *c, struct error *err)
{
	if (c->err.code == ERROR_NONE)
		return 0;
	*err = c->err;
	return -1;
}

/* Waits until at most `pending` are left, with so many bytes. */
static int wait_until(struct conn *c, size_t pending, size_t bytes,
		      struct error *err)
{
	bool waited = false;

	while (c->count > pending || (c->count > 0 && c->bytes > bytes)) {
		/* While nobody waited, the server was not silent. */
		if (!waited)
			c->moved = clock_ns();
		waited = true;
		if (wait_some(c, err) != 0)
			return -1;
	}
	return 0;
}

int conn_wait(struct conn *c, size_t pending, struct error *err)
{
	if (failed_before(c, err) != 0)
		return -1;
	return wait_until(c, pending, SIZE_MAX, err);
}

int conn_poll(struct conn *c, struct error *err)
{
	if (failed_before(c, err) != 0 || conn_push(c, err) != 0)
		return -1;
	return conn_take(c, err);
}

bool conn_has_room(const struct conn *c, size_t len)
{
	return c->count == 0 ||
	       (c->count < CONN_COMMANDS_MAX && len <= CONN_BYTES_MAX &&
		c->bytes <= CONN_BYTES_MAX - len);
}

int conn_put(struct conn *c, const struct conn_pending *command,
	     struct error *err)
{
	c->ring[(c->head + c->count) % CONN_COMMANDS_MAX] = *command;
	c->count++;
	c->bytes += command->len;
	c->unsent += command->len;
	if (c->unsent < WRITE_BYTES && c->count - c->sent < WRITE_COMMANDS)
		return 0;
	if (conn_push(c, err) != 0)
		return -1;
	if (c->count > CONN_COMMANDS_MAX / 2 || c->bytes > CONN_BYTES_MAX / 2)
		return conn_take(c, err);
	return 0;
}

int conn_add(struct conn *c, const struct conn_pending *command,
	     struct error *err)
{
	size_t room = command->len < CONN_BYTES_MAX
			      ? CONN_BYTES_MAX - command->len
			      : 0;

	/* With nothing under way, what comes now is no answer to this. */
	if (failed_before(c, err) != 0 ||
	    (c->count == 0 && conn_take(c, err) != 0) ||
	    wait_until(c, CONN_COMMANDS_MAX - 1, room, err) != 0) {
		free(command->copy);
		return -1;
	}
	return conn_put(c, command, err);
}
