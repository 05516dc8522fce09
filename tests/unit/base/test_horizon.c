/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/horizon.h"

#include <string.h>

#include "tests/unit/unit.h"

static const struct horizon some = {.read_at = 1800000000123,
				    .xid = UINT64_MAX,
				    .since = 1799999940000,
				    .lsn = 0x16b374d848,
				    .timeline = UINT32_MAX,
				    .relation = 16384,
				    .system = 7714954353665884877};

static void same(const struct horizon *a, const struct horizon *b)
{
	CHECK_U64(a->read_at, b->read_at);
	CHECK_U64(a->xid, b->xid);
	CHECK_U64(a->lsn, b->lsn);
	CHECK_U64(a->timeline, b->timeline);
	CHECK_U64(a->since, b->since);
	CHECK_U64(a->relation, b->relation);
	CHECK_U64(a->system, b->system);
}

static void comes_back(void)
{
	static const struct horizon least = {.read_at = 1, .xid = 3};
	static const struct horizon stamp = {.read_at = 1, .since = 2};
	static const struct horizon none = {0};
	const struct horizon *const all[] = {&some, &least, &stamp, &none};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		json_t *json = horizon_json(all[i]);
		struct error err = ERROR_INIT;
		struct horizon back;

		CHECK(json != NULL);
		CHECK(json_is_null(json) == horizon_none(all[i]));
		CHECK(horizon_read(json, &back, &err) == 0);
		same(all[i], &back);
		json_decref(json);
	}
}

static void wrong(void)
{
	static const char *const cases[][2] = {
		{"since", "\"now\""},
		{"relation", "4294967296"},
		{"read_at", "null"},
		{"read_at", "7"},
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
		CHECK(horizon_none(&back) && back.xid == 0);
		json_decref(json);
	}
}

static void no_way_to_catch_up(void)
{
	const struct horizon h = {.read_at = 1, .xid = 3};
	json_t *json = horizon_json(&h);
	struct error err = ERROR_INIT;
	struct horizon back;

	CHECK(json_object_set_new(json, "xid", json_null()) == 0);
	CHECK(horizon_read(json, &back, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK(horizon_none(&back));
	json_decref(json);
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
	h.since = some.since;
	h.relation = some.relation;
	same(&h, &some);
	CHECK(horizon_xmin(&h, 1, "3", "", "", "", &err) == 0);
	CHECK(h.lsn == 0 && h.timeline == 0 && h.system == 0);
	CHECK(horizon_xmin(&h, 1, "", "", "", "", &err) == -1);
	CHECK(horizon_none(&h));
	CHECK(horizon_xmin(&h, 0, "3", "", "", "", &err) == -1);
	CHECK(horizon_xmin(&h, 1, "x", "", "", "", &err) == -1);
	CHECK(horizon_xmin(&h, 1, "3", "x", "", "", &err) == -1);
	CHECK(horizon_xmin(&h, 1, "3", "", "4294967296", "", &err) == -1);
	CHECK(horizon_xmin(&h, 1, "3", "", "", "x", &err) == -1);
}

static void as_a_line(void)
{
	static const char line[] = "1800000000123 1799999940000 "
				   "18446744073709551615 16/B374D848 "
				   "4294967295 16384 7714954353665884877";
	static const char *const bad[] = {
		" ",
		"1",
		"1 0 2 0/0 0 0",
		"1 0 2 0/0 0 0 0 ",
		"1 0 2 0/0 0 0 0 0",
		"1  0 2 0/0 0 0 0",
		"0 0 2 0/0 0 0 0",
		"1 0 0 0/0 0 0 0",
		"01 0 2 0/0 0 0 0",
		"1 0 2 0/a 0 0 0",
		"1 0 2 00/0 0 0 0",
		"1 0 2 0/0 4294967296 0 0",
		"1 0 2 0/0 0 4294967296 0",
		"9223372036854775808 0 2 0/0 0 0 0",
		"1 9223372036854775808 2 0/0 0 0 0",
		"xmin 1 2 0/0 0 0",
	};
	static const struct horizon none = {0};
	char text[HORIZON_TEXT_MAX];
	struct horizon h;

	CHECK_STR(horizon_text(&some, text), line);
	CHECK(strlen(line) < HORIZON_TEXT_MAX);
	CHECK(horizon_parse(line, &h) == 0);
	same(&h, &some);
	CHECK(horizon_parse("1 0 2 0/0 0 0 0", &h) == 0);
	CHECK(h.xid == 2 && h.since == 0 && h.lsn == 0);
	CHECK(horizon_parse("1 9 0 0/0 0 0 0", &h) == 0);
	CHECK(h.xid == 0 && h.since == 9);
	CHECK(horizon_parse("", &h) == 0 && horizon_none(&h));
	CHECK_STR(horizon_text(&none, text), "");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		h = some;
		CHECK(horizon_parse(bad[i], &h) == -1);
		same(&h, &none);
	}
}

static void the_oldest_of_two(void)
{
	struct horizon a = some;
	struct horizon b = some;

	b.read_at -= 5;
	b.xid -= 1;
	b.since += 7;
	b.lsn += 1;
	horizon_oldest(&a, &b);
	CHECK(a.read_at == some.read_at - 5 && a.xid == some.xid - 1);
	CHECK(a.since == some.since && a.lsn == some.lsn);
	CHECK(a.relation == some.relation);
	b.relation = 1;
	b.since = 0;
	horizon_oldest(&a, &b);
	CHECK(a.relation == 0 && a.since == 0 && a.xid == b.xid);
	/* With ids there, and with stamps here: nothing that serves both. */
	b = some;
	b.xid = 0;
	horizon_oldest(&a, &b);
	CHECK(horizon_none(&a));
}

static void nothing_in_common(void)
{
	static const struct horizon none = {0};
	struct horizon a = some;
	struct horizon b = some;

	b.timeline--;
	horizon_oldest(&a, &b);
	CHECK(horizon_none(&a) && a.xid == 0);
	a = some;
	b = some;
	b.system++;
	horizon_oldest(&a, &b);
	CHECK(horizon_none(&a));
	a = some;
	horizon_oldest(&a, &none);
	CHECK(horizon_none(&a));
	horizon_oldest(&a, &some);
	CHECK(horizon_none(&a));
}

static void moved_on(void)
{
	struct horizon to = {.read_at = 9, .since = 8, .timeline = 1};
	struct horizon h;

	/* What a pass by stamps does not find stays to be found by ids. */
	horizon_move(&some, &to, &h);
	CHECK(h.read_at == 9 && h.since == 8 && h.timeline == 1);
	CHECK(h.xid == some.xid && h.relation == some.relation);
	to = (struct horizon){.read_at = 9, .xid = 5, .relation = 3};
	horizon_move(&some, &to, &h);
	CHECK(h.xid == 5 && h.relation == 3 && h.since == some.since);
}

int main(void)
{
	UNIT(as_a_line, "horizon: one horizon is one line");
	UNIT(the_oldest_of_two, "horizon: the oldest of two finds all of both");
	UNIT(nothing_in_common, "horizon: of two histories there is no oldest");
	UNIT(moved_on, "horizon: what a pass did not look for stays");
	UNIT(comes_back, "horizon: what is written is read back");
	UNIT(wrong, "horizon: a member that is wrong is refused");
	UNIT(no_way_to_catch_up,
	     "horizon: without an id and a stamp it is none");
	UNIT(positions, "horizon: positions are PostgreSQL's");
	UNIT(from_a_session, "horizon: it is made of what a session says");
	return unit_end();
}
