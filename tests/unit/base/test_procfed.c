/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Commands of proc.c that are fed, and the limit of a wait.
 */

/* pipe2() */
#define _GNU_SOURCE

#include <signal.h>
#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/base/stop.h"
#include "tests/unit/base/proc.h"
#include "tests/unit/child.h"

/* More than a pipe holds. */
#define LARGE ((size_t)3 << 20)

/* Feeds a command and waits for it: its status. */
static int feed(const char *command, const void *data, size_t len)
{
	struct error err = ERROR_INIT;
	unsigned fds = count_fds();
	struct proc p;
	int status = -1;

	if (proc_start_fed(&p, command, environ, &err) != 0)
		return -1;
	CHECK(p.out == -1);
	CHECK(proc_feed(&p, data, len, &err) == 0);
	CHECK(p.in == -1);
	CHECK(proc_wait(&p, &status, &err) == 0);
	proc_end(&p);
	CHECK_STR(err.text, "");
	CHECK_U64(count_fds(), fds);
	CHECK(no_child());
	return status;
}

static void fed(void)
{
	char *large = malloc(LARGE);
	int64_t began;

	REQUIRE(large != NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	CHECK(feed("test \"$(cat)\" = 'a b'", "a b", 3) == 0);
	CHECK(feed("test \"$(cat | wc -c)\" -eq 0", "", 0) == 0);
	memset(large, 'x', LARGE);
	CHECK(feed("test \"$(wc -c)\" -eq 3145728", large, LARGE) == 0);
	/* It wants none of it, or a part. */
	CHECK(WEXITSTATUS(feed("exit 3", large, LARGE)) == 3);
	CHECK(WEXITSTATUS(feed("head -c 1; exec <&-; exit 4", large, LARGE)) ==
	      4);
	/* What it leaves behind has its input for longer. */
	began = clock_ns();
	CHECK(feed("{ sleep 9 <&3 & } 3<&0; exit 0", large, LARGE) == 0);
	CHECK(clock_ns() - began < INT64_C(8000000000));
	free(large);
}

static void output(void)
{
	struct error err = ERROR_INIT;
	int ends[2], saved = dup(2), status;
	char buf[64] = "";
	struct proc p;

	REQUIRE(pipe2(ends, O_CLOEXEC) == 0 && saved >= 0);
	REQUIRE(fcntl(saved, F_SETFD, FD_CLOEXEC) == 0);
	CHECK(dup2(ends[1], 2) == 2);
	CHECK(proc_start_fed(&p, "cat; echo b >&2", environ, &err) == 0);
	CHECK(proc_feed(&p, "a\n", 2, &err) == 0);
	CHECK(proc_wait(&p, &status, &err) == 0);
	proc_end(&p);
	CHECK(dup2(saved, 2) == 2);
	CHECK(read(ends[0], buf, sizeof(buf)) == 4);
	CHECK_STR(buf, "a\nb\n");
	(void)close(saved);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void stopped(void)
{
	struct error err = ERROR_INIT;
	char *large = calloc(1, LARGE);
	struct proc p;

	REQUIRE(large != NULL && stop_init(&err) == 0);
	REQUIRE(proc_start_fed(&p, "sleep 1000", environ, &err) == 0);
	CHECK(raise(SIGTERM) == 0);
	CHECK(proc_feed(&p, large, LARGE, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	proc_end(&p);
	CHECK(no_child());
	free(large);
}

static void stops(void)
{
	in_child(stopped);
}

static void limits(void)
{
	struct error err = ERROR_INIT;
	char *large = calloc(1, LARGE);
	int status;
	struct proc p;

	REQUIRE(large != NULL);
	REQUIRE(proc_start_fed(&p, "sleep 1000", environ, &err) == 0);
	p.limit_ns = clock_ns() + 50000000;
	CHECK(proc_feed(&p, large, LARGE, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	err = (struct error)ERROR_INIT;
	CHECK(proc_wait(&p, &status, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK_STR(err.text, "its time is over");
	proc_end(&p);
	CHECK(no_child());
	free(large);
}

int main(void)
{
	UNIT(fed, "proc: a command gets what it is fed, as far as it reads");
	UNIT(output, "proc: what a fed command prints goes to standard error");
	UNIT(stops, "proc: a stop ends the feeding");
	UNIT(limits, "proc: a wait may have a limit");
	return unit_end();
}
