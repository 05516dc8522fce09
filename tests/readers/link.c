/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "link.h"

_Noreturn void die(const char *what, const char *why)
{
	(void)fprintf(stderr, "reader: %s: %s\n", what, why);
	exit(2);
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

bool link_open(struct link *link, const char *place, long seconds)
{
	const struct timeval patience = {.tv_sec = seconds};

	link->at = 0;
	link->len = 0;
	link->fd = strchr(place, '/') != NULL ? connect_unix(place)
					      : connect_tcp(place);
	if (link->fd < 0)
		return false;
	(void)setsockopt(link->fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			 sizeof(patience));
	(void)setsockopt(link->fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
			 sizeof(patience));
	return true;
}

void link_close(struct link *link)
{
	if (link->fd >= 0)
		(void)close(link->fd);
	link->fd = -1;
}

bool link_send(struct link *link, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(link->fd, bytes, len, MSG_NOSIGNAL);

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
		size_t more = at < len ? answer_len(bytes + at, len - at) : 0;

		if (more == 0)
			return 0;
		at += more;
	}
	return at <= len ? at : 0;
}

const char *link_next(struct link *link, size_t *len)
{
	for (;;) {
		const char *answer = link->bytes + link->at;
		ssize_t got;

		*len = answer_len(answer, link->len - link->at);
		if (*len > 0) {
			link->at += *len;
			return answer;
		}
		link->len -= link->at;
		memmove(link->bytes, answer, link->len);
		link->at = 0;
		/* A NUL is behind it for strtol() and strcspn(). */
		errno = 0;
		got = recv(link->fd, link->bytes + link->len,
			   sizeof(link->bytes) - 1 - link->len, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return NULL;
		link->len += (size_t)got;
		link->bytes[link->len] = '\0';
	}
}

void judge(struct tally *t, const char *answer, size_t len)
{
	static const char form[] = "*2\r\n:_\r\n:_\r\n";

	if (len == sizeof(form) - 1 && memcmp(answer, form, 5) == 0 &&
	    memcmp(answer + 6, form + 6, 3) == 0 &&
	    memcmp(answer + 10, form + 10, 2) == 0) {
		t->sentinel += answer[5] != '1';
		t->missing += answer[9] != '1';
	} else if (t->errors++ == 0) {
		(void)fprintf(stderr, "reader: the first error: %.*s\n",
			      (int)strcspn(answer, "\r\n"), answer);
	}
	t->reads++;
}
