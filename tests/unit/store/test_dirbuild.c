/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>

#include "lib/filter/image.h"
#include "tests/unit/store/scratch.h"

#define ID1 "20261130T195654Z-1a2b"

static struct bloomkey_spec *spec;
static struct store *s;
static uint64_t fence;
static uint64_t counts[10];

static int reserve(uint64_t capacity, unsigned workers, struct manifest *m)
{
	struct filter_params params;

	scratch_err.code = ERROR_NONE;
	memset(counts, 0, sizeof(counts));
	scratch_manifest(spec, ID1, capacity, fence, m, &params);
	m->bucket_keys = counts;
	return s->ops->reserve(s, m, &layout_redisbloom, &params, workers,
			       &scratch_err);
}

static int add(struct writer *w, uint32_t bucket, unsigned n)
{
	char key[16];

	(void)scratch_key(spec, n, key);
	counts[bucket]++;
	return w->ops->add(w, bucket, key, strlen(key), &scratch_err);
}

/*
 * Adds members to bucket 3 until `wanted` of them have set a bit, as a
 * server would count, or until it is full.
 */
static void fill(struct writer *w, struct filter_params *params,
		 unsigned char *bits, unsigned wanted, int *rc)
{
	uint64_t at[LAYOUT_HASHES_MAX];
	char key[16];
	unsigned set = 0;

	for (unsigned n = 0; set < wanted && *rc == 0; n++) {
		bool is_new = false;

		(void)scratch_key(spec, n, key);
		layout_redisbloom.positions(params, key, strlen(key), at);
		for (uint32_t i = 0; i < params->hashes; i++) {
			is_new = is_new || !layout_bit(bits, at[i]);
			bits[at[i] >> 3] |= (unsigned char)(1 << (at[i] & 7));
		}
		set += is_new;
		*rc = add(w, 3, n);
	}
}

/* Fills bucket 3 with the sentinel and `members`; what sealing says. */
static int filled(unsigned members, int *added, struct manifest *m)
{
	struct filter_params params;
	unsigned char bits[256] = {0};
	uint64_t at[LAYOUT_HASHES_MAX];
	const void *sentinel;
	size_t len = bloomkey_sentinel(spec, &sentinel);
	struct writer *w;

	*added = 0;
	if (reserve(100, 1, m) != 0 ||
	    s->ops->writer(s, &w, &scratch_err) != 0 ||
	    engine_size(&engines[ENGINE_REDISBLOOM], 100, 0.01, &params,
			&scratch_err) != 0)
		abort();
	layout_redisbloom.positions(&params, sentinel, len, at);
	for (uint32_t i = 0; i < params.hashes; i++)
		bits[at[i] >> 3] |= (unsigned char)(1 << (at[i] & 7));
	fill(w, &params, bits, members, added);
	/* All of them again: they set no bit, so they need no room. */
	for (unsigned n = 0; n < 50; n++)
		*added |= add(w, 3, n);
	if (*added == 0)
		*added = w->ops->flush(w, &scratch_err);
	w->ops->close(w);
	return *added;
}

static void full_is_exact(void)
{
	struct manifest m;
	struct bucket_info info;
	int added;

	CHECK(filled(99, &added, &m) == 0);
	CHECK(s->ops->seal(s, &m, &scratch_err) == 0);
	CHECK_U64(m.added, 99);
	CHECK(s->ops->info(s, &m, 3, true, &info, &scratch_err) == 0);
	CHECK_U64(info.items, 100);
	CHECK(s->ops->drop(s, ID1, &scratch_err) == 0);
	CHECK(filled(100, &added, &m) == -1);
	CHECK(scratch_err.code == ERROR_FULL);
	CHECK_STR(scratch_err.text,
		  "bucket 3 (filter 't:3'): full: capacity 100 reached");
	CHECK(strstr(scratch_err.hint, "--capacity auto") != NULL);
	CHECK(s->ops->seal(s, &m, &scratch_err) == -1);
	/* Within a few adds, and not at the end only. */
	CHECK(s->ops->drop(s, ID1, &scratch_err) == 0);
	CHECK(filled(200, &added, &m) == -1);
}

