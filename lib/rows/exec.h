/* SPDX-License-Identifier: BSD-2-Clause
 *
 * exec: the output of commands as a source.  A command's rows are whole if it
 * ends with status 0, and only then.
 */
#ifndef BLOOMCTL_ROWS_EXEC_H
#define BLOOMCTL_ROWS_EXEC_H

#include <stddef.h>

#include "lib/rows/source.h"

/*
 * Commands for `sh -e -c`, one part each, started when their part is opened.
 * ERROR_USAGE for an empty one, and for a pipeline whose status would be that
 * of its last command only.
 */
int exec_source_open(const char *const *commands, size_t count,
		     const struct source_options *options, struct source **out,
		     struct error *err);

/*
 * What the status of wait(2) of such a command says of its rows: 0, or
 * ERROR_SOURCE where the shell cannot run it, else ERROR_DATA.
 */
int exec_judge(int status, struct error *err);

#endif
