/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A reader of a cluster: each question goes to who has its slot, and is asked
 * again where it is told to go elsewhere or to come back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "link.h"

#define SLOTS 16384
#define NODES 16
/* Questions that are under way at a time, to all nodes together. */
#define BATCH 600
/* Seconds: for an answer of a node, and for one question in all. */
#define NODE_PATIENCE 1
#define PATIENCE      20

struct node {
	char place[80];
	struct link link;
	size_t asked[BATCH]; /* the questions, in the order of their answers */
	size_t count;
};

struct cluster {
	struct node nodes[NODES];
	size_t count;
	uint8_t owner[SLOTS];
	struct tally *tally;
	const struct questions *q;
	size_t again[BATCH]; /* questions that got no answer */
	size_t again_count;
};

uint16_t slot_of(const char *key)
{
	size_t len = strlen(key);
	const char *open = strchr(key, '{');
	const char *end = open != NULL ? strchr(open, '}') : NULL;
	unsigned crc = 0;

	if (end != NULL && end > open + 1) {
		key = open + 1;
		len = (size_t)(end - key);
	}
	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned)(unsigned char)key[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x11021 : 0);
	}
	return (uint16_t)(crc % SLOTS);
}

/* The node at PLACE, of so many bytes; known from now on. */
static struct node *node_at(struct cluster *c, const char *place, size_t len)
{
	struct node *node = c->nodes;

	for (; node < c->nodes + c->count; node++)
		if (strlen(node->place) == len &&
		    memcmp(node->place, place, len) == 0)
			return node;
	if (c->count == NODES || len >= sizeof(node->place))
		die("the cluster", "it has too many nodes");
	(void)snprintf(node->place, sizeof(node->place), "%.*s", (int)len,
		       place);
	node->link.fd = -1;
	c->count++;
	return node;
}

static bool node_ready(struct node *node)
{
	return node->link.fd >= 0 ||
	       link_open(&node->link, node->place, NODE_PATIENCE);
}

/* The text of $N\r\n...\r\n, and *AT behind it. */
static const char *next_text(const char **at, size_t *len)
{
	const char *text = strchr(*at, '\n') + 1;

	*len = (size_t)strtol(*at + 1, NULL, 10);
	*at = text + *len + 2;
	return text;
}

static long next_number(const char **at)
{
	long n = strtol(*at + 1, NULL, 10);

	*at = strchr(*at, '\n') + 1;
	return n;
}

/* Behind a whole answer of any kind. */
static const char *skip(const char *at)
{
	size_t len;
	long n;

	if (*at == '$') {
		(void)next_text(&at, &len);
		return at;
	}
	n = *at == '*' ? next_number(&at) : (next_number(&at), 0);
	for (; n > 0; n--)
		at = skip(at);
	return at;
}

/* Of what CLUSTER SLOTS says: ranges of first, last, primary, replicas. */
static void take_slots(struct cluster *c, const char *at)
{
	for (long ranges = next_number(&at); ranges > 0; ranges--) {
		long parts = next_number(&at);
		long from = next_number(&at), to = next_number(&at);
		const char *owner = at, *host;
		char place[80];
		struct node *node;
		size_t len;
		int n;

		(void)next_number(&owner);
		host = next_text(&owner, &len);
		n = snprintf(place, sizeof(place), "%.*s:%ld", (int)len, host,
			     next_number(&owner));
		node = node_at(c, place, (size_t)n);
		for (long s = from; s <= to && s < SLOTS; s++)
			c->owner[s] = (uint8_t)(node - c->nodes);
		for (parts -= 2; parts > 0; parts--)
			at = skip(at);
	}
}

