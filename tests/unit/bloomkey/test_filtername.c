/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/bloomkey/keyspec.h"

static struct outcome parse_filter(const char *filter, const char *buckets)
{
	static char text[2048];

	(void)snprintf(text, sizeof(text),
		       "[keyspec]\nversion = 1\nname = bloomctl\nbuckets = %s\n"
		       "key = {id}\nfilter = %s\n",
		       buckets, filter);
	return parse_bytes(text, strlen(text));
}

static void check_name(const char *file, int at, const char *filter,
		       const char *buckets, uint32_t bucket, const char *name)
{
	struct outcome o = parse_filter(filter, buckets);
	char out[BLOOMKEY_FILTER_MAX + 1] = "";
	int len = 0;

	if (o.code == BLOOMKEY_OK)
		len = bloomkey_filter(o.spec, bucket, out, sizeof(out));
	if (len != (int)strlen(name) || strcmp(out, name) != 0) {
		unit_fail(file, at, name);
		printf("#   got %d, \"%s\", line %u: %s\n", len, out,
		       o.err.line, o.err.text);
	}
	bloomkey_free(o.spec);
}

static void check_refused(const char *file, int at, const char *filter,
			  const char *buckets, const char *part)
{
	struct outcome o = parse_filter(filter, buckets);

	if (o.code != BLOOMKEY_EINVAL || o.err.line != 6 ||
	    strstr(o.err.text, part) == NULL) {
		unit_fail(file, at, filter);
		printf("#   got %d, line %u: %s\n", o.code, o.err.line,
		       o.err.text);
	}
	bloomkey_free(o.spec);
}

#define NAME(filter, buckets, bucket, name) \
	check_name(__FILE__, __LINE__, filter, buckets, bucket, name)
#define REFUSED(filter, buckets, part) \
	check_refused(__FILE__, __LINE__, filter, buckets, part)

static void padding(void)
{
	NAME("f:{bucket}", "1", 0, "f:0");
	NAME("f:{bucket}", "2", 1, "f:1");
	NAME("f:{bucket}", "10", 9, "f:9");
	NAME("f:{bucket}", "11", 9, "f:09");
	NAME("f:{bucket}", "11", 10, "f:10");
	NAME("f:{bucket}", "100", 7, "f:07");
	NAME("f:{bucket}", "101", 7, "f:007");
	NAME("f:{bucket}", "200", 0, "f:000");
	NAME("f:{bucket}", "200", 199, "f:199");
	NAME("f:{bucket}", "1000", 999, "f:999");
	NAME("f:{bucket}", "10001", 10000, "f:10000");
	NAME("f:{bucket}", "65536", 65535, "f:65535");
	NAME("f:{bucket}", "65536", 10, "f:00010");
}

static void places(void)
{
	NAME("{name}", "1", 0, "bloomctl");
	NAME("x{name}x", "1", 0, "xbloomctlx");
	NAME("{name}-{bucket}/{bucket}", "20", 5, "bloomctl-05/05");
	NAME("{bucket}{bucket}", "20", 19, "1919");
	NAME("{bucket}", "20", 3, "03");
	NAME("{{{name}}}:{bucket}", "20", 3, "{bloomctl}:03");
	NAME("{{{bucket}}}", "20", 3, "{03}");
	NAME("\"a\\\"b\"", "1", 0, "a\"b");
	NAME("a#b;c", "1", 0, "a#b;c");
}

static void fingerprint_digits(void)
{
	struct outcome o = parse_filter("{fp}:{bucket}:{fp}", "3");
	char out[64], expected[64];

	REQUIRE(o.code == BLOOMKEY_OK);
	(void)snprintf(expected, sizeof(expected), "%.8s:2:%.8s",
		       bloomkey_fingerprint(o.spec),
		       bloomkey_fingerprint(o.spec));
	CHECK_U64(bloomkey_filter(o.spec, 2, out, sizeof(out)), 19);
	CHECK_STR(out, expected);
	bloomkey_free(o.spec);
}

