/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Each transform alone.  The hashes come from Python's hashlib and hmac.
 */
#include "tests/unit/bloomkey/transform.h"

static void trims(void)
{
	BECOMES(UTF8("trim"), "x", "x");
	BECOMES(UTF8("trim"), " \t\n\v\f\rx y\r\f\v\n\t ", "x y");
	BECOMES(UTF8("trim"), "x ", "x");
	BECOMES(UTF8("trim"), " x", "x");
	FAILS(UTF8("trim"), " ", EMPTY);
	FAILS(UTF8("trim"), " \t\n\v\f\r", EMPTY);
	BECOMES(ALLOW("trim"), " \r\n", "k");
	BECOMES(UTF8("trim"), "\0x\0", "\0x\0");
	/* No space of Unicode's is one: U+0085, U+00A0, U+2003, U+3000. */
	BECOMES(UTF8("trim"), "\xc2\x85x\xc2\xa0", "\xc2\x85x\xc2\xa0");
	BECOMES(UTF8("trim"), "\xe2\x80\x83x\xe3\x80\x80",
		"\xe2\x80\x83x\xe3\x80\x80");
	BECOMES(BYTES("trim"), "\x85x\xa0", "\x85x\xa0");
	BECOMES(UTF8("rtrim"), "x  ", "x");
	BECOMES(UTF8("rtrim"), "  x", "  x");
	BECOMES(UTF8("rtrim"), "x\t", "x\t");
	BECOMES(UTF8("rtrim"), "x \n ", "x \n");
	BECOMES(UTF8("rtrim"), "x\xc2\xa0", "x\xc2\xa0");
	FAILS(UTF8("rtrim"), "   ", EMPTY);
	BECOMES(ALLOW("rtrim"), "   ", "k");
}

static void cases(void)
{
	BECOMES(UTF8("lower"), "ABCXYZabcxyz019", "abcxyzabcxyz019");
	BECOMES(UTF8("upper"), "ABCXYZabcxyz019", "ABCXYZABCXYZ019");
	BECOMES(UTF8("lower"), "@AZ[`az{", "@az[`az{");
	BECOMES(UTF8("upper"), "@AZ[`az{", "@AZ[`AZ{");
	/* Only the 26 letters: capital and small e acute, dotted I, sharp s. */
	BECOMES(UTF8("lower"), "\xc3\x89\xc4\xb0I\0A", "\xc3\x89\xc4\xb0i\0a");
	BECOMES(UTF8("upper"), "\xc3\xa9\xc3\x9fi\0a", "\xc3\xa9\xc3\x9fI\0A");
	BECOMES(BYTES("lower"), "\xc1\xda\xe1\xfa", "\xc1\xda\xe1\xfa");
	BECOMES(BYTES("upper"), "\xc1\xda\xe1\xfa", "\xc1\xda\xe1\xfa");
}

static void all_fail(const struct how *how, const char *const *wrong, size_t n,
		     int code)
{
	for (size_t i = 0; i < n; i++)
		check_value(__FILE__, __LINE__, how,
			    (struct value){wrong[i], strlen(wrong[i])},
			    (struct answer){code, {NULL, 0}, 0});
}

#define UUID "01234567-89ab-cdef-abcd-ef0123456789"

