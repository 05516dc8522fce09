/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/bloomkey/keyspec.h"

#define FIELD     BASE "[field id]\n"
#define LIST(...) FIELD "transform = " __VA_ARGS__ "\n"
#define ALL                                                         \
	"is none of trim, rtrim, lower, upper, uuid, int, digits, " \
	"first:N, sha256, hmac-sha256"
#define NO_N "': N is a number from 1 to 65535"

/* Whether the list is good and means what is written as the fingerprint has it.
 */
static void check_list(const char *file, int at, const char *text,
		       const char *is)
{
	struct bloomkey_spec *spec = parse_keyed(text, SECRET);
	char line[1024];

	(void)snprintf(line, sizeof(line), "\ntransform=%s\n", is);
	if (strstr(bloomkey_fingerprint_text(spec), line) == NULL) {
		unit_fail(file, at, is);
		printf("# %s\n", bloomkey_fingerprint_text(spec));
	}
	bloomkey_free(spec);
}

#define MEANS(text, is) check_list(__FILE__, __LINE__, text, is)

static void names(void)
{
	MEANS(FIELD, "");
	MEANS(LIST("trim"), "trim");
	MEANS(LIST("rtrim"), "rtrim");
	MEANS(LIST("lower"), "lower");
	MEANS(LIST("upper"), "upper");
	MEANS(LIST("uuid"), "uuid");
	MEANS(LIST("int"), "int");
	MEANS(LIST("digits"), "digits");
	MEANS(LIST("first:1"), "first:1");
	MEANS(LIST("sha256"), "sha256");
	MEANS(LIST("hmac-sha256\nsecret = env:S"), "hmac-sha256");
	MEANS(LIST("trim,rtrim,lower,upper,uuid,int,digits,first:65535,sha256,"
		   "hmac-sha256\nsecret = env:S"),
	      "trim,rtrim,lower,upper,uuid,int,digits,first:65535,sha256,"
	      "hmac-sha256");
	MEANS(LIST("trim,trim,first:3,first:3"), "trim,trim,first:3,first:3");
}

static void blanks(void)
{
	MEANS(LIST("trim , lower"), "trim,lower");
	MEANS(LIST(" \ttrim\t,\t lower \t"), "trim,lower");
	MEANS(LIST("\"  trim,lower\t\""), "trim,lower");
	MEANS(LIST("\" first:9 , int\""), "first:9,int");
	BAD(LIST("trim lower"), 8, "transform: 'trim lower' " ALL);
	BAD(LIST("tr im"), 8, "transform: 'tr im' " ALL);
	BAD(LIST("first :9"), 8, "transform: 'first :9' " ALL);
	BAD(LIST("first: 9"), 8, "transform: 'first: 9" NO_N);
	BAD(LIST("first:9 9"), 8, "transform: 'first:9 9" NO_N);
	/* No blank, though a space: U+00A0. */
	BAD(LIST("trim,\xc2\xa0lower"), 8, "transform: '\\xc2\\xa0lower' " ALL);
}

static void empty_elements(void)
{
	BAD(LIST("trim,"), 8, "transform: '' " ALL);
	BAD(LIST(",trim"), 8, "transform: '' " ALL);
	BAD(LIST("trim,,lower"), 8, "transform: '' " ALL);
	BAD(LIST("trim, \t,lower"), 8, "transform: '' " ALL);
	BAD(LIST(","), 8, "transform: '' " ALL);
	BAD(LIST("\" \""), 8, "transform: '' " ALL);
	BAD(LIST(""), 8, "'transform' has an empty value");
	BAD(LIST("\"\""), 8, "'transform' has an empty value");
}

static void unknown(void)
{
	BAD(LIST("none"), 8, "transform: 'none' " ALL);
	BAD(LIST("Trim"), 8, "transform: 'Trim' " ALL);
	BAD(LIST("LOWER"), 8, "transform: 'LOWER' " ALL);
	BAD(LIST("SHA256"), 8, "transform: 'SHA256' " ALL);
	BAD(LIST("First:1"), 8, "transform: 'First:1' " ALL);
	BAD(LIST("sha-256"), 8, "transform: 'sha-256' " ALL);
	BAD(LIST("hmac"), 8, "transform: 'hmac' " ALL);
	BAD(LIST("hmac-sha"), 8, "transform: 'hmac-sha' " ALL);
	BAD(LIST("hmac-sha2567"), 8, "transform: 'hmac-sha2567' " ALL);
	BAD(LIST("tri"), 8, "transform: 'tri' " ALL);
	BAD(LIST("trimm"), 8, "transform: 'trimm' " ALL);
	BAD(LIST("trim;lower"), 8, "transform: 'trim;lower' " ALL);
	BAD(LIST("trim:1"), 8, "transform: 'trim:1' " ALL);
	BAD(LIST("first"), 8, "transform: 'first' " ALL);
	BAD(LIST("first9"), 8, "transform: 'first9' " ALL);
	BAD(LIST("f"), 8, "transform: 'f' " ALL);
	BAD(LIST("lower,uuid,x\xc3\xa9,int"), 8, "'x\\xc3\\xa9' " ALL);
	/* The line is that of the list, and a long name leaves room for all. */
	BAD(FIELD "column = c\n\n# c\ntransform = "
		  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
		  "\xa9\n",
	    11, "...' " ALL);
	/* The first wrong one is told. */
	BAD(LIST("trim,a,b"), 8, "transform: 'a' " ALL);
}

