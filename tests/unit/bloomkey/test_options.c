/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/bloomkey/keyspec.h"

#define CHARS_64 \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

static void example(void)
{
	const void *sentinel;
	struct bloomkey_spec *spec =
		parse_good("# blocked_cards.keyspec\n"
			   "[keyspec]\n"
			   "version = 1\n"
			   "name    = blocked_cards\n"
			   "key     = card:{entity_id}:{scope}\n"
			   "buckets = 200\n"
			   "filter  = {name}:{bucket}\n");

	CHECK_STR(bloomkey_name(spec), "blocked_cards");
	CHECK_U64(bloomkey_buckets(spec), 200);
	CHECK_U64(bloomkey_seed(spec), 0);
	CHECK_U64(bloomkey_fields(spec), 2);
	CHECK_STR(bloomkey_field_name(spec, 0), "entity_id");
	CHECK_STR(bloomkey_field_name(spec, 1), "scope");
	CHECK(bloomkey_field_name(spec, 2) == NULL);
	CHECK_STR(bloomkey_field_column(spec, 0), "entity_id");
	CHECK_STR(bloomkey_field_column(spec, 1), "scope");
	CHECK(bloomkey_field_column(spec, 2) == NULL);
	CHECK(bloomkey_field_column(spec, SIZE_MAX) == NULL);
	CHECK_U64(bloomkey_sentinel(spec, &sentinel), 17);
	bloomkey_free(spec);
	bloomkey_free(NULL);
}

static void version(void)
{
	GOOD("[keyspec]\nversion = \"1\"\nname = s\nbuckets = 1\nkey = {id}\n"
	     "filter = f\n");
	BAD("[keyspec]\nversion = 2\nnew = x\n", 2, "version: '2' is not sup");
	BAD("[keyspec]\nversion = 01\n", 2, "version: '01'");
	BAD("[keyspec]\nversion = 1.0\n", 2, "version: '1.0'");
}

static void names(void)
{
	struct bloomkey_spec *spec =
		parse_good("[keyspec]\nversion = 1\nname = " CHARS_64 "\n"
			   "buckets = 1\nkey = {" CHARS_64 "}\nfilter = f\n"
			   "[field " CHARS_64 "]\n");

	CHECK_STR(bloomkey_name(spec), CHARS_64);
	CHECK_STR(bloomkey_field_name(spec, 0), CHARS_64);
	bloomkey_free(spec);
	BAD("[keyspec]\nname = " CHARS_64 "x\n", 2, "name: 'abc");
	BAD("[keyspec]\nname = a b\n", 2, "name: 'a b'");
	BAD("[keyspec]\nname = a:b\n", 2, "name: 'a:b'");
	BAD("[keyspec]\nname = a/b\n", 2, "name: 'a/b'");
	BAD("[keyspec]\nname = \xc3\xa9\n", 2, "name: '\\xc3\\xa9'");
	BAD(BASE "[field " CHARS_64 "x]\n", 7, "is not a field's name");
	BAD(HEAD "key = {" CHARS_64 "x}\nfilter = f\n", 5, "holds no name");
	GOOD("[keyspec]\nversion = 1\nname = .\nbuckets = 1\nkey = {-}\n"
	     "filter = f\n[field -]\n");
}

static void check_number(const char *name, const char *value, uint64_t is)
{
	char text[256];
	struct outcome o;

	(void)snprintf(text, sizeof(text),
		       "[keyspec]\nversion = 1\nname = s\nkey = {id}\n"
		       "filter = f{bucket}\n%s%s = %s\n",
		       *name == 's' ? "buckets = 1\n" : "", name, value);
	o = parse_bytes(text, strlen(text));
	REQUIRE(o.code == BLOOMKEY_OK);
	CHECK_U64(*name == 's' ? bloomkey_seed(o.spec)
			       : bloomkey_buckets(o.spec),
		  is);
	bloomkey_free(o.spec);
}

static void numbers(void)
{
	static const char *const wrong[] = {
		"-1",
		"+1",
		"00",
		"01",
		"007",
		"1 0",
		"1.0",
		"0x10",
		"1e3",
		"1_000",
		"1,000",
		"\xd9\xa1",
		"\" 1\"",
		"18446744073709551616",
		"18446744073709551617",
		"184467440737095516150",
		"99999999999999999999999999999999999999",
	};
	char text[128];

	check_number("buckets", "1", 1);
	check_number("buckets", "\"65536\"", 65536);
	check_number("buckets", "10", 10);
	check_number("seed", "0", 0);
	check_number("seed", "1", 1);
	check_number("seed", "18446744073709551615", UINT64_MAX);
	check_number("seed", "9223372036854775808", UINT64_C(1) << 63);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		(void)snprintf(text, sizeof(text), "[keyspec]\nbuckets = %s\n",
			       wrong[i]);
		BAD(text, 2, "is not a number from 1 to 65536");
		(void)snprintf(text, sizeof(text), "[keyspec]\nseed = %s\n",
			       wrong[i]);
		BAD(text, 2, "is not a number from 0 to 18446744073709551615");
	}
	BAD("[keyspec]\nbuckets = 0\n", 2, "buckets: '0' is not a number");
	BAD("[keyspec]\nbuckets = 65537\n", 2, "buckets: '65537' is not");
	BAD("[keyspec]\nbuckets = 4294967297\n", 2, "buckets: '4294967297'");
}

