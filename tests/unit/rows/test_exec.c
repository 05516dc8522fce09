/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/exec.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>

#include "lib/base/stop.h"
#include "tests/unit/base/proc.h"
#include "tests/unit/child.h"
#include "tests/unit/rows/files.h"
#include "tests/unit/rows/gzipped.h"

static bool spawn_fails;

int __real_posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[]);
int __wrap_posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[]);

int __wrap_posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[])
{
	return spawn_fails ? EAGAIN
			   : __real_posix_spawn(pid, path, actions, attr, argv,
						envp);
}

/* Reads the only part of a command; the telling is t's. */
static int read_command(const char *command, struct telling *t,
			struct error *err)
{
	struct source *source = NULL;
	struct source_part *parts = NULL;
	size_t count = 0;
	int rc;

	memset(t, 0, sizeof(*t));
	t->wanted = 1;
	buf_init(&t->out, 4096);
	rc = exec_source_open(&command, 1, &plain_source, &source, err);
	if (rc != 0)
		return rc;
	CHECK(source->once);
	CHECK(source->ops->split(source, 8, &text_a, &parts, &count, err) == 0);
	CHECK_U64(count, 1);
	rc = read_part(source, parts, &text_a, 4096, t, err);
	source_parts_free(parts, count);
	source->ops->free(source);
	CHECK(no_child());
	return rc;
}

static void check_command(const char *command, const char *told,
			  enum error_code code, const char *text,
			  const char *hint)
{
	unsigned fds = count_fds();
	struct error err = ERROR_INIT;
	struct telling t;
	int rc = read_command(command, &t, &err);

	CHECK((rc == 0) == (code == ERROR_NONE));
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
	CHECK_STR(err.hint, hint);
	CHECK_STR(buf_string(&t.out), told);
	buf_release(&t.out);
	CHECK_U64(count_fds(), fds);
}

static void rows(void)
{
	check_command("echo 1; echo 2", "1 <1>\n2 <2>\n", ERROR_NONE, "", "");
	check_command("true", "", ERROR_NONE, "", "");
	/* Unpacked, and held to a trailer that is there. */
	check_command("printf '\\037\\213\\010\\0\\0\\0\\0\\0\\002\\003\\063"
		      "\\344\\062\\342\\062\\346\\002\\0\\330\\124\\137\\167"
		      "\\006\\0\\0\\0'",
		      "1 <1>\n2 <2>\n3 <3>\n", ERROR_NONE, "", "");
	check_command("echo '\\. rows=1 bytes=2 xxh64=0000000000000000'", "",
		      ERROR_DATA,
		      "the trailer says 2 bytes and 0 came: the pipe lost some",
		      "");
	check_command("printf PGDMP", "", ERROR_SOURCE,
		      "it is pg_dump's custom format by its first bytes, not "
		      "rows",
		      "write the table by COPY instead");
}

static void failures(void)
{
	static const char why[] = "what it wrote to standard error may say why";

	check_command("echo 1; exit 3", "", ERROR_DATA,
		      "it failed with status 3, so its rows are not whole",
		      why);
	/* Before a row that it left cut off. */
	check_command("printf '1\\n2'; false", "", ERROR_DATA,
		      "it failed with status 1, so its rows are not whole",
		      why);
	check_command("exit 125", "", ERROR_DATA,
		      "it failed with status 125, so its rows are not whole",
		      why);
	check_command("exit 126", "", ERROR_SOURCE,
		      "the shell cannot run it: status 126", "");
	check_command("exit 127", "", ERROR_SOURCE,
		      "the shell cannot run it: status 127", "");
	check_command("exit 128", "", ERROR_DATA,
		      "it failed with status 128, so its rows are not whole",
		      why);
	check_command("echo 1; kill -TERM $$", "", ERROR_DATA,
		      "it was ended by signal 15, so its rows are not whole",
		      "");
	check_command("echo 1; exec >&-; kill -KILL $$", "", ERROR_DATA,
		      "it was ended by signal 9, so its rows are not whole",
		      "");
}

/* Opens a command as a stream that has given rows more than it holds back. */
static struct stream *open_stream(const char *command, struct source **source)
{
	struct error err = ERROR_INIT;
	struct source_part part = {.index = 0};
	struct stream *stream = NULL;

	*source = NULL;
	if (exec_source_open(&command, 1, &plain_source, source, &err) != 0 ||
	    (*source)->ops->open(*source, &part, &stream, &err) != 0)
		CHECK_STR(err.text, "");
	return stream;
}

