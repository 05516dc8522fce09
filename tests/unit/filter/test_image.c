/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/image.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/alloc.h"
#include "tests/unit/unit.h"

#define BUCKETS 7
#define KEYS    20000
#define THREADS 4

static const struct layout_ops *const ops = &layout_redisbloom;

/* Key i and its bucket; every third key comes twice. */
static uint32_t make_key(char out[32], size_t *len, uint64_t i)
{
	if (i % 3 == 2)
		i--;
	*len = (size_t)snprintf(out, 32, "key:%" PRIu64 ":%" PRIu64, i * i,
				i % 11);
	return (uint32_t)(i * 7919 % 104729 % BUCKETS);
}

/* As plainly as can be: one member after the other, bit by bit. */
static void plain_add(const struct filter_params *params, unsigned char *bits,
		      const void *key, size_t len, uint64_t *added)
{
	uint64_t positions[LAYOUT_HASHES_MAX];
	bool fresh = false;

	ops->positions(params, key, len, positions);
	for (uint32_t i = 0; i < params->hashes; i++) {
		fresh = fresh || !layout_bit(bits, positions[i]);
		bits[positions[i] / 8] |=
			(unsigned char)(1U << positions[i] % 8);
	}
	*added += fresh;
}

static bool make(struct image *image, uint64_t capacity, double error,
		 bool shared)
{
	struct error err = ERROR_INIT;
	struct filter_params params;

	return ops->size(capacity, error, &params) == 0 &&
	       image_init(image, ops, &params, BUCKETS, shared, &err) == 0;
}

static void add_range(struct image_ring *ring, uint64_t from, uint64_t to)
{
	for (; from < to; from++) {
		char key[32];
		size_t len;
		uint32_t bucket = make_key(key, &len, from);

		image_ring_add(ring, bucket, key, len);
	}
}

static unsigned char *plain_image(const struct filter_params *params,
				  uint64_t keys, uint64_t *added)
{
	unsigned char *bits = calloc(BUCKETS, params->bytes);

	for (uint64_t i = 0; bits != NULL && i < keys; i++) {
		char key[32];
		size_t len;
		uint32_t bucket = make_key(key, &len, i);

		plain_add(params, bits + bucket * params->bytes, key, len,
			  &added[bucket]);
	}
	return bits;
}

static void check_same(const struct image *image, const unsigned char *plain)
{
	for (uint32_t b = 0; b < BUCKETS; b++)
		CHECK(memcmp(image_bucket(image, b),
			     plain + b * image->params.bytes,
			     image->params.bytes) == 0);
}

/* The ring's bits and counts are those of one member after the other. */
static void check_ring(uint64_t capacity, double error, bool shared,
		       uint64_t keys)
{
	uint64_t want[BUCKETS] = {0}, added[BUCKETS] = {0};
	struct image image;
	struct image_ring *ring;
	unsigned char *plain;

	REQUIRE(make(&image, capacity, error, shared));
	ring = image_ring_new(&image, added);
	REQUIRE(ring != NULL);
	/* A flush in the middle changes nothing. */
	add_range(ring, 0, keys / 2);
	image_ring_flush(ring);
	image_ring_flush(ring);
	add_range(ring, keys / 2, keys);
	image_ring_flush(ring);
	image_ring_free(ring);
	plain = plain_image(&image.params, keys, want);
	REQUIRE(plain != NULL);
	check_same(&image, plain);
	for (uint32_t b = 0; b < BUCKETS; b++)
		CHECK_U64(added[b], want[b]);
	free(plain);
	image_release(&image);
}

static void equals_plain(void)
{
	static const uint64_t keys[] = {0,  1,  2,  31,  32,   33,
					63, 64, 65, 100, 4096, KEYS};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		for (int shared = 0; shared < 2; shared++) {
			check_ring(KEYS / BUCKETS, 0.01, shared, keys[i]);
			check_ring(KEYS / BUCKETS, 1e-15, shared, keys[i]);
			/* Overfull: most members set no bit. */
			check_ring(100, 0.25, shared, keys[i]);
			check_ring(1, 0.01, shared, keys[i]);
		}
	}
}