static void numbers(void)
{
	static const char *const wrong[] = {
		"",       "0",      "00",         "01",
		"65536",  "65540",  "70000",      "99999",
		"100000", "655350", "4294967297", "18446744073709551617",
		"-1",     "+1",     "1.0",        "0x10",
		"1x",     "x",      "1:2",        "\xd9\xa1",
	};
	char text[512], part[256];

	MEANS(LIST("first:1"), "first:1");
	MEANS(LIST("first:9"), "first:9");
	MEANS(LIST("first:10"), "first:10");
	MEANS(LIST("first:65535"), "first:65535");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		(void)snprintf(text, sizeof(text), LIST("int,first:%s"),
			       wrong[i]);
		(void)snprintf(part, sizeof(part), "transform: 'first:%s" NO_N,
			       *wrong[i] == '\xd9' ? "\\xd9\\xa1" : wrong[i]);
		BAD(text, 8, part);
	}
}

static void sixteen(void)
{
	char text[512] = FIELD "transform = ", is[256] = "";

	for (unsigned i = 0; i < 16; i++) {
		strcat(text, i == 0 ? "trim" : ", trim");
		strcat(is, i == 0 ? "trim" : ",trim");
	}
	MEANS(text, is);
	strcat(text, ",int");
	BAD(text, 8, "transform: more than 16");
	strcat(text, ",x,\n");
	BAD(text, 8, "transform: more than 16");
}

static void once(void)
{
	BAD(LIST("hmac-sha256,hmac-sha256\nsecret = env:S"), 8,
	    "transform: hmac-sha256 stands there twice");
	BAD(LIST("hmac-sha256,trim , hmac-sha256\nsecret = env:S"), 8,
	    "transform: hmac-sha256 stands there twice");
	/* Once in each of two fields. */
	MEANS(PAIR "[field a]\ntransform=hmac-sha256\nsecret=env:A\n"
		   "[field b]\ntransform=trim,hmac-sha256\nsecret=env:B\n",
	      "trim,hmac-sha256");
	BAD(LIST("trim\ncolumn = x\ntransform = trim"), 10,
	    "'transform' is repeated, it stands in line 8 already");
	BAD(FIELD "secret = env:S\nsecret = env:S\n", 9,
	    "'secret' is repeated, it stands in line 8 already");
}

static void secrets(void)
{
	BAD(LIST("hmac-sha256"), 8,
	    "transform: hmac-sha256 needs 'secret = ...'");
	BAD(FIELD "column = c\ntransform = trim,hmac-sha256\n", 9,
	    "transform: hmac-sha256 needs 'secret = ...'");
	BAD(LIST("sha256\nsecret = env:S"), 9,
	    "secret: only 'transform = hmac-sha256' has one");
	BAD(FIELD "secret = env:S\n", 8,
	    "secret: only 'transform = hmac-sha256' has one");
	BAD(PAIR "[field a]\ntransform = hmac-sha256\n[field b]\n"
		 "secret = env:S\n",
	    8, "transform: hmac-sha256 needs 'secret = ...'");
	/* Either may be first. */
	MEANS(FIELD "secret = env:S\ntransform = hmac-sha256\n", "hmac-sha256");
	/* Neither belongs to the whole. */
	BAD(BASE "transform = trim\n", 7,
	    "unknown name 'transform' in [keyspec]");
	BAD(BASE "secret = env:S\n", 7, "unknown name 'secret' in [keyspec]");
}

int main(void)
{
	UNIT(names, "transform list: each name is taken, in order");
	UNIT(blanks, "transform list: blanks around a name are dropped");
	UNIT(empty_elements, "transform list: no element is empty");
	UNIT(unknown,
	     "transform list: an unknown name gets all the known ones");
	UNIT(numbers, "transform list: N is a number from 1 to 65535");
	UNIT(sixteen, "transform list: sixteen are legal, and no more");
	UNIT(once, "transform list: hmac-sha256 stands in a list once");
	UNIT(secrets, "transform list: a secret and hmac-sha256 go together");
	return unit_end();
}
