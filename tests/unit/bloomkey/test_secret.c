/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The check values come from Python:
 * hmac.new(secret, b"bloomkey check 1", "sha256").hexdigest()[:16]
 */
#include "tests/unit/bloomkey/secret.h"

/* 16 to 18 bytes, 0xf0 and on, in base64. */
#define B64_16 "8PHy8/T19vf4+fr7/P3+/w=="
#define B64_17 "8PHy8/T19vf4+fr7/P3+//A="
#define B64_18 "8PHy8/T19vf4+fr7/P3+//Dx"
#define HEX_16 "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
#define IS_16  "4a061914c46a5166"
#define IS_17  "eef21b3e25699cf1"
#define IS_18  "751eed93cb7567b5"
/* Sixteen bytes of text that no message holds a part of. */
#define RAW    "Zq7#Wv9@Kx2!Jy8%"
#define IS_RAW "8508ccee08a16340"

/* Whether four bytes in a row of the content stand in the text. */
static bool tells(const char *text, const char *content, size_t len)
{
	for (size_t i = 0; i + 4 <= len; i++)
		for (size_t n = 0; text[n] != '\0'; n++)
			if (strncmp(text + n, content + i, 4) == 0)
				return true;
	return false;
}

static void check_content(int at, const char *secret, const void *content,
			  size_t len, const char *is)
{
	struct vault vault = {.data = content, .len = len};
	struct outcome o = parse_secret(secret, &vault);
	const char *check =
		o.spec != NULL ? bloomkey_field_check(o.spec, 0) : NULL;

	if (o.code != BLOOMKEY_OK || check == NULL || strcmp(check, is) != 0 ||
	    vault.calls != 1) {
		unit_fail(__FILE__, at, secret);
		printf("#   %d: %s: %s, not %s\n", o.code, o.err.text,
		       check != NULL ? check : "NULL", is);
	}
	bloomkey_free(o.spec);
}

static void check_refused(int at, const char *secret, struct vault vault,
			  const char *why)
{
	struct outcome o = parse_secret(secret, &vault);

	if (o.code != BLOOMKEY_ESECRET || o.spec != NULL || o.err.line != 9 ||
	    strcmp(o.err.text, why) != 0 || vault.calls != 1 ||
	    (vault.data != NULL && tells(o.err.text, vault.data, vault.len))) {
		unit_fail(__FILE__, at, secret);
		printf("#   %d, line %u: %s\n#   not: %s\n", o.code, o.err.line,
		       o.err.text, why);
	}
	bloomkey_free(o.spec);
}

#define IS(secret, content, is) \
	check_content(__LINE__, secret, content, sizeof(content) - 1, is)
#define HOLDS(content) \
	((struct vault){.data = (content), .len = sizeof(content) - 1})
#define FEW    " is a secret of fewer than 16 bytes"
#define NO_HEX " is not an even number of hexadecimal digits"
#define NO_B64 " is not base64 with padding"
#define BAD_RAW(content)                                   \
	check_refused(__LINE__, "env:S_1", HOLDS(content), \
		      "secret: env:S_1" FEW)
#define BAD_HEX(content, why)                                \
	check_refused(__LINE__, "hex:env:S", HOLDS(content), \
		      "secret: env:S" why)
#define BAD_B64(content, why)                                      \
	check_refused(__LINE__, "base64:file:a b", HOLDS(content), \
		      "secret: file:a b" why)

static void raw(void)
{
	IS("env:S", RAW, IS_RAW);
	IS("env:S", SECRET, "7f77011dff657ef2");
	IS("env:S", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "611b28ff98a8d4dc");
	/* Nothing of it is decoded or trimmed. */
	IS("file:f", HEX_16, "2f5311de4b295219");
	IS("env:S", B64_16, "75447bb3df78f884");
	IS("env:S", " " RAW " ", "f23d61af3e80856a");
	BAD_RAW("");
	BAD_RAW("Zq7#Wv9@Kx2!Jy8");
}

static void newlines(void)
{
	IS("env:S", RAW "\n", IS_RAW);
	IS("env:S", RAW "\r\n", IS_RAW);
	IS("env:S", RAW "\n\n", "62dd83f1aa98a304");
	IS("env:S", RAW "\r\n\r\n", "9e6c232468f0e466");
	IS("env:S", RAW "\r\r\n", "8c1a73a4890de9df");
	IS("env:S", RAW "\r", "8c1a73a4890de9df");
	IS("env:S", RAW "\n\r", "2cb8484681e3f1a1");
	IS("env:S", "\n" RAW, "7bd1dc2d678fc10e");
	BAD_RAW("\n");
	BAD_RAW("\r\n");
	BAD_RAW("Zq7#Wv9@Kx2!Jy8\n");
	BAD_RAW("Zq7#Wv9@Kx2!Jy8\r\n");
	IS("env:S", "Zq7#Wv9@Kx2!Jy8\n\n", "0c720c57115c8936");
	IS("hex:env:S", HEX_16 "\n", IS_16);
	IS("hex:env:S", HEX_16 "\r\n", IS_16);
	IS("base64:env:S", B64_16 "\n", IS_16);
	IS("base64:env:S", B64_18 "\r\n", IS_18);
	BAD_HEX(HEX_16 "\n\n", NO_HEX);
	BAD_HEX(HEX_16 "\r", NO_HEX);
	BAD_HEX(HEX_16 "\n\r", NO_HEX);
	BAD_B64(B64_16 "\n\n", NO_B64);
	BAD_B64(B64_16 "\r", NO_B64);
	BAD_B64(B64_16 "\r\r\n", NO_B64);
}

