/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/net/dial.h"

#include <netdb.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "lib/base/stop.h"
#include "tests/unit/child.h"
#include "tests/unit/net/peer.h"

/* What the resolver answers: an error, or a list; neither: the truth. */
static struct {
	int rc;
	struct addrinfo *list;
	int asked;
} resolver;

int __real_getaddrinfo(const char *host, const char *service,
		       const struct addrinfo *hints, struct addrinfo **out);
int __wrap_getaddrinfo(const char *host, const char *service,
		       const struct addrinfo *hints, struct addrinfo **out);
void __real_freeaddrinfo(struct addrinfo *list);
void __wrap_freeaddrinfo(struct addrinfo *list);

int __wrap_getaddrinfo(const char *host, const char *service,
		       const struct addrinfo *hints, struct addrinfo **out)
{
	if (resolver.rc == 0 && resolver.list == NULL)
		return __real_getaddrinfo(host, service, hints, out);
	if ((hints->ai_flags & AI_NUMERICHOST) != 0)
		return EAI_NONAME;
	resolver.asked++;
	*out = resolver.list;
	errno = EIO;
	return resolver.rc;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
	if (list != resolver.list)
		__real_freeaddrinfo(list);
}

static char folder[] = "/tmp/bloomctl-unit-XXXXXX";

static int listen_unix(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(at.sun_path, path, strlen(path));
	return bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
			       listen(fd, 1) == 0
		       ? fd
		       : -1;
}

static void check_unix(const char *path, int ms, enum error_code code,
		       const char *text)
{
	const struct net_address to = {.path = path};
	struct error err = ERROR_INIT;
	struct net_stream *s = (void *)folder;

	CHECK(net_open(&to, &plain, ms, &s, &err) == -1);
	CHECK(s == NULL);
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
}

static void unix_sockets(void)
{
	char path[64], many[200];
	struct net_address to = {.path = path};
	int listener;

	REQUIRE(mkdtemp(folder) != NULL);
	(void)snprintf(path, sizeof(path), "%s/s", folder);
	check_unix(path, LONG_MS, ERROR_UNREACHED,
		   "cannot connect: No such file or directory");
	listener = listen_unix(path);
	REQUIRE(listener >= 0);
	check_both_ways(listener, &to);
	if (geteuid() != 0) {
		CHECK(chmod(path, 0) == 0);
		check_unix(path, LONG_MS, ERROR_RIGHTS,
			   "cannot connect: Permission denied");
		CHECK(chmod(path, 0700) == 0);
	}
	(void)close(listener);
	check_unix(path, LONG_MS, ERROR_UNREACHED,
		   "cannot connect: Connection refused");
	CHECK(unlink(path) == 0 && rmdir(folder) == 0);
	memset(many, 'x', sizeof(many));
	many[108] = '\0';
	check_unix(many, LONG_MS, ERROR_CONFIG,
		   "the path of a socket has 1 to 107 bytes, and this one 108");
	many[107] = '\0';
	check_unix(many, LONG_MS, ERROR_UNREACHED,
		   "cannot connect: No such file or directory");
	check_unix("", LONG_MS, ERROR_CONFIG,
		   "the path of a socket has 1 to 107 bytes, and this one 0");
}

/* A full queue is waited for, and empties. */
static void busy_unix(void)
{
	static char place[] = "/tmp/bloomctl-unit-XXXXXX";
	struct error err = ERROR_INIT;
	struct net_stream *queued[8] = {NULL};
	char path[64];
	const struct net_address to = {.path = path};
	int listener, status;
	pid_t pid;

	REQUIRE(mkdtemp(place) != NULL);
	(void)snprintf(path, sizeof(path), "%s/s", place);
	listener = listen_unix(path);
	REQUIRE(listener >= 0);
	for (int i = 0; i < 8; i++)
		if (net_open(&to, &plain, 50, &queued[i], &err) != 0)
			break;
	CHECK_U64(err.code, ERROR_UNREACHED);
	CHECK_STR(err.text, "cannot connect: no answer within 50 ms");
	for (int i = 0; i < 8; i++)
		net_close(queued[i]);
	pid = fork();
	if (pid == 0) {
		struct net_stream *s;

		_exit(net_open(&to, &plain, LONG_MS, &s, &err) == 0 ? 0 : 1);
	}
	/* It takes the first place that an accept makes. */
	CHECK(fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
	while (waitpid(pid, &status, WNOHANG) == 0)
		(void)close(accept(listener, NULL, NULL));
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	(void)close(listener);
	CHECK(unlink(path) == 0 && rmdir(place) == 0);
}

/* --- TCP -------------------------------------------------------------------
 */

static void check_fails(const struct net_address *to, int ms,
			enum error_code code, const char *text)
{
	struct error err = ERROR_INIT;
	struct net_stream *s = (void *)folder;

	CHECK(net_open(to, &plain, ms, &s, &err) == -1);
	CHECK(s == NULL);
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
}

static void refused(void)
{
	struct net_address to;
	int nobody = listen_at("127.0.0.1", -1, &to);

	REQUIRE(nobody >= 0);
	check_fails(&to, LONG_MS, ERROR_UNREACHED,
		    "cannot connect: Connection refused");
	(void)close(nobody);
}

static void names(void)
{
	static const struct {
		int rc;
		enum error_code code;
		const char *text;
	} cases[] = {
		{EAI_NONAME, ERROR_UNREACHED,
		 "its name cannot be resolved: Name or service not known"},
		{EAI_AGAIN, ERROR_UNREACHED,
		 "its name cannot be resolved: Temporary failure in name "
		 "resolution"},
		{EAI_SYSTEM, ERROR_UNREACHED,
		 "its name cannot be resolved: Input/output error"},
		{EAI_MEMORY, ERROR_INTERNAL, "out of memory"},
	};
	const struct net_address to = {.host = "server", .port = 1};

	resolver.asked = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		resolver.rc = cases[i].rc;
		check_fails(&to, LONG_MS, cases[i].code, cases[i].text);
	}
	resolver.rc = 0;
	/* Anew each time. */
	CHECK_U64((unsigned)resolver.asked, 4);
}

