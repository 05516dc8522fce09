/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/out.h"
#include "lib/base/show.h"

/* What a line has without asking for memory. */
#define USUAL 1024

/* What stands for the rest of a line that was cut. */
static const char cut[] = "...";

/* The one global of the library: every layer may have something to say. */
static struct {
	enum log_level level;
	const char *name;
	pthread_mutex_t lock; /* of standard error: lines stay whole */
} log_state = {LOG_NOTE, "bloomctl", PTHREAD_MUTEX_INITIALIZER};

void log_init(enum log_level level, const char *name)
{
	log_state.level = level;
	log_state.name = name;
}

int log_wants(enum log_level level)
{
	return level <= log_state.level;
}

void log_text(const char *text, size_t len)
{
	struct error ignored = ERROR_INIT;

	(void)pthread_mutex_lock(&log_state.lock);
	/* A log that cannot be written has nowhere to complain to. */
	(void)out_now(STDERR_FILENO, "standard error", text, len, &ignored);
	(void)pthread_mutex_unlock(&log_state.lock);
}

/* The line without its newline, cut where it is longer than size. */
static size_t write_line(char *line, size_t size, enum log_level level,
			 const char *fmt, va_list ap)
{
	const char *sort = level == LOG_WARN ? "warning: " : "";
	int head = snprintf(line, size, "%s: %s", log_state.name, sort);
	int tail;

	if (head < 0)
		return 0;
	if ((size_t)head >= size)
		return (size_t)head;
	tail = vsnprintf(line + head, size - (size_t)head, fmt, ap);
	return tail < 0 ? (size_t)head : (size_t)head + (size_t)tail;
}

void log_line(enum log_level level, const char *fmt, ...)
{
	char usual[USUAL];
	char *more = NULL;
	char *line = usual;
	size_t size = sizeof(usual);
	size_t len;
	va_list ap;

	if (!log_wants(level))
		return;
	va_start(ap, fmt);
	len = write_line(line, size, level, fmt, ap);
	va_end(ap);
	if (len >= size) {
		size_t wanted = len < LOG_LINE_MAX ? len + 1 : LOG_LINE_MAX;

		more = malloc(wanted);
		if (more != NULL) {
			line = more;
			size = wanted;
			va_start(ap, fmt);
			len = write_line(line, size, level, fmt, ap);
			va_end(ap);
		}
	}
	if (len >= size)
		memcpy(line + size - sizeof(cut), cut, sizeof(cut));
	show_clean(line);
	/* In place of the NUL, which nobody needs from here on. */
	len = strlen(line);
	line[len] = '\n';
	log_text(line, len + 1);
	free(more);
}