static void uuids(void)
{
	static const char *const wrong[] = {
		"x",
		"{}",
		"{",
		"0123456789abcdefabcdef012345678",
		"0123456789abcdefabcdef01234567890",
		"01234567-89ab-cdef-abcd-ef012345678",
		"01234567-89ab-cdef-abcd-ef01234567890",
		"01234567-89ab-cdef-abcdef0123456789",
		"0123456-789ab-cdef-abcd-ef0123456789",
		"01234567-89ab-cdef-abcde-f0123456789",
		"0123-4567-89ab-cdef-abcdef0123456789",
		"01234567--89a-cdef-abcd-ef0123456789",
		"-0123456789abcdefabcdef012345678",
		"0123456789abcdefabcdef01234567890123",
		"01234567 89ab cdef abcd ef0123456789",
		"{" UUID,
		UUID "}",
		"{{" UUID "}}",
		"}" UUID "{",
		"(" UUID ")",
		"{ " UUID "}",
		"{0123456789abcdefabcdef01234567}",
		"{23456789-89ab-cdef-abcd-ef01234567}",
		"urn:uuid:" UUID,
		" " UUID,
		UUID " ",
		UUID "\n",
		"g1234567-89ab-cdef-abcd-ef0123456789",
		"01234567-89ab-cdef-abcd-ef012345678G",
		"01234567-89ab-cdef-abcd-ef012345678\xc3\xa9",
		"01234567\xe2\x80\x90\x38\x39\x61\x62-cdef-abcd-ef01234567",
	};

	BECOMES(UTF8("uuid"), UUID, UUID);
	BECOMES(UTF8("uuid"), "01234567-89AB-CDEF-abCD-Ef0123456789", UUID);
	BECOMES(UTF8("uuid"), "0123456789ABCDEFabcdef0123456789", UUID);
	BECOMES(UTF8("uuid"), "{" UUID "}", UUID);
	BECOMES(UTF8("uuid"), "{0123456789abcdefABCDEF0123456789}", UUID);
	BECOMES(UTF8("uuid"), "00000000000000000000000000000000",
		"00000000-0000-0000-0000-000000000000");
	all_fail(UTF8("uuid"), wrong, sizeof(wrong) / sizeof(*wrong),
		 BLOOMKEY_REJECT_UUID);
	FAILS(UTF8("uuid"), "01234567-89ab-cdef-abcd-ef012345678\0", UUID);
	FAILS(BYTES("uuid"),
	      "\xb0\x31\x32\x33\x34\x35\x36\x37-89ab-cdef-abcd-"
	      "ef0123456789",
	      UUID);
}

static void integers(void)
{
	static const char *const wrong[] = {
		"+",
		"-",
		"+-1",
		"-+1",
		"--1",
		"++1",
		"- 1",
		" 1",
		"1 ",
		"1\n",
		"1.0",
		"1e3",
		"0x1f",
		"1_000",
		"1,000",
		"1-",
		"1+2",
		"a",
		"1a",
		"\xd9\xa1",
		"-\xef\xbc\x91",
		"\xe2\x88\x92\x31",
		"/",
		":",
		"NaN",
		".",
		"00-",
	};

	BECOMES(UTF8("int"), "0", "0");
	BECOMES(UTF8("int"), "-0", "0");
	BECOMES(UTF8("int"), "+0", "0");
	BECOMES(UTF8("int"), "000", "0");
	BECOMES(UTF8("int"), "-000", "0");
	BECOMES(UTF8("int"), "+000", "0");
	BECOMES(UTF8("int"), "7", "7");
	BECOMES(UTF8("int"), "-7", "-7");
	BECOMES(UTF8("int"), "+7", "7");
	BECOMES(UTF8("int"), "007", "7");
	BECOMES(UTF8("int"), "-007", "-7");
	BECOMES(UTF8("int"), "-0070", "-70");
	BECOMES(UTF8("int"), "+00700", "700");
	BECOMES(UTF8("int"), "1234567890", "1234567890");
	BECOMES(UTF8("int"), "-9223372036854775808", "-9223372036854775808");
	BECOMES(UTF8("int"), "-00018446744073709551616",
		"-18446744073709551616");
	all_fail(UTF8("int"), wrong, sizeof(wrong) / sizeof(*wrong),
		 BLOOMKEY_REJECT_INT);
	FAILS(UTF8("int"), "1\0", INT);
	FAILS(UTF8("int"), "\0", INT);
	FAILS(BYTES("int"), "\xb1", INT);
}

