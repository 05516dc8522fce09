/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/conn.h"

#include "lib/base/clock.h"
#include "tests/unit/redis/answers.h"
#include "tests/unit/redis/fakeserver.h"

/* Sends so many commands of one letter to a script and waits for all. */
static void play(const struct fake_step *script, size_t steps, unsigned sends,
		 const char *want)
{
	struct error err = ERROR_INIT;
	struct answers a = {.count = 0};
	struct fake f;
	struct conn *c;

	fake_start(&f, script, steps);
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	for (unsigned i = 0; i < sends; i++)
		CHECK(answers_send(&a, c, &"A\0B\0C\0D"[2 * i], i, &err) == 0);
	CHECK(conn_flush(c, &err) == 0);
	/* What was in vain before it went is no error. */
	CHECK_U64(err.code, ERROR_NONE);
	if (err.code != ERROR_NONE)
		printf("# %s\n", err.text);
	CHECK_STR(a.text, want);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void what_is_not_answered_goes_again(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "A"},
						  {FAKE_EXPECT, "B"},
						  {FAKE_SEND, ":1\r\n"},
						  {FAKE_CLOSE, NULL},
						  {FAKE_LOGIN, "other master"},
						  {FAKE_EXPECT, "B"},
						  {FAKE_EXPECT, "C"},
						  {FAKE_SEND, ":2\r\n"},
						  {FAKE_CLOSE, NULL},
						  {FAKE_LOGIN, "third master"},
						  {FAKE_EXPECT, "C"},
						  {FAKE_EXPECT, "D"},
						  {FAKE_SEND, ":3\r\n:4\r\n"},
						  {FAKE_GONE, NULL}};

	play(script, FAKE_STEPS(script), 4, "0=1 1=2 2=3 3=4 ");
}

static void a_server_that_cannot_now_is_asked_again(void)
{
	static const char *const replies[] = {
		"-READONLY You can't write against a read only replica.\r\n",
		"-LOADING Redis is loading the dataset in memory\r\n",
		"-MASTERDOWN Link with MASTER is down\r\n",
		"-CLUSTERDOWN The cluster is down\r\n",
		"-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
	};

	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
		char both[128];
		const struct fake_step script[] = {
			{FAKE_LOGIN, "id master"},
			{FAKE_EXPECT, "A"},
			{FAKE_EXPECT, "B"},
			{FAKE_SEND, both},
			{FAKE_GONE, NULL},
			{FAKE_LOGIN, "id slave"}, /* not yet */
			{FAKE_GONE, NULL},
			{FAKE_LOGIN, "id master"},
			{FAKE_EXPECT, "A"},
			{FAKE_EXPECT, "B"},
			{FAKE_SEND, ":1\r\n"},
			{FAKE_SEND, replies[i]},
			{FAKE_GONE, NULL},
			{FAKE_LOGIN, "id master"},
			{FAKE_EXPECT, "B"},
			{FAKE_SEND, ":2\r\n"},
			{FAKE_GONE, NULL}};

		/* What comes behind it is of the old connection. */
		(void)snprintf(both, sizeof(both), "%s:9\r\n", replies[i]);
		play(script, FAKE_STEPS(script), 2, "0=1 1=2 ");
	}
}

static void a_reply_cut_off_counts_for_nothing(void)
{
	static const char whole[] = "*2\r\n$1\r\na\r\n:5\r\n";
	static const char *const argv[] = {"A"};

	for (size_t cut = 0; cut < sizeof(whole) - 1; cut++) {
		char part[sizeof(whole)] = "";
		const struct fake_step script[] = {
			{FAKE_LOGIN, "id master"}, {FAKE_EXPECT, "A"},
			{FAKE_SEND, part},         {FAKE_CLOSE, NULL},
			{FAKE_LOGIN, "id master"}, {FAKE_EXPECT, "A"},
			{FAKE_DRIP, whole},        {FAKE_GONE, NULL}};
		struct error err = ERROR_INIT;
		const struct reply *reply;
		struct fake f;
		struct conn *c;
		int64_t n = 0;

		memcpy(part, whole, cut);
		fake_start(&f, script, FAKE_STEPS(script));
		REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
		REQUIRE(conn_call(c, 1, argv, NULL, &reply, &err) == 0);
		CHECK(reply->type == REPLY_ARRAY && reply->len == 2 &&
		      reply_is(&reply->u.items[0], "a") &&
		      reply_integer(&reply->u.items[1], &n) == 0 && n == 5);
		conn_close(c);
		CHECK(fake_stop(&f));
	}
}

static void idle_and_closed_is_no_matter(void)
{
	static const struct fake_step script[] = {
		{FAKE_LOGIN, "id master"},  {FAKE_CLOSE, NULL},
		{FAKE_LOGIN, "new master"}, {FAKE_EXPECT, "A"},
		{FAKE_SEND, ":1\r\n"},      {FAKE_GONE, NULL}};

	play(script, FAKE_STEPS(script), 1, "0=1 ");
}

/* --- pinned -------------------------------------------------------------- */

