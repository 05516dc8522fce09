/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/finding.h"

#include "tests/unit/unit.h"

static void the_worst(void)
{
	struct error err = {ERROR_SPACE, "no room", "make some"};
	struct findings f = {NULL, 0, false};

	CHECK(findings_worst(&f) == NULL);
	findings_add(&f, FINDING_OK, "a", NULL, "%d", 1);
	CHECK_STR(findings_worst(&f)->what, "a");
	CHECK_STR(findings_worst(&f)->remedy, "");
	findings_add(&f, FINDING_WARNING, "b", "do it", "%d", 2);
	CHECK_U64(findings_worst(&f)->code, ERROR_NONE);
	findings_add_error(&f, "c", &err);
	findings_add(&f, FINDING_ERROR, "d", NULL, "later");
	CHECK_STR(findings_worst(&f)->what, "c");
	CHECK_U64(findings_worst(&f)->code, ERROR_SPACE);
	CHECK_STR(findings_worst(&f)->evidence, "no room");
	CHECK_STR(findings_worst(&f)->remedy, "make some");
	CHECK_U64(f.list[3].code, ERROR_DATA);
	CHECK(findings_end(&f, &err) == 0);
	f.failed = true;
	CHECK(findings_end(&f, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERNAL);
	findings_release(&f);
	CHECK(f.list == NULL && f.count == 0);
}

struct state_case {
	enum manifest_state state;
	enum manifest_state recorded;
	bool linked;
	const char *locked_by;
	const char *evidence; /* NULL: nothing is wrong */
};

static void generations(void)
{
	static const struct state_case cases[] = {
		{MANIFEST_LIVE, MANIFEST_LIVE, true, "", NULL},
		{MANIFEST_LIVE, MANIFEST_COMPLETE, true, "", "not finished"},
		{MANIFEST_OLD, MANIFEST_OLD, false, "", NULL},
		{MANIFEST_OLD, MANIFEST_LIVE, false, "", "not finished"},
		{MANIFEST_COMPLETE, MANIFEST_COMPLETE, false, "", NULL},
		{MANIFEST_BUILDING, MANIFEST_BUILDING, false, "", "died"},
		{MANIFEST_BUILDING, MANIFEST_BUILDING, false, "build", NULL},
		{MANIFEST_ABORTED, MANIFEST_ABORTED, false, "", "failed"},
		{MANIFEST_BROKEN, MANIFEST_BROKEN, false, "", "lost: why"},
		{MANIFEST_BROKEN, MANIFEST_BROKEN, true, "", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct manifest m = {.generation = "ID",
				     .state = cases[i].state,
				     .recorded = cases[i].recorded,
				     .linked = cases[i].linked,
				     .broken = "why"};
		struct generations g = {&m, 1};
		struct findings f = {NULL, 0, false};

		findings_of_generations(&f, &g, cases[i].locked_by);
		CHECK_U64(f.count, cases[i].evidence != NULL);
		if (f.count == 1 && cases[i].evidence != NULL) {
			CHECK_U64(f.list[0].level, FINDING_WARNING);
			CHECK_STR(f.list[0].what, "generation 'ID'");
			CHECK(strstr(f.list[0].evidence, cases[i].evidence) !=
			      NULL);
			CHECK(f.list[0].remedy[0] != '\0');
		}
		findings_release(&f);
	}
}

static void nodes(void)
{
	static const struct store_node list[] = {
		{.name = "a", .policy = "noeviction"},
		{.name = "b", .policy = "allkeys-lfu", .evicts = true},
		{.name = "c", .replica = true},
	};
	struct findings f = {NULL, 0, false};

	findings_of_nodes(&f, list, 3);
	REQUIRE(f.count == 2);
	CHECK_STR(f.list[0].what, "server 'b'");
	CHECK(strstr(f.list[0].evidence, "allkeys-lfu") != NULL);
	CHECK_STR(f.list[1].what, "server 'c'");
	CHECK(strstr(f.list[1].evidence, "replica") != NULL);
	findings_release(&f);
}

int main(void)
{
	UNIT(the_worst, "finding: the first of the worst level, and its code");
	UNIT(generations, "finding: what a generation's states say");
	UNIT(nodes, "finding: servers that evict, and replicas");
	return unit_end();
}
