/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/log.h"

#include <sys/socket.h>
#include <unistd.h>

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
	char text[3001], out[4096];
	size_t len;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	REQUIRE(begin());
	log_init(LOG_NOTE, "me");
	log_note("%s", text);
	len = strlen(written(out));
	CHECK(len > 500 && len <= 1024);
	CHECK(strncmp(out, "me: xxx", 7) == 0);
	CHECK(len > 0 && out[len - 1] == '\n');
	CHECK_STR(written(out), "");
	/* A name may be as long, too. */
	log_init(LOG_NOTE, text);
	log_note("y");
	len = strlen(written(out));
	CHECK(len > 0 && len <= 1024 && out[len - 1] == '\n');
	end();
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
	UNIT(long_lines, "log: what is too long is cut and stays a line");
	UNIT(nowhere_to_write, "log: what cannot be written is dropped");
	return unit_end();
}