struct worker {
	struct image *image;
	uint64_t from, to;
	uint64_t added[BUCKETS];
	bool failed;
};

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct image_ring *ring = image_ring_new(worker->image, worker->added);

	if (ring == NULL) {
		worker->failed = true;
		return NULL;
	}
	add_range(ring, worker->from, worker->to);
	image_ring_flush(ring);
	image_ring_free(ring);
	return NULL;
}

static void threads_set_the_same(void)
{
	uint64_t want[BUCKETS] = {0}, added = 0, plain_added = 0;
	struct worker workers[THREADS];
	pthread_t ids[THREADS];
	struct image image;
	unsigned char *plain;

	REQUIRE(make(&image, KEYS / BUCKETS, 0.01, true));
	memset(workers, 0, sizeof(workers));
	for (unsigned i = 0; i < THREADS; i++) {
		/* Ranges overlap by half, so that workers meet. */
		workers[i].image = &image;
		workers[i].from = KEYS / (THREADS + 1) * i;
		workers[i].to = KEYS / (THREADS + 1) * (i + 2);
		REQUIRE(pthread_create(&ids[i], NULL, work, &workers[i]) == 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		REQUIRE(pthread_join(ids[i], NULL) == 0);
		CHECK(!workers[i].failed);
	}
	plain = plain_image(&image.params, KEYS, want);
	REQUIRE(plain != NULL);
	check_same(&image, plain);
	for (unsigned b = 0; b < BUCKETS; b++) {
		plain_added += want[b];
		for (unsigned i = 0; i < THREADS; i++)
			added += workers[i].added[b];
	}
	/*
	 * The order decides, but not by much: a member met by two workers at
	 * once counts for both if each was first at one of its bits.
	 */
	CHECK(added >= plain_added - plain_added / 50);
	CHECK(added <= plain_added + plain_added / 2);
	free(plain);
	image_release(&image);
}

static void buckets_lie_apart(void)
{
	struct image image;

	/* 40 bytes each, so padded to 64. */
	REQUIRE(make(&image, 100, 0.25, false));
	CHECK_U64(image.params.bytes, 40);
	CHECK_U64(image.stride, 64);
	CHECK_U64(image.size, 64 * BUCKETS);
	CHECK_U64(image_size(&image.params, BUCKETS), image.size);
	for (uint32_t b = 0; b < BUCKETS; b++)
		CHECK(image_bucket(&image, b) == image.bits + 64 * (size_t)b);
	for (size_t i = 0; i < image.size; i++)
		REQUIRE(image.bits[i] == 0);
	image_release(&image);
	CHECK(image.bits == NULL);
	image_release(&image);
}

static void padding_stays_clear(void)
{
	uint64_t added[BUCKETS] = {0};
	struct image image;
	struct image_ring *ring;

	REQUIRE(make(&image, 100, 0.25, false));
	ring = image_ring_new(&image, added);
	REQUIRE(ring != NULL);
	add_range(ring, 0, KEYS);
	image_ring_flush(ring);
	image_ring_free(ring);
	for (uint32_t b = 0; b < BUCKETS; b++) {
		for (size_t i = image.params.bytes; i < image.stride; i++)
			CHECK(image_bucket(&image, b)[i] == 0);
	}
	image_release(&image);
}

static void members_are_found(void)
{
	uint64_t added[BUCKETS] = {0}, absent = 0;
	struct image image;
	struct image_ring *ring;
	char key[32];
	uint32_t last;
	size_t len;

	REQUIRE(make(&image, KEYS / BUCKETS, 0.01, false));
	ring = image_ring_new(&image, added);
	REQUIRE(ring != NULL);
	add_range(ring, 0, KEYS);
	/* Not before it left the ring. */
	last = make_key(key, &len, KEYS - 1);
	CHECK(!image_test(&image, last, key, len));
	image_ring_flush(ring);
	image_ring_free(ring);
	for (uint64_t i = 0; i < KEYS; i++) {
		uint32_t bucket = make_key(key, &len, i);

		REQUIRE(image_test(&image, bucket, key, len));
		REQUIRE(layout_test(ops, &image.params,
				    image_bucket(&image, bucket), key, len));
	}
	for (uint64_t i = KEYS; i < 2 * KEYS; i++) {
		uint32_t bucket = make_key(key, &len, i);

		absent += image_test(&image, bucket, key, len);
	}
	/* A third of the keys are doubles, so the rate is below 1 %. */
	CHECK(absent < KEYS / 100);
	image_release(&image);
}

static void unflushed_is_dropped(void)
{
	uint64_t added[BUCKETS] = {0};
	struct image image;
	struct image_ring *ring;

	REQUIRE(make(&image, 100, 0.01, false));
	ring = image_ring_new(&image, added);
	REQUIRE(ring != NULL);
	add_range(ring, 0, 5);
	image_ring_free(ring);
	image_ring_free(NULL);
	for (size_t i = 0; i < image.size; i++)
		REQUIRE(image.bits[i] == 0);
	for (uint32_t b = 0; b < BUCKETS; b++)
		CHECK_U64(added[b], 0);
	image_release(&image);
}

static void sizes_do_not_wrap(void)
{
	struct filter_params params = {.bytes = UINT64_MAX, .hashes = 7};

	CHECK_U64(image_size(&params, 1), 0);
	params.bytes = UINT64_MAX - 63;
	CHECK_U64(image_size(&params, 1), 0);
	params.bytes = UINT64_MAX / 65536;
	CHECK_U64(image_size(&params, 65536), 0);
	params.bytes = UINT64_C(1) << 61;
	CHECK_U64(image_size(&params, 1), 0);
	params.bytes = 1;
	CHECK_U64(image_size(&params, 65536), 64 * 65536);
	CHECK_U64(image_size(&params, 0), 0);
}

static void too_large_is_refused(void)
{
	struct filter_params params = {.bytes = UINT64_C(1) << 44, .hashes = 7};
	struct error err = ERROR_INIT;
	struct image image;

	params.bits = params.bytes * 8;
	CHECK(image_init(&image, ops, &params, 4096, false, &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	CHECK(strstr(err.text, "image of 72057594037927936 bytes") != NULL);
	CHECK(image.bits == NULL);
	image_release(&image);
	CHECK(image_init(&image, ops, &params, UINT32_MAX, false, &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	CHECK(strstr(err.text, "4294967295 filters of 17592186044416") != NULL);
	image_release(&image);
}

/* A mapping is an allocation, too. */
void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
	__attribute__((weak));
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off);

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	if (!alloc_fails())
		return __real_mmap(at, len, prot, flags, fd, off);
	errno = ENOMEM;
	return MAP_FAILED;
}

static void no_memory(void)
{
	unsigned long n = 1;
	bool met = true;

	ALLOC_NEEDED();
	for (; met && n < 100; n++) {
		struct error err = ERROR_INIT;
		uint64_t added[BUCKETS] = {0};
		struct image_ring *ring = NULL;
		struct filter_params params;
		struct image image;
		int rc;

		REQUIRE(ops->size(100, 0.01, &params) == 0);
		alloc_fail(n, true);
		rc = image_init(&image, ops, &params, BUCKETS, false, &err);
		if (rc == 0)
			ring = image_ring_new(&image, added);
		met = alloc_pass();
		CHECK((rc == 0 && ring != NULL) == !met);
		CHECK((rc == 0) == (image.bits != NULL));
		if (rc != 0) {
			CHECK_U64(err.code, ERROR_SPACE);
			CHECK(strstr(err.text, "image of ") == err.text);
		}
		image_ring_free(ring);
		image_release(&image);
	}
	CHECK_U64(n, 4);
}

int main(void)
{
	UNIT(equals_plain, "image: the ring sets and counts as plain adds do");
	UNIT(threads_set_the_same, "image: four workers set the bits of one");
	UNIT(buckets_lie_apart, "image: buckets begin at cache lines, clear");
	UNIT(padding_stays_clear, "image: no bit outside a bucket is set");
	UNIT(members_are_found, "image: members are found, others rarely");
	UNIT(unflushed_is_dropped, "image: freeing a ring sets nothing");
	UNIT(sizes_do_not_wrap, "image: a size that overflows is 0");
	UNIT(too_large_is_refused, "image: what cannot be mapped is refused");
	UNIT(no_memory, "image: each failing allocation is told");
	return unit_end();
}
