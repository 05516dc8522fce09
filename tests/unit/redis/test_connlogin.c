/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/conn.h"

#include "tests/unit/redis/fakeserver.h"

#define INFO_AND_ROLE                             \
	{FAKE_EXPECT, "CLIENT SETNAME bloomctl"}, \
	{                                         \
		FAKE_SEND, "-ERR no\r\n"          \
	}

static void logs_in_and_asks_who_is_there(void)
{
	static const struct fake_step script[] = {
		{FAKE_EXPECT, "AUTH me pass word"},
		{FAKE_SEND, "+OK\r\n"},
		{FAKE_EXPECT, "SELECT 3"},
		{FAKE_SEND, "+OK\r\n"},
		INFO_AND_ROLE,
		{FAKE_EXPECT, "INFO server"},
		{FAKE_BULK, "# Server\r\nredis_version:7.2.4\r\n"
			    "server_name:valkey\r\nvalkey_version:8.1.12\r\n"
			    "redis_run_id:x\r\nrun_id:abc\r\n"},
		{FAKE_EXPECT, "INFO replication"},
		{FAKE_BULK, "# Replication\r\nrole:slave\r\n"},
		{FAKE_EXPECT, "INFO cluster"},
		{FAKE_BULK, "cluster_enabled:1\r\n"},
		{FAKE_GONE, NULL}};
	const struct conn_facts *facts;
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c = NULL;

	fake_start(&f, script, FAKE_STEPS(script));
	f.target.user = (char *)"me";
	f.target.password = (char *)"pass word";
	f.target.db = 3;
	CHECK(conn_open(&f.target, CONN_READS, &c, &err) == 0);
	REQUIRE(c != NULL);
	facts = conn_facts(c);
	CHECK_STR(facts->run_id, "abc");
	CHECK(facts->valkey && facts->replica && facts->cluster);
	CHECK(facts->version[0] == 8 && facts->version[1] == 1 &&
	      facts->version[2] == 12);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void does_without_info(void)
{
	static const char *const roles[] = {
		"*3\r\n$5\r\nslave\r\n$1\r\na\r\n:1\r\n",
		"*3\r\n$6\r\nmaster\r\n:1\r\n*0\r\n", "-NOPERM no\r\n",
		"-ERR unknown command 'ROLE'\r\n"};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const struct fake_step script[] = {
			INFO_AND_ROLE,
			{FAKE_EXPECT, "INFO server"},
			{FAKE_SEND, "-NOPERM no\r\n"},
			{FAKE_EXPECT, "INFO replication"},
			{FAKE_SEND, "-ERR unknown command 'INFO'\r\n"},
			{FAKE_EXPECT, "INFO cluster"},
			{FAKE_SEND, "-NOPERM no\r\n"},
			{FAKE_EXPECT, "ROLE"},
			{FAKE_SEND, roles[i]},
			{FAKE_GONE, NULL}};
		struct error err = ERROR_INIT;
		struct fake f;
		struct conn *c = NULL;

		fake_start(&f, script, FAKE_STEPS(script));
		CHECK(conn_open(&f.target, CONN_READS, &c, &err) == 0);
		REQUIRE(c != NULL);
		CHECK_STR(conn_facts(c)->run_id, "");
		CHECK_U64(conn_facts(c)->version[0], 0);
		CHECK(conn_facts(c)->replica == (i == 0));
		conn_close(c);
		CHECK(fake_stop(&f));
	}
}

