/* SPDX-License-Identifier: BSD-2-Clause
 *
 * proc: a command of the shell whose standard output is read, or which is told
 * something on its standard input.
 *
 *	bloomctl ──── out ◄── sh -e -c COMMAND ─┐ one process group
 *	     └─────── life ─► keeper ───────────┘
 *
 * Standard input is empty unless it is fed, standard error is ours.  A pipeline
 *of the command is ended as a whole, whatever becomes of us: the keeper, a
 *shell that waits on a pipe, ends the group when we are gone and never saw the
 *command's end. No descriptor of ours but 2 is theirs.  An exit status other
 *than 0 is the caller's to judge.
 */
#ifndef BLOOMCTL_BASE_PROC_H
#define BLOOMCTL_BASE_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* How long a command that was asked to end may take, in milliseconds. */
#define PROC_GRACE_MS 5000

struct proc {
	pid_t pid;    /* of the shell; 0: it was reaped */
	pid_t keeper; /* and the number of the group; 0: it was reaped */
	int status;   /* of the shell, once it was reaped */
	int out;      /* the command's output; -1: closed */
	int in;       /* its input; -1: closed */
	int life;     /* closed when we end, by whatever cause; -1: closed */
	int grace_ms; /* PROC_GRACE_MS; tests make it small */
	int64_t limit_ns; /* by clock_ns(); a wait fails then with
			     ERROR_TEMPORARY; 0: never */
};

/*
 * Starts a command; environment is what it gets, ended by NULL.  0, or -1
 * (ERROR_INTERNAL: no process, descriptor or memory is to be had); nothing runs
 * then.
 */
int proc_start(struct proc *p, const char *command, char *const environment[],
	       struct error *err);

/*
 * The same for a command that is fed: what it prints goes to our standard
 * error, and nothing of it is read.  SIGPIPE must be ignored.
 */
int proc_start_fed(struct proc *p, const char *command,
		   char *const environment[], struct error *err);

/*
 * Gives such a command its whole input, as much of it as it wants.  0, or -1 as
 * proc_wait().
 */
int proc_feed(struct proc *p, const void *data, size_t len, struct error *err);

/*
 * Reads what the command wrote, as much as there is, up to cap bytes; *got is
 * 0 only when nobody can write any more.  -1: ERROR_DATA; ERROR_SOURCE: the
 * command stands still, as it wants to read from the terminal; or a stop.
 */
int proc_read(struct proc *p, void *buf, size_t cap, size_t *got,
	      struct error *err);

/*
 * Waits for the command's end.  *status is that of wait(2), also when asked
 * again.  0, or -1 as proc_read() if it stands still, if a stop is asked for
 * meanwhile, or at limit_ns.
 */
int proc_wait(struct proc *p, int *status, struct error *err);

/*
 * Ends what still runs and closes everything: SIGTERM to the group, SIGKILL to
 * a shell that is there grace_ms later, and at once to what outlives it.
 * After proc_wait() what the command left running is left alone.  Legal at
 * any time after proc_start(), more than once.
 */
void proc_end(struct proc *p);

#endif
