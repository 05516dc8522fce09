/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/cluster.h"

#include "tests/unit/redis/fakecluster.h"
#include "tests/unit/redis/fakeserver.h"

#define MAP   "0-99=0 100-16383=1"
#define THERE 100

static struct fakes f;
static struct cluster *c;
static struct answers a;
static struct error err;

static void start(int nodes, const char *map, const struct fake_rule *rules,
		  size_t count)
{
	a = (struct answers){.count = 0};
	err = (struct error)ERROR_INIT;
	fakes_start(&f, nodes, map, rules, count);
}

static bool begin(int nodes, const char *map, const struct fake_rule *rules,
		  size_t count)
{
	start(nodes, map, rules, count);
	if (cluster_open(&f.target, CONN_WRITES, NULL, &c, &err) == 0)
		return true;
	printf("# %s\n", err.text);
	return false;
}

static void end(const char *log, const char *answers)
{
	cluster_close(c);
	CHECK_U64(fakes_stop(&f), f.count);
	CHECK_STR(f.log, log);
	CHECK_STR(a.text, answers);
}

static int add_and_wait(int slot, unsigned number)
{
	return fakes_add(c, slot, number, &a, &err) == 0
		       ? cluster_flush(c, &err)
		       : -1;
}

/* --- one ------------------------------------------------------------------ */

static void alone(void)
{
	static const struct fake_step script[] = {
		{FAKE_LOGIN, "id master"}, {FAKE_EXPECT, "ADD K 1"},
		{FAKE_SEND, ":1\r\n"},     {FAKE_EXPECT, "ADD K 2"},
		{FAKE_CLOSE, NULL},        {FAKE_LOGIN, "id master"},
		{FAKE_EXPECT, "ADD K 2"},  {FAKE_SEND, ":2\r\n"},
		{FAKE_EXPECT, "PING"},     {FAKE_SEND, "-MOVED 1 a:1\r\n"},
		{FAKE_EXPECT, "PING"},     {FAKE_SEND, "+PONG\r\n"},
		{FAKE_GONE, NULL}};
	static const char *const ping[] = {"PING"};
	const struct reply *reply;
	struct fake server;

	a = (struct answers){.count = 0};
	err = (struct error)ERROR_INIT;
	fake_start(&server, script, FAKE_STEPS(script));
	REQUIRE(cluster_open(&server.target, CONN_WRITES, NULL, &c, &err) == 0);
	CHECK(!cluster_is(c) && cluster_nodes(c) == 1);
	CHECK(cluster_owner(c, 16383) == 0 && cluster_serves(c, 0));
	CHECK_STR(cluster_place(c, 0), "unix:fake");
	CHECK_STR(cluster_facts(c, 0)->run_id, "id");
	CHECK(cluster_refresh(c, &err) == 0 && cluster_connect(c, &err) == 0);
	CHECK(add_and_wait(16383, 1) == 0);
	CHECK(add_and_wait(CLUSTER_ANY, 2) == 0);
	CHECK_U64(cluster_made(c, 0), 2);
	/* Nobody follows it: there is no map. */
	CHECK(cluster_call(c, 1, 1, ping, NULL, &reply, &err) == 0);
	CHECK(reply_is_error(reply, "MOVED"));
	CHECK(cluster_call_node(c, 0, 1, ping, &reply, &err) == 0);
	CHECK(reply_is(reply, "PONG"));
	cluster_close(c);
	CHECK(fake_stop(&server));
	CHECK_STR(a.text, "1=1 2=2 ");
}

/* It stays failed until it is connected again. */
static void alone_and_gone(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_DOWN, NULL}};
	struct fake server;

	a = (struct answers){.count = 0};
	err = (struct error)ERROR_INIT;
	fake_start(&server, script, FAKE_STEPS(script));
	REQUIRE(cluster_open(&server.target, CONN_WRITES, NULL, &c, &err) == 0);
	server.target.timeout_ms = 100;
	CHECK(add_and_wait(1, 1) == -1);
	CHECK(cluster_failed(c));
	for (int i = 0; i < 2; i++) {
		CHECK(cluster_reopen(c, CONN_WRITES, &err) == -1);
		CHECK(cluster_failed(c));
	}
	cluster_close(c);
	CHECK(fake_stop(&server));
}

