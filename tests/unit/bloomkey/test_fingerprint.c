/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The expected values come from Python, from the lines of the specification:
 *
 *	lines = ["bloomkey-keyspec-1", "name=s", "buckets=1", "seed=0",
 *		 "delimiter=3a", "key=" + b"{id}".hex(),
 *		 "filter=" + b"f".hex(), "sentinel=default", "field=id",
 *		 "encoding=utf-8", "empty=reject", "null=reject", "transform="]
 *	hashlib.sha256("".join(l + "\n" for l in lines).encode()).hexdigest()
 */
#include <openssl/sha.h>

#include "tests/unit/bloomkey/keyspec.h"

#define BASE_PRINT \
	"7997320a07519af1ac29a5d4e7333df606ea239f3edc4d18c747e54f5ef73f48"

static void check_print(const char *file, int at, const char *text,
			const char *expected, bool equal)
{
	struct bloomkey_spec *spec = parse_good(text);
	const char *print = bloomkey_fingerprint(spec);

	if (strlen(print) != BLOOMKEY_FINGERPRINT_LEN ||
	    (strcmp(print, expected) == 0) != equal) {
		unit_fail(file, at, equal ? "equal" : "different");
		printf("#   %s\n#   %s\n", print, expected);
	}
	bloomkey_free(spec);
}

#define PRINT(text, expected) \
	check_print(__FILE__, __LINE__, text, expected, true)
#define SAME(text) check_print(__FILE__, __LINE__, text, BASE_PRINT, true)

#define OTHER(text, than) check_print(__FILE__, __LINE__, text, than, false)

static void values(void)
{
	PRINT(BASE, BASE_PRINT);
	PRINT("[keyspec]\nversion = 1\nname = blocked_cards\n"
	      "key = card:{entity_id}:{scope}\nbuckets = 200\n"
	      "filter = {name}:{bucket}\n",
	      "90f911c722c351d32bfe8f94d13fb722"
	      "ec653d4ca4c297f75069376248cfad47");
	/* Everything other than its default. */
	PRINT("[keyspec]\nversion = 1\nname = A.b-9_\nbuckets = 65536\n"
	      "seed = 18446744073709551615\ndelimiter = |\nencoding = bytes\n"
	      "key = {{x}}{b}\t|\xc3\xbc{a}{{\nfilter = {name}{{{bucket}}}\n"
	      "sentinel = SN\n"
	      "[field a]\nencoding = utf-8\nempty = allow\ncolumn = z\n"
	      "[field b]\nempty = allow\nnull = empty\n",
	      "2c721203257e17facfb57d6963b763793570b8c73590047a416dbfb3d9d930"
	      "f1");
	PRINT(PAIR "[field a]\nencoding = bytes\n",
	      "f53a685f210a29fa2ae456556f644ee78679613f82f06b78f6b051dbef7cc8"
	      "41");
}

static void sentinels(void)
{
	PRINT(BASE "sentinel = none\n",
	      "dc9862221da2ba93fe3abe79c7219ff36cfdc2b7d12e0ab21009eed08e4e2b"
	      "c1");
	PRINT(BASE "sentinel = \"a\\\"\\\\\xc3\xa9\"\n",
	      "b29d247feecdc45a2519e33ce932c71f6df017bcfd8c4d30c2238ee9d6ca9e"
	      "98");
	PRINT(BASE "sentinel = default\n",
	      "2b0f7452527f248618f90711ed52e059bff319ab0b0eaf55d38f6d9a6454d9"
	      "44");
	/* Spelling out what the default came to is another keyspec. */
	OTHER(BASE "sentinel = bloomkey:7997320a\n", BASE_PRINT);
}

static void fp_in_the_name(void)
{
	PRINT(HEAD "key = {id}\nfilter = f:{fp}\n",
	      "b9ae85b629aa7927eaa959b3de22fa82efec52a79e75fc962ac42097596f1c"
	      "1e");
}

static void spelling(void)
{
	SAME("\xef\xbb\xbf# c\r\n[keyspec]\r\nfilter=\"f\"\nkey =  {id} \n"
	     "buckets = \"1\"\nname=s\nversion=1\n");
	SAME(BASE "seed = 0\ndelimiter = :\nencoding = utf-8\n");
	SAME(BASE "[field id]\nencoding = utf-8\nempty = reject\n"
		  "null = reject\n");
	SAME(BASE "[field id]\ncolumn = other\n");
	SAME(BASE "encoding = bytes\n[field id]\nencoding = utf-8\n");
}

