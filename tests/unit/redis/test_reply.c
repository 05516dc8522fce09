/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/reply.h"

#include "tests/unit/alloc.h"
#include "tests/unit/redis/replytree.h"

/* --- replies ------------------------------------------------------------- */

static const struct {
	const char *bytes;
	size_t len;
	const char *tree;
} replies[] = {
	{BYTES("+OK\r\n"), "+OK "},
	{BYTES("+\r\n"), "+ "},
	{BYTES("-ERR no\r\n"), "-ERR no "},
	{BYTES(":1\r\n"), ":1 "},
	{BYTES(":-9223372036854775808\r\n"), ":-9223372036854775808 "},
	{BYTES("$0\r\n\r\n"), "$ "},
	{BYTES("$4\r\na\r\nb\r\n"), "$a\r\nb "},
	{BYTES("$-1\r\n"), "_ "},
	{BYTES("*-1\r\n"), "_ "},
	{BYTES("*0\r\n"), "*0() "},
	{BYTES("*3\r\n:1\r\n:0\r\n-ERR full\r\n"), "*3(:1 :0 -ERR full ) "},
	{BYTES("*2\r\n*2\r\n$1\r\na\r\n*0\r\n*1\r\n*1\r\n+b\r\n"),
	 "*2(*2($a *0() ) *1(*1(+b ) ) ) "},
	{BYTES("*2\r\n$2\r\nab\r\n$-1\r\n+OK\r\n:7\r\n"), "*2($ab _ ) +OK :7 "},
	{BYTES("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"),
	 "*1(*1(*1(*1(*1(*1(*1(*1(:1 ) ) ) ) ) ) ) ) "},
	{BYTES("*3\r\n:1\r\n:0\r\n:1\r\n"), "*3(:1 :0 :1 ) "},
	{BYTES("*3\r\n:1\r\n:0\r\n:10\r\n"), "*3(:1 :0 :10 ) "},
};

static void parses_any_cut(void)
{
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
		size_t len = replies[i].len;
		struct parsed p;

		for (size_t cut = 1; cut <= len; cut++) {
			parse(&p, MAX, replies[i].bytes, len, cut, len);
			CHECK(p.rc == 0 && p.empty);
			CHECK_STR(p.out.data, replies[i].tree);
			buf_release(&p.out);
		}
		parse(&p, MAX, replies[i].bytes, len, 1, 1);
		CHECK(p.rc == 0);
		CHECK_STR(p.out.data, replies[i].tree);
		buf_release(&p.out);
	}
}

static void is_empty_between_replies(void)
{
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++)
		for (size_t len = 1; len < replies[i].len; len++) {
			struct parsed p;
			bool between;

			parse(&p, MAX, replies[i].bytes, len, len, len);
			CHECK(p.rc == 0);
			between = i == 12 &&
				  (len == strlen("*2\r\n$2\r\nab\r\n$-1\r\n") ||
				   len == strlen("*2\r\n$2\r\nab\r\n$-1\r\n"
						 "+OK\r\n"));
			CHECK(p.empty == between);
			buf_release(&p.out);
		}
}

static void texts_hold_any_bytes(void)
{
	static const char bytes[] = "$6\r\na\0\r\n\xff$\r\n";
	const struct reply *reply;
	struct error err = ERROR_INIT;
	struct reader *r = reader_new(MAX);

	REQUIRE(r != NULL);
	CHECK(reader_feed(r, bytes, sizeof(bytes) - 1, &err) == 0);
	REQUIRE(reader_next(r, &reply, &err) == 1);
	CHECK(reply->type == REPLY_BULK);
	CHECK_U64(reply->len, 6);
	CHECK(memcmp(reply->u.text, "a\0\r\n\xff$", 7) == 0);
	CHECK(reader_next(r, &reply, &err) == 0);
	CHECK(reply == NULL);
	reader_free(r);
}

