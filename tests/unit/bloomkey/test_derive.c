/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The expected hashes come from Python's xxhash:
 * xxhash.xxh64_intdigest(key, seed), and its remainder.
 */
#include "tests/unit/bloomkey/keyspec.h"

/* What a row came to. */
struct row {
	int code;
	struct bloomkey_result result;
	char key[256];
};

struct value {
	const char *data;
	size_t len;
};

#define V(text)  ((struct value){text, sizeof(text) - 1})
#define SQL_NULL ((struct value){NULL, 5})

static struct row derive(const char *text, struct value a, struct value b)
{
	struct bloomkey_spec *spec = parse_good(text);
	const void *values[] = {a.data, b.data};
	size_t lens[] = {a.len, b.len};
	struct row row = {.result = {9, 9, 9, 9}};

	row.code = bloomkey_derive(spec, values, lens, row.key,
				   sizeof(row.key) - 1, &row.result);
	if (row.code == BLOOMKEY_OK)
		row.key[row.result.len] = '\0';
	bloomkey_free(spec);
	return row;
}

static void check_row(const char *file, int at, struct row row, int code,
		      size_t field)
{
	if (row.code != code || row.result.field != field ||
	    (code != BLOOMKEY_OK &&
	     (row.result.len != 0 || row.result.hash != 0 ||
	      row.result.bucket != 0))) {
		unit_fail(file, at, "the row's code and field");
		printf("#   got %d (%s) field %zu len %zu\n", row.code,
		       row.code != 0 && bloomkey_reason(row.code) != NULL
			       ? bloomkey_reason(row.code)
			       : "no reject",
		       row.result.field, row.result.len);
	}
}

#define TAKEN(text, a, b) \
	check_row(__FILE__, __LINE__, derive(text, a, b), BLOOMKEY_OK, 0)