static void meaning(void)
{
	OTHER(BASE "seed = 1\n", BASE_PRINT);
	OTHER(BASE "delimiter = |\n", BASE_PRINT);
	OTHER(BASE "encoding = bytes\n", BASE_PRINT);
	OTHER(BASE "[field id]\nempty = allow\n", BASE_PRINT);
	OTHER(HEAD "key = {id2}\nfilter = f\n", BASE_PRINT);
	OTHER(HEAD "key = {id}\nfilter = g\n", BASE_PRINT);
	OTHER(HEAD "key = {id}\nfilter = {name}\n", BASE_PRINT);
}

/* The text, its SHA-256, and that the one is the other's. */
static void check_text(const char *file, int at, const char *text,
		       const char *lines, const char *print)
{
	static const char hex[] = "0123456789abcdef";
	struct bloomkey_spec *spec = parse_keyed(text, SECRET);
	const char *is = bloomkey_fingerprint_text(spec);
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char digits[BLOOMKEY_FINGERPRINT_LEN + 1];

	(void)SHA256((const unsigned char *)is, strlen(is), digest);
	for (size_t i = 0; i < sizeof(digest); i++) {
		digits[2 * i] = hex[digest[i] >> 4];
		digits[2 * i + 1] = hex[digest[i] & 15];
	}
	digits[sizeof(digits) - 1] = '\0';
	if (strcmp(is, lines) != 0 ||
	    strcmp(bloomkey_fingerprint(spec), digits) != 0 ||
	    strcmp(print, digits) != 0) {
		unit_fail(file, at, text);
		printf("# %s\n# %s\n# %s\n", bloomkey_fingerprint(spec), digits,
		       is);
	}
	bloomkey_free(spec);
}

#define TEXT(text, lines, print) \
	check_text(__FILE__, __LINE__, text, lines, print)

static void texts(void)
{
	TEXT("[keyspec]\nversion = 1\nname = A.b\nbuckets = 16\n"
	     "seed = 18446744073709551615\ndelimiter = |\n"
	     "key = t:{b}|{a}|{c}\nfilter = {name}:{bucket}\n"
	     "sentinel = S N\n"
	     "[field a]\ncolumn = z\nempty = allow\nnull = empty\n"
	     "transform = rtrim, lower\t,digits ,int,uuid,sha256\n"
	     "[field b]\nencoding = bytes\nsecret = file:k\n"
	     "transform = \" trim,first:20,hmac-sha256,upper\"\n",
	     "bloomkey-keyspec-1\n"
	     "name=A.b\n"
	     "buckets=16\n"
	     "seed=18446744073709551615\n"
	     "delimiter=7c\n"
	     "key=743a7b627d7c7b617d7c7b637d\n"
	     "filter=7b6e616d657d3a7b6275636b65747d\n"
	     "sentinel=53204e\n"
	     "field=b\n"
	     "encoding=bytes\n"
	     "empty=reject\n"
	     "null=reject\n"
	     "transform=trim,first:20,hmac-sha256,upper\n"
	     "check=7f77011dff657ef2\n"
	     "field=a\n"
	     "encoding=utf-8\n"
	     "empty=allow\n"
	     "null=empty\n"
	     "transform=rtrim,lower,digits,int,uuid,sha256\n"
	     "field=c\n"
	     "encoding=utf-8\n"
	     "empty=reject\n"
	     "null=reject\n"
	     "transform=\n",
	     "ade26d9af4e2d165d1cee105beee4d46"
	     "c2748581c18005e1820136a7f49ff78f");
	TEXT(BASE,
	     "bloomkey-keyspec-1\nname=s\nbuckets=1\nseed=0\ndelimiter=3a\n"
	     "key=7b69647d\nfilter=66\nsentinel=default\nfield=id\n"
	     "encoding=utf-8\nempty=reject\nnull=reject\ntransform=\n",
	     BASE_PRINT);
}

