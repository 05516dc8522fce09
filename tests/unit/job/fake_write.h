/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fake_write: how members get into the fake store; a part of fake.h.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_FAKE_WRITE_H
#define BLOOMCTL_TESTS_UNIT_JOB_FAKE_WRITE_H

struct fake_writer {
	struct writer base;
	struct fake *fake;
	struct image_ring *ring;
	uint64_t keys[FAKE_BUCKETS];
	uint64_t added[FAKE_BUCKETS];
};

static inline int fake_add(struct writer *w, uint32_t bucket, const void *key,
			   size_t len, struct error *err)
{
	struct fake_writer *fw = (struct fake_writer *)w;
	struct fake *f = fw->fake;

	if (fake_call(f, FAKE_ADD, err) != 0)
		return -1;
	fw->keys[bucket]++;
	if (f->lose_every == 0 || f->calls[FAKE_ADD] % f->lose_every != 0)
		image_ring_add(fw->ring, bucket, key, len);
	return 0;
}

static inline int fake_flush(struct writer *w, struct error *err)
{
	struct fake_writer *fw = (struct fake_writer *)w;

	image_ring_flush(fw->ring);
	return fake_call(fw->fake, FAKE_FLUSH, err);
}

static inline void fake_writer_close(struct writer *w)
{
	struct fake_writer *fw = (struct fake_writer *)w;
	struct fake *f = fw->fake;

	for (uint32_t b = 0; b < FAKE_BUCKETS; b++) {
		f->reserved->keys[b] += fw->keys[b];
		f->reserved->added[b] += fw->added[b];
	}
	atomic_fetch_sub(&f->open, 1);
	image_ring_free(fw->ring);
	free(fw);
}

static inline int fake_writer(struct store *s, struct writer **out,
			      struct error *err)
{
	static const struct writer_ops ops = {fake_add, fake_flush,
					      fake_writer_close};
	struct fake *f = (struct fake *)s;
	struct fake_writer *w;

	if (fake_call(f, FAKE_WRITER, err) != 0)
		return -1;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		abort();
	w->base.ops = &ops;
	w->fake = f;
	w->ring = image_ring_new(&f->reserved->image, w->added);
	atomic_fetch_add(&f->open, 1);
	*out = &w->base;
	return 0;
}

#endif
