/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>

#include "tests/unit/store/scratch.h"

#define ID1 "20261130T195654Z-1a2b"

static struct bloomkey_spec *spec;

static struct store *open_store(bool create)
{
	struct store *s = NULL;

	if (store_open(scratch_target, spec, create ? &making : &taking, &s,
		       &scratch_err) != 0)
		printf("# %s\n", scratch_err.text);
	return s;
}

static void second_is_refused(void)
{
	struct store *a = open_store(true);
	struct store *b = open_store(false);
	char expected[256];
	char who[256];
	char set[NAMES_SET_MAX];
	uint64_t fence;
	uint64_t again;

	REQUIRE(a != NULL && b != NULL);
	CHECK(a->ops->locked_by(a, false, who, sizeof(who), &scratch_err) == 0);
	CHECK_STR(who, "");
	REQUIRE(a->ops->lock(a, "build", &fence, &scratch_err) == 0);
	CHECK(b->ops->lock(b, "swap", &again, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_LOCKED);
	names_set(spec, set);
	(void)snprintf(expected, sizeof(expected),
		       "set '%s': locked by build, pid %d on ", set,
		       (int)getpid());
	CHECK(strncmp(scratch_err.text, expected, strlen(expected)) == 0);
	CHECK(strstr(scratch_err.text, ", since 20") != NULL);
	CHECK(b->ops->locked_by(b, false, who, sizeof(who), &scratch_err) == 0);
	CHECK(strncmp(who, "build, pid ", 11) == 0);
	CHECK(a->ops->locked_by(a, false, who, sizeof(who), &scratch_err) == 0);
	CHECK(strncmp(who, "build, pid ", 11) == 0);
	a->ops->unlock(a);
	CHECK(b->ops->locked_by(b, false, who, sizeof(who), &scratch_err) == 0);
	CHECK_STR(who, "");
	CHECK(b->ops->lock(b, "swap", &again, &scratch_err) == 0);
	CHECK(again > fence);
	store_close(b);
	CHECK(a->ops->lock(a, "x", &fence, &scratch_err) == 0);
	CHECK(fence > again);
	CHECK(a->ops->lock(a, "x", &fence, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
	store_close(a);
}

/* A child that takes the lock, says so, and never lets go of it. */
static pid_t holder(bool build)
{
	struct store *s;
	struct manifest m;
	struct filter_params params;
	uint64_t fence;
	int pipes[2];
	char byte;
	pid_t pid;

	if (pipe(pipes) != 0 || (pid = fork()) < 0)
		abort();
	if (pid == 0) {
		s = open_store(true);
		if (s->ops->lock(s, "build", &fence, &scratch_err) != 0)
			_exit(1);
		scratch_manifest(spec, ID1, 100, fence, &m, &params);
		if (build && s->ops->reserve(s, &m, &layout_redisbloom, &params,
					     1, &scratch_err) != 0)
			_exit(1);
		if (write(pipes[1], "", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	if (read(pipes[0], &byte, 1) != 1)
		abort();
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	return pid;
}

static void dead_owner(void)
{
	pid_t pid = holder(true);
	struct store *s = open_store(false);
	char who[256];
	char expected[64];
	uint64_t fence;

	REQUIRE(s != NULL);
	CHECK(s->ops->lock(s, "build", &fence, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_LOCKED);
	CHECK(s->ops->locked_by(s, false, who, sizeof(who), &scratch_err) == 0);
	(void)snprintf(expected, sizeof(expected), "build, pid %d on ",
		       (int)pid);
	CHECK(strncmp(who, expected, strlen(expected)) == 0);
	CHECK(scratch_state(s, ID1) == MANIFEST_BUILDING);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	CHECK(s->ops->locked_by(s, false, who, sizeof(who), &scratch_err) == 0);
	CHECK_STR(who, "");
	CHECK(scratch_state(s, ID1) == MANIFEST_ABORTED);
	CHECK(s->ops->lock(s, "build", &fence, &scratch_err) == 0);
	/* A building one of another fence is the dead owner's. */
	CHECK(scratch_state(s, ID1) == MANIFEST_ABORTED);
	CHECK(s->ops->drop(s, ID1, &scratch_err) == 0);
	store_close(s);
}

static void odd_contents(void)
{
	static const char *const texts[] = {
		"",
		"{",
		"{}",
		"{\"fence\": 9e99}",
		"{\"command\":1,\"host\":2,\"pid\":3,\"since\":4,\"fence\":5}",
	};
	struct store *s = open_store(true);
	char path[PATH_MAX];
	char text[8192];
	uint64_t first;
	uint64_t fence;

	REQUIRE(s != NULL && s->ops->lock(s, "x", &first, &scratch_err) == 0);
	s->ops->unlock(s);
	(void)snprintf(path, sizeof(path), "%s", scratch_path(spec, "lock"));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		scratch_write(path, texts[i]);
		CHECK(s->ops->lock(s, "x", &fence, &scratch_err) == 0);
		CHECK(fence >= first);
		s->ops->unlock(s);
	}
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	scratch_write(path, text);
	CHECK(s->ops->lock(s, "x", &fence, &scratch_err) == 0);
	s->ops->unlock(s);
	/* A clock that was set back: the fence grows all the same. */
	scratch_write(
		path,
		"{\"command\":\"a\\n\",\"host\":\"h\",\"pid\":1,\"since\":"
		"\"2026-11-30T19:56:54.123Z\",\"fence\":99999999999999}");
	CHECK(s->ops->lock(s, "x", &fence, &scratch_err) == 0);
	CHECK_U64(fence, 100000000000000);
	s->ops->unlock(s);
	CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
	CHECK(s->ops->lock(s, "x", &fence, &scratch_err) == -1);
	CHECK(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
	CHECK(s->ops->lock(s, "x", &fence, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	CHECK(unlink(path) == 0 && symlink("/dev/null", path) == 0);
	CHECK(s->ops->lock(s, "x", &fence, &scratch_err) == -1);
	store_close(s);
}

/* A lost lock file does not make the fence fall behind a manifest's. */
static void lost_file(void)
{
	struct store *s = open_store(true);
	struct manifest m;
	uint64_t fence;

	REQUIRE(s != NULL && s->ops->lock(s, "x", &fence, &scratch_err) == 0);
	REQUIRE(scratch_build(s, spec, ID1, 10, fence + 1000000, 0, 5, &m) ==
		0);
	manifest_release(&m);
	s->ops->unlock(s);
	CHECK(unlink(scratch_path(spec, "lock")) == 0);
	m.fence = fence;
	CHECK(s->ops->lock(s, "x", &fence, &scratch_err) == 0);
	CHECK_U64(fence, m.fence + 1000001);
	store_close(s);
}

/* Looks at the lock all the time do not keep anybody from taking it. */
static void looks_do_no_harm(void)
{
	struct store *s = open_store(true);
	uint64_t fence;
	unsigned failed = 0;
	pid_t pid[2];

	REQUIRE(s != NULL && s->ops->lock(s, "x", &fence, &scratch_err) == 0);
	s->ops->unlock(s);
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			struct store *o = open_store(false);
			char who[256];

			for (;;)
				(void)o->ops->locked_by(o, false, who,
							sizeof(who),
							&scratch_err);
		}
	}
	for (int i = 0; i < 100; i++) {
		failed += s->ops->lock(s, "x", &fence, &scratch_err) != 0;
		s->ops->unlock(s);
	}
	for (int i = 0; i < 2; i++) {
		(void)kill(pid[i], SIGKILL);
		(void)waitpid(pid[i], NULL, 0);
	}
	CHECK_U64(failed, 0);
	store_close(s);
}

/* What a user without rights gets: the exit status is an error code. */
static int as_nobody(int (*what)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(255);
		scratch_err.code = ERROR_NONE;
		_exit(what());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int try_lock(void)
{
	struct store *s = open_store(true);
	uint64_t fence;

	if (s != NULL && s->ops->lock(s, "x", &fence, &scratch_err) == 0)
		return 0;
	return (int)scratch_err.code;
}

static int try_list(void)
{
	struct store *s = open_store(false);

	return s != NULL ? scratch_state(s, ID1) : -1;
}

static void no_rights(void)
{
	struct store *s = open_store(true);
	struct manifest m;
	char path[PATH_MAX];
	uint64_t fence;

	CHECK(chmod(scratch, 0755) == 0);
	(void)snprintf(path, sizeof(path), "%s/t", scratch);
	CHECK(chmod(path, 0555) == 0);
	CHECK(as_nobody(try_lock) == ERROR_RIGHTS);
	CHECK(chmod(path, 0755) == 0);
	REQUIRE(s != NULL && s->ops->lock(s, "x", &fence, &scratch_err) == 0);
	REQUIRE(scratch_build(s, spec, ID1, 10, fence, 0, 5, &m) == 0);
	manifest_release(&m);
	store_close(s);
	CHECK(chmod(scratch_path(spec, "lock"), 0444) == 0);
	CHECK(chmod(scratch_path(spec, "."), 0555) == 0);
	CHECK(as_nobody(try_lock) == ERROR_RIGHTS);
	CHECK(as_nobody(try_list) == MANIFEST_COMPLETE);
	CHECK(chmod(path, 0) == 0);
	CHECK(as_nobody(try_lock) == ERROR_RIGHTS);
	CHECK(chmod(path, 0755) == 0);
	CHECK(chmod(scratch_path(spec, "."), 0755) == 0);
}

static void not_there(void)
{
	struct store *s;
	struct manifest *list;
	char path[PATH_MAX];
	uint64_t fence;
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/t", scratch);
	CHECK(mkdir(path, 0755) == 0);
	s = open_store(false);
	REQUIRE(s != NULL);
	CHECK(s->ops->list(s, &list, &n, &scratch_err) == 0 && n == 0);
	CHECK(s->ops->lock(s, "swap", &fence, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_SOURCE);
	CHECK(access(scratch_path(spec, "."), F_OK) != 0);
	store_close(s);
}

int main(void)
{
	static const struct {
		void (*test)(void);
		const char *claim;
	} tests[] = {
		{second_is_refused, "dirlock: the second is told who is first"},
		{dead_owner, "dirlock: a killed owner's lock is free"},
		{odd_contents, "dirlock: what the file holds does no harm"},
		{lost_file, "dirlock: the fence survives a lost file"},
		{looks_do_no_harm, "dirlock: looking does not take it"},
		{no_rights, "dirlock: no rights are reported as such"},
		{not_there, "dirlock: a set that is not there is not made"},
	};

	scratch_begin();
	spec = scratch_spec(10, "");
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		UNIT(tests[i].test, tests[i].claim);
		scratch_reset();
	}
	bloomkey_free(spec);
	scratch_end();
	return unit_end();
}
