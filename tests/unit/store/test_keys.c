/* SPDX-License-Identifier: BSD-2-Clause
 *
 * keys: names of a set's keys on a server, all of a bucket in one slot.
 */
#include "lib/store/keys.h"
#include "tests/unit/unit.h"

#define ID "20261130T195654Z-1a2b"

/* A keyspec whose filters have this name; NULL if there is none such. */
static struct bloomkey_spec *spec_of(const char *filter)
{
	struct bloomkey_spec *spec = NULL;
	char text[1024];
	int len = snprintf(text, sizeof(text),
			   "[keyspec]\nversion = 1\nname = cards\n"
			   "key = {id}\nbuckets = 12\nfilter = %s\n",
			   filter);

	(void)bloomkey_parse(text, (size_t)len, NULL, NULL, &spec, NULL);
	return spec;
}

static void test_names(void)
{
	static const struct {
		const char *filter, *live, *base;
	} cases[] = {
		{"cards:{bucket}", "cards:07", "{cards:07}"},
		{"{{cards}}:{bucket}", "{cards}:07", "{cards}:07"},
		{"x{{cards:{bucket}}}", "x{cards:07}", "x{cards:07}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bloomkey_spec *spec = spec_of(cases[i].filter);
		char want[KEYS_MAX];
		struct keys k;

		REQUIRE(spec != NULL);
		keys_of(spec, 7, ID, &k);
		CHECK_STR(k.filter, cases[i].live);
		(void)snprintf(want, sizeof(want), "%s:bloomctl",
			       cases[i].base);
		CHECK_STR(k.state, want);
		(void)snprintf(want, sizeof(want), "%s:bloomctl:" ID,
			       cases[i].base);
		CHECK_STR(k.shadow, want);
		(void)snprintf(want, sizeof(want), "%s:bloomctl:" ID ":state",
			       cases[i].base);
		CHECK_STR(k.shadow_state, want);
		CHECK(keys_slot(k.filter) == keys_slot(k.state));
		CHECK(keys_slot(k.filter) == keys_slot(k.shadow));
		CHECK(keys_slot(k.filter) == keys_slot(k.shadow_state));
		keys_of(spec, 7, NULL, &k);
		CHECK_STR(k.shadow, "");
		bloomkey_free(spec);
	}
}

static void test_of_set(void)
{
	char key[KEYS_MAX];

	keys_of_set("cards-0a1b2c3d", "lock", NULL, key);
	CHECK_STR(key, "bloomctl:{cards-0a1b2c3d}:lock");
	keys_of_set("cards-0a1b2c3d", "manifest", ID, key);
	CHECK_STR(key, "bloomctl:{cards-0a1b2c3d}:manifest:" ID);
}

/* The longest that a keyspec allows has room for everything behind it. */
static void test_longest(void)
{
	char filter[BLOOMKEY_FILTER_MAX + 1];
	struct bloomkey_spec *spec;
	struct keys k;

	memset(filter, 'x', sizeof(filter));
	(void)snprintf(filter + BLOOMKEY_FILTER_MAX - 8, 9, "{bucket}");
	filter[BLOOMKEY_FILTER_MAX] = '\0';
	spec = spec_of(filter);
	REQUIRE(spec != NULL);
	keys_of(spec, 11, ID, &k);
	CHECK(strlen(k.filter) == BLOOMKEY_FILTER_MAX - 6);
	CHECK(strlen(k.shadow_state) ==
	      strlen(k.filter) + strlen("{}:bloomctl:" ID ":state"));
	CHECK(strcmp(k.shadow_state + strlen(k.shadow_state) - 6, ":state") ==
	      0);
	bloomkey_free(spec);
}

/* Of the cluster specification, and of redis-cli CLUSTER KEYSLOT. */
static void test_slots(void)
{
	CHECK(keys_slot("123456789") == 12739);
	CHECK(keys_slot("foo") == 12182);
	CHECK(keys_slot("{foo}:bar") == 12182);
	CHECK(keys_slot("a{foo}b{bar}") == 12182);
	CHECK(keys_slot("foo{}{bar}") == 8363);
	CHECK(keys_slot("foo{{bar}}zap") == keys_slot("{bar"));
	CHECK(keys_slot("") == 0);
}

int main(void)
{
	UNIT(test_names, "keys: those of a bucket lie in one slot");
	UNIT(test_of_set, "keys: those of a set lie in another");
	UNIT(test_longest, "keys: the longest filter's name leaves room");
	UNIT(test_slots, "keys: slots are those of the cluster specification");
	return unit_end();
}
