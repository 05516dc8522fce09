/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/magic.h"

#include <string.h>

#define UNPACK  "unpack it first and name the unpacked file"
#define REWRITE "write it as CSV or COPY text instead"
#define RECODE  "convert it to UTF-8 first, for example with iconv -t UTF-8"

static const struct {
	struct magic magic;
	const char *bytes;
	size_t len;
} known[] = {
#define KNOWN(bytes, name, remedy)                       \
	{                                                \
		{name, remedy}, bytes, sizeof(bytes) - 1 \
	}
	/* With the block's mark: a row of text may begin with "BZh". */
	KNOWN("BZh?1AY&SY", "bzip2", UNPACK),
	KNOWN("BZh?\x17\x72\x45\x38\x50\x90", "bzip2", UNPACK),
	KNOWN("\xfd"
	      "7zXZ\0",
	      "xz", UNPACK),
	KNOWN("\x04\x22\x4d\x18", "lz4", UNPACK),
	KNOWN("\x1f\x9d", "compress", UNPACK),
	KNOWN("7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
	KNOWN("PK\x03\x04", "a zip archive", UNPACK),
	KNOWN("PK\x05\x06", "a zip archive", UNPACK),
	KNOWN("PK\x07\x08", "a zip archive", UNPACK),
	KNOWN("PAR1", "Parquet", REWRITE),
	KNOWN("Obj\x01", "Avro", REWRITE),
	KNOWN("SQLite format 3\0", "an SQLite database", REWRITE),
	KNOWN("PGDMP", "pg_dump's custom format",
	      "write the table by COPY instead"),
	KNOWN("PGCOPY\n\xff\r\n\0", "PostgreSQL's binary COPY",
	      "export it with format text or csv instead"),
	/* UTF-32 first: its little-endian mark begins like UTF-16's. */
	KNOWN("\xff\xfe\0\0", "UTF-32", RECODE),
	KNOWN("\0\0\xfe\xff", "UTF-32", RECODE),
	KNOWN("\xff\xfe", "UTF-16", RECODE),
	KNOWN("\xfe\xff", "UTF-16", RECODE),
#undef KNOWN
};

static int matches(const char *data, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] != '?' && data[i] != bytes[i])
			return 0;
	}
	return 1;
}

/* Two ASCII characters in UTF-16 without its mark, in either order. */
static int is_wide(const char *data, size_t len)
{
	return len >= 4 &&
	       ((data[0] != 0 && data[1] == 0 && data[2] != 0 &&
		 data[3] == 0) ||
		(data[0] == 0 && data[1] != 0 && data[2] == 0 && data[3] != 0));
}

const struct magic *magic_find(const void *data, size_t len)
{
	static const struct magic wide = {"UTF-16", RECODE};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (len >= known[i].len &&
		    matches(data, known[i].bytes, known[i].len))
			return &known[i].magic;
	}
	return is_wide(data, len) ? &wide : NULL;
}

int magic_refuse(const struct magic *magic, struct error *err)
{
	(void)error_set(err, ERROR_SOURCE,
			"it is %s by its first bytes, not rows", magic->name);
	return error_hint(err, "%s", magic->remedy);
}
