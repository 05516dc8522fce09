/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/log.h"

#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/stop.h"
#include "tests/unit/unit.h"

/* Standard error is a socket that keeps what was written at once apart. */
static int mine = -1, saved = -1;

static bool begin(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) != 0)
		return false;
	mine = ends[0];
	saved = dup(STDERR_FILENO);
	return dup2(ends[1], STDERR_FILENO) == STDERR_FILENO &&
	       close(ends[1]) == 0;
}

static void end(void)
{
	CHECK(dup2(saved, STDERR_FILENO) == STDERR_FILENO);
	CHECK(close(saved) == 0 && close(mine) == 0);
	log_init(LOG_NOTE, "bloomctl");
}

/* What one write wrote, or "" if there was none. */
static const char *written(char out[4096])
{
	ssize_t n = recv(mine, out, 4095, 0);

	out[n > 0 ? n : 0] = '\0';
	return out;
}

static void lines(void)
{
	char out[4096];

	REQUIRE(begin());
	log_init(LOG_DETAIL, "me");
	log_note("%d rows", 7);
	CHECK_STR(written(out), "me: 7 rows\n");
	log_warn("%s", "no room");
	CHECK_STR(written(out), "me: warning: no room\n");
	log_step("a");
	log_detail("b");
	CHECK_STR(written(out), "me: a\n");
	CHECK_STR(written(out), "me: b\n");
	log_note("%s", "");
	CHECK_STR(written(out), "me: \n");
	CHECK_STR(written(out), "");
	end();
}

static void levels(void)
{
	static const enum log_level all[] = {LOG_WARN, LOG_NOTE, LOG_STEP,
					     LOG_DETAIL};
	char out[4096];

	REQUIRE(begin());
	for (int level = LOG_QUIET; level <= LOG_DETAIL; level++) {
		log_init((enum log_level)level, "me");
		for (size_t i = 0; i < 4; i++) {
			bool wanted = (int)all[i] <= level;

			CHECK((log_wants(all[i]) != 0) == wanted);
			log_line(all[i], "x");
			CHECK((written(out)[0] != '\0') == wanted);
		}
	}
	end();
}

static void by_default(void)
{
	CHECK(log_wants(LOG_WARN));
	CHECK(log_wants(LOG_NOTE));
	CHECK(!log_wants(LOG_STEP));
}

static void long_lines(void)
{
	static char text[2 * LOG_LINE_MAX], out[LOG_LINE_MAX + 2];
	static const size_t lens[] = {1018,
				      1019,
				      1020,
				      1021,
				      3000,
				      LOG_LINE_MAX - 6,
				      LOG_LINE_MAX - 5};
	ssize_t n;

	REQUIRE(begin());
	log_init(LOG_NOTE, "me");
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		memset(text, 'x', lens[i]);
		text[lens[i] - 1] = 'y';
		text[lens[i]] = '\0';
		log_note("%s", text);
		n = recv(mine, out, sizeof(out), 0);
		CHECK_U64((uint64_t)n, strlen("me: ") + lens[i] + 1);
		CHECK(n > 2 && memcmp(out + n - 2, "y\n", 2) == 0);
	}
	end();
}

static void cut_lines(void)
{
	static char text[2 * LOG_LINE_MAX], out[LOG_LINE_MAX + 2];
	ssize_t n;

	memset(text, 'x', sizeof(text) - 1);
	REQUIRE(begin());
	log_init(LOG_NOTE, "me");
	for (size_t len = LOG_LINE_MAX - 4; len < sizeof(text);
	     len += LOG_LINE_MAX - 4) {
		text[len] = '\0';
		log_note("%s", text);
		n = recv(mine, out, sizeof(out), 0);
		CHECK_U64((uint64_t)n, LOG_LINE_MAX);
		CHECK(memcmp(out, "me: xxx", 7) == 0);
		CHECK(n > 5 && memcmp(out + n - 5, "x...\n", 5) == 0);
		text[len] = 'x';
	}
	/* A name may be as long, too. */
	text[sizeof(text) - 1] = '\0';
	log_init(LOG_NOTE, text);
	log_note("y");
	n = recv(mine, out, sizeof(out), 0);
	CHECK_U64((uint64_t)n, LOG_LINE_MAX);
	CHECK(n > 5 && memcmp(out + n - 5, "x...\n", 5) == 0);
	end();
}

