/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/inspect.h"

#include "lib/base/clock.h"
#include "tests/unit/job/job.h"

static const uint64_t skewed[FAKE_BUCKETS] = {10, 40, 20, 30};

struct work {
	struct bloomkey_spec *spec;
	struct fake f;
	struct fake_generation *g;
	struct inspect_report r;
	struct error err;
};

static void begin(struct work *w)
{
	memset(w, 0, sizeof(*w));
	w->spec = job_spec(JOB_PLAIN_KEYSPEC);
	fake_init(&w->f, w->spec);
	fake_there(&w->f, ID_1, MANIFEST_OLD, few_keys);
	w->g = fake_there(&w->f, ID_2, MANIFEST_LIVE, skewed);
	fake_there(&w->f, ID_3, MANIFEST_COMPLETE, few_keys);
}

static int run(struct work *w, const char *id)
{
	return inspect_run(&w->f.base, w->spec, id, &w->r, &w->err);
}

static void end(struct work *w)
{
	CHECK_U64(w->f.calls[FAKE_LOCK], 0);
	inspect_report_release(&w->r);
	CHECK(w->r.buckets == NULL && w->r.m == NULL);
	inspect_report_release(&w->r);
	fake_done(&w->f);
	bloomkey_free(w->spec);
}

static bool close_to(double a, double b)
{
	return fabs(a - b) < 1e-12;
}

static void the_live_one(void)
{
	char set[NAMES_SET_MAX];
	struct work w;

	begin(&w);
	w.f.held = "build of pid 7";
	/* Bucket 1: half of its bits. */
	memset(image_bucket(&w.g->image, 1), 0x0f, w.g->image.params.bytes);
	REQUIRE(run(&w, NULL) == 0);
	names_set(w.spec, set);
	CHECK_STR(w.r.set, set);
	CHECK_STR(w.r.place, "fake:place");
	CHECK_STR(w.r.locked_by, "build of pid 7");
	CHECK_U64(w.r.generations.count, 3);
	CHECK_STR(w.r.m->generation, ID_2);
	CHECK_U64(w.r.bad, 0);
	CHECK_U64(w.r.bytes, 4 * (1000 + w.g->image.params.bytes));
	CHECK(close_to(w.r.fill_min, 0.1));
	CHECK(close_to(w.r.fill_median, 0.25));
	CHECK(close_to(w.r.fill_max, 0.4));
	CHECK_U64(w.r.fullest, 1);
	CHECK(close_to(w.r.skew, 40.0 / 25));
	for (uint32_t b = 0; b < FAKE_BUCKETS; b++) {
		CHECK_U64(w.r.buckets[b].bucket, b);
		CHECK_U64(w.r.buckets[b].items, skewed[b]);
		CHECK_U64(w.r.buckets[b].keys, skewed[b]);
		CHECK_U64(w.r.buckets[b].bytes, 1000 + w.g->image.params.bytes);
	}
	/* By its bits, and not by what the counts would make likely. */
	CHECK(close_to(w.r.buckets[0].error_now, 0));
	CHECK(close_to(w.r.buckets[1].error_now,
		       pow(0.5, w.g->image.params.hashes)));
	CHECK(close_to(w.r.error_now, w.r.buckets[1].error_now / 4));
	end(&w);
}

static void the_one_named(void)
{
	struct work w;

	begin(&w);
	CHECK(run(&w, ID_1) == 0);
	CHECK_STR(w.r.m->generation, ID_1);
	CHECK(close_to(w.r.skew, 1));
	inspect_report_release(&w.r);
	CHECK(run(&w, ID_7) == -1);
	CHECK_U64(w.err.code, ERROR_GENERATION);
	CHECK(w.r.m == NULL);
	/* The list is there nevertheless. */
	CHECK_U64(w.r.generations.count, 3);
	end(&w);
}

