/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fault: makes the n-th call of a kind fail, or ends the process there.  It is
 * preloaded into the program under test, which knows nothing of it:
 *
 *	LD_PRELOAD=fault.so FAULT=fsync:3:EIO FAULT_PATH=/tmp/x bloomctl ...
 *
 * FAULT=KIND:N[:WHAT] counts the calls of a KIND (see kinds below; "any" is
 * every kind above it) and does WHAT at the N-th, from 1 on: it fails with an
 * errno value, named (EIO unless told); it writes or reads half of its bytes
 * ("half"); or before it is made, the process gets SIGKILL ("kill"), SIGSTOP
 * ("stop"), SIGINT ("int"), SIGTERM ("term") or SIGALRM ("alrm").  N of 0 only
 * counts; N of "*" is every call.  A close that fails has closed.  Calls of
 *fsync that do not fail do nothing: no test cuts the power, and they take time.
 *
 * FAULT_THEN=KIND:N[:WHAT] is a second fault, whose calls are counted from the
 * first one on: what cleans up behind a fault can fail, too.
 *
 * FAULT_PATH=TEXT counts only calls on files whose path holds TEXT; a path
 * given relative to a folder's descriptor is completed first.  Allocations
 * have no path.  FAULT_COUNT=FILE receives the numbers of calls counted, a
 * line for each fault, when the process exits by itself.
 *
 * FAULT_CLOCK=SECONDS[:N] sets the clock of the day forward or back, from the
 * N-th look at it on.  FAULT_RANDOM=N makes every random byte N.
 */

/* RTLD_NEXT */
#define _GNU_SOURCE

#include <dirent.h>
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
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind {
	KIND_NONE,
	KIND_WRITE,    /* write, pwrite, writev */
	KIND_FSYNC,    /* fsync, fdatasync, syncfs */
	KIND_RENAME,   /* rename, renameat */
	KIND_OPEN,     /* open, openat */
	KIND_MKDIR,    /* mkdir, mkdirat */
	KIND_UNLINK,   /* unlink, unlinkat */
	KIND_SYMLINK,  /* symlink, symlinkat */
	KIND_MMAP,     /* of files */
	KIND_ANY,      /* all above */
	KIND_READ,     /* read, pread */
	KIND_TRUNCATE, /* ftruncate */
	KIND_LOCK,     /* flock */
	KIND_STAT,     /* fstat, fstatat, fstatvfs */
	KIND_READLINK, /* readlinkat */
	KIND_READDIR,  /* readdir */
	KIND_CLOSE,    /* close */
	KIND_ALLOC,    /* malloc, calloc, realloc */
	KIND_SEND,     /* send, sendmsg: to servers */
	KIND_RECV,     /* recv: of servers */
};

static const struct {
	const char *name;
	enum kind kind;
} kinds[] = {
	{"write", KIND_WRITE},       {"fsync", KIND_FSYNC},
	{"rename", KIND_RENAME},     {"open", KIND_OPEN},
	{"mkdir", KIND_MKDIR},       {"unlink", KIND_UNLINK},
	{"symlink", KIND_SYMLINK},   {"mmap", KIND_MMAP},
	{"any", KIND_ANY},           {"read", KIND_READ},
	{"truncate", KIND_TRUNCATE}, {"lock", KIND_LOCK},
	{"stat", KIND_STAT},         {"readlink", KIND_READLINK},
	{"readdir", KIND_READDIR},   {"close", KIND_CLOSE},
	{"alloc", KIND_ALLOC},       {"send", KIND_SEND},
	{"recv", KIND_RECV},
};

#define HALF (-1)

static const struct {
	const char *name;
	int errnum;
	int signal;
} whats[] = {
	{"EIO", EIO, 0},
	{"ENOSPC", ENOSPC, 0},
	{"EACCES", EACCES, 0},
	{"ENOMEM", ENOMEM, 0},
	{"EROFS", EROFS, 0},
	{"EDQUOT", EDQUOT, 0},
	{"EINTR", EINTR, 0},
	{"EMFILE", EMFILE, 0},
	{"ESTALE", ESTALE, 0},
	{"ENOLCK", ENOLCK, 0},
	{"half", HALF, 0},
	{"kill", 0, SIGKILL},
	{"stop", 0, SIGSTOP},
	{"int", 0, SIGINT},
	{"term", 0, SIGTERM},
	{"alrm", 0, SIGALRM},
	{"ECONNRESET", ECONNRESET, 0},
};

#define EVERY ULONG_MAX

struct fault {
	enum kind kind;
	unsigned long at;
	int errnum;
	int signal;
	atomic_ulong calls; /* counted */
};

static struct fault first;
static struct fault second;
static atomic_bool first_met;
static bool on;
static const char *path_part;  /* NULL: any */
static const char *count_file; /* NULL: not wanted */

static struct {
	long long seconds;
	unsigned long from;
	atomic_ulong looks;
} day;
static int random_byte = -1; /* -1: as it is */

