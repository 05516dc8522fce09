/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/json.h"

#include "tests/unit/unit.h"

static json_t *parse(const char *text, struct error *err)
{
	return json_parse(text, strlen(text), err);
}

static void good_texts(void)
{
	static const char *const good[] = {
		"{}", " {\"a\": [1, 2.5, null, true, \"x\"]}\n", "[]",
		"{\"a\": 9223372036854775807}"};
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		json_t *json = parse(good[i], &err);

		CHECK(json != NULL);
		json_decref(json);
	}
}

static void bad_texts(void)
{
	static const char *const bad[] = {
		"",
		"{",
		"{} {}",
		"{}x",
		"{\"a\": 1, \"a\": 2}",
		"{\"a\": 9223372036854775808}",
		"{\"a\": 1e999}",
		"{\"a\": \"\xff\"}",
		"{'a': 1}",
		"{\"a\": 01}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = ERROR_INIT;
		json_t *json = parse(bad[i], &err);

		if (json != NULL)
			printf("# %s\n", bad[i]);
		CHECK(json == NULL);
		CHECK_U64(err.code, ERROR_DATA);
		CHECK(strstr(err.text, "not JSON: line 1: ") == err.text);
		json_decref(json);
	}
}

static void the_length_counts(void)
{
	struct error err = ERROR_INIT;
	json_t *json = json_parse("{}garbage", 2, &err);

	CHECK(json != NULL);
	json_decref(json);
	CHECK(json_parse("{}\0", 3, &err) == NULL);
	CHECK(json_parse("{\n\n}}", 5, &err) == NULL);
	CHECK(strstr(err.text, "line 3") != NULL);
}

static void texts(void)
{
	struct error err = ERROR_INIT;
	json_t *json = parse("{\"b\": 1, \"a\": [\"x\"]}", &err);
	size_t len = 0;
	char *text;

	REQUIRE(json != NULL);
	text = json_text(json, 0, &len, &err);
	CHECK_STR(text, "{\"b\":1,\"a\":[\"x\"]}\n");
	CHECK(text != NULL && len == strlen(text));
	free(text);
	text = json_text(json, 2, &len, &err);
	CHECK_STR(text, "{\n  \"b\": 1,\n  \"a\": [\n    \"x\"\n  ]\n}\n");
	CHECK(text != NULL && len == strlen(text));
	free(text);
	json_decref(json);
}

static void members(void)
{
	struct error err = ERROR_INIT;
	json_t *json = parse("{\"t\": \"x\", \"n\": 9223372036854775807, "
			     "\"r\": 0.5, \"z\": 0, \"m\": -1, \"null\": null}",
			     &err);
	const char *text;
	uint64_t n;
	double r;

	REQUIRE(json != NULL);
	CHECK(json_get_text(json, "t", &text, &err) == 0);
	CHECK_STR(text, "x");
	CHECK(json_get_u64(json, "n", &n, &err) == 0);
	CHECK_U64(n, INT64_MAX);
	CHECK(json_get_u64(json, "z", &n, &err) == 0);
	CHECK_U64(n, 0);
	CHECK(json_get_real(json, "r", &r, &err) == 0);
	CHECK(r == 0.5);
	/* A whole number is a real one. */
	CHECK(json_get_real(json, "m", &r, &err) == 0);
	CHECK(r == -1);
	json_decref(json);
}

static void other_members(void)
{
	static const char *const not_text[] = {"n", "null", "o", "none"};
	static const char *const not_u64[] = {"t", "m", "r", "null", "none"};
	static const char *const not_real[] = {"t", "null", "o", "none"};
	struct error err = ERROR_INIT;
	json_t *json = parse("{\"t\": \"1\", \"n\": 1, \"r\": 1.0, \"m\": -1, "
			     "\"null\": null, \"o\": {}}",
			     &err);
	const char *text;
	uint64_t n;
	double r;

	REQUIRE(json != NULL);
	for (size_t i = 0; i < 4; i++) {
		CHECK(json_get_text(json, not_text[i], &text, &err) == -1);
		CHECK_U64(err.code, ERROR_DATA);
		CHECK(strstr(err.text, not_text[i]) != NULL);
	}
	for (size_t i = 0; i < 5; i++) {
		CHECK(json_get_u64(json, not_u64[i], &n, &err) == -1);
		CHECK_U64(err.code, ERROR_DATA);
		CHECK(strstr(err.text, not_u64[i]) != NULL);
	}
	for (size_t i = 0; i < 4; i++) {
		CHECK(json_get_real(json, not_real[i], &r, &err) == -1);
		CHECK_U64(err.code, ERROR_DATA);
		CHECK(strstr(err.text, not_real[i]) != NULL);
	}
	/* What is no object has no members. */
	CHECK(json_get_u64(json_object_get(json, "n"), "n", &n, &err) == -1);
	CHECK(json_get_u64(NULL, "n", &n, &err) == -1);
	json_decref(json);
}

int main(void)
{
	UNIT(good_texts, "json: a text is read");
	UNIT(bad_texts, "json: doubles, rests and large numbers are refused");
	UNIT(the_length_counts, "json: as many bytes are read as are given");
	UNIT(texts, "json: a written text ends with a newline");
	UNIT(members, "json: members have a type");
	UNIT(other_members, "json: members of another type are named");
	return unit_end();
}
