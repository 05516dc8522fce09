/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Commands that a node does not do: they go on to another one, or wait.
 */
#include "lib/redis/cluster.h"

#include "lib/base/clock.h"
#include "tests/unit/redis/fakecluster.h"

/* The slots 0 to 99 are the first node's. */
#define MAP   "0-99=0 100-16383=1"
#define THERE 100

static struct fakes f;
static struct cluster *c;
static struct answers a;
static struct error err;

static bool begin(int nodes, const char *map, const struct fake_rule *rules,
		  size_t count)
{
	a = (struct answers){.count = 0};
	err = (struct error)ERROR_INIT;
	fakes_start(&f, nodes, map, rules, count);
	if (cluster_open(&f.target, CONN_WRITES, NULL, &c, &err) == 0)
		return true;
	printf("# %s\n", err.text);
	return false;
}

static void end(const char *log, const char *answers)
{
	size_t once = 0;

	for (size_t i = 0; i < f.count; i++)
		once += f.rules[i].always ? 0 : 1;
	cluster_close(c);
	CHECK(fakes_stop(&f) >= once);
	CHECK_STR(f.log, log);
	CHECK_STR(a.text, answers);
}

static void owners(void)
{
	static const int slots[] = {0, 99, 100, 16383};

	REQUIRE(begin(2, MAP, NULL, 0));
	CHECK(cluster_is(c) && cluster_nodes(c) == 2);
	CHECK(cluster_owner(c, 99) == 0 && cluster_owner(c, 100) == 1);
	for (unsigned i = 0; i < 4; i++) {
		CHECK(fakes_add(c, slots[i], i, &a, &err) == 0);
		CHECK(cluster_flush(c, &err) == 0);
	}
	CHECK_U64(cluster_resent(c), 0);
	end("0:ADD K 0|0:ADD K 1|1:ADD K 2|1:ADD K 3|", "0=0 1=1 2=2 3=3 ");
}

