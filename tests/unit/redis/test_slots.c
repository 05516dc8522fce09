/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/slots.h"

#include "lib/base/buf.h"
#include "tests/unit/unit.h"

/* --- slots of keys -------------------------------------------------------- */

static void keys_have_slots(void)
{
	/* As CLUSTER KEYSLOT says. */
	static const struct {
		const char *key;
		int slot;
	} cases[] = {
		{"", 0},
		{"123456789", 0x31C3},
		{"a", 15495},
		{"foo", 12182},
		{"{foo}", 12182},
		{"x{foo}y{bar}", 12182},
		{"}{foo}", 12182},
		{"foo{}{bar}", 8363},
		{"foo{{bar}}zap", 4015},
		{"{", 4092},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_U64(
			(unsigned)slots_of(cases[i].key, strlen(cases[i].key)),
			(unsigned)cases[i].slot);
	CHECK(slots_of("a\0b", 3) != slots_of("a", 1));
	CHECK(slots_of("{a}", 2) != slots_of("{a}", 3));
}

/* --- answers -------------------------------------------------------------- */

/*
 * What a map says: "0-5460 host:port, 5461-16383 host:port", and behind a bar
 * its nodes in order.
 */
static void render(const struct slots *map, struct buf *out)
{
	for (int from = 0, to; from < SLOTS_COUNT; from = to) {
		uint16_t owner = map->owner[from];

		for (to = from + 1; to < SLOTS_COUNT; to++)
			if (map->owner[to] != owner)
				break;
		if (owner == SLOTS_NOBODY)
			continue;
		CHECK(owner < map->count);
		CHECK(buf_addf(out, "%d-%d %s:%u ", from, to - 1,
			       map->nodes[owner].host,
			       (unsigned)map->nodes[owner].port) == 0);
	}
	CHECK(buf_addf(out, "|") == 0);
	for (size_t i = 0; i < map->count; i++)
		CHECK(buf_addf(out, " %u", (unsigned)map->nodes[i].port) == 0);
}

#define UNREADABLE "data: CLUSTER SLOTS: the answer cannot be read: "
#define NO_SLOTS   "temporary: CLUSTER SLOTS: no node has slots"

/* What is read of bytes of a reply: a map, or an error behind its code. */
static void check_bytes(const void *bytes, size_t len, bool tls,
			const char *want)
{
	struct reader *r = reader_new(1 << 20);
	struct error err = ERROR_INIT;
	const struct reply *reply;
	static struct slots map;
	struct buf text;

	buf_init(&text, 1 << 16);
	CHECK(reader_feed(r, bytes, len, &err) == 0);
	REQUIRE(reader_next(r, &reply, &err) == 1);
	if (slots_read(reply, tls, &map, &err) == 0) {
		render(&map, &text);
	} else {
		CHECK(buf_addf(&text, "%s",
			       err.code == ERROR_DATA        ? "data: "
			       : err.code == ERROR_TEMPORARY ? "temporary: "
			       : err.code == ERROR_RIGHTS    ? "rights: "
							     : "?") == 0);
		CHECK(buf_addf(&text, "%s", err.text) == 0);
		CHECK(map.nodes == NULL && map.count == 0);
	}
	CHECK_STR(text.data, want);
	slots_release(&map);
	slots_release(&map);
	buf_release(&text);
	reader_free(r);
}

/* A file of the corpus; its first byte is for the fuzzer. */
static void check_file(const char *name, bool tls, const char *want)
{
	char bytes[4096], path[128];
	size_t len;
	FILE *in;

	(void)snprintf(path, sizeof(path), "tests/corpus/slots/%s", name);
	in = fopen(path, "rb");
	REQUIRE(in != NULL);
	len = fread(bytes, 1, sizeof(bytes), in);
	(void)fclose(in);
	REQUIRE(len > 1 && len < sizeof(bytes));
	check_bytes(bytes + 1, len - 1, tls, want);
}

/* Recorded of redis-server 7.0.15. */
static void servers_are_understood(void)
{
	static const struct {
		const char *name;
		bool tls;
		const char *want;
	} cases[] = {
#define BY_IP                                                        \
	"0-5460 127.0.0.1:27410 5461-16383 127.0.0.1:27411 | 27410 " \
	"27411"
		{"ip-slots", false, BY_IP},
		{"ip-shards", false, BY_IP},
		{"failed-shards", false, BY_IP},
#define BY_NAME                                                \
	"0-5460 node0.example:27410 5461-16383 node1.example:" \
	"27411 | 27410 27411"
		{"hostname-slots", false, BY_NAME},
		{"hostname-shards", false, BY_NAME},
	/* One of the nodes has no name: "?". */
#define ONE_NAMELESS \
	"0-5460 node0.example:27410 5461-16383 :27411 | 27410 27411"
		{"nohostname-slots", false, ONE_NAMELESS},
		{"nohostname-shards", false, ONE_NAMELESS},
	/* NULL in the one, "" in the other. */
#define NAMELESS "0-5460 :27410 5461-16383 :27411 | 27410 27411"
		{"unknown-endpoint-slots", false, NAMELESS},
		{"unknown-endpoint-shards", false, NAMELESS},
		/* It has met nobody and knows no address of its own. */
		{"alone-slots", false, "0-5460 :27410 | 27410"},
	/* Both kinds of ports are named, or the one of the asker. */
#define BY_TLS                                                       \
	"0-5460 127.0.0.1:27610 5461-16383 127.0.0.1:27611 | 27610 " \
	"27611"
#define BESIDE_TLS                                                   \
	"0-5460 127.0.0.1:27510 5461-16383 127.0.0.1:27511 | 27510 " \
	"27511"
		{"tlscluster-tls-slots", true, BY_TLS},
		{"tlscluster-tls-shards", true, BY_TLS},
		{"tlscluster-ip-shards", true, BY_TLS},
		{"tlscluster-ip-shards", false, BESIDE_TLS},
		{"tlscluster-ip-slots", false, BESIDE_TLS},
		/* Without tls-cluster it tells the others' plain ports only. */
		{"tls-slots", true, BY_IP},
		{"tls-shards", true, BY_IP},
		{"empty-slots", false, NO_SLOTS},
		{"empty-shards", false, NO_SLOTS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_file(cases[i].name, cases[i].tls, cases[i].want);
}

#define ONE(from, to, host, port) \
	"*3\r\n:" from "\r\n:" to "\r\n*2\r\n" host "\r\n" port "\r\n"
#define HOST "$1\r\nh"
#define SHARD(slots, nodes) \
	"*4\r\n$5\r\nslots\r\n" slots "$5\r\nnodes\r\n" nodes
#define NODE(host, port, role, health)                            \
	"*8\r\n$8\r\nendpoint\r\n" host "\r\n$4\r\nport\r\n" port \
	"\r\n+role\r\n+" role "\r\n+health\r\n+" health "\r\n"

static void check_text(const char *bytes, const char *want)
{
	check_bytes(bytes, strlen(bytes), false, want);
}

static void maps_are_read(void)
{
	static const char *const cases[][2] = {
		{"*1\r\n" ONE("0", "16383", "$11\r\n2001:db8::1", ":65535"),
		 "0-16383 2001:db8::1:65535 | 65535"},
		{"*1\r\n" ONE("7", "7", "+h", "$4\r\n6379"),
		 "7-7 h:6379 | 6379"},
		/* One node with two ranges; nodes by their lowest slots. */
		{"*3\r\n" ONE("9", "9", HOST, ":2") ONE("5", "6", HOST, ":1")
			 ONE("0", "1", HOST, ":2"),
		 "0-1 h:2 5-6 h:1 9-9 h:2 | 2 1"},
		/* The later one has it, and who has nothing left is no node. */
		{"*2\r\n" ONE("0", "9", HOST, ":1") ONE("0", "20", HOST, ":2"),
		 "0-20 h:2 | 2"},
		/* Primaries that live; whoever has no slots is left out. */
		{"*3\r\n" SHARD("*4\r\n:0\r\n:1\r\n:8\r\n:9\r\n",
				"*2\r\n" NODE(HOST, ":3", "replica", "online")
					NODE(HOST, ":4", "primary", "online"))
			 SHARD("*2\r\n:2\r\n:7\r\n",
			       "*1\r\n" NODE(HOST, ":5", "master", "fail"))
				 SHARD("*0\r\n",
				       "*1\r\n" NODE("$0\r\n", ":6", "master",
						     "online")),
		 "0-1 h:4 8-9 h:4 | 4"},
		/* The old primary of a shard is still named beside the new. */
		{"*1\r\n" SHARD("*2\r\n:0\r\n:1\r\n",
				"*2\r\n" NODE(HOST, ":3", "master", "online")
					NODE(HOST, ":4", "master", "fail")),
		 "0-1 h:3 | 3"},
		{"*1\r\n" SHARD("*2\r\n:0\r\n:1\r\n",
				"*1\r\n*4\r\n+ip\r\n+::1\r\n+port\r\n:7\r\n"),
		 NO_SLOTS},
		{"*1\r\n" SHARD("*2\r\n:0\r\n:1\r\n",
				"*1\r\n*6\r\n+ip\r\n+::1\r\n+port\r\n:7\r\n"
				"+role\r\n+master\r\n"),
		 "0-1 ::1:7 | 7"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_text(cases[i][0], cases[i][1]);
}

static void what_cannot_be_is_refused(void)
{
#define RANGE  "a range of slots that cannot be"
#define PLACE  "a node at a place that cannot be"
#define NOBODY "a range without a node"
#define EMPTY  "a shard without slots or nodes"
#define NOTONE "an element that is no range"
	static const char *const cases[][2] = {
		{ONE("9", "8", HOST, ":1"), RANGE},
		{ONE("0", "16384", HOST, ":1"), RANGE},
		{ONE("-1", "1", HOST, ":1"), RANGE},
		{ONE("99999999999", "99999999999", HOST, ":1"), RANGE},
		{"*3\r\n:0\r\n+x\r\n*2\r\n$1\r\nh\r\n:1\r\n", RANGE},
		{ONE("0", "1", HOST, ":0"), PLACE},
		{ONE("0", "1", HOST, ":70000"), PLACE},
		{ONE("0", "1", HOST, ":-6379"), PLACE},
		{ONE("0", "1", HOST, "$-1"), PLACE},
		{ONE("0", "1", ":5", ":1"), PLACE},
		{ONE("0", "1", "$3\r\na b", ":1"), PLACE},
		{ONE("0", "1", "$2\r\na\x7F", ":1"), PLACE},
		{ONE("0", "1", "*0", ":1"), PLACE},
		{"*2\r\n:0\r\n:1\r\n", NOBODY},
		{"*3\r\n:0\r\n:1\r\n:2\r\n", NOBODY},
		{"*3\r\n:0\r\n:1\r\n*1\r\n+h\r\n", NOBODY},
		{"*3\r\n:0\r\n:1\r\n*0\r\n", NOBODY},
		{"*0\r\n", NOTONE},
		{":5\r\n", NOTONE},
		{"$-1\r\n", NOTONE},
		{"*1\r\n$5\r\nslots\r\n", EMPTY},
		{"*2\r\n$5\r\nslots\r\n*0\r\n", EMPTY},
		{SHARD("*1\r\n:0\r\n", "*0\r\n"), EMPTY},
		{SHARD(":0\r\n", "*0\r\n"), EMPTY},
		{SHARD("*0\r\n", ":0\r\n"), EMPTY},
		{SHARD("*2\r\n:5\r\n:4\r\n",
		       "*1\r\n" NODE(HOST, ":1", "master", "online")),
		 RANGE},
		{SHARD("*2\r\n:0\r\n:1\r\n",
		       "*1\r\n" NODE(HOST, ":0", "master", "online")),
		 PLACE},
		{SHARD("*2\r\n:0\r\n:1\r\n",
		       "*1\r\n*4\r\n+role\r\n+master\r\n+ip\r\n+h\r\n"),
		 PLACE},
	};
	static const char nul[] = "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$3\r\na\0b"
				  "\r\n:1\r\n";
	char bytes[512], want[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)snprintf(bytes, sizeof(bytes), "*1\r\n%s", cases[i][0]);
		(void)snprintf(want, sizeof(want), UNREADABLE "%s",
			       cases[i][1]);
		check_text(bytes, want);
	}
	/* A NUL, and a host that is longer than any. */
	check_bytes(nul, sizeof(nul) - 1, false, UNREADABLE PLACE);
	(void)snprintf(bytes, sizeof(bytes),
		       "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$256\r\n%0256d\r\n:1\r\n",
		       0);
	check_text(bytes, UNREADABLE PLACE);
}

static void other_answers_are_told(void)
{
	check_text("-NOPERM no\r\n", "rights: CLUSTER SLOTS: NOPERM no");
	check_text("$-1\r\n", "data: CLUSTER SLOTS: unexpected answer: nil");
}

static void nodes_are_at_most_so_many(void)
{
	for (int more = 0; more < 2; more++) {
		int count = SLOTS_NODES_MAX + more;
		struct buf bytes, want;

		buf_init(&bytes, 1 << 20);
		buf_init(&want, 1 << 20);
		CHECK(buf_addf(&bytes, "*%d\r\n", count) == 0);
		for (int i = 0; i < count; i++) {
			CHECK(buf_addf(&bytes, ONE("%d", "%d", "+h%d", ":1"), i,
				       i, i) == 0);
			CHECK(buf_addf(&want, "%d-%d h%d:1 ", i, i, i) == 0);
		}
		CHECK(buf_addf(&want, "|") == 0);
		for (int i = 0; i < count; i++)
			CHECK(buf_addf(&want, " 1") == 0);
		check_bytes(bytes.data, bytes.len, false,
			    more == 0 ? want.data
				      : UNREADABLE "too many nodes");
		buf_release(&bytes);
		buf_release(&want);
	}
}

/* --- redirects ------------------------------------------------------------ */

static void redirects_are_read(void)
{
	static const struct {
		const char *text;
		const char *want; /* NULL: none */
	} cases[] = {
		{"MOVED 3999 10.0.0.2:6379", "moved 3999 10.0.0.2 6379"},
		{"ASK 0 host-2.example:1", "ask 0 host-2.example 1"},
		{"MOVED 16383 2001:db8::1:65535",
		 "moved 16383 2001:db8::1 65535"},
		/* Recorded: a nameless one, and one that is unknown. */
		{"MOVED 15495 :27411", "moved 15495  27411"},
		{"MOVED 15495 ?:27411", "moved 15495  27411"},
		{"MOVED", NULL},
		{"MOVED 1", NULL},
		{"MOVED 1 ", NULL},
		{"MOVED 1 h", NULL},
		{"MOVED 1 h:", NULL},
		{"MOVED 1 h:0", NULL},
		{"MOVED 1 h:65536", NULL},
		{"MOVED 1 h:-1", NULL},
		{"MOVED 1 h:+1", NULL},
		{"MOVED 1 h:1 ", NULL},
		{"MOVED 1 h:1x", NULL},
		{"MOVED 1  h:1", NULL},
		{"MOVED 1 h h:1", NULL},
		{"MOVED 1 h\x1b:1", NULL},
		{"MOVED 16384 h:1", NULL},
		{"MOVED -1 h:1", NULL},
		{"MOVED 99999999999999999999 h:1", NULL},
		{"MOVED x h:1", NULL},
		{"MOVED  1 h:1", NULL},
		{"MOVEDX 1 h:1", NULL},
		{"ASKING 1 h:1", NULL},
		{"ERR MOVED 1 h:1", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reply reply = {.type = REPLY_ERROR};
		struct slots_redirect to;
		char text[SLOTS_HOST_MAX + 64];

		reply.u.text = cases[i].text;
		reply.len = strlen(cases[i].text);
		CHECK(slots_redirect(&reply, &to) == (cases[i].want != NULL));
		if (cases[i].want == NULL)
			continue;
		(void)snprintf(text, sizeof(text), "%s %d %s %u",
			       to.ask ? "ask" : "moved", to.slot, to.node.host,
			       (unsigned)to.node.port);
		CHECK_STR(text, cases[i].want);
		/* Such a text is a value elsewhere. */
		reply.type = REPLY_STATUS;
		CHECK(!slots_redirect(&reply, &to));
	}
}

int main(void)
{
	UNIT(keys_have_slots, "slots: of keys, by what is in braces");
	UNIT(servers_are_understood, "slots: answers of real servers are read");
	UNIT(maps_are_read, "slots: of either command a map is read");
	UNIT(what_cannot_be_is_refused, "slots: what cannot be is told");
	UNIT(other_answers_are_told, "slots: a refusal is told as it is");
	UNIT(nodes_are_at_most_so_many, "slots: too many nodes are refused");
	UNIT(redirects_are_read, "slots: MOVED and ASK are read, or are none");
	return unit_end();
}
