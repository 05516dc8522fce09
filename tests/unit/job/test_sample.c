/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/sample.h"

#include "lib/filter/sizing.h"
#include "tests/unit/job/job.h"

#define OFFERS 1000

static void few_are_all_kept(void)
{
	struct sample s;
	char key[32];

	sample_init(&s, 1);
	for (uint32_t i = 0; i < SAMPLE_KEYS; i++) {
		CHECK_U64(s.count, i);
		sample_offer(&s, i % 7, key,
			     (size_t)sprintf(key, "%" PRIu32, i));
	}
	CHECK_U64(s.count, SAMPLE_KEYS);
	CHECK_U64(s.seen, SAMPLE_KEYS);
	for (uint32_t i = 0; i < SAMPLE_KEYS; i++) {
		CHECK_U64(s.keys[i].bucket, i % 7);
		CHECK_U64(s.keys[i].len, (uint64_t)sprintf(key, "%u", i));
		CHECK(memcmp(s.keys[i].key, key, s.keys[i].len) == 0);
	}
}

static void long_keys_are_left_out(void)
{
	static const char key[SAMPLE_LEN + 1] = {0};
	struct sample s;

	sample_init(&s, 1);
	sample_offer(&s, 0, key, SAMPLE_LEN + 1);
	CHECK_U64(s.seen, 0);
	CHECK_U64(s.count, 0);
	sample_offer(&s, 0, key, SAMPLE_LEN);
	sample_offer(&s, 0, key, 0);
	CHECK_U64(s.count, 2);
	CHECK_U64(s.keys[0].len, SAMPLE_LEN);
	CHECK_U64(s.keys[1].len, 0);
}

/* Each of 1,000 keys is kept in 64 of 1,000 runs; chi-squared over tenths. */
static void it_is_uniform(void)
{
	uint64_t tenth[10] = {0};
	double chi = 0;

	for (uint64_t seed = 0; seed < 500; seed++) {
		struct sample s;

		sample_init(&s, seed * UINT64_C(0x9E3779B97F4A7C15));
		for (uint32_t i = 0; i < OFFERS; i++)
			sample_offer(&s, i, &i, sizeof(i));
		CHECK_U64(s.count, SAMPLE_KEYS);
		CHECK_U64(s.seen, OFFERS);
		for (unsigned k = 0; k < s.count; k++)
			tenth[s.keys[k].bucket / (OFFERS / 10)]++;
	}
	for (unsigned i = 0; i < 10; i++) {
		double expected = 500.0 * SAMPLE_KEYS / 10;
		double d = (double)tenth[i] - expected;

		chi += d * d / expected;
	}
	/* Of 9 degrees of freedom: exceeded once in 10,000 times. */
	CHECK(chi < 33.72);
}

static void random_numbers(void)
{
	/* The first of splitmix64 with seed 1234567, of its reference. */
	uint64_t state = 1234567;

	CHECK_U64(sample_random(&state), UINT64_C(6457827717110365317));
	CHECK_U64(sample_random(&state), UINT64_C(3203168211198807973));
	CHECK_U64(sample_random(&state), UINT64_C(9817491932198370423));
}

/* A generation with some members in it, written through the store. */
struct set {
	struct bloomkey_spec *spec;
	struct fake f;
	struct fake_generation *g;
	struct sample sample;
};

static void set_begin(struct set *set, const char *keyspec, bool lose_sentinel,
		      unsigned lose_every)
{
	static const uint64_t keys[FAKE_BUCKETS] = {0};
	struct error err = ERROR_INIT;
	struct writer *w;
	const void *sentinel;
	size_t len;
	char key[32];

	set->spec = job_spec(keyspec);
	fake_init(&set->f, set->spec);
	set->g = fake_there(&set->f, ID_1, MANIFEST_COMPLETE, keys);
	set->f.reserved = set->g;
	set->f.lose_every = lose_every;
	sample_init(&set->sample, 5);
	if (set->f.base.ops->writer(&set->f.base, &w, &err) != 0)
		abort();
	len = bloomkey_sentinel(set->spec, &sentinel);
	for (uint32_t b = 0; !lose_sentinel && b < FAKE_BUCKETS && len > 0; b++)
		image_ring_add(((struct fake_writer *)w)->ring, b, sentinel,
			       len);
	for (unsigned i = 0; i < 200; i++) {
		uint32_t b;

		len = (size_t)sprintf(key, "k:%u", i);
		b = bloomkey_bucket(set->spec, key, len, NULL);
		w->ops->add(w, b, key, len, &err);
		sample_offer(&set->sample, b, key, len);
	}
	w->ops->flush(w, &err);
	w->ops->close(w);
}

static void set_end(struct set *set)
{
	fake_done(&set->f);
	bloomkey_free(set->spec);
}

static int ask_members(struct set *set, struct error *err)
{
	return sample_members(&set->f.base, &set->g->m, set->spec, &set->sample,
			      1, err);
}

static void members_are_found(void)
{
	for (int late = 0; late < 2; late++) {
		struct error err = ERROR_INIT;
		struct set set;

		set_begin(&set, JOB_KEYSPEC, false, 0);
		set.f.late = late;
		CHECK(ask_members(&set, &err) == 0);
		CHECK_U64(set.f.calls[FAKE_ASK], FAKE_BUCKETS + SAMPLE_KEYS);
		CHECK_U64(set.f.calls[FAKE_ASK_FLUSH], 1);
		set_end(&set);
	}
}

