/* SPDX-License-Identifier: BSD-2-Clause
 *
 * output: answers on standard output, and receipts in files.
 */
#ifndef BLOOMCTL_CMD_OUTPUT_H
#define BLOOMCTL_CMD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/opts.h"
#include "lib/base/json.h"
#include "lib/job/finding.h"
#include "lib/job/rejects.h"
#include "lib/job/replicas.h"
#include "lib/report/table.h"
#include "lib/store/manifest.h"

enum output_format { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_CSV };

/* What --format says; OUTPUT_TABLE if it says nothing. */
enum output_format output_format(const struct opts *opts);

/*
 * Writes to standard output, without waiting longer than a stop
 * (lib/base/out.h).  ERROR_DATA if that fails, at once or at the latest when
 * it is flushed, which main does at the end; or a stop's own error.
 */
int output_write(const void *data, size_t len, struct error *err);

/* Lets a reader on a pipe have what was written.  Errors as output_write(). */
int output_flush(struct error *err);

/* Whether standard output is what failed; it fails for good. */
bool output_failed(void);

/* Writes a JSON value, indented by two; takes it over. */
int output_json(json_t *json, struct error *err);

/*
 * Writes a table as text or CSV.  right: see table_text().  failed: whether
 * adding a cell failed; ERROR_INTERNAL then.
 */
int output_table(const struct table *t, const int *right, bool failed,
		 enum output_format format, struct error *err);

/* A time of a manifest as RFC 3339, or JSON null for 0; owned. */
json_t *output_time(int64_t wall_ms);

/* A text, its bytes that are no UTF-8 as "?", or JSON null for "" and NULL. */
json_t *output_text(const char *text);

/* What a generation's source said of itself; JSON null for nothing, or for no
 * manifest. */
json_t *output_origin(const struct manifest *m);

/* From where on a generation may lack what was committed; likewise. */
json_t *output_horizon(const struct manifest *m);

/* A finding as an object; owned; NULL if memory is out. */
json_t *output_finding(const struct finding *f);

/* The same as a line, and its remedy as another.  0 or -1 (out of memory). */
int output_finding_text(const struct finding *f, struct buf *out);

/* What a receipt says of a run; fields that a command has not are zero. */
struct receipt {
	const char *command;
	char run[NAMES_ID_MAX]; /* "": a new id each time it is written */
	const char *step;       /* of a rebuild that it ended in; NULL: none */
	int64_t started;
	const struct bloomkey_spec *spec; /* NULL: it was not read */
	const struct manifest *m; /* the generation; NULL if there is none */
	const char *previous; /* that was live before; NULL or "" for none */
	const char *source;   /* NULL for none */
	const char *origin;   /* of an export; NULL: that of m */
	const struct horizon *horizon; /* likewise */
	uint64_t rows;
	uint64_t keys;
	uint64_t sent;
	uint64_t acknowledged;
	const struct rejects_count *rejects; /* NULL: none */
	bool exposed;                        /* the next two are known */
	int64_t exposure_ms, recent_ms;
	uint64_t missing;       /* verify */
	const uint64_t *missed; /* per enum missed_why; NULL: none */
	uint64_t asked;
	const struct replicas *replicas; /* NULL: none */
	uint64_t absent, absent_hits;
	bool dry_run;
};

/* How long recent-writes must be kept, in whole seconds, rounded up. */
long long output_recent_s(const struct receipt *r);

/*
 * The same as text, owned; why is what a status below 0 means.  NULL with
 * ERROR_INTERNAL: no memory.
 */
char *output_receipt_text(const struct receipt *r, int status,
			  const struct error *why, size_t *len,
			  struct error *err);

/*
 * Writes the receipt to the file of --receipt, if there is one, whether the
 * run went well (status >= 0) or not (err).  Flushes the answer first, which
 * is part of going well.  Returns status, or -1 if the answer or the receipt
 * cannot be written and all else went well.
 */
int output_receipt(const struct opts *opts, const struct receipt *r, int status,
		   struct error *err);

#endif
