/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Nodes that go, hang or talk nonsense, and waits that end.
 */
#include "lib/redis/cluster.h"

#include "lib/base/clock.h"
#include "lib/base/stop.h"
#include "tests/unit/child.h"
#include "tests/unit/redis/fakecluster.h"

#define MAP   "0-99=0 100-16383=1"
#define THERE 100

static struct fakes f;
static struct cluster *c;
static struct answers a;
static struct error err;
static int timeout_ms;

static bool begin(int nodes, const char *map, const struct fake_rule *rules,
		  size_t count)
{
	a = (struct answers){.count = 0};
	err = (struct error)ERROR_INIT;
	fakes_start(&f, nodes, map, rules, count);
	if (timeout_ms > 0)
		f.target.timeout_ms = timeout_ms;
	timeout_ms = 0;
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

/* It answers one, and is gone before the others; its slots are another's. */
static void goes(void)
{
	static const struct fake_rule rules[] = {{.node = 1,
						  .command = "ADD K 2",
						  .down = true,
						  .map = "0-99=0 100-16383=2"}};

	REQUIRE(begin(3, MAP, rules, FAKE_RULES(rules)));
	for (unsigned i = 1; i <= 4; i++)
		CHECK(fakes_add(c, THERE, i, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(cluster_owner(c, THERE), 2);
	CHECK(!cluster_serves(c, 1) && cluster_serves(c, 2));
	CHECK_U64(cluster_resent(c), 3);
	end("1:ADD K 1|1:ADD K 2|2:ADD K 2|2:ADD K 3|2:ADD K 4|",
	    "1=1 2=2 3=3 4=4 ");
}

/* Its connection only breaks. */
static void breaks(void)
{
	static const struct fake_rule rules[] = {
		{.node = 1, .command = "ADD K 2"}};

	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	for (unsigned i = 1; i <= 3; i++)
		CHECK(fakes_add(c, THERE, i, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(cluster_made(c, 1), 2);
	CHECK_U64(cluster_resent(c), 2);
	end("1:ADD K 1|1:ADD K 2|1:ADD K 2|1:ADD K 3|", "1=1 2=2 3=3 ");
}

/* It says nothing for a time-out; then its slots are another's. */
static void hangs(void)
{
	static const struct fake_rule rules[] = {{.node = 1,
						  .command = "ADD K 1",
						  .reply = "",
						  .map = "0-99=0 100-16383=2"}};
	int64_t began;

	timeout_ms = 300;
	REQUIRE(begin(3, MAP, rules, FAKE_RULES(rules)));
	began = clock_ns();
	CHECK(fakes_add(c, THERE, 1, &a, &err) == 0);
	CHECK(fakes_add(c, 7, 2, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK(clock_ns() - began >= 300 * INT64_C(1000000));
	CHECK_U64(cluster_resent(c), 1);
	cluster_close(c);
	CHECK_U64(fakes_stop(&f), 1);
	CHECK_STR(a.text, "2=2 1=1 ");
}

static void hangs_for_ever(void)
{
	static const struct fake_rule rules[] = {
		{.node = 1, .always = true, .command = "ADD K 1", .reply = ""}};

	timeout_ms = 200;
	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	CHECK(fakes_add(c, THERE, 1, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	printf("# %s\n", err.text);
	CHECK(strstr(err.text, "no answer for 200 ms; given up after 200 ms") !=
	      NULL);
	CHECK(strncmp(err.text, cluster_place(c, 1),
		      strlen(cluster_place(c, 1))) == 0);
	cluster_close(c);
	CHECK(fakes_stop(&f) >= 1);
}

static void garbage(void)
{
	static const struct fake_rule rules[] = {
		{.node = 1, .command = "ADD K 1", .reply = "what?"},
		{.node = 1, .command = "ADD K 3", .reply = ":3\r\n:4"}};

	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	CHECK(fakes_add(c, THERE, 1, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK(strncmp(err.text, cluster_place(c, 1),
		      strlen(cluster_place(c, 1))) == 0);
	CHECK(cluster_failed(c));
	CHECK(cluster_flush(c, &err) == -1);
	/* All of it is forgotten, and what works goes on. */
	err = (struct error)ERROR_INIT;
	CHECK(cluster_reopen(c, CONN_WRITES, &err) == 0);
	CHECK(!cluster_failed(c) && cluster_pending(c) == 0);
	CHECK(fakes_add(c, THERE, 2, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK(fakes_add(c, THERE, 3, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == -1);
	CHECK(strstr(err.text, ": it answers what it was not asked") != NULL);
	end("1:ADD K 1|1:ADD K 2|1:ADD K 3|", "2=2 3=3 ");
}

/* One that has been put out of the cluster knows no map any more. */
static void no_map(void)
{
	static const struct fake_rule rules[] = {
		{.node = 0, .command = "ADD K 1", .map = "*0"},
		{.node = 1, .command = "ADD K 3", .map = MAP}};

	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	CHECK(fakes_add(c, 7, 1, &a, &err) == 0);
	CHECK(cluster_wait(c, 0, &err) == 0);
	CHECK(fakes_add(c, THERE, 3, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK(cluster_refresh(c, &err) == 0);
	end("0:ADD K 1|0:ADD K 1|1:ADD K 3|1:ADD K 3|", "1=1 3=3 ");
}

static void refuses(void)
{
	REQUIRE(begin(2, MAP, NULL, 0));
	a.fails = true;
	CHECK(fakes_add(c, THERE, 1, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_FULL);
	CHECK(strstr(err.text, ": filter 'x' is full") != NULL);
	end("1:ADD K 1|", "1=1 ");
}

/* --- stops ---------------------------------------------------------------- */

static const struct fake_rule stopping[] = {
	{.node = 1, .command = "ADD K 1", .reply = "", .stop = true}};

static void stopped(void)
{
	REQUIRE(stop_init(&err) == 0);
	REQUIRE(begin(2, MAP, stopping, 1));
	CHECK(fakes_add(c, 7, 2, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK(fakes_add(c, THERE, 1, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	CHECK(!cluster_failed(c));
	CHECK_U64(cluster_pending(c), 1);
	CHECK(cluster_flush(c, &err) == -1);
	/* What is connected serves to tidy up. */
	err = (struct error)ERROR_INIT;
	CHECK(cluster_reopen(c, CONN_WRITES | CONN_TIDIES, &err) == 0);
	CHECK_U64(cluster_pending(c), 0);
	CHECK(fakes_add(c, 7, 3, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(err.code, ERROR_NONE);
	/* The other one would need a connection. */
	CHECK(fakes_add(c, THERE, 4, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	end("0:ADD K 2|1:ADD K 1|0:ADD K 3|", "2=2 3=3 ");
}

/* While nothing is under way, as a node refuses for now. */
static void tidies(void)
{
	static const struct fake_rule rules[] = {
		{.node = 0, .command = "ADD K 1", .reply = "-TRYAGAIN x"},
		{.node = 0, .command = "ADD K 1", .reply = "-TRYAGAIN x"}};

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(begin(2, MAP, rules, FAKE_RULES(rules)));
	CHECK(raise(SIGINT) == 0);
	cluster_set_patient(c, 5000);
	CHECK(fakes_add(c, 7, 1, &a, &err) == 0);
	CHECK(cluster_flush(c, &err) == 0);
	CHECK_U64(err.code, ERROR_NONE);
	end("0:ADD K 1|0:ADD K 1|0:ADD K 1|", "1=1 ");
}

static void stops(void)
{
	in_child(stopped);
}

static void tidies_test(void)
{
	in_child(tidies);
}

int main(void)
{
	UNIT(goes, "cluster: what a lost node did not answer is another's");
	UNIT(breaks, "cluster: what a connection lost is sent over a new one");
	UNIT(hangs, "cluster: silence for a time-out counts as a break");
	UNIT(hangs_for_ever, "cluster: a node that stays silent is named");
	UNIT(garbage, "cluster: garbage is an error, until it is reopened");
	UNIT(no_map, "cluster: a node without a map is not the one to ask");
	UNIT(refuses, "cluster: the error of an answer is the cluster's");
	UNIT(stops, "cluster: a stop ends a wait, and is no error of its own");
	UNIT(tidies_test, "cluster: after a stop, a patient one goes on");
	return unit_end();
}