static void hex(void)
{
	IS("hex:env:S", HEX_16, IS_16);
	IS("hex:file:S", HEX_16 "f0", IS_17);
	IS("hex:env:S", "F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFFF0F1", IS_18);
	IS("hex:env:S", "F0f1f2f3f4f5f6F7f8f9fAfBfcFdfEfF", IS_16);
	BAD_HEX("", FEW);
	BAD_HEX("\n", FEW);
	BAD_HEX("f0f1f2f3f4f5f6f7f8f9fafbfcfdfe", FEW);
	BAD_HEX(HEX_16 "f", NO_HEX);
	BAD_HEX("f", NO_HEX);
	BAD_HEX("g0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", NO_HEX);
	BAD_HEX("f0f1f2f3f4f5f6f7f8f9fafbfcfdfefG", NO_HEX);
	BAD_HEX("f0f1f2f3f4f5f6f7f8f9fafbfcfdfe/f", NO_HEX);
	BAD_HEX("f0f1f2f3f4f5f6f7f8f9fafbfcfdfe:f", NO_HEX);
	BAD_HEX("f0f1f2f3f4f5f6f7f8f9fafbfcfdfe@f", NO_HEX);
	BAD_HEX("f0f1f2f3f4f5f6f7f8f9fafbfcfdfe`f", NO_HEX);
	BAD_HEX("f0f1f2f3f4f5f6f7f8f9fafbfcfdfe\0f", NO_HEX);
	BAD_HEX("f0 f1f2f3f4f5f6f7f8f9fafbfcfdfeff", NO_HEX);
	BAD_HEX(" " HEX_16 " ", NO_HEX);
	BAD_HEX("0x" HEX_16, NO_HEX);
	BAD_HEX("f0:f1:f2:f3:f4:f5:f6:f7:f8:f9:fa:fb:fc:fd:fe:f", NO_HEX);
}

