/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a swap checks before anything moves.
 */
#include "tests/unit/job/swap.h"

struct size {
	const char *claim;
	uint64_t live[FAKE_BUCKETS];
	uint64_t next[FAKE_BUCKETS];
	const char *refused; /* a part of the message, or NULL */
};

static const struct size sizes[] = {
	{"as many", {100, 100, 100, 100}, {100, 100, 100, 100}, NULL},
	{"more", {1, 1, 1, 1}, {500, 500, 500, 500}, NULL},
	{"none", {0, 0, 0, 0}, {0, 0, 0, 0}, "it holds no row"},
	{"none any more", {1, 0, 0, 0}, {0, 0, 0, 0}, "it holds no row"},
	{"the first ones", {0, 0, 0, 0}, {1, 0, 0, 0}, NULL},
	/* In all: 80 %, and one row less. */
	{"80 %", {250, 250, 250, 250}, {200, 200, 200, 200}, NULL},
	{"under 80 %",
	 {250, 250, 250, 250},
	 {200, 200, 200, 199},
	 "799 rows, less than 80 % of the 1000 of the live one"},
	{"80 % of 4", {1, 1, 1, 1}, {1, 1, 1, 0}, "3 rows, less than 80 %"},
	{"80 % of 5", {2, 1, 1, 1}, {1, 1, 1, 1}, NULL},
	/* One bucket: 10,000 - 20 % - 6 * 100 = 7,400. */
	{"a bucket's least",
	 {10000, 10000, 10000, 10000},
	 {10000, 10000, 7400, 10000},
	 NULL},
	{"a bucket below it",
	 {10000, 10000, 10000, 10000},
	 {10000, 10000, 7399, 10000},
	 "bucket 2: 7399 rows, the live one has 10000"},
	/* 900 - 20 % - 6 * 30 = 540. */
	{"a small bucket's least",
	 {900, 9000, 9000, 9000},
	 {540, 9000, 9000, 9000},
	 NULL},
	{"a small bucket below it",
	 {900, 9000, 9000, 9000},
	 {539, 9000, 9000, 9000},
	 "bucket 0: 539 rows, the live one has 900"},
	/* 56 - 20 % - 6 * 7.48 is below 0, 57 - 20 % - 6 * 7.55 is not. */
	{"a tiny bucket", {56, 900, 900, 900}, {0, 900, 900, 900}, NULL},
	{"no tiny bucket any more",
	 {57, 900, 900, 900},
	 {0, 900, 900, 900},
	 "bucket 0: 0 rows, the live one has 57"},
};

static void begin_sizes(struct swapping *s, const struct size *c)
{
	swapping_begin(s);
	fake_there(&s->f, ID_1, MANIFEST_LIVE, c->live);
	fake_there(&s->f, ID_2, MANIFEST_COMPLETE, c->next);
}

static void far_fewer_rows(void)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int dry = 0; dry < 2; dry++) {
			const struct size *c = &sizes[i];
			struct swapping s;
			int rc;

			begin_sizes(&s, c);
			s.options.dry_run = dry;
			rc = swapping_run(&s);
			if ((rc == 0) != (c->refused == NULL))
				printf("# %s: %s\n", c->claim, s.err.text);
			CHECK((rc == 0) == (c->refused == NULL));
			if (rc != 0) {
				CHECK_U64(s.err.code, ERROR_GENERATION);
				CHECK(strstr(s.err.hint, "--allow-shrink") !=
				      NULL);
			}
			if (c->refused != NULL)
				CHECK(strstr(s.err.text, c->refused) != NULL);
			CHECK_STR(swapping_live(&s),
				  rc == 0 && !dry ? ID_2 : ID_1);
			swapping_end(&s);
		}
	}
}

static void allowed_to_shrink(void)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct swapping s;

		begin_sizes(&s, &sizes[i]);
		s.options.allow_shrink = true;
		CHECK(swapping_run(&s) == 0);
		CHECK_STR(swapping_live(&s), ID_2);
		swapping_end(&s);
	}
}

static void a_first_one_without_rows(void)
{
	static const uint64_t none[FAKE_BUCKETS] = {0};
	struct swapping s;

	swapping_begin(&s);
	fake_there(&s.f, ID_2, MANIFEST_COMPLETE, none);
	CHECK(swapping_run(&s) == -1);
	CHECK_U64(s.err.code, ERROR_GENERATION);
	CHECK(strstr(s.err.text, "it holds no row") != NULL);
	s.options.allow_shrink = true;
	CHECK(swapping_run(&s) == 0);
	swapping_end(&s);
}

static void back_to_fewer_rows(void)
{
	static const uint64_t many[FAKE_BUCKETS] = {9999, 9999, 9999, 9999};
	struct swapping s;

	swapping_begin(&s);
	fake_there(&s.f, ID_1, MANIFEST_OLD, few_keys);
	(void)strcpy(fake_there(&s.f, ID_2, MANIFEST_LIVE, many)->m.previous,
		     ID_1);
	s.options.rollback = true;
	CHECK(swapping_run(&s) == 0);
	CHECK_STR(swapping_live(&s), ID_1);
	swapping_end(&s);
}

static void put_two(struct swapping *s)
{
	swapping_begin(s);
	fake_there(&s->f, ID_1, MANIFEST_LIVE, few_keys);
	fake_there(&s->f, ID_2, MANIFEST_COMPLETE, few_keys);
}

