/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/random.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int random_bytes(void *out, size_t len, struct error *err)
{
	if (getentropy(out, len) == 0)
		return 0;
	memset(out, 0, len);
	return error_errno(err, ERROR_INTERNAL, errno,
			   "random bytes of the system");
}
