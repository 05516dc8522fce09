/* SPDX-License-Identifier: BSD-2-Clause
 *
 * reader: an application that reads filters all the time, as one of many whose
 * work a swap must not disturb.  It shares nothing with bloomctl.
 *
 *	reader SOCKET FILE      reader HOST:PORT FILE
 *
 * A line of FILE is FILTER, SENTINEL and KEY, separated by tabs; KEY is in
 * hexadecimal.  Each is asked for by BF.MEXISTS FILTER SENTINEL KEY, from the
 * first line to the last and over again, in pipelines, until SIGTERM.  Then it
 * takes the answers that are still to come and prints one line:
 *
 *	reads=N errors=N missing=N sentinel=N
 *
 * reads: answers; errors: those that are no two integers, and one for a
 * connection that breaks or says nothing for 20 seconds, which ends it;
 * missing: keys that were not found; sentinel: sentinels that were not.
 * The status is 1 if there was any of the last three, 2 if there was nothing
 * to ask.  It has a handler for SIGTERM from the first answers on.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Commands that are sent at a time; so many again are under way meanwhile. */
#define WINDOW 200

/* What is asked: encoded commands, one behind the other, and their ends. */
struct questions {
	char *bytes;
	size_t *ends;
	size_t count;
};

struct answers {
	uint64_t reads;
	uint64_t errors;
	uint64_t missing;
	uint64_t sentinel;
	size_t len; /* of what was received and is not yet an answer */
	char bytes[1 << 16];
};

static volatile sig_atomic_t told_to_stop;

static void on_term(int number)
{
	(void)number;
	told_to_stop = 1;
}

static void handle_term(void)
{
	struct sigaction action = {.sa_handler = on_term,
				   .sa_flags = SA_RESTART};

	(void)sigaction(SIGTERM, &action, NULL);
}

static _Noreturn void die(const char *what, const char *why)
{
	(void)fprintf(stderr, "reader: %s: %s\n", what, why);
	exit(2);
}

/* Decodes in place; the length, or -1. */
static ssize_t decode_hex(char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i += 2) {
		const char digits[3] = {text[i], text[i + 1], '\0'};

		if (strspn(digits, "0123456789abcdefABCDEF") != 2)
			return -1;
		text[i / 2] = (char)strtoul(digits, NULL, 16);
	}
	return (ssize_t)(len / 2);
}

static bool add_question(FILE *out, char *line)
{
	char *filter = line, *sentinel = strchr(line, '\t'), *key;
	ssize_t len;

	line[strcspn(line, "\r\n")] = '\0';
	key = sentinel != NULL ? strchr(sentinel + 1, '\t') : NULL;
	if (key == NULL)
		return false;
	*sentinel++ = '\0';
	*key++ = '\0';
	len = decode_hex(key);
	if (len < 0)
		return false;
	(void)fprintf(out,
		      "*4\r\n$10\r\nBF.MEXISTS\r\n"
		      "$%zu\r\n%s\r\n$%zu\r\n%s\r\n$%zd\r\n",
		      strlen(filter), filter, strlen(sentinel), sentinel, len);
	(void)fwrite(key, 1, (size_t)len, out);
	(void)fputs("\r\n", out);
	return true;
}

static void read_questions(const char *path, struct questions *q)
{
	size_t size = 0, room = 0, line_size = 0;
	FILE *file = fopen(path, "r"), *out = open_memstream(&q->bytes, &size);
	char *line = NULL;

	if (file == NULL || out == NULL)
		die(path, strerror(errno));
	while (getline(&line, &line_size, file) > 0) {
		if (q->count == room) {
			room = 2 * room + 1024;
			q->ends = realloc(q->ends, room * sizeof(*q->ends));
			if (q->ends == NULL)
				die(path, strerror(errno));
		}
		if (!add_question(out, line))
			die(path, "a line is not FILTER, SENTINEL and KEY");
		q->ends[q->count++] = (size_t)ftell(out);
	}
	if (q->count == 0)
		die(path, "there is nothing to ask");
	if (ferror(file) || fclose(out) != 0)
		die(path, "cannot be read");
	(void)fclose(file);
	free(line);
}

static int connect_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		die(path, "too long a name for a socket");
	memcpy(address.sun_path, path, strlen(path));
	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static int connect_tcp(const char *place)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	const char *colon = strrchr(place, ':');
	char *host;
	int fd = -1;

	if (colon == NULL)
		die(place, "neither SOCKET nor HOST:PORT");
	host = strndup(place, (size_t)(colon - place));
	if (host == NULL || getaddrinfo(host, colon + 1, &hints, &found) != 0)
		die(place, "no such host");
	for (struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			(void)close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	free(host);
	return fd;
}