/* The only node is where it was reached, whatever it calls itself. */
static void one_over_a_socket(void)
{
	static const struct fake_rule rules[] = {
		{.node = 0, .command = "ADD K 1", .down = true}};
	struct cluster *second;

	start(1, "0-16383=0", rules, 1);
	f.target.address.host = NULL;
	f.target.address.path = f.path;
	REQUIRE(cluster_open(&f.target, CONN_WRITES, NULL, &c, &err) == 0);
	CHECK(cluster_is(c) && cluster_nodes(c) == 1);
	CHECK(add_and_wait(7, 1) == 0);
	/* A map that is asked for again tells no other node. */
	CHECK(cluster_refresh(c, &err) == 0);
	CHECK_U64(cluster_nodes(c), 1);
	REQUIRE(cluster_open(&f.target, CONN_WRITES, c, &second, &err) == 0);
	CHECK_U64(cluster_nodes(second), 1);
	cluster_close(c);
	c = second;
	CHECK(add_and_wait(8, 2) == 0);
	end("0:ADD K 1|0:ADD K 1|0:ADD K 2|", "1=1 2=2 ");
}

/* --- what another one knows ----------------------------------------------- */

static void like(void)
{
	static const struct fake_rule rules[] = {{.node = 0,
						  .command = "ADD K 1",
						  .reply = ":1",
						  .down = true,
						  .map = "0-16383=1"}};
	struct cluster *second;

	REQUIRE(begin(2, MAP, rules, 1));
	CHECK(add_and_wait(7, 1) == 0);
	/* The target itself takes no more. */
	CHECK(cluster_open(&f.target, CONN_WRITES, NULL, &second, &err) == -1);
	CHECK(second == NULL);
	REQUIRE(cluster_open(&f.target, CONN_WRITES, c, &second, &err) == 0);
	CHECK_U64(cluster_nodes(second), cluster_nodes(c));
	CHECK_U64(cluster_owner(second, 7), 1);
	cluster_close(c);
	c = second;
	CHECK(add_and_wait(7, 2) == 0);
	end("0:ADD K 1|1:ADD K 2|", "1=1 2=2 ");
}

static void calls(void)
{
	static const struct fake_rule rules[] = {
		{.node = 0,
		 .command = "GET A 1",
		 .reply = "-MOVED 7 :@1",
		 .map = "0-6=0 7-16383=1"},
		{.node = 1, .command = "GET A 1", .reply = "-CLUSTERDOWN x"},
		{.node = 1, .command = "GET A 2", .reply = "-ERR no"}};
	static const char *const first[] = {"GET", "A", "1"};
	static const char *const next[] = {"GET", "A", "2"};
	static const char *const any[] = {"PING", "7"};
	const struct reply *reply;
	int64_t n;

	/* While it is called, the map is asked for. */
	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	CHECK(cluster_call(c, 7, 3, first, NULL, &reply, &err) == 0);
	CHECK(reply_integer(reply, &n) == 0 && n == 1);
	CHECK(cluster_refresh(c, &err) == 0);
	CHECK(atomic_load(&f.asked) > 1);
	CHECK(cluster_call(c, THERE, 3, next, NULL, &reply, &err) == 0);
	CHECK(reply_is_error(reply, "ERR"));
	for (size_t i = 0; i < 2; i++) {
		CHECK(cluster_call_node(c, i, 2, any, &reply, &err) == 0);
		CHECK(reply_integer(reply, &n) == 0 && n == 7);
	}
	CHECK(cluster_call(c, CLUSTER_ANY, 2, any, NULL, &reply, &err) == 0);
	CHECK_U64(err.code, ERROR_NONE);
	end("0:GET A 1|1:GET A 1|1:GET A 1|1:GET A 2|0:PING 7|1:PING 7|"
	    "0:PING 7|",
	    "");
}