static void digits(void)
{
	BECOMES(UTF8("digits"), "0123456789", "0123456789");
	BECOMES(UTF8("digits"), "+1 (555) 010-9999", "15550109999");
	BECOMES(UTF8("digits"), "555.010/9999", "5550109999");
	BECOMES(UTF8("digits"), "007", "007");
	FAILS(UTF8("digits"), " ()-./+", EMPTY);
	BECOMES(ALLOW("digits"), " ()-./+", "k");
	FAILS(UTF8("digits"), "1-800-FLOWERS", DIGITS);
	FAILS(UTF8("digits"), "x", DIGITS);
	FAILS(UTF8("digits"), "1\0", DIGITS);
	FAILS(UTF8("digits"), "1\t2", DIGITS);
	FAILS(UTF8("digits"), "1\n", DIGITS);
	FAILS(UTF8("digits"), "1:2", DIGITS);
	FAILS(UTF8("digits"), "1,2", DIGITS);
	FAILS(UTF8("digits"), "1*#", DIGITS);
	FAILS(UTF8("digits"), "\xd9\xa1", DIGITS);
	FAILS(UTF8("digits"),
	      "1\xe2\x80\x93"
	      "2",
	      DIGITS);
	FAILS(BYTES("digits"),
	      "1\xa0"
	      "2",
	      DIGITS);
}

#define E4 "\xf0\x9f\x98\x80"

static void firsts(void)
{
	BECOMES(UTF8("first:3"), "abcde", "abc");
	BECOMES(UTF8("first:3"), "abc", "abc");
	BECOMES(UTF8("first:3"), "ab", "ab");
	BECOMES(UTF8("first:1"), "abc", "a");
	BECOMES(UTF8("first:65535"), "abc", "abc");
	BECOMES(UTF8("first:2"), "\0\0\0", "\0\0");
	/* Code points of two, three and four bytes, cut everywhere. */
	FAILS(UTF8("first:1"), "\xc3\xa9", EMPTY);
	BECOMES(ALLOW("first:1"), "\xc3\xa9", "k");
	BECOMES(UTF8("first:2"), "\xc3\xa9", "\xc3\xa9");
	BECOMES(UTF8("first:2"), "a\xc3\xa9", "a");
	BECOMES(UTF8("first:3"), "\xc3\xa9\xc3\xa9", "\xc3\xa9");
	BECOMES(UTF8("first:2"), "\xc3\xa9z", "\xc3\xa9");
	BECOMES(UTF8("first:3"), "a\xe2\x82\xac", "a");
	BECOMES(UTF8("first:2"), "a\xe2\x82\xac", "a");
	BECOMES(UTF8("first:4"), "a\xe2\x82\xacz", "a\xe2\x82\xac");
	FAILS(UTF8("first:3"), E4, EMPTY);
	FAILS(UTF8("first:1"), E4 "a", EMPTY);
	BECOMES(UTF8("first:4"), E4, E4);
	BECOMES(UTF8("first:5"), E4 E4, E4);
	BECOMES(UTF8("first:6"), E4 E4, E4);
	BECOMES(UTF8("first:7"), E4 E4, E4);
	BECOMES(UTF8("first:8"), E4 E4, E4 E4);
	/* A combining mark is a code point of its own. */
	BECOMES(UTF8("first:1"), "e\xcc\x81", "e");
	BECOMES(UTF8("first:2"), "e\xcc\x81", "e");
	BECOMES(BYTES("first:1"), "\xc3\xa9", "\xc3");
	BECOMES(BYTES("first:3"), E4, "\xf0\x9f\x98");
	BECOMES(BYTES("first:2"), "\x80\x80\x80", "\x80\x80");
}

