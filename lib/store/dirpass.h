/* SPDX-License-Identifier: BSD-2-Clause
 *
 * dirpass: what is added to filters of a dir: store that are whole, in place.
 *
 *	sealed ── header: open ─► sync ─► bits ─► sync ── header: sealed ─► sync
 *
 * Bits are only ever set, so readers may use a filter all the time.  While its
 * header says that it is open, nobody judges the checksum of its bits, which
 * may be of any moment; a pass that ends at any point leaves it so, and the
 * next one seals it.  A filter that has all members already, and whose horizon
 * stays, is not written to.
 *
 * Bits are written and not set in a mapping: a disk that is full, or that
 * fails, is then an error and not a SIGBUS.  For dirpass*.c alone.
 */
#ifndef BLOOMCTL_STORE_DIRPASS_H
#define BLOOMCTL_STORE_DIRPASS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/store/dir.h"

/* One filter.  The first five are those of its header before the pass. */
struct passbucket {
	struct horizon horizon;
	uint64_t fence;
	uint64_t keys;
	uint64_t bits_sum;
	uint64_t first;     /* items */
	uint64_t items;     /* with what this pass added */
	uint64_t keys_here; /* that this pass has acknowledged */
	ino_t inode;
	int fd;       /* -1: not open */
	bool open;    /* its header says so */
	bool bits;    /* bits_sum is not theirs any more */
	bool dirty;   /* written since it was synced */
	bool failed;  /* took not all, or is not there */
	bool changed; /* by somebody else */
};

struct dirpass {
	struct dir *dir; /* borrowed */
	bool live;
	char generation[NAMES_ID_MAX];
	const struct layout_ops *layout;
	struct bucketfile want;
	int folder; /* the generation's */
	int lock;   /* its DIR_PASS */
	struct passbucket *buckets;
	pthread_mutex_t mutex; /* of all below, and of buckets */
	unsigned fds;          /* files that are open */
	uint32_t opened;       /* headers that this pass has set to open */
	uint32_t dirty;        /* files */
	uint64_t acknowledged;
	uint64_t added;
	uint32_t failed;
	struct error why; /* of the first of them */
	unsigned writers; /* open */
};

/* What the header of a filter says after what the pass has done. */
void dirpass_header(const struct dirpass *p, uint32_t bucket,
		    struct bucketfile *out);

/* Frees a pass and leaves its files as they are; NULL is legal. */
void dirpass_free(struct dirpass *p);

/*
 * Opens a filter's file for reading and writing, if it is not: 0; 1: it is not
 * the one that it was; or -1, and err names no file.
 */
int dirpass_file(struct dirpass *p, uint32_t bucket, struct error *err);

/*
 * Notes whether a filter's file is not any more what it was, or what the pass
 * has made of it.  0, or -1, and err names no file.
 */
int dirpass_look(struct dirpass *p, uint32_t bucket, struct error *err);

/* Of dirpass_open(): the error is not one filter's own, and says whose. */
#define DIRPASS_ALL (-2)

/*
 * Before the first bit: sees to it that the header of a filter says so on the
 * disk.  As dirpass_file(), or DIRPASS_ALL.
 */
int dirpass_open(struct dirpass *p, uint32_t bucket, struct error *err);

/* Closes all that are open. */
void dirpass_close_files(struct dirpass *p);

/* Notes that a filter did not take all, for the reason in err. */
void dirpass_failed(struct dirpass *p, uint32_t bucket,
		    const struct error *err);

/* Notes that a filter's file was written to. */
void dirpass_dirty(struct dirpass *p, uint32_t bucket);

/* Syncs what was written to; -1 where not one filter alone failed. */
int dirpass_sync(struct dirpass *p, struct error *err);

/*
 * Puts the name of a filter's file before an error and notes it.  0, and the
 * others go on, where it is that filter's own, such as of one that is not
 * there; else -1.
 */
int dirpass_own_error(struct dirpass *p, uint32_t bucket, struct error *err);

#endif
