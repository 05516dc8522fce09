/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/slots.h"

#include <stdlib.h>
#include <string.h>

/* --- slots of keys -------------------------------------------------------- */

/* CRC-16/XMODEM, polynomial 0x1021, as the cluster specification has it. */
static unsigned crc16(const char *data, size_t len)
{
	unsigned crc = 0;

	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned)(unsigned char)data[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021
						  : crc << 1;
		crc &= 0xFFFF;
	}
	return crc;
}

int slots_of(const char *key, size_t len)
{
	const char *open = memchr(key, '{', len);
	const char *end = NULL;

	if (open != NULL)
		end = memchr(open + 1, '}', len - (size_t)(open + 1 - key));
	if (end != NULL && end > open + 1) {
		len = (size_t)(end - open) - 1;
		key = open + 1;
	}
	return (int)(crc16(key, len) % SLOTS_COUNT);
}

/* --- answers -------------------------------------------------------------- */

static int bad(struct error *err, const char *what)
{
	return error_set(err, ERROR_DATA,
			 "CLUSTER SLOTS: the answer cannot be read: %s", what);
}

static bool is_text(const struct reply *reply)
{
	return reply->type == REPLY_BULK || reply->type == REPLY_STATUS;
}

/* A host, "" where none is said; false: it cannot be one. */
static bool take_host(const char *text, size_t len, char out[SLOTS_HOST_MAX])
{
	out[0] = '\0';
	if (len >= SLOTS_HOST_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] <= ' ' ||
		    (unsigned char)text[i] >= 0x7F)
			return false;
	if (len == 1 && text[0] == '?')
		return true;
	memcpy(out, text, len);
	out[len] = '\0';
	return true;
}

static bool read_host(const struct reply *reply, char out[SLOTS_HOST_MAX])
{
	if (reply->type == REPLY_NIL)
		return take_host("", 0, out);
	return is_text(reply) && take_host(reply->u.text, reply->len, out);
}

static bool read_number(const struct reply *reply, int64_t least, int64_t most,
			int64_t *out)
{
	return reply_integer(reply, out) == 0 && *out >= least && *out <= most;
}

/* The number of a node, which is new if it is at no place that is known. */
static int number_of(struct slots *slots, const struct slots_node *node,
		     struct error *err)
{
	struct slots_node *nodes;

	for (size_t i = 0; i < slots->count; i++)
		if (slots->nodes[i].port == node->port &&
		    strcmp(slots->nodes[i].host, node->host) == 0)
			return (int)i;
	if (slots->count == SLOTS_NODES_MAX)
		return bad(err, "too many nodes");
	nodes = realloc(slots->nodes, (slots->count + 1) * sizeof(*nodes));
	if (nodes == NULL)
		return error_nomem(err);
	slots->nodes = nodes;
	nodes[slots->count] = *node;
	return (int)slots->count++;
}

static int take_range(struct slots *slots, const struct reply *first,
		      const struct reply *last, const struct slots_node *node,
		      struct error *err)
{
	int64_t from;
	int64_t to;
	int number;

	if (!read_number(first, 0, SLOTS_COUNT - 1, &from) ||
	    !read_number(last, from, SLOTS_COUNT - 1, &to))
		return bad(err, "a range of slots that cannot be");
	number = number_of(slots, node, err);
	if (number < 0)
		return -1;
	for (int64_t slot = from; slot <= to; slot++)
		slots->owner[slot] = (uint16_t)number;
	return 0;
}

/* [first, last, [host, port, id, ...], replicas...] */
static int take_slots(struct slots *slots, const struct reply *entry,
		      struct error *err)
{
	const struct reply *items = entry->u.items;
	struct slots_node node;
	int64_t port;

	if (entry->len < 3 || items[2].type != REPLY_ARRAY || items[2].len < 2)
		return bad(err, "a range without a node");
	if (!read_host(&items[2].u.items[0], node.host) ||
	    !read_number(&items[2].u.items[1], 1, 65535, &port))
		return bad(err, "a node at a place that cannot be");
	node.port = (uint16_t)port;
	return take_range(slots, &items[0], &items[1], &node, err);
}

/* --- CLUSTER SHARDS ------------------------------------------------------- */

/* Whether a member of a flat map is one of two words. */
static bool says(const struct reply *map, const char *name, const char *word,
		 const char *other)
{
	const struct reply *member = reply_member(map, name);

	return member != NULL &&
	       (reply_is(member, word) || reply_is(member, other));
}

static int read_primary(const struct reply *map, bool tls,
			struct slots_node *node, struct error *err)
{
	const struct reply *host = reply_member(map, "endpoint");
	const struct reply *port = reply_member(map, tls ? "tls-port" : "port");
	int64_t number;

	/* The wanted kind may not be there, as both are one for some. */
	if (port == NULL)
		port = reply_member(map, tls ? "port" : "tls-port");
	if (host == NULL)
		host = reply_member(map, "ip");
	if (host == NULL || port == NULL || !read_host(host, node->host) ||
	    !read_number(port, 1, 65535, &number))
		return bad(err, "a node at a place that cannot be");
	node->port = (uint16_t)number;
	return 0;
}

