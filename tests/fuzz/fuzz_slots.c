/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_slots: any answers as maps of slots and as redirects: what is read of
 * them can be used, and what cannot be read is an error.
 *
 * Input: the bytes of the answers; the first one asks for ports of TLS if odd.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/redis/slots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check_node(const struct slots_node *node)
{
	size_t len = strnlen(node->host, sizeof(node->host));

	require(len < sizeof(node->host));
	for (size_t i = 0; i < len; i++)
		require(node->host[i] > ' ' && node->host[i] < 0x7F);
	require(node->port > 0 && strcmp(node->host, "?") != 0);
}

static void check_map(const struct slots *map)
{
	size_t seen = 0;

	require(map->count > 0 && map->count <= SLOTS_NODES_MAX);
	for (size_t i = 0; i < map->count; i++)
		check_node(&map->nodes[i]);
	/* Each has slots, and the first of each come in order. */
	for (int slot = 0; slot < SLOTS_COUNT; slot++) {
		if (map->owner[slot] == SLOTS_NOBODY)
			continue;
		require(map->owner[slot] <= seen);
		if (map->owner[slot] == seen)
			seen++;
	}
	require(seen == map->count);
}

static void check(const struct reply *reply, bool tls)
{
	struct error err = ERROR_INIT;
	struct slots_redirect redirect;
	static struct slots map;

	if (slots_read(reply, tls, &map, &err) == 0) {
		require(err.code == ERROR_NONE);
		check_map(&map);
	} else {
		require(err.code != ERROR_NONE && err.text[0] != '\0');
		require(map.nodes == NULL && map.count == 0);
	}
	slots_release(&map);
	slots_release(&map);
	if (slots_redirect(reply, &redirect)) {
		require(redirect.slot >= 0 && redirect.slot < SLOTS_COUNT);
		check_node(&redirect.node);
	}
	if (reply->type == REPLY_BULK)
		require(slots_of(reply->u.text, reply->len) < SLOTS_COUNT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct reader *r = reader_new(1u << 20);
	const struct reply *reply;

	require(r != NULL);
	if (size > 1 && reader_feed(r, data + 1, size - 1, &err) == 0)
		while (reader_next(r, &reply, &err) == 1)
			check(reply, (data[0] & 1) != 0);
	reader_free(r);
	return 0;
}
