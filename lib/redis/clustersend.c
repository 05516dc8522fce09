/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/redis/cluster_private.h"

/* Commands that wait for a node; more are not taken. */
#define WAITS_MAX CONN_COMMANDS_MAX
/* Redirects that are followed at once. */
#define HOPS_MAX 3
/* The longest pause before a command is tried again, in milliseconds. */
#define PAUSE_MAX_MS 250

static const char *const asking[] = {"ASKING"};

/* --- what waits ----------------------------------------------------------- */

/* Behind all others, or before them. */
static void put_waiting(struct cluster *c, const struct waiting *what,
			struct waiting **at)
{
	struct waiting *w = malloc(sizeof(*w));
	struct error err = ERROR_INIT;

	if (w == NULL) {
		free(what->command.copy);
		(void)error_nomem(&err);
		(void)cluster_fail(c, &err);
		return;
	}
	*w = *what;
	if (w->command.since == 0)
		w->command.since = clock_ns();
	w->next = *at;
	*at = w;
	if (w->next == NULL)
		c->last = &w->next;
	c->waits++;
}

void wait_add(struct cluster *c, const struct waiting *what)
{
	put_waiting(c, what, c->last);
}

void wait_clear(struct cluster *c)
{
	while (c->waiting != NULL) {
		struct waiting *w = c->waiting;

		c->waiting = w->next;
		free(w->command.copy);
		free(w);
	}
	c->last = &c->waiting;
	c->waits = 0;
}

int wait_ms(const struct cluster *c)
{
	int64_t now = clock_ns();
	int64_t first = INT64_MAX;

	for (const struct waiting *w = c->waiting; w != NULL; w = w->next)
		if (w->due < first)
			first = w->due;
	if (first == INT64_MAX)
		return -1;
	/* What is due waits for room, or for what is before it. */
	return first > now ? (int)((first - now + 999999) / 1000000) : 5;
}

static bool slot_waits(const struct cluster *c, int slot)
{
	for (const struct waiting *w = c->waiting; w != NULL; w = w->next)
		if (w->command.slot == slot)
			return true;
	return false;
}

/* --- what a node did not do ----------------------------------------------- */

static int asking_answered(void *ctx, uint64_t tag, const struct reply *reply,
			   struct error *err)
{
	(void)ctx, (void)tag;
	return reply_is(reply, "OK") ? 0 : reply_refused(reply, err, "ASKING");
}

static int64_t later(int tries)
{
	int ms = tries < 6 ? 4 << tries : PAUSE_MAX_MS;

	return clock_ns() +
	       (int64_t)(ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS) * 1000000;
}

/* Whether it is nobody's but ours: then it is gone. */
static bool is_own(struct cluster *c, const struct conn_pending *command)
{
	if (command->fn == map_answered)
		map_dropped(c);
	else if (command->fn != asking_answered)
		return false;
	free(command->copy);
	return true;
}

/* Keys of one command are on two nodes, until the slot has moved. */
static void half_moved(const struct node *n, const struct conn_pending *command)
{
	struct error *cause = &n->cluster->cause;

	(void)error_set(cause, ERROR_TEMPORARY,
			"%s: slot %d is being moved, and its keys are on two "
			"nodes",
			n->target.place, command->slot);
	(void)error_hint(cause, "see that it is moved to its end (CLUSTER "
				"SETSLOT ... NODE), and run it again");
}

void cluster_bounced(void *ctx, const struct conn_pending *command,
		     const struct reply *why)
{
	struct node *n = ctx;
	struct cluster *c = n->cluster;
	struct slots_redirect redirect;
	struct waiting w = {.command = *command, .node = NODE_NONE};
	struct error ignored = ERROR_INIT;
	const char *name;
	int len = conn_command_name(command, &name);

	(void)reply_refused(why, &c->cause, "%.*s", len, name);
	(void)error_prefix(&c->cause, "%s", n->target.place);
	if (is_own(c, command))
		return;
	w.command.tries++;
	w.due = later(w.command.tries);
	if (slots_redirect(why, &redirect)) {
		int node = map_redirect(c, &redirect, n, &ignored);

		c->cause.hint[0] = '\0'; /* that is for who knows no map */
		if (w.command.tries <= HOPS_MAX)
			w.due = 0;
		w.asking = redirect.ask;
		if (redirect.ask)
			w.node = node;
	} else if (reply_is_error(why, "TRYAGAIN")) {
		half_moved(n, command);
	} else if (!reply_is_throttled(why)) {
		c->stale = true;
	}
	wait_add(c, &w);
}

