/* SPDX-License-Identifier: BSD-2-Clause
 *
 * json: jansson with our errors, from one thread at a time.  Objects are owned
 * as jansson says; what a getter returns is borrowed from the object.
 */
#ifndef BLOOMCTL_BASE_JSON_H
#define BLOOMCTL_BASE_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/error.h"

/*
 * Parses len bytes; duplicates, trailing bytes and numbers out of range are
 * errors.  An object owned by the caller, or NULL with ERROR_DATA or, out
 * of memory, ERROR_INTERNAL.
 */
json_t *json_parse(const char *data, size_t len, struct error *err);

/*
 * The text of an object with a newline at its end, owned by the caller
 * (free()), *len bytes without the NUL; NULL with ERROR_INTERNAL.  indent is
 * the number of blanks, 0 for one line.
 */
char *json_text(const json_t *json, int indent, size_t *len, struct error *err);

/* Typed members; -1 with ERROR_DATA naming the member if it is not so. */
int json_get_text(const json_t *json, const char *name, const char **out,
		  struct error *err);
int json_get_u64(const json_t *json, const char *name, uint64_t *out,
		 struct error *err);
int json_get_real(const json_t *json, const char *name, double *out,
		  struct error *err);

#endif