static void lost_members_are_missed(void)
{
	for (int late = 0; late < 2; late++) {
		struct error err = ERROR_INIT;
		struct set set;

		set_begin(&set, JOB_KEYSPEC, false, 2);
		set.f.late = late;
		CHECK(ask_members(&set, &err) == -1);
		CHECK_U64(err.code, ERROR_VERIFY);
		CHECK(strncmp(err.text, "generation '" ID_1 "': bucket ", 42) ==
		      0);
		CHECK(strstr(err.text, " members that were added are not "
				       "found") != NULL);
		set_end(&set);
	}
}

static void a_lost_sentinel_is_missed(void)
{
	struct error err = ERROR_INIT;
	struct set set;

	set_begin(&set, JOB_KEYSPEC, true, 0);
	set.sample.count = 0;
	CHECK(ask_members(&set, &err) == -1);
	CHECK_U64(err.code, ERROR_VERIFY);
	CHECK(strstr(err.text, "bucket 0: 4 members") != NULL);
	set_end(&set);
}

static void without_a_sentinel(void)
{
	struct error err = ERROR_INIT;
	struct set set;

	set_begin(&set, JOB_PLAIN_KEYSPEC, false, 0);
	CHECK(ask_members(&set, &err) == 0);
	CHECK_U64(set.f.calls[FAKE_ASK], SAMPLE_KEYS);
	set_end(&set);
}

static int ask_absent(struct set *set, uint64_t n, uint64_t *hits,
		      struct error *err)
{
	return sample_absent(&set->f.base, &set->g->m, set->spec, n, 17, hits,
			     NULL, err);
}

/* How many of 5000 may be found. */
static uint64_t limit_of(const struct set *set)
{
	return sizing_binomial(
		5000, sample_allowed(&set->g->image.params, set->g->m.error),
		SIZING_RISK);
}

static void absent_ones_are_rare(void)
{
	struct error err = ERROR_INIT;
	uint64_t hits = 99;
	struct set set;

	set_begin(&set, JOB_KEYSPEC, false, 0);
	CHECK(ask_absent(&set, 5000, &hits, &err) == 0);
	CHECK_U64(set.f.calls[FAKE_ASK], 5000);
	CHECK(hits <= limit_of(&set));
	set_end(&set);
}

static void one_too_many_is_refused(void)
{
	struct error err = ERROR_INIT;
	uint64_t hits, again;
	struct set set;

	/* So full that some are found; the error rate is chosen around that. */
	set_begin(&set, JOB_KEYSPEC, false, 0);
	for (size_t i = 0; i < set.g->image.size; i += 2)
		set.g->image.bits[i] = 0xff;
	set.g->m.error = 0.5;
	REQUIRE(ask_absent(&set, 5000, &hits, &err) == 0);
	REQUIRE(hits > 50);
	/* The smallest rate whose limit is not exceeded, and one below it. */
	while (limit_of(&set) >= hits)
		set.g->m.error *= 0.999;
	CHECK(ask_absent(&set, 5000, &again, &err) == -1);
	CHECK_U64(again, hits);
	CHECK_U64(err.code, ERROR_VERIFY);
	CHECK(strstr(err.text, "of 5000 random non-members are found") != NULL);
	while (limit_of(&set) < hits)
		set.g->m.error *= 1.00001;
	CHECK_U64(limit_of(&set), hits);
	CHECK(ask_absent(&set, 5000, &again, &err) == 0);
	set_end(&set);
}

static void faults_of_the_store(void)
{
	static const enum fake_op ops[] = {FAKE_PROBE, FAKE_ASK,
					   FAKE_ASK_FLUSH};

	for (size_t i = 0; i < 3; i++) {
		struct error err = ERROR_INIT;
		uint64_t hits;
		struct set set;

		set_begin(&set, JOB_KEYSPEC, false, 2);
		set.f.fail_at[ops[i]] = 1;
		CHECK(ask_members(&set, &err) == -1);
		CHECK_U64(err.code, ERROR_RIGHTS);
		set.f.fail_at[ops[i]] = set.f.calls[ops[i]] + 1;
		err.code = ERROR_NONE;
		CHECK(ask_absent(&set, 10, &hits, &err) == -1);
		CHECK_U64(err.code, ERROR_RIGHTS);
		set_end(&set);
	}
}

int main(void)
{
	UNIT(few_are_all_kept, "sample: the first keys are all kept");
	UNIT(long_keys_are_left_out, "sample: keys over the length are not");
	UNIT(it_is_uniform, "sample: early and late keys are kept alike");
	UNIT(random_numbers, "sample: random numbers are splitmix64's");
	UNIT(members_are_found, "sample: members that are there are found");
	UNIT(lost_members_are_missed, "sample: lost members are missed");
	UNIT(a_lost_sentinel_is_missed, "sample: a lost sentinel is missed");
	UNIT(without_a_sentinel,
	     "sample: without a sentinel none is asked for");
	UNIT(absent_ones_are_rare, "sample: non-members are rarely found");
	UNIT(one_too_many_is_refused,
	     "sample: one non-member over the limit is refused");
	UNIT(faults_of_the_store, "sample: faults of the store are told");
	return unit_end();
}