static void hashes(void)
{
	BECOMES(UTF8("sha256"), "abc",
		"ba7816bf8f01cfea414140de5dae2223"
		"b00361a396177a9cb410ff61f20015ad");
	BECOMES(UTF8("sha256"), "ABC",
		"b5d4045c3f466fa91fe2cc6abe79232a"
		"1a57cdf104f7a26e716e0a1e2789df78");
	BECOMES(BYTES("sha256"), "\xff\0",
		"ea5dbf9596d187e9500f23e9a6801094"
		"75341cf4e81f7e043f7d97152c10772f");
	BECOMES(UTF8("hmac-sha256"), "abc",
		"7175886e54c43350053bfd2f073b6399"
		"dbcc81e0a1c00bbe841d860f5e816f6e");
}

/* Byte c of all bytes, in the middle of others and at both ends. */
static void check_byte(const char *list, unsigned char c, const char *format,
		       struct answer is)
{
	char text[64];
	struct value v = {text, strlen(format)};

	for (size_t i = 0; i < v.len; i++)
		text[i] = format[i] == '?' ? (char)c : format[i];
	check_value(__FILE__, __LINE__, BYTES(list), v, is);
}

static void every_byte(void)
{
	for (unsigned n = 0; n < 256; n++) {
		const char c = (char)n;
		const char low = (char)(n >= 'A' && n <= 'Z' ? n + 32 : n);
		const char up = (char)(n >= 'a' && n <= 'z' ? n - 32 : n);
		const bool digit = n >= '0' && n <= '9';
		const bool hex = digit || (low >= 'a' && low <= 'f');
		const bool space = (n >= 9 && n <= 13) || n == 32;
		const bool legal = digit || (n != 0 && strchr(" ()-./+", c));
		char key[64] = {c, 'x', c};
		struct answer is = {BLOOMKEY_OK, {key, 3}, 0};
		const struct answer no = {BLOOMKEY_REJECT_INT, V(""), 0};

		if (space)
			is.key = V("x");
		check_byte("trim", (unsigned char)c, "?x?", is);
		is.key = (struct value){key, n == ' ' ? 2 : 3};
		check_byte("rtrim", (unsigned char)c, "?x?", is);
		is.key = (struct value){&low, 1};
		check_byte("lower", (unsigned char)c, "?", is);
		is.key = (struct value){&up, 1};
		check_byte("upper", (unsigned char)c, "?", is);
		is.key = (struct value){key, 3};
		key[0] = '1';
		key[1] = c;
		key[2] = '2';
		check_byte("int", (unsigned char)c, "1?2", digit ? is : no);
		if (!digit)
			is.key = V("12");
		if (!legal)
			is = (struct answer){BLOOMKEY_REJECT_DIGITS, V(""), 0};
		check_byte("digits", (unsigned char)c, "1?2", is);
		memcpy(key, UUID, 36);
		key[9] = low;
		is = (struct answer){BLOOMKEY_OK, {key, 36}, 0};
		if (!hex)
			is = (struct answer){BLOOMKEY_REJECT_UUID, V(""), 0};
		check_byte("uuid", (unsigned char)c,
			   "01234567-?9ab-cdef-abcd-ef0123456789", is);
		is = (struct answer){BLOOMKEY_OK, V(UUID), 0};
		if (n != '-')
			is = (struct answer){BLOOMKEY_REJECT_UUID, V(""), 0};
		check_byte("uuid", (unsigned char)c,
			   "01234567-89ab?cdef-abcd-ef0123456789", is);
	}
}

int main(void)
{
	UNIT(trims, "transform: trim and rtrim drop what they name");
	UNIT(cases, "transform: lower and upper change 26 letters");
	UNIT(uuids, "transform: uuid takes 32 digits, in three forms");
	UNIT(integers, "transform: int takes a sign and digits, of any length");
	UNIT(digits, "transform: digits drops what stands between digits");
	UNIT(firsts, "transform: first:N cuts bytes, or whole code points");
	UNIT(hashes, "transform: sha256 and hmac-sha256 give Hex");
	UNIT(every_byte, "transform: each of 256 bytes is taken as specified");
	return unit_end();
}