/* More than the room that it has at first, at several borders. */
static void long_texts(void)
{
	static char text[20000], lines[40000];
	struct bloomkey_spec *spec;
	size_t used;

	for (size_t len = 1; len < 10000; len += len < 600 ? 1 : 4001) {
		used = (size_t)snprintf(text, sizeof(text), BASE "sentinel = ");
		memset(text + used, 'x', len);
		memcpy(text + used + len, "\n", 2);
		used = (size_t)snprintf(lines, sizeof(lines),
					"bloomkey-keyspec-1\nname=s\nbuckets=1"
					"\nseed=0\ndelimiter=3a\nkey=7b69647d\n"
					"filter=66\nsentinel=");
		for (size_t i = 0; i < len; i++, used += 2)
			memcpy(lines + used, "78", 2);
		(void)snprintf(lines + used, sizeof(lines) - used,
			       "\nfield=id\nencoding=utf-8\nempty=reject\n"
			       "null=reject\ntransform=\n");
		spec = parse_good(text);
		CHECK_STR(bloomkey_fingerprint_text(spec), lines);
		bloomkey_free(spec);
	}
}

/* Transforms, and what else a field may have; and the secret's content. */
static void print_of(const char *field, const char *content,
		     char out[BLOOMKEY_FINGERPRINT_LEN + 1])
{
	struct bloomkey_spec *spec;
	char text[512];

	(void)snprintf(text, sizeof(text), BASE "[field id]\n%s\n", field);
	spec = parse_keyed(text, content);
	(void)snprintf(out, BLOOMKEY_FINGERPRINT_LEN + 1, "%s",
		       bloomkey_fingerprint(spec));
	bloomkey_free(spec);
}

#define PRINT_SIZE (BLOOMKEY_FINGERPRINT_LEN + 1)

static void transforms(void)
{
	static const char *const fields[] = {
		"",
		"transform = trim",
		"transform = rtrim",
		"transform = lower",
		"transform = upper",
		"transform = uuid",
		"transform = int",
		"transform = digits",
		"transform = sha256",
		"transform = first:1",
		"transform = first:2",
		"transform = first:12",
		"transform = first:65535",
		"transform = trim,trim",
		"transform = trim,lower",
		"transform = lower,trim",
		"transform = trim,lower,trim",
		"transform = trim,lower\nencoding = bytes",
		"transform = trim,lower\nempty = allow",
		"transform = hmac-sha256\nsecret = env:S",
		"transform = lower,hmac-sha256\nsecret = env:S",
		"transform = hmac-sha256,lower\nsecret = env:S",
	};
	enum { N = sizeof(fields) / sizeof(*fields) };
	char prints[N][PRINT_SIZE];

	for (size_t i = 0; i < N; i++) {
		print_of(fields[i], SECRET, prints[i]);
		for (size_t j = 0; j < i; j++)
			if (strcmp(prints[i], prints[j]) == 0) {
				unit_fail(__FILE__, __LINE__, fields[i]);
				printf("#   as: %s\n", fields[j]);
			}
	}
}

static void secrets(void)
{
#define HMAC(place) "transform = hmac-sha256\nsecret = " place
	static const char *const places[] = {
		HMAC("env:T"),
		HMAC("file:S"),
		HMAC("file:/etc/S"),
		"secret = env:S\ntransform = \" hmac-sha256 \"",
	};
	char print[PRINT_SIZE], other[PRINT_SIZE];

	print_of(HMAC("env:S"), SECRET, print);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		print_of(places[i], SECRET, other);
		CHECK_STR(other, print);
	}
	/* The same bytes, written otherwise. */
	print_of(HMAC("hex:env:S"), "3031323334353637383961626364656630313233",
		 other);
	CHECK_STR(other, print);
	print_of(HMAC("base64:file:S"), "MDEyMzQ1Njc4OWFiY2RlZjAxMjM=\n",
		 other);
	CHECK_STR(other, print);
	/* Others. */
	print_of(HMAC("env:S"), "0123456789abcdef0124", other);
	CHECK(strcmp(other, print) != 0);
	print_of(HMAC("env:S"), SECRET " ", other);
	CHECK(strcmp(other, print) != 0);
	print_of(HMAC("hex:env:S"), "0123456789abcdef0123456789abcdef", other);
	CHECK(strcmp(other, print) != 0);
}

int main(void)
{
	UNIT(values, "fingerprint: it is the SHA-256 of the lines specified");
	UNIT(sentinels,
	     "fingerprint: bytes, none and default are three things");
	UNIT(fp_in_the_name, "fingerprint: {fp} goes in as it is written");
	UNIT(spelling, "fingerprint: spelling and columns do not change it");
	UNIT(meaning, "fingerprint: what changes keys or names changes it");
	UNIT(texts, "fingerprint: its text is the lines specified");
	UNIT(long_texts, "fingerprint: its text may be long");
	UNIT(transforms, "fingerprint: each list of transforms is another");
	UNIT(secrets, "fingerprint: a secret changes it, its place does not");
	return unit_end();
}
