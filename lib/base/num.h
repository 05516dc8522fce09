/* SPDX-License-Identifier: BSD-2-Clause
 *
 * num: numbers from text and back, in no locale: a decimal comma in the
 * environment changes nothing here.
 */
#ifndef BLOOMCTL_BASE_NUM_H
#define BLOOMCTL_BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decimal digits, nothing else, into *out.  0, or -1 if text is no such number
 * or exceeds UINT64_MAX.
 */
int num_u64(const char *text, uint64_t *out);

/* A finite decimal number without sign, as 0.01 or 1e-3.  0 or -1. */
int num_double(const char *text, double *out);

/*
 * Bytes: digits and perhaps a unit of K, M, G, T (powers of 1024; "KiB" and
 * "kb" mean the same).  0 or -1.
 */
int num_bytes(const char *text, uint64_t *out);

/* Room for any text that the functions below write. */
#define NUM_TEXT_MAX 48

/* "1.4 MiB"; exact below 1 KiB ("96 B").  Returns out. */
const char *num_bytes_text(uint64_t bytes, char out[NUM_TEXT_MAX]);

/* "12,345,678".  Returns out. */
const char *num_grouped(uint64_t n, char out[NUM_TEXT_MAX]);

/* 16 lower-case hexadecimal digits, most significant first.  Returns out. */
const char *num_hex(uint64_t n, char out[NUM_TEXT_MAX]);

/* The shortest text that reads back as the same double.  Returns out. */
const char *num_double_text(double x, char out[NUM_TEXT_MAX]);

/* With a fixed number of decimals, 0 to 9, and a point.  Returns out. */
const char *num_fixed(double x, int decimals, char out[NUM_TEXT_MAX]);

#endif
