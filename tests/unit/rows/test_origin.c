/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/origin.h"
#include "tests/unit/unit.h"

static struct origin some(void)
{
	struct origin o;

	origin_init(&o);
	(void)strcpy(o.software, "PostgreSQL 15.18");
	(void)strcpy(o.lsn, "0/1");
	o.standby = true;
	o.lag_ms = 7;
	o.taken = 1800000000123;
	o.query = strdup("table s.t");
	return o;
}

static void it_comes_back(void)
{
	struct origin o = some();
	struct origin back;
	struct error err = ERROR_INIT;
	json_t *json = origin_json(&o);

	REQUIRE(json != NULL);
	REQUIRE(origin_read(json, &back, &err) == 0);
	CHECK_STR(back.software, o.software);
	CHECK_STR(back.lsn, "0/1");
	CHECK_STR(back.system, "");
	CHECK_STR(back.query, "table s.t");
	CHECK(back.standby && !back.again);
	CHECK_U64(back.lag_ms, 7);
	CHECK_U64(back.taken, 1800000000123);
	origin_release(&back);
	json_decref(json);
	origin_release(&o);
	origin_release(&o);
	CHECK(o.lag_ms == -1);
}

static void what_is_wrong_is_named(void)
{
	static const struct {
		const char *name;
		const char *value;
	} cases[] = {
		{"software", "7"}, {"software", "\"\""}, {"standby", "null"},
		{"again", "1"},    {"lag_ms", "-1"},     {"taken", "\"x\""},
		{"query", "{}"},
	};
	struct origin o = some();
	struct origin back;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		json_t *json = origin_json(&o);
		json_t *value =
			json_loads(cases[i].value, JSON_DECODE_ANY, NULL);

		REQUIRE(json != NULL && value != NULL);
		CHECK(json_object_set_new(json, cases[i].name, value) == 0);
		CHECK(origin_read(json, &back, &err) == -1);
		CHECK_U64(err.code, ERROR_DATA);
		CHECK(strstr(err.text, cases[i].name) != NULL);
		(void)json_object_del(json, cases[i].name);
		CHECK(origin_read(json, &back, &err) == -1);
		json_decref(json);
	}
	origin_release(&o);
}

int main(void)
{
	UNIT(it_comes_back, "origin: what is written is read");
	UNIT(what_is_wrong_is_named, "origin: a wrong member is named");
	return unit_end();
}