/* A mistake in a test must not look like a run without a fault. */
static void wrong(const char *what)
{
	(void)fprintf(stderr, "fault: FAULT: %s\n", what);
	_exit(99);
}

static void read_what(const char *text, struct fault *fault)
{
	fault->errnum = EIO;
	if (*text == '\0')
		return;
	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		if (strcmp(text + 1, whats[i].name) != 0)
			continue;
		fault->errnum = whats[i].errnum;
		fault->signal = whats[i].signal;
		return;
	}
	wrong("no such thing to do");
}

static void read_fault(const char *text, struct fault *fault)
{
	enum kind kind = KIND_NONE;
	char *end;

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
	fault->at = strtoul(text, &end, 10);
	if (*text == '*') {
		fault->at = EVERY;
		end = (char *)text + 1;
	}
	if (end == text || (*end != '\0' && *end != ':'))
		wrong("no number");
	read_what(end, fault);
	fault->kind = kind;
}

static void read_day(const char *text)
{
	char *end;

	day.seconds = strtoll(text, &end, 10);
	day.from = *end == ':' ? strtoul(end + 1, &end, 10) : 1;
	if (*end != '\0')
		wrong("FAULT_CLOCK is no number");
}

__attribute__((constructor)) static void begin(void)
{
	if (getenv("FAULT_CLOCK") != NULL)
		read_day(getenv("FAULT_CLOCK"));
	if (getenv("FAULT_RANDOM") != NULL)
		random_byte =
			(int)strtol(getenv("FAULT_RANDOM"), NULL, 10) & 0xff;
	if (getenv("FAULT") == NULL)
		return;
	read_fault(getenv("FAULT"), &first);
	if (getenv("FAULT_THEN") != NULL)
		read_fault(getenv("FAULT_THEN"), &second);
	path_part = getenv("FAULT_PATH");
	if (path_part != NULL && *path_part == '\0')
		path_part = NULL;
	count_file = getenv("FAULT_COUNT");
	on = true; /* from here on calls are counted */
}

__attribute__((destructor)) static void end(void)
{
	FILE *f;

	if (!on || count_file == NULL)
		return;
	on = false;
	f = fopen(count_file, "w");
	if (f == NULL ||
	    fprintf(f, "%lu\n%lu\n", atomic_load(&first.calls),
		    atomic_load(&second.calls)) < 0 ||
	    fclose(f) != 0)
		wrong("FAULT_COUNT cannot be written");
}

static bool is_of(const struct fault *fault, enum kind kind)
{
	return fault->kind == kind ||
	       (fault->kind == KIND_ANY && kind < KIND_ANY);
}

/* Whether a call of this kind is the one; errno is set. */
static bool meets(struct fault *fault, enum kind kind)
{
	if (!is_of(fault, kind))
		return false;
	if (atomic_fetch_add(&fault->calls, 1) + 1 != fault->at &&
	    fault->at != EVERY)
		return false;
	if (fault->signal != 0) {
		(void)raise(fault->signal);
		return false;
	}
	errno = fault->errnum;
	return true;
}

/* The fault that a call of this kind on such a path meets, or NULL. */
static const struct fault *hits(enum kind kind, const char *path)
{
	if (!on)
		return NULL;
	if (path_part != NULL && kind != KIND_ALLOC &&
	    (path == NULL || strstr(path, path_part) == NULL))
		return NULL;
	if (atomic_load(&first_met) && meets(&second, kind))
		return &second;
	if (!meets(&first, kind))
		return NULL;
	atomic_store(&first_met, true);
	return &first;
}