static void connects_to_all(void)
{
	REQUIRE(begin(3, "0-5=0 6-9=1 10-16383=2", NULL, 0));
	CHECK(cluster_facts(c, 1) == NULL && cluster_made(c, 1) == 0);
	CHECK(cluster_connect(c, &err) == 0);
	CHECK_STR(cluster_facts(c, 1)->run_id, "id1");
	CHECK_STR(cluster_facts(c, 2)->run_id, "id2");
	end("", "");
}

static void no_map_at_first(void)
{
	start(1, "*0", NULL, 0);
	CHECK(cluster_open(&f.target, CONN_WRITES, NULL, &c, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK(strstr(err.text, ": CLUSTER SLOTS: no node has slots") != NULL);
	CHECK(strncmp(err.text, f.place, strlen(f.place)) == 0);
	CHECK(c == NULL);
	fakes_stop(&f);
	start(1, "*1\r\n*3\r\n:0\r\n:9\r\n:1", NULL, 0);
	CHECK(cluster_open(&f.target, CONN_WRITES, NULL, &c, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	fakes_stop(&f);
}

/* --- pins ----------------------------------------------------------------- */

static char ids[2][CONN_RUN_ID_MAX] = {"id0", "id1"};
static const struct cluster_pins pins = {.count = 2, .run_ids = ids};

static void check_replaced(const char *text)
{
	CHECK(add_and_wait(THERE, 1) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	if (strstr(err.text, text) == NULL)
		printf("# %s\n", err.text);
	CHECK(strstr(err.text, text) != NULL);
	CHECK_STR(err.hint, "run the same command again");
}

static void pinned(void)
{
	/* The same process again is none that lost anything. */
	static const struct fake_rule breaks[] = {
		{.node = 1, .command = "ADD K 1"}};
	static const struct fake_rule restarts[] = {
		{.node = 1, .command = "ADD K 1", .run_id = "another"}};
	static const struct fake_rule fails_over[] = {
		{.node = 1,
		 .command = "ADD K 1",
		 .down = true,
		 .map = "0-99=0 100-16383=2"}};

	REQUIRE(begin(2, MAP, breaks, 1));
	CHECK(cluster_pin(c, &pins, &err) == 0);
	CHECK(add_and_wait(THERE, 1) == 0);
	end("1:ADD K 1|1:ADD K 1|", "1=1 ");
	REQUIRE(begin(2, MAP, restarts, 1));
	CHECK(cluster_pin(c, &pins, &err) == 0);
	check_replaced(": the server was restarted or replaced");
	end("1:ADD K 1|", "");
	REQUIRE(begin(3, MAP, fails_over, 1));
	CHECK(cluster_pin(c, &pins, &err) == 0);
	check_replaced(": the server was replaced meanwhile");
	end("1:ADD K 1|", "");
}

static void pinned_before(void)
{
	static char others[2][CONN_RUN_ID_MAX] = {"id0", "another"};
	static const struct cluster_pins not_all = {2, others};

	REQUIRE(begin(2, MAP, NULL, 0));
	CHECK(cluster_pin(c, &not_all, &err) == 0);
	CHECK(add_and_wait(7, 2) == 0);
	check_replaced(": the server was restarted or replaced meanwhile");
	end("0:ADD K 2|", "2=2 ");
	REQUIRE(begin(2, MAP, NULL, 0));
	CHECK(cluster_connect(c, &err) == 0);
	CHECK(cluster_pin(c, &not_all, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK(cluster_failed(c));
	end("", "");
}

int main(void)
{
	UNIT(alone, "cluster: one server alone is as a connection");
	UNIT(alone_and_gone, "cluster: one that is gone stays failed");
	UNIT(one_over_a_socket, "cluster: one node is where it was reached");
	UNIT(like, "cluster: nodes that another one knows are tried");
	UNIT(calls, "cluster: a call is answered, also while the map is asked");
	UNIT(connects_to_all, "cluster: all nodes can be connected");
	UNIT(no_map_at_first, "cluster: a map that is none is told at once");
	UNIT(pinned, "cluster: pinned, a process is not replaced by another");
	UNIT(pinned_before, "cluster: pins are looked at before a command");
	return unit_end();
}
