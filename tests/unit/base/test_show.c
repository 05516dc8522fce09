/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/show.h"

#include "tests/unit/unit.h"

static const char *shown(struct buf *b, const char *data, size_t len)
{
	buf_release(b);
	if (show_copy(b, data, len) != 0)
		return NULL;
	return buf_string(b);
}

static void escapes(void)
{
	struct buf b;

	buf_init(&b, 1000);
	CHECK_STR(shown(&b, "card:1", 6), "card:1");
	CHECK_STR(shown(&b, "a\\b\t\n\r\b\f\v", 9), "a\\\\b\\t\\n\\r\\b\\f\\v");
	CHECK_STR(shown(&b, "a\0b\x1b[31m\x7f", 9), "a\\x00b\\x1b[31m\\x7f");
	CHECK_STR(shown(&b, "gr\xc3\xbc\xc3\x9f", 6), "gr\xc3\xbc\xc3\x9f");
	buf_release(&b);
}

static void not_utf8(void)
{
	static const struct {
		const char *in;
		const char *out;
	} cases[] = {
		{"\xff", "\\xff"},
		{"\xc0\x80", "\\xc0\\x80"},
		{"\xe0\x80\x80", "\\xe0\\x80\\x80"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
		{"\xe2\x82", "\\xe2\\x82"},
		{"\xc2\x9b", "\\xc2\\x9b"},
		{"\xe2\x82\xac", "\xe2\x82\xac"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
	};
	struct buf b;

	buf_init(&b, 1000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(shown(&b, cases[i].in, strlen(cases[i].in)),
			  cases[i].out);
	buf_release(&b);
}

static void hex(void)
{
	struct buf b;

	buf_init(&b, 1000);
	CHECK(show_hex(&b, "\0\x7f\xff", 3) == 0);
	CHECK_STR(buf_string(&b), "007fff");
	buf_release(&b);
}

static void commands(void)
{
#define LETTERS_64 \
	"abcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefgh"
	static const char *const cases[][2] = {
		{"psql", "psql"},
		{" \t\npsql", "psql"},
		{"psql -c 'secret'", "psql ..."},
		{"/usr/bin/pg_dump-15 x", "/usr/bin/pg_dump-15 ..."},
		{"a;b", "a ..."},
		{"a\tb", "a ..."},
		{"a\nb", "a ..."},
		{"a|b", "a ..."},
		{"a>b", "a ..."},
		{"a&", "a ..."},
		{"a(b", "a ..."},
		{"PGPASSWORD=secret psql", "..."},
		{"a'secret'", "..."},
		{"$secret", "..."},
		{"'secret", "..."},
		{"a\xc3\xa4", "..."},
		{"", "..."},
		{" ", "..."},
		{LETTERS_64, LETTERS_64},
		{LETTERS_64 " x", LETTERS_64 " ..."},
		{LETTERS_64 "i", "..."},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[SHOW_COMMAND_MAX];

		CHECK(show_command(cases[i][0], out) == out);
		CHECK_STR(out, cases[i][1]);
	}
}

int main(void)
{
	UNIT(escapes, "show: control bytes are escaped, letters are not");
	UNIT(not_utf8, "show: what is no UTF-8, or steers, is escaped");
	UNIT(hex, "show: bytes as hexadecimal digits");
	UNIT(commands,
	     "show: of a command a plain first word is shown at most");
	return unit_end();
}
