/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/bloomkey/internal.h"
#include "tests/unit/bloomkey/keyspec.h"

/* The column of a keyspec whose line 8 is `column = ` and the text. */
static void check_value(const char *file, int at, const char *text,
			const char *value)
{
	char whole[512];
	struct outcome o;

	(void)snprintf(whole, sizeof(whole), BASE "[field id]\ncolumn =%s",
		       text);
	o = parse_bytes(whole, strlen(whole));
	if (o.code != BLOOMKEY_OK ||
	    strcmp(bloomkey_field_column(o.spec, 0), value) != 0) {
		unit_fail(file, at, value);
		printf("#   line %u: %s\n#   got: %s\n", o.err.line, o.err.text,
		       o.spec ? bloomkey_field_column(o.spec, 0) : "nothing");
	}
	bloomkey_free(o.spec);
}

#define VALUE(text, value) check_value(__FILE__, __LINE__, text, value)
#define BAD_VALUE(text, part) \
	BAD(BASE "[field id]\ncolumn =" text "\n[field no]\n", 8, part)

static void line_ends(void)
{
	GOOD("[keyspec]\r\nversion = 1\r\nname = s\r\nbuckets = 1\r\n"
	     "key = {id}\r\nfilter = f\r\n");
	GOOD(BASE "seed = 7");
	VALUE("x\r\n", "x");
	VALUE("x \t\r\n\r\n", "x");
	VALUE("\"x\"\r\n", "x");
	BAD_VALUE("x\r\r\n", "control byte 0x0d");
	BAD_VALUE("x\ry\n", "control byte 0x0d");
	BAD(BASE "seed = 7\r", 7, "control byte 0x0d");
	BAD("\r", 1, "control byte 0x0d");
	BAD("\r\n\r\nx", 3, "'x'");
}

static void control_bytes(void)
{
	char text[] = BASE "#?;\n[field no]\n";
	char part[32];

	for (int c = 1; c < 0x20; c++) {
		text[sizeof(BASE)] = (char)c;
		(void)snprintf(part, sizeof(part), "control byte 0x%02x", c);
		if (c == '\t')
			BAD(text, 8, "[field no]");
		else if (c == '\n')
			BAD(text, 9, "[field no]");
		else
			BAD(text, 7, part);
	}
	BAD(BASE "# \x7f\n", 7, "control byte 0x7f");
	BAD_BYTES(BASE "# a\0b\n", 7, "control byte 0x00");
	BAD_BYTES(BASE "\0", 7, "control byte 0x00");
	VALUE("a\tb", "a\tb");
	VALUE("a\xc2\x85"
	      "b",
	      "a\xc2\x85"
	      "b");
}

static void file_is_utf8(void)
{
	GOOD(BASE "# \xc3\xa9\n");
	VALUE("\xc3\xa9", "\xc3\xa9");
	BAD(BASE "# \xe9\n", 7, "not UTF-8");
	BAD(BASE "# \xc0\xaf\n", 7, "not UTF-8");
	BAD(BASE "# \xed\xa0\x80\n", 7, "not UTF-8");
	BAD(BASE "\n[field id]\ncolumn = \"\xff\"\n", 9, "not UTF-8");
	BAD(BASE "# \xe2\x82\n\xac\n", 7, "not UTF-8");
}

static void byte_order_mark(void)
{
	GOOD("\xef\xbb\xbf" BASE);
	GOOD("\xef\xbb\xbf\r\n" BASE);
	BAD("\xef\xbb\xbf\xef\xbb\xbf" BASE, 1, "\\xef\\xbb\\xbf[keyspec]");
	BAD("\n\xef\xbb\xbf" BASE, 2, "\\xef\\xbb\\xbf");
	BAD("\xef\xbb\xbf", 0, "'version' is missing");
	BAD("\xef\xbb", 1, "not UTF-8");
	BAD("\xfe\xff", 1, "not UTF-8");
}

static void file_size(void)
{
	static char text[65538];
	size_t used = sizeof(BASE) - 1;

	memset(text, '\n', sizeof(text));
	memcpy(text, BASE, used);
	text[used] = '#';
	memset(text + used + 1, 'x', 65536 - used - 1);
	check_bad(__FILE__, __LINE__, text, 65537, 0, "65536 bytes");
	text[65536] = '\0';
	CHECK_U64(strlen(text), 65536);
	GOOD(text);
	BAD("", 0, "'version' is missing");
	check_bad(__FILE__, __LINE__, NULL, 0, 0, "'version' is missing");
	BAD("\n\n", 0, "'version' is missing");
}

static void comments_and_blanks(void)
{
	GOOD("# c\n; c\n \t# c\n\t; = c\n\n  \t \n#\n;\n" BASE);
	GOOD(BASE "#[field no]\n;no = 1\n");
	GOOD(" [keyspec] \n\tversion\t=\t1\t\n name=s\nbuckets  =  1\n"
	     "key={id}\nfilter =f\n");
	BAD("#\n;\n\n[nothing]\n", 4, "[nothing]");
}

static void no_comment_after_value(void)
{
	BAD_VALUE(" a # b", "no comment");
	BAD_VALUE(" a ; b", "no comment");
	BAD_VALUE(" a\t#", "no comment");
	BAD_VALUE(" a \t;b", "no comment");
	BAD_VALUE(" a b  #", "no comment");
	BAD_VALUE(" \"a\" # b", "after the value's closing quote");
	VALUE(" a#b;c", "a#b;c");
	VALUE(" \"a # b ; c\" ", "a # b ; c");
	VALUE(" # a", "# a");
	VALUE(" ;", ";");
	BAD(BASE "[field id] # x\n", 7, "does not end with ']'");
}

