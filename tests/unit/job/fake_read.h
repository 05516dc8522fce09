/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fake_read: what the fake store answers about its filters; a part of fake.h.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_FAKE_READ_H
#define BLOOMCTL_TESTS_UNIT_JOB_FAKE_READ_H

/* The generation of a filter that is whole; NULL with ERROR_DATA. */
static inline struct fake_generation *
fake_look(struct fake *f, const char *id, uint32_t bucket, struct error *err)
{
	struct fake_generation *g = fake_find(f, id);

	if (g != NULL && g->image.bits != NULL && !g->damaged[bucket] &&
	    !g->missing[bucket] && !g->foreign[bucket])
		return g;
	(void)error_set(err, ERROR_DATA, "filter %u: %s", (unsigned)bucket,
			g != NULL && g->missing[bucket]   ? "missing"
			: g != NULL && g->foreign[bucket] ? "foreign"
							  : "damaged");
	return NULL;
}

static inline int fake_info(struct store *s, const struct manifest *m,
			    uint32_t bucket, bool whole,
			    struct bucket_info *out, struct error *err)
{
	struct fake *f = (struct fake *)s;
	struct fake_generation *g;
	const void *sentinel;

	memset(out, 0, sizeof(*out));
	if (fake_call(f, FAKE_INFO, err) != 0)
		return -1;
	g = fake_look(f, m->generation, bucket, err);
	if (g == NULL) {
		g = fake_find(f, m->generation);
		out->missing = g != NULL && g->missing[bucket];
		out->foreign = g != NULL && g->foreign[bucket];
		return -1;
	}
	out->ttl_ms = g->ttl_ms[bucket] > 0 ? g->ttl_ms[bucket] : -1;
	out->slot = f->server ? (int)bucket : -1;
	out->layout = g->image.layout;
	out->params = g->image.params;
	out->items =
		g->added[bucket] + (bloomkey_sentinel(f->spec, &sentinel) > 0);
	out->keys = g->keys[bucket];
	out->bits_set = UINT64_MAX;
	out->memory = 1000 + g->image.params.bytes;
	if (!whole)
		return 0;
	out->bits_set = 0;
	for (uint64_t i = 0; i < g->image.params.bits; i++)
		out->bits_set += (uint64_t)layout_bit(
			image_bucket(&g->image, bucket), i);
	return 0;
}

struct fake_probe {
	struct probe base;
	struct fake *fake;
	char generation[NAMES_ID_MAX];
	probe_fn *fn;
	void *ctx;
	unsigned waiting;
	struct {
		uint32_t bucket;
		size_t len;
		unsigned char key[256];
		bool found;
	} late[FAKE_LATE];
};

static inline void fake_answer(struct fake_probe *p)
{
	for (unsigned i = 0; i < p->waiting; i++)
		p->fn(p->ctx, p->late[i].bucket, p->late[i].key, p->late[i].len,
		      p->late[i].found);
	p->waiting = 0;
}

static inline int fake_ask(struct probe *probe, uint32_t bucket,
			   const void *key, size_t len, struct error *err)
{
	struct fake_probe *p = (struct fake_probe *)probe;
	struct fake_generation *g;
	bool found;

	if (fake_call(p->fake, FAKE_ASK, err) != 0)
		return -1;
	g = fake_look(p->fake, p->generation, bucket, err);
	if (g == NULL)
		return -1;
	found = image_test(&g->image, bucket, key, len);
	if (!p->fake->late) {
		p->fn(p->ctx, bucket, key, len, found);
		return 0;
	}
	if (len > sizeof(p->late[0].key))
		abort();
	p->late[p->waiting].bucket = bucket;
	p->late[p->waiting].len = len;
	p->late[p->waiting].found = found;
	memcpy(p->late[p->waiting].key, key, len);
	if (++p->waiting == FAKE_LATE)
		fake_answer(p);
	return 0;
}

static inline int fake_ask_flush(struct probe *probe, struct error *err)
{
	struct fake_probe *p = (struct fake_probe *)probe;

	fake_answer(p);
	return fake_call(p->fake, FAKE_ASK_FLUSH, err);
}

static inline void fake_probe_close(struct probe *probe)
{
	struct fake_probe *p = (struct fake_probe *)probe;

	atomic_fetch_sub(&p->fake->open, 1);
	free(p);
}

static inline int fake_probe(struct store *s, const struct manifest *m,
			     probe_fn *fn, void *ctx, struct probe **out,
			     struct error *err)
{
	static const struct probe_ops ops = {fake_ask, fake_ask_flush,
					     fake_probe_close};
	struct fake *f = (struct fake *)s;
	struct fake_probe *p;

	if (fake_call(f, FAKE_PROBE, err) != 0)
		return -1;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		abort();
	p->base.ops = &ops;
	p->fake = f;
	memcpy(p->generation, m->generation, sizeof(p->generation));
	p->fn = fn;
	p->ctx = ctx;
	atomic_fetch_add(&f->open, 1);
	*out = &p->base;
	return 0;
}

#endif
