/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/load.h"

#include <stdlib.h>

#include "lib/base/clock.h"

static int load_key(struct sink *sink, uint32_t bucket, const void *key,
		    size_t len, struct error *err)
{
	struct load_sink *s = (struct load_sink *)sink;

	s->keys[bucket]++;
	sample_offer(s->sample, bucket, key, len);
	return s->writer->ops->add(s->writer, bucket, key, len, err);
}

static int load_end(struct sink *sink, struct error *err)
{
	struct load_sink *s = (struct load_sink *)sink;

	return s->writer->ops->flush(s->writer, err);
}

static const struct sink_ops load_ops = {load_key, load_end};

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
		free(load->sinks[i].keys);
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
		s->keys = calloc(buckets, sizeof(*s->keys));
		if (s->keys == NULL)
			return error_nomem(err);
		if (store->ops->writer(store, &s->writer, err) != 0)
			return -1;
	}
	return 0;
}

void load_keys(const struct load *load, uint64_t *keys, uint32_t buckets)
{
	for (uint32_t b = 0; b < buckets; b++) {
		keys[b] = 0;
		for (unsigned i = 0; i < load->jobs; i++)
			keys[b] += load->sinks[i].keys[b];
	}
}
