/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the ring of an image is worth: nanoseconds per key of 40 bytes into
 * 200 filters at 1 %, with the ring and with a loop that sets each member's
 * bits at once, by one thread (own bits) and by two (shared bits; wall time
 * over all keys).  Best of 3, pages touched before.
 *
 *	bench_image            as bloomctl runs
 *	bench_image nohuge     without huge pages
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "lib/filter/image.h"

#define BUCKETS  200
#define KEYS_MAX 8000000
#define RUNS     3
#define THREADS  2

struct part {
	struct image *image;
	uint64_t first, keys;
	bool ring;
	uint64_t added[BUCKETS];
};

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Key i, and its bucket. */
static uint32_t make_key(uint64_t i, uint64_t key[5])
{
	i *= UINT64_C(0x9E3779B97F4A7C15);
	key[2] = i;
	i ^= i >> 32;
	return (uint32_t)(i & 0xffffffff) % BUCKETS;
}

static void add_at_once(struct image *image, uint32_t bucket, const void *key,
			size_t len, uint64_t *added)
{
	uint64_t positions[LAYOUT_HASHES_MAX];
	unsigned char *bits = image_bucket(image, bucket);
	int fresh = 0;

	image->layout->positions(&image->params, key, len, positions);
	for (uint32_t i = 0; i < image->params.hashes; i++) {
		unsigned char *byte = bits + (positions[i] >> 3);
		unsigned mask = 1U << (positions[i] & 7);
		unsigned old = *byte;

		if (!image->shared)
			*byte = (unsigned char)(old | mask);
		else
			old = __atomic_fetch_or(byte, (unsigned char)mask,
						__ATOMIC_RELAXED);
		fresh |= (old & mask) == 0;
	}
	added[bucket] += (uint64_t)fresh;
}

static void *run_part(void *arg)
{
	struct part *part = arg;
	uint64_t key[5];
	struct image_ring *ring;

	memcpy(key, "card:0000000000000000:merchant:MID_12345", 40);
	if (!part->ring) {
		for (uint64_t i = 0; i < part->keys; i++) {
			uint32_t bucket = make_key(part->first + i, key);

			add_at_once(part->image, bucket, key, sizeof(key),
				    part->added);
		}
		return NULL;
	}
	ring = image_ring_new(part->image, part->added);
	if (ring == NULL)
		return NULL;
	for (uint64_t i = 0; i < part->keys; i++) {
		uint32_t bucket = make_key(part->first + i, key);

		image_ring_add(ring, bucket, key, sizeof(key));
	}
	image_ring_flush(ring);
	image_ring_free(ring);
	return NULL;
}

/* Nanoseconds per key, the best of some runs. */
static double measure(struct image *image, unsigned threads, bool ring,
		      uint64_t keys)
{
	static struct part parts[THREADS];
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		pthread_t ids[THREADS];
		double start;

		memset(image->bits, 0, image->size);
		memset(parts, 0, sizeof(parts));
		start = seconds();
		for (unsigned t = 0; t < threads; t++) {
			parts[t].image = image;
			parts[t].ring = ring;
			parts[t].keys = keys / threads;
			parts[t].first = parts[t].keys * t;
			if (t > 0 && pthread_create(&ids[t], NULL, run_part,
						    &parts[t]) != 0)
				exit(99);
		}
		(void)run_part(&parts[0]);
		for (unsigned t = 1; t < threads; t++)
			(void)pthread_join(ids[t], NULL);
		start = (seconds() - start) * 1e9 / (double)keys;
		if (start < best)
			best = start;
	}
	return best;
}

int main(int argc, char **argv)
{
	static const uint64_t sizes[] = {1200000, 12000000, 120000000,
					 600000000};
	bool huge = argc < 2 || strcmp(argv[1], "nohuge") != 0;

	if (!huge && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
		return 99;
	printf("%8s %8s %10s %10s %6s   huge pages %s\n", "MB", "threads",
	       "at once", "ring", "ratio", huge ? "advised" : "off");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (unsigned threads = 1; threads <= THREADS; threads++) {
			/* 1 % takes 1.1982 bytes per key. */
			double keys = (double)sizes[i] / 1.1982;
			uint64_t capacity = (uint64_t)(keys / BUCKETS);
			uint64_t n = capacity * BUCKETS;
			const struct layout_ops *layout = &layout_redisbloom;
			struct filter_params params;
			struct image image;
			struct error err = ERROR_INIT;
			double once, ring;

			if (layout->size(capacity, 0.01, &params) != 0 ||
			    image_init(&image, layout, &params, BUCKETS,
				       threads > 1, &err) != 0) {
				fprintf(stderr, "%s\n", err.text);
				return 99;
			}
			if (n > KEYS_MAX)
				n = KEYS_MAX;
			once = measure(&image, threads, false, n);
			ring = measure(&image, threads, true, n);
			printf("%8.1f %8u %10.1f %10.1f %6.2f\n",
			       (double)image.size / 1e6, threads, once, ring,
			       once / ring);
			fflush(stdout);
			image_release(&image);
		}
	}
	return 0;
}