static void base64(void)
{
	IS("base64:env:S", B64_16, IS_16);
	IS("base64:env:S", B64_17, IS_17);
	IS("base64:env:S", B64_18, IS_18);
	BAD_B64("", FEW);
	BAD_B64("\n", FEW);
	BAD_B64("8PHy8/T19vf4+fr7/P3+", FEW);
	BAD_B64("8PHy", FEW);
	/* Padding that is missing, wrong or too much. */
	BAD_B64("8PHy8/T19vf4+fr7/P3+/w", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+/w=", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+//A", NO_B64);
	BAD_B64(B64_18 "=", NO_B64);
	BAD_B64(B64_18 "==", NO_B64);
	BAD_B64(B64_18 "====", NO_B64);
	BAD_B64(B64_16 "=", NO_B64);
	BAD_B64(B64_16 "====", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+/===", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+====", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+/=A=", NO_B64);
	BAD_B64(B64_16 B64_16, NO_B64);
	BAD_B64("====", NO_B64);
	BAD_B64("=", NO_B64);
	/* Bits that no byte uses. */
	BAD_B64("8PHy8/T19vf4+fr7/P3+/x==", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+/3==", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+//B=", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+//D=", NO_B64);
	/* Line ends, blanks and other bytes. */
	BAD_B64("8PHy8/T19vf4\n+fr7/P3+/w==", NO_B64);
	BAD_B64("8PHy8/T19vf4\r\n+fr7/P3+/w==\r\n", NO_B64);
	BAD_B64("8PHy\n8/T19vf4+fr7/P3+//A\n", NO_B64);
	BAD_B64(" " B64_16, NO_B64);
	BAD_B64("    " B64_16, NO_B64);
	BAD_B64(B64_16 " ", NO_B64);
	BAD_B64(B64_16 "    ", NO_B64);
	BAD_B64("\t\t\t\t" B64_18 "\t\t\t\t", NO_B64);
	BAD_B64("8PHy8_T19vf4-fr7_P3-_w==", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+\0w==", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7/P3+\xff/A=", NO_B64);
	BAD_B64("8PHy8/T19vf4+fr7-P3+//A=", NO_B64);
	BAD_B64(HEX_16 "f", NO_B64);
}

static unsigned char *pattern(size_t len)
{
	unsigned char *bytes = malloc(len + 2);

	if (bytes == NULL)
		abort();
	for (size_t i = 0; i < len; i++)
		bytes[i] = (unsigned char)(i * 7 + len);
	/* The rule of the newline would take the last byte. */
	if (bytes[len - 1] == '\n')
		abort();
	return bytes;
}

static void lengths(void)
{
	static const struct {
		size_t len;
		const char *check;
	} rows[] = {
		{16, "d1b4bd56c53ff7a4"},    {17, "b99e173b5800e853"},
		{63, "76ea92af7f754abd"},    {64, "b05dad565acd353d"},
		{65, "7ec3c2a1366dae59"},    {128, "865462364cfdf776"},
		{65535, "b812f38ad20427b1"}, {65536, "42995ff4cef8a922"},
	};
	unsigned char *bytes;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bytes = pattern(rows[i].len);
		check_content(__LINE__, "env:S", bytes, rows[i].len,
			      rows[i].check);
		free(bytes);
	}
	bytes = pattern(15);
	check_refused(__LINE__, "env:S",
		      (struct vault){.data = bytes, .len = 15},
		      "secret: env:S" FEW);
	free(bytes);
	/* The newline counts to the content, of which 65,536 are legal. */
	bytes = pattern(65535);
	bytes[65535] = '\n';
	check_content(__LINE__, "file:f", bytes, 65536, "b812f38ad20427b1");
	free(bytes);
	bytes = pattern(65536);
	bytes[65536] = '\n';
	check_refused(__LINE__, "file:f",
		      (struct vault){.data = bytes, .len = 65537},
		      "secret: file:f has more than 65,536 bytes");
	free(bytes);
}

/* As long as any content may be, and what it may not be. */
static void long_encoded(void)
{
	char *text = malloc(65538);

	if (text == NULL)
		abort();
	memset(text, '0', 65538);
	check_content(__LINE__, "hex:env:S", text, 65536, "d8f34d5b9f32882f");
	check_refused(__LINE__, "hex:env:S",
		      (struct vault){.data = text, .len = 65535},
		      "secret: env:S" NO_HEX);
	memset(text, 'A', 65538);
	check_content(__LINE__, "base64:env:S", text, 65536,
		      "e0b351cf8ec1f4d4");
	check_refused(__LINE__, "base64:env:S",
		      (struct vault){.data = text, .len = 65535},
		      "secret: env:S" NO_B64);
	check_refused(__LINE__, "base64:env:S",
		      (struct vault){.data = text, .len = 65538},
		      "secret: env:S has more than 65,536 bytes");
	text[65535] = '=';
	check_content(__LINE__, "base64:env:S", text, 65536,
		      "e203e937f96e24e5");
	free(text);
}

static void unread(void)
{
	const struct vault none = {.code = ENOENT};
	const struct vault denied = {.code = EACCES};
	const struct vault silent = {.code = 0};

	check_refused(__LINE__, "env:S", none, "secret: env:S is not set");
	check_refused(__LINE__, "hex:env:S", none, "secret: env:S is not set");
	check_refused(__LINE__, "file:k", none,
		      "secret: file:k cannot be read: "
		      "No such file or directory");
	check_refused(__LINE__, "env:S", denied,
		      "secret: env:S cannot be read: Permission denied");
	check_refused(__LINE__, "base64:file:a\tb", denied,
		      "secret: file:a\\x09b cannot be read: "
		      "Permission denied");
	check_refused(__LINE__, "env:S", silent,
		      "secret: env:S cannot be read");
	check_refused(__LINE__, "file:k", silent,
		      "secret: file:k cannot be read");
}

/* What errno was before is not why. */
static int say_nothing(void *ctx, int place, const char *name, void *out,
		       size_t cap)
{
	(void)ctx;
	(void)place;
	(void)name;
	(void)out;
	(void)cap;
	return -1;
}

static void no_errno(void)
{
	static const char text[] =
		BASE "[field id]\ntransform = hmac-sha256\nsecret = env:S\n";
	struct bloomkey_error err;
	struct bloomkey_spec *spec;

	errno = ENOENT;
	CHECK(bloomkey_parse(text, strlen(text), say_nothing, NULL, &spec,
			     &err) == BLOOMKEY_ESECRET);
	CHECK_STR(err.text, "secret: env:S cannot be read");
}

int main(void)
{
	UNIT(raw, "secret: raw content is taken as it is");
	UNIT(newlines, "secret: one line end at the end is dropped");
	UNIT(hex, "secret: hex is pairs of digits in either case");
	UNIT(base64, "secret: base64 is what encoding it gives again");
	UNIT(lengths, "secret: 16 bytes at least, 65,536 at most");
	UNIT(long_encoded, "secret: the longest hex and base64 are decoded");
	UNIT(unread, "secret: what cannot be read is told with its reason");
	UNIT(no_errno, "secret: an errno of before is no reason");
	return unit_end();
}
