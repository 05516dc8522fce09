/* SPDX-License-Identifier: BSD-2-Clause
 *
 * dir: the store that is a folder.
 *
 *	PATH/NAME-FP8/lock
 *	              sync-lock, fed, exposure
 *	              live -> ID, and live.moving -> ID while that is new
 *	              ID/manifest.json
 *	                 pass-lock
 *	                 000.bloom ...
 *
 * Folders are held open and everything below is named relative to them, so
 * that a folder moved while a run works changes nothing.  What a crash may
 * leave at any point is either not looked at (live.tmp, ID.gone, *.tmp:
 * removed under the next lock) or put right by how list() reads it: readers
 * get the generation that `live` points at, whatever manifests say.
 *
 * This header is for the files dir*.c alone.
 */
#ifndef BLOOMCTL_STORE_DIR_H
#define BLOOMCTL_STORE_DIR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/store/bucketfile.h"
#include "lib/store/store.h"

/* Names in a set's folder and in a generation's. */
#define DIR_LIVE     "live"
#define DIR_LIVE_TMP "live.tmp"
#define DIR_MOVING   "live.moving"
#define DIR_LOCK     "lock"
#define DIR_SYNC     "sync-lock"
#define DIR_FED      "fed"
#define DIR_EXPOSURE "exposure"
#define DIR_PASS     "pass-lock"
#define DIR_MANIFEST "manifest.json"
#define DIR_GONE     ".gone"
/* Room for "ID.gone" and a NUL. */
#define DIR_GONE_MAX (NAMES_ID_MAX + sizeof(DIR_GONE))
/* Room for who holds a lock, as text. */
#define DIR_OWNER_MAX 256

/* Up to so many files are synced one by one, which touches nobody else's
 * data; each one waits for the disk about a millisecond.  More are synced with
 * their file system at once: 65,536 files take a second or two instead of a
 * minute.
 */
#define DIR_SYNC_SINGLY 512

struct dirbuild;
struct dirpass;

struct dir {
	struct store base;
	const struct bloomkey_spec *spec; /* borrowed */
	char set[NAMES_SET_MAX];
	char *place;       /* "dir:PATH" as messages name it; owned */
	const char *shown; /* PATH, the same */
	bool create;       /* the set's folder may be made */
	int root;          /* PATH */
	int folder;        /* the set's; -1: not there */
	int lock;          /* -1: not held */
	int sync;          /* the lock of syncs; -1: not held */
	uint64_t fence;
	struct dirbuild *build; /* reserved last; owned, or NULL */
	struct dirpass *pass;   /* under way; owned, or NULL */
	/*
	 * What the last pass into a generation that was not live has made of
	 * its horizons, per bucket; owned, or NULL.
	 */
	char passed[NAMES_ID_MAX];
	struct horizon *horizons;
	atomic_uint maps; /* filters that the probes have mapped */
};

/* Opens a folder as the store of a set; see store_open(). */
int dir_open(const char *path, const struct bloomkey_spec *spec,
	     const struct store_options *options, struct store **out,
	     struct error *err);

/* See store_creatable(). */
int dir_creatable(const char *path, struct error *err);

/*
 * Sees to it that dir->folder is open if it is there.  make: makes it if it
 * is not.  0 also if it is not there.
 */
int dir_set(struct dir *dir, bool make, struct error *err);

/* Opens a generation's folder: a descriptor, or -1 (ERROR_GENERATION). */
int dir_generation(struct dir *dir, const char *id, struct error *err);

/* Where `live` points; empty if there is none.  ERROR_DATA if at no id. */
int dir_live(struct dir *dir, char out[NAMES_ID_MAX], struct error *err);

/* Whether live.moving points at live, too: what dir_live() has said. */
bool dir_moving(const struct dir *dir, const char *live);

/*
 * The manifest of a generation as it is written.  ERROR_DATA if it is
 * missing, damaged or another generation's; the text names no file.
 */
int dir_manifest(struct dir *dir, const char *id, struct manifest *out,
		 struct error *err);

/*
 * Whether an open file is the lock file that is in a folder now: one that was
 * removed keeps nobody out.
 */
int dir_is_lock(const struct dir *dir, int folder, const char *name, int fd,
		bool *is, struct error *err);

/*
 * ERROR_INTERNAL if the lock is not held; ERROR_LOCKED if its file was removed
 * or replaced since, so that another run may hold another one.
 */