/* Asks any node that answers who has which slots. */
static bool learn(struct cluster *c)
{
	static const char ask[] = "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n";
	static size_t turn;

	for (size_t tries = 0; tries < c->count; tries++) {
		struct node *node = &c->nodes[turn++ % c->count];
		const char *answer = NULL;
		size_t len;

		if (node_ready(node) &&
		    link_send(&node->link, ask, sizeof(ask) - 1))
			answer = link_next(&node->link, &len);
		if (answer == NULL)
			link_close(&node->link);
		else if (*answer == '*')
			take_slots(c, answer);
		if (answer != NULL && *answer == '*')
			return true;
	}
	return false;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Whether the answer says that another time or place is better. */
static bool is_detour(const char *answer)
{
	return begins(answer, "-MOVED ") || begins(answer, "-ASK ") ||
	       begins(answer, "-TRYAGAIN ") || begins(answer, "-LOADING ") ||
	       begins(answer, "-CLUSTERDOWN ") ||
	       begins(answer, "-MASTERDOWN ");
}

/* The node that the answer -MOVED SLOT PLACE or -ASK SLOT PLACE names. */
static struct node *named(struct cluster *c, const char *answer)
{
	const char *slot = strchr(answer, ' ') + 1;
	const char *place = strchr(slot, ' ') + 1;

	return node_at(c, place, strcspn(place, "\r\n"));
}

/* One question to one node; NULL: the connection broke. */
static const char *ask_one(struct cluster *c, struct node *node, size_t which,
			   bool asking, size_t *len)
{
	static const char word[] = "*1\r\n$6\r\nASKING\r\n";
	size_t from = which > 0 ? c->q->ends[which - 1] : 0;
	const char *answer = NULL;

	if (node_ready(node) &&
	    (!asking || (link_send(&node->link, word, sizeof(word) - 1) &&
			 link_next(&node->link, len) != NULL)) &&
	    link_send(&node->link, c->q->bytes + from,
		      c->q->ends[which] - from))
		answer = link_next(&node->link, len);
	if (answer == NULL)
		link_close(&node->link);
	return answer;
}

/* Goes where it is told until there is an answer, or no more patience. */
static void ask_again(struct cluster *c, size_t which)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	time_t end = time(NULL) + PATIENCE;
	uint16_t slot = c->q->slots[which];
	struct node *node = &c->nodes[c->owner[slot]];
	bool asking = false;

	while (time(NULL) < end) {
		size_t len;
		const char *answer = ask_one(c, node, which, asking, &len);

		if (answer != NULL && !is_detour(answer)) {
			judge(c->tally, answer, len);
			return;
		}
		c->tally->redirected++;
		asking = answer != NULL && begins(answer, "-ASK ");
		if (asking) {
			node = named(c, answer);
			continue;
		}
		if (answer != NULL && begins(answer, "-MOVED ")) {
			node = named(c, answer);
			c->owner[slot] = (uint8_t)(node - c->nodes);
			continue;
		}
		(void)nanosleep(&pause, NULL);
		(void)learn(c);
		node = &c->nodes[c->owner[slot]];
	}
	if (c->tally->errors++ == 0)
		(void)fprintf(stderr, "reader: no answer for %d s: slot %u\n",
			      PATIENCE, slot);
}

/* Sends what one node is asked. */
static bool send_batch(struct cluster *c, struct node *node)
{
	if (!node_ready(node))
		return false;
	for (size_t i = 0; i < node->count; i++) {
		size_t first = node->asked[i], last = first, from;

		while (i + 1 < node->count && node->asked[i + 1] == last + 1) {
			last++;
			i++;
		}
		from = first > 0 ? c->q->ends[first - 1] : 0;
		if (!link_send(&node->link, c->q->bytes + from,
			       c->q->ends[last] - from))
			return false;
	}
	return true;
}

static void take_batch(struct cluster *c, struct node *node)
{
	for (size_t i = 0; i < node->count; i++) {
		const char *answer = NULL;
		size_t len;

		if (node->link.fd >= 0)
			answer = link_next(&node->link, &len);
		if (answer == NULL)
			link_close(&node->link);
		if (answer != NULL && !is_detour(answer)) {
			judge(c->tally, answer, len);
			continue;
		}
		c->tally->redirected += answer != NULL;
		c->again[c->again_count++] = node->asked[i];
	}
}

bool follow(const char *place, const struct questions *q, struct tally *t,
	    bool once, bool (*stop)(void), void (*ready)(void))
{
	static struct cluster c;
	bool is_ready = false;

	c.tally = t;
	c.q = q;
	(void)node_at(&c, place, strlen(place));
	if (!learn(&c))
		return false;
	for (size_t at = 0; at < q->count && !stop();
	     at = once ? at : at % q->count) {
		for (size_t i = 0; i < c.count; i++)
			c.nodes[i].count = 0;
		for (size_t n = 0; n < BATCH && at < q->count; n++, at++) {
			struct node *node = &c.nodes[c.owner[q->slots[at]]];

			node->asked[node->count++] = at;
		}
		for (size_t i = 0; i < c.count; i++)
			if (c.nodes[i].count > 0 &&
			    !send_batch(&c, &c.nodes[i]))
				link_close(&c.nodes[i].link);
		c.again_count = 0;
		for (size_t i = 0; i < c.count; i++)
			take_batch(&c, &c.nodes[i]);
		for (size_t i = 0; i < c.again_count; i++)
			ask_again(&c, c.again[i]);
		if (t->reads > 0 && !is_ready) {
			ready();
			is_ready = true;
		}
	}
	for (size_t i = 0; i < c.count; i++)
		link_close(&c.nodes[i].link);
	return true;
}