/* "slots", [first, last, ...], "nodes", [[name, value, ...], ...] */
static int take_shard(struct slots *slots, const struct reply *shard, bool tls,
		      struct error *err)
{
	const struct reply *ranges = reply_member(shard, "slots");
	const struct reply *nodes = reply_member(shard, "nodes");
	const struct reply *primary = NULL;
	struct slots_node node;

	if (ranges == NULL || ranges->type != REPLY_ARRAY ||
	    ranges->len % 2 != 0 || nodes == NULL || nodes->type != REPLY_ARRAY)
		return bad(err, "a shard without slots or nodes");
	for (size_t i = 0; i < nodes->len; i++)
		if (says(&nodes->u.items[i], "role", "master", "primary") &&
		    !says(&nodes->u.items[i], "health", "fail", "failed"))
			primary = &nodes->u.items[i];
	if (primary == NULL || ranges->len == 0)
		return 0;
	if (read_primary(primary, tls, &node, err) != 0)
		return -1;
	for (size_t i = 0; i < ranges->len; i += 2)
		if (take_range(slots, &ranges->u.items[i],
			       &ranges->u.items[i + 1], &node, err) != 0)
			return -1;
	return 0;
}

/* --- the whole ------------------------------------------------------------ */

void slots_release(struct slots *slots)
{
	free(slots->nodes);
	memset(slots, 0, sizeof(*slots));
}

static int take_all(struct slots *slots, const struct reply *reply, bool tls,
		    struct error *err)
{
	for (size_t i = 0; i < reply->len; i++) {
		const struct reply *entry = &reply->u.items[i];
		int rc;

		if (entry->type != REPLY_ARRAY || entry->len == 0)
			return bad(err, "an element that is no range");
		rc = is_text(&entry->u.items[0])
			     ? take_shard(slots, entry, tls, err)
			     : take_slots(slots, entry, err);
		if (rc != 0)
			return -1;
	}
	if (slots->count == 0)
		return error_set(err, ERROR_TEMPORARY,
				 "CLUSTER SLOTS: no node has slots");
	return 0;
}

/* Those that have slots, in the order of their lowest ones. */
static int put_in_order(struct slots *slots, struct error *err)
{
	uint16_t numbers[SLOTS_NODES_MAX]; /* new ones */
	struct slots_node *nodes = calloc(slots->count, sizeof(*nodes));
	size_t count = 0;

	if (nodes == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < slots->count; i++)
		numbers[i] = SLOTS_NOBODY;
	for (int slot = 0; slot < SLOTS_COUNT; slot++) {
		uint16_t *owner = &slots->owner[slot];

		if (*owner == SLOTS_NOBODY)
			continue;
		if (numbers[*owner] == SLOTS_NOBODY) {
			nodes[count] = slots->nodes[*owner];
			numbers[*owner] = (uint16_t)count++;
		}
		*owner = numbers[*owner];
	}
	free(slots->nodes);
	slots->nodes = nodes;
	slots->count = count;
	return 0;
}

int slots_read(const struct reply *reply, bool tls, struct slots *out,
	       struct error *err)
{
	memset(out, 0, sizeof(*out));
	for (int slot = 0; slot < SLOTS_COUNT; slot++)
		out->owner[slot] = SLOTS_NOBODY;
	if (reply->type != REPLY_ARRAY)
		(void)reply_refused(reply, err, "CLUSTER SLOTS");
	else if (take_all(out, reply, tls, err) == 0 &&
		 put_in_order(out, err) == 0)
		return 0;
	slots_release(out);
	return -1;
}

/* A number of decimal digits that end before `end`. */
static bool take_number(const char **at, char end, unsigned long most,
			unsigned long *out)
{
	char *rest;

	if (**at < '0' || **at > '9')
		return false;
	*out = strtoul(*at, &rest, 10);
	*at = rest;
	return *out <= most && *rest == end;
}

bool slots_redirect(const struct reply *reply, struct slots_redirect *out)
{
	bool ask = reply_is_error(reply, "ASK");
	const char *at, *colon;
	unsigned long slot, port;

	if ((!ask && !reply_is_error(reply, "MOVED")) ||
	    strlen(reply->u.text) != reply->len)
		return false;
	at = reply->u.text + (ask ? strlen("ASK") : strlen("MOVED"));
	if (*at++ != ' ' || !take_number(&at, ' ', SLOTS_COUNT - 1, &slot))
		return false;
	at++;
	colon = strrchr(at, ':');
	if (colon == NULL ||
	    !take_host(at, (size_t)(colon - at), out->node.host))
		return false;
	at = colon + 1;
	if (!take_number(&at, '\0', UINT16_MAX, &port) || port == 0)
		return false;
	out->ask = ask;
	out->slot = (int)slot;
	out->node.port = (uint16_t)port;
	return true;
}
