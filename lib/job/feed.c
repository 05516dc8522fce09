/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/log.h"
#include "lib/base/proc.h"
#include "lib/base/show.h"
#include "lib/base/stop.h"
#include "lib/job/catchup.h"
#include "lib/job/generation.h"
#include "lib/job/keyrow.h"
#include "lib/rows/exec.h"
#include "lib/rows/inflate.h"
#include "lib/rows/magic.h"

#define MS INT64_C(1000000)
/* What is read at once. */
#define CHUNK (64u << 10)
/* Of keys that wait; one has room in any case. */
#define HELD (4u << 20)
/* How often the set is marked, and asked which generation is live. */
#define MARK_NS (10000 * MS)
#define PICK_NS (5000 * MS)

/* In front of each key that waits. */
struct head {
	uint32_t bucket;
	uint32_t len;
};

struct feeder {
	const struct feed_options *o;
	struct store *store;
	struct feed_report *report;
	char *held; /* keys that wait, each behind its head */
	size_t len;
	uint64_t rows; /* that wait, also those without a key */
	uint64_t held_keys;
	int64_t since;      /* when the first of them came, clock_ns() */
	int64_t pass_ns;    /* what the last pass took */
	int64_t marked;     /* when; 0: not yet */
	int64_t picked;     /* when; 0: not yet, or it is not live any more */
	uint64_t *sent;     /* per bucket, of one pass */
	unsigned char *key; /* BLOOMKEY_MAX bytes */
	char *chunk;
	bool broken;    /* rows that wait were not taken */
	bool elsewhere; /* an error is none of the rows' */
	bool looked;    /* at the first bytes */
	char last;      /* byte that was read; '\0': none */
	char name[SHOW_COMMAND_MAX + 32];
};

static int mark(struct feeder *f, struct error *err)
{
	int64_t now = clock_ns();

	if (f->marked != 0 && now - f->marked < MARK_NS)
		return 0;
	if (f->store->ops->set_fed(f->store, clock_wall_ms(), err) != 0)
		return -1;
	f->marked = now;
	return 0;
}

static int pick(struct feeder *f, struct error *err)
{
	int64_t now = clock_ns();

	if (f->picked != 0 && now - f->picked < PICK_NS)
		return 0;
	manifest_release(&f->report->m);
	memset(&f->report->m, 0, sizeof(f->report->m));
	if (generation_pick(f->store, f->o->spec, NULL, &f->report->m, err) !=
	    0)
		return -1;
	f->picked = now;
	return 0;
}

/* All that waits, to a writer. */
static int write_held(struct feeder *f, struct error *err)
{
	struct writer *w;
	size_t at = 0;
	int rc = f->store->ops->writer(f->store, &w, err);

	if (rc != 0)
		return -1;
	memset(f->sent, 0, f->report->m.buckets * sizeof(*f->sent));
	while (rc == 0 && at < f->len) {
		struct head head;

		memcpy(&head, f->held + at, sizeof(head));
		at += sizeof(head);
		f->sent[head.bucket]++;
		rc = w->ops->add(w, head.bucket, f->held + at, head.len, err);
		at += head.len;
	}
	if (rc == 0)
		rc = w->ops->flush(w, err);
	w->ops->close(w);
	return rc;
}

/* One pass; *changed: filters are not what they were, so it was not the last.
 */
static int pass(struct feeder *f, bool *changed, struct error *err)
{
	const struct store_ops *ops = f->store->ops;
	struct feed_report *r = f->report;
	struct pass_report done;
	struct horizon oldest;

	memset(&done, 0, sizeof(done));
	if (pick(f, err) != 0 || mark(f, err) != 0 ||
	    ops->pass_begin(f->store, &r->m, true, 1, &oldest, err) != 0)
		return -1;
	if (write_held(f, err) != 0) {
		ops->pass_drop(f->store);
		return -1;
	}
	if (ops->pass_end(f->store, NULL, f->sent, &done, err) != 0)
		return -1;
	r->passes++;
	r->acknowledged += done.acknowledged;
	r->added += done.added;
	r->fill = done.fill;
	r->fullest = done.fullest;
	*changed = done.changed > 0;
	if (done.failed == 0)
		return 0;
	*err = done.why;
	return -1;
}

