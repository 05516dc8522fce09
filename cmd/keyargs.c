/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/keyargs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/job/scan.h"

/* "FIELD FIELD", for the hint of a wrong number of values. */
static void name_fields(const struct bloomkey_spec *spec, char *out,
			size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < bloomkey_fields(spec) && used < size; i++) {
		(void)snprintf(out + used, size - used, " %s",
			       bloomkey_field_name(spec, i));
		used = strlen(out);
	}
}

int keyargs_derive(const struct opts *opts, const struct bloomkey_spec *spec,
		   struct key *out, struct error *err)
{
	size_t n = bloomkey_fields(spec);
	char fields[200];
	size_t *lens;
	int code;

	if (opts->arg_count != n) {
		(void)error_set(err, ERROR_USAGE,
				"number of values: %zu, where the keyspec has "
				"%zu field%s",
				opts->arg_count, n, n == 1 ? "" : "s");
		name_fields(spec, fields, sizeof(fields));
		return error_hint(err, "give them in template order:%s",
				  fields);
	}
	lens = calloc(n, sizeof(*lens));
	if (lens == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < n; i++)
		lens[i] = strlen(opts->args[i]);
	code = bloomkey_derive(spec, (const void *const *)opts->args, lens,
			       out->bytes, sizeof(out->bytes), &out->at);
	free(lens);
	if (code != 0)
		return scan_reject(spec, code, out->at.field, err);
	if (bloomkey_filter(spec, out->at.bucket, out->filter,
			    sizeof(out->filter)) < 0)
		return error_set(err, ERROR_INTERNAL, "no name for bucket %u",
				 out->at.bucket);
	return 0;
}
