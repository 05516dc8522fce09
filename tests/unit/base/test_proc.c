/* SPDX-License-Identifier: BSD-2-Clause */

/* pipe2() */
#define _GNU_SOURCE

#include "lib/base/proc.h"

#include <pthread.h>
#include <signal.h>

#include "tests/unit/base/proc.h"
#include "tests/unit/child.h"

static void output(void)
{
	CHECK(run_command("echo hi; echo there", "hi\nthere\n") == 0);
	CHECK(run_command("", "") == 0);
	/* A pipeline, variables, the absence of input. */
	CHECK(run_command("A=x; printf '%s\\n' b a | sort; cat; echo $A",
			  "a\nb\nx\n") == 0);
	/* -e: the first command that fails ends it. */
	CHECK(WEXITSTATUS(run_command("echo a; false; echo b", "a\n")) == 1);
	/* No option of the shell's. */
	CHECK(WEXITSTATUS(run_command("-x", "")) == 127);
}

static void statuses(void)
{
	int status;

	for (int i = 0; i < 256; i += 51) {
		char command[32];

		snprintf(command, sizeof(command), "exit %d", i);
		status = run_command(command, "");
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == i);
	}
	status = run_command("exec /nonexistent/command", "");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 127);
	status = run_command("/dev/null", "");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 126);
	status = run_command("echo a; kill -KILL $$", "a\n");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	status = run_command("kill -USR1 $$", "");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
}

static void inheritance(void)
{
	char buf[64] = "";
	int ends[2], saved = dup(2);

	REQUIRE(pipe2(ends, O_CLOEXEC) == 0 && saved >= 0);
	REQUIRE(fcntl(saved, F_SETFD, FD_CLOEXEC) == 0);
	CHECK(dup2(ends[1], 2) == 2);
	CHECK(run_command("echo out; echo err >&2", "out\n") == 0);
	CHECK(dup2(saved, 2) == 2);
	CHECK(read(ends[0], buf, sizeof(buf)) == 4);
	CHECK_STR(buf, "err\n");
	(void)close(saved);
	(void)close(ends[0]);
	(void)close(ends[1]);
	/* What was opened without FD_CLOEXEC is passed on, nothing of ours. */
	close_on_exec();
	CHECK(run_command("for fd in 0 1 2 3 4 5 6 7 8 9 10 11 12; do "
			  "if [ -e /proc/$$/fd/$fd ]; then echo $fd; fi; done",
			  "0\n1\n2\n") == 0);
}

