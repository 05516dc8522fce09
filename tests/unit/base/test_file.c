/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/stop.h"
#include "tests/unit/unit.h"

/* A folder of its own for each test, in which it works. */
static char folder[64];

static bool enter(void)
{
	(void)strcpy(folder, "/tmp/test_file.XXXXXX");
	return mkdtemp(folder) != NULL && chdir(folder) == 0;
}

static void leave(void)
{
	char command[96];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	CHECK(chdir("/") == 0 && system(command) == 0);
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	REQUIRE(f != NULL);
	CHECK(fputs(text, f) >= 0);
	CHECK(fclose(f) == 0);
}

/* Whether a file holds just that. */
static bool holds(const char *name, const char *text)
{
	char got[256] = "";
	FILE *f = fopen(name, "r");

	if (f == NULL)
		return false;
	got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
	(void)fclose(f);
	return strcmp(got, text) == 0;
}

static int read_max(const char *path, size_t max, struct buf *out,
		    struct error *err)
{
	buf_init(out, max);
	return file_read(path, out, ERROR_CONFIG, err);
}

static void read_whole(void)
{
	struct error err = ERROR_INIT;
	struct buf b;

	REQUIRE(enter());
	put("x", "abc\n");
	CHECK(read_max("x", 100, &b, &err) == 0);
	CHECK(b.len == 4 && memcmp(b.data, "abc\n", 4) == 0);
	buf_release(&b);
	put("empty", "");
	CHECK(read_max("empty", 100, &b, &err) == 0);
	CHECK_U64(b.len, 0);
	buf_release(&b);
	/* What the kernel says is 0 bytes long is read all the same. */
	CHECK(read_max("/proc/self/stat", 4096, &b, &err) == 0);
	CHECK(b.len > 0);
	buf_release(&b);
	leave();
}

static void read_a_long_one(void)
{
	struct error err = ERROR_INIT;
	size_t len = 300001;
	char *text = malloc(len + 1);
	struct buf b;

	REQUIRE(text != NULL && enter());
	for (size_t i = 0; i < len; i++)
		text[i] = (char)('a' + i % 23);
	text[len] = '\0';
	put("x", text);
	CHECK(read_max("x", 1u << 20, &b, &err) == 0);
	CHECK(b.len == len && memcmp(b.data, text, len) == 0);
	buf_release(&b);
	free(text);
	leave();
}