static void moved(void)
{
	/* The map is not changed yet where it is asked for. */
	static const struct fake_rule rules[] = {
		{.node = 0,
		 .command = "ADD K 1",
		 .reply = "-MOVED 7 127.0.0.1:@1",
		 .map = "0-6=0 7-16383=1"}};

	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	CHECK(fakes_add(c, 7, 1, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(cluster_owner(c, 7), 1);
	CHECK(fakes_add(c, 7, 2, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(cluster_owner(c, 6), 0);
	CHECK(cluster_refresh(c, &err) == 0);
	CHECK_U64(cluster_owner(c, 8), 1);
	CHECK_U64(cluster_resent(c), 0);
	CHECK_U64(err.code, ERROR_NONE);
	end("0:ADD K 1|1:ADD K 1|1:ADD K 2|", "1=1 2=2 ");
}

static void moved_to_a_new_node(void)
{
	/* The node is not in the map, and its host is that of the other. */
	static const struct fake_rule rules[] = {
		{.node = 0, .command = "ADD K 1", .reply = "-MOVED 7 :@2"}};

	REQUIRE(begin(3, MAP, rules, FAKE_RULES(rules)));
	CHECK(fakes_add(c, 7, 1, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(cluster_nodes(c), 3);
	CHECK(strncmp(cluster_place(c, 2), "redis://127.0.0.1:", 18) == 0);
	end("0:ADD K 1|2:ADD K 1|", "1=1 ");
}

static void ask(void)
{
	static const struct fake_rule rules[] = {
		{.node = 0,
		 .command = "ADD K 1",
		 .reply = "-ASK 7 127.0.0.1:@1"}};

	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	CHECK(fakes_add(c, 7, 1, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(cluster_owner(c, 7), 0);
	CHECK(fakes_add(c, 7, 2, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(cluster_pending(c), 0);
	end("0:ADD K 1|1:ASKING|1:ADD K 1|0:ADD K 2|", "1=1 2=2 ");
}

/* What comes behind it waits, and what is of other slots does not. */
static void check_later(const char *reply)
{
	const struct fake_rule rules[] = {
		{.node = 0, .command = "ADD K 1", .reply = reply}};

	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	CHECK(fakes_add(c, 7, 1, &a, &err) == 0);
	CHECK(fakes_add(c, 8, 5, &a, &err) == 0);
	CHECK(cluster_wait(c, 1, &err) == 0);
	CHECK(fakes_add(c, 7, 2, &a, &err) == 0);
	CHECK(fakes_add(c, 7, 4, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(cluster_resent(c), 0);
	end("0:ADD K 1|0:ADD K 5|0:ADD K 1|0:ADD K 2|0:ADD K 4|",
	    "5=5 1=1 2=2 4=4 ");
}

static void later(void)
{
	check_later("-TRYAGAIN Multiple keys request during rehashing");
	check_later("-CLUSTERDOWN The cluster is down");
	check_later("-ERR request throttled, slow down");
	check_later("-LOADING Redis is loading the dataset in memory");
}

/* Two that name each other. */
static void around(void)
{
	static const struct fake_rule rules[] = {
		{.node = 0,
		 .always = true,
		 .command = "ADD K 1",
		 .reply = "-MOVED 7 127.0.0.1:@1"},
		{.node = 1,
		 .always = true,
		 .command = "ADD K 1",
		 .reply = "-MOVED 7 127.0.0.1:@0"}};
	int64_t began = clock_ns();

	f.log[0] = '\0';
	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	f.target.timeout_ms = 300;
	CHECK(fakes_add(c, 7, 1, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK(clock_ns() - began >= 300 * INT64_C(1000000));
	CHECK(strstr(err.text, "slot 7") != NULL);
	CHECK(strstr(err.text, "; given up after 300 ms") != NULL);
	printf("# %s\n", err.text);
	CHECK(cluster_failed(c));
	CHECK(fakes_add(c, THERE, 2, &a, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	cluster_close(c);
	/* It did not spin. */
	CHECK(fakes_stop(&f) < 30);
	CHECK_STR(a.text, "");
}

static void nobody(void)
{
	REQUIRE(begin(2, "0-6=0 8-16383=1", NULL, 0));
	f.target.timeout_ms = 200;
	CHECK(fakes_add(c, 7, 1, &a, &err) == 0);
	CHECK(fakes_add(c, 8, 2, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK(strstr(err.text, ": no node has slot 7; given up after") != NULL);
	end("1:ADD K 2|", "2=2 ");
}

/* More than a window and all that waits have room for. */
static void many(void)
{
	static const struct fake_rule rules[] = {
		{.node = 0, .command = "ADD K 9", .reply = "-TRYAGAIN x"},
		{.node = 1,
		 .command = "ADD K 5101",
		 .reply = "-MOVED 101 127.0.0.1:@0"}};
	const unsigned count = 6000;

	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	for (unsigned i = 0; i < count; i++) {
		char text[16];
		const char *const words[] = {"ADD", "K", text};

		(void)snprintf(text, sizeof(text), "%u", i);
		CHECK(cluster_sendv(c, i % 200, 3, words, NULL, answers_sum, &a,
				    i, &err) == 0);
	}
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(a.count, count);
	CHECK(!a.wrong);
	CHECK_U64(a.sum, (uint64_t)count * (count - 1) / 2);
	cluster_close(c);
	CHECK(fakes_stop(&f) == 2);
}

int main(void)
{
	UNIT(owners, "cluster: a command goes to the node that has its slot");
	UNIT(moved, "cluster: the map follows MOVED");
	UNIT(moved_to_a_new_node, "cluster: MOVED may name another port only");
	UNIT(ask, "cluster: ASK is for one command, and leaves the map");
	UNIT(later, "cluster: what cannot be done now is done later, in order");
	UNIT(around, "cluster: being sent around ends with the time-out");
	UNIT(nobody, "cluster: a slot that nobody has is told");
	UNIT(many, "cluster: more commands than there is room for are done");
	return unit_end();
}