static bool wanted(enum kind kind)
{
	return on && (is_of(&first, kind) || is_of(&second, kind));
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

static const struct fault *hits_fd(enum kind kind, int fd)
{
	char path[PATH_MAX];

	return wanted(kind) ? hits(kind, path_of(fd, path)) : NULL;
}

static const struct fault *hits_at(enum kind kind, int dirfd, const char *name)
{
	char folder[PATH_MAX];
	char path[2 * PATH_MAX];

	if (!wanted(kind))
		return NULL;
	if (name[0] == '/' || dirfd == AT_FDCWD ||
	    path_of(dirfd, folder) == NULL)
		return hits(kind, name);
	(void)snprintf(path, sizeof(path), "%s/%.4095s", folder, name);
	return hits(kind, path);
}

/*
 * Whether a transfer of *len bytes fails; half of it is made where that is
 * what is asked for.
 */
static bool transfer_fails(enum kind kind, int fd, size_t *len)
{
	const struct fault *fault = hits_fd(kind, fd);

	if (fault != NULL && fault->errnum == HALF) {
		*len = (*len + 1) / 2;
		return false;
	}
	return fault != NULL;
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
	return transfer_fails(KIND_WRITE, fd, &len) ? -1 : next(fd, data, len);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	NEXT(ssize_t, pwrite, int, const void *, size_t, off_t);
	return transfer_fails(KIND_WRITE, fd, &len) ? -1
						    : next(fd, data, len, at);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off_t at)
{
	return pwrite(fd, data, len, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	const struct fault *fault = hits_fd(KIND_WRITE, fd);
	NEXT(ssize_t, writev, int, const struct iovec *, int);

	if (fault != NULL)
		return fault->errnum == HALF ? next(fd, parts, 1) : -1;
	return next(fd, parts, count);
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	NEXT(ssize_t, send, int, const void *, size_t, int);
	return transfer_fails(KIND_SEND, fd, &len) ? -1
						   : next(fd, data, len, flags);
}

/* Half of it is the first byte. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	const struct fault *fault = hits_fd(KIND_SEND, fd);
	NEXT(ssize_t, sendmsg, int, const struct msghdr *, int);

	if (fault == NULL)
		return next(fd, message, flags);
	if (fault->errnum != HALF)
		return -1;
	return send(fd, message->msg_iov->iov_base, 1, flags);
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
	NEXT(ssize_t, recv, int, void *, size_t, int);
	return transfer_fails(KIND_RECV, fd, &len) ? -1
						   : next(fd, data, len, flags);
}

ssize_t read(int fd, void *data, size_t len)
{
	NEXT(ssize_t, read, int, void *, size_t);
	return transfer_fails(KIND_READ, fd, &len) ? -1 : next(fd, data, len);
}

ssize_t pread(int fd, void *data, size_t len, off_t at)
{
	NEXT(ssize_t, pread, int, void *, size_t, off_t);
	return transfer_fails(KIND_READ, fd, &len) ? -1
						   : next(fd, data, len, at);
}

ssize_t pread64(int fd, void *data, size_t len, off_t at)
{
	return pread(fd, data, len, at);
}

/* What the compiler may call for it where it checks the room. */
ssize_t __read_chk(int fd, void *data, size_t len, size_t room);
ssize_t __read_chk(int fd, void *data, size_t len, size_t room)
{
	if (len > room)
		abort();
	return read(fd, data, len);
}

ssize_t __pread_chk(int fd, void *data, size_t len, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t len, off_t at, size_t room)
{
	if (len > room)
		abort();
	return pread(fd, data, len, at);
}

int ftruncate(int fd, off_t len)
{
	NEXT(int, ftruncate, int, off_t);
	return hits_fd(KIND_TRUNCATE, fd) ? -1 : next(fd, len);
}

int flock(int fd, int how)
{
	NEXT(int, flock, int, int);
	return hits_fd(KIND_LOCK, fd) ? -1 : next(fd, how);
}

int close(int fd)
{
	const struct fault *fault = hits_fd(KIND_CLOSE, fd);
	int rc;
	NEXT(int, close, int);

	rc = next(fd);
	if (fault == NULL)
		return rc;
	errno = fault->errnum;
	return -1;
}

int fstat(int fd, struct stat *out)
{
	NEXT(int, fstat, int, struct stat *);
	return hits_fd(KIND_STAT, fd) ? -1 : next(fd, out);
}

int fstatat(int dirfd, const char *path, struct stat *out, int flags)
{
	NEXT(int, fstatat, int, const char *, struct stat *, int);
	return hits_at(KIND_STAT, dirfd, path) ? -1
					       : next(dirfd, path, out, flags);
}

int fstatvfs(int fd, struct statvfs *out)
{
	NEXT(int, fstatvfs, int, struct statvfs *);
	return hits_fd(KIND_STAT, fd) ? -1 : next(fd, out);
}

ssize_t readlinkat(int dirfd, const char *path, char *out, size_t len)
{
	NEXT(ssize_t, readlinkat, int, const char *, char *, size_t);
	return hits_at(KIND_READLINK, dirfd, path)
		       ? -1
		       : next(dirfd, path, out, len);
}

struct dirent *readdir(DIR *d)
{
	NEXT(struct dirent *, readdir, DIR *);
	return hits_fd(KIND_READDIR, dirfd(d)) ? NULL : next(d);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int rc;
	NEXT(int, clock_gettime, clockid_t, struct timespec *);

	rc = next(clock, out);
	if (rc == 0 && clock == CLOCK_REALTIME && day.seconds != 0 &&
	    atomic_fetch_add(&day.looks, 1) + 1 >= day.from)
		out->tv_sec += (time_t)day.seconds;
	return rc;
}

int getentropy(void *out, size_t len)
{
	NEXT(int, getentropy, void *, size_t);
	if (random_byte < 0)
		return next(out, len);
	memset(out, random_byte, len);
	return 0;
}

int fsync(int fd)
{
	NEXT(int, fsync, int);
	if (hits_fd(KIND_FSYNC, fd))
		return -1;
	return on ? 0 : next(fd);
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

/* What the compiler may call for them where no file can be made. */
int __openat_2(int dirfd, const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags)
{
	return openat(dirfd, path, flags);
}

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return open(path, flags);
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