void cluster_harvest(struct node *n)
{
	struct cluster *c = n->cluster;
	struct conn *conn = n->conn;
	struct waiting **at = &c->waiting;

	c->cause = conn->cause;
	(void)error_prefix(&c->cause, "%s", n->target.place);
	c->stale = true;
	node_lost(n, &c->cause);
	/* They were sent before all that waits. */
	while (conn->count > 0) {
		bool written = conn->sent > 0 || conn->sent_off > 0;
		struct waiting w = {.command = conn_pop(conn),
				    .node = NODE_NONE};

		if (is_own(c, &w.command))
			continue;
		c->resent += written ? 1 : 0;
		w.command.tries += written ? 1 : 0;
		w.again = written && c->pins != NULL;
		if (w.again)
			w.node = (int)n->number;
		put_waiting(c, &w, at);
		if (*at != NULL)
			at = &(*at)->next;
	}
}

/* --- what goes ------------------------------------------------------------ */

int cluster_give_up(struct cluster *c, struct error *err)
{
	struct error cause = c->cause;
	char span[CONN_SPAN_MAX];
	int ms = c->target->timeout_ms;

	if (c->patient_until != 0 && c->patient_ms < ms)
		ms = c->patient_ms;
	if (cause.code == ERROR_NONE)
		(void)error_set(&cause, ERROR_TEMPORARY, "%s: no answer",
				c->target->place);
	(void)error_set(err, ERROR_TEMPORARY, "%s; given up after %s",
			cause.text, conn_span(ms, span));
	if (cause.hint[0] != '\0')
		(void)error_hint(err, "%s", cause.hint);
	return cluster_fail(c, err);
}

/* The node for a command; NODE_NONE: nobody has its slot. */
static int node_for(const struct cluster *c, const struct conn_pending *command)
{
	if (command->node >= 0)
		return command->node;
	if (command->slot >= 0)
		return c->owner[command->slot] == SLOTS_NOBODY
			       ? NODE_NONE
			       : c->owner[command->slot];
	for (size_t i = 0; i < c->count; i++)
		if (node_is_open(c->nodes[i]))
			return (int)i;
	for (size_t i = 0; i < c->count; i++)
		if (cluster_serves(c, i) && c->nodes[i]->next <= clock_ns())
			return (int)i;
	return 0;
}

static bool has_room(const struct cluster *c, const struct conn *conn,
		     size_t len)
{
	return c->calling ? conn->count == 0 : conn_has_room(conn, len);
}

static int put_asking(struct conn *conn, struct error *err)
{
	struct conn_pending command = {
		.fn = asking_answered, .slot = CLUSTER_ANY, .node = NODE_NONE};

	if (conn_command(1, asking, NULL, &command, err) != 0)
		return -1;
	return conn_put(conn, &command, err);
}

/* Another process has what this one alone could have told us. */
static int replaced(struct cluster *c, const struct node *n, struct error *err)
{
	(void)error_set(err, ERROR_TEMPORARY,
			"%s: the server was replaced meanwhile: what it "
			"acknowledged may be lost",
			n->target.place);
	(void)error_hint(err, "run the same command again");
	return cluster_fail(c, err);
}

