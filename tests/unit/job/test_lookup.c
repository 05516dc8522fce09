/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/lookup.h"

#include "tests/unit/job/job.h"

struct work {
	struct bloomkey_spec *spec;
	struct fake f;
	struct fake_generation *g;
	struct lookup_report report;
	struct error err;
};

/* A live generation with the sentinel in every filter and "in" in filter 2. */
static void begin(struct work *w, const char *keyspec)
{
	uint64_t added[FAKE_BUCKETS] = {0};
	struct image_ring *ring;
	const void *sentinel;
	size_t len;

	memset(w, 0, sizeof(*w));
	w->spec = job_spec(keyspec);
	fake_init(&w->f, w->spec);
	w->g = fake_there(&w->f, ID_2, MANIFEST_LIVE, few_keys);
	ring = image_ring_new(&w->g->image, added);
	len = bloomkey_sentinel(w->spec, &sentinel);
	for (uint32_t b = 0; len > 0 && b < FAKE_BUCKETS; b++)
		image_ring_add(ring, b, sentinel, len);
	image_ring_add(ring, 2, "in", 2);
	image_ring_flush(ring);
	image_ring_free(ring);
}

static int run(struct work *w, const char *id, uint32_t bucket, const char *key)
{
	return lookup_run(&w->f.base, w->spec, id, bucket, key, strlen(key),
			  &w->report, &w->err);
}

static void end(struct work *w)
{
	CHECK_U64(w->f.calls[FAKE_LOCK], 0);
	fake_done(&w->f);
	bloomkey_free(w->spec);
}

static void in_and_out(void)
{
	for (int late = 0; late < 2; late++) {
		for (int plain = 0; plain < 2; plain++) {
			struct work w;

			begin(&w, plain ? JOB_PLAIN_KEYSPEC : JOB_KEYSPEC);
			w.f.late = late;
			CHECK(run(&w, NULL, 2, "in") == 0);
			CHECK(w.report.found);
			CHECK_STR(w.report.generation, ID_2);
			CHECK_U64(w.report.state, MANIFEST_LIVE);
			/* 10 keys, and with a sentinel one more, of 100. */
			CHECK(w.report.error_now ==
			      layout_error_at(&w.g->image.params,
					      plain ? 10 : 11));
			CHECK(run(&w, NULL, 2, "out") == 0);
			CHECK(!w.report.found);
			CHECK(run(&w, NULL, 1, "in") == 0);
			CHECK(!w.report.found);
			CHECK_U64(w.f.calls[FAKE_ASK], plain ? 3 : 6);
			end(&w);
		}
	}
}

static void no_sentinel_no_answer(void)
{
	struct work w;

	begin(&w, JOB_KEYSPEC);
	memset(image_bucket(&w.g->image, 2), 0, w.g->image.params.bytes);
	CHECK(run(&w, NULL, 2, "in") == -1);
	CHECK_U64(w.err.code, ERROR_VERIFY);
	CHECK(strstr(w.err.text, "bucket 2: the sentinel is not in it") !=
	      NULL);
	CHECK(run(&w, NULL, 1, "in") == 0);
	end(&w);
}

static void which_generation(void)
{
	static const struct {
		const char *id;
		enum error_code code;
	} cases[] = {
		{ID_1, ERROR_NONE},       {ID_3, ERROR_NONE},
		{ID_4, ERROR_GENERATION}, {ID_5, ERROR_GENERATION},
		{ID_6, ERROR_DATA},       {ID_7, ERROR_GENERATION},
	};
	struct work w;

	begin(&w, JOB_PLAIN_KEYSPEC);
	fake_there(&w.f, ID_1, MANIFEST_OLD, few_keys);
	fake_there(&w.f, ID_3, MANIFEST_COMPLETE, few_keys);
	fake_there(&w.f, ID_4, MANIFEST_BUILDING, few_keys);
	fake_there(&w.f, ID_5, MANIFEST_ABORTED, few_keys);
	fake_there(&w.f, ID_6, MANIFEST_BROKEN, few_keys);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		w.err.code = ERROR_NONE;
		CHECK(run(&w, cases[i].id, 0, "x") ==
		      (cases[i].code == ERROR_NONE ? 0 : -1));
		CHECK_U64(w.err.code, cases[i].code);
		if (cases[i].code == ERROR_NONE)
			CHECK_STR(w.report.generation, cases[i].id);
	}
	w.g->m.fingerprint[0] ^= 1;
	CHECK(run(&w, NULL, 0, "x") == -1);
	CHECK_U64(w.err.code, ERROR_DATA);
	end(&w);
}

static void an_empty_set(void)
{
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct lookup_report report;
	struct error err = ERROR_INIT;
	struct fake f;

	fake_init(&f, spec);
	CHECK(lookup_run(&f.base, spec, NULL, 0, "x", 1, &report, &err) == -1);
	CHECK_U64(err.code, ERROR_SOURCE);
	CHECK(strstr(err.text, "not in fake:place") != NULL);
	fake_done(&f);
	bloomkey_free(spec);
}

static void a_damaged_filter(void)
{
	struct work w;

	begin(&w, JOB_KEYSPEC);
	w.g->damaged[2] = true;
	CHECK(run(&w, NULL, 2, "in") == -1);
	CHECK_U64(w.err.code, ERROR_DATA);
	CHECK(run(&w, NULL, 1, "in") == 0);
	end(&w);
}

static void faults(void)
{
	static const enum fake_op ops[] = {FAKE_FACTS,    FAKE_LIST, FAKE_INFO,
					   FAKE_PROBE,    FAKE_ASK,  FAKE_ASK,
					   FAKE_ASK_FLUSH};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct work w;

		begin(&w, JOB_KEYSPEC);
		w.f.fail_at[ops[i]] = i == 5 ? 2 : 1;
		CHECK(run(&w, NULL, 2, "in") == -1);
		CHECK_U64(w.err.code, ERROR_RIGHTS);
		end(&w);
	}
}

int main(void)
{
	UNIT(in_and_out, "lookup: a key is maybe there, or certainly not");
	UNIT(no_sentinel_no_answer,
	     "lookup: without its sentinel none answers");
	UNIT(which_generation, "lookup: it is the live one or the one named");
	UNIT(an_empty_set, "lookup: a set that is not there is told");
	UNIT(a_damaged_filter, "lookup: a damaged filter is no answer");
	UNIT(faults, "lookup: faults of the store are told");
	return unit_end();
}
