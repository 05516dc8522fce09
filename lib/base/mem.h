/* SPDX-License-Identifier: BSD-2-Clause
 *
 * mem: how much memory there is to take.
 */
#ifndef BLOOMCTL_BASE_MEM_H
#define BLOOMCTL_BASE_MEM_H

#include <stdint.h>

/*
 * Bytes that this process may still take: the least of the system's available
 * memory, what its control group leaves and its address space limit.
 * UINT64_MAX where none of them is known.
 */
uint64_t mem_available(void);

#endif
