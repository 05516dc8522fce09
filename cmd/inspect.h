/* SPDX-License-Identifier: BSD-2-Clause
 *
 * inspect: how an inspection is written, each way in a file of its own.
 */
#ifndef BLOOMCTL_CMD_INSPECT_H
#define BLOOMCTL_CMD_INSPECT_H

#include "lib/base/json.h"
#include "lib/job/inspect.h"

/* For people: order has the filters in the order in which they are told. */
int inspect_print_table(const struct inspect_report *r,
			const struct bloomkey_spec *spec,
			const struct inspect_bucket *const *order,
			struct error *err);

/* One row a filter. */
int inspect_print_csv(const struct inspect_report *r,
		      const struct bloomkey_spec *spec,
		      const struct inspect_bucket *const *order,
		      struct error *err);

/* All of it, owned by the caller; NULL if memory is out. */
json_t *inspect_json(const struct inspect_report *r,
		     const struct bloomkey_spec *spec);

#endif