static void nothing_live(void)
{
	struct work w;

	begin(&w);
	w.g->m.state = MANIFEST_ABORTED;
	CHECK(run(&w, NULL) == 0);
	CHECK(w.r.m == NULL);
	CHECK_U64(w.r.generations.count, 3);
	CHECK_U64(w.f.calls[FAKE_INFO], 0);
	inspect_report_release(&w.r);
	for (size_t i = 0; i < 3; i++)
		fake_forget(&w.f.all[i]);
	CHECK(run(&w, NULL) == -1);
	CHECK_U64(w.err.code, ERROR_SOURCE);
	end(&w);
}

static void no_keys_no_skew(void)
{
	static const uint64_t none[FAKE_BUCKETS] = {0};
	struct work w;

	begin(&w);
	fake_there(&w.f, ID_4, MANIFEST_COMPLETE, none);
	CHECK(run(&w, ID_4) == 0);
	CHECK(close_to(w.r.skew, 1));
	CHECK(close_to(w.r.fill_max, 0));
	end(&w);
}

static void bad_filters(void)
{
	struct work w;

	begin(&w);
	w.g->damaged[1] = true;
	CHECK(run(&w, NULL) == -1);
	CHECK_U64(w.err.code, ERROR_DATA);
	CHECK_STR(w.err.text, "filter 1: damaged");
	CHECK(strstr(w.err.hint, "pass through") != NULL);
	CHECK_U64(w.r.bad, 1);
	CHECK(w.r.buckets[1].bad);
	CHECK_STR(w.r.buckets[1].why, "filter 1: damaged");
	/* The figures are those of the others. */
	CHECK_U64(w.r.fullest, 3);
	CHECK(close_to(w.r.fill_median, 0.2));
	CHECK(close_to(w.r.fill_max, 0.3));
	CHECK(close_to(w.r.skew, 30.0 / 20));
	CHECK_U64(w.r.bytes, 3 * (1000 + w.g->image.params.bytes));
	inspect_report_release(&w.r);
	w.g->damaged[3] = true;
	CHECK(run(&w, NULL) == -1);
	CHECK_STR(w.err.text, "2 of 4 filters are bad, the first: filter 1: "
			      "damaged");
	CHECK_U64(w.r.bad, 2);
	CHECK(close_to(w.r.fill_median, 0.15));
	inspect_report_release(&w.r);
	w.g->damaged[0] = w.g->damaged[2] = true;
	CHECK(run(&w, NULL) == -1);
	CHECK_U64(w.r.bad, 4);
	CHECK_U64(w.r.bytes, 0);
	CHECK(close_to(w.r.fill_max, 0));
	end(&w);
}

static bool found(const struct work *w, enum finding_level level,
		  const char *what, const char *evidence)
{
	for (size_t i = 0; i < w->r.findings.count; i++) {
		const struct finding *f = &w->r.findings.list[i];

		if (f->level == level && strcmp(f->what, what) == 0 &&
		    strstr(f->evidence, evidence) != NULL)
			return true;
	}
	return false;
}

static void of_a_server(void)
{
	static const struct store_node node = {
		.name = "redis://h:6379",
		.policy = "allkeys-lru",
		.evicts = true,
		.used = 7,
	};
	struct work w;

	begin(&w);
	w.f.server = true;
	w.f.node = &node;
	w.g->m.promoted = clock_wall_ms() - 5000;
	w.g->ttl_ms[2] = 90000;
	CHECK(run(&w, NULL) == 0);
	CHECK(w.r.server);
	CHECK(w.r.age_ms >= 5000 && w.r.age_ms < 605000);
	CHECK_U64(w.r.node_count, 1);
	CHECK_STR(w.r.nodes[0].name, node.name);
	CHECK(w.r.buckets[1].ttl_ms == -1 && w.r.buckets[2].ttl_ms == 90000);
	CHECK(w.r.buckets[3].slot == 3);
	CHECK(found(&w, FINDING_ERROR, "vanishing filters", "bucket 2"));
	CHECK(found(&w, FINDING_WARNING, "server 'redis://h:6379'",
		    "allkeys-lru"));
	CHECK_U64(w.r.findings.count, 2);
	end(&w);
}

