/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/lookup.h"

#include <inttypes.h>
#include <string.h>

#include "lib/job/generation.h"

struct answers {
	bool sentinel;
	bool key;
	unsigned count;
};

/* The sentinel is asked for first, where there is one. */
static void on_answer(void *ctx, uint32_t bucket, const void *key, size_t len,
		      bool found)
{
	struct answers *a = ctx;

	(void)bucket;
	(void)key;
	(void)len;
	if (a->count++ == 0)
		a->sentinel = found;
	a->key = found;
}

int lookup_ask(struct store *store, const struct bloomkey_spec *spec,
	       const struct manifest *m, uint32_t bucket, const void *key,
	       size_t len, bool *found, struct error *err)
{
	struct answers a = {false, false, 0};
	struct probe *probe;
	const void *sentinel;
	size_t sentinel_len = bloomkey_sentinel(spec, &sentinel);
	int rc;

	if (store->ops->probe(store, m, on_answer, &a, &probe, err) != 0)
		return -1;
	rc = 0;
	if (sentinel_len > 0)
		rc = probe->ops->ask(probe, bucket, sentinel, sentinel_len,
				     err);
	if (rc == 0)
		rc = probe->ops->ask(probe, bucket, key, len, err);
	if (rc == 0)
		rc = probe->ops->flush(probe, err);
	probe->ops->close(probe);
	if (rc == 0 && sentinel_len > 0 && !a.sentinel) {
		(void)error_set(err, ERROR_VERIFY,
				"generation '%s': bucket %" PRIu32
				": the sentinel is not in it",
				m->generation, bucket);
		return error_hint(err, "its answers mean nothing; build and "
				       "swap a new generation");
	}
	*found = a.key;
	return rc;
}

int lookup_run(struct store *store, const struct bloomkey_spec *spec,
	       const char *id, uint32_t bucket, const void *key, size_t len,
	       struct lookup_report *report, struct error *err)
{
	struct bucket_info info;
	struct manifest m;
	int rc = generation_pick(store, spec, id, &m, err);

	if (rc == 0)
		rc = store->ops->info(store, &m, bucket, false, &info, err);
	if (rc == 0)
		rc = lookup_ask(store, spec, &m, bucket, key, len,
				&report->found, err);
	if (rc == 0) {
		memcpy(report->generation, m.generation,
		       sizeof(report->generation));
		report->state = m.state;
		report->error_now =
			layout_error_at(&info.params, (double)info.items);
	}
	manifest_release(&m);
	return rc;
}
