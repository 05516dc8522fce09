/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_rows(ROWFORMAT_TEXT, data, size);
}
