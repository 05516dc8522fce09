/* SPDX-License-Identifier: BSD-2-Clause
 *
 * size: how large filters are, and how large they may become.
 */
#ifndef SIZE_H
#define SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a filter for `capacity` items at the false-positive rate `error`. */
uint64_t size_bytes(int64_t capacity, double error);
uint32_t size_hashes(uint64_t bytes, int64_t capacity);

/* The false-positive rate of the n-th filter of an object, from 0 on. */
double size_error(double error, double tightening, uint64_t n);

/* Of an object that is to have `memory` bytes. */
bool size_fits(uint64_t memory);

#endif
