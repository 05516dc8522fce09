/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/show.h"

#undef error_set
#undef error_errno
#undef error_prefix
#undef error_hint
#undef error_nomem

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
	va_list ap;

	err->code = code;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	show_clean(err->text);
	return -1;
}

int error_errno(struct error *err, enum error_code code, int errnum,
		const char *fmt, ...)
{
	char buf[128];
	size_t used;
	va_list ap;

	err->code = code;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	used = strlen(err->text);
	if (strerror_r(errnum, buf, sizeof(buf)) != 0)
		(void)snprintf(buf, sizeof(buf), "error %d", errnum);
	(void)snprintf(err->text + used, sizeof(err->text) - used, ": %s", buf);
	show_clean(err->text);
	return -1;
}

enum error_code error_code_of_errno(int errnum)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return ERROR_SPACE;
	case EACCES:
	case EPERM:
	case EROFS:
		return ERROR_RIGHTS;
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return ERROR_INTERNAL;
	default:
		return ERROR_DATA;
	}
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	size_t used;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	used = strlen(text);
	(void)snprintf(text + used, sizeof(text) - used, ": %.*s",
		       (int)(sizeof(text) - 3), err->text);
	memcpy(err->text, text, sizeof(text));
	show_clean(err->text);
	return -1;
}

int error_hint(struct error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	show_clean(err->hint);
	return -1;
}

int error_nomem(struct error *err)
{
	return error_set(err, ERROR_INTERNAL, "out of memory");
}