static void delimiters(void)
{
	GOOD(HEAD "key = {a}|{b}\nfilter = f\ndelimiter = |\n");
	GOOD(HEAD "key = {a}#{b}\nfilter = f\ndelimiter = #\n");
	GOOD(HEAD "key = {a};{b}\nfilter = f\ndelimiter = ;\n");
	GOOD(HEAD "key = {a} {b}\nfilter = f\ndelimiter = \" \"\n");
	GOOD(HEAD "key = {a}\"{b}\nfilter = f\ndelimiter = \"\\\"\"\n");
	GOOD(HEAD "key = {a}\\{b}\nfilter = f\ndelimiter = \\\n");
	GOOD(HEAD "key = {a}{{{b}\nfilter = f\ndelimiter = {\n");
	GOOD(HEAD "key = {a}~{b}\nfilter = f\ndelimiter = ~\n");
	BAD(BASE "delimiter = ::\n", 7, "delimiter: '::'");
	BAD(BASE "delimiter = \"\t\"\n", 7, "delimiter: '\\x09'");
	BAD(BASE "delimiter = \xc3\xa9\n", 7, "delimiter: '\\xc3\\xa9'");
	BAD(BASE "delimiter = 0x3a\n", 7, "delimiter: '0x3a'");
}

static void words(void)
{
	GOOD(BASE "encoding = bytes\n");
	GOOD(BASE "encoding = utf-8\n");
	BAD(BASE "encoding = utf8\n", 7,
	    "encoding: 'utf8' is neither 'utf-8' nor 'bytes'");
	BAD(BASE "encoding = UTF-8\n", 7, "encoding: 'UTF-8'");
	GOOD(BASE "[field id]\nencoding = bytes\nempty = allow\n"
		  "null = empty\n");
	GOOD(BASE "[field id]\nencoding = utf-8\nempty = reject\n"
		  "null = reject\n");
	GOOD(BASE "[field id]\nnull = reject\nempty = allow\n");
	BAD(BASE "[field id]\nencoding = latin1\n", 8, "encoding: 'latin1'");
	BAD(BASE "[field id]\nempty = empty\n", 8,
	    "empty: 'empty' is neither 'reject' nor 'allow'");
	BAD(BASE "[field id]\nnull = allow\n", 8,
	    "null: 'allow' is neither 'reject' nor 'empty'");
}

static void null_needs_empty(void)
{
	BAD(BASE "[field id]\ncolumn = x\nnull = empty\n", 9,
	    "null: 'empty' needs 'empty = allow'");
	BAD(BASE "[field id]\nnull = empty\nempty = reject\n", 8,
	    "null: 'empty' needs 'empty = allow'");
	GOOD(BASE "[field id]\nnull = empty\nempty = allow\n");
}

static void columns(void)
{
	struct bloomkey_spec *spec = parse_good(
		PAIR "[field b]\ncolumn = \"Sch\xc3\xb6n \\\"x\\\"\"\n"
		     "[field a]\ncolumn = b\n");

	CHECK_STR(bloomkey_field_column(spec, 0), "b");
	CHECK_STR(bloomkey_field_column(spec, 1), "Sch\xc3\xb6n \"x\"");
	CHECK_STR(bloomkey_field_name(spec, 0), "a");
	bloomkey_free(spec);
}

static void check_sentinel(const char *line, const char *is, size_t len)
{
	char text[256];
	const void *data = text;
	struct outcome o;

	(void)snprintf(text, sizeof(text), BASE "%s", line);
	o = parse_bytes(text, strlen(text));
	REQUIRE(o.code == BLOOMKEY_OK);
	CHECK_U64(bloomkey_sentinel(o.spec, &data), len);
	if (is == NULL)
		CHECK(data == NULL);
	else
		CHECK(memcmp(data, is, len) == 0);
	bloomkey_free(o.spec);
}

static void sentinels(void)
{
	/* The fingerprint of this keyspec begins so: see test_fingerprint. */
	check_sentinel("", "bloomkey:7997320a", 17);
	check_sentinel("sentinel = none\n", NULL, 0);
	check_sentinel("sentinel = \"none\"\n", NULL, 0);
	check_sentinel("sentinel = None\n", "None", 4);
	check_sentinel("sentinel = default\n", "default", 7);
	check_sentinel("sentinel = \" {id} \\\\ \xc3\xa9\"\n",
		       " {id} \\ \xc3\xa9", 10);
}

static void unknown(void)
{
	BAD(BASE "Seed = 1\n", 7, "unknown name 'Seed' in [keyspec]");
	BAD(BASE "column = 1\n", 7, "unknown name 'column' in [keyspec]");
	BAD(BASE "empty = allow\n", 7, "unknown name 'empty' in [keyspec]");
	BAD(BASE "a b = 1\n", 7, "unknown name 'a b' in [keyspec]");
	BAD(BASE "[field id]\nseed = 1\n", 8, "unknown name 'seed' in [field]");
	BAD(BASE "[field id]\nname = x\n", 8, "unknown name 'name' in [field]");
}

