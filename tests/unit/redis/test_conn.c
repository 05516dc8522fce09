/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/conn.h"

#include "lib/base/stop.h"
#include "tests/unit/child.h"
#include "tests/unit/redis/answers.h"
#include "tests/unit/redis/fakeserver.h"

static void commands_are_answered(void)
{
	static const struct fake_step script[] = {
		{FAKE_LOGIN, "id master"},
		{FAKE_EXPECT, "PING"},
		{FAKE_SEND, "+PONG\r\n"},
		{FAKE_EXPECT, "HGETALL a b"},
		{FAKE_DRIP, "*2\r\n$1\r\na\r\n:7\r\n"},
		{FAKE_EXPECT, "ECHO x\r\ny"},
		{FAKE_SEND, "-ERR no\r\n"},
		{FAKE_GONE, NULL}};
	static const char *const ping[] = {"PING"};
	static const char *const hgetall[] = {"HGETALL", "a bcd"};
	static const size_t lens[] = {7, 3};
	static const char *const echo[] = {"ECHO", "x\r\ny"};
	const struct reply *reply;
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	REQUIRE(conn_call(c, 1, ping, NULL, &reply, &err) == 0);
	CHECK(reply_is(reply, "PONG"));
	REQUIRE(conn_call(c, 2, hgetall, lens, &reply, &err) == 0);
	CHECK(reply_member(reply, "a") != NULL);
	REQUIRE(conn_call(c, 2, echo, NULL, &reply, &err) == 0);
	CHECK(reply_is_error(reply, "ERR"));
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void answers_come_in_order(void)
{
	static const struct fake_step script[] = {
		{FAKE_LOGIN, "id master"},
		{FAKE_EXPECT, "A"},
		{FAKE_EXPECT, "B"},
		{FAKE_EXPECT, "C"},
		{FAKE_SEND, ":1\r\n:2\r\n:3\r\n"},
		{FAKE_GONE, NULL}};
	struct error err = ERROR_INIT;
	struct answers a = {.count = 0};
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	CHECK(conn_pending(c) == 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK(answers_send(&a, c, &"A\0B\0C"[2 * i], 10 + i, &err) ==
		      0);
	CHECK(conn_pending(c) == 3);
	CHECK(conn_wait(c, 3, &err) == 0);
	CHECK_U64(a.count, 0);
	CHECK(conn_wait(c, 1, &err) == 0);
	CHECK(a.count >= 2);
	CHECK(conn_flush(c, &err) == 0);
	CHECK(conn_pending(c) == 0);
	CHECK_STR(a.text, "10=1 11=2 12=3 ");
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void words_are_copied(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "SET first"},
						  {FAKE_SEND, "+OK\r\n"},
						  {FAKE_GONE, NULL}};
	char word[] = "first";
	const char *argv[] = {"SET", word};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	CHECK(conn_sendv(c, 2, argv, NULL, NULL, NULL, 0, &err) == 0);
	memset(word, 'x', 5);
	CHECK(conn_flush(c, &err) == 0);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void poll_takes_what_is_there(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "A"},
						  {FAKE_SEND, ":1\r\n"},
						  {FAKE_GONE, NULL}};
	struct error err = ERROR_INIT;
	struct answers a = {.count = 0};
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	CHECK(conn_poll(c, &err) == 0);
	CHECK(answers_send(&a, c, "A", 0, &err) == 0);
	while (a.count == 0 && conn_poll(c, &err) == 0)
		;
	CHECK_STR(a.text, "0=1 ");
	conn_close(c);
	CHECK(fake_stop(&f));
}

/* --- what ends a connection ---------------------------------------------- */

static void foreign_bytes_end_it(void)
{
	static const struct {
		const char *bytes;
		const char *text;
	} cases[] = {
		{"HTTP/1.1 400\r\n", "unix:fake: what it sends is not the "},
		{"+OK\r\n+OK\r\n", "unix:fake: it answers what it was not "},
		{"+OK\r\n+", "unix:fake: it answers what it was not asked"},
		{"*2000000000\r\n", "unix:fake: its answer needs more than "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						   {FAKE_EXPECT, "A"},
						   {FAKE_SEND, cases[i].bytes},
						   {FAKE_GONE, NULL}};
		static const char *const b[] = {"B"};
		struct error err = ERROR_INIT;
		struct error again = ERROR_INIT;
		struct answers a = {.count = 0};
		const struct reply *reply;
		struct fake f;
		struct conn *c;

		fake_start(&f, script, FAKE_STEPS(script));
		REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
		CHECK(answers_send(&a, c, "A", 0, &err) == 0);
		CHECK(conn_flush(c, &err) == -1);
		CHECK_U64(err.code, ERROR_DATA);
		CHECK(strncmp(err.text, cases[i].text, strlen(cases[i].text)) ==
		      0);
		printf("# %s\n", err.text);
		/* Whatever is called then. */
		CHECK(conn_call(c, 1, b, NULL, &reply, &again) == -1);
		CHECK_STR(again.text, err.text);
		CHECK(conn_poll(c, &again) == -1 &&
		      conn_wait(c, 5, &again) == -1);
		CHECK_U64(again.code, ERROR_DATA);
		conn_close(c);
		CHECK(fake_stop(&f));
	}
}

