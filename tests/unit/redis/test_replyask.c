/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/reply.h"

#include "tests/unit/unit.h"

static struct reply text_of(enum reply_type type, const char *text)
{
	struct reply reply = {.type = type, .len = strlen(text)};

	reply.u.text = text;
	return reply;
}

static struct reply integer_of(int64_t n)
{
	struct reply reply = {.type = REPLY_INTEGER};

	reply.u.integer = n;
	return reply;
}

static struct reply array_of(const struct reply *items, size_t len)
{
	struct reply reply = {.type = REPLY_ARRAY, .len = len};

	reply.u.items = items;
	return reply;
}

static void compares_whole_texts(void)
{
	struct reply ok = text_of(REPLY_STATUS, "OK");
	struct reply bulk = text_of(REPLY_BULK, "OK");
	struct reply error = text_of(REPLY_ERROR, "OOM no memory");
	struct reply nul = {.type = REPLY_BULK, .len = 3};

	nul.u.text = "OK\0";
	CHECK(reply_is(&ok, "OK") && reply_is(&bulk, "OK"));
	CHECK(!reply_is(&ok, "O") && !reply_is(&ok, "OKAY"));
	CHECK(!reply_is(&nul, "OK"));
	CHECK(!reply_is(&error, "OOM no memory"));
	CHECK(reply_is_error(&error, "OOM"));
	CHECK(!reply_is_error(&error, "OO"));
	CHECK(!reply_is_error(&error, "OOM n"));
	CHECK(!reply_is_error(&ok, "OK"));
	CHECK(reply_error_begins(&error, "OOM no"));
	CHECK(!reply_error_begins(&error, "OOM no memory left"));
	error = text_of(REPLY_ERROR, "NOAUTH");
	CHECK(reply_is_error(&error, "NOAUTH"));
}

static void reads_integers(void)
{
	static const struct {
		const char *text;
		bool good;
		int64_t n;
	} cases[] = {
		{"0", true, 0},
		{"-1", true, -1},
		{"0042", true, 42},
		{"9223372036854775807", true, INT64_MAX},
		{"-9223372036854775808", true, INT64_MIN},
		{"9223372036854775808", false, 0},
		{"-9223372036854775809", false, 0},
		{"", false, 0},
		{"-", false, 0},
		{"+1", false, 0},
		{" 1", false, 0},
		{"1 ", false, 0},
		{"1.5", false, 0},
		{"12a", false, 0},
	};
	struct reply reply = integer_of(-7);
	int64_t n = 0;

	CHECK(reply_integer(&reply, &n) == 0 && n == -7);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		reply = text_of(i % 2 == 0 ? REPLY_BULK : REPLY_STATUS,
				cases[i].text);
		n = 1234;
		CHECK(reply_integer(&reply, &n) == (cases[i].good ? 0 : -1));
		CHECK(n == (cases[i].good ? cases[i].n : 1234));
	}
	reply = text_of(REPLY_ERROR, "1");
	CHECK(reply_integer(&reply, &n) == -1);
	reply.type = REPLY_NIL;
	CHECK(reply_integer(&reply, &n) == -1);
	reply = array_of(NULL, 0);
	CHECK(reply_integer(&reply, &n) == -1);
}

static void finds_members(void)
{
	struct reply items[4] = {text_of(REPLY_STATUS, "Capacity"),
				 integer_of(100), text_of(REPLY_BULK, "Size"),
				 text_of(REPLY_BULK, "Capacity")};
	struct reply array = array_of(items, 4);
	struct reply status = text_of(REPLY_STATUS, "size");

	CHECK(reply_member(&array, "capacity") == &items[1]);
	CHECK(reply_member(&array, "SIZE") == &items[3]);
	CHECK(reply_member(&array, "Capacit") == NULL);
	CHECK(reply_member(&array, "100") == NULL);
	array.len = 3;
	CHECK(reply_member(&array, "capacity") == NULL);
	array.len = 0;
	CHECK(reply_member(&array, "capacity") == NULL);
	CHECK(reply_member(&status, "size") == NULL);
}

