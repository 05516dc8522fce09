/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/error.h"

#include <errno.h>

#include "tests/unit/unit.h"

static void set_and_prefix(void)
{
	struct error err = ERROR_INIT;

	CHECK(error_set(&err, ERROR_DATA, "row %d: cut off", 7) == -1);
	CHECK(error_hint(&err, "mend it") == -1);
	CHECK(error_prefix(&err, "file '%s'", "x") == -1);
	CHECK_U64(err.code, 74);
	CHECK_STR(err.text, "file 'x': row 7: cut off");
	CHECK_STR(err.hint, "mend it");
	(void)error_set(&err, ERROR_FULL, "bucket 3");
	CHECK_STR(err.hint, "");
}

static void long_texts(void)
{
	struct error err = ERROR_INIT;
	char text[2 * sizeof(err.text)];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)error_set(&err, ERROR_DATA, "%s", text);
	CHECK_U64(strlen(err.text), sizeof(err.text) - 1);
	(void)error_prefix(&err, "%s", text);
	CHECK_U64(strlen(err.text), sizeof(err.text) - 1);
	(void)error_errno(&err, ERROR_DATA, ENOENT, "%s", text);
	CHECK_U64(strlen(err.text), sizeof(err.text) - 1);
	(void)error_hint(&err, "%s", text);
	CHECK_U64(strlen(err.hint), sizeof(err.hint) - 1);
}

static void errno_codes(void)
{
	struct error err = ERROR_INIT;

	CHECK(error_code_of_errno(ENOSPC) == ERROR_SPACE);
	CHECK(error_code_of_errno(EDQUOT) == ERROR_SPACE);
	CHECK(error_code_of_errno(EFBIG) == ERROR_SPACE);
	CHECK(error_code_of_errno(EACCES) == ERROR_RIGHTS);
	CHECK(error_code_of_errno(EROFS) == ERROR_RIGHTS);
	CHECK(error_code_of_errno(ENOMEM) == ERROR_INTERNAL);
	CHECK(error_code_of_errno(EIO) == ERROR_DATA);
	(void)error_errno(&err, ERROR_DATA, ENOENT, "file 'x'");
	CHECK_STR(err.text, "file 'x': No such file or directory");
}

int main(void)
{
	UNIT(set_and_prefix, "error: callers add in front, the hint stays");
	UNIT(long_texts, "error: a text that is too long is cut, not lost");
	UNIT(errno_codes, "error: errno tells space, rights and damage apart");
	return unit_end();
}
