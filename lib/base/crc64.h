/* SPDX-License-Identifier: BSD-2-Clause
 *
 * crc64: the checksum at the end of what DUMP gives and RESTORE takes.
 */
#ifndef BLOOMCTL_BASE_CRC64_H
#define BLOOMCTL_BASE_CRC64_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-64 with the polynomial of D. T. Jones (0xad93d23594c935a9), reflected.
 * crc is 0, or the value of the bytes before these.
 */
uint64_t crc64(uint64_t crc, const void *data, size_t len);

#endif