#define REJECTED(text, a, b, reason, field)               \
	check_row(__FILE__, __LINE__, derive(text, a, b), \
		  BLOOMKEY_REJECT_##reason, field)

#define CARDS                                             \
	"[keyspec]\nversion = 1\nname = blocked_cards\n"  \
	"key = card:{entity_id}:{scope}\nbuckets = 200\n" \
	"filter = {name}:{bucket}\n"

static void check_hash(const char *text, struct value a, struct value b,
		       const char *key, uint64_t hash, uint32_t bucket)
{
	struct row row = derive(text, a, b);

	CHECK_U64((uint64_t)row.code, BLOOMKEY_OK);
	CHECK_STR(row.key, key);
	CHECK_U64(row.result.len, strlen(key));
	CHECK_U64(row.result.hash, hash);
	CHECK_U64(row.result.bucket, bucket);
	CHECK_U64(row.result.field, 0);
}

static void keys(void)
{
	/* Top bit set: a signed remainder would be 131 or -69. */
	check_hash(CARDS, V("E0"), V("global"), "card:E0:global",
		   UINT64_C(0xdb967fe41c529e4b), 147);
	/* Top bit set: 113 or -87. */
	check_hash(CARDS, V("E1"), V("global"), "card:E1:global",
		   UINT64_C(0xbb422658771b1701), 129);
	/* Above 2^53, where a double is wrong. */
	check_hash(CARDS, V("E4"), V("global"), "card:E4:global",
		   UINT64_C(0x6714ff98f7657177), 135);
	check_hash(CARDS, V("E1"), V("merchant:MID_ANYCOMPANY"),
		   "card:E1:merchant:MID_ANYCOMPANY",
		   UINT64_C(0x9935c89d9d5f8ebb), 19);
	check_hash(CARDS "seed = 18446744073709551615\n", V("E1"), V("global"),
		   "card:E1:global", UINT64_C(0xfd6c202586edc149), 97);
	check_hash("[keyspec]\nversion = 1\nname = s\nkey = k:{a}:{b}\n"
		   "buckets = 200\nfilter = {bucket}\n",
		   V("\xc3\xa9"), V("\xce\xa9"), "k:\xc3\xa9:\xce\xa9",
		   UINT64_C(0xa90c699873197e8f), 167);
}

static void buckets(void)
{
	struct bloomkey_spec *spec = parse_good(CARDS);
	uint64_t hash = 1;

	CHECK_U64(bloomkey_bucket(spec, "card:E1:global", 14, &hash), 129);
	CHECK_U64(hash, UINT64_C(0xbb422658771b1701));
	CHECK_U64(bloomkey_bucket(spec, "card:E1:global", 14, NULL), 129);
	CHECK_U64(bloomkey_bucket(spec, "", 0, &hash), 121);
	CHECK_U64(hash, UINT64_C(0xef46db3751d8e999));
	bloomkey_free(spec);
	spec = parse_good("[keyspec]\nversion = 1\nname = s\nkey = {a}\n"
			  "buckets = 3\nfilter = {bucket}\nseed = 7\n");
	CHECK_U64(bloomkey_bucket(spec, "a\0b", 3, &hash), 2);
	CHECK_U64(hash, UINT64_C(0x0f669f58467d6487));
	bloomkey_free(spec);
	spec = parse_good("[keyspec]\nversion = 1\nname = s\nkey = {a}\n"
			  "buckets = 65536\nfilter = {bucket}\n"
			  "seed = 18446744073709551615\n");
	CHECK_U64(bloomkey_bucket(spec, "card:E1:global", 14, NULL), 49481);
	bloomkey_free(spec);
}

static void nulls(void)
{
	REJECTED(PAIR, SQL_NULL, V("b"), NULL, 0);
	REJECTED(PAIR, V("a"), SQL_NULL, NULL, 1);
	REJECTED(PAIR "[field a]\nempty = allow\n", SQL_NULL, V("b"), NULL, 0);
	TAKEN(PAIR "[field a]\nempty = allow\nnull = empty\n", SQL_NULL,
	      V("b"));
	CHECK_STR(derive(PAIR "[field a]\nempty = allow\nnull = empty\n",
			 SQL_NULL, V("b"))
			  .key,
		  ":b");
	CHECK_STR(derive(PAIR "[field b]\nempty = allow\nnull = empty\n",
			 V("a"), SQL_NULL)
			  .key,
		  "a:");
}

static void empties(void)
{
	REJECTED(PAIR, V(""), V("b"), EMPTY, 0);
	REJECTED(PAIR, V("a"), V(""), EMPTY, 1);
	REJECTED(PAIR "[field a]\nempty = allow\n", V("a"), V(""), EMPTY, 1);
	CHECK_STR(derive(PAIR "[field a]\nempty = allow\n", V(""), V("b")).key,
		  ":b");
	CHECK_STR(derive(PAIR "[field a]\nempty = allow\n[field b]\n"
			      "empty = allow\n",
			 V(""), V(""))
			  .key,
		  ":");
	TAKEN(PAIR, V(" "), V("\0"));
	/* The key as a whole: the field is their number. */
	REJECTED(BASE "[field id]\nempty = allow\n", V(""), V(""), EMPTY, 1);
	REJECTED(BASE "[field id]\nempty = allow\nnull = empty\n", SQL_NULL,
		 V(""), EMPTY, 1);
	TAKEN(HEAD "key = x{id}\nfilter = f\n[field id]\nempty = allow\n",
	      V(""), V(""));
}

static void encodings(void)
{
	REJECTED(PAIR, V("\xe9"), V("b"), ENCODING, 0);
	REJECTED(PAIR, V("a"), V("\xc0\xaf"), ENCODING, 1);
	REJECTED(PAIR, V("a"), V("12345678\xed\xa0\x80"), ENCODING, 1);
	TAKEN(PAIR, V("\xc3\xa9"), V("\xf0\x9f\x98\x80"));
	TAKEN(PAIR "encoding = bytes\n", V("\xe9"), V("\xff"));
	REJECTED(PAIR "[field a]\nencoding = bytes\n", V("\xe9"), V("\xff"),
		 ENCODING, 1);
	TAKEN(PAIR "[field a]\nencoding = bytes\n", V("\xe9"), V("b"));
	REJECTED(PAIR "encoding = bytes\n[field b]\nencoding = utf-8\n",
		 V("\xe9"), V("\xff"), ENCODING, 1);
}

static void embedded_nul(void)
{
	struct row row = derive(PAIR, V("a\0c"), V("\0"));

	CHECK_U64((uint64_t)row.code, BLOOMKEY_OK);
	CHECK_U64(row.result.len, 5);
	CHECK(memcmp(row.key, "a\0c:\0", 5) == 0);
}

static void nothing_is_folded(void)
{
	CHECK_STR(derive(PAIR, V(" A\t"), V("\r\nB ")).key, " A\t:\r\nB ");
}

static void delimiters(void)
{
	REJECTED(PAIR, V("a:"), V("b"), DELIMITER, 0);
	REJECTED(PAIR, V(":"), V("b"), DELIMITER, 0);
	REJECTED(PAIR, V("0123456789abcdef0:1"), V("b"), DELIMITER, 0);
	REJECTED(PAIR "encoding = bytes\n", V("\xff:"), V("b"), DELIMITER, 0);
	TAKEN(PAIR, V("a"), V(":b:"));
	TAKEN(BASE, V("a:b"), V(""));
	TAKEN(HEAD "key = {id}:x\nfilter = f\n", V("a:b"), V(""));
	TAKEN(HEAD "key = {a}|{b}\nfilter = f\ndelimiter = |\n", V("a:"),
	      V("|"));
	REJECTED(HEAD "key = {a}:|:{b}\nfilter = f\ndelimiter = |\n", V("a|"),
		 V("b"), DELIMITER, 0);
	/* Only the delimiter counts, not the text that holds it. */
	TAKEN(HEAD "key = {a}-:-{b}\nfilter = f\n", V("a--"), V("b"));
}

static void order_of_fields(void)
{
	/* The first field at fault in the template's order, not the file's. */
	REJECTED(PAIR "[field b]\n[field a]\n", V("x:"), SQL_NULL, DELIMITER,
		 0);
	REJECTED(PAIR, V("\xff"), V(""), ENCODING, 0);
	REJECTED(PAIR, V(""), V("\xff"), EMPTY, 0);
	REJECTED(HEAD "key = {b}:{a}\nfilter = f\n", V("x"), V(""), EMPTY, 1);
	/* Encoding is before the delimiter. */
	REJECTED(PAIR, V(":\xff"), V("b"), ENCODING, 0);
	REJECTED(PAIR, V("\xff:"), V("b"), ENCODING, 0);
}

/* Derives with values of one letter and given lengths, in full room. */
static int derive_long(const char *text, size_t a, size_t b, char letter,
		       struct bloomkey_result *result)
{
	struct bloomkey_spec *spec = parse_good(text);
	size_t most = a > b ? a : b;
	char *value = malloc(most + 1), *out = malloc(BLOOMKEY_MAX);
	const void *values[] = {value, value};
	size_t lens[] = {a, b};
	int rc;

	if (value == NULL || out == NULL)
		abort();
	memset(value, letter, most);
	rc = bloomkey_derive(spec, values, lens, out, BLOOMKEY_MAX, result);
	free(out);
	free(value);
	bloomkey_free(spec);
	return rc;
}

static void lengths(void)
{
	struct bloomkey_result r;

	CHECK(derive_long(BASE, 65535, 0, 'x', &r) == BLOOMKEY_OK);
	CHECK_U64(r.len, 65535);
	CHECK_U64(r.hash, UINT64_C(0x287eadb1146e5bad));
	CHECK_U64(r.bucket, 0);
	CHECK(derive_long(BASE "seed = 12345\n", 65535, 0, 'x', &r) ==
	      BLOOMKEY_OK);
	CHECK_U64(r.hash, UINT64_C(0x0e4243cf65c4d07a));
	CHECK(derive_long(BASE, 65536, 0, 'x', &r) == BLOOMKEY_REJECT_TOO_LONG);
	CHECK_U64(r.field, 0);
	CHECK_U64(r.len, 0);
	CHECK(derive_long(PAIR, 65533, 1, 'x', &r) == BLOOMKEY_OK);
	CHECK_U64(r.len, 65535);
	/* The key is too long though no value is: the field is their number. */
	CHECK(derive_long(PAIR, 65534, 1, 'x', &r) == BLOOMKEY_REJECT_TOO_LONG);
	CHECK_U64(r.field, 2);
	CHECK_U64(r.len, 0);
	CHECK(derive_long(PAIR, 65535, 65535, 'x', &r) ==
	      BLOOMKEY_REJECT_TOO_LONG);
	CHECK_U64(r.field, 2);
	CHECK(derive_long(HEAD "key = {id}x\nfilter = f\n", 65535, 0, 'x',
			  &r) == BLOOMKEY_REJECT_TOO_LONG);
	CHECK_U64(r.field, 1);
	/* Too long is before encoding and delimiter, and after no field. */
	CHECK(derive_long(PAIR, 65536, 0, '\xff', &r) ==
	      BLOOMKEY_REJECT_TOO_LONG);
	CHECK_U64(r.field, 0);
	CHECK(derive_long(PAIR, 65536, 1, ':', &r) == BLOOMKEY_REJECT_TOO_LONG);
	CHECK(derive_long(PAIR, 1, 65536, ':', &r) ==
	      BLOOMKEY_REJECT_DELIMITER);
	/* A field's fault is before that of the whole key. */
	CHECK(derive_long(PAIR, 65535, 0, 'x', &r) == BLOOMKEY_REJECT_EMPTY);
	CHECK_U64(r.field, 1);
}

static void room(void)
{
	struct bloomkey_spec *spec = parse_good(PAIR);
	const void *values[] = {"aaa", "bbb"};
	size_t lens[] = {3, 3};
	struct bloomkey_result r;

	for (size_t cap = 0; cap <= 8; cap++) {
		char *out = cap > 0 ? malloc(cap) : NULL;
		int rc = bloomkey_derive(spec, values, lens, out, cap, &r);

		CHECK(rc == (cap < 7 ? BLOOMKEY_ERANGE : BLOOMKEY_OK));
		CHECK_U64(r.len, 7);
		if (cap >= 7)
			CHECK(memcmp(out, "aaa:bbb", 7) == 0);
		else
			CHECK_U64(r.hash, 0);
		free(out);
	}
	/* A row is judged the same without room. */
	values[1] = NULL;
	CHECK(bloomkey_derive(spec, values, lens, NULL, 0, &r) ==
	      BLOOMKEY_REJECT_NULL);
	CHECK_U64(r.field, 1);
	bloomkey_free(spec);
	spec = parse_good(BASE "[field id]\nempty = allow\n");
	values[0] = "";
	lens[0] = 0;
	CHECK(bloomkey_derive(spec, values, lens, NULL, 0, &r) ==
	      BLOOMKEY_REJECT_EMPTY);
	CHECK_U64(r.field, 1);
	bloomkey_free(spec);
}

int main(void)
{
	UNIT(keys, "derive: key, hash and bucket are as specified");
	UNIT(buckets, "derive: a bucket is the unsigned remainder");
	UNIT(nulls, "derive: NULL is rejected unless it is made empty");
	UNIT(empties, "derive: empty values and keys are rejected");
	UNIT(encodings, "derive: a field's encoding is its own or the set's");
	UNIT(embedded_nul, "derive: NUL is a byte like others");
	UNIT(nothing_is_folded, "derive: nothing is trimmed or folded");
	UNIT(delimiters, "derive: only the last field may hold the delimiter");
	UNIT(order_of_fields,
	     "derive: the template's first fault is the reason");
	UNIT(lengths, "derive: values and keys have at most 65,535 bytes");
	UNIT(room, "derive: too little room is told, and judges no row");
	return unit_end();
}
