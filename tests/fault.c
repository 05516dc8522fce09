/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fault: makes the n-th call of a kind fail, or ends the process there.  It is
 * preloaded into the program under test, which knows nothing of it:
 *
 *	LD_PRELOAD=fault.so FAULT=fsync:3:EIO FAULT_PATH=/tmp/x bloomctl ...
 *
 * FAULT=KIND:N[:WHAT] counts the calls of a KIND (see kinds below; "any" is
 * every kind but alloc) and does WHAT at the N-th, from 1 on: it fails with an
 * errno value, named (EIO unless told); it writes half of its bytes ("half");
 * or before it is made, the process gets SIGKILL ("kill"), SIGSTOP ("stop"),
 * SIGINT ("int"), SIGTERM ("term") or SIGALRM ("alrm").  N of 0 only counts.
 *Calls of fsync that do not fail do nothing: no test cuts the power, and they
 *take time.
 *
 * FAULT_PATH=TEXT counts only calls on files whose path holds TEXT; a path
 * given relative to a folder's descriptor is completed first.  Allocations
 * have no path.  FAULT_COUNT=FILE receives the number of calls counted when
 * the process exits by itself.
 */

/* RTLD_NEXT */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
	KIND_NONE,
	KIND_WRITE,   /* write, pwrite, writev */
	KIND_FSYNC,   /* fsync, fdatasync, syncfs */
	KIND_RENAME,  /* rename, renameat */
	KIND_OPEN,    /* open, openat */
	KIND_MKDIR,   /* mkdir, mkdirat */
	KIND_UNLINK,  /* unlink, unlinkat */
	KIND_SYMLINK, /* symlink, symlinkat */
	KIND_MMAP,    /* of files */
	KIND_ALLOC,   /* malloc, calloc, realloc */
	KIND_ANY,     /* all but KIND_ALLOC */
};

static const struct {
	const char *name;
	enum kind kind;
} kinds[] = {
	{"write", KIND_WRITE},     {"fsync", KIND_FSYNC},
	{"rename", KIND_RENAME},   {"open", KIND_OPEN},
	{"mkdir", KIND_MKDIR},     {"unlink", KIND_UNLINK},
	{"symlink", KIND_SYMLINK}, {"mmap", KIND_MMAP},
	{"alloc", KIND_ALLOC},     {"any", KIND_ANY},
};

#define HALF (-1)

static const struct {
	const char *name;
	int errnum;
	int signal;
} whats[] = {
	{"EIO", EIO, 0},       {"ENOSPC", ENOSPC, 0}, {"EACCES", EACCES, 0},
	{"ENOMEM", ENOMEM, 0}, {"EROFS", EROFS, 0},   {"EDQUOT", EDQUOT, 0},
	{"half", HALF, 0},     {"kill", 0, SIGKILL},  {"stop", 0, SIGSTOP},
	{"int", 0, SIGINT},    {"term", 0, SIGTERM},  {"alrm", 0, SIGALRM},
};

static struct {
	enum kind kind;
	unsigned long at;
	int errnum;
	int signal;
	const char *path;  /* NULL: any */
	const char *count; /* NULL: not wanted */
} fault;

static atomic_ulong calls;

/* A mistake in a test must not look like a run without a fault. */
static void wrong(const char *what)
{
	(void)fprintf(stderr, "fault: FAULT: %s\n", what);
	_exit(99);
}

static void read_what(const char *text)
{
	fault.errnum = EIO;
	if (*text == '\0')
		return;
	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		if (strcmp(text + 1, whats[i].name) != 0)
			continue;
		fault.errnum = whats[i].errnum;
		fault.signal = whats[i].signal;
		return;
	}
	wrong("no such thing to do");
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAULT");
	enum kind kind = KIND_NONE;
	char *end;

	if (text == NULL)
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].name);

		if (strncmp(text, kinds[i].name, n) == 0 && text[n] == ':') {
			kind = kinds[i].kind;
			text += n + 1;
			break;
		}
	}
	if (kind == KIND_NONE)
		wrong("no such kind of call");
	fault.at = strtoul(text, &end, 10);
	if (end == text || (*end != '\0' && *end != ':'))
		wrong("no number");
	read_what(end);
	fault.path = getenv("FAULT_PATH");
	fault.count = getenv("FAULT_COUNT");
	fault.kind = kind; /* from here on calls are counted */
}