int dir_need_lock(const struct dir *dir, struct error *err);

/* Syncs the set's folder. */
int dir_sync_set(const struct dir *dir, struct error *err);

/* Puts "filter file 'PATH/SET/ID/BUCKET.bloom'" in front. */
int dir_prefix_file(const struct dir *dir, const char *id, uint32_t bucket,
		    struct error *err);

/*
 * Whether somebody holds the lock of that name, this store too: *held, the
 * fence under which (0: not known) and who, as text.  owner may be NULL.
 */
int dirlock_holder(struct dir *dir, const char *name, bool *held,
		   uint64_t *fence, char owner[DIR_OWNER_MAX],
		   struct error *err);

/*
 * Opens the lock file `name` in an open folder, which is made if it is not
 * there, and takes it: a descriptor, or -1.  ERROR_LOCKED: "set 'SET': HELD by
 * OWNER".
 */
int dirlock_take(const struct dir *dir, int folder, const char *name,
		 const char *held, struct error *err);

/* Writes who holds it; a fence of 0 is none. */
int dirlock_write(const struct dir *dir, int fd, const char *name,
		  const char *command, uint64_t fence, struct error *err);

/* What the files of a generation must be, but for their bucket. */
int dirprobe_wanted(const struct dir *dir, const struct manifest *m,
		    const struct layout_ops **layout, struct bucketfile *out,
		    struct error *err);

/*
 * Whether all files of a generation are there, and have the horizons that a
 * pass of this run has left; all but their bits is read.
 */
int dirprobe_headers(struct dir *dir, const struct manifest *m,
		     struct error *err);

/* Removes what crashed runs left behind, as far as it can. */
void dirdrop_leftovers(struct dir *dir);

/* Removes a generation's folder without looking at `live`. */
int dirdrop_folder(struct dir *dir, const char *id, struct error *err);

/* syncfs(2), begun again where a signal cut it short; sets errno. */
int dirseal_syncfs(int fd);

/* Frees the build; NULL is legal. */
void dirbuild_free(struct dirbuild *build);

/* A writer into the pass that is under way. */
int dirpass_writer(struct dir *dir, struct writer **out, struct error *err);

/* Forgets what horizons a pass has left: the lock under which it was is. */
void dirpass_forget(struct dir *dir);

/* The store's operations, each in the file of its noun. */
int dirlist_list(struct store *s, struct manifest **out, size_t *count,
		 struct error *err);
int dirlock_lock(struct store *s, const char *command, uint64_t *fence,
		 struct error *err);
void dirlock_unlock(struct store *s);
int dirlock_locked_by(struct store *s, bool sync, char *out, size_t size,
		      struct error *err);
int dirbuild_fits(struct store *s, const struct filter_params *params,
		  unsigned workers, struct error *err);
int dirbuild_reserve(struct store *s, const struct manifest *m,
		     const struct layout_ops *layout,
		     const struct filter_params *params, unsigned workers,
		     struct error *err);
int dirbuild_writer(struct store *s, struct writer **out, struct error *err);
int dirseal_seal(struct store *s, struct manifest *m, struct error *err);
int dirpass_begin(struct store *s, const struct manifest *m, bool live,
		  unsigned workers, struct horizon *oldest, struct error *err);
int dirpass_end(struct store *s, const struct horizon *to, const uint64_t *keys,
		struct pass_report *out, struct error *err);
void dirpass_drop(struct store *s);
int dirsync_lock(struct store *s, const char *command, struct error *err);
void dirsync_unlock(struct store *s);
int dirsync_fed(struct store *s, int64_t *at, struct error *err);
int dirsync_set_fed(struct store *s, int64_t at, struct error *err);
int direxposure_read(struct store *s, struct exposure *out, struct error *err);
int direxposure_write(struct store *s, const struct exposure *e,
		      struct error *err);
int dir_put(struct store *s, const struct manifest *m, struct error *err);
int dirprobe_info(struct store *s, const struct manifest *m, uint32_t bucket,
		  bool whole, struct bucket_info *out, struct error *err);
int dirprobe_probe(struct store *s, const struct manifest *m, probe_fn *fn,
		   void *ctx, struct probe **out, struct error *err);
int dirswap_promote(struct store *s, struct manifest *next,
		    struct manifest *live, struct error *err);
int dirdrop_drop(struct store *s, const char *generation, struct error *err);
int dirdrop_retire(struct store *s, struct error *err);

#endif
