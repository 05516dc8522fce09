/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/exportlist.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/record.h"
#include "lib/rows/origin.h"
#include "tests/unit/unit.h"

static char *origin(void)
{
	struct origin o;
	json_t *json;
	char *text;
	size_t len;
	struct error err = ERROR_INIT;

	origin_init(&o);
	(void)strcpy(o.lsn, "0/1");
	json = origin_json(&o);
	text = json_text(json, 0, &len, &err);
	json_decref(json);
	return text;
}

/* Two parts of keys. */
static struct exportlist some(void)
{
	struct exportlist l = {.kind = EXPORTLIST_KEYS,
			       .packed = PACK_ZSTD,
			       .set = "cards",
			       .rows = 3,
			       .rejects = 4,
			       .started = 1800000000123,
			       .ended = 1800000000456};

	l.columns = calloc(1, sizeof(char *));
	l.parts = calloc(2, sizeof(*l.parts));
	CHECK(l.columns != NULL && l.parts != NULL);
	l.columns[0] = strdup(EXPORTLIST_KEY);
	l.column_count = 1;
	memset(l.fingerprint, 'a', 64);
	l.horizon = (struct horizon){.read_at = 7, .xid = 9};
	l.source = strdup("file:\xff");
	l.origin = origin();
	l.count = 2;
	l.parts[0].name = strdup("x.y.00001.key.zst");
	l.parts[0].rows = 1;
	l.parts[0].bytes = 10;
	l.parts[0].xxh64 = 0x0123456789abcdef;
	l.parts[1].name = strdup("x.y.00002.key.zst");
	l.parts[1].rows = 2;
	l.parts[1].bytes = INT64_MAX - 10;
	l.parts[1].xxh64 = UINT64_MAX;
	return l;
}

static void comes_back(void)
{
	struct exportlist l = some();
	struct exportlist back;
	struct error err = ERROR_INIT;
	size_t len, again_len;
	char *text = exportlist_encode(&l, &len, &err);
	char *again;

	CHECK(text != NULL);
	CHECK(exportlist_decode(text, len, &back, &err) == 0);
	CHECK_STR(err.text, "");
	CHECK(back.kind == EXPORTLIST_KEYS && back.packed == PACK_ZSTD);
	CHECK(!back.header);
	CHECK_U64(back.column_count, 1);
	CHECK_STR(back.columns[0], "bloom_key");
	CHECK_STR(back.set, "cards");
	CHECK_STR(back.fingerprint, l.fingerprint);
	CHECK_U64(back.rows, 3);
	CHECK_U64(back.rejects, 4);
	CHECK_U64(back.started, l.started);
	CHECK_U64(back.ended, l.ended);
	CHECK_STR(back.source, "file:\\xff");
	CHECK(strstr(back.origin, "\"lsn\":\"0/1\"") != NULL);
	CHECK(back.horizon.xid == 9);
	CHECK_U64(back.count, 2);
	CHECK_STR(back.parts[1].name, "x.y.00002.key.zst");
	CHECK_U64(back.parts[0].xxh64, 0x0123456789abcdef);
	CHECK_U64(back.parts[1].xxh64, UINT64_MAX);
	CHECK_U64(back.parts[1].bytes, INT64_MAX - 10);
	again = exportlist_encode(&back, &again_len, &err);
	CHECK(again != NULL);
	exportlist_release(&l);
	l = back;
	exportlist_release(&l);
	exportlist_release(&l);
	free(text);
	free(again);
}

