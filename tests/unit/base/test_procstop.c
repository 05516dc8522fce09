/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ends a wait of proc.c before the command does: a stop, and a command
 * that wants the terminal.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "lib/base/stop.h"
#include "tests/unit/base/proc.h"
#include "tests/unit/child.h"

/* Sends us a signal in a while; to be waited for. */
static pid_t signal_later(int number)
{
	pid_t us = getpid(), pid = fork();

	if (pid == 0) {
		(void)usleep(50000);
		_exit(kill(us, number) == 0 ? 0 : 1);
	}
	return pid;
}

static void end_all(struct proc *p, pid_t pid)
{
	proc_end(p);
	CHECK(pid <= 0 || waitpid(pid, NULL, 0) == pid);
	CHECK(no_child());
}

static void while_reading(void)
{
	struct error err = ERROR_INIT;
	struct proc p;
	char buf[8];
	size_t got = 9;
	pid_t pid;

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(proc_start(&p, "sleep 1000", environ, &err) == 0);
	pid = signal_later(SIGTERM);
	CHECK(proc_read(&p, buf, sizeof(buf), &got, &err) == -1);
	CHECK_U64(got, 0);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK_STR(err.text, "stopped by SIGTERM");
	end_all(&p, pid);
}

static void while_waiting(void)
{
	struct error err = ERROR_INIT;
	struct proc p;
	char buf[8];
	size_t got = 9;
	int status;
	pid_t pid;

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(proc_start(&p, "exec >&-; exec sleep 1000", environ, &err) ==
		0);
	CHECK(proc_read(&p, buf, sizeof(buf), &got, &err) == 0);
	CHECK_U64(got, 0);
	pid = signal_later(SIGINT);
	CHECK(proc_wait(&p, &status, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	end_all(&p, pid);
}

static void before(void)
{
	struct error err = ERROR_INIT;
	struct proc p;
	char buf[8];
	size_t got = 9;
	int status;

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(proc_start(&p, "echo a; sleep 1000", environ, &err) == 0);
	CHECK(raise(SIGTERM) == 0);
	CHECK(proc_read(&p, buf, sizeof(buf), &got, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK(proc_wait(&p, &status, &err) == -1);
	end_all(&p, 0);
}

static void stops(void)
{
	in_child(while_reading);
	in_child(while_waiting);
	in_child(before);
}

/* Makes a terminal that is ours, in a session of our own. */
static int open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int slave = -1;

	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 &&
	    setsid() > 0)
		slave = open(ptsname(master), O_RDWR);
	return slave >= 0 && tcgetpgrp(slave) == getpgrp() ? master : -1;
}

static void check_told(struct proc *p, const struct error *err)
{
	CHECK_U64(err->code, ERROR_SOURCE);
	CHECK_STR(err->text,
		  "it wants to use the terminal, which is not its own");
	CHECK_STR(err->hint,
		  "let it find passwords and answers in a file or a variable");
	end_all(p, 0);
}

static void on_terminal(void)
{
	struct error err = ERROR_INIT;
	int master = open_terminal(), status;
	struct proc p;
	char buf[8];
	size_t got = 9;

	REQUIRE(master >= 0);
	REQUIRE(proc_start(&p, "read -r x </dev/tty", environ, &err) == 0);
	CHECK(proc_read(&p, buf, sizeof(buf), &got, &err) == -1);
	check_told(&p, &err);
	/* With its output closed it is only waited for. */
	memset(&err, 0, sizeof(err));
	REQUIRE(proc_start(&p, "exec >&-; stty -echo </dev/tty", environ,
			   &err) == 0);
	CHECK(proc_read(&p, buf, sizeof(buf), &got, &err) == 0);
	CHECK(proc_wait(&p, &status, &err) == -1);
	check_told(&p, &err);
	/* One that stopped for another cause is waited for. */
	memset(&err, 0, sizeof(err));
	REQUIRE(proc_start(&p,
			   "(sleep 2; kill -CONT $$) & kill -STOP $$; "
			   "echo a; wait",
			   environ, &err) == 0);
	CHECK(proc_read(&p, buf, sizeof(buf), &got, &err) == 0);
	CHECK_U64(got, 2);
	end_all(&p, 0);
	/* The terminal is closed by our end: to hang up would be ours. */
}

static void terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	if (master < 0)
		SKIP("no pseudo-terminal is to be had");
	(void)close(master);
	in_child(on_terminal);
}

int main(void)
{
	UNIT(stops, "proc: a stop ends a read and a wait");
	UNIT(terminal, "proc: a command that wants the terminal is told");
	return unit_end();
}