static int passes(struct feeder *f, struct error *err)
{
	bool changed = true;

	for (int round = 0; round < CATCHUP_ROUNDS; round++) {
		if (pass(f, &changed, err) != 0)
			return -1;
		if (!changed)
			return 0;
		log_step("filters were swapped meanwhile: %" PRIu64
			 " rows are added once more",
			 f->rows);
		f->picked = 0;
	}
	return error_set(err, ERROR_TEMPORARY,
			 "set '%s': filters were changed by others during each "
			 "of %d passes",
			 f->report->m.set, CATCHUP_ROUNDS);
}

/*
 * Adds what waits, and tells.  No stop ends it: what was read is worth more in
 * the filters, and a server that is silent ends it by itself.
 */
static int send_held(struct feeder *f, struct error *err)
{
	int64_t began = clock_ns();
	uint64_t rows = f->rows;
	int rc = 0;

	if (rows == 0)
		return 0;
	if (f->len > 0) {
		input_set_patient(true);
		rc = passes(f, err);
		input_set_patient(false);
		f->pass_ns = clock_ns() - began;
	}
	if (rc == 0) {
		f->report->rows += rows;
		f->report->keys += f->held_keys;
		f->rows = 0;
		f->held_keys = 0;
		f->len = 0;
		rc = f->o->told(f->o->ctx, rows, f->report, err);
	}
	f->broken = rc != 0;
	return rc;
}

static int hold(struct feeder *f, uint32_t bucket, const void *key, size_t len,
		struct error *err)
{
	struct head head = {bucket, (uint32_t)len};

	if (HELD - f->len < sizeof(head) + len && send_held(f, err) != 0)
		return -1;
	memcpy(f->held + f->len, &head, sizeof(head));
	memcpy(f->held + f->len + sizeof(head), key, len);
	f->len += sizeof(head) + len;
	f->held_keys++;
	return 0;
}

static int on_row(void *ctx, const struct row *row, struct error *err)
{
	struct feeder *f = ctx;
	const struct feed_options *o = f->o;
	struct bloomkey_result result;
	int code =
		o->keys ? keyrow_take(o->spec, row->values, row->lens, &result)
			: bloomkey_derive(o->spec, row->values, row->lens,
					  f->key, BLOOMKEY_MAX, &result);
	int rc = code != 0 ? rejects_add(o->rejects, f->name, row, code,
					 result.field, err)
			   : hold(f, result.bucket,
				  o->keys ? row->values[0] : f->key, result.len,
				  err);

	if (rc != 0) {
		f->elsewhere = code == 0 || err->code != ERROR_ROWS;
		return -1;
	}
	if (f->rows++ == 0)
		f->since = clock_ns();
	return f->rows < FEED_ROWS ? 0 : send_held(f, err);
}

/*
 * How long the rows that wait may do so: as long as a pass takes, where that is
 * long, so that a set of many filters is not asked all the time.  -1: for ever.
 */
static int wait_ms(const struct feeder *f)
{
	int64_t wait = FEED_WAIT_MS * MS;
	int64_t gone;

	if (f->rows == 0)
		return -1;
	gone = clock_ns() - f->since;
	if (f->pass_ns > wait)
		wait = f->pass_ns;
	return gone >= wait ? 0 : (int)((wait - gone + MS - 1) / MS);
}

/* What would be taken for odd rows. */
static int look(struct feeder *f, size_t len, struct error *err)
{
	const struct magic *magic = magic_find(f->chunk, len);

	f->looked = true;
	if (magic != NULL)
		return magic_refuse(magic, err);
	if (inflate_kind(f->chunk, len) == INFLATE_NONE)
		return 0;
	(void)error_set(err, ERROR_SOURCE,
			"it is packed, so that rows would "
			"come late");
	return error_hint(err, "unpack it on its way, as by zcat");
}