static void repeated(void)
{
	static const char *const lines[] = {
		"version = 1",   "name = s",         "key = {id}",
		"buckets = 1",   "filter = f",       "seed = 1",
		"delimiter = ,", "encoding = bytes", "sentinel = x",
	};
	static const char *const field_lines[] = {
		"column = x",
		"encoding = bytes",
		"empty = allow",
		"null = reject",
	};
	char text[256];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		(void)snprintf(text, sizeof(text), "[keyspec]\n%s\n#\n%s\n",
			       lines[i], lines[i]);
		BAD(text, 4, "is repeated, it stands in line 2 already");
	}
	for (size_t i = 0; i < 4; i++) {
		(void)snprintf(text, sizeof(text), "[field id]\n%s\n#\n%s\n",
			       field_lines[i], field_lines[i]);
		BAD(text, 4, "is repeated, it stands in line 2 already");
	}
	GOOD(PAIR "encoding = bytes\n[field a]\nencoding = bytes\n"
		  "[field b]\nencoding = bytes\n");
	BAD(BASE "[field id]\n\n[field id]\n", 9,
	    "[field id] is repeated, it stands in line 7 already");
	BAD(BASE "[field id]\n[keyspec]\n", 8,
	    "[keyspec] is repeated, it stands in line 1 already");
	BAD("[keyspec]\n[keyspec]\n", 2, "[keyspec] is repeated");
}

static void missing(void)
{
	static const char *const lines[] = {"version = 1", "name = s",
					    "key = {id}", "buckets = 1",
					    "filter = f"};
	static const char *const part[] = {
		"'version' is missing in [keyspec]",
		"'name' is missing in [keyspec]",
		"'key' is missing in [keyspec]",
		"'buckets' is missing in [keyspec]",
		"'filter' is missing in [keyspec]",
	};
	char text[256];

	for (size_t without = 0; without < 5; without++) {
		strcpy(text, "[keyspec]\n");
		for (size_t i = 0; i < 5; i++)
			if (i != without) {
				strcat(text, lines[i]);
				strcat(text, "\n");
			}
		BAD(text, 0, part[without]);
	}
	BAD("[field id]\n", 0, "'version' is missing");
}

static void sections(void)
{
	struct bloomkey_spec *spec;
	char text[4096] = HEAD "filter = f\nkey = {f0}";
	char part[64];

	BAD(BASE "[field id]\n[field no]\nempty = allow\n", 8,
	    "[field no]: the key has no such field");
	BAD(BASE "[field ID]\n", 7, "[field ID]: the key has no such field");
	spec = parse_good("[field id]\ncolumn = c\n" BASE);
	CHECK_STR(bloomkey_field_column(spec, 0), "c");
	bloomkey_free(spec);
	/* More than the table of sections holds at first. */
	for (unsigned i = 1; i < 40; i++) {
		(void)snprintf(part, sizeof(part), ":{f%u}", i);
		strcat(text, part);
	}
	strcat(text, "\n");
	for (unsigned i = 40; i-- > 0;) {
		(void)snprintf(part, sizeof(part), "[field f%u]\ncolumn=c%u\n",
			       i, i);
		strcat(text, part);
	}
	spec = parse_good(text);
	CHECK_U64(bloomkey_fields(spec), 40);
	for (unsigned i = 0; i < 40; i++) {
		(void)snprintf(part, sizeof(part), "c%u", i);
		CHECK_STR(bloomkey_field_column(spec, i), part);
	}
	bloomkey_free(spec);
}

static void first_error(void)
{
	BAD("[keyspec]\nname = ?\nbuckets = 0\n\x01\n", 2, "name");
	BAD("[keyspec]\nbuckets = 0\nname = ?\n", 2, "buckets");
	CHECK(bloomkey_parse("x", 1, NULL, NULL,
			     &(struct bloomkey_spec *){NULL},
			     NULL) == BLOOMKEY_EINVAL);
}

int main(void)
{
	UNIT(example, "options: the five needed names are enough");
	UNIT(version, "options: version is exactly 1");
	UNIT(names, "options: a name is 1 to 64 of A-Za-z0-9_.-");
	UNIT(numbers, "options: a number is plain digits within its range");
	UNIT(delimiters, "options: a delimiter is one printable character");
	UNIT(words, "options: encoding, empty and null take their words only");
	UNIT(null_needs_empty, "options: null = empty needs empty = allow");
	UNIT(columns,
	     "options: a column is any text, the field's name if none");
	UNIT(sentinels, "options: a sentinel is bytes, none or the default");
	UNIT(unknown, "options: an unknown name is refused with its line");
	UNIT(repeated, "options: what is repeated is refused with its line");
	UNIT(missing, "options: a missing name is named");
	UNIT(sections, "options: field sections come in any order, all used");
	UNIT(first_error, "options: the first wrong line is reported");
	return unit_end();
}
