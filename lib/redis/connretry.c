/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/stop.h"
#include "lib/redis/conn.h"
#include "lib/redis/conn_private.h"

#define BACKOFF_MIN_MS 20
#define BACKOFF_MAX_MS 1000

void conn_lost(struct conn *c, const struct error *cause)
{
	net_close(c->net);
	c->net = NULL;
	c->cause = *cause;
	c->backoff_ms *= 2;
	if (c->backoff_ms < BACKOFF_MIN_MS)
		c->backoff_ms = BACKOFF_MIN_MS;
	if (c->backoff_ms > BACKOFF_MAX_MS)
		c->backoff_ms = BACKOFF_MAX_MS;
}

enum conn_after conn_after_wait(const struct error *err)
{
	if (err->code == ERROR_INTERRUPTED || err->code == ERROR_TERMINATED)
		return CONN_STOP;
	/* A deadline is one too. */
	if (err->code == ERROR_TEMPORARY && stop_asked())
		return CONN_STOP;
	return CONN_FATAL;
}

/* The pause before the next try, which a stop ends. */
static int pause_before(struct conn *c, struct error *err)
{
	int left = conn_left(c, c->trouble);
	int ms = c->backoff_ms < left ? c->backoff_ms : left;

	if (c->patient_until == 0)
		return input_wait(-1, ms, err) < 0 ? -1 : 0;
	(void)poll(NULL, 0, ms);
	return 0;
}

static int give_up(struct conn *c, struct error *err)
{
	char span[CONN_SPAN_MAX];
	int ms = c->target->timeout_ms;

	if (c->patient_until != 0 && c->patient_ms < ms)
		ms = c->patient_ms;
	error_set(err, c->reached ? ERROR_TEMPORARY : ERROR_UNREACHED,
		  "%s; given up after %s", c->cause.text, conn_span(ms, span));
	if (c->cause.hint[0] != '\0')
		error_hint(err, "%s", c->cause.hint);
	return conn_fail(c, err);
}

static int try_until_over(struct conn *c, struct error *err)
{
	enum conn_after after;

	for (;;) {
		if (c->backoff_ms > 0 && pause_before(c, err) != 0) {
			if (conn_after_wait(err) == CONN_STOP)
				return -1;
			return conn_fail(c, err);
		}
		if (c->backoff_ms > 0 && conn_left(c, c->trouble) == 0)
			return give_up(c, err);
		if (conn_login(c, &after, err) == 0)
			return 0;
		if (after == CONN_FATAL)
			return conn_fail(c, err);
		if (after == CONN_STOP) {
			net_close(c->net);
			c->net = NULL;
			return -1;
		}
		conn_lost(c, err);
	}
}

int conn_connect(struct conn *c, struct error *err)
{
	struct error why;

	if (c->trouble == 0)
		c->trouble = clock_ns();
	/* A try that failed before one that did not is no error. */
	if (try_until_over(c, &why) != 0) {
		*err = why;
		return -1;
	}
	c->made++;
	/* All that is not answered goes over the new one. */
	c->sent = 0;
	c->sent_off = 0;
	c->unsent = c->bytes;
	c->moved = clock_ns();
	if (c->count == 0) {
		c->trouble = 0;
		c->backoff_ms = 0;
	}
	return 0;
}