static void clean_lines(void)
{
	char out[4096];

	REQUIRE(begin());
	log_init(LOG_NOTE, "me");
	log_note("%s", "a\nb\x1b[2J\xff");
	CHECK_STR(written(out), "me: a?b?[2J?\n");
	log_init(LOG_QUIET, "me");
	log_text("\ra\n\033", 4);
	CHECK_STR(written(out), "\ra\n\033");
	end();
}

/* Nobody reads: it is waited for until a stop, and dropped from then on. */
static void stuck(void)
{
	struct error err = ERROR_INIT;
	char when[CLOCK_TEXT_MAX];
	int ends[2];
	int before, after;

	REQUIRE(stop_init(&err) == 0 && pipe(ends) == 0);
	REQUIRE(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
	REQUIRE(stop_deadline(clock_text(clock_wall_ms() + 200, when), &err) ==
		0);
	while (!stop_asked())
		log_note("line");
	CHECK(ioctl(ends[0], FIONREAD, &before) == 0);
	for (int i = 0; i < 1000; i++)
		log_note("line");
	CHECK(ioctl(ends[0], FIONREAD, &after) == 0);
	/* Only whole lines came, with or without room for a last one. */
	CHECK(before >= 4096 - 15 && after - before < 4096);
	CHECK(before % 15 == 0 && after % 15 == 0);
}

static void stuck_test(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		(void)alarm(60);
		stuck();
		fflush(stdout);
		_exit(unit_bad ? 1 : 0);
	}
	REQUIRE(pid > 0);
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *say_much(void *arg)
{
	for (int i = 0; i < 200; i++)
		log_note("%s", (const char *)arg);
	return NULL;
}

/* Lines that are longer than what goes into a pipe at once. */
static void threads_test(void)
{
	static char texts[2][9000], line[9000 + 16];
	pthread_t threads[2];
	unsigned seen = 0;
	int ends[2];
	FILE *f;

	REQUIRE(pipe(ends) == 0);
	saved = dup(STDERR_FILENO);
	REQUIRE(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
	CHECK(close(ends[1]) == 0);
	log_init(LOG_NOTE, "me");
	for (int i = 0; i < 2; i++) {
		memset(texts[i], 'a' + i, sizeof(texts[i]) - 1);
		REQUIRE(pthread_create(&threads[i], NULL, say_much, texts[i]) ==
			0);
	}
	f = fdopen(ends[0], "r");
	REQUIRE(f != NULL);
	while (seen < 400 && fgets(line, sizeof(line), f) != NULL) {
		const char *text = texts[line[4] == 'b'];

		CHECK(strncmp(line, "me: ", 4) == 0);
		CHECK(strlen(line) == sizeof(texts[0]) + 4);
		CHECK(strncmp(line + 4, text, sizeof(texts[0]) - 1) == 0);
		seen++;
	}
	CHECK_U64(seen, 400);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(dup2(saved, STDERR_FILENO) == STDERR_FILENO);
	CHECK(close(saved) == 0 && fclose(f) == 0);
	log_init(LOG_NOTE, "bloomctl");
}

static void nowhere_to_write(void)
{
	REQUIRE(begin());
	CHECK(close(STDERR_FILENO) == 0);
	log_init(LOG_NOTE, "me");
	log_note("x");
	end();
}

int main(void)
{
	UNIT(by_default, "log: by default warnings and notes");
	UNIT(lines, "log: a line is the name and the text, in one write");
	UNIT(levels, "log: a level has what is above it");
	UNIT(long_lines, "log: a long line is whole");
	UNIT(cut_lines, "log: one that is too long is cut, and shows it");
	UNIT(clean_lines, "log: a text is one clean line, log_text() as it is");
	UNIT(stuck_test, "log: nobody reads: a stop ends the wait, lines go");
	UNIT(threads_test, "log: lines of threads stay whole");
	UNIT(nowhere_to_write, "log: what cannot be written is dropped");
	return unit_end();
}
