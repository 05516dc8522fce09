/* SPDX-License-Identifier: BSD-2-Clause */
#include "bloomkey.h"

/*
 * The installed header spells the codes out so that it stands alone; this
 * holds the two equal.  The switch below has no default, so that a code that
 * reject.def lacks is a warning.
 */
#define BLOOMKEY_REJECT_ROW(name, code, reason)                        \
	_Static_assert(BLOOMKEY_REJECT_##name == (code), "reject.def:" \
							 " " #name);
#include "reject.def"
#undef BLOOMKEY_REJECT_ROW

const char *bloomkey_reason(int code)
{
	switch ((enum bloomkey_code)code) {
#define BLOOMKEY_REJECT_ROW(name, code, reason) \
	case BLOOMKEY_REJECT_##name:            \
		return reason;
#include "reject.def"
#undef BLOOMKEY_REJECT_ROW
	case BLOOMKEY_OK:
	case BLOOMKEY_EINVAL:
	case BLOOMKEY_ENOMEM:
	case BLOOMKEY_ERANGE:
	case BLOOMKEY_ESECRET:
	case BLOOMKEY_EIO:
		break;
	}
	return NULL;
}
