/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Transforms after others, on long values, on none, among other fields.  The
 * hashes come from Python's hashlib and hmac.
 */
#include "tests/unit/bloomkey/transform.h"

static void chains(void)
{
	BECOMES(UTF8("trim,int"), " \t-007\n", "-7");
	BECOMES(UTF8("lower,trim,int"), "  -007 ", "-7");
	BECOMES(UTF8("lower,trim,int,int,first:2"), "  -00789 ", "-7");
	BECOMES(UTF8("lower,int"), "-000000123456789", "-123456789");
	BECOMES(UTF8("upper,int,lower,int"), "-0012", "-12");
	BECOMES(UTF8("trim,int,trim"), " -5 ", "-5");
	BECOMES(UTF8("lower,first:5,trim,int"), " -001789", "-1");
	BECOMES(UTF8("int,digits"), "-0012", "12");
	BECOMES(UTF8("digits,int"), "00-00/7", "7");
	BECOMES(UTF8("lower,trim,digits,int"), "  (0)0 0-0 ", "0");
	BECOMES(UTF8("trim,lower"), "  A B\n", "a b");
	BECOMES(UTF8("lower,trim,upper,trim,lower"), "  aB\n", "ab");
	BECOMES(UTF8("trim,digits"), " \t(0) 1-2\n", "012");
	FAILS(UTF8("digits,trim"), " \t(0) 1-2\n", DIGITS);
	FAILS(UTF8("int,trim"), " 1", INT);
	BECOMES(UTF8("first:2,trim"), " abc", "a");
	BECOMES(UTF8("trim,first:2"), " abc", "ab");
	BECOMES(UTF8("rtrim,first:2,rtrim"), "a bc ", "a");
	BECOMES(UTF8("first:3,int"), "1234x", "123");
	FAILS(UTF8("trim,first:3,int"), " 12x4", INT);
}

#define UUID "01234567-89ab-cdef-abcd-ef0123456789"

static void uuid_chains(void)
{
	BECOMES(UTF8("trim,uuid"), " {0123456789ABCDEFABCDEF0123456789}\n",
		UUID);
	BECOMES(UTF8("lower,trim,uuid"), " 0123456789ABCDEFABCDEF0123456789 ",
		UUID);
	BECOMES(UTF8("upper,trim,uuid,uuid"), "  {" UUID "} ", UUID);
	BECOMES(UTF8("uuid,upper"), "0123456789abcdefabcdef0123456789",
		"01234567-89AB-CDEF-ABCD-EF0123456789");
	BECOMES(UTF8("uuid,first:8,int"), UUID, "1234567");
	FAILS(UTF8("uuid,digits"), UUID, DIGITS);
	BECOMES(UTF8("uuid,digits"), "00000000000000000000000000000001",
		"00000000000000000000000000000001");
	BECOMES(UTF8("sha256,first:32,upper,uuid"), "abc",
		"ba7816bf-8f01-cfea-4141-40de5dae2223");
	FAILS(UTF8("sha256,uuid"), "abc", UUID);
}

static void hash_chains(void)
{
	BECOMES(UTF8("sha256,sha256"), "abc",
		"dfe7a23fefeea519e9bbfdd1a6be94c4"
		"b2e4529dd6b7cbea83f9959c2621b13c");
	BECOMES(UTF8("sha256,upper,sha256"), "abc",
		"4f671028986fea052075ff8c08fc1a0e"
		"7741cc60da6607bf0a8f8882465e79af");
	BECOMES(UTF8("hmac-sha256,sha256"), "abc",
		"6a79fb2fedb09f160b77dabe1fcc4761"
		"56518e3fecece0f9cb5a5b05a020538b");
	BECOMES(UTF8("sha256,hmac-sha256"), "abc",
		"3975e7da373a3c63d789472b11b31ee9"
		"011a6f4dbe745d37481e555e2f9d824a");
	BECOMES(UTF8("sha256,first:8,hmac-sha256,first:5,upper"), "abc",
		"C618F");
	BECOMES(UTF8("trim,lower,sha256"), " ABC ",
		"ba7816bf8f01cfea414140de5dae2223"
		"b00361a396177a9cb410ff61f20015ad");
	BECOMES(UTF8("trim,int,sha256,first:6,upper"), " -007 ", "A770D3");
	/* All sixteen are used. */
	BECOMES(UTF8("trim,trim,trim,trim,trim,trim,trim,trim,trim,trim,trim,"
		     "trim,trim,trim,trim,upper"),
		" a", "A");
}

#define EMPTY_SHA256                       \
	"e3b0c44298fc1c149afbf4c8996fb924" \
	"27ae41e4649b934ca495991b7852b855"
#define EMPTY_HMAC                         \
	"3d4abf31fa662fe2c343093533e8e802" \
	"e36859ef3d370a4c5c9de577582c2f7a"