static void ends_early(void)
{
	struct error err = ERROR_INIT;
	unsigned fds = count_fds();
	struct source *source;
	struct stream *s = open_stream("printf %0200d 1; sleep 1000", &source);
	char buf[100];
	size_t got = 0;

	REQUIRE(s != NULL);
	CHECK(s->ops->read(s, buf, sizeof(buf), &got, &err) == 0 && got > 0);
	CHECK(s->ops->finish(s, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERNAL);
	CHECK_STR(err.text, "not read to its end");
	s->ops->close(s);
	source->ops->free(source);
	CHECK(no_child());
	CHECK_U64(count_fds(), fds);
}

/* A failure stays one, however often it is asked for. */
static void fails_again(void)
{
	struct error err = ERROR_INIT, again = ERROR_INIT;
	struct source *source;
	struct stream *s = open_stream("printf %0200d 1; exit 3", &source);
	char buf[100];
	size_t got = 1;
	int rc = 0;

	REQUIRE(s != NULL);
	while (rc == 0 && got > 0)
		rc = s->ops->read(s, buf, sizeof(buf), &got, &err);
	CHECK(rc == -1);
	CHECK(s->ops->read(s, buf, sizeof(buf), &got, &again) == -1);
	CHECK_STR(again.text, err.text);
	CHECK(s->ops->finish(s, &again) == -1);
	s->ops->close(s);
	source->ops->free(source);
	CHECK(no_child());
}

static void stop_midst(void)
{
	struct error err = ERROR_INIT;
	struct source *source;
	struct stream *s = open_stream("printf %0200d 1; sleep 1000", &source);
	char buf[300];
	size_t got = 0;

	REQUIRE(s != NULL && stop_init(&err) == 0);
	CHECK(raise(SIGINT) == 0);
	while (err.code == ERROR_NONE)
		(void)s->ops->read(s, buf, sizeof(buf), &got, &err);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	s->ops->close(s);
	source->ops->free(source);
	CHECK(no_child());
}

static void stopped(void)
{
	in_child(stop_midst);
}

static void no_process(void)
{
	spawn_fails = true;
	check_command("true", "", ERROR_INTERNAL,
		      "no process for it: Resource temporarily unavailable",
		      "");
	spawn_fails = false;
}

static void check_open(const char *command, bool fine)
{
	const char *const commands[] = {"true", command};
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	int rc = exec_source_open(commands, 2, &plain_source, &source, &err);

	if ((rc == 0) != fine)
		CHECK_STR(command, "");
	CHECK((source != NULL) == (rc == 0));
	if (rc == 0) {
		source->ops->free(source);
		return;
	}
	CHECK_U64(err.code, ERROR_USAGE);
	CHECK(strstr(err.text, "secret") == NULL);
	if (strspn(command, " \t\n") == strlen(command)) {
		CHECK_STR(err.text, "source 2: 'exec:' has no command");
		CHECK_STR(err.hint, "exec:COMMAND");
	} else {
		CHECK(strstr(err.text,
			     ": a pipeline hides the failure of all but its "
			     "last command") != NULL);
		CHECK(strstr(err.hint, "pipefail") != NULL);
	}
}

static void pipelines(void)
{
	static const char *const refused[] = {
		"",
		" \t\n",
		"a | b",
		"a|b",
		"|a",
		"a |& b",
		"a || b | c",
		"echo 'x' | secret",
		"a \\\\| b",
		"echo \"x\\\"\" | b",
		"echo 'x\\' | b",
	};
	static const char *const fine[] = {
		"a",
		"a || b",
		"echo 'a | b'",
		"echo \"a | b\"",
		"echo a \\| b",
		"echo \"\\\" | \"",
		"a >| b",
		"set -o pipefail; a | b",
		"a \\",
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		check_open(refused[i], false);
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		check_open(fine[i], true);
}

static void parts(void)
{
	static const char *const commands[] = {"echo 1", "X=secret b",
					       "echo 3"};
	struct error err = ERROR_INIT;
	struct telling t = {.wanted = 1};
	struct source *source = NULL;
	struct source_part *list = NULL;
	size_t count = 0;

	REQUIRE(exec_source_open(commands, 3, &plain_source, &source, &err) ==
		0);
	CHECK(source->ops->split(source, 1, &text_a, &list, &count, &err) == 0);
	REQUIRE(count == 3);
	CHECK_STR(list[0].name, "command 1 'echo ...'");
	CHECK_STR(list[1].name, "command 2 '...'");
	CHECK_STR(list[2].name, "command 3 'echo ...'");
	buf_init(&t.out, 4096);
	CHECK(read_part(source, &list[2], &text_a, 100, &t, &err) == 0);
	CHECK_STR(buf_string(&t.out), "1 <3>\n");
	buf_release(&t.out);
	source_parts_free(list, count);
	source->ops->free(source);
	CHECK(exec_source_open(commands, 1, &plain_source, &source, &err) == 0);
	CHECK(source->ops->split(source, 1, &text_a, &list, &count, &err) == 0);
	CHECK_STR(list[0].name, "command 'echo ...'");
	source_parts_free(list, count);
	source->ops->free(source);
}

static bool survive(unsigned long n)
{
	static const char *const words[] = {"exec:echo 1", "exec:echo 2"};
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	struct source_part *list = NULL;
	struct stream *stream = NULL;
	size_t count = 0;
	bool met;
	int rc;

	alloc_fail(n, false);
	rc = source_open(words, 2, &plain_source, &source, &err);
	if (rc == 0)
		rc = source->ops->split(source, 1, &text_a, &list, &count,
					&err);
	if (rc == 0)
		rc = source->ops->open(source, &list[1], &stream, &err);
	met = alloc_pass();
	CHECK((rc != 0) == met);
	if (rc != 0)
		CHECK_STR(err.text, "out of memory");
	CHECK((stream == NULL) == met);
	if (stream != NULL)
		stream->ops->close(stream);
	source_parts_free(list, count);
	if (source != NULL)
		source->ops->free(source);
	CHECK(no_child());
	return met;
}

static void without_memory(void)
{
	unsigned fds = count_fds();
	unsigned long n = 1;

	ALLOC_NEEDED();
	while (n < 40 && survive(n))
		n++;
	/* Words, source, commands, each; two parts and names; stream, look,
	 * trailer, sum. */
	CHECK_U64(n, 14);
	CHECK_U64(count_fds(), fds);
}

int main(void)
{
	UNIT(rows, "exec: what a command writes is rows");
	UNIT(failures, "exec: rows of a command that fails are not whole");
	UNIT(ends_early, "exec: a command is ended with its stream");
	UNIT(fails_again, "exec: a failure is told again and again");
	UNIT(stopped, "exec: a stop ends a wait");
	UNIT(no_process, "exec: a command that cannot be started is told");
	UNIT(pipelines, "exec: empty commands and pipelines are refused");
	UNIT(parts, "exec: each command is a part");
	UNIT(without_memory, "exec: each failing allocation is survived");
	return unit_end();
}
