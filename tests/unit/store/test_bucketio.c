/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What test_bucketfile.c has not: files that take a while.
 */
#include <signal.h>

#include "lib/base/stop.h"
#include "tests/unit/store/scratch.h"

#define NAME "7.bloom"

static int folder;

static struct bucketfile sample(uint64_t capacity)
{
	struct bucketfile f;

	memset(&f, 0, sizeof(f));
	f.state = BUCKETFILE_SEALED;
	f.layout = 1;
	f.bucket = 7;
	f.buckets = 8;
	(void)layout_redisbloom.size(capacity, 0.01, &f.params);
	memset(f.fingerprint, 'b', BLOOMKEY_FINGERPRINT_LEN);
	memcpy(f.generation, "20261130T195654Z-1a2b", 22);
	return f;
}

/* In a child, as a stop cannot be taken back. */
static void large_stopped(void)
{
	struct bucketfile f = sample(80000000);
	struct error err = ERROR_INIT;
	struct bucketfile back;
	uint64_t size;
	char *large;
	int fd;

	large = calloc(1, (size_t)f.params.bytes);
	REQUIRE(large != NULL && f.params.bytes > 64u << 20);
	(void)unlinkat(folder, NAME, 0);
	REQUIRE(bucketfile_write(folder, NAME, &f, large, &err) == 0);
	fd = bucketfile_open(folder, NAME, &f, &back, &size, &err);
	REQUIRE(fd >= 0 && stop_init(&err) == 0);
	CHECK(raise(SIGTERM) == 0);
	CHECK(bucketfile_check(fd, &back, NULL, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	(void)unlinkat(folder, NAME, 0);
	err.code = ERROR_NONE;
	CHECK(bucketfile_write(folder, NAME, &f, large, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK(bucketfile_open(folder, NAME, &f, &back, &size, &err) == -1);
	/* A small one is finished. */
	(void)unlinkat(folder, NAME, 0);
	f = sample(1000);
	CHECK(bucketfile_write(folder, NAME, &f, large, &err) == 0);
	free(large);
}

static void large_test(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		large_stopped();
		fflush(stdout);
		_exit(unit_bad ? 1 : 0);
	}
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	scratch_begin();
	folder = open(scratch, O_RDONLY | O_DIRECTORY);
	UNIT(large_test, "bucketio: a stop ends within a large file");
	(void)close(folder);
	scratch_end();
	return unit_end();
}
