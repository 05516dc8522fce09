/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/conn.h"

#include "tests/unit/redis/answers.h"
#include "tests/unit/redis/fakeserver.h"

static void the_window_has_a_number_of_commands(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_MANY, "1024"},
						  {FAKE_SEND, ":1\r\n"},
						  {FAKE_MANY, "1"},
						  {FAKE_GONE, NULL}};
	struct error err = ERROR_INIT;
	struct answers a = {.count = 0};
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	for (unsigned i = 0; i < 1024; i++)
		REQUIRE(answers_send(&a, c, "A", i, &err) == 0);
	/* The server had all of them before it answered. */
	CHECK(a.count <= 1);
	CHECK(answers_send(&a, c, "A", 1024, &err) == 0);
	CHECK_U64(a.count, 1);
	CHECK_U64(conn_pending(c), CONN_COMMANDS_MAX);
	/* Written, but not waited for. */
	CHECK(conn_wait(c, 1024, &err) == 0);
	conn_poll(c, &err);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void the_window_has_a_number_of_bytes(void)
{
	static const struct fake_step script[] = {
		{FAKE_LOGIN, "id master"},
		{FAKE_MANY, "4"},
		{FAKE_SEND, ":1\r\n"},
		{FAKE_MANY, "1"},
		{FAKE_SEND, ":2\r\n:3\r\n:4\r\n:5\r\n"},
		{FAKE_MANY, "1"},
		{FAKE_SEND, ":6\r\n"},
		{FAKE_GONE, NULL}};
	const size_t len = 1000000;
	char *big = malloc(5 * len);
	struct error err = ERROR_INIT;
	struct answers a = {.count = 0};
	struct fake f;
	struct conn *c;

	REQUIRE(big != NULL);
	memset(big, 'x', 5 * len);
	memcpy(big, "*1\r\n$00999984\r\n", 15);
	memcpy(big + 999999, "\r\n", 2);
	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	for (unsigned i = 0; i < 4; i++)
		REQUIRE(conn_send(c, big, len + 1, answers_take, &a, i, &err) ==
			0);
	CHECK(a.count <= 1);
	CHECK(conn_send(c, big, len + 1, answers_take, &a, 4, &err) == 0);
	CHECK_U64(a.count, 1);
	CHECK(conn_flush(c, &err) == 0);
	/* One that is larger than the window goes alone. */
	memcpy(big, "*1\r\n$04999983\r\n", 15);
	memcpy(big + 5 * len - 2, "\r\n", 2);
	CHECK(conn_send(c, big, 5 * len, answers_take, &a, 5, &err) == 0);
	CHECK(conn_flush(c, &err) == 0);
	CHECK_STR(a.text, "0=1 1=2 2=3 3=4 4=5 5=6 ");
	conn_close(c);
	CHECK(fake_stop(&f));
	free(big);
}

/* Takes bulks of a length. */
struct bulks {
	size_t count;
	size_t len;
	bool good;
};

static int take_bulk(void *ctx, uint64_t tag, const struct reply *reply,
		     struct error *err)
{
	struct bulks *b = ctx;

	(void)err;
	b->good = b->good && tag == b->count && reply->type == REPLY_BULK &&
		  reply->len == b->len;
	b->count++;
	return 0;
}

/* Neither side waits for the other one to read first. */
static void both_ways_may_be_full(void)
{
	enum { COMMANDS = 60, LEN = 100000 };
	static char large[LEN + 1], reply[LEN + 32];
	struct fake_step script[2 + 2 * COMMANDS] = {{FAKE_LOGIN, "id master"}};
	const char *argv[] = {"ECHO", large};
	struct bulks b = {.len = LEN, .good = true};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	memset(large, 'x', LEN);
	(void)snprintf(reply, sizeof(reply), "$%d\r\n%s\r\n", LEN, large);
	/* It does not read on before its answer is gone. */
	for (size_t i = 0; i < COMMANDS; i++) {
		script[1 + 2 * i] = (struct fake_step){FAKE_MANY, "1"};
		script[2 + 2 * i] = (struct fake_step){FAKE_SEND, reply};
	}
	script[1 + 2 * COMMANDS] = (struct fake_step){FAKE_GONE, NULL};
	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	for (unsigned i = 0; i < COMMANDS; i++)
		CHECK(conn_sendv(c, 2, argv, NULL, take_bulk, &b, i, &err) ==
		      0);
	CHECK(conn_flush(c, &err) == 0);
	CHECK_STR(err.text, "");
	CHECK(b.good);
	CHECK_U64(b.count, COMMANDS);
	conn_close(c);
	CHECK(fake_stop(&f));
}

