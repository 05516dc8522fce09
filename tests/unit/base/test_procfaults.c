/* SPDX-License-Identifier: BSD-2-Clause
 *
 * proc.c where calls of the system fail.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>

#include "tests/unit/base/proc.h"

/* Calls that fail: the n-th from now on, of each kind; 0: none. */
static struct {
	unsigned spawn, pipe, actions, attr, dup2, open;
	int reaped_elsewhere; /* waits fail so often */
	int interrupted;
	pid_t spawned;
} fault;

int __real_posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[]);
int __wrap_posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[]);
int __real_pipe2(int fds[2], int flags);
int __wrap_pipe2(int fds[2], int flags);
int __real_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int __wrap_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int __real_posix_spawnattr_init(posix_spawnattr_t *attr);
int __wrap_posix_spawnattr_init(posix_spawnattr_t *attr);
int __real_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions,
					    int fd, int to);
int __wrap_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions,
					    int fd, int to);
int __real_posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
					    int fd, const char *path, int flags,
					    mode_t mode);
int __wrap_posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
					    int fd, const char *path, int flags,
					    mode_t mode);
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

static bool now(unsigned *n)
{
	return *n > 0 && --*n == 0;
}

int __wrap_posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[])
{
	/* What *pid is on failure is not specified. */
	if (now(&fault.spawn)) {
		*pid = 1;
		return EAGAIN;
	}
	return __real_posix_spawn(pid, path, actions, attr, argv, envp);
}

int __wrap_pipe2(int fds[2], int flags)
{
	if (now(&fault.pipe)) {
		errno = EMFILE;
		return -1;
	}
	return __real_pipe2(fds, flags);
}

int __wrap_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions)
{
	return now(&fault.actions)
		       ? ENOMEM
		       : __real_posix_spawn_file_actions_init(actions);
}

int __wrap_posix_spawnattr_init(posix_spawnattr_t *attr)
{
	return now(&fault.attr) ? ENOMEM : __real_posix_spawnattr_init(attr);
}

int __wrap_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions,
					    int fd, int to)
{
	return now(&fault.dup2) ? ENOMEM
				: __real_posix_spawn_file_actions_adddup2(
					  actions, fd, to);
}

int __wrap_posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
					    int fd, const char *path, int flags,
					    mode_t mode)
{
	return now(&fault.open) ? ENOMEM
				: __real_posix_spawn_file_actions_addopen(
					  actions, fd, path, flags, mode);
}

static bool wait_fails(void)
{
	errno = fault.interrupted > 0 ? EINTR : ECHILD;
	if (fault.interrupted > 0) {
		fault.interrupted--;
		return true;
	}
	if (fault.reaped_elsewhere == 0)
		return false;
	fault.reaped_elsewhere--;
	return true;
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	return wait_fails() ? -1 : __real_waitid(type, id, info, options);
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	return wait_fails() ? -1 : __real_waitpid(pid, status, options);
}

static void failed_start(unsigned *n, unsigned at, const char *text)
{
	struct error err = ERROR_INIT;
	unsigned fds = count_fds();
	struct proc p;

	*n = at;
	CHECK(proc_start(&p, "(trap '' TERM; sleep 1000) & sleep 1000", environ,
			 &err) == -1);
	CHECK(*n == 0);
	CHECK_U64(err.code, ERROR_INTERNAL);
	CHECK_STR(err.text, text);
	CHECK(p.pid == 0 && p.keeper == 0 && p.out == -1 && p.life == -1);
	CHECK_U64(count_fds(), fds);
	CHECK(no_child());
	proc_end(&p);
}

static void failed_starts(void)
{
	static const char memory[] =
		"no process for it: Cannot allocate memory";

	for (unsigned i = 1; i <= 2; i++) {
		failed_start(&fault.spawn, i,
			     "no process for it: Resource temporarily "
			     "unavailable");
		failed_start(&fault.pipe, i,
			     "no process for it: Too many open files");
		failed_start(&fault.actions, i, memory);
		failed_start(&fault.attr, i, memory);
		failed_start(&fault.dup2, i, memory);
	}
	for (unsigned i = 1; i <= 3; i++)
		failed_start(&fault.open, i, memory);
}

static void waits_fail(void)
{
	struct error err = ERROR_INIT;
	struct proc p;
	int status;

	fault.interrupted = 3;
	CHECK(run_command("exit 2", "") == 2 << 8);
	REQUIRE(proc_start(&p, "exit 0", environ, &err) == 0);
	fault.reaped_elsewhere = 1;
	CHECK(proc_wait(&p, &status, &err) == 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 127);
	proc_end(&p);
	CHECK(__real_waitpid(-1, &status, 0) > 0);
	REQUIRE(proc_start(&p, "exec sleep 1000", environ, &err) == 0);
	fault.interrupted = 1;
	fault.reaped_elsewhere = 2;
	proc_end(&p);
	CHECK(p.pid == 0 && p.keeper == 0);
	CHECK(__real_waitpid(-1, &status, 0) > 0);
	CHECK(no_child());
}

int main(void)
{
	UNIT(failed_starts, "proc: a start that fails leaves nothing");
	UNIT(waits_fail, "proc: waits are repeated, and may find nobody");
	return unit_end();
}
