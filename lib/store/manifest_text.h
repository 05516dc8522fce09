/* SPDX-License-Identifier: BSD-2-Clause
 *
 * manifest_text: the members of a manifest's text, which is a record
 * (lib/base/record.h), for its encoder and its decoder.
 */
#ifndef BLOOMCTL_STORE_MANIFEST_TEXT_H
#define BLOOMCTL_STORE_MANIFEST_TEXT_H

#include <stddef.h>

/* The format that is written, and the only one that is read. */
#define MANIFEST_FORMAT 1
/* The longest text, in bytes: 65,536 counts of up to 20 digits and a source. */
#define MANIFEST_TEXT_MAX (4u << 20)

enum manifest_kind {
	MEMBER_FORMAT,
	MEMBER_TEXT, /* into an array of size bytes, whole or not at all */
	MEMBER_STATE,
	MEMBER_U32,
	MEMBER_U64,
	MEMBER_REAL,
	MEMBER_TIME,    /* RFC 3339, or null for 0 */
	MEMBER_SOURCE,  /* text or null */
	MEMBER_ORIGIN,  /* an object; not there if there is nothing to say */
	MEMBER_HORIZON, /* an object; not there for none */
	MEMBER_SEED,    /* hexadecimal digits, or "" for none */
	MEMBER_COUNTS,  /* one per bucket, or null */
	MEMBER_CHECKSUM,
};

struct manifest_member {
	const char *name;
	enum manifest_kind kind;
	size_t offset; /* in struct manifest */
	size_t size;   /* MEMBER_TEXT: of the array */
};

/* In the order of the text, ended by MEMBER_COUNTS and MEMBER_CHECKSUM. */
#define MANIFEST_MEMBERS 26
extern const struct manifest_member manifest_members[MANIFEST_MEMBERS];

#endif
