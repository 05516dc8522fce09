/* SPDX-License-Identifier: BSD-2-Clause
 *
 * progress: how far a scan is, on standard error: one line that is written
 * over on a terminal, otherwise a line every ten seconds.
 */
#ifndef BLOOMCTL_CMD_PROGRESS_H
#define BLOOMCTL_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/job/scan.h"

struct progress_line {
	bool quiet;
	bool terminal;
	bool shown;        /* a line stands on the terminal */
	int64_t last_ns;   /* when it was written */
	const char *phase; /* that it was written for */
};

void progress_init(struct progress_line *line, bool quiet);

/* A progress_fn; ctx is the struct progress_line. */
void progress_show(void *ctx, const struct scan_progress *p);

/* Clears the line, so that other output may follow. */
void progress_end(struct progress_line *line);

#endif