static void a_pinned_one_goes_back_to_the_same(void)
{
	static const struct {
		const char *login;
		bool good;
	} cases[] = {{"id master", true},
		     {"other master", false},
		     {"id slave", false},
		     {" master", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fake_step script[] = {
			{FAKE_LOGIN, "id master"},
			{FAKE_EXPECT, "A"},
			{FAKE_CLOSE, NULL},
			{FAKE_LOGIN, cases[i].login},
			{cases[i].good ? FAKE_EXPECT : FAKE_GONE, "A"},
			{cases[i].good ? FAKE_SEND : FAKE_CLOSE, ":1\r\n"},
		};
		size_t steps = FAKE_STEPS(script) - (cases[i].good ? 0 : 1);
		struct error err = ERROR_INIT;
		struct answers a = {.count = 0};
		struct fake f;
		struct conn *c;

		fake_start(&f, script, steps);
		REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
		conn_pin(c);
		CHECK(answers_send(&a, c, "A", 0, &err) == 0);
		CHECK(conn_flush(c, &err) == (cases[i].good ? 0 : -1));
		if (!cases[i].good) {
			CHECK_U64(err.code, ERROR_TEMPORARY);
			CHECK_STR(err.text,
				  "unix:fake: the server was restarted or "
				  "replaced: what it acknowledged may be lost");
			CHECK_STR(err.hint, "run the same command again");
			CHECK(conn_poll(c, &err) == -1);
		}
		CHECK_U64(a.count, cases[i].good);
		conn_close(c);
		CHECK(fake_stop(&f));
	}
}

/* --- giving up ----------------------------------------------------------- */

struct end {
	struct error err;
	int64_t ms;
	size_t connections;
};

/* One command, which is never answered. */
static void play_in_vain(const struct fake_step *script, size_t steps,
			 int timeout_ms, struct end *end)
{
	static const struct error none = ERROR_INIT;
	struct answers a = {.count = 0};
	int64_t since;
	struct fake f;
	struct conn *c;

	end->err = none;
	fake_start(&f, script, steps);
	f.target.timeout_ms = timeout_ms;
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &end->err) == 0);
	since = clock_ns();
	CHECK(answers_send(&a, c, "A", 0, &end->err) == 0);
	CHECK(conn_flush(c, &end->err) == -1);
	end->ms = (clock_ns() - since) / 1000000;
	printf("# after %" PRId64 " ms: %s\n", end->ms, end->err.text);
	CHECK_U64(end->err.code, ERROR_TEMPORARY);
	CHECK_U64(a.count, 0);
	conn_close(c);
	CHECK(fake_stop(&f));
	end->connections = f.connections;
}

static void breaking_again_and_again_ends(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "A"},
						  {FAKE_CLOSE, NULL},
						  {FAKE_AGAIN, NULL}};
	struct end end;

	play_in_vain(script, FAKE_STEPS(script), 300, &end);
	CHECK(end.ms >= 300 && end.ms < 3000);
	CHECK(strstr(end.err.text, "; given up after 300 ms") != NULL);
	/* 20 + 40 + 80 + 160 ms. */
	CHECK(end.connections >= 2 && end.connections <= 6);
}

static void never_able_ends_with_the_reason(void)
{
	static const struct fake_step script[] = {
		{FAKE_LOGIN, "id master"},
		{FAKE_EXPECT, "A"},
		{FAKE_SEND, "-LOADING all of it\r\n"},
		{FAKE_GONE, NULL},
		{FAKE_AGAIN, NULL}};
	struct end end;

	play_in_vain(script, FAKE_STEPS(script), 300, &end);
	CHECK_STR(end.err.text, "unix:fake: A: LOADING all of it; given up "
				"after 300 ms");
	CHECK(end.connections >= 2);
}

static void silence_ends(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "A"},
						  {FAKE_GONE, NULL},
						  {FAKE_AGAIN, NULL}};
	struct end end;

	play_in_vain(script, FAKE_STEPS(script), 200, &end);
	CHECK_STR(end.err.text, "unix:fake: no answer for 200 ms; given up "
				"after 200 ms");
	CHECK(end.ms >= 400 && end.ms < 3000);
	CHECK_U64(end.connections, 2);
}

static void gone_for_good_ends(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "A"},
						  {FAKE_DOWN, NULL}};
	struct end end;

	play_in_vain(script, FAKE_STEPS(script), 200, &end);
	CHECK(end.ms >= 200 && end.ms < 3000);
}

static void an_answer_in_time_is_no_silence(void)
{
	/* Bytes come now and then, for longer than the time-out. */
	static const struct fake_step script[] = {
		{FAKE_LOGIN, "id master"}, {FAKE_EXPECT, "A"},
		{FAKE_SLEEP, "120"},       {FAKE_SEND, "$5\r\na"},
		{FAKE_SLEEP, "120"},       {FAKE_SEND, "bcd"},
		{FAKE_SLEEP, "120"},       {FAKE_SEND, "e\r\n"},
		{FAKE_GONE, NULL}};
	static const char *const argv[] = {"A"};
	struct error err = ERROR_INIT;
	const struct reply *reply;
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	f.target.timeout_ms = 240;
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	CHECK(conn_call(c, 1, argv, NULL, &reply, &err) == 0);
	CHECK(reply != NULL && reply_is(reply, "abcde"));
	conn_close(c);
	CHECK(fake_stop(&f));
}

int main(void)
{
	UNIT(what_is_not_answered_goes_again,
	     "retry: after a break just what is not answered goes again");
	UNIT(a_server_that_cannot_now_is_asked_again,
	     "retry: READONLY and its like lead to a new connection");
	UNIT(a_reply_cut_off_counts_for_nothing,
	     "retry: a reply that is cut off anywhere counts for nothing");
	UNIT(idle_and_closed_is_no_matter,
	     "retry: a connection closed while idle is no matter");
	UNIT(a_pinned_one_goes_back_to_the_same,
	     "retry: a pinned connection goes back to the same process only");
	UNIT(breaking_again_and_again_ends,
	     "retry: breaking again and again ends with the time-out");
	UNIT(never_able_ends_with_the_reason,
	     "retry: a server that never can ends with what it said");
	UNIT(silence_ends, "retry: silence ends after one more connection");
	UNIT(gone_for_good_ends, "retry: a server gone for good ends it");
	UNIT(an_answer_in_time_is_no_silence,
	     "retry: while bytes come there is no silence");
	return unit_end();
}
