/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl sync -s -: rows as they come, and a line for those that are in.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/sync.h"
#include "lib/base/log.h"

/* Commands get ours. */
extern char **environ;

/* "ROWS TOTAL", at once: whoever feeds waits for it. */
static int tell(void *ctx, uint64_t rows, const struct feed_report *report,
		struct error *err)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%" PRIu64 "\t%" PRIu64 "\n", rows,
			 report->rows);

	fill_watch(ctx, report->fullest, report->fill);
	if (output_write(text, (size_t)n, err) != 0)
		return -1;
	return output_flush(err);
}

int sync_pipe(const struct opts *opts, struct inputs *in, struct store *store,
	      struct fill_watch *watch, struct feed_report *report,
	      struct receipt *receipt, struct error *err)
{
	const char *word = opts_text(opts, OPT_SOURCE);
	const struct feed_options options = {
		.spec = in->spec,
		.format = &in->format,
		.keys = in->keys,
		.rejects = &in->rejects,
		.command =
			strcmp(word, "-") != 0 ? word + strlen("exec:") : NULL,
		.environment = environ,
		.fd = STDIN_FILENO,
		.told = tell,
		.ctx = watch};
	int rc = feed_run(store, &options, report, err);

	log_step("%" PRIu64 " rows in %" PRIu64 " passes, %" PRIu64 " keys new",
		 report->rows, report->passes, report->added);
	receipt->m = report->m.generation[0] != '\0' ? &report->m : NULL;
	receipt->rows = report->rows;
	receipt->keys = report->keys;
	receipt->sent = report->keys;
	receipt->acknowledged = report->keys;
	if (rc == 0)
		inputs_tell_rejects(in);
	return rc;
}