static void quotes(void)
{
	VALUE("\"x\"", "x");
	VALUE(" \"x\" \t", "x");
	VALUE(" \" x \" ", " x ");
	VALUE(" \"a\\\"b\\\\c\" ", "a\"b\\c");
	VALUE(" \"\\\\\" ", "\\");
	VALUE(" \"\\\"\" ", "\"");
	VALUE(" \"a = [b]\" ", "a = [b]");
	VALUE(" a\"b\" ", "a\"b\"");
	VALUE(" a\\\"\\n ", "a\\\"\\n");
	VALUE(" 'a' ", "'a'");
	BAD_VALUE(" \"", "closing quote is missing");
	BAD_VALUE(" \"a", "closing quote is missing");
	BAD_VALUE(" \"a\\\"", "closing quote is missing");
	BAD_VALUE(" \"a\\", "backslash");
	BAD_VALUE(" \"a\\n\"", "backslash");
	BAD_VALUE(" \"a\"b", "after the value's closing quote");
	BAD_VALUE(" \"a\" \"b\"", "after the value's closing quote");
	BAD_VALUE(" \"\"\"", "after the value's closing quote");
	BAD(BASE "[field id]\ncolumn = \"a\nb\"\n", 8, "quote is missing");
}

static void empty_values(void)
{
	BAD_VALUE("", "'column' has an empty value");
	BAD_VALUE(" \t ", "'column' has an empty value");
	BAD_VALUE(" \"\"", "'column' has an empty value");
	BAD(BASE "sentinel =", 7, "'sentinel' has an empty value");
	VALUE(" \" \"", " ");
}

static void other_lines(void)
{
	BAD(BASE "word\n", 7, "neither a section nor 'name = value': 'word'");
	BAD(BASE "= x\n", 7, "no name stands before '='");
	BAD(BASE " \t= x\n", 7, "no name stands before '='");
	BAD("version = 1\n" BASE, 1, "'version' stands before any section");
	VALUE("a = b", "a = b");
	VALUE("=", "=");
}

static void section_lines(void)
{
	GOOD(BASE "[ \tfield \t id\t]\t\n");
	GOOD("[ keyspec ]\nversion = 1\nname = s\nbuckets = 1\nkey = {id}\n"
	     "filter = f\n");
	BAD("[keyspec\n", 1, "does not end with ']'");
	BAD("[\n", 1, "does not end with ']'");
	BAD("[]\n", 1, "unknown section '[]'");
	BAD("[ ]\n", 1, "unknown section '[]'");
	BAD("[Keyspec]\n", 1, "unknown section '[Keyspec]'");
	BAD("[keyspec x]\n", 1, "unknown section '[keyspec x]'");
	BAD("[keyspec]]\n", 1, "unknown section '[keyspec]]'");
	BAD("[fieldid]\n", 1, "unknown section '[fieldid]'");
	BAD("[fiel]\n", 1, "unknown section '[fiel]'");
	BAD("[Field id]\n", 1, "unknown section '[Field id]'");
	BAD("[field]\n", 1, "'' is not a field's name");
	BAD("[field ]\n", 1, "'' is not a field's name");
	BAD("[field a b]\n", 1, "'a b' is not a field's name");
	BAD("[field \xc3\xa9]\n", 1, "'\\xc3\\xa9' is not a field's name");
	BAD("[field \"a\"]\n", 1, "'\"a\"' is not a field's name");
}

static void messages_are_escaped(void)
{
	struct bk_slice s = {"a\x01\\\x7f\xc3\xa9\0z", 8};
	char text[400];
	struct outcome o;

	CHECK_STR(bk_escape(s).text, "a\\x01\\x5c\\x7f\\xc3\\xa9\\x00z");
	s.len = 0;
	CHECK_STR(bk_escape(s).text, "");
	BAD("[keyspec]\n\xc3\xa9 = 1\n", 2, "unknown name '\\xc3\\xa9'");
	memset(text, 0, sizeof(text));
	for (size_t i = 0; i < 130; i++)
		memcpy(text + 2 * i, "\xc3\xa9", 2);
	o = parse_bytes(text, strlen(text));
	CHECK_U64((unsigned)o.code, (unsigned)BLOOMKEY_EINVAL);
	CHECK(strstr(o.err.text, "...'") != NULL);
	for (const char *p = o.err.text; *p != '\0'; p++)
		CHECK(*p >= 0x20 && *p <= 0x7e);
	for (size_t n = 80; n < 110; n++) {
		char full[128];
		struct bk_slice plain = {full, n};

		memset(full, 'x', sizeof(full));
		CHECK(strlen(bk_escape(plain).text) < 100);
		full[n - 1] = '\xff';
		CHECK(strlen(bk_escape(plain).text) < 100);
	}
}

int main(void)
{
	UNIT(line_ends, "lines: LF ends a line and takes one CR with it");
	UNIT(control_bytes, "lines: control bytes other than TAB are refused");
	UNIT(file_is_utf8, "lines: every line has to be UTF-8");
	UNIT(byte_order_mark, "lines: one byte order mark may come first");
	UNIT(file_size, "lines: a file has at most 65,536 bytes");
	UNIT(comments_and_blanks, "lines: comments and blanks do not count");
	UNIT(no_comment_after_value, "lines: no comment follows a value");
	UNIT(quotes, "lines: a quoted value ends with its quote");
	UNIT(empty_values, "lines: an empty value is refused");
	UNIT(other_lines, "lines: a line has a name and an equals sign");
	UNIT(section_lines, "lines: a section is [keyspec] or [field NAME]");
	UNIT(messages_are_escaped, "lines: messages hold no raw bytes");
	return unit_end();
}
