/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/horizon.h"

#include <string.h>

#include "tests/unit/unit.h"

static const struct horizon some = {.kind = HORIZON_XMIN,
				    .read_at = 1800000000123,
				    .xid = UINT64_MAX,
				    .lsn = 0x16b374d848,
				    .timeline = UINT32_MAX,
				    .system = 7714954353665884877};

static void same(const struct horizon *a, const struct horizon *b)
{
	CHECK(a->kind == b->kind);
	CHECK_U64(a->read_at, b->read_at);
	CHECK_U64(a->xid, b->xid);
	CHECK_U64(a->lsn, b->lsn);
	CHECK_U64(a->timeline, b->timeline);
	CHECK_U64(a->system, b->system);
}

static void comes_back(void)
{
	static const struct horizon least = {
		.kind = HORIZON_XMIN, .read_at = 1, .xid = 3};
	static const struct horizon none = {.kind = HORIZON_NONE};
	const struct horizon *const all[] = {&some, &least, &none};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		json_t *json = horizon_json(all[i]);
		struct error err = ERROR_INIT;
		struct horizon back;

		CHECK(json != NULL);
		CHECK(json_is_null(json) == (all[i]->kind == HORIZON_NONE));
		CHECK(horizon_read(json, &back, &err) == 0);
		same(all[i], &back);
		json_decref(json);
	}
}

static void wrong(void)
{
	static const char *const cases[][2] = {
		{"kind", "\"stamp\""},
		{"kind", "null"},
		{"read_at", "null"},
		{"read_at", "7"},
		{"xid", "null"},
		{"xid", "\"0\""},
		{"xid", "\"-1\""},
		{"xid", "7"},
		{"lsn", "\"0/0\""},
		{"lsn", "\"16/b374d848\""},
		{"lsn", "\"016/B374D848\""},
		{"lsn", "7"},
		{"timeline", "-1"},
		{"timeline", "4294967296"},
		{"timeline", "\"1\""},
		{"system", "\"\""},
		{"other", "1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *json = horizon_json(&some);
		struct error err = ERROR_INIT;
		struct horizon back;

		CHECK(json_object_set_new(
			      json, cases[i][0],
			      json_loads(cases[i][1], JSON_DECODE_ANY, NULL)) ==
		      0);
		CHECK(horizon_read(json, &back, &err) == -1);
		CHECK_U64(err.code, ERROR_DATA);
		CHECK(back.kind == HORIZON_NONE && back.xid == 0);
		json_decref(json);
	}
}

static void positions(void)
{
	static const char *const bad[] = {
		"",     "/",           "0",           "0/",   "/0",  "g/0",
		"0/0 ", "123456789/0", "0/123456789", "-1/0", "0/-1"};
	char text[HORIZON_LSN_MAX];
	uint64_t lsn = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(horizon_lsn_parse(bad[i], &lsn) == -1);
	CHECK_U64(lsn, 7);
	CHECK(horizon_lsn_parse("ffffFFFF/0000000A", &lsn) == 0);
	CHECK_U64(lsn, 0xffffffff0000000a);
	CHECK_STR(horizon_lsn_text(lsn, text), "FFFFFFFF/A");
	CHECK_STR(horizon_lsn_text(0, text), "0/0");
}

static void from_a_session(void)
{
	struct error err = ERROR_INIT;
	struct horizon h;

	CHECK(horizon_xmin(&h, some.read_at, "18446744073709551615",
			   "16/B374D848", "4294967295", "7714954353665884877",
			   &err) == 0);
	same(&h, &some);
	CHECK(horizon_xmin(&h, 1, "3", "", "", "", &err) == 0);
	CHECK(h.lsn == 0 && h.timeline == 0 && h.system == 0);
	CHECK(horizon_xmin(&h, 1, "", "", "", "", &err) == -1);
	CHECK(h.kind == HORIZON_NONE);
	CHECK(horizon_xmin(&h, 0, "3", "", "", "", &err) == -1);
	CHECK(horizon_xmin(&h, 1, "x", "", "", "", &err) == -1);
	CHECK(horizon_xmin(&h, 1, "3", "x", "", "", &err) == -1);
	CHECK(horizon_xmin(&h, 1, "3", "", "4294967296", "", &err) == -1);
	CHECK(horizon_xmin(&h, 1, "3", "", "", "x", &err) == -1);
}

static void as_a_line(void)
{
	static const char line[] = "xmin 1800000000123 18446744073709551615 "
				   "16/B374D848 4294967295 "
				   "7714954353665884877";
	static const char *const bad[] = {
		" ",
		"xmin",
		"xmin 1 2 0/0 0",
		"xmin 1 2 0/0 0 0 ",
		"xmin 1 2 0/0 0 0 0",
		"xmin  1 2 0/0 0 0",
		"xmin 0 2 0/0 0 0",
		"xmin 1 0 0/0 0 0",
		"xmin 01 2 0/0 0 0",
		"xmin 1 2 0/a 0 0",
		"xmin 1 2 00/0 0 0",
		"xmin 1 2 0/0 4294967296 0",
		"xmin 9223372036854775808 2 0/0 0 0",
		"stamp 1 2 0/0 0 0",
	};
	static const struct horizon none = {.kind = HORIZON_NONE};
	char text[HORIZON_TEXT_MAX];
	struct horizon h;

	CHECK_STR(horizon_text(&some, text), line);
	CHECK(strlen(line) < HORIZON_TEXT_MAX);
	CHECK(horizon_parse(line, &h) == 0);
	same(&h, &some);
	CHECK(horizon_parse("xmin 1 2 0/0 0 0", &h) == 0);
	CHECK(h.kind == HORIZON_XMIN && h.xid == 2 && h.lsn == 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(horizon_parse(bad[i], &h) == -1);
		same(&h, &none);
	}
	CHECK_STR(horizon_text(&none, text), "");
	CHECK(horizon_parse("", &h) == 0);
	same(&h, &none);
}

static void order(void)
{
	static const struct horizon none = {.kind = HORIZON_NONE};
	struct horizon earlier = some, other;

	earlier.xid--;
	CHECK(horizon_covers(&some, &some));
	CHECK(horizon_covers(&earlier, &some));
	CHECK(!horizon_covers(&some, &earlier));
	CHECK(horizon_covers(&none, &some) && horizon_covers(&none, &none));
	CHECK(!horizon_covers(&some, &none));
	other = earlier;
	other.timeline--;
	CHECK(!horizon_covers(&other, &some));
	other = earlier;
	other.system--;
	CHECK(!horizon_covers(&other, &some));
}

int main(void)
{
	UNIT(as_a_line, "horizon: one horizon is one line");
	UNIT(order, "horizon: an earlier one of the same history covers");
	UNIT(comes_back, "horizon: what is written is read back");
	UNIT(wrong, "horizon: a member that is wrong is refused");
	UNIT(positions, "horizon: positions are PostgreSQL's");
	UNIT(from_a_session, "horizon: it is made of what a session says");
	return unit_end();
}
