/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/hook.h"

#include <sys/wait.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/log.h"
#include "lib/base/proc.h"

static int judge(int status, struct error *err)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		return error_set(err, ERROR_VERIFY, "it was ended by signal %d",
				 WTERMSIG(status));
	return error_set(err, ERROR_VERIFY, "it failed with status %d",
			 WEXITSTATUS(status));
}

static int run(const struct hook *hook, const void *text, size_t len,
	       struct error *err)
{
	struct proc p;
	int status;
	int rc;

	if (proc_start_fed(&p, hook->command, hook->environment, err) != 0)
		return -1;
	if (hook->patience_ms > 0)
		p.limit_ns = clock_ns() + hook->patience_ms * INT64_C(1000000);
	rc = proc_feed(&p, text, len, err);
	if (rc == 0)
		rc = proc_wait(&p, &status, err);
	proc_end(&p);
	return rc == 0 ? judge(status, err) : -1;
}

int hook_run(const struct hook *hook, const void *text, size_t len,
	     struct error *err)
{
	int rc;

	log_step("hook %s", hook->option);
	input_set_patient(hook->patience_ms > 0);
	rc = run(hook, text, len, err);
	input_set_patient(false);
	if (rc == 0 || err->code == ERROR_INTERRUPTED ||
	    err->code == ERROR_TERMINATED)
		return rc;
	/* That it stands still before the terminal. */
	if (err->code == ERROR_SOURCE)
		err->code = ERROR_VERIFY;
	return error_prefix(err, "hook %s", hook->option);
}
