/* SPDX-License-Identifier: BSD-2-Clause
 *
 * valkeybloom: a step inside layout_valkeybloom, for its test: what happens at
 * the edges of the second modulus comes to no key that anybody could find.
 */
#ifndef BLOOMCTL_FILTER_VALKEYBLOOM_H
#define BLOOMCTL_FILTER_VALKEYBLOOM_H

#include <stdint.h>

#include "lib/filter/layout.h"

/* The params->hashes positions of a member with these two hashes. */
void valkeybloom_place(const struct filter_params *params,
		       const uint64_t hash[2], uint64_t *out);

#endif