/* A listener that takes no further connection, and the one that it has. */
struct silent {
	int listener;
	struct net_stream *queued[4];
	struct net_address to;
};

static bool silence(struct silent *s)
{
	struct error err = ERROR_INIT;

	memset(s, 0, sizeof(*s));
	s->listener = listen_at("127.0.0.1", 0, &s->to);
	for (int i = 0; i < 4; i++)
		if (net_open(&s->to, &plain, 200, &s->queued[i], &err) != 0)
			return true;
	return false;
}

static void speak(struct silent *s)
{
	for (int i = 0; i < 4; i++)
		net_close(s->queued[i]);
	(void)close(s->listener);
}

static void deadline(void)
{
	struct silent silent;
	int64_t begun;

	REQUIRE(silence(&silent));
	begun = clock_ns();
	check_fails(&silent.to, 50, ERROR_UNREACHED,
		    "cannot connect: no answer within 50 ms");
	CHECK(clock_ns() - begun >= 50 * INT64_C(1000000));
	check_fails(&silent.to, 1100, ERROR_UNREACHED,
		    "cannot connect: no answer within 1 s");
	check_fails(&silent.to, 0, ERROR_UNREACHED,
		    "cannot connect: no answer within 0 ms");
	speak(&silent);
}

static void set_entry(struct addrinfo *entry, struct sockaddr_in *at,
		      uint16_t port, struct addrinfo *next)
{
	*at = (struct sockaddr_in){.sin_family = AF_INET};
	at->sin_port = htons(port);
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*entry = (struct addrinfo){.ai_family = AF_INET,
				   .ai_socktype = SOCK_STREAM,
				   .ai_addr = (struct sockaddr *)at,
				   .ai_addrlen = sizeof(*at),
				   .ai_next = next};
}

/* One that is silent, one of a family that is unknown, one that refuses. */
static void in_turn(void)
{
	struct sockaddr unknown = {.sa_family = 9999};
	struct error err = ERROR_INIT;
	struct net_stream *s = NULL;
	struct addrinfo list[4];
	struct net_address to, good;
	struct sockaddr_in at[4];
	struct silent silent;
	int64_t begun;
	int nobody = listen_at("127.0.0.1", -1, &to);
	int listener = listen_at("127.0.0.1", 1, &good);

	REQUIRE(silence(&silent) && nobody >= 0 && listener >= 0);
	set_entry(&list[0], &at[0], silent.to.port, &list[1]);
	set_entry(&list[1], &at[1], 0, &list[2]);
	list[1].ai_addr = &unknown;
	list[1].ai_addrlen = sizeof(unknown);
	set_entry(&list[2], &at[2], to.port, &list[3]);
	set_entry(&list[3], &at[3], good.port, NULL);
	resolver.list = list;
	to.host = "server";
	begun = clock_ns();
	CHECK(net_open(&to, &plain, 4000, &s, &err) == 0);
	CHECK_STR(err.text, "");
	/* The silent one had its share of the time and no more. */
	CHECK(clock_ns() - begun < 3500 * INT64_C(1000000));
	net_close(s);
	list[2].ai_next = NULL;
	check_fails(&to, 300, ERROR_UNREACHED,
		    "cannot connect: Connection refused");
	resolver.list = NULL;
	(void)close(nobody);
	(void)close(listener);
	speak(&silent);
}

static void stopped_dial(void)
{
	struct error err = ERROR_INIT;
	struct silent silent;
	pid_t us = getpid(), pid;

	REQUIRE(silence(&silent));
	REQUIRE(stop_init(&err) == 0);
	pid = fork();
	if (pid == 0) {
		(void)usleep(20000);
		_exit(kill(us, SIGINT) == 0 ? 0 : 1);
	}
	check_fails(&silent.to, LONG_MS, ERROR_INTERRUPTED,
		    "stopped by SIGINT");
	CHECK(waitpid(pid, NULL, 0) == pid);
	/* And nobody is called any more. */
	check_fails(&silent.to, LONG_MS, ERROR_INTERRUPTED,
		    "stopped by SIGINT");
	speak(&silent);
}

static void stop(void)
{
	in_child(stopped_dial);
}

int main(void)
{
	UNIT(unix_sockets, "dial: a unix socket is one, or says why not");
	UNIT(busy_unix, "dial: a unix socket whose queue is full is awaited");
	UNIT(refused, "dial: a port at which nobody listens is told");
	UNIT(names, "dial: a name is resolved anew, and a failure is told");
	UNIT(deadline, "dial: a server that does not answer has its time");
	UNIT(in_turn, "dial: one address that does not do is not the end");
	UNIT(stop, "dial: a stop ends it");
	return unit_end();
}
