/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/rowparse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rows/rowcore.h"

int rowparse_new(const struct rowformat *format, row_fn *fn, void *ctx,
		 struct rowparse **out, struct error *err)
{
	switch (format->kind) {
	case ROWFORMAT_CSV:
		return csv_new(format, fn, ctx, out, err);
	case ROWFORMAT_TEXT:
		return copytext_new(format, fn, ctx, out, err);
	}
	return error_set(err, ERROR_INTERNAL, "no such row format");
}

static int take_names(struct rowcore *core, struct error *err)
{
	const struct rowformat *format = core->format;

	for (size_t i = 0; i < format->name_count; i++) {
		const char *name = format->names[i];

		if (columns_add(&core->columns, name, strlen(name), err) != 0)
			return -1;
	}
	return columns_done(&core->columns, err);
}

int rowcore_init(struct rowcore *core, const struct rowparse_ops *ops,
		 const struct rowformat *format, row_fn *fn, void *ctx,
		 struct error *err)
{
	memset(core, 0, sizeof(*core));
	core->base.ops = ops;
	core->format = format;
	core->fn = fn;
	core->ctx = ctx;
	core->rows = format->rows_before;
	core->header_due = format->header || format->names == NULL;
	if (columns_init(&core->columns, format->wanted, format->wanted_count,
			 err) != 0)
		return -1;
	core->values = calloc(format->wanted_count + 1, sizeof(*core->values));
	core->lens = calloc(format->wanted_count + 1, sizeof(*core->lens));
	if (core->values == NULL || core->lens == NULL)
		return error_nomem(err);
	core->columns.told = format->names != NULL;
	return core->columns.told ? take_names(core, err) : 0;
}

void rowcore_release(struct rowcore *core)
{
	columns_release(&core->columns);
	free(core->values);
	free(core->lens);
}

int rowcore_fail(struct rowcore *core, struct error *err)
{
	core->failed = true;
	*err = core->err;
	return -1;
}

int rowcore_prefix(struct rowcore *core)
{
	if (core->header_due)
		return error_prefix(&core->err, "header row");
	return error_prefix(&core->err, "row %" PRIu64, core->rows);
}

int rowcore_header_field(struct rowcore *core, const void *name, size_t len)
{
	if (core->format->names != NULL)
		return 0;
	if (columns_add(&core->columns, name, len, &core->err) != 0)
		return rowcore_prefix(core);
	return 0;
}

int rowcore_header_end(struct rowcore *core, size_t count)
{
	if (core->format->names != NULL) {
		if (rowcore_length(core, count) != 0)
			return -1;
	} else if (columns_done(&core->columns, &core->err) != 0) {
		return core->err.code == ERROR_INTERNAL ? -1
							: rowcore_prefix(core);
	}
	core->header_due = false;
	return 0;
}

int rowcore_length(struct rowcore *core, size_t count)
{
	if (count == core->columns.count)
		return 0;
	error_set(&core->err, ERROR_ROWS, "%zu column%s where %zu %s", count,
		  count == 1 ? "" : "s", core->columns.count,
		  core->format->names != NULL ? "are named"
					      : "are in the header");
	return rowcore_prefix(core);
}

int rowcore_bom(struct rowcore *core, const char *remedy)
{
	error_set(&core->err, ERROR_SOURCE,
		  "it begins with a byte order mark and has no header");
	error_hint(&core->err,
		   "remove the mark; if it is part of the first value, %s",
		   remedy);
	return -1;
}

int rowcore_end(struct rowcore *core)
{
	if (!core->header_due)
		return 0;
	error_set(&core->err, ERROR_DATA, "no header row: it is empty");
	error_hint(&core->err, "if an empty file is right, name its columns "
			       "instead of reading them from a header");
	return -1;
}
