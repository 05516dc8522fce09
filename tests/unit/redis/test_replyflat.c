/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/replyflat.h"

#include "tests/unit/redis/replytree.h"

/* --- what is one ---------------------------------------------------------- */

static void whole_ones_are_told_with_what_follows(void)
{
	static const struct {
		const char *bytes;
		size_t count;
		size_t first;
	} cases[] = {
		{"*1\r\n:1\r\n", 1, 4},
		{"*3\r\n:1\r\n:0\r\n:9\r\n", 3, 4},
		{"*1\r\n:1\r\n*1\r\n:1\r\n", 1, 4},
		{"*1\r\n:1\r\nrubbish", 1, 4},
		{"*10\r\n:0\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n"
		 ":8\r\n:9\r\n",
		 10, 5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *bytes = cases[i].bytes;
		size_t count, first;

		CHECK(replyflat_scan(bytes, strlen(bytes), &count, &first) ==
		      REPLYFLAT_WHOLE);
		CHECK_U64(count, cases[i].count);
		CHECK_U64(first, cases[i].first);
	}
}

static void beginnings_are_parts(void)
{
	static const char bytes[] =
		"*12\r\n:0\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n"
		":0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n";

	for (size_t len = 0; len < sizeof(bytes) - 1; len++) {
		char *copy = malloc(len + 1);
		size_t count, first;

		REQUIRE(copy != NULL);
		/* At the end of its memory: nothing behind it is read. */
		memcpy(copy + 1, bytes, len);
		CHECK(replyflat_scan(copy + 1, len, &count, &first) ==
		      REPLYFLAT_PART);
		free(copy);
	}
}

static void anything_else_is_none(void)
{
	static const char *const cases[] = {
		"+OK\r\n",
		":1\r\n",
		"$1\r\na\r\n",
		"*\r\n:1\r\n",
		"*x",
		"*-1\r\n",
		"*0\r\n",
		"*01\r\n:1\r\n",
		"*1x",
		"*1\n",
		"*1\rx",
		"*1\r\n:10\r\n",
		"*1\r\n:-1\r\n",
		"*1\r\n:a\r\n",
		"*1\r\n+1\r\n",
		"*1\r\n-ERR full\r\n",
		"*1\r\n#t\r\n",
		"*1\r\n*1\r\n:1\r\n",
		"*1\r\n:1\n\r",
		"*1\r\n:1\rx",
		"*2\r\n:1\r\n-ERR full\r\n",
		"*3\r\n:1\r\n:1\r\n$",
		"*3\r\n:1\r\n:x",
		"*3\r\n:1\r\n:1x",
		"*3\r\n:1\r\n:1\rx",
		"*2001\r\n",
		"*18446744073709551617\r\n:1\r\n",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t count, first;

		if (replyflat_scan(cases[i], strlen(cases[i]), &count,
				   &first) != REPLYFLAT_NO) {
			printf("# case %zu\n", i);
			CHECK(!"none");
		}
	}
}

static void the_largest_has_2000_elements(void)
{
	enum { MOST = REPLYFLAT_COUNT_MAX };
	char *bytes = malloc(7 + MOST * 4 + 1);
	size_t count, first;

	REQUIRE(bytes != NULL);
	(void)sprintf(bytes, "*%d\r\n", MOST);
	for (size_t i = 0; i < MOST; i++)
		memcpy(bytes + 7 + 4 * i, ":1\r\n", 4);
	CHECK(replyflat_scan(bytes, 7 + (size_t)MOST * 4, &count, &first) ==
	      REPLYFLAT_WHOLE);
	CHECK_U64(count, MOST);
	CHECK_U64(first, 7);
	/* Whichever byte is another. */
	for (size_t at = 7; at < 7 + (size_t)MOST * 4; at++) {
		char was = bytes[at];

		bytes[at] = 'x';
		if (replyflat_scan(bytes, 7 + (size_t)MOST * 4, &count,
				   &first) != REPLYFLAT_NO) {
			CHECK(!"it is seen");
			break;
		}
		bytes[at] = was;
	}
	free(bytes);
}

/* --- in a reader ---------------------------------------------------------- */

/* Arrays of digits are read past the parser, all else by it. */
static void answers_keep_their_order(void)
{
	static const char bytes[] = "*2\r\n:1\r\n:0\r\n"
				    "*1\r\n:5\r\n"
				    "+OK\r\n"
				    "*1\r\n:6\r\n"
				    "*2\r\n:1\r\n-ERR full\r\n"
				    "*1\r\n:7\r\n";
	static const char tree[] = "*2(:1 :0 ) *1(:5 ) +OK *1(:6 ) "
				   "*2(:1 -ERR full ) *1(:7 ) ";
	size_t len = sizeof(bytes) - 1;

	for (size_t first = 1; first <= len; first++)
		for (size_t each = 1; each <= len; each++) {
			struct parsed p;

			parse(&p, MAX, bytes, len, first, each);
			CHECK(p.rc == 0 && p.empty);
			CHECK_STR(p.out.data, tree);
			buf_release(&p.out);
		}
}

/* What is fed before the last is asked for stays. */
static void digits_may_be_fed_ahead(void)
{
	struct error err = ERROR_INIT;
	struct reader *r = reader_new(MAX);
	const struct reply *reply;

	REQUIRE(r != NULL);
	CHECK(reader_feed(r, BYTES("*1\r\n:1\r\n*1\r\n"), &err) == 0);
	REQUIRE(reader_next(r, &reply, &err) == 1);
	CHECK(!reader_empty(r));
	CHECK(reader_feed(r, BYTES(":2\r\n*1\r\n:"), &err) == 0);
	CHECK(reader_feed(r, BYTES("3\r\n"), &err) == 0);
	for (int64_t i = 2; i <= 3; i++) {
		REQUIRE(reader_next(r, &reply, &err) == 1);
		REQUIRE(reply->type == REPLY_ARRAY && reply->len == 1);
		CHECK(reply->u.items[0].u.integer == i);
	}
	CHECK(reader_next(r, &reply, &err) == 0);
	CHECK(reader_empty(r));
	reader_free(r);
}

static void the_maximum_is_of_digits_too(void)
{
	const size_t most = 4096 / sizeof(struct reply);

	for (size_t n = most - 1; n <= most + 1; n++) {
		struct parsed p;
		struct buf in;

		buf_init(&in, 1u << 20);
		CHECK(buf_addf(&in, "*%zu\r\n", n) == 0);
		for (size_t i = 0; i < n; i++)
			CHECK(buf_adds(&in, ":1\r\n") == 0);
		parse(&p, 4096, in.data, in.len, in.len, 1);
		CHECK(p.rc == (n <= most ? 0 : -1));
		if (n > most)
			CHECK_STR(p.err.text,
				  "its answer needs more than 4.0 KiB");
		buf_release(&p.out);
		buf_release(&in);
	}
}

int main(void)
{
	UNIT(whole_ones_are_told_with_what_follows,
	     "replyflat: a whole one is told, whatever follows it");
	UNIT(beginnings_are_parts, "replyflat: its beginnings are parts");
	UNIT(anything_else_is_none,
	     "replyflat: other answers are none, as soon as it shows");
	UNIT(the_largest_has_2000_elements,
	     "replyflat: the largest has 2000 elements, and each is looked at");
	UNIT(answers_keep_their_order,
	     "replyflat: they and other answers come in their order");
	UNIT(digits_may_be_fed_ahead,
	     "replyflat: those that were fed ahead are not lost");
	UNIT(the_maximum_is_of_digits_too,
	     "replyflat: the maximum of a reply is exact for them");
	return unit_end();
}
