/* SPDX-License-Identifier: BSD-2-Clause
 *
 * args: what the words of commands say.
 */
#ifndef ARGS_H
#define ARGS_H

#include "tests/engine/object.h"

#include <stdbool.h>

struct module_string;

struct request {
	struct module_string **argv;
	int argc;
	struct shape shape;
	int64_t scale_to; /* 0: not asked for */
	bool no_create;
	bool single; /* one item, whose answer is no array */
	int items;   /* which word is the first item; argc: there are none */
};

extern const char wrong_arity[];

/* Both return what is to be answered, `wrong_arity` itself for that one, or
 * NULL. */
const char *args_reserve(struct request *, struct module_string **argv,
			 int argc);
const char *args_insert(struct request *, struct module_string **argv,
			int argc);

/* The whole of a text is a number. */
bool args_number(const char *, int64_t *);

#endif