static void children_are_in_a_row(void)
{
	struct buf in;
	const struct reply *reply;
	struct error err = ERROR_INIT;
	struct reader *r = reader_new(16u << 20);

	REQUIRE(r != NULL);
	buf_init(&in, 16u << 20);
	/* More than the chunks that there are at first. */
	CHECK(buf_adds(&in, "*100000\r\n") == 0);
	for (unsigned i = 0; i < 100000; i++)
		CHECK(buf_addf(&in, i % 2 == 0 ? ":%u\r\n" : "+%u\r\n", i) ==
		      0);
	for (unsigned round = 0; round < 3; round++) {
		CHECK(reader_feed(r, in.data, in.len, &err) == 0);
		REQUIRE(reader_next(r, &reply, &err) == 1);
		CHECK_U64(reply->len, 100000);
		for (unsigned i = 0; i < 100000; i++) {
			const struct reply *at = &reply->u.items[i];
			int64_t n;

			if (reply_integer(at, &n) != 0 || n != i ||
			    (at->type == REPLY_INTEGER) != (i % 2 == 0)) {
				CHECK(!"its place");
				break;
			}
		}
	}
	buf_release(&in);
	reader_free(r);
}

/* --- what is refused ----------------------------------------------------- */

static const struct {
	const char *bytes;
	const char *text; /* how the error begins */
} refusals[] = {
	{"HTTP/1.1 400 Bad Request\r\n", "what it sends is not the protocol"},
	{"\x15\x03\x03", "what it sends is not the protocol"},
	{":12a\r\n", "what it sends is not the protocol"},
	{"*-2\r\n", "what it sends is not the protocol"},
	{"*x\r\n", "what it sends is not the protocol"},
	{"$-2\r\n", "what it sends is not the protocol"},
	{"*9223372036854775808\r\n", "what it sends is not the protocol"},
	{"*1000000000\r\n", "its answer needs more than 64.0 KiB"},
	{"*1\r\n*2000000000\r\n", "its answer needs more than 64.0 KiB"},
	{"*2732\r\n", "its answer needs more than 64.0 KiB"},
};

static void refuses_what_is_no_reply(void)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		size_t len = strlen(refusals[i].bytes);

		for (size_t cut = 1; cut <= len; cut++) {
			struct parsed p;

			parse(&p, 65536, refusals[i].bytes, len, cut, 1);
			CHECK(p.rc == -1);
			CHECK_U64(p.err.code, ERROR_DATA);
			CHECK(strncmp(p.err.text, refusals[i].text,
				      strlen(refusals[i].text)) == 0);
			CHECK((p.err.hint[0] != '\0') ==
			      (refusals[i].text[0] == 'w'));
			CHECK_STR(p.out.data, "");
			buf_release(&p.out);
		}
	}
}

static void refuses_resp3(void)
{
	static const char *const texts[] = {
		",1.5\r\n",           "#t\r\n",
		"%1\r\n+a\r\n+b\r\n", "~1\r\n+a\r\n",
		">1\r\n+a\r\n",       "(123\r\n",
		"=5\r\ntxt:a\r\n",    "*1\r\n#t\r\n",
		"*2\r\n:1\r\n,1\r\n", "|1\r\n+a\r\n+b\r\n",
		"*1\r\n%0\r\n:1\r\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct parsed p;

		parse(&p, MAX, texts[i], strlen(texts[i]), 1, 1);
		CHECK(p.rc == -1);
		CHECK_U64(p.err.code, ERROR_DATA);
		buf_release(&p.out);
	}
}

static void refuses_deep_nesting(void)
{
	static const char array[] = "*1\r\n";
	struct parsed p;
	struct buf in;

	buf_init(&in, 1u << 20);
	for (unsigned i = 0; i < 100000; i++)
		CHECK(buf_add(&in, array, 4) == 0);
	parse(&p, MAX, in.data, in.len, in.len, 1);
	CHECK(p.rc == -1);
	CHECK_U64(p.err.code, ERROR_DATA);
	buf_release(&p.out);
	buf_release(&in);
}