static int connect_to(const char *place)
{
	const struct timeval patience = {.tv_sec = 20};
	int fd = strchr(place, '/') != NULL ? connect_unix(place)
					    : connect_tcp(place);

	if (fd >= 0) {
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
				 sizeof(patience));
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
				 sizeof(patience));
	}
	return fd;
}

static bool send_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

/*
 * The length of the answer at the beginning: of a line, of a text, or of an
 * array of either.  0: there is more to come.
 */
static size_t answer_len(const char *bytes, size_t len)
{
	const char *end = memchr(bytes, '\n', len);
	size_t at;
	long n;

	if (end == NULL)
		return 0;
	at = (size_t)(end + 1 - bytes);
	n = bytes[0] == '*' || bytes[0] == '$' ? strtol(bytes + 1, NULL, 10)
					       : -1;
	if (bytes[0] == '$' && n >= 0)
		at += (size_t)n + 2;
	for (; bytes[0] == '*' && n > 0; n--) {
		size_t more = answer_len(bytes + at, len - at);

		if (more == 0)
			return 0;
		at += more;
	}
	return at <= len ? at : 0;
}

/* Judges the answer at the beginning; its length, or 0. */
static size_t judge(struct answers *a, const char *bytes, size_t len)
{
	static const char form[] = "*2\r\n:_\r\n:_\r\n";
	size_t whole = sizeof(form) - 1;

	if (len >= whole && memcmp(bytes, form, 5) == 0 &&
	    memcmp(bytes + 6, form + 6, 3) == 0 &&
	    memcmp(bytes + 10, form + 10, 2) == 0) {
		a->sentinel += bytes[5] != '1';
		a->missing += bytes[9] != '1';
	} else {
		whole = answer_len(bytes, len);
		if (whole > 0 && a->errors++ == 0)
			(void)fprintf(stderr, "reader: the first error: %.*s\n",
				      (int)strcspn(bytes, "\r\n"), bytes);
	}
	a->reads += whole > 0;
	return whole;
}

/* Takes so many answers; false: the connection broke. */
static bool take(int fd, struct answers *a, size_t count)
{
	size_t at = 0;

	while (count > 0) {
		size_t n = judge(a, a->bytes + at, a->len - at);
		ssize_t got;

		if (n > 0) {
			at += n;
			count--;
			continue;
		}
		a->len -= at;
		memmove(a->bytes, a->bytes + at, a->len);
		at = 0;
		/* A NUL is behind it for strtol() and strcspn(). */
		got = recv(fd, a->bytes + a->len, sizeof(a->bytes) - 1 - a->len,
			   0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		a->len += (size_t)got;
		a->bytes[a->len] = '\0';
	}
	a->len -= at;
	memmove(a->bytes, a->bytes + at, a->len);
	return true;
}

/* Until it is told to stop; false: the connection broke. */
static bool read_on(int fd, const struct questions *q, struct answers *a)
{
	size_t at = 0, pending = 0;
	bool ready = false;

	while (!told_to_stop) {
		size_t from = at > 0 ? q->ends[at - 1] : 0, count = WINDOW;

		if (count > q->count - at)
			count = q->count - at;
		at += count;
		if (!send_all(fd, q->bytes + from, q->ends[at - 1] - from) ||
		    !take(fd, a, pending))
			return false;
		if (a->reads > 0 && !ready) {
			handle_term();
			ready = true;
		}
		pending = count;
		at %= q->count;
	}
	return take(fd, a, pending);
}

int main(int argc, char **argv)
{
	struct questions questions = {.count = 0};
	static struct answers answers;
	int fd;

	if (argc != 3)
		die("usage", "reader SOCKET|HOST:PORT FILE");
	read_questions(argv[2], &questions);
	fd = connect_to(argv[1]);
	if (fd < 0 || !read_on(fd, &questions, &answers)) {
		(void)fprintf(stderr, "reader: the connection broke: %s\n",
			      strerror(errno));
		answers.errors++;
	}
	if (fd >= 0)
		(void)close(fd);
	printf("reads=%" PRIu64 " errors=%" PRIu64 " missing=%" PRIu64
	       " sentinel=%" PRIu64 "\n",
	       answers.reads, answers.errors, answers.missing,
	       answers.sentinel);
	free(questions.bytes);
	free(questions.ends);
	return answers.errors + answers.missing + answers.sentinel > 0;
}
