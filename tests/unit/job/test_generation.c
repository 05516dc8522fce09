/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/generation.h"

#include "tests/unit/job/job.h"

/* One generation of each state, the newest first: 7 is building, and so on. */
static void put_all(struct fake *f)
{
	fake_there(f, ID_3, MANIFEST_LIVE, few_keys);
	fake_there(f, ID_1, MANIFEST_OLD, few_keys);
	fake_there(f, ID_2, MANIFEST_COMPLETE, few_keys);
	fake_there(f, ID_4, MANIFEST_COMPLETE, few_keys);
	(void)strcpy(fake_there(f, ID_5, MANIFEST_BROKEN, few_keys)->m.broken,
		     "its manifest is damaged");
	fake_there(f, ID_6, MANIFEST_ABORTED, few_keys);
	fake_there(f, ID_7, MANIFEST_BUILDING, few_keys);
}

static void are_found(void)
{
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct error err = ERROR_INIT;
	struct generations g;
	struct fake f;

	fake_init(&f, spec);
	put_all(&f);
	REQUIRE(generations_read(&f.base, &g, &err) == 0);
	CHECK_U64(g.count, 7);
	CHECK_STR(g.list[0].generation, ID_7);
	CHECK_STR(generations_live(&g)->generation, ID_3);
	CHECK_STR(generations_newest(&g, MANIFEST_COMPLETE)->generation, ID_4);
	CHECK_STR(generations_find(&g, ID_1)->generation, ID_1);
	CHECK(generations_find(&g, "20260101T000000Z-0009") == NULL);
	generations_release(&g);
	CHECK(g.list == NULL && g.count == 0);
	generations_release(&g);
	fake_done(&f);
	bloomkey_free(spec);
}

static void a_list_that_fails(void)
{
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct error err = ERROR_INIT;
	struct generations g;
	struct fake f;

	fake_init(&f, spec);
	f.fail_at[FAKE_LIST] = 1;
	CHECK(generations_read(&f.base, &g, &err) == -1);
	CHECK_U64(err.code, ERROR_RIGHTS);
	generations_release(&g);
	fake_done(&f);
	bloomkey_free(spec);
}

struct choice {
	const char *id;     /* NULL: the live one */
	const char *chosen; /* NULL: none */
	enum error_code code;
	const char *text;
};

static void choose(const struct generations *g, const struct choice *c)
{
	struct error err = ERROR_INIT;
	struct manifest *m = generations_choose(g, c->id, "s-1", "P", &err);

	CHECK((m != NULL) == (c->chosen != NULL));
	if (m != NULL && c->chosen != NULL) {
		CHECK_STR(m->generation, c->chosen);
		return;
	}
	CHECK_U64(err.code, c->code);
	CHECK_STR(err.text, c->text);
}

static void are_chosen(void)
{
	static const struct choice choices[] = {
		{NULL, ID_3, ERROR_NONE, NULL},
		{ID_1, ID_1, ERROR_NONE, NULL},
		{ID_2, ID_2, ERROR_NONE, NULL},
		{ID_3, ID_3, ERROR_NONE, NULL},
		{ID_4, ID_4, ERROR_NONE, NULL},
		{ID_5, NULL, ERROR_DATA,
		 "generation '" ID_5 "': its manifest is damaged"},
		{ID_6, NULL, ERROR_GENERATION,
		 "generation '" ID_6 "': aborted, not complete"},
		{ID_7, NULL, ERROR_GENERATION,
		 "generation '" ID_7 "': building, not complete"},
		{"x", NULL, ERROR_GENERATION,
		 "set 's-1': no generation 'x' in P"},
	};
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct error err = ERROR_INIT;
	struct generations g;
	struct fake f;

	fake_init(&f, spec);
	put_all(&f);
	REQUIRE(generations_read(&f.base, &g, &err) == 0);
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		choose(&g, &choices[i]);
	generations_release(&g);
	fake_done(&f);
	bloomkey_free(spec);
}

static void none_is_chosen(void)
{
	static const struct choice no_set[] = {
		{NULL, NULL, ERROR_SOURCE, "set 's-1': not in P"},
		{ID_1, NULL, ERROR_SOURCE, "set 's-1': not in P"},
	};
	static const struct choice not_live = {
		NULL, NULL, ERROR_GENERATION,
		"set 's-1': no live generation in P"};
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct error err = ERROR_INIT;
	struct generations g;
	struct fake f;

	fake_init(&f, spec);
	REQUIRE(generations_read(&f.base, &g, &err) == 0);
	choose(&g, &no_set[0]);
	choose(&g, &no_set[1]);
	generations_release(&g);
	fake_there(&f, ID_1, MANIFEST_COMPLETE, few_keys);
	REQUIRE(generations_read(&f.base, &g, &err) == 0);
	choose(&g, &not_live);
	generations_release(&g);
	fake_done(&f);
	bloomkey_free(spec);
}

static void other_keyspecs(void)
{
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct bloomkey_spec *other = job_spec(JOB_PLAIN_KEYSPEC);
	struct error err = ERROR_INIT;
	struct fake_generation *g;
	struct fake f;

	fake_init(&f, spec);
	g = fake_there(&f, ID_1, MANIFEST_LIVE, few_keys);
	CHECK(generation_check(&g->m, spec, &err) == 0);
	CHECK(generation_check(&g->m, other, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK(strstr(err.text, "generation '" ID_1 "': ") == err.text);
	g->m.buckets--;
	err.code = ERROR_NONE;
	CHECK(generation_check(&g->m, spec, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	g->m.buckets++;
	fake_done(&f);
	bloomkey_free(spec);
	bloomkey_free(other);
}

int main(void)
{
	UNIT(are_found, "generation: they are found by state and by id");
	UNIT(a_list_that_fails, "generation: a list that fails is told");
	UNIT(are_chosen, "generation: only whole ones are chosen");
	UNIT(none_is_chosen,
	     "generation: no set and nothing live are told apart");
	UNIT(other_keyspecs, "generation: one of another keyspec is refused");
	return unit_end();
}