static void empties(void)
{
	static const char *const same[] = {"trim",  "rtrim",  "lower",
					   "upper", "digits", "first:1"};
	static const char *const all[] = {"trim",   "rtrim",      "lower",
					  "upper",  "uuid",       "int",
					  "digits", "first:9",    "trim,sha256",
					  "sha256", "hmac-sha256"};

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		BECOMES(ALLOW(same[i]), "", "k");
	FAILS(ALLOW("uuid"), "", UUID);
	FAILS(ALLOW("int"), "", INT);
	BECOMES(ALLOW("sha256"), "", "k" EMPTY_SHA256);
	BECOMES(ALLOW("hmac-sha256"), "", "k" EMPTY_HMAC);
	FAILS(ALLOW("trim,int"), " ", INT);
	FAILS(ALLOW("digits,int"), "-", INT);
	FAILS(ALLOW("digits,uuid"), "-", UUID);
	BECOMES(ALLOW("trim,lower,upper,rtrim,digits,first:1"), "\n", "k");
	/* Without `allow` no transform sees it, even one that fills it. */
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		FAILS(UTF8(all[i]), "", EMPTY);
		FAILS(BYTES(all[i]), "", EMPTY);
	}
	/* What is empty between two transforms only is no fault. */
	BECOMES(UTF8("trim,sha256"), " \n", EMPTY_SHA256);
	BECOMES(UTF8("first:1,hmac-sha256"), "\xc3\xa9", EMPTY_HMAC);
	/* A key of no bytes is the fault of no field. */
	check_value(__FILE__, __LINE__,
		    &(struct how){"trim", "utf-8", "allow", "{id}"}, V(" "),
		    (struct answer){BLOOMKEY_REJECT_EMPTY, V(""), 1});
}

static void nulls(void)
{
	const struct value null = {NULL, 3};
	const struct answer no = {BLOOMKEY_REJECT_NULL, V(""), 0};
	const struct how as_empty = {"sha256\nnull = empty", "utf-8", "allow",
				     "{id}"};

	check_value(__FILE__, __LINE__, UTF8("sha256"), null, no);
	check_value(__FILE__, __LINE__, ALLOW("hmac-sha256"), null, no);
	check_value(__FILE__, __LINE__, &as_empty, null,
		    (struct answer){BLOOMKEY_OK, V(EMPTY_SHA256), 0});
}

/* Two texts, and between them as many bytes `unit` as make it a length. */
struct filled {
	const char *list;
	const char *front;
	char unit;
	const char *back;
};

struct filled_row {
	struct filled value;
	const char *front;
	char unit; /* 0: none instead of as many */
	const char *back;
	int code;
};

static const size_t lengths[] = {64, 255, 256, 257, 258, 65534, 65535};

static void check_filled(const struct filled_row *row, size_t len)
{
	const struct filled *f = &row->value;
	size_t fill = len - strlen(f->front) - strlen(f->back);
	size_t front = strlen(row->front), back = strlen(row->back);
	char *value = malloc(len + 1), *key = malloc(len + 64);
	struct answer is = {row->code, {key, 0}, 0};

	if (value == NULL || key == NULL)
		abort();
	memcpy(value, f->front, strlen(f->front));
	memset(value + strlen(f->front), f->unit, fill);
	memcpy(value + len - strlen(f->back), f->back, strlen(f->back));
	if (row->unit == 0)
		fill = 0;
	memcpy(key, row->front, front);
	memset(key + front, row->unit, fill);
	memcpy(key + front + fill, row->back, back);
	is.key.len = front + fill + back;
	check_value(__FILE__, __LINE__, UTF8(f->list),
		    (struct value){value, len}, is);
	free(key);
	free(value);
}