static void bucket_left_out(void)
{
	NAME("f", "1", 0, "f");
	REFUSED("f", "2", "'{bucket}' is missing, and there are 2 buckets");
	REFUSED("{name}{{bucket}}", "200", "'{bucket}' is missing");
}

static void wrong_templates(void)
{
	REFUSED("{id}", "1", "'{id}' is none of");
	REFUSED("{Name}", "1", "'{Name}' is none of");
	REFUSED("{}", "1", "'{}' holds no name");
	REFUSED("f{", "1", "filter: lone '{'");
	REFUSED("f}", "1", "filter: lone '}'");
	REFUSED("{bucket", "1", "filter: lone '{'");
}

static void legal_bytes(void)
{
	REFUSED("a b", "1", "byte 0x20");
	REFUSED("a\tb", "1", "byte 0x09");
	REFUSED("\"a \"", "1", "byte 0x20");
	REFUSED("a\xc3\xa9", "1", "byte 0xc3");
	NAME("!~", "1", 0, "!~");
}

static void length(void)
{
	char filter[600];

	memset(filter, 'x', sizeof(filter));
	filter[512] = '\0';
	NAME(filter, "1", 0, filter);
	filter[512] = 'x';
	filter[513] = '\0';
	REFUSED(filter, "1", "longer than 512 bytes");
	/* 509 bytes and the three digits of 199 fit, 510 do not. */
	strcpy(filter + 509, "{bucket}");
	CHECK_U64(strlen(filter), 517);
	{
		struct outcome o = parse_filter(filter, "200");
		char out[BLOOMKEY_FILTER_MAX + 1];

		REQUIRE(o.code == BLOOMKEY_OK);
		CHECK_U64(bloomkey_filter(o.spec, 199, out, sizeof(out)), 512);
		CHECK_STR(out + 508, "x199");
		bloomkey_free(o.spec);
	}
	strcpy(filter + 510, "{bucket}");
	filter[509] = 'x';
	REFUSED(filter, "200", "longer than 512 bytes");
	filter[509] = filter[510] = filter[511] = 'x';
	strcpy(filter + 512, "{bucket}{bucket}");
	REFUSED(filter, "1", "longer than 512 bytes");
	strcpy(filter + 505, "{name}");
	REFUSED(filter, "1", "longer than 512 bytes");
	strcpy(filter + 505, "{fp}");
	REFUSED(filter, "1", "longer than 512 bytes");
	/* As many places as a name can have. */
	filter[0] = '\0';
	for (size_t i = 0; i < 64; i++)
		strcat(filter, "{bucket}");
	NAME(filter, "1", 0,
	     "000000000000000000000000000000000000000000000000000000000000000"
	     "0");
}

static void full_of_places(void)
{
	static char filter[8 * 513 + 1], text[8192];
	struct outcome o;

	for (size_t n = 512; n <= 513; n++) {
		filter[0] = '\0';
		for (size_t i = 0; i < n; i++)
			strcpy(filter + 8 * i, "{bucket}");
		(void)snprintf(text, sizeof(text),
			       "[keyspec]\nversion = 1\nname = s\nbuckets = "
			       "10\nkey = {id}\nfilter = %s\n",
			       filter);
		o = parse_bytes(text, strlen(text));
		CHECK(o.code == (n == 512 ? BLOOMKEY_OK : BLOOMKEY_EINVAL));
		if (o.code == BLOOMKEY_OK) {
			char out[513];

			CHECK_U64(bloomkey_filter(o.spec, 7, out, 513), 512);
			CHECK_U64(strspn(out, "7"), 512);
		}
		bloomkey_free(o.spec);
	}
}