/* Decodes a text with one member replaced: "" removes it. */
static void check_wrong(const char *name, const char *value, const char *want)
{
	struct exportlist l = some();
	struct exportlist back;
	struct error err = ERROR_INIT;
	struct buf out;
	size_t len;
	char *text = exportlist_encode(&l, &len, &err);
	json_t *json = json_parse(text, len, &err);
	char *members;

	(void)json_object_del(json, "checksum");
	if (value[0] == '\0')
		(void)json_object_del(json, name);
	else
		(void)json_object_set_new(
			json, name, json_loads(value, JSON_DECODE_ANY, NULL));
	members = json_text(json, 2, &len, &err);
	buf_init(&out, EXPORTLIST_MAX);
	CHECK(buf_add(&out, members, len - 3) == 0 && record_end(&out) == 0);
	CHECK(exportlist_decode(out.data, out.len, &back, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	if (strstr(err.text, want) == NULL)
		CHECK_STR(err.text, want);
	CHECK(back.parts == NULL && back.columns == NULL);
	buf_release(&out);
	json_decref(json);
	exportlist_release(&l);
	free(members);
	free(text);
}

#define PART(name, rows, bytes, sum)                                     \
	"{\"name\": \"" name "\", \"rows\": " rows ", \"bytes\": " bytes \
	", \"xxh64\": \"" sum "\"}"
#define SUM "0123456789abcdef"
#define ONE PART("x.00001.key.zst", "1", "10", SUM)

static void wrong(void)
{
	static const char *const members[] = {
		"format",  "kind",    "packed", "header",
		"columns", "set",     "rows",   "fingerprint",
		"rejects", "started", "ended",  "bytes",
		"source",  "origin",  "parts",  "horizon",
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		check_wrong(members[i], "",
			    i == 0 ? "no number \"format\""
				   : "members that this bloomctl");
		check_wrong(members[i], "{\"a\": 1}", "");
	}
	check_wrong("other", "1", "members that this bloomctl");
	check_wrong("format", "2", "format 2: this bloomctl reads format 1");
	check_wrong("kind", "\"keys\"", "\"kind\" is missing or not");
	check_wrong("kind", "\"csv\"", "\"name\" is missing or not");
	check_wrong("packed", "\"gz\"", "\"packed\"");
	check_wrong("header", "true", "\"columns\"");
	check_wrong("columns", "null", "\"columns\"");
	check_wrong("columns", "[]", "\"columns\"");
	check_wrong("columns", "[\"bloom_key\", \"b\"]", "\"columns\"");
	check_wrong("columns", "[\"other\"]", "\"columns\"");
	check_wrong("columns", "[7]", "\"columns\"");
	check_wrong("set", "null", "\"set\"");
	check_wrong("set", "\"\"", "\"set\"");
	check_wrong("fingerprint", "\"aa\"", "\"fingerprint\"");
	check_wrong("fingerprint", "null", "\"fingerprint\"");
	check_wrong("rows", "4", "\"rows\"");
	check_wrong("rows", "-1", "\"rows\"");
	check_wrong("bytes", "1", "\"bytes\"");
	check_wrong("started", "null", "\"started\"");
	check_wrong("ended", "\"2026-02-31T00:00:00.000Z\"", "\"ended\"");
	check_wrong("origin", "{}", "an origin");
	check_wrong("horizon", "{}", "\"horizon\"");
	check_wrong("parts", "[]", "\"parts\"");
	check_wrong("parts", "[7]", "\"parts\"");
	check_wrong("parts", "[" ONE "]", "\"rows\"");
	check_wrong("parts", "[" ONE ", " ONE "]", "\"name\"");
	check_wrong("parts", "[" PART("y/x.00001.key.zst", "3", "1", SUM) "]",
		    "\"name\"");
	check_wrong("parts", "[" PART("../x", "3", "1", SUM) "]", "\"name\"");
	check_wrong("parts", "[" PART("x.00002.key.zst", "3", "1", SUM) "]",
		    "\"name\"");
	check_wrong("parts", "[" PART("x.00001.key", "3", "1", SUM) "]",
		    "\"name\"");
	check_wrong("parts", "[" PART("x.00001.key.zst", "3", "-1", SUM) "]",
		    "\"bytes\"");
	check_wrong("parts", "[" PART("x.00001.key.zst", "3", "1", "1") "]",
		    "\"xxh64\"");
	check_wrong(
		"parts",
		"[" PART("x.00001.key.zst", "3", "1", "0123456789ABCDEF") "]",
		"\"xxh64\"");
}

static void damaged(void)
{
	struct exportlist l = some();
	struct exportlist back;
	struct error err = ERROR_INIT;
	size_t len;
	char *text = exportlist_encode(&l, &len, &err);

	for (size_t n = 0; n < len; n++)
		CHECK(exportlist_decode(text, n, &back, &err) == -1);
	text[10] ^= 1;
	CHECK(exportlist_decode(text, len, &back, &err) == -1);
	CHECK_STR(err.text, "damaged: its checksum does not match");
	free(text);
	exportlist_release(&l);
}

static void names(void)
{
	static const struct {
		const char *name;
		size_t len;
	} cases[] = {
		{"x.00001.csv", 1},
		{"x.00001.csv.gz", 1},
		{"x.y.99999.text.zst", 3},
		{"a b.00000.key", 3},
		{".00001.csv", 0},
		{"x.0001.csv", 0},
		{"x.0000a.csv", 0},
		{"x00001.csv", 0},
		{"x.00001.txt", 0},
		{"x.00001.csv.bz2", 0},
		{"x.00001", 0},
		{"x.00001.csv.gz.tmp", 0},
		{"x.00001.csv.gz.zst", 0},
		{"", 0},
		{".csv", 0},
		{"csv", 0},
	};
	struct exportlist l = {.kind = EXPORTLIST_TEXT, .packed = PACK_GZIP};
	struct error err = ERROR_INIT;
	char name[40];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_U64(exportlist_base_len(cases[i].name), cases[i].len);
	CHECK(exportlist_part_name(&l, "x", 7, name, sizeof(name), &err) == 0);
	CHECK_STR(name, "x.00007.text.gz");
	CHECK(exportlist_part_name(&l, "x", 7, name, 15, &err) == -1);
	CHECK_U64(err.code, ERROR_USAGE);
	CHECK(exportlist_part_name(&l, "x", 7, name, 16, &err) == 0);
	CHECK_U64(exportlist_aside_len("x.00001.csv.gz.tmp"), 1);
	CHECK_U64(exportlist_aside_len("x.y.99999.key.tmp"), 3);
	CHECK_U64(exportlist_aside_len("x.00001.csv.gz"), 0);
	CHECK_U64(exportlist_aside_len("x.00001.tmp"), 0);
	CHECK_U64(exportlist_aside_len("x.csv.tmp"), 0);
	CHECK_U64(exportlist_aside_len(".tmp"), 0);
	CHECK_U64(exportlist_aside_len("tmp"), 0);
}

static void bases(void)
{
	struct exportlist l = some();
	struct error err = ERROR_INIT;

	CHECK(exportlist_check_base(&l, "x.yz", 3, &err) == 0);
	CHECK(exportlist_check_base(&l, "y", 1, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "it is the list of an export to 'x.y', and has "
			    "another name");
	CHECK(exportlist_check_base(&l, "x.y", 2, &err) == -1);
	CHECK(exportlist_check_base(&l, "", 0, &err) == -1);
	exportlist_release(&l);
}

int main(void)
{
	UNIT(comes_back, "exportlist: what is written is read back");
	UNIT(wrong, "exportlist: a member that is wrong is named");
	UNIT(damaged, "exportlist: a text that was cut or changed is none");
	UNIT(names, "exportlist: names of parts are known by their shape");
	UNIT(bases, "exportlist: a list knows the path that it is for");
	return unit_end();
}
