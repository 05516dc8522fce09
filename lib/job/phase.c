/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/phase.h"

static void tell(void *ctx, const struct scan_progress *p)
{
	const struct phase *phase = ctx;
	bool bytes = p->bytes_total > 0;

	phase->store->ops->phase(phase->store, p->phase,
				 bytes ? p->bytes : p->rows, p->bytes_total);
	if (phase->inner.fn != NULL)
		phase->inner.fn(phase->inner.ctx, p);
}

static int held(void *ctx, struct error *err)
{
	const struct phase *phase = ctx;

	return phase->store->ops->held(phase->store, err);
}

void phase_watch(struct phase *phase, struct store *store, struct scan *scan)
{
	phase->store = store;
	phase->inner = scan->progress;
	scan->progress.fn = tell;
	scan->progress.ctx = phase;
	scan->check.fn = held;
	scan->check.ctx = phase;
}
