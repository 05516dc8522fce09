/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/show.h"

/* The one global of the library: every layer may have something to say. */
static struct {
	enum log_level level;
	const char *name;
} log_state = {LOG_NOTE, "bloomctl"};

void log_init(enum log_level level, const char *name)
{
	log_state.level = level;
	log_state.name = name;
}

int log_wants(enum log_level level)
{
	return level <= log_state.level;
}

void log_line(enum log_level level, const char *fmt, ...)
{
	char line[1024];
	size_t room = sizeof(line) - 1;
	size_t used;
	va_list ap;

	if (!log_wants(level))
		return;
	(void)snprintf(line, room, "%s: %s", log_state.name,
		       level == LOG_WARN ? "warning: " : "");
	used = strlen(line);
	va_start(ap, fmt);
	(void)vsnprintf(line + used, room - used, fmt, ap);
	va_end(ap);
	show_clean(line);
	used = strlen(line);
	line[used++] = '\n';
	/* A log that cannot be written has nowhere to complain to. */
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}