static void hash_tags(void)
{
	NAME("{{a}}", "1", 0, "{a}");
	NAME("x{{a}}y", "1", 0, "x{a}y");
	NAME("{{a}}{{}}", "1", 0, "{a}{}");
	NAME("a}}b{{c}}", "1", 0, "a}b{c}");
	NAME("{{{{}}", "1", 0, "{{}");
	REFUSED("{{}}", "1", "no hash tag");
	REFUSED("{{}}x", "1", "no hash tag");
	/* The first } closes the tag, so these have none. */
	REFUSED("{{}}x}}", "1", "no hash tag");
	REFUSED("{{}}{{a}}", "1", "no hash tag");
	REFUSED("{{a", "1", "no hash tag");
	REFUSED("a}}", "1", "no hash tag");
	REFUSED("a}}b{{c", "1", "no hash tag");
	REFUSED("{{", "1", "no hash tag");
	REFUSED("}}", "1", "no hash tag");
}

static void reserved(void)
{
	REFUSED("bloomctl:x", "1", "begins with 'bloomctl:'");
	REFUSED("bloomctl:{bucket}", "3", "begins with 'bloomctl:'");
	REFUSED("{name}:{bucket}", "3", "begins with 'bloomctl:'");
	REFUSED("bloomctl:", "1", "begins with 'bloomctl:'");
	REFUSED("f:bloomctl", "1", "holds ':bloomctl'");
	REFUSED("f:bloomctlx", "1", "holds ':bloomctl'");
	REFUSED("f:{name}:{bucket}", "3", "holds ':bloomctl'");
	REFUSED(":bloomctl", "1", "holds ':bloomctl'");
	NAME("bloomctl", "1", 0, "bloomctl");
	NAME("xbloomctl:", "1", 0, "xbloomctl:");
	NAME("f:bloomct", "1", 0, "f:bloomct");
	NAME("f:Bloomctl", "1", 0, "f:Bloomctl");
}

static void ranges(void)
{
	struct outcome o = parse_filter("f:{bucket}", "200");
	char out[8] = "?";

	REQUIRE(o.code == BLOOMKEY_OK);
	CHECK(bloomkey_filter(o.spec, 200, out, 8) == BLOOMKEY_ERANGE);
	CHECK(bloomkey_filter(o.spec, UINT32_MAX, out, 8) == BLOOMKEY_ERANGE);
	CHECK(bloomkey_filter(o.spec, 0, out, 5) == BLOOMKEY_ERANGE);
	CHECK(bloomkey_filter(o.spec, 0, NULL, 0) == BLOOMKEY_ERANGE);
	CHECK_STR(out, "?");
	CHECK(bloomkey_filter(o.spec, 0, out, 6) == 5);
	CHECK_STR(out, "f:000");
	bloomkey_free(o.spec);
}

static void all_distinct(void)
{
	struct outcome o = parse_filter("{bucket}", "65536");
	char out[8], expected[8];

	REQUIRE(o.code == BLOOMKEY_OK);
	for (uint32_t i = 0; i < 65536; i++) {
		(void)snprintf(expected, sizeof(expected), "%05u", (unsigned)i);
		if (bloomkey_filter(o.spec, i, out, sizeof(out)) != 5 ||
		    strcmp(out, expected) != 0) {
			CHECK_STR(out, expected);
			break;
		}
	}
	bloomkey_free(o.spec);
}

int main(void)
{
	UNIT(padding, "filtername: buckets are padded to the last one's width");
	UNIT(places, "filtername: names are put in wherever they stand");
	UNIT(fingerprint_digits, "filtername: {fp} is 8 digits of itself");
	UNIT(bucket_left_out, "filtername: only one bucket needs no {bucket}");
	UNIT(wrong_templates, "filtername: unknown names are refused");
	UNIT(legal_bytes, "filtername: a name is of 0x21 to 0x7E");
	UNIT(length, "filtername: a name has at most 512 bytes");
	UNIT(full_of_places, "filtername: 512 digits in a row are legal");
	UNIT(hash_tags, "filtername: a brace has to make a hash tag");
	UNIT(reserved, "filtername: reserved names are refused");
	UNIT(ranges, "filtername: no such bucket and no room are told");
	UNIT(all_distinct, "filtername: 65,536 names are right");
	return unit_end();
}
