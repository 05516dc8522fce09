/* SPDX-License-Identifier: BSD-2-Clause
 *
 * commands: the commands of the module, and what INFO and its type tell.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>

struct module_ctx;
struct module_info;
struct module_key;
struct module_string;
struct object;

/* false: a command or its category is not to be had. */
bool commands_register(struct module_ctx *);

/* The object at a key, NULL if there is none; false: the answer was that it is
 * of another type.  *key is for the caller to close, unless that is NULL. */
bool commands_open(struct module_ctx *, struct module_string *name, int mode,
		   struct module_key **key, struct object **object);

/* BF.INFO, and the module's part of INFO. */
int info_command(struct module_ctx *, struct module_string **argv, int argc);
void info_sections(struct module_info *, int for_crash_report);

#endif
