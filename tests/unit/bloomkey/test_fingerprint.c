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

int main(void)
{
	UNIT(values, "fingerprint: it is the SHA-256 of the lines specified");
	UNIT(sentinels,
	     "fingerprint: bytes, none and default are three things");
	UNIT(fp_in_the_name, "fingerprint: {fp} goes in as it is written");
	UNIT(spelling, "fingerprint: spelling and columns do not change it");
	UNIT(meaning, "fingerprint: what changes keys or names changes it");
	return unit_end();
}
