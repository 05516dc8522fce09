/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/load.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"

static int load_key(struct sink *sink, uint32_t bucket, const void *key,
		    size_t len, struct error *err)
{
	struct load_sink *s = (struct load_sink *)sink;

	s->tally.keys[bucket]++;
	sample_offer(s->sample, bucket, key, len);
	return s->writer->ops->add(s->writer, bucket, key, len, err);
}

static int load_end(struct sink *sink, struct error *err)
{
	struct load_sink *s = (struct load_sink *)sink;

	return s->writer->ops->flush(s->writer, err);
}

static int load_begin(struct sink *sink, const struct source_part *part,
		      struct error *err)
{
	(void)part;
	(void)err;
	tally_mark(&((struct load_sink *)sink)->tally);
	return 0;
}

/* What was sent stays there: keys more do no harm, and most come again. */
static int load_again(struct sink *sink, struct error *err)
{
	(void)err;
	tally_back(&((struct load_sink *)sink)->tally);
	return 0;
}

static const struct sink_ops load_ops = {.key = load_key,
					 .end = load_end,
					 .begin = load_begin,
					 .again = load_again};

void load_close_writers(struct load *load)
{
	for (unsigned i = 0; load->sinks != NULL && i < load->jobs; i++) {
		if (load->sinks[i].writer != NULL)
			load->sinks[i].writer->ops->close(
				load->sinks[i].writer);
		load->sinks[i].writer = NULL;
	}
}

void load_release(struct load *load)
{
	load_close_writers(load);
	for (unsigned i = 0; load->sinks != NULL && i < load->jobs; i++)
		tally_release(&load->sinks[i].tally);
	free(load->sinks);
	free(load->table);
	free(load->samples);
}

int load_init(struct load *load, struct store *store, unsigned jobs,
	      uint32_t buckets, struct error *err)
{
	load->jobs = jobs;
	load->sinks = calloc(jobs, sizeof(*load->sinks));
	load->table = calloc(jobs, sizeof(struct sink *));
	load->samples = calloc(jobs, sizeof(*load->samples));
	if (load->sinks == NULL || load->table == NULL || load->samples == NULL)
		return error_nomem(err);
	for (unsigned i = 0; i < jobs; i++) {
		struct load_sink *s = &load->sinks[i];

		s->base.ops = &load_ops;
		s->sample = &load->samples[i];
		sample_init(s->sample, (uint64_t)clock_ns() + i);
		load->table[i] = &s->base;
		if (tally_init(&s->tally, buckets, err) != 0)
			return -1;
		if (store->ops->writer(store, &s->writer, err) != 0)
			return -1;
	}
	return 0;
}

void load_keys(const struct load *load, uint64_t *keys, uint64_t *again,
	       uint32_t buckets)
{
	memset(keys, 0, buckets * sizeof(*keys));
	memset(again, 0, buckets * sizeof(*again));
	for (unsigned i = 0; i < load->jobs; i++) {
		tally_add(&load->sinks[i].tally, keys);
		tally_add_gone(&load->sinks[i].tally, again);
	}
}
