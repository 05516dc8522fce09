/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bucketfile: the file of one filter, which readers may map.
 *
 *	0        4096                4096 + bytes
 *	| header |        bits       |
 *
 * The header is one page (bucketfile.def, bloomctl-protocol(7)) with a
 * checksum of the bits and one of itself.  Error texts here do not name the
 * file; the caller knows its path.  Everything that is wrong with a file is
 * ERROR_DATA.
 */
#ifndef BLOOMCTL_STORE_BUCKETFILE_H
#define BLOOMCTL_STORE_BUCKETFILE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/horizon.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/filter/layout.h"
#include "lib/store/names.h"

#define BUCKETFILE_HEADER  4096
#define BUCKETFILE_VERSION 1
/* All fields lie in these first bytes, one sector of a disk. */
#define BUCKETFILE_HEADER_USED 512

enum bucketfile_state {
	BUCKETFILE_BUILDING = 1, /* not whole; no reader may use it */
	BUCKETFILE_SEALED,       /* whole, and bits_sum is true */
	BUCKETFILE_OPEN, /* whole, being added to: bits_sum is not judged */
};

/* What a header says.  params.bpe is not in it and 0 when decoded. */
struct bucketfile {
	enum bucketfile_state state;
	uint32_t layout; /* layout_ops.id */
	uint32_t bucket;
	uint32_t buckets;
	struct filter_params params;
	uint64_t items; /* members that set a bit, with the sentinel */
	uint64_t keys;  /* keys sent to it, without the sentinel */
	uint64_t fence;
	char fingerprint[BLOOMKEY_FINGERPRINT_LEN + 1];
	char generation[NAMES_ID_MAX];
	struct horizon horizon;
	uint64_t bits_sum; /* XXH64 of the bits */
};

/* Writes a header page, with its own checksum. */
void bucketfile_encode(const struct bucketfile *f,
		       unsigned char page[BUCKETFILE_HEADER]);

/* Reads one; every value is in its range then.  On failure *out is zeroed. */
int bucketfile_decode(const unsigned char page[BUCKETFILE_HEADER],
		      struct bucketfile *out, struct error *err);

/*
 * Whether f is finished and is the filter that is wanted: bucket and buckets,
 * fingerprint, generation, layout and params with the seed are compared.
 */
int bucketfile_match(const struct bucketfile *f, const struct bucketfile *want,
		     struct error *err);

/*
 * Writes a new file `name` in a folder: f with bits_sum filled in, and
 * f->params.bytes of bits.  The header goes last, so that a half-written file
 * has none.  ERROR_DATA also if the file is there; codes of
 * error_code_of_errno().  Nothing is synced.
 */
int bucketfile_write(int dirfd, const char *name, const struct bucketfile *f,
		     const void *bits, struct error *err);

/*
 * Opens a file for reading and checks all but its bits: no symbolic link, a
 * regular file of the right size, its header whole and matching, also while
 * somebody else replaces that.  *size is the file's, in bytes.  A descriptor
 * that the caller closes, or -1.
 */
int bucketfile_open(int dirfd, const char *name, const struct bucketfile *want,
		    struct bucketfile *out, uint64_t *size, struct error *err);

/*
 * Reads all bits and compares their checksum (not of an open file).
 * *bits_set, if not NULL, is the number of bits that are 1.  A file that is
 * added to meanwhile is read again, and *f is what its header says then.
 */
int bucketfile_check(int fd, struct bucketfile *f, uint64_t *bits_set,
		     struct error *err);

/* Reads all bits and sets f->bits_sum to what their checksum is. */
int bucketfile_sum(int fd, struct bucketfile *f, struct error *err);

/*
 * Replaces the header of an open file by f, in one write.  Codes of
 * error_code_of_errno().  Nothing is synced.
 */
int bucketfile_set(int fd, const struct bucketfile *f, struct error *err);

/*
 * Maps a file that bucketfile_open() has checked, for random reading; the
 * bits, or NULL (*nomem: the system has no mapping or memory left).  The
 * descriptor may be closed.  A file that somebody cuts off while it is mapped
 * kills the reader (SIGBUS); nothing of ours ever does that.
 */
const unsigned char *bucketfile_map(int fd, const struct bucketfile *f,
				    int *nomem, struct error *err);

/* Undoes it; bits of NULL are legal. */
void bucketfile_unmap(const unsigned char *bits, uint64_t bytes);

#endif