static void bad_filters(void)
{
	for (uint32_t b = 0; b < FAKE_BUCKETS; b++) {
		struct swapping s;

		put_two(&s);
		s.f.all[1].damaged[b] = true;
		/* Nothing allows that. */
		s.options.allow_shrink = true;
		CHECK(swapping_run(&s) == -1);
		CHECK_U64(s.err.code, ERROR_DATA);
		CHECK_STR(swapping_live(&s), ID_1);
		CHECK_U64(s.f.calls[FAKE_PROMOTE], 0);
		swapping_end(&s);
	}
}

static void a_bad_filter_to_go_back_to(void)
{
	struct swapping s;

	swapping_begin(&s);
	fake_there(&s.f, ID_1, MANIFEST_OLD, few_keys)->damaged[3] = true;
	(void)strcpy(
		fake_there(&s.f, ID_2, MANIFEST_LIVE, few_keys)->m.previous,
		ID_1);
	s.options.rollback = true;
	CHECK(swapping_run(&s) == -1);
	CHECK_U64(s.err.code, ERROR_DATA);
	CHECK_STR(swapping_live(&s), ID_2);
	swapping_end(&s);
}

static void too_few_keys_in_a_filter(void)
{
	for (int more = 0; more < 2; more++) {
		struct swapping s;

		put_two(&s);
		s.f.all[1].keys[2] = more ? 11 : 9;
		CHECK(swapping_run(&s) == (more ? 0 : -1));
		if (!more) {
			CHECK_U64(s.err.code, ERROR_DATA);
			CHECK(strstr(s.err.text,
				     "bucket 2: it holds 9 keys, its manifest "
				     "says 10") != NULL);
		}
		CHECK_STR(swapping_live(&s), more ? ID_2 : ID_1);
		swapping_end(&s);
	}
}

static void a_filter_that_would_vanish(void)
{
	struct swapping s;

	put_two(&s);
	s.f.all[1].ttl_ms[2] = 5000;
	CHECK(swapping_run(&s) == -1);
	CHECK_U64(s.err.code, ERROR_GENERATION);
	CHECK(strstr(s.err.text, "bucket 2: it has a TTL") != NULL);
	CHECK_STR(swapping_live(&s), ID_1);
	swapping_end(&s);
}

static void another_keyspec(void)
{
	struct swapping s;

	put_two(&s);
	s.f.all[1].m.fingerprint[0] ^= 1;
	CHECK(swapping_run(&s) == -1);
	CHECK_U64(s.err.code, ERROR_DATA);
	CHECK(strstr(s.err.text, "another keyspec") != NULL);
	CHECK_STR(swapping_live(&s), ID_1);
	swapping_end(&s);
}

static void the_lock_of_another(void)
{
	for (int dry = 0; dry < 2; dry++) {
		struct swapping s;

		put_two(&s);
		s.f.held = "build of pid 7";
		s.options.dry_run = dry;
		CHECK(swapping_run(&s) == -1);
		CHECK_U64(s.err.code, ERROR_LOCKED);
		CHECK(strstr(s.err.text, "build of pid 7") != NULL);
		CHECK_STR(swapping_live(&s), ID_1);
		swapping_end(&s);
	}
}

static void faults_of_the_store(void)
{
	static const struct {
		enum fake_op op;
		unsigned at;
		enum error_code code;
		bool dry;
	} faults[] = {
		{FAKE_LOCK, 1, ERROR_RIGHTS, false},
		{FAKE_LOCKED_BY, 1, ERROR_RIGHTS, true},
		{FAKE_LIST, 1, ERROR_RIGHTS, false},
		{FAKE_INFO, 1, ERROR_DATA, false},
		{FAKE_INFO, FAKE_BUCKETS, ERROR_DATA, false},
		{FAKE_PROMOTE, 1, ERROR_SWAP, false},
		{FAKE_PROMOTE, 1, ERROR_GENERATION, false},
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct swapping s;

		put_two(&s);
		s.f.fail_at[faults[i].op] = faults[i].at;
		s.f.fail_code = faults[i].code;
		s.options.dry_run = faults[i].dry;
		CHECK(swapping_run(&s) == -1);
		CHECK_U64(s.err.code, faults[i].code);
		CHECK(s.report.m.bucket_keys == NULL);
		CHECK_STR(swapping_live(&s), ID_1);
		CHECK_U64(fake_count(&s.f), 2);
		swapping_end(&s);
	}
}

static void stopped(void)
{
	struct error err = ERROR_INIT;
	struct swapping s;

	REQUIRE(stop_init(&err) == 0);
	put_two(&s);
	raise(SIGINT);
	CHECK(swapping_run(&s) == -1);
	CHECK_U64(s.err.code, ERROR_INTERRUPTED);
	CHECK_STR(swapping_live(&s), ID_1);
	swapping_end(&s);
}

static void a_stop_moves_nothing(void)
{
	job_fork(stopped);
}

int main(void)
{
	UNIT(far_fewer_rows, "swap: far fewer rows are refused, to the row");
	UNIT(allowed_to_shrink, "swap: --allow-shrink allows it");
	UNIT(a_first_one_without_rows, "swap: a first one has rows");
	UNIT(back_to_fewer_rows, "swap: a rollback may shrink");
	UNIT(bad_filters, "swap: a damaged filter moves nothing");
	UNIT(a_bad_filter_to_go_back_to, "swap: nor does it in a rollback");
	UNIT(too_few_keys_in_a_filter, "swap: each filter took its keys");
	UNIT(a_filter_that_would_vanish, "swap: a filter with a TTL is none");
	UNIT(another_keyspec, "swap: another keyspec's generation is refused");
	UNIT(the_lock_of_another, "swap: another's lock is respected");
	UNIT(faults_of_the_store, "swap: faults of the store are told");
	UNIT(a_stop_moves_nothing, "swap: a stop moves nothing");
	return unit_end();
}
