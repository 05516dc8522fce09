/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/phase.h"

#include "tests/unit/unit.h"

static struct {
	char phase[32];
	uint64_t done, total;
	unsigned shown;
} seen;

static void see(struct store *s, const char *phase, uint64_t done,
		uint64_t total)
{
	(void)s;
	(void)snprintf(seen.phase, sizeof(seen.phase), "%s", phase);
	seen.done = done;
	seen.total = total;
}

static void show(void *ctx, const struct scan_progress *p)
{
	CHECK(ctx == &seen);
	CHECK_U64(p->rows, 7);
	seen.shown++;
}

static void told(void)
{
	static const struct store_ops ops = {.phase = see};
	struct scan_progress p = {
		.phase = "building", .rows = 7, .bytes = 50, .bytes_total = 99};
	struct store store = {&ops};
	struct scan scan = {.progress = {show, &seen}};
	struct phase phase;

	phase_watch(&phase, &store, &scan);
	scan.progress.fn(scan.progress.ctx, &p);
	CHECK_STR(seen.phase, "building");
	CHECK_U64(seen.done, 50);
	CHECK_U64(seen.total, 99);
	CHECK_U64(seen.shown, 1);
	/* A pipe has no total. */
	p.bytes_total = 0;
	scan.progress.fn(scan.progress.ctx, &p);
	CHECK_U64(seen.done, 7);
	CHECK_U64(seen.total, 0);
	CHECK_U64(seen.shown, 2);
}

static void nobody_looks(void)
{
	static const struct store_ops ops = {.phase = see};
	struct scan_progress p = {.phase = "counting", .rows = 8};
	struct store store = {&ops};
	struct scan scan = {.progress = {NULL, NULL}};
	struct phase phase;

	phase_watch(&phase, &store, &scan);
	scan.progress.fn(scan.progress.ctx, &p);
	CHECK_STR(seen.phase, "counting");
	CHECK_U64(seen.done, 8);
}

int main(void)
{
	UNIT(told, "phase: others see bytes, or rows, and so does who looks");
	UNIT(nobody_looks, "phase: others see it where nobody looks here");
	return unit_end();
}
