/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/num.h"

#define TERMINAL_NS INT64_C(200000000)
#define LOG_NS      INT64_C(10000000000)

void progress_init(struct progress_line *line, bool quiet)
{
	line->quiet = quiet;
	line->terminal = isatty(STDERR_FILENO) == 1;
	line->shown = false;
	line->last_ns = clock_ns();
	line->phase = NULL;
}

/* "building: 1,234,567 rows, 2,345,678 rows/s, 45.6 %, 12 s left" */
static void describe(const struct scan_progress *p, char *out, size_t size)
{
	char rows[NUM_TEXT_MAX];
	char rate[NUM_TEXT_MAX];
	char percent[NUM_TEXT_MAX];
	char left[CLOCK_TEXT_MAX];
	double seconds = (double)p->elapsed_ns / 1e9;
	double part = p->bytes_total > 0
			      ? (double)p->bytes / (double)p->bytes_total
			      : 0;
	size_t used;

	(void)snprintf(
		out, size, "%s: %s rows, %s rows/s", p->phase,
		num_grouped(p->rows, rows),
		num_grouped(seconds > 0 ? (uint64_t)((double)p->rows / seconds)
					: 0,
			    rate));
	if (part <= 0 || part > 1)
		return;
	used = strlen(out);
	(void)snprintf(out + used, size - used, ", %s %%, %s left",
		       num_fixed(part * 100, 1, percent),
		       clock_span((int64_t)(seconds * 1000 * (1 - part) / part),
				  left));
}

void progress_show(void *ctx, const struct scan_progress *p)
{
	struct progress_line *line = ctx;
	int64_t now = clock_ns();
	char text[256];
	char line_text[sizeof(text) + 8];
	int n;

	if (line->quiet ||
	    now - line->last_ns < (line->terminal ? TERMINAL_NS : LOG_NS))
		return;
	line->last_ns = now;
	describe(p, text, sizeof(text));
	if (!line->terminal) {
		log_note("%s", text);
		return;
	}
	/* Cleared to its end, so that a shorter text leaves nothing behind. */
	n = snprintf(line_text, sizeof(line_text), "\r%s\033[K", text);
	log_text(line_text, (size_t)n);
	line->shown = true;
}

void progress_end(struct progress_line *line)
{
	if (!line->shown)
		return;
	log_text("\r\033[K", strlen("\r\033[K"));
	line->shown = false;
}