/* Two writers, neither of which sees that they fill a bucket together. */
static void full_together(void)
{
	struct manifest m;
	struct writer *w[2];

	REQUIRE(reserve(100, 2, &m) == 0);
	for (int i = 0; i < 2; i++)
		REQUIRE(s->ops->writer(s, &w[i], &scratch_err) == 0);
	for (unsigned n = 0; n < 160; n++)
		CHECK(add(w[n % 2], 7, n) == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(w[i]->ops->flush(w[i], &scratch_err) == 0);
		w[i]->ops->close(w[i]);
	}
	CHECK(s->ops->seal(s, &m, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_FULL);
	CHECK(strncmp(scratch_err.text, "bucket 7 (filter 't:7'): full: 1",
		      32) == 0);
	CHECK(strstr(scratch_err.text, "for a capacity of 100") != NULL);
	CHECK(access(scratch_path(spec, ID1 "/0.bloom"), F_OK) != 0);
}

struct work {
	pthread_t thread;
	struct writer *w;
	unsigned from;
	int rc;
};

static void *work(void *arg)
{
	struct work *k = arg;
	struct error err = ERROR_INIT;
	char key[16];

	for (unsigned n = k->from; n < k->from + 5000 && k->rc == 0; n++) {
		uint32_t bucket = scratch_key(spec, n, key);

		k->rc = k->w->ops->add(k->w, bucket, key, strlen(key), &err);
	}
	if (k->rc == 0)
		k->rc = k->w->ops->flush(k->w, &err);
	k->w->ops->close(k->w);
	return NULL;
}

static void yes(void *ctx, uint32_t bucket, const void *key, size_t len,
		bool found)
{
	(void)bucket;
	(void)key;
	(void)len;
	*(unsigned *)ctx += found;
}

static void *question(void *arg)
{
	struct probe *p = arg;
	struct error err = ERROR_INIT;
	char key[16];

	for (unsigned n = 0; n < 10000; n++) {
		uint32_t bucket = scratch_key(spec, n, key);

		if (p->ops->ask(p, bucket, key, strlen(key), &err) != 0)
			break;
	}
	return NULL;
}

static void threads(void)
{
	struct manifest m;
	struct work k[3];
	struct probe *p[2];
	pthread_t thread[2];
	unsigned found[2] = {0, 0};
	char key[16];

	REQUIRE(reserve(4000, 3, &m) == 0);
	memset(k, 0, sizeof(k));
	for (unsigned i = 0; i < 3; i++) {
		k[i].from = i * 2500;
		REQUIRE(s->ops->writer(s, &k[i].w, &scratch_err) == 0);
		for (unsigned n = k[i].from; n < k[i].from + 5000; n++)
			counts[scratch_key(spec, n, key)]++;
	}
	for (unsigned i = 0; i < 3; i++)
		CHECK(pthread_create(&k[i].thread, NULL, work, &k[i]) == 0);
	for (unsigned i = 0; i < 3; i++) {
		(void)pthread_join(k[i].thread, NULL);
		CHECK(k[i].rc == 0);
	}
	CHECK(s->ops->seal(s, &m, &scratch_err) == 0);
	for (unsigned i = 0; i < 2; i++) {
		REQUIRE(s->ops->probe(s, &m, yes, &found[i], &p[i],
				      &scratch_err) == 0);
		CHECK(pthread_create(&thread[i], NULL, question, p[i]) == 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		(void)pthread_join(thread[i], NULL);
		CHECK_U64(found[i], 10000);
		p[i]->ops->close(p[i]);
	}
}

static void nothing_is_lost(void)
{
	struct manifest m;
	struct writer *w;

	CHECK(s->ops->writer(s, &w, &scratch_err) == -1);
	REQUIRE(reserve(100, 1, &m) == 0);
	REQUIRE(s->ops->writer(s, &w, &scratch_err) == 0);
	CHECK(add(w, 1, 1) == 0);
	CHECK(s->ops->seal(s, &m, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
	w->ops->close(w);
	CHECK(s->ops->seal(s, &m, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
	CHECK(s->ops->drop(s, ID1, &scratch_err) == 0);
	REQUIRE(reserve(100, 1, &m) == 0);
	REQUIRE(s->ops->writer(s, &w, &scratch_err) == 0);
	CHECK(add(w, 1, 1) == 0);
	CHECK(w->ops->flush(w, &scratch_err) == 0);
	w->ops->close(w);
	counts[1]++;
	CHECK(s->ops->seal(s, &m, &scratch_err) == -1);
	CHECK(strstr(scratch_err.text, "2 keys counted, 1 sent") != NULL);
}

static void reserve_leaves_nothing(void)
{
	struct manifest m;
	struct filter_params params;

	CHECK(reserve(UINT64_C(1) << 30, 1, &m) == 0 ||
	      scratch_err.code == ERROR_SPACE);
	(void)s->ops->drop(s, ID1, &scratch_err);
	scratch_manifest(spec, ID1, 100, fence, &m, &params);
	params.bytes = m.bytes = UINT64_C(1) << 50;
	CHECK(s->ops->reserve(s, &m, &layout_redisbloom, &params, 1,
			      &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_SPACE);
	CHECK(strstr(scratch_err.text, " of memory, ") != NULL);
	params.bytes = m.bytes = UINT64_MAX / 2;
	CHECK(s->ops->reserve(s, &m, &layout_redisbloom, &params, 1,
			      &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_SPACE);
	CHECK(scratch_state(s, ID1) == -1);
	CHECK(reserve(100, 1, &m) == 0);
	CHECK(scratch_state(s, ID1) == MANIFEST_BUILDING);
	CHECK(reserve(100, 1, &m) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	s->ops->unlock(s);
	CHECK(reserve(100, 1, &m) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
	CHECK(s->ops->put(s, &m, &scratch_err) == -1);
	CHECK(s->ops->seal(s, &m, &scratch_err) == -1);
	CHECK(s->ops->drop(s, ID1, &scratch_err) == -1);
}

/* A file in the way, as after a run that was started twice on one id. */
static void seal_fails(void)
{
	struct manifest m;

	REQUIRE(reserve(100, 1, &m) == 0);
	scratch_write(scratch_path(spec, ID1 "/4.bloom"), "x");
	CHECK(s->ops->seal(s, &m, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	CHECK(strstr(scratch_err.text, ID1 "/4.bloom': create: ") != NULL);
	CHECK(s->ops->seal(s, &m, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
	CHECK(s->ops->drop(s, ID1, &scratch_err) == 0);
}

int main(void)
{
	static const struct {
		void (*test)(void);
		const char *claim;
	} tests[] = {
		{full_is_exact, "dirbuild: full is what a server calls full"},
		{full_together, "dirbuild: what writers fill together is seen"},
		{threads, "dirbuild: threads write and ask side by side"},
		{nothing_is_lost, "dirbuild: a lost member ends the build"},
		{reserve_leaves_nothing, "dirbuild: what does not fit leaves "
					 "nothing behind"},
		{seal_fails, "dirbuild: a file that cannot be written is "
			     "named"},
	};

	scratch_begin();
	spec = scratch_spec(10, "");
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (store_open(scratch_target, spec, &making, &s,
			       &scratch_err) != 0 ||
		    s->ops->lock(s, "test", &fence, &scratch_err) != 0)
			abort();
		UNIT(tests[i].test, tests[i].claim);
		store_close(s);
		scratch_reset();
	}
	bloomkey_free(spec);
	scratch_end();
	return unit_end();
}