__attribute__((destructor)) static void end(void)
{
	unsigned long n = atomic_load(&calls);
	enum kind kind = fault.kind;
	FILE *f;

	fault.kind = KIND_NONE;
	if (kind == KIND_NONE || fault.count == NULL)
		return;
	f = fopen(fault.count, "w");
	if (f == NULL || fprintf(f, "%lu\n", n) < 0 || fclose(f) != 0)
		wrong("FAULT_COUNT cannot be written");
}

/* Whether a call of this kind, on such a path, is the one; errno is set. */
static bool hits(enum kind kind, const char *path)
{
	if (fault.kind != kind &&
	    (fault.kind != KIND_ANY || kind == KIND_ALLOC))
		return false;
	if (fault.path != NULL && kind != KIND_ALLOC &&
	    (path == NULL || strstr(path, fault.path) == NULL))
		return false;
	if (atomic_fetch_add(&calls, 1) + 1 != fault.at)
		return false;
	if (fault.signal != 0) {
		(void)raise(fault.signal);
		return false;
	}
	errno = fault.errnum;
	return true;
}

static bool wanted(enum kind kind)
{
	return fault.kind == kind ||
	       (fault.kind == KIND_ANY && kind != KIND_ALLOC);
}

/* The path of a descriptor. */
static const char *path_of(int fd, char out[PATH_MAX])
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, PATH_MAX - 1);
	if (n < 0)
		return NULL;
	out[n] = '\0';
	return out;
}

static bool hits_fd(enum kind kind, int fd)
{
	char path[PATH_MAX];

	return wanted(kind) && hits(kind, path_of(fd, path));
}

static bool hits_at(enum kind kind, int dirfd, const char *name)
{
	char folder[PATH_MAX];
	char path[2 * PATH_MAX];

	if (!wanted(kind))
		return false;
	if (name[0] == '/' || dirfd == AT_FDCWD ||
	    path_of(dirfd, folder) == NULL)
		return hits(kind, name);
	(void)snprintf(path, sizeof(path), "%s/%.4095s", folder, name);
	return hits(kind, path);
}