static void long_values(void)
{
	static const struct filled_row rows[] = {
		{{"trim", " \t\n", 'x', "\v\f\r "}, "", 'x', "", 0},
		{{"trim", "x", ' ', ""}, "x", 0, "", 0},
		{{"trim", "", '\t', "x"}, "x", 0, "", 0},
		{{"trim", "", ' ', ""}, "", 0, "", BLOOMKEY_REJECT_EMPTY},
		{{"rtrim", " x", ' ', ""}, " x", 0, "", 0},
		{{"rtrim", " ", 'x', "\t"}, " ", 'x', "\t", 0},
		{{"rtrim", "", ' ', ""}, "", 0, "", BLOOMKEY_REJECT_EMPTY},
		{{"lower", "Z@", 'A', "[`{a"}, "z@", 'a', "[`{a", 0},
		{{"upper", "z@", 'a', "[`{A"}, "Z@", 'A', "[`{A", 0},
		{{"uuid", "{", 'a', "}"}, "", 0, "", BLOOMKEY_REJECT_UUID},
		{{"int", "", '7', ""}, "", '7', "", 0},
		{{"int", "-", '7', ""}, "-", '7', "", 0},
		{{"int", "-00", '7', ""}, "-", '7', "", 0},
		{{"int", "+0", '7', ""}, "", '7', "", 0},
		{{"int", "-", '0', "7"}, "-7", 0, "", 0},
		{{"int", "-", '0', ""}, "0", 0, "", 0},
		{{"int", "-", '0', "x"}, "", 0, "", BLOOMKEY_REJECT_INT},
		{{"digits", "+(", '5', ") -./"}, "", '5', "", 0},
		{{"digits", "0", '.', "1"}, "01", 0, "", 0},
		{{"digits", "", '-', ""}, "", 0, "", BLOOMKEY_REJECT_EMPTY},
		{{"digits", "", '5', "x"}, "", 0, "", BLOOMKEY_REJECT_DIGITS},
		{{"first:65535", "a", 'b', "c"}, "a", 'b', "c", 0},
		{{"first:3", "ab", 'c', ""}, "abc", 0, "", 0},
		{{"first:3", "\xc3\xa9\xc3\xa9", 'c', ""},
		 "\xc3\xa9",
		 0,
		 "",
		 0},
		{{"trim,int", " -00", '7', "\n"}, "-", '7', "", 0},
		{{"lower,trim,int", "  -0", '7', " "}, "-", '7', "", 0},
		{{"trim,lower,trim", " A", ' ', "B\n"}, "a", ' ', "b", 0},
		{{"lower,trim,digits,int", " 0-0", '4', "- "}, "", '4', "", 0},
		{{"first:38,trim,uuid", " " UUID, ' ', "x"}, UUID, 0, "", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t n = 0; n < sizeof(lengths) / sizeof(*lengths); n++)
			check_filled(&rows[i], lengths[n]);
}

static void long_hashes(void)
{
	static const struct {
		size_t len;
		const char *sha256;
		const char *hmac;
	} rows[] = {
		{55,
		 "d5e285683cd4efc02d021a5c62014694"
		 "958901005d6f71e89e0989fac77e4072",
		 "eb1e2af1e0807321aab1b0467de1ca22"
		 "ca318098b6aea55d9c36e9a5bad69a84"},
		{56,
		 "04c26261370ee7541549d16dee320c72"
		 "3e3fd14671e66a099afe0a377c16888e",
		 "522673b56b0dcd08959a5f80653bd6dc"
		 "0800445b6cbc13c013647ab2264bcb20"},
		{63,
		 "75220b47218278e656f2013bb8f0c455"
		 "a25eaf01e86c64924e9d48d89776d6f2",
		 "4061141ff85eb2a865dceb9fc986cf2f"
		 "0ea64983b0508ce60b3dcc86e9ada6bd"},
		{64,
		 "7ce100971f64e7001e8fe5a51973ecdf"
		 "e1ced42befe7ee8d5fd6219506b5393c",
		 "34ca59f1dffe16e7db8c89b76453f656"
		 "3e9ea9518dabce90ed7e1455bf6f5666"},
		{65,
		 "9537c5fdf120482f7d58d25e9ed583f5"
		 "2c02b4e304ea814db1633ad565aed7e9",
		 "6f5b5169db099073776bd8507ab8b937"
		 "c3d7ec41e98248b368b448d457fb6167"},
		{255,
		 "d22609da3ae3956ca4877056a8e580ee"
		 "d744a6f7d7cfa5b19dd88d52fcc0d435",
		 "df75dcc07ef26cb189c91ec66b7a9042"
		 "97dbf232285aa61a88efd97cce8efad9"},
		{256,
		 "85e62acd750c4eb56b7b6a1d66dca5bf"
		 "aac5f062608a1a893410d0288936c09a",
		 "ff1f84e564160fab7b3c930162791cb8"
		 "7c5db3b92ea8e994cedaab90f7efa5b4"},
		{257,
		 "15eb95a462ee20bd91a415ae2d4aed34"
		 "1288186ddaa2b37908f7d592f0c3f85f",
		 "ab8625a0fa136fc626489d55242ea044"
		 "4f1fe2084be297b6e68fad9585d8ef50"},
		{65534,
		 "1265966699021c10242be59432f53bbe"
		 "cb504ed1ab4514da1b5163d5daaab488",
		 "7e9b9469e4f0679cfa777ee393c53039"
		 "1ba5ef88600529487c8b0492439add28"},
		{65535,
		 "09ab7495d3e61a76f0deb12cb0306f06"
		 "96cbb17ffc12131368c7a939f12f56d3",
		 "e7892988286d3474dc2774f7a0fff3f2"
		 "9d2ab3d79389580689ea8148b0a8db1b"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct filled_row row = {
			{"sha256", "", 'x', ""}, rows[i].sha256, 0, "", 0};

		check_filled(&row, rows[i].len);
		row.value.list = "hmac-sha256";
		row.front = rows[i].hmac;
		check_filled(&row, rows[i].len);
		row.value.list = "trim,lower,hmac-sha256";
		row.value.unit = 'X';
		check_filled(&row, rows[i].len);
	}
}

/* first:N just below, at and above the length, at both sizes of scratch. */
static void long_firsts(void)
{
	char list[32], key[300];
	struct filled_row row = {{list, "", 'y', ""}, key, 0, "", 0};

	for (size_t n = 254; n <= 258; n++)
		for (size_t len = 254; len <= 258; len++) {
			const size_t left = n < len ? n : len;

			(void)snprintf(list, sizeof(list), "upper,first:%zu",
				       n);
			memset(key, 'Y', left);
			key[left] = '\0';
			check_filled(&row, len);
		}
}

static void too_long(void)
{
	static const char *const lists[] = {"trim", "first:1", "sha256",
					    "uuid", "digits",  "hmac-sha256"};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct filled_row row = {{lists[i], "", ' ', ""},
					 "",
					 0,
					 "",
					 BLOOMKEY_REJECT_TOO_LONG};

		check_filled(&row, 65536);
	}
}

static void encodings(void)
{
	FAILS(UTF8("uuid"), "\xff", ENCODING);
	FAILS(UTF8("first:1"), "a\xff", ENCODING);
	FAILS(UTF8("sha256"), "\xc3", ENCODING);
	FAILS(BYTES("uuid"), "\xff", UUID);
	BECOMES(BYTES("first:1"), "a\xff", "a");
}

/* A row of three fields: what the middle one, or another, comes to. */
static void check_three(int at, const char *rules, const char *a, const char *b,
			const char *c, int code, size_t field)
{
	const void *values[] = {a, b, c};
	const size_t lens[] = {strlen(a), strlen(b), strlen(c)};
	struct bloomkey_result r = {9, 9, 9, 9};
	struct bloomkey_spec *spec;
	char text[512], out[512];
	int rc;

	(void)snprintf(text, sizeof(text),
		       HEAD "key = {a}:{b}:{c}\nfilter = f\n%s", rules);
	spec = parse_keyed(text, SECRET);
	rc = bloomkey_derive(spec, values, lens, out, sizeof(out), &r);
	if (rc != code || r.field != field) {
		unit_fail(__FILE__, at, rules);
		printf("#   %d, field %zu\n", rc, r.field);
	}
	bloomkey_free(spec);
}

static void fields(void)
{
#define THREE(rules, a, b, c, code, field) \
	check_three(__LINE__, rules, a, b, c, code, field)
#define INT_B "[field b]\ntransform = int\n"
	THREE(INT_B, "x", "1", "x", BLOOMKEY_OK, 0);
	THREE(INT_B, "x", "y", "", BLOOMKEY_REJECT_INT, 1);
	THREE(INT_B, "", "y", "", BLOOMKEY_REJECT_EMPTY, 0);
	THREE(INT_B "[field a]\ntransform = trim\n", " ", "y", "\xff",
	      BLOOMKEY_REJECT_EMPTY, 0);
	THREE(INT_B "[field c]\ntransform = uuid\n", "a", "0", "y",
	      BLOOMKEY_REJECT_UUID, 2);
	/* The delimiter is looked for in what the transforms leave. */
	THREE("[field b]\ntransform = first:1\n", "a", "b:c", "d", BLOOMKEY_OK,
	      0);
	THREE("[field b]\ntransform = sha256\n", "a", ":::", "d", BLOOMKEY_OK,
	      0);
	THREE("[field b]\ntransform = trim\n", "a", " b:c ", "d",
	      BLOOMKEY_REJECT_DELIMITER, 1);
	THREE("[field c]\ntransform = trim\n", "a", "b", " c:d ", BLOOMKEY_OK,
	      0);
	THREE("[field b]\ntransform = digits\n", "a", "1:2", "d",
	      BLOOMKEY_REJECT_DIGITS, 1);
}

int main(void)
{
	UNIT(chains, "transforms: each works on the result of the one before");
	UNIT(uuid_chains, "transforms: uuid takes and gives what others do");
	UNIT(hash_chains, "transforms: a hash is text for the next");
	UNIT(empties, "transforms: an empty value goes through as any other");
	UNIT(nulls, "transforms: NULL goes through only as the empty value");
	UNIT(long_values, "transforms: long values are as short ones");
	UNIT(long_hashes, "transforms: hashes of each length are known ones");
	UNIT(long_firsts, "transforms: first:N cuts at 256 as anywhere");
	UNIT(too_long, "transforms: none shortens a value that is too long");
	UNIT(encodings, "transforms: encoding is judged before them");
	UNIT(fields, "transforms: the first field at fault is told");
	return unit_end();
}
