/* SPDX-License-Identifier: BSD-2-Clause */

/* pipe2() */
#define _GNU_SOURCE

#include "lib/base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"

#define SHELL "/bin/sh"

/* How often a command that is silent is looked at. */
#define LOOK_MS 1000
/* The same of one that does not read what it is fed. */
#define FEED_MS 100

/* Larger pipes save both sides switches; the system's limit is as much. */
#define PIPE_SIZE (1 << 20)

/*
 * Ends its group once nobody can write to its standard input: we are gone.
 * The number of the group is its own, and so no other's as long as it is not
 * reaped.  It ignores what set_attributes() has blocked until then: a shell
 * that waits for a child lets blocked signals in.
 */
static const char keeper[] =
	"trap '' HUP INT QUIT TERM TSTP TTIN TTOU; read -r nothing; "
	"kill -TERM -$$; sleep 5; kill -KILL -$$";

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* Descriptors of a shell: 0 and 1, or -1 for /dev/null; 2 is ours. */
static int set_files(posix_spawn_file_actions_t *actions, int in, int out,
		     bool is_keeper)
{
	static const char null[] = "/dev/null";
	int rc;

	rc = in >= 0 ? posix_spawn_file_actions_adddup2(actions, in, 0)
		     : posix_spawn_file_actions_addopen(actions, 0, null,
							O_RDONLY, 0);
	if (rc == 0)
		rc = out >= 0
			     ? posix_spawn_file_actions_adddup2(actions, out, 1)
			     : posix_spawn_file_actions_addopen(
				       actions, 1, null, O_WRONLY, 0);
	if (rc == 0 && is_keeper)
		rc = posix_spawn_file_actions_addopen(actions, 2, null,
						      O_WRONLY, 0);
	return rc;
}

/*
 * In a group (0: its own), with those signals that stop_init() ignores as they
 * were; what is handled is reset by itself.  What is sent to the whole group,
 * by a command or a terminal, shall not end or stop its keeper.
 */
static int set_attributes(posix_spawnattr_t *attr, pid_t group, bool is_keeper)
{
	static const int kept_out[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
				       SIGTSTP, SIGTTIN, SIGTTOU};
	sigset_t blocked, ignored;
	int rc;

	(void)sigemptyset(&blocked);
	for (size_t i = 0;
	     is_keeper && i < sizeof(kept_out) / sizeof(kept_out[0]); i++)
		(void)sigaddset(&blocked, kept_out[i]);
	(void)sigemptyset(&ignored);
	(void)sigaddset(&ignored, SIGPIPE);
	(void)sigaddset(&ignored, SIGXFSZ);
	rc = posix_spawnattr_setsigmask(attr, &blocked);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(attr, &ignored);
	if (rc == 0)
		rc = posix_spawnattr_setpgroup(attr, group);
	if (rc == 0)
		rc = posix_spawnattr_setflags(
			attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
				      POSIX_SPAWN_SETSIGDEF);
	return rc;
}

/* Spawns a shell, see set_files().  0 or an errno value; *pid is 0 then. */
static int spawn(pid_t *pid, pid_t group, char *const argv[],
		 char *const environment[], int in, int out, bool is_keeper)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	*pid = 0;
	rc = posix_spawn_file_actions_init(&actions);
	if (rc != 0)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (rc == 0) {
		rc = set_files(&actions, in, out, is_keeper);
		if (rc == 0)
			rc = set_attributes(&attr, group, is_keeper);
		if (rc == 0)
			rc = posix_spawn(pid, SHELL, &actions, &attr, argv,
					 environment);
		(void)posix_spawnattr_destroy(&attr);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	if (rc != 0)
		*pid = 0;
	return rc;
}

static int spawn_command(struct proc *p, const char *command,
			 char *const environment[], int in, int out)
{
	char *argv[] = {(char *)"sh", (char *)"-e",    (char *)"-c",
			(char *)"--", (char *)command, NULL};

	return spawn(&p->pid, p->keeper, argv, environment, in, out, false);
}

static int spawn_keeper(struct proc *p, char *const environment[], int life)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)keeper, NULL};

	return spawn(&p->keeper, 0, argv, environment, life, -1, true);
}

/* Starts it with these two descriptors, as set_files() has them. */
static int start(struct proc *p, const char *command, char *const environment[],
		 int in, int out, struct error *err)
{
	int life[2] = {-1, -1};
	int rc = 0;

	/* Whoever ignored it when we were started would reap our children. */
	(void)signal(SIGCHLD, SIG_DFL);
	if (pipe2(life, O_CLOEXEC) != 0)
		rc = errno;
	p->life = life[1];
	/* The keeper first: we may be killed at any time. */
	if (rc == 0)
		rc = spawn_keeper(p, environment, life[0]);
	if (rc == 0)
		rc = spawn_command(p, command, environment, in, out);
	close_fd(&life[0]);
	if (rc == 0)
		return 0;
	proc_end(p);
	return error_errno(err, ERROR_INTERNAL, rc, "no process for it");
}

static const struct proc nothing = {
	.out = -1, .in = -1, .life = -1, .grace_ms = PROC_GRACE_MS};

int proc_start(struct proc *p, const char *command, char *const environment[],
	       struct error *err)
{
	int out[2];
	int rc;

