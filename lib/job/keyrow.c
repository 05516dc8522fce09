/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/keyrow.h"

#include "lib/rows/exportlist.h"

int keyrow_take(const struct bloomkey_spec *spec, const void *const *values,
		const size_t *lens, struct bloomkey_result *result)
{
	result->len = 0;
	result->field = bloomkey_fields(spec);
	if (values[0] == NULL)
		return BLOOMKEY_REJECT_NULL;
	if (lens[0] == 0)
		return BLOOMKEY_REJECT_EMPTY;
	if (lens[0] > BLOOMKEY_MAX)
		return BLOOMKEY_REJECT_TOO_LONG;
	result->len = lens[0];
	result->bucket =
		bloomkey_bucket(spec, values[0], lens[0], &result->hash);
	return 0;
}

void keyrow_format(struct rowformat *format)
{
	static const char *const columns[] = {EXPORTLIST_KEY};

	*format = (struct rowformat){.kind = ROWFORMAT_TEXT,
				     .bom_is_data = true,
				     .names = columns,
				     .name_count = 1,
				     .wanted = columns,
				     .wanted_count = 1};
}