static void too_long(void)
{
	struct error err = ERROR_INIT;
	struct buf b;

	REQUIRE(enter());
	put("x", "0123456789");
	CHECK(read_max("x", 9, &b, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK(strstr(err.text, "file 'x': larger than ") == err.text);
	buf_release(&b);
	CHECK(read_max("x", 11, &b, &err) == 0);
	buf_release(&b);
	leave();
}

static void just_not_too_long(void)
{
	struct error err = ERROR_INIT;
	struct buf b;

	REQUIRE(enter());
	put("x", "0123456789");
	CHECK(read_max("x", 10, &b, &err) == 0);
	CHECK_U64(b.len, 10);
	buf_release(&b);
	leave();
}

static void no_files(void)
{
	static const char *const names[] = {"none", "folder", "fifo", "none/x",
					    "/dev/null"};
	struct error err = ERROR_INIT;
	struct buf b;

	REQUIRE(enter());
	CHECK(mkdir("folder", 0700) == 0 && mkfifo("fifo", 0600) == 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char begin[64];

		err.code = ERROR_NONE;
		CHECK(read_max(names[i], 100, &b, &err) == -1);
		CHECK_U64(err.code, ERROR_CONFIG);
		(void)snprintf(begin, sizeof(begin), "file '%s': ", names[i]);
		CHECK(strstr(err.text, begin) == err.text);
		buf_release(&b);
	}
	leave();
}

static void not_for_us(void)
{
	struct error err = ERROR_INIT;
	struct buf b;

	if (geteuid() == 0)
		SKIP("root reads everything");
	REQUIRE(enter());
	put("x", "abc");
	CHECK(chmod("x", 0) == 0);
	CHECK(read_max("x", 100, &b, &err) == -1);
	CHECK_U64(err.code, ERROR_CONFIG);
	buf_release(&b);
	leave();
}

static void write_faults(void)
{
	struct error err = ERROR_INIT;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int only_read = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(file_write_all(-1, "", 0, "x", &err) == 0);
	if (full >= 0) {
		CHECK(file_write_all(full, "abc", 3, "what", &err) == -1);
		CHECK_U64(err.code, ERROR_SPACE);
		CHECK(strstr(err.text, "what: ") == err.text);
		(void)close(full);
	}
	CHECK(file_write_all(only_read, "abc", 3, "what", &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	(void)close(only_read);
}

static void replaced(void)
{
	struct error err = ERROR_INIT;
	struct stat st;
	int dir;

	REQUIRE(enter());
	(void)umask(022);
	dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(file_replace(dir, "x", "new", 3, 0640, "what", &err) == 0);
	CHECK(holds("x", "new"));
	CHECK(stat("x", &st) == 0 && (st.st_mode & 07777) == 0640);
	CHECK(file_replace(dir, "x", "newer", 5, 0640, "what", &err) == 0);
	CHECK(holds("x", "newer"));
	CHECK(file_replace(dir, "x", "", 0, 0640, "what", &err) == 0);
	CHECK(holds("x", ""));
	CHECK(access("x.tmp", F_OK) == -1);
	(void)close(dir);
	leave();
}

static void by_path(void)
{
	struct error err = ERROR_INIT;
	char path[96];

	REQUIRE(enter());
	CHECK(mkdir("f", 0700) == 0);
	CHECK(file_replace_path("x", "1", 1, 0600, &err) == 0);
	CHECK(holds("x", "1"));
	CHECK(file_replace_path("f/x", "2", 1, 0600, &err) == 0);
	CHECK(holds("f/x", "2"));
	(void)snprintf(path, sizeof(path), "%s/y", folder);
	CHECK(file_replace_path(path, "3", 1, 0600, &err) == 0);
	CHECK(holds("y", "3"));
	CHECK(file_replace_path("none/x", "4", 1, 0600, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK(strstr(err.text, "file 'none/x': ") == err.text);
	CHECK(file_replace_path("f/", "5", 1, 0600, &err) == -1);
	CHECK(access("f/.tmp", F_OK) == -1);
	leave();
}

static void the_old_one_stays(void)
{
	struct error err = ERROR_INIT;
	char name[256];
	int dir;

	REQUIRE(enter());
	dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* In its place stands what cannot be replaced. */
	CHECK(mkdir("x", 0700) == 0);
	put("x/y", "old");
	CHECK(file_replace(dir, "x", "new", 3, 0600, "what", &err) == -1);
	CHECK(strstr(err.text, "what: ") == err.text);
	CHECK(holds("x/y", "old"));
	CHECK(access("x.tmp", F_OK) == -1);
	/* A link that somebody laid is not followed. */
	put("victim", "old");
	CHECK(symlink("victim", "z.tmp") == 0);
	CHECK(file_replace(dir, "z", "new", 3, 0600, "what", &err) == -1);
	CHECK(holds("victim", "old"));
	memset(name, 'n', sizeof(name) - 1);
	name[252] = '\0';
	CHECK(file_replace(dir, name, "new", 3, 0600, "what", &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "what: name too long");
	name[251] = '\0';
	CHECK(file_replace(dir, name, "new", 3, 0600, "what", &err) == 0);
	(void)close(dir);
	leave();
}

static void no_rights(void)
{
	struct error err = ERROR_INIT;

	if (geteuid() == 0)
		SKIP("root writes everywhere");
	REQUIRE(enter());
	CHECK(mkdir("f", 0700) == 0);
	put("f/x", "old");
	CHECK(chmod("f", 0500) == 0);
	CHECK(file_replace_path("f/x", "new", 3, 0600, &err) == -1);
	CHECK_U64(err.code, ERROR_RIGHTS);
	CHECK(holds("f/x", "old"));
	CHECK(chmod("f", 0700) == 0);
	leave();
}

/* In a process of its own, as limits cannot be taken back. */
static void over_the_limit(void)
{
	struct rlimit limit = {10, 10};
	struct error err = ERROR_INIT;

	CHECK(stop_init(&err) == 0);
	put("x", "old");
	fflush(stdout);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	if (file_replace_path("x", "0123456789ab", 12, 0600, &err) != -1 ||
	    err.code != ERROR_SPACE || !holds("x", "old") ||
	    access("x.tmp", F_OK) != -1 ||
	    file_replace_path("x", "0123456789", 10, 0600, &err) != 0)
		_exit(2);
	_exit(0);
}

static void no_space(void)
{
	int status;
	pid_t pid;

	REQUIRE(enter());
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		over_the_limit();
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	leave();
}

static void folders(void)
{
	struct error err = ERROR_INIT;
	int dir = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(file_sync_dir(dir, "what", &err) == 0);
	(void)close(dir);
	CHECK(file_sync_dir(-1, "what", &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK(strstr(err.text, "what: ") == err.text);
}

int main(void)
{
	UNIT(read_whole, "file: a regular file is read whole");
	UNIT(read_a_long_one, "file: a long one is read whole, too");
	UNIT(too_long, "file: what exceeds the buffer is refused");
	UNIT(just_not_too_long, "file: what just fills the buffer is read");
	UNIT(no_files, "file: only regular files are read, without waiting");
	UNIT(not_for_us, "file: an unreadable one has the caller's code");
	UNIT(write_faults, "file: a write that fails has errno's code");
	UNIT(replaced, "file: a replaced one is the new one, in whole");
	UNIT(by_path, "file: a path may be without folder, or absolute");
	UNIT(the_old_one_stays, "file: what cannot be replaced is as it was");
	UNIT(no_rights, "file: a folder without rights is told");
	UNIT(no_space, "file: a limit of the file size is no space");
	UNIT(folders, "file: a folder is synced, or that is told");
	return unit_end();
}