	*p = nothing;
	if (pipe2(out, O_CLOEXEC) != 0)
		return error_errno(err, ERROR_INTERNAL, errno,
				   "no process for it");
	p->out = out[0];
	rc = start(p, command, environment, -1, out[1], err);
	close_fd(&out[1]);
#ifdef F_SETPIPE_SZ
	if (rc == 0)
		(void)fcntl(p->out, F_SETPIPE_SZ, PIPE_SIZE);
#endif
	return rc;
}

int proc_start_fed(struct proc *p, const char *command,
		   char *const environment[], struct error *err)
{
	int in[2];
	int rc;

	*p = nothing;
	if (pipe2(in, O_CLOEXEC) != 0)
		return error_errno(err, ERROR_INTERNAL, errno,
				   "no process for it");
	p->in = in[1];
	(void)fcntl(p->in, F_SETFL, O_NONBLOCK);
	rc = start(p, command, environment, in[0], STDERR_FILENO, err);
	close_fd(&in[0]);
	return rc;
}

/*
 * Whether a child has come to one of these states; it is not reaped.  *gone:
 * it is no child of ours any more.
 */
static bool has_come_to(pid_t pid, int states, siginfo_t *info, bool *gone)
{
	int rc;

	memset(info, 0, sizeof(*info));
	do {
		rc = waitid(P_PID, (id_t)pid, info, states | WNOHANG | WNOWAIT);
	} while (rc != 0 && errno == EINTR);
	*gone = rc != 0;
	return rc == 0 && info->si_pid != 0;
}

/* Tells a command that was stopped by the terminal that it wants to use. */
static int check_terminal(const struct proc *p, struct error *err)
{
	siginfo_t info;
	bool gone;

	if (p->pid == 0 || !has_come_to(p->pid, WSTOPPED, &info, &gone) ||
	    (info.si_status != SIGTTIN && info.si_status != SIGTTOU))
		return 0;
	(void)error_set(err, ERROR_SOURCE,
			"it wants to use the terminal, which is not its own");
	return error_hint(err, "let it find passwords and answers in a file "
			       "or a variable");
}

int proc_read(struct proc *p, void *buf, size_t cap, size_t *got,
	      struct error *err)
{
	int ready;

	*got = 0;
	while ((ready = input_wait(p->out, LOOK_MS, err)) == 0) {
		if (check_terminal(p, err) != 0)
			return -1;
	}
	return ready > 0 ? input_read(p->out, buf, cap, got, err) : -1;
}

/* Reaps a child that has ended; whether it had. */
static bool reap(pid_t *pid, int *status)
{
	pid_t done;

	if (*pid == 0)
		return true;
	do {
		done = waitpid(*pid, status, WNOHANG);
	} while (done < 0 && errno == EINTR);
	if (done == 0)
		return false;
	/* Somebody else reaped it: how it ended is not known. */
	if (done < 0)
		*status = 127 << 8;
	*pid = 0;
	return true;
}

/* Lets pass a while that grows from call to call. */
static void pause_ms(int *ms)
{
	const struct timespec span = {0, *ms * 1000000L};

	(void)nanosleep(&span, NULL);
	if (*ms < 50)
		*ms *= 2;
}

/* Whether there is more to wait for. */
static int check(const struct proc *p, struct error *err)
{
	if (input_check(err) != 0 || check_terminal(p, err) != 0)
		return -1;
	if (p->limit_ns == 0 || clock_ns() < p->limit_ns)
		return 0;
	return error_set(err, ERROR_TEMPORARY, "its time is over");
}

/* Whether the shell has ended; what it left behind may have its input. */
static bool has_ended(const struct proc *p)
{
	siginfo_t info;
	bool gone;

	return p->pid == 0 || has_come_to(p->pid, WEXITED, &info, &gone) ||
	       gone;
}

int proc_feed(struct proc *p, const void *data, size_t len, struct error *err)
{
	const char *at = data;
	int rc = 0;

	while (len > 0) {
		int ready = input_wait_for(p->in, POLLOUT, FEED_MS, err);
		ssize_t n = 0;

		rc = ready < 0 ? -1 : check(p, err);
		if (rc != 0 || has_ended(p))
			break;
		if (ready > 0)
			n = write(p->in, at, len);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	close_fd(&p->in);
	return rc;
}

int proc_wait(struct proc *p, int *status, struct error *err)
{
	int ms = 1;

	while (!reap(&p->pid, &p->status)) {
		if (check(p, err) != 0)
			return -1;
		pause_ms(&ms);
	}
	*status = p->status;
	return 0;
}

/* Ends the shell and all of its group. */
static void end_group(struct proc *p)
{
	int64_t limit = clock_ns() + p->grace_ms * INT64_C(1000000);
	siginfo_t info;
	bool gone = false;
	int ms = 1;

	(void)kill(-p->keeper, SIGTERM);
	/* Of a command that the terminal stopped. */
	(void)kill(-p->keeper, SIGCONT);
	while (!has_come_to(p->pid, WEXITED, &info, &gone) && !gone) {
		if (clock_ns() > limit)
			(void)kill(-p->keeper, SIGKILL);
		pause_ms(&ms);
	}
	/* What the shell left behind goes with it, and the keeper. */
	(void)kill(-p->keeper, SIGKILL);
	(void)reap(&p->pid, &p->status);
}

void proc_end(struct proc *p)
{
	int status, ms = 1;

	close_fd(&p->out);
	close_fd(&p->in);
	if (p->pid > 0)
		end_group(p);
	if (p->keeper > 0)
		(void)kill(p->keeper, SIGKILL);
	while (!reap(&p->keeper, &status))
		pause_ms(&ms);
	close_fd(&p->life);
}