static void refusals_end_at_once(void)
{
	static const struct {
		const char *expect;
		const char *send;
		enum error_code code;
		const char *text;
	} cases[] = {
		{"AUTH secret", "-WRONGPASS invalid\r\n", ERROR_RIGHTS,
		 "unix:fake: AUTH: WRONGPASS invalid"},
		{"AUTH secret", "-ERR AUTH called without any password\r\n",
		 ERROR_RIGHTS,
		 "unix:fake: AUTH: ERR AUTH called without any password"},
		{"AUTH secret",
		 "-ERR unknown command `AUTH`, with args beginning with: "
		 "`secre`\r\n",
		 ERROR_RIGHTS, "unix:fake: AUTH: the server does not take it"},
		{"AUTH secret", "-ERR what is secret?\r\n", ERROR_RIGHTS,
		 "unix:fake: AUTH: the server does not take it"},
		{"AUTH secret", "HTTP\r\n", ERROR_DATA, NULL},
		{"AUTH secret", "+OK\r\n+OK\r\n", ERROR_DATA, NULL},
		{"SELECT 3", "-ERR DB index is out of range\r\n", ERROR_CONFIG,
		 "unix:fake: SELECT 3: ERR DB index is out of range"},
		{"SELECT 3", "-NOPERM no\r\n", ERROR_RIGHTS,
		 "unix:fake: SELECT 3: NOPERM no"},
		{"SELECT 3", "-NOAUTH Authentication required.\r\n",
		 ERROR_RIGHTS,
		 "unix:fake: SELECT: NOAUTH Authentication required"},
		{"CLIENT SETNAME bloomctl", "-DENIED protected mode\r\n",
		 ERROR_RIGHTS, "unix:fake: CLIENT: DENIED protected mode"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fake_step script[] = {
			{FAKE_EXPECT, cases[i].expect},
			{FAKE_SEND, cases[i].send},
			{FAKE_CLOSE, NULL}};
		struct error err = ERROR_INIT;
		struct fake f;
		struct conn *c;

		fake_start(&f, script, FAKE_STEPS(script));
		if (cases[i].expect[0] == 'A')
			f.target.password = (char *)"secret";
		if (cases[i].expect[0] == 'S')
			f.target.db = 3;
		CHECK(conn_open(&f.target, CONN_READS, &c, &err) == -1);
		CHECK(c == NULL);
		CHECK_U64(err.code, cases[i].code);
		CHECK(strstr(err.text, "secre") == NULL);
		if (cases[i].text != NULL)
			CHECK_STR(err.text, cases[i].text);
		printf("# %s\n", err.text);
		CHECK(fake_stop(&f));
	}
}

static void who_speaks_first_is_no_server(void)
{
	static const char *const words[] = {"SSH-2.0-x\r\n", "\r\n"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct fake_step script[] = {{FAKE_SEND, words[i]},
						   {FAKE_CLOSE, NULL}};
		struct error err = ERROR_INIT;
		struct fake f;
		struct conn *c;

		fake_start(&f, script, FAKE_STEPS(script));
		/* Ten seconds, which it does not wait. */
		CHECK(conn_open(&f.target, CONN_READS, &c, &err) == -1);
		CHECK_U64(err.code, ERROR_DATA);
		CHECK(fake_stop(&f));
	}
}

static void a_user_needs_no_password(void)
{
	static const struct fake_step script[] = {{FAKE_EXPECT, "AUTH me "},
						  {FAKE_SEND, "+OK\r\n"},
						  {FAKE_LOGIN, "id master"},
						  {FAKE_GONE, NULL}};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	f.target.user = (char *)"me";
	CHECK(conn_open(&f.target, CONN_READS, &c, &err) == 0);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void nobody_there_is_told_at_once(void)
{
	static const struct fake_step script[] = {{FAKE_DOWN, NULL}};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	pthread_join(f.thread, NULL);
	/* Ten seconds, which it does not wait. */
	CHECK(conn_open(&f.target, CONN_WRITES, &c, &err) == -1);
	CHECK_U64(err.code, ERROR_UNREACHED);
	CHECK(strncmp(err.text, "unix:fake: ", 11) == 0);
	close(f.listener);
	rmdir(f.dir);
}

static void a_silent_server_was_not_reached(void)
{
	static const struct fake_step script[] = {
		{FAKE_EXPECT, "CLIENT SETNAME bloomctl"}, {FAKE_GONE, NULL}};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	f.target.timeout_ms = 100;
	CHECK(conn_open(&f.target, CONN_WRITES, &c, &err) == -1);
	CHECK_U64(err.code, ERROR_UNREACHED);
	CHECK_STR(err.text, "unix:fake: no answer for 100 ms; given up after "
			    "100 ms");
	CHECK(fake_stop(&f));
}

static void a_loading_server_is_waited_for(void)
{
	static const struct fake_step script[] = {
		{FAKE_EXPECT, "CLIENT SETNAME bloomctl"},
		{FAKE_SEND, "-LOADING data\r\n"},
		{FAKE_GONE, NULL},
		{FAKE_EXPECT, "CLIENT SETNAME bloomctl"},
		{FAKE_SEND, "-ERR max number of clients reached\r\n"},
		{FAKE_CLOSE, NULL},
		{FAKE_LOGIN, "id slave"},
		{FAKE_GONE, NULL},
		{FAKE_LOGIN, "id master"},
		{FAKE_GONE, NULL}};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c = NULL;

	fake_start(&f, script, FAKE_STEPS(script));
	CHECK(conn_open(&f.target, CONN_WRITES, &c, &err) == 0);
	REQUIRE(c != NULL);
	CHECK(!conn_facts(c)->replica);
	conn_close(c);
	CHECK(fake_stop(&f));
}

static void only_a_replica_is_told(void)
{
	static const struct fake_step script[] = {{FAKE_LOGIN, "id slave"},
						  {FAKE_GONE, NULL},
						  {FAKE_AGAIN, NULL}};
	struct error err = ERROR_INIT;
	struct fake f;
	struct conn *c;

	fake_start(&f, script, FAKE_STEPS(script));
	f.target.timeout_ms = 200;
	CHECK(conn_open(&f.target, CONN_WRITES, &c, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK_STR(err.text, "unix:fake: it is a replica, where nothing can be "
			    "written; given up after 200 ms");
	CHECK(strstr(err.hint, "primary") != NULL);
	CHECK(fake_stop(&f));
	CHECK(f.connections > 1);
}

int main(void)
{
	UNIT(logs_in_and_asks_who_is_there,
	     "login: user, password, database, and who is there");
	UNIT(does_without_info, "login: without INFO, ROLE says what it is; "
				"without both it is a primary");
	UNIT(refusals_end_at_once,
	     "login: refusals end at once, and no password is told");
	UNIT(who_speaks_first_is_no_server,
	     "login: who says something before it was asked is refused");
	UNIT(a_user_needs_no_password, "login: a user needs no password");
	UNIT(nobody_there_is_told_at_once,
	     "login: nobody there is told at once");
	UNIT(a_silent_server_was_not_reached,
	     "login: a server that never spoke was not reached");
	UNIT(a_loading_server_is_waited_for,
	     "login: a server that is loading, full, or not yet a primary is "
	     "waited for");
	UNIT(only_a_replica_is_told,
	     "login: where nothing but a replica is found, it is said");
	return unit_end();
}
