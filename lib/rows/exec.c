/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/exec.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/base/proc.h"
#include "lib/base/show.h"
#include "lib/rows/decode.h"

struct exec_stream {
	struct stream base;
	struct proc proc;
	bool ended; /* with status 0 */
};

struct exec_source {
	struct source base;
	char **commands;          /* owned, and each of them */
	char *const *environment; /* borrowed */
	size_t count;
};

int exec_judge(int status, struct error *err)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
		return error_set(err, ERROR_SOURCE,
				 "the shell cannot run it: status %d",
				 WEXITSTATUS(status));
	if (WIFSIGNALED(status))
		return error_set(err, ERROR_DATA,
				 "it was ended by signal %d, so its rows are "
				 "not whole",
				 WTERMSIG(status));
	(void)error_set(err, ERROR_DATA,
			"it failed with status %d, so its rows are not whole",
			WEXITSTATUS(status));
	return error_hint(err, "what it wrote to standard error may say why");
}

static int stream_read(struct stream *stream, void *buf, size_t cap,
		       size_t *got, struct error *err)
{
	struct exec_stream *s = (struct exec_stream *)stream;
	int status;

	*got = 0;
	if (s->ended)
		return 0;
	if (proc_read(&s->proc, buf, cap, got, err) != 0)
		return -1;
	if (*got > 0)
		return 0;
	/* Here and not in finish(), so that a command that failed is told
	 * before the cut-off rows that it left. */
	if (proc_wait(&s->proc, &status, err) != 0 ||
	    exec_judge(status, err) != 0)
		return -1;
	s->ended = true;
	return 0;
}

static int stream_finish(struct stream *stream, struct error *err)
{
	struct exec_stream *s = (struct exec_stream *)stream;

	return s->ended ? 0
			: error_set(err, ERROR_INTERNAL, "not read to its end");
}

static void stream_close(struct stream *stream)
{
	struct exec_stream *s = (struct exec_stream *)stream;

	proc_end(&s->proc);
	free(s);
}

static int exec_open(struct source *source, const struct source_part *part,
		     struct stream **out, struct error *err)
{
	static const struct stream_ops ops = {stream_read, stream_finish,
					      stream_close};
	struct exec_source *source_exec = (struct exec_source *)source;
	struct exec_stream *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s == NULL)
		return error_nomem(err);
	s->base.ops = &ops;
	if (proc_start(&s->proc, source_exec->commands[part->index],
		       source_exec->environment, err) != 0) {
		free(s);
		return -1;
	}
	return decode_open(&s->base, false, out, err);
}

static int exec_split(struct source *source, unsigned jobs,
		      const struct rowformat *format,
		      struct source_part **parts, size_t *count,
		      struct error *err)
{
	struct exec_source *s = (struct exec_source *)source;

	(void)jobs;
	(void)format;
	*parts = NULL;
	*count = 0;
	for (size_t i = 0; i < s->count; i++) {
		char label[SHOW_COMMAND_MAX];
		char name[SHOW_COMMAND_MAX + 32];
		struct source_part *part;

		(void)show_command(s->commands[i], label);
		if (s->count > 1)
			(void)snprintf(name, sizeof(name), "command %zu '%s'",
				       i + 1, label);
		else
			(void)snprintf(name, sizeof(name), "command '%s'",
				       label);
		part = source_part_add(parts, count, name, err);
		if (part == NULL) {
			source_parts_free(*parts, *count);
			*parts = NULL;
			return -1;
		}
		part->index = i;
	}
	return 0;
}

static void exec_free(struct source *source)
{
	struct exec_source *s = (struct exec_source *)source;

	for (size_t i = 0; s->commands != NULL && i < s->count; i++)
		free(s->commands[i]);
	free(s->commands);
	free(s);
}

/*
 * Whether a command has a pipeline outside quotes.  A rough look: what it
 * takes wrongly for one, as a pattern of `case`, may say pipefail.
 */
static bool has_pipeline(const char *command)
{
	char quote = '\0';

	for (const char *p = command; *p != '\0'; p++) {
		/* A character behind a backslash, and "||", are passed over. */
		bool pair = (*p == '\\' && quote != '\'' && p[1] != '\0') ||
			    (*p == '|' && p[1] == '|' && quote == '\0');

		if (pair)
			p++;
		else if (quote != '\0')
			quote = *p == quote ? '\0' : quote;
		else if (*p == '\'' || *p == '"')
			quote = *p;
		else if (*p == '|' && (p == command || p[-1] != '>'))
			return true;
	}
	return false;
}

static int check(const char *command, size_t number, struct error *err)
{
	char label[SHOW_COMMAND_MAX];

	if (command[strspn(command, " \t\n")] == '\0') {
		(void)error_set(err, ERROR_USAGE,
				"source %zu: 'exec:' has no command", number);
		return error_hint(err, "exec:COMMAND");
	}
	if (!has_pipeline(command) || strstr(command, "pipefail") != NULL)
		return 0;
	(void)error_set(err, ERROR_USAGE,
			"command '%s': a pipeline hides the failure of all "
			"but its last command",
			show_command(command, label));
	return error_hint(err, "have a shell do it that can say more: "
			       "exec:bash -o pipefail -c '...'");
}

int exec_source_open(const char *const *commands, size_t count,
		     const struct source_options *options, struct source **out,
		     struct error *err)
{
	static char *const none[] = {NULL};
	static const struct source_ops ops = {
		.split = exec_split, .open = exec_open, .free = exec_free};
	struct exec_source *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s == NULL)
		return error_nomem(err);
	s->base.ops = &ops;
	s->base.once = true;
	s->environment =
		options->environment != NULL ? options->environment : none;
	s->commands = calloc(count, sizeof(*s->commands));
	if (s->commands == NULL) {
		free(s);
		return error_nomem(err);
	}
	for (; s->count < count; s->count++) {
		if (check(commands[s->count], s->count + 1, err) != 0)
			break;
		s->commands[s->count] = strdup(commands[s->count]);
		if (s->commands[s->count] == NULL) {
			(void)error_nomem(err);
			break;
		}
	}
	if (s->count < count) {
		exec_free(&s->base);
		return -1;
	}
	*out = &s->base;
	return 0;
}
