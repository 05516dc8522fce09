/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/target.h"

#include <string.h>

int target_open(struct target *t, const struct opts *opts,
		const struct bloomkey_spec *spec, bool create,
		struct error *err)
{
	memset(t, 0, sizeof(*t));
	if (opts_require(opts, OPT_TARGET, err) != 0)
		return -1;
	t->options.create = create;
	return store_open(opts_text(opts, OPT_TARGET), spec, &t->options,
			  &t->store, err);
}

void target_close(struct target *t)
{
	store_close(t->store);
	t->store = NULL;
}