/* 1: it went; 0: not now; -1. */
static int send_one(struct cluster *c, struct waiting *w, struct error *err)
{
	int number = w->node >= 0 ? w->node : node_for(c, &w->command);
	struct conn_pending command;
	struct node *n;
	int rc;

	if (number == NODE_NONE) {
		(void)error_set(&c->cause, ERROR_TEMPORARY,
				"%s: no node has slot %d", c->target->place,
				w->command.slot);
		c->stale = true;
		w->due = later(++w->command.tries);
		return 0;
	}
	n = c->nodes[number];
	rc = node_open(n, err);
	if (rc < 0)
		return -1;
	if (rc == 0) {
		if (w->again && w->command.slot >= 0 &&
		    c->owner[w->command.slot] != number)
			return replaced(c, n, err);
		c->cause = n->cause;
		c->stale = true;
		w->due = n->next;
		/* Who has the slot may tell another node by then. */
		if (w->asking)
			w->node = NODE_NONE;
		w->asking = false;
		return 0;
	}
	if (!has_room(c, n->conn, w->command.len + 64))
		return 0;
	if (node_pin(n, err) != 0 ||
	    (w->asking && put_asking(n->conn, err) != 0))
		return cluster_fail(c, err);
	/* Its copy is the connection's from here on, also when that fails. */
	command = w->command;
	w->command.copy = NULL;
	/* It only waited for a connection. */
	if (command.tries == 0)
		command.since = 0;
	return conn_put(n->conn, &command, err) == 0 ? 1 : cluster_fail(c, err);
}

int wait_send(struct cluster *c, struct error *err)
{
	unsigned char blocked[SLOTS_COUNT / 8] = {0};
	struct waiting **at = &c->waiting;

	while (*at != NULL) {
		struct waiting *w = *at;
		int slot = w->command.slot;
		bool behind =
			slot >= 0 && (blocked[slot / 8] & 1u << slot % 8) != 0;
		int rc = 0;

		if (!behind && w->due <= clock_ns())
			rc = send_one(c, w, err);
		if (rc < 0)
			return -1;
		if (rc == 0) {
			if (cluster_left(c, w->command.since) == 0)
				return cluster_give_up(c, err);
			if (slot >= 0)
				blocked[slot / 8] |=
					(unsigned char)(1u << slot % 8);
			at = &w->next;
			continue;
		}
		*at = w->next;
		if (*at == NULL)
			c->last = at;
		c->waits--;
		free(w);
	}
	return 0;
}

/*
 * 1: it is on its way, or waits; 0: something must move before; -1.  Its copy
 * is taken over, and *command has none any more, but with 0.
 */
static int try_add(struct cluster *c, struct conn_pending *command,
		   struct error *err)
{
	const struct waiting w = {.command = *command, .node = NODE_NONE};
	int number = node_for(c, command);
	struct conn *conn = number >= 0 ? c->nodes[number]->conn : NULL;

	if (c->waits >= WAITS_MAX)
		return 0;
	/* What it has not answered comes before. */
	if (conn != NULL && conn->net == NULL && conn->count > 0)
		cluster_harvest(c->nodes[number]);
	/* With nothing under way, what comes now is no answer to this. */
	if (conn != NULL && conn->count == 0 && conn_take(conn, err) != 0)
		return cluster_fail(c, err);
	if (conn == NULL || conn->net == NULL ||
	    (c->waits > 0 && slot_waits(c, command->slot))) {
		command->copy = NULL;
		wait_add(c, &w);
		return 1;
	}
	if (!has_room(c, conn, command->len))
		return 0;
	if (node_pin(c->nodes[number], err) != 0)
		return cluster_fail(c, err);
	command->copy = NULL;
	return conn_put(conn, &w.command, err) == 0 ? 1 : cluster_fail(c, err);
}

int cluster_add(struct cluster *c, const struct conn_pending *command,
		struct error *err)
{
	struct conn_pending it = *command;
	int rc = cluster_check(c, err);

	while (rc == 0) {
		rc = try_add(c, &it, err);
		if (rc == 0)
			rc = cluster_step(c, err);
	}
	free(rc > 0 ? NULL : it.copy);
	return rc > 0 ? 0 : -1;
}
