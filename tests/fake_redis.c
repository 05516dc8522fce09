/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fake_redis: plays a script as a server, to a client on a unix socket.
 *
 *	fake_redis SOCKET SCRIPT
 *
 * SOCKET is there once it listens.  The lines of the file SCRIPT are played in
 * order; one that needs a connection waits for the next one:
 *
 *	LOGIN "ID ROLE"  answers what a client asks when it comes, up to
 *	                 INFO cluster, as the process of this run id and role
 *	                 ("master" or "slave")
 *	EXPECT "text"    a command whose words, joined by blanks, hold it
 *	ANY              any command
 *	SEND "bytes"     with \r, \n, \" and \\
 *	REST "bytes"     sent as answer to every command, until the client goes
 *	CLOSE            hangs up
 *
 * Blank lines and those with # in front are skipped.  Exit status: 0, or 1 with
 * what went wrong on standard error; a script takes a minute at most.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define TEXT_MAX 65536

struct play {
	int listener;
	int fd;
	FILE *in; /* NULL: no connection */
	char command[TEXT_MAX];
	char text[TEXT_MAX]; /* of the line, without escapes */
	size_t len;
};

static int complain(const char *what)
{
	fprintf(stderr, "fake_redis: %s\n", what);
	return -1;
}

static int listen_at(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int len = snprintf(un.sun_path, sizeof(un.sun_path), "%s.new", path);

	if (len < 0 || (size_t)len >= sizeof(un.sun_path))
		return complain("the socket's path is too long");
	/* Under its name only once somebody can come. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&un, sizeof(un)) != 0 ||
	    listen(fd, 16) != 0 || rename(un.sun_path, path) != 0)
		return complain(strerror(errno));
	return fd;
}

static int connected(struct play *p)
{
	if (p->in != NULL)
		return 0;
	p->fd = accept(p->listener, NULL, NULL);
	if (p->fd >= 0)
		p->in = fdopen(p->fd, "rb");
	return p->in != NULL ? 0 : complain(strerror(errno));
}

static void hang_up(struct play *p)
{
	if (p->in != NULL)
		fclose(p->in);
	p->in = NULL;
}

/* The number of a line behind its mark; -1: there is none, or no such line. */
static long read_number(struct play *p, char mark)
{
	char line[64];

	if (fgets(line, sizeof(line), p->in) == NULL || line[0] != mark)
		return -1;
	return strtol(line + 1, NULL, 10);
}

/* The words of the next command, joined; false if none comes. */
static bool read_command(struct play *p)
{
	long words = read_number(p, '*');
	size_t at = 0;

	for (long i = 0; i < words; i++) {
		long len = read_number(p, '$');

		if (len < 0)
			return false;
		if (i > 0 && at < TEXT_MAX - 1)
			p->command[at++] = ' ';
		for (long n = 0; n < len + 2; n++) {
			int c = getc(p->in);

			/* A NUL would hide what is behind it. */
			if (n < len && at < TEXT_MAX - 1)
				p->command[at++] = c != 0 ? (char)c : '?';
		}
	}
	p->command[at] = '\0';
	return words > 0 && !feof(p->in);
}

static int send_bytes(const struct play *p, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(p->fd, data, len, MSG_NOSIGNAL);

		if (n <= 0)
			return complain(strerror(errno));
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int send_bulk(const struct play *p, const char *data, size_t len)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "$%zu\r\n", len);

	if (send_bytes(p, head, (size_t)n) != 0)
		return -1;
	return send_bytes(p, data, len) != 0 ? -1 : send_bytes(p, "\r\n", 2);
}

/* What a client asks when it comes. */
static int login(struct play *p)
{
	const char *role = strchr(p->text, ' ');
	char info[256];
	int rc = 0;

	if (role == NULL)
		return complain("LOGIN needs \"ID ROLE\"");
	while (rc == 0) {
		int len = 0;

		if (!read_command(p))
			return complain("the client has gone");
		if (strcmp(p->command, "INFO server") == 0)
			len = snprintf(
				info, sizeof(info),
				"redis_version:7.0.15\r\nrun_id:%.*s\r\n",
				(int)(role - p->text), p->text);
		else if (strcmp(p->command, "INFO replication") == 0)
			len = snprintf(info, sizeof(info), "role:%s\r\n",
				       role + 1);
		else if (strcmp(p->command, "INFO cluster") == 0)
			return send_bulk(p, "cluster_enabled:0\r\n", 19);
		rc = len > 0 ? send_bulk(p, info, (size_t)len)
			     : send_bytes(p, "+OK\r\n", 5);
	}
	return rc;
}

static int play_line(struct play *p, const char *word)
{
	if (strcmp(word, "CLOSE") == 0) {
		hang_up(p);
		return 0;
	}
	if (connected(p) != 0)
		return -1;
	if (strcmp(word, "SEND") == 0)
		return send_bytes(p, p->text, p->len);
	if (strcmp(word, "LOGIN") == 0)
		return login(p);
	if (strcmp(word, "REST") == 0) {
		while (read_command(p))
			if (send_bytes(p, p->text, p->len) != 0)
				return -1;
		hang_up(p);
		return 0;
	}
	if (strcmp(word, "ANY") != 0 && strcmp(word, "EXPECT") != 0)
		return complain("no such step");
	if (!read_command(p))
		return complain("the client has gone");
	if (word[0] == 'A' || strstr(p->command, p->text) != NULL)
		return 0;
	fprintf(stderr, "fake_redis: wanted '%s', got '%s'\n", p->text,
		p->command);
	return -1;
}

/* What stands between quotes; an empty text where nothing does. */
static int read_text(struct play *p, const char *at)
{
	p->len = 0;
	at += strspn(at, " \t");
	if (*at != '\0' && *at++ != '"')
		return complain("a text needs quotes");
	for (; *at != '\0' && *at != '"'; at++) {
		char c = *at;

		if (c == '\\' && at[1] != '\0')
			c = *++at == 'r' ? '\r' : *at == 'n' ? '\n' : *at;
		p->text[p->len++] = c;
	}
	p->text[p->len] = '\0';
	return 0;
}

int main(int argc, char **argv)
{
	static struct play p;
	static char line[TEXT_MAX];
	unsigned number = 0;
	FILE *script = argc == 3 ? fopen(argv[2], "r") : NULL;
	int rc = 0;

	if (script == NULL) {
		complain("usage: fake_redis SOCKET SCRIPT");
		return 1;
	}
	(void)alarm(60);
	p.listener = listen_at(argv[1]);
	while (p.listener >= 0 && rc == 0 &&
	       fgets(line, sizeof(line), script) != NULL) {
		char *end = line + strcspn(line, " \t\n");

		number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		rc = read_text(&p, end);
		*end = '\0';
		if (rc == 0)
			rc = play_line(&p, line);
	}
	if (rc != 0)
		fprintf(stderr, "fake_redis: line %u of the script\n", number);
	hang_up(&p);
	(void)unlink(argv[1]);
	fclose(script);
	return rc == 0 && p.listener >= 0 ? 0 : 1;
}