static void an_answer_without_a_question_ends_it(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "A"},
						  {FAKE_SEND, ":1\r\n"},
						  {FAKE_SEND, ":2\r\n"},
						  {FAKE_GONE, NULL}};
	static const char *const argv[] = {"A"};
	struct error err = ERROR_INIT;
	const struct reply *reply;
	struct fake f;
	struct conn *c;
	int rc = 0;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	if (conn_call(c, 1, argv, NULL, &reply, &err) == 0)
		while (rc == 0)
			rc = conn_poll(c, &err);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "unix:fake: it answers what it was not asked");
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void a_refusal_is_of_the_function(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "A"},
						  {FAKE_SEND, ":1\r\n"},
						  {FAKE_GONE, NULL}};
	struct error err = ERROR_INIT;
	struct answers a = {.count = 0, .fails = true};
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	CHECK(answers_send(&a, c, "A", 0, &err) == 0);
	CHECK(conn_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_FULL);
	CHECK_STR(err.text, "unix:fake: filter 'x' is full");
	CHECK(answers_send(&a, c, "B", 0, &err) == -1);
	CHECK_STR(err.text, "unix:fake: filter 'x' is full");
	CHECK_U64(a.count, 1);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void without_a_function_an_error_is_one(void)
{
	static const struct fake_step script[] = {
		{FAKE_LOGIN, "id master"},
		{FAKE_EXPECT, "SET a"},
		{FAKE_EXPECT, "DEL a"},
		{FAKE_SEND, "$3\r\nany\r\n-NOPERM not you\r\n"},
		{FAKE_GONE, NULL}};
	static const char *const set[] = {"SET", "a"};
	static const char *const del[] = {"DEL", "a"};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	CHECK(conn_sendv(c, 2, set, NULL, NULL, NULL, 0, &err) == 0);
	CHECK(conn_sendv(c, 2, del, NULL, NULL, NULL, 0, &err) == 0);
	CHECK(conn_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_RIGHTS);
	CHECK_STR(err.text, "unix:fake: DEL: NOPERM not you");
	CHECK(err.hint[0] != '\0');
	conn_close(c);
	CHECK(fake_stop(&f));
}

/* --- a stop -------------------------------------------------------------- */

static void stopped(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "A"},
						  {FAKE_SIGNAL, NULL},
						  {FAKE_EXPECT, "B"},
						  {FAKE_SEND, ":1\r\n:2\r\n"},
						  {FAKE_EXPECT, "C"},
						  {FAKE_GONE, NULL}};
	struct error err = ERROR_INIT;
	struct answers a = {.count = 0};
	struct fake f;
	struct conn *c;

	REQUIRE(stop_init(&err) == 0);
	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	CHECK(answers_send(&a, c, "A", 0, &err) == 0);
	CHECK(conn_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	CHECK_STR(err.text, "stopped by SIGINT");
	CHECK_U64(conn_pending(c), 1);
	conn_set_patient(c, 10000);
	CHECK(answers_send(&a, c, "B", 1, &err) == 0);
	CHECK(conn_flush(c, &err) == 0);
	CHECK_STR(a.text, "0=1 1=2 ");
	conn_set_patient(c, 0);
	CHECK(answers_send(&a, c, "C", 2, &err) == 0);
	CHECK(conn_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void a_stop_ends_a_wait(void)
{
	in_child(stopped);
}

static void patience_has_a_bound(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id master"},
						  {FAKE_EXPECT, "A"},
						  {FAKE_GONE, NULL}};
	struct error err = ERROR_INIT;
	struct answers a = {.count = 0};
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	REQUIRE(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	conn_set_patient(c, 50);
	CHECK(answers_send(&a, c, "A", 0, &err) == 0);
	CHECK(conn_flush(c, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK_STR(err.text, "unix:fake: no answer for 50 ms");
	conn_close(c);
	CHECK(fake_stop(&f));
}

int main(void)
{
	UNIT(commands_are_answered, "conn: a command has its answer");
	UNIT(answers_come_in_order, "conn: answers come in order, with tags");
	UNIT(words_are_copied, "conn: words of conn_sendv() are copied");
	UNIT(poll_takes_what_is_there,
	     "conn: a poll sends and takes without a wait");
	UNIT(foreign_bytes_end_it,
	     "conn: what is no answer ends a connection for good");
	UNIT(an_answer_without_a_question_ends_it,
	     "conn: so does an answer to nothing");
	UNIT(a_refusal_is_of_the_function,
	     "conn: what a function refuses is the connection's error");
	UNIT(without_a_function_an_error_is_one,
	     "conn: without a function an error reply is an error");
	UNIT(a_stop_ends_a_wait,
	     "conn: a stop ends a wait, and not the connection");
	UNIT(patience_has_a_bound, "conn: patience has a bound");
	return unit_end();
}