/* Commands of all sizes, in pieces as the socket takes them. */
static void what_was_written_in_part_is_written_on(void)
{
	enum { COMMANDS = 3000 };
	static char word[70000];
	struct answers a = {.count = 0};
	struct error err = ERROR_INIT;
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_LENGTHS, "3000"},
						  {FAKE_GONE, NULL}};
	uint64_t sum = 0;
	struct fake f;
	struct conn *c;

	memset(word, 'x', sizeof(word));
	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	for (size_t i = 0; i < COMMANDS; i++) {
		const char *argv[] = {word};
		size_t len = i % 50 == 0 ? i * 20 : i % 97;

		sum += len;
		REQUIRE(conn_sendv(c, 1, argv, &len, answers_sum, &a, len,
				   &err) == 0);
	}
	CHECK(conn_flush(c, &err) == 0);
	CHECK_U64(a.count, COMMANDS);
	CHECK_U64(a.sum, sum);
	CHECK(!a.wrong);
	conn_close(c);
	CHECK(fake_stop(&f));
}

/* A part of a command that was lost is not taken for sent. */
static void what_was_written_in_part_goes_again_whole(void)
{
	static char word[1000000];
	static const struct fake_step script[] = {
		{FAKE_LOGIN, "id master"}, {FAKE_BYTES, "50000"},
		{FAKE_CLOSE, NULL},        {FAKE_LOGIN, "id master"},
		{FAKE_LENGTHS, "2"},       {FAKE_GONE, NULL}};
	const size_t len = sizeof(word);
	const char *argv[] = {word};
	struct answers a = {.count = 0};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	memset(word, 'x', sizeof(word));
	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	for (unsigned i = 0; i < 2; i++)
		CHECK(conn_sendv(c, 1, argv, &len, answers_sum, &a, len,
				 &err) == 0);
	CHECK(conn_flush(c, &err) == 0);
	CHECK_STR(err.text, "");
	CHECK(a.count == 2 && !a.wrong);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void an_answer_before_the_question_is_none(void)
{
	static char word[1000000];
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_BYTES, "1000"},
						  {FAKE_SEND, ":1000000\r\n"}};
	const size_t len = sizeof(word);
	const char *argv[] = {word};
	struct answers a = {.count = 0};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	memset(word, 'x', sizeof(word));
	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	(void)conn_sendv(c, 1, argv, &len, answers_sum, &a, len, &err);
	CHECK(conn_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "unix:fake: it answers what it was not asked");
	CHECK_U64(a.count, 0);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void a_stray_answer_is_not_of_the_next_command(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_WAIT, NULL},
						  {FAKE_SEND, ":1\r\n"}};
	struct answers a = {.count = 0};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	atomic_store(&f.go, true);
	while (atomic_load(&f.played) < FAKE_STEPS(script))
		sched_yield();
	CHECK(answers_send(&a, c, "A", 0, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "unix:fake: it answers what it was not asked");
	CHECK_U64(a.count, 0);
	conn_close(c);
	CHECK(fake_stop(&f));
}

int main(void)
{
	UNIT(the_window_has_a_number_of_commands,
	     "window: no more than 1024 commands are under way");
	UNIT(the_window_has_a_number_of_bytes,
	     "window: no more than 4 MiB are under way, but one larger "
	     "command");
	UNIT(both_ways_may_be_full,
	     "window: both ways may be full, and it goes on");
	UNIT(what_was_written_in_part_is_written_on,
	     "window: what was written in part is written on");
	UNIT(what_was_written_in_part_goes_again_whole,
	     "window: what was written in part goes again whole");
	UNIT(an_answer_before_the_question_is_none,
	     "window: an answer before the question is none");
	UNIT(a_stray_answer_is_not_of_the_next_command,
	     "window: a stray answer is not of the next command");
	return unit_end();
}
