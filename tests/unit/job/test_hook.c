/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Commands that are told how a run goes.
 */
#include "lib/job/hook.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/stop.h"
#include "tests/unit/job/job.h"

extern char **environ;

static int run(const char *command, int patience_ms, struct error *err)
{
	const struct hook hook = {"--after", command, environ, patience_ms};

	*err = (struct error)ERROR_INIT;
	return hook_run(&hook, "{}\n", 3, err);
}

static void a_hook_says_yes_or_no(void)
{
	struct error err;

	CHECK(run("test \"$(cat)\" = '{}'", 0, &err) == 0);
	CHECK(run("true", 0, &err) == 0);
	CHECK(run("exit 3", 0, &err) == -1);
	CHECK_U64(err.code, ERROR_VERIFY);
	CHECK_STR(err.text, "hook --after: it failed with status 3");
	/* -e: the first command that fails ends it. */
	CHECK(run("false; true", 0, &err) == -1);
	CHECK_STR(err.text, "hook --after: it failed with status 1");
	CHECK(run("kill -KILL $$", 0, &err) == -1);
	CHECK_U64(err.code, ERROR_VERIFY);
	CHECK_STR(err.text, "hook --after: it was ended by signal 9");
}

static void after_a_stop(void)
{
	struct error err = ERROR_INIT;

	REQUIRE(stop_init(&err) == 0);
	CHECK(raise(SIGTERM) == 0);
	CHECK(run("sleep 1000", 0, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
	/* One that is run in spite of it has a time of its own. */
	CHECK(run("exit 0", 10000, &err) == 0);
	CHECK(run("sleep 1000", 50, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK_STR(err.text, "hook --after: its time is over");
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
	/* And the next one has none. */
	CHECK(run("sleep 1000", 0, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
}

static void a_stop_ends_it(void)
{
	job_fork(after_a_stop);
}

int main(void)
{
	UNIT(a_hook_says_yes_or_no, "hook: it says yes or no");
	UNIT(a_stop_ends_it, "hook: a stop ends it, or its patience does");
	return unit_end();
}
