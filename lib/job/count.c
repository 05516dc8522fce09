/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/count.h"

#include <stdlib.h>
#include <string.h>

#include "lib/job/tally.h"

struct count_sink {
	struct sink base;
	struct tally tally;
};

static int count_key(struct sink *sink, uint32_t bucket, const void *key,
		     size_t len, struct error *err)
{
	(void)key;
	(void)len;
	(void)err;
	((struct count_sink *)sink)->tally.keys[bucket]++;
	return 0;
}

static int count_begin(struct sink *sink, const struct source_part *part,
		       struct error *err)
{
	(void)part;
	(void)err;
	tally_mark(&((struct count_sink *)sink)->tally);
	return 0;
}

static int count_again(struct sink *sink, struct error *err)
{
	(void)err;
	tally_back(&((struct count_sink *)sink)->tally);
	return 0;
}

static const struct sink_ops count_ops = {
	.key = count_key, .begin = count_begin, .again = count_again};

int count_run(const struct scan *scan, uint64_t *keys, uint64_t *rows,
	      struct error *err)
{
	uint32_t buckets = bloomkey_buckets(scan->spec);
	struct count_sink *sinks = calloc(scan->jobs, sizeof(*sinks));
	struct sink **table = calloc(scan->jobs, sizeof(struct sink *));
	int rc = sinks == NULL || table == NULL ? error_nomem(err) : 0;

	for (unsigned i = 0; rc == 0 && i < scan->jobs; i++) {
		sinks[i].base.ops = &count_ops;
		table[i] = &sinks[i].base;
		rc = tally_init(&sinks[i].tally, buckets, err);
	}
	if (rc == 0)
		rc = scan_run(scan, table, rows, err);
	memset(keys, 0, buckets * sizeof(*keys));
	for (unsigned i = 0; sinks != NULL && i < scan->jobs; i++) {
		tally_add(&sinks[i].tally, keys);
		tally_release(&sinks[i].tally);
	}
	free(sinks);
	free(table);
	return rc;
}

uint64_t count_hottest(const uint64_t *keys, uint32_t n, uint32_t *at,
		       uint64_t *sum)
{
	uint64_t most = 0;

	*at = 0;
	*sum = 0;
	for (uint32_t b = 0; b < n; b++) {
		*sum += keys[b];
		if (keys[b] > most) {
			most = keys[b];
			*at = b;
		}
	}
	return most;
}