static void each_kind_of_bad(void)
{
	struct work w;

	begin(&w);
	w.g->missing[0] = w.g->missing[1] = true;
	w.g->foreign[2] = true;
	w.g->damaged[3] = true;
	CHECK(run(&w, NULL) == -1);
	CHECK_U64(w.r.bad, 4);
	CHECK(w.r.buckets[0].missing && !w.r.buckets[0].foreign);
	CHECK(w.r.buckets[2].foreign && !w.r.buckets[2].missing);
	CHECK(!w.r.buckets[3].foreign && !w.r.buckets[3].missing);
	CHECK(found(&w, FINDING_ERROR, "missing filters",
		    "2, the first: filter 0: missing"));
	CHECK(found(&w, FINDING_ERROR, "foreign filters", "filter 2"));
	CHECK(found(&w, FINDING_ERROR, "damaged filters", "filter 3"));
	end(&w);
}

/* A server that is gone says nothing about its filters. */
static void a_server_that_is_gone(void)
{
	static const enum error_code codes[] = {
		ERROR_TEMPORARY, ERROR_UNREACHED, ERROR_RIGHTS, ERROR_INTERNAL};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct work w;

		begin(&w);
		w.f.server = true;
		w.f.fail_at[FAKE_INFO] = 2;
		w.f.fail_code = codes[i];
		CHECK(run(&w, NULL) == -1);
		CHECK_U64(w.err.code, codes[i]);
		CHECK_U64(w.r.bad, 0);
		CHECK_U64(w.f.calls[FAKE_INFO], 2);
		end(&w);
	}
}

/* Who may only read is told the rest. */
static void no_right_to_see_servers(void)
{
	struct work w;

	begin(&w);
	w.f.fail_at[FAKE_NODES] = 1;
	CHECK(run(&w, NULL) == 0);
	CHECK(found(&w, FINDING_WARNING, "servers", "nodes fails"));
	inspect_report_release(&w.r);
	w.f.fail_at[FAKE_NODES] = 2;
	w.f.fail_code = ERROR_TEMPORARY;
	CHECK(run(&w, NULL) == -1);
	CHECK_U64(w.err.code, ERROR_TEMPORARY);
	end(&w);
}

static void another_keyspec(void)
{
	struct work w;

	begin(&w);
	w.g->m.fingerprint[0] ^= 1;
	CHECK(run(&w, NULL) == -1);
	CHECK_U64(w.err.code, ERROR_DATA);
	CHECK(w.r.m == NULL);
	end(&w);
}

static void faults(void)
{
	static const enum fake_op ops[] = {FAKE_FACTS, FAKE_LOCKED_BY,
					   FAKE_LIST};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct work w;

		begin(&w);
		w.f.fail_at[ops[i]] = 1;
		CHECK(run(&w, NULL) == -1);
		CHECK_U64(w.err.code, ERROR_RIGHTS);
		end(&w);
	}
}

static void stopped(void)
{
	struct error err = ERROR_INIT;
	struct work w;

	REQUIRE(stop_init(&err) == 0);
	begin(&w);
	raise(SIGINT);
	CHECK(run(&w, NULL) == -1);
	CHECK_U64(w.err.code, ERROR_INTERRUPTED);
	end(&w);
}

static void a_stop_ends_it(void)
{
	job_fork(stopped);
}

int main(void)
{
	UNIT(the_live_one, "inspect: the live one, filter by filter");
	UNIT(the_one_named, "inspect: the one that is named");
	UNIT(nothing_live, "inspect: with nothing live there is the list");
	UNIT(no_keys_no_skew, "inspect: without keys nothing is skewed");
	UNIT(bad_filters, "inspect: bad filters are told, and the others too");
	UNIT(of_a_server, "inspect: of a server its nodes, slots and TTLs");
	UNIT(each_kind_of_bad, "inspect: missing, foreign and damaged differ");
	UNIT(a_server_that_is_gone, "inspect: a server that is gone ends it");
	UNIT(no_right_to_see_servers,
	     "inspect: servers that may not be seen are a warning");
	UNIT(another_keyspec, "inspect: another keyspec's is not looked at");
	UNIT(faults, "inspect: faults of the store are told");
	UNIT(a_stop_ends_it, "inspect: a stop ends it");
	return unit_end();
}