static void refuses_a_long_text_while_it_comes(void)
{
	struct error err = ERROR_INIT;
	struct reader *r = reader_new(65536);
	const struct reply *reply;
	char piece[1024];
	size_t fed = 0;

	REQUIRE(r != NULL);
	memset(piece, 'a', sizeof(piece));
	CHECK(reader_feed(r, BYTES("$536870912\r\n"), &err) == 0);
	while (reader_feed(r, piece, sizeof(piece), &err) == 0 &&
	       fed < 1u << 20) {
		CHECK(reader_next(r, &reply, &err) == 0);
		fed += sizeof(piece);
	}
	CHECK(fed <= 65536 + sizeof(piece));
	CHECK_STR(err.text, "its answer needs more than 64.0 KiB");
	err.code = ERROR_NONE;
	CHECK(reader_next(r, &reply, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	reader_free(r);
}

static void the_maximum_is_of_one_reply(void)
{
	struct error err = ERROR_INIT;
	struct reader *r = reader_new(4096);
	const struct reply *reply;
	char text[4096];

	REQUIRE(r != NULL);
	memset(text, 'a', sizeof(text));
	for (unsigned i = 0; i < 100; i++) {
		CHECK(reader_feed(r, BYTES("$4095\r\n"), &err) == 0);
		CHECK(reader_feed(r, text, 4095, &err) == 0);
		CHECK(reader_feed(r, BYTES("\r\n"), &err) == 0);
		REQUIRE(reader_next(r, &reply, &err) == 1);
		CHECK_U64(reply->len, 4095);
	}
	CHECK(reader_feed(r, BYTES("$4096\r\n"), &err) == 0);
	CHECK(reader_feed(r, text, 4096, &err) == 0);
	CHECK(reader_feed(r, BYTES("\r\n"), &err) == 0);
	CHECK(reader_next(r, &reply, &err) == -1);
	CHECK_STR(err.text, "its answer needs more than 4.0 KiB");
	reader_free(r);
}

static void failed_allocations_are_told_apart(void)
{
	static const char head[] = "*2\r\n$100000\r\n";
	struct error err;
	unsigned long n;
	bool met = true;

	ALLOC_NEEDED();
	for (n = 1; met && n < 100; n++) {
		struct reader *r;
		const struct reply *reply;
		char text[1000] = "";
		int rc = 0;

		alloc_fail(n, true);
		r = reader_new(MAX);
		if (r == NULL) {
			CHECK(alloc_pass());
			continue;
		}
		rc = reader_feed(r, head, sizeof(head) - 1, &err);
		for (unsigned i = 0; rc == 0 && i < 100; i++)
			rc = reader_feed(r, text, sizeof(text), &err);
		if (rc == 0)
			rc = reader_feed(r, BYTES("\r\n:1\r\n"), &err);
		if (rc == 0)
			rc = reader_next(r, &reply, &err);
		met = alloc_pass();
		CHECK(rc == (met ? -1 : 1));
		if (met)
			CHECK_U64(err.code, ERROR_INTERNAL);
		reader_free(r);
	}
	CHECK(n > 3 && n < 100);
}

int main(void)
{
	UNIT(parses_any_cut, "reply: cut anywhere, or byte by byte, a reply is "
			     "the same tree");
	UNIT(is_empty_between_replies,
	     "reply: a reader is empty just between replies");
	UNIT(texts_hold_any_bytes, "reply: texts hold any bytes and a NUL "
				   "behind");
	UNIT(children_are_in_a_row,
	     "reply: the items of an array lie in a row, however many");
	UNIT(refuses_what_is_no_reply,
	     "reply: garbage and huge counts are refused where they are seen");
	UNIT(refuses_resp3, "reply: types of RESP3 are refused");
	UNIT(refuses_deep_nesting, "reply: a hundred thousand arrays in each "
				   "other are refused");
	UNIT(refuses_a_long_text_while_it_comes,
	     "reply: a text of 512 MB is refused at the maximum, not later");
	UNIT(the_maximum_is_of_one_reply,
	     "reply: the maximum is exact, and of each reply alone");
	UNIT(failed_allocations_are_told_apart,
	     "reply: no memory is an error of its own");
	return unit_end();
}
