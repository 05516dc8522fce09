/* SPDX-License-Identifier: BSD-2-Clause
 *
 * exportlist: what an export consists of, as the file PATH.export.json beside
 * its parts.
 *
 *	cards.00001.csv.gz  cards.00002.csv.gz  ...  cards.export.json
 *
 * The list is written last and names every part with its rows, bytes and sum,
 * so that whoever reads the parts knows that they have all of them, whole, and
 * of one export.  Its text is a record (lib/base/record.h); members are those
 * of bloomctl-protocol(7), in that order.
 */
#ifndef BLOOMCTL_ROWS_EXPORTLIST_H
#define BLOOMCTL_ROWS_EXPORTLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/horizon.h"
#include "lib/rows/pack.h"

/* The only format that is written, and read. */
#define EXPORTLIST_FORMAT 1
/* The longest text of a list, in bytes. */
#define EXPORTLIST_MAX (64u << 20)
/* The most parts. */
#define EXPORTLIST_PARTS_MAX 99999u
#define EXPORTLIST_SUFFIX    ".export.json"
/* While an export is not ended: its list, and that of the one before. */
#define EXPORTLIST_MARK ".export.json.tmp"
#define EXPORTLIST_OLD  ".export.json.old"
/* What is behind a part's name while it is written. */
#define EXPORTLIST_ASIDE ".tmp"
/* The column of an export of keys. */
#define EXPORTLIST_KEY "bloom_key"

enum exportlist_kind {
	EXPORTLIST_CSV,
	EXPORTLIST_TEXT,
	EXPORTLIST_KEYS, /* COPY text of one column, which is the key */
	EXPORTLIST_KINDS
};

struct exportpart {
	char *name;     /* of the file, in the folder of the list; owned */
	uint64_t rows;  /* without a header */
	uint64_t bytes; /* of the file as it lies there */
	uint64_t xxh64; /* of these */
};

struct exportlist {
	enum exportlist_kind kind;
	enum pack_kind packed;
	bool header;          /* each part begins with one */
	char **columns;       /* names, in order; owned; NULL where only the
				 header has them */
	size_t column_count;  /* 0 then */
	char set[65];         /* of keys: whose; else "" */
	char fingerprint[65]; /* of the keyspec that made them; else "" */
	uint64_t rows;        /* of all parts */
	uint64_t rejects;     /* rows that have no key and are in no part */
	int64_t started;      /* ms since 1970 */
	int64_t ended;
	char *source; /* its -s words, for records; owned */
	char *origin; /* origin_json() as text; owned; NULL: nothing is known */
	struct horizon horizon;   /* of the rows */
	struct exportpart *parts; /* owned */
	size_t count;
};

/* Frees what it owns; legal for one of all zeros, and twice. */
void exportlist_release(struct exportlist *list);

/* The text, owned by the caller; NULL with ERROR_INTERNAL. */
char *exportlist_encode(const struct exportlist *list, size_t *len,
			struct error *err);

/*
 * Reads a text.  0, or -1 with ERROR_DATA (it is cut off, damaged, or not as
 * it must be) or ERROR_INTERNAL (no memory); *out needs a release after 0.
 */
int exportlist_decode(const char *text, size_t len, struct exportlist *out,
		      struct error *err);

/*
 * The name of a part, number from 1, of an export to `base`: the name without
 * a folder.  0, or ERROR_USAGE if it would be too long for a file (size).
 */
int exportlist_part_name(const struct exportlist *list, const char *base,
			 size_t number, char *out, size_t size,
			 struct error *err);

/*
 * How long the base is if a file's name is that of a part of any export, or
 * else 0.
 */
size_t exportlist_base_len(const char *name);

/* The same for the name of a part that is being written. */
size_t exportlist_aside_len(const char *name);

/*
 * Whether the parts are named for a base of that many bytes, as they are
 * unless somebody gave the list another name.  0 or -1 (ERROR_DATA).
 */
int exportlist_check_base(const struct exportlist *list, const char *base,
			  size_t len, struct error *err);

/* "csv", "text", "key". */
const char *exportlist_kind_name(enum exportlist_kind kind);

#endif