/* No signal is blocked, and those that we ignore are not. */
static void signals(void)
{
	sigset_t all, before;
	int status;

	(void)sigfillset(&all);
	CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	CHECK(run_command("grep '^SigBlk' /proc/self/status",
			  "SigBlk:\t0000000000000000\n") == 0);
	status = run_command("kill -PIPE $$", "");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	status = run_command("kill -XFSZ $$", "");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

/* The end is legal at any time, more than once, and leaves nothing. */
static void ends_test(void)
{
	struct error err = ERROR_INIT;
	unsigned fds = count_fds();
	struct proc p;
	char buf[8];
	size_t got;
	int status;

	REQUIRE(proc_start(&p, "echo a; sleep 1000", environ, &err) == 0);
	CHECK(proc_read(&p, buf, sizeof(buf), &got, &err) == 0);
	CHECK_U64(got, 2);
	proc_end(&p);
	CHECK(p.pid == 0 && p.keeper == 0 && p.out == -1 && p.life == -1);
	CHECK(WIFSIGNALED(p.status) && WTERMSIG(p.status) == SIGTERM);
	proc_end(&p);
	CHECK_U64(count_fds(), fds);
	CHECK(no_child());
	/* Behind the command's end, which is told again. */
	REQUIRE(proc_start(&p, "exit 3", environ, &err) == 0);
	for (int i = 0; i < 3; i++) {
		CHECK(proc_wait(&p, &status, &err) == 0);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	}
	proc_end(&p);
	proc_end(&p);
	CHECK_U64(count_fds(), fds);
	CHECK(no_child());
	CHECK_U64(err.code, ERROR_NONE);
}

/*
 * The whole group is gone when proc_end() is back: each of its processes
 * holds the pipe that we read to its end.
 */
static void check_group(const char *command, int grace_ms)
{
	struct error err = ERROR_INIT;
	unsigned fds = count_fds();
	int held[2], saved = dup(2);
	struct proc p;
	char buf[8];
	size_t got;

	REQUIRE(pipe2(held, O_CLOEXEC) == 0 && saved >= 0);
	REQUIRE(fcntl(saved, F_SETFD, FD_CLOEXEC) == 0);
	CHECK(dup2(held[1], 2) == 2);
	CHECK(proc_start(&p, command, environ, &err) == 0);
	CHECK(dup2(saved, 2) == 2);
	(void)close(saved);
	(void)close(held[1]);
	p.grace_ms = grace_ms;
	CHECK(proc_read(&p, buf, sizeof(buf), &got, &err) == 0);
	CHECK_U64(got, 6);
	proc_end(&p);
	CHECK(fcntl(held[0], F_SETFL, O_NONBLOCK) == 0);
	/* A SIGKILL that was sent is not yet a death. */
	for (int i = 0; i < 10000; i++) {
		ssize_t n = read(held[0], buf, sizeof(buf));

		if (n == 0)
			break;
		CHECK(n < 0 && errno == EAGAIN && i < 9999);
		(void)usleep(1000);
	}
	(void)close(held[0]);
	CHECK_U64(count_fds(), fds);
	CHECK(no_child());
}

static void group(void)
{
	/* With so long a grace a wrong end would be seen as a hang. */
	check_group("sleep 1000 | sleep 1000 & sleep 1000 & echo ready; wait",
		    1000000);
	/* The shell ends at once, its children do not. */
	check_group("(trap '' TERM; echo ready; sleep 1000) & wait", 1000000);
	/* It ignores SIGTERM; a small grace. */
	check_group("trap '' TERM; echo ready; sleep 1000; sleep 1000", 30);
	/* The shell has ended before; its child holds the output. */
	check_group("(trap '' TERM; sleep 1000) & echo ready", 1000000);
	/* It stopped itself. */
	check_group("echo ready; kill -STOP $$; sleep 1000", 1000000);
}

/* The keeper hears nothing that is sent to the group. */
static void signalled(void)
{
	check_group("trap '' TERM; kill -TERM 0; echo ready; sleep 1000", 30);
}

/* What is left is ended without its keeper. */
static void without_keeper(void)
{
	struct error err = ERROR_INIT;
	unsigned fds = count_fds();
	struct proc p;

	REQUIRE(proc_start(&p, "sleep 1000", environ, &err) == 0);
	CHECK(kill(p.keeper, SIGKILL) == 0);
	proc_end(&p);
	CHECK_U64(count_fds(), fds);
	CHECK(no_child());
}

/* After proc_wait() what the command left running is left alone. */
static void left_alone(void)
{
	struct error err = ERROR_INIT;
	struct proc p;
	char buf[32] = "";
	size_t got;
	int status;
	pid_t pid;

	REQUIRE(proc_start(&p, "sleep 1000 >/dev/null 2>&1 & echo $!", environ,
			   &err) == 0);
	CHECK(proc_read(&p, buf, sizeof(buf) - 1, &got, &err) == 0);
	CHECK(proc_wait(&p, &status, &err) == 0);
	CHECK(status == 0);
	proc_end(&p);
	pid = (pid_t)strtol(buf, NULL, 10);
	REQUIRE(pid > 1);
	CHECK(kill(pid, 0) == 0);
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(no_child());
}

/* Somebody who is gone ends its commands: the keeper sees to it. */
static void dies(const char *command)
{
	struct error err = ERROR_INIT;
	struct proc p;
	char buf[8];
	size_t got;

	if (proc_start(&p, command, environ, &err) == 0 &&
	    proc_read(&p, buf, sizeof(buf), &got, &err) == 0)
		(void)kill(getpid(), SIGKILL);
}

static void check_orphan(const char *command)
{
	int held[2], status;
	char byte;
	pid_t pid;

	fflush(stdout);
	REQUIRE(pipe2(held, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		(void)dup2(held[1], 2);
		dies(command);
		_exit(1);
	}
	(void)close(held[1]);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK(read(held[0], &byte, 1) == 0);
	(void)close(held[0]);
}

static void orphans(void)
{
	check_orphan("sleep 1000 & echo ready; sleep 1000");
	/* The group was told to end before, and only some of it did. */
	check_orphan("trap '' HUP INT QUIT TERM; "
		     "for i in HUP INT QUIT TERM; do kill -$i 0; done; "
		     "trap - TERM; sleep 1000 & echo ready; sleep 1000");
}

static void ignored_child(void)
{
	(void)signal(SIGCHLD, SIG_IGN);
	CHECK(run_command("exit 7", "") == 7 << 8);
}

static void ignored(void)
{
	in_child(ignored_child);
}

/* Commands that are started side by side do not hold each other's pipes. */
static void *one_of_many(void *arg)
{
	for (int i = 0; i < 5; i++) {
		struct error err = ERROR_INIT;
		struct proc p;
		char buf[8];
		size_t got = 9;
		int status;

		if (proc_start(&p, arg, environ, &err) != 0)
			return arg;
		if (proc_read(&p, buf, sizeof(buf), &got, &err) != 0 ||
		    got != 2 ||
		    proc_read(&p, buf, sizeof(buf), &got, &err) != 0 ||
		    got != 0 || proc_wait(&p, &status, &err) != 0 ||
		    status != 0)
			arg = NULL;
		proc_end(&p);
	}
	return arg;
}

static void threads(void)
{
	struct error err = ERROR_INIT;
	unsigned fds = count_fds();
	static char command[] = "echo a";
	pthread_t thread[4];
	struct proc p;

	/* It lives longer than they do. */
	REQUIRE(proc_start(&p, "sleep 1000", environ, &err) == 0);
	for (int i = 0; i < 4; i++)
		REQUIRE(pthread_create(&thread[i], NULL, one_of_many,
				       command) == 0);
	for (int i = 0; i < 4; i++) {
		void *result = NULL;

		CHECK(pthread_join(thread[i], &result) == 0);
		CHECK(result != NULL);
	}
	proc_end(&p);
	CHECK_U64(count_fds(), fds);
	CHECK(no_child());
}

int main(void)
{
	UNIT(output, "proc: what a command writes is read");
	UNIT(statuses, "proc: exit statuses and signals are told");
	UNIT(inheritance, "proc: standard error is ours, and nothing else");
	UNIT(signals, "proc: signals are as if nobody had changed them");
	UNIT(ends_test, "proc: no child and no descriptor is left");
	UNIT(group, "proc: a command is ended as a whole");
	UNIT(signalled, "proc: a command may signal all of its group");
	UNIT(without_keeper, "proc: a command is ended without its keeper");
	UNIT(left_alone, "proc: what a command left running is left alone");
	UNIT(orphans, "proc: a command ends when we are gone");
	UNIT(ignored, "proc: SIGCHLD may be ignored");
	UNIT(threads, "proc: threads start commands side by side");
	return unit_end();
}