/* Sets a pointer to a function to the next definition of one. */
static void find(void *function, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

#define NEXT(result, name, ...)             \
	static result (*next)(__VA_ARGS__); \
	if (next == NULL)                   \
	find(&next, #name)

ssize_t write(int fd, const void *data, size_t len)
{
	NEXT(ssize_t, write, int, const void *, size_t);
	if (hits_fd(KIND_WRITE, fd)) {
		if (fault.errnum != HALF)
			return -1;
		len = (len + 1) / 2;
	}
	return next(fd, data, len);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	NEXT(ssize_t, pwrite, int, const void *, size_t, off_t);
	if (hits_fd(KIND_WRITE, fd)) {
		if (fault.errnum != HALF)
			return -1;
		len = (len + 1) / 2;
	}
	return next(fd, data, len, at);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off_t at)
{
	return pwrite(fd, data, len, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	NEXT(ssize_t, writev, int, const struct iovec *, int);
	if (hits_fd(KIND_WRITE, fd))
		return fault.errnum == HALF ? next(fd, parts, 1) : -1;
	return next(fd, parts, count);
}

int fsync(int fd)
{
	NEXT(int, fsync, int);
	if (hits_fd(KIND_FSYNC, fd))
		return -1;
	return fault.kind != KIND_NONE ? 0 : next(fd);
}

int fdatasync(int fd)
{
	NEXT(int, fdatasync, int);
	return hits_fd(KIND_FSYNC, fd) ? -1 : next(fd);
}

int syncfs(int fd)
{
	NEXT(int, syncfs, int);
	return hits_fd(KIND_FSYNC, fd) ? -1 : next(fd);
}

int rename(const char *from, const char *to)
{
	NEXT(int, rename, const char *, const char *);
	return hits_at(KIND_RENAME, AT_FDCWD, to) ? -1 : next(from, to);
}

int renameat(int fromfd, const char *from, int tofd, const char *to)
{
	NEXT(int, renameat, int, const char *, int, const char *);
	return hits_at(KIND_RENAME, tofd, to) ? -1
					      : next(fromfd, from, tofd, to);
}

int openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;
	NEXT(int, openat, int, const char *, int, ...);

	va_start(ap, flags);
	if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return hits_at(KIND_OPEN, dirfd, path) ? -1
					       : next(dirfd, path, flags, mode);
}

int openat64(int dirfd, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return openat(dirfd, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;
	NEXT(int, open, const char *, int, ...);

	va_start(ap, flags);
	if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return hits_at(KIND_OPEN, AT_FDCWD, path) ? -1
						  : next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return open(path, flags, mode);
}

int mkdir(const char *path, mode_t mode)
{
	NEXT(int, mkdir, const char *, mode_t);
	return hits_at(KIND_MKDIR, AT_FDCWD, path) ? -1 : next(path, mode);
}

int mkdirat(int dirfd, const char *path, mode_t mode)
{
	NEXT(int, mkdirat, int, const char *, mode_t);
	return hits_at(KIND_MKDIR, dirfd, path) ? -1 : next(dirfd, path, mode);
}

int unlink(const char *path)
{
	NEXT(int, unlink, const char *);
	return hits_at(KIND_UNLINK, AT_FDCWD, path) ? -1 : next(path);
}

int unlinkat(int dirfd, const char *path, int flags)
{
	NEXT(int, unlinkat, int, const char *, int);
	return hits_at(KIND_UNLINK, dirfd, path) ? -1
						 : next(dirfd, path, flags);
}

int symlink(const char *to, const char *path)
{
	NEXT(int, symlink, const char *, const char *);
	return hits_at(KIND_SYMLINK, AT_FDCWD, path) ? -1 : next(to, path);
}

int symlinkat(const char *to, int dirfd, const char *path)
{
	NEXT(int, symlinkat, const char *, int, const char *);
	return hits_at(KIND_SYMLINK, dirfd, path) ? -1 : next(to, dirfd, path);
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	NEXT(void *, mmap, void *, size_t, int, int, int, off_t);
	if (fd >= 0 && hits_fd(KIND_MMAP, fd))
		return MAP_FAILED;
	return next(at, len, prot, flags, fd, offset);
}

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	return mmap(at, len, prot, flags, fd, offset);
}

/*
 * dlsym() may allocate while it looks for an allocator, and finds none while
 * it is called by itself; it copes with getting nothing.
 */
static _Thread_local bool looking
	/* Without a call of __tls_get_addr(), which sanitizers replace. */
	__attribute__((tls_model("initial-exec")));

#define NEXT_ALLOC(name, ...)                             \
	static void *(*next)(__VA_ARGS__);                \
	if (looking)                                      \
		return NULL;                              \
	if (next == NULL) {                               \
		looking = true;                           \
		find(&next, #name);                       \
		looking = false;                          \
	}                                                 \
	if (next == NULL)                                 \
		return NULL;                              \
	if (wanted(KIND_ALLOC) && hits(KIND_ALLOC, NULL)) \
	return NULL

void *malloc(size_t size)
{
	NEXT_ALLOC(malloc, size_t);
	return next(size);
}

void *calloc(size_t count, size_t size)
{
	NEXT_ALLOC(calloc, size_t, size_t);
	return next(count, size);
}

void *realloc(void *old, size_t size)
{
	NEXT_ALLOC(realloc, void *, size_t);
	return next(old, size);
}