static void refusals_have_codes_and_hints(void)
{
	static const struct {
		const char *text;
		enum error_code code;
		const char *hint; /* what is in it; NULL: there is none */
	} cases[] = {
		{"NOAUTH Authentication required", ERROR_RIGHTS,
		 "BLOOMCTL_TARGET"},
		{"WRONGPASS invalid username-password pair", ERROR_RIGHTS,
		 "--password-file"},
		{"NOPERM this user has no permissions", ERROR_RIGHTS, "RIGHTS"},
		{"DENIED Redis is running in protected mode", ERROR_RIGHTS,
		 "--password-command"},
		{"OOM command not allowed", ERROR_SPACE, "maxmemory"},
		{"LOADING Redis is loading", ERROR_TEMPORARY, NULL},
		{"MASTERDOWN Link with MASTER is down", ERROR_TEMPORARY, NULL},
		{"READONLY You can't write", ERROR_TEMPORARY, NULL},
		{"CLUSTERDOWN Hash slot not served", ERROR_TEMPORARY, NULL},
		{"TRYAGAIN Multiple keys request", ERROR_TEMPORARY, NULL},
		{"BUSY Redis is busy", ERROR_TEMPORARY, NULL},
		{"MISCONF Redis is configured to save", ERROR_TEMPORARY,
		 "its disk"},
		{"NOREPLICAS Not enough good replicas", ERROR_TEMPORARY,
		 "min-replicas-to-write"},
		{"BUSYKEY Target key name already exists", ERROR_DATA, NULL},
		{"ERR max number of clients reached", ERROR_TEMPORARY, NULL},
		{"ERR max concurrent connections exceeded", ERROR_TEMPORARY,
		 NULL},
		{"ERR max requests limit exceeded. Limit: 500000, Usage: "
		 "500000. See https://service.example/limits for details",
		 ERROR_TEMPORARY, "quota of requests"},
		{"ERR max daily request limit exceeded. Limit: 10000, Usage: "
		 "10001",
		 ERROR_TEMPORARY, "quota of requests"},
		{"ERR DB capacity quota exceeded. Threshold: 268435456 bytes, "
		 "Usage: 274604636 bytes",
		 ERROR_SPACE, "bloomctl size"},
		{"ERR Request was throttled", ERROR_TEMPORARY, "per second"},
		{"THROTTLED slow down", ERROR_TEMPORARY, "per second"},
		{"ERR Rate exceeded", ERROR_TEMPORARY, "per second"},
		{"ERR Too Many Requests", ERROR_TEMPORARY, "per second"},
		{"ERR ops/sec rate limit reached", ERROR_TEMPORARY,
		 "per second"},
		/* A name is no word of the service. */
		{"WRONGTYPE throttled", ERROR_DATA, "another key"},
		{"NOPERM no permissions to access 'throttled'", ERROR_RIGHTS,
		 "RIGHTS"},
		{"ERR unknown command 'throttle'", ERROR_ENGINE, "renamed"},
		{"ERR max request size exceeded", ERROR_DATA, NULL},
		{"ERR unknown command 'BF.INSERT', with args", ERROR_ENGINE,
		 "module"},
		{"ERR unknown command `bf.card`", ERROR_ENGINE, "module"},
		{"ERR unknown command 'RENAME'", ERROR_ENGINE, "renamed"},
		{"ERR not found", ERROR_DATA, NULL},
		{"", ERROR_DATA, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reply reply = text_of(REPLY_ERROR, cases[i].text);
		struct error err = ERROR_INIT;
		char want[512];

		CHECK(reply_refused(&reply, &err, "filter '%s'", "u") == -1);
		CHECK_U64(err.code, cases[i].code);
		snprintf(want, sizeof(want), "filter 'u': %s", cases[i].text);
		CHECK_STR(err.text, want);
		if (cases[i].hint == NULL)
			CHECK_STR(err.hint, "");
		else
			CHECK(strstr(err.hint, cases[i].hint) != NULL);
	}
}

static void what_is_not_for_the_reader_is_cut(void)
{
	static const struct {
		const char *text;
		enum error_code code;
		const char *hint; /* what is in it; NULL: there is none */
		const char *said;
	} cases[] = {
		{"NOAUTH Authentication required.", ERROR_RIGHTS,
		 "BLOOMCTL_TARGET", "NOAUTH Authentication required"},
		{"ERR unknown command 'BF.INSERT', with args beginning with: "
		 "'cards:1' 'NOCREATE' 'ITEMS' 'card:4711:m' ",
		 ERROR_ENGINE, "module", "ERR unknown command 'BF.INSERT'"},
		{"ERR The user executing the script can't run this command or "
		 "subcommand script: 1c3ca73a, on @user_script:2.",
		 ERROR_RIGHTS, "RIGHTS",
		 "ERR The user executing the script can't run this command or "
		 "subcommand"},
		{"ERR The user executing the script can't access at least one "
		 "of the keys mentioned in the command arguments script: 3ea1, "
		 "on @user_script:1.",
		 ERROR_RIGHTS, "RIGHTS",
		 "ERR The user executing the script can't access at least one "
		 "of the keys mentioned in the command arguments"},
		{"ERR ACL failure in script: User u has no permissions to run "
		 "the 'hset' command script: 1c3c, on @user_script:2.",
		 ERROR_RIGHTS, "RIGHTS",
		 "ERR ACL failure in script: User u has no permissions to run "
		 "the 'hset' command"},
		{"ERR Unknown Redis command called from script script: 662a, "
		 "on @user_script:1.",
		 ERROR_ENGINE, "switched off",
		 "ERR Unknown Redis command called from script"},
		{"ERR Error running script (call to f_662a): @user_script:1: "
		 "@user_script: 1: Unknown Redis command called from Lua "
		 "script ",
		 ERROR_ENGINE, "switched off",
		 "Unknown Redis command called from Lua script"},
		{"ERR Error running script (call to f_1c3c): @user_script:2: "
		 "@user_script: 2: The user executing the script can't run "
		 "this command or subcommand ",
		 ERROR_RIGHTS, "RIGHTS",
		 "The user executing the script can't run this command or "
		 "subcommand"},
		{"ERR Error running script (call to f_1c3c): @user_script:2: "
		 "@user_script: 2: -OOM command not allowed when used memory "
		 "> 'maxmemory'.",
		 ERROR_SPACE, "maxmemory",
		 "OOM command not allowed when used memory > 'maxmemory'"},
		{"WRONGTYPE Operation against a key holding the wrong kind of "
		 "value script: 9cdf, on @user_script:1.",
		 ERROR_DATA, "another key",
		 "WRONGTYPE Operation against a key holding the wrong kind of "
		 "value"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reply reply = text_of(REPLY_ERROR, cases[i].text);
		struct error err = ERROR_INIT;
		char want[512];

		CHECK(reply_refused(&reply, &err, "x") == -1);
		CHECK_U64(err.code, cases[i].code);
		snprintf(want, sizeof(want), "x: %s", cases[i].said);
		CHECK_STR(err.text, want);
		CHECK(strstr(err.hint, cases[i].hint != NULL ? cases[i].hint
							     : "") != NULL);
	}
}

static void foreign_text_is_cleaned_and_cut(void)
{
	static const char bytes[] = "ERR \x1b[2J\0\xff\n\xc3\xa9 end";
	char text[1000];
	struct reply reply = {.type = REPLY_ERROR, .len = sizeof(bytes) - 1};
	struct error err = ERROR_INIT;

	reply.u.text = bytes;
	CHECK(reply_refused(&reply, &err, "x") == -1);
	CHECK_STR(err.text, "x: ERR ?[2J???\xc3\xa9 end");
	memset(text, 'a', sizeof(text));
	reply.u.text = text;
	reply.len = sizeof(text);
	CHECK(reply_refused(&reply, &err, "x") == -1);
	CHECK_U64(strlen(err.text), strlen("x: ") + 200);
}

static void other_types_are_described(void)
{
	struct reply reply = text_of(REPLY_STATUS, "QUEUED");
	struct error err = ERROR_INIT;

	CHECK(reply_refused(&reply, &err, "GET") == -1);
	CHECK_STR(err.text, "GET: unexpected answer: a status, 'QUEUED'");
	CHECK_U64(err.code, ERROR_DATA);
	reply = text_of(REPLY_BULK, "secret row");
	CHECK(reply_refused(&reply, &err, "GET") == -1);
	CHECK_STR(err.text, "GET: unexpected answer: a text of 10 bytes");
	reply = integer_of(-3);
	CHECK(reply_refused(&reply, &err, "GET") == -1);
	CHECK_STR(err.text, "GET: unexpected answer: the number -3");
	reply.type = REPLY_NIL;
	CHECK(reply_refused(&reply, &err, "GET") == -1);
	CHECK_STR(err.text, "GET: unexpected answer: nil");
	reply = array_of(NULL, 3);
	CHECK(reply_refused(&reply, &err, "GET") == -1);
	CHECK_STR(err.text, "GET: unexpected answer: an array of 3");
}

static void keys_of_other_nodes_name_them(void)
{
	static const struct {
		const char *text;
		enum error_code code;
		const char *want;
	} cases[] = {
		{"MOVED 14188 127.0.0.1:27004", ERROR_ENGINE,
		 "slot 14188 is on node 127.0.0.1:27004 of the cluster"},
		{"ASK 0 host-2.example:6379", ERROR_ENGINE,
		 "slot 0 is moving to node host-2.example:6379 of the cluster"},
		{"MOVED 1 \x1b[2J", ERROR_ENGINE,
		 "slot 1 is on node ?[2J of the cluster"},
		{"MOVED", ERROR_DATA, "MOVED"},
		{"MOVED 12", ERROR_DATA, "MOVED 12"},
		{"MOVED there x:1", ERROR_DATA, "MOVED there x:1"},
		{"MOVEDX 12 x:1", ERROR_DATA, "MOVEDX 12 x:1"},
		{"ASKING 12 x:1", ERROR_DATA, "ASKING 12 x:1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reply reply = text_of(REPLY_ERROR, cases[i].text);
		struct error err = ERROR_INIT;
		char want[512];

		CHECK(reply_refused(&reply, &err, "bucket %d", 3) == -1);
		CHECK_U64(err.code, cases[i].code);
		snprintf(want, sizeof(want), "bucket 3: %s", cases[i].want);
		CHECK_STR(err.text, want);
		CHECK((strstr(err.hint, "CLUSTER SLOTS") != NULL) ==
		      (cases[i].code == ERROR_ENGINE));
	}
}

int main(void)
{
	UNIT(compares_whole_texts, "reply: texts and words are compared whole");
	UNIT(reads_integers, "reply: integers are numbers or decimal digits");
	UNIT(finds_members, "reply: members are found by name, in any case");
	UNIT(refusals_have_codes_and_hints,
	     "reply: each refusal has its code, its text and its hint");
	UNIT(what_is_not_for_the_reader_is_cut,
	     "reply: words of commands and places in scripts are cut off");
	UNIT(foreign_text_is_cleaned_and_cut,
	     "reply: a server's text is cleaned and cut");
	UNIT(other_types_are_described,
	     "reply: an answer of another type is told without its bytes");
	UNIT(keys_of_other_nodes_name_them,
	     "reply: a key of another node of a cluster names slot and node");
	return unit_end();
}
