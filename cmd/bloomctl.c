/* SPDX-License-Identifier: BSD-2-Clause
 *
 * main: finds the subcommand, runs it, prints its error once.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/opts.h"
#include "cmd/output.h"
#include "lib/base/log.h"
#include "lib/base/stop.h"

const char *argp_program_version = "bloomctl " BLOOMCTL_VERSION;

static const struct command commands[] = {
#define COMMAND(name, on, args, summary, more) \
	{#name, on, args, summary, more, cmd_##name},
	COMMANDS
#undef COMMAND
};

static const char doc_head[] =
	"Plans, builds, swaps and checks the bucketed Bloom filters that stand "
	"in front of a database.\vCommands:\n";
static const char doc_tail[] =
	"\nEach has --help and a manual page, bloomctl-COMMAND(1).  Begin with "
	"bloomctl(1).";

struct top {
	int argc; /* what is left for the subcommand; argv[0] is its name */
	char **argv;
};

static error_t parse_top(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		top->argv = state->argv + state->next - 1;
		top->argc = state->argc - state->next + 1;
		state->next = state->argc;
		(void)arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void write_doc(char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s", doc_head);

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		used += (size_t)snprintf(out + used, size - used, "  %-9s %s\n",
					 commands[i].name, commands[i].summary);
	(void)snprintf(out + used, size - used, "%s", doc_tail);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/*
 * --help and --version, which are argp's, are answers too, and leave by
 * exit().  Those of commands have gone another way by then (cmd/output.h), so
 * that nothing is told twice.
 */
static void check_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	(void)fprintf(stderr, "bloomctl: standard output: %s\n",
		      strerror(errno));
	_exit(ERROR_DATA);
}

/* A file opened on a closed standard descriptor would get its output. */
static void open_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			_exit(ERROR_INTERNAL);
}

static int fail(const char *name, const struct error *err)
{
	char text[sizeof(err->text) + sizeof(err->hint) + 128];
	struct error ignored = ERROR_INIT;
	bool hint = err->hint[0] != '\0';
	int n;

	/* What was answered before it stands; what failed is told once. */
	(void)output_flush(&ignored);
	n = snprintf(text, sizeof(text), "%s: %s\n%s%s%s", name, err->text,
		     hint ? "hint: " : "", err->hint, hint ? "\n" : "");
	log_text(text, (size_t)n);
	return (int)err->code;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct opts opts;
	enum log_level level = LOG_NOTE;
	static char name[64]; /* argv[0], which outlives this */
	int status;

	(void)snprintf(name, sizeof(name), "bloomctl %s", command->name);
	argv[0] = name;
	status = opts_read(&opts, command, argc, argv, getenv, &err);
	if (status == 0 && opts_flag(&opts, OPT_QUIET))
		level = LOG_QUIET;
	else if (status == 0 && opts_u64(&opts, OPT_VERBOSE, 0) > 0)
		level = opts_u64(&opts, OPT_VERBOSE, 0) > 1 ? LOG_DETAIL
							    : LOG_STEP;
	log_init(level, name);
	if (status == 0)
		status = stop_init(&err);
	if (status == 0 && opts_has(&opts, OPT_DEADLINE))
		status = stop_deadline(opts_text(&opts, OPT_DEADLINE), &err);
	if (status == 0)
		status = command->run(&opts, &err);
	if (status >= 0 && output_flush(&err) != 0)
		status = -1;
	opts_release(&opts);
	return status < 0 ? fail(name, &err) : status;
}

int main(int argc, char **argv)
{
	char doc[2048];
	const struct argp argp = {
		NULL, parse_top, "COMMAND [OPTION...]", doc, NULL, NULL, NULL};
	struct top top = {0, NULL};
	const struct command *command;

	write_doc(doc, sizeof(doc));
	open_standard_descriptors();
	/* Of --help, too, a reader that is gone is an error and not a death. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)atexit(check_stdout);
	if (argc > 1 && argv[1][0] != '-') {
		top.argc = argc - 1;
		top.argv = argv + 1;
	} else if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &top) !=
		   0) {
		(void)fputs("bloomctl: out of memory\n", stderr);
		return ERROR_INTERNAL;
	}
	command = find(top.argv[0]);
	if (command == NULL) {
		(void)fprintf(stderr,
			      "bloomctl: command '%.64s': there is no such "
			      "command\nhint: bloomctl --help lists them\n",
			      top.argv[0]);
		return ERROR_USAGE;
	}
	return run(command, top.argc, top.argv);
}