/* Bytes as long as there are any; adds what has waited long enough. */
static int pump(struct feeder *f, int fd, struct rowparse *parse,
		struct error *err)
{
	for (;;) {
		int ms = wait_ms(f);
		int ready = ms == 0 ? 0 : input_wait(fd, ms, err);
		size_t got;

		if (ready < 0)
			return -1;
		if (ready == 0) {
			if (send_held(f, err) != 0)
				return -1;
			continue;
		}
		if (input_read(fd, f->chunk, CHUNK, &got, err) != 0)
			return -1;
		if (got == 0)
			return 0;
		f->last = f->chunk[got - 1];
		if ((!f->looked && look(f, got, err) != 0) ||
		    rowparse_feed(parse, f->chunk, got, err) != 0)
			return -1;
	}
}

/* A last row without its newline may be the beginning of a longer one. */
static int end_rows(const struct feeder *f, struct rowparse *parse,
		    struct error *err)
{
	if (f->last == '\0' || f->last == '\n' || f->last == '\r')
		return rowparse_end(parse, true, err);
	return error_set(err, ERROR_DATA,
			 "row %" PRIu64 ": cut off: no newline ends it",
			 parse->rows + 1);
}

/* An end of whatever kind, behind which what waits is added all the same. */
static int finish(struct feeder *f, int rc, struct error *err)
{
	struct error wrong = ERROR_INIT;

	if (rc != 0 && !f->broken && !f->elsewhere && !stop_asked())
		(void)error_prefix(err, "%s", f->name);
	if (!f->broken && send_held(f, &wrong) != 0 && rc == 0) {
		*err = wrong;
		rc = -1;
	}
	return rc;
}

static int run(struct feeder *f, struct error *err)
{
	const struct feed_options *o = f->o;
	struct rowparse *parse;
	struct proc proc;
	int status = 0;
	int rc;

	if (rowparse_new(o->format, on_row, f, &parse, err) != 0)
		return -1;
	if (o->command != NULL &&
	    proc_start(&proc, o->command, o->environment, err) != 0) {
		rowparse_free(parse);
		return -1;
	}
	rc = pump(f, o->command != NULL ? proc.out : o->fd, parse, err);
	if (rc == 0 && o->command != NULL) {
		rc = proc_wait(&proc, &status, err);
		if (rc == 0)
			rc = exec_judge(status, err);
	}
	if (rc == 0)
		rc = end_rows(f, parse, err);
	rc = finish(f, rc, err);
	if (o->command != NULL)
		proc_end(&proc);
	rowparse_free(parse);
	return rc;
}

static int start(struct feeder *f, struct error *err)
{
	char label[SHOW_COMMAND_MAX];

	if (f->o->command != NULL)
		(void)snprintf(f->name, sizeof(f->name), "command '%s'",
			       show_command(f->o->command, label));
	else
		(void)snprintf(f->name, sizeof(f->name), "standard input");
	f->held = malloc(HELD);
	f->chunk = malloc(CHUNK);
	f->key = malloc(BLOOMKEY_MAX);
	f->sent = calloc(bloomkey_buckets(f->o->spec), sizeof(*f->sent));
	if (f->held == NULL || f->chunk == NULL || f->key == NULL ||
	    f->sent == NULL)
		return error_nomem(err);
	/* Before a row is read that could be added to nothing. */
	return pick(f, err);
}

int feed_run(struct store *store, const struct feed_options *options,
	     struct feed_report *report, struct error *err)
{
	struct feeder f = {.o = options, .store = store, .report = report};
	struct error wrong = ERROR_INIT;
	int rc;

	memset(report, 0, sizeof(*report));
	options->rejects->keys = options->keys;
	rc = rejects_begin(options->rejects, options->spec, err);
	if (rc == 0)
		rc = start(&f, err);
	if (rc == 0)
		rc = run(&f, err);
	if (rejects_end(options->rejects, &wrong) != 0 && rc == 0) {
		*err = wrong;
		rc = -1;
	}
	free(f.held);
	free(f.chunk);
	free(f.key);
	free(f.sent);
	return rc;
}

void feed_report_release(struct feed_report *report)
{
	manifest_release(&report->m);
}
