/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fakecluster: nodes of a cluster, in one thread, on the loopback interface.
 *
 *	static const struct fake_rule rules[] = {
 *		{.node = 0, .command = "ADD a 1", .reply = "-MOVED 5 :@1",
 *		 .map = "0-16383=1"}};
 *	fakes_start(&f, 2, "0-99=0 100-16383=1", rules, FAKE_RULES(rules));
 *	... talk to f.target, which is node 0 ...
 *	fakes_stop(&f);
 *	CHECK_STR(f.log, "0:ADD a 1|1:ADD a 1|");
 *
 * Each rule is for one command, once; one without a rule is answered with its
 * last word as an integer.  @N in a reply is the port of node N.  What a login
 * asks, and the map, is answered and not logged.
 */
#ifndef BLOOMCTL_TESTS_UNIT_REDIS_FAKECLUSTER_H
#define BLOOMCTL_TESTS_UNIT_REDIS_FAKECLUSTER_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/redis/cluster.h"
#include "tests/unit/redis/answers.h"

#define FAKE_NODES   4
#define FAKE_CLIENTS 32

struct fake_rule {
	int node;
	bool always; /* not once */
	const char *command;
	const char *reply;  /* NULL: hangs up; "": says nothing */
	const char *map;    /* from now on; NULL: as before */
	const char *run_id; /* of the node from now on; NULL: as before */
	bool stop;          /* SIGINT to the process */
	bool down;          /* nobody listens there any more */
};

#define FAKE_RULES(rules) (sizeof(rules) / sizeof((rules)[0]))

struct fake_client {
	int fd; /* -1: none */
	int node;
	size_t len;
	char in[8192];
};

struct fakes {
	int nodes;
	const struct fake_rule *rules;
	size_t count;
	bool used[32];
	const char *map;
	const char *run_id[FAKE_NODES];
	int listener[FAKE_NODES];
	unsigned port[FAKE_NODES];
	struct fake_client clients[FAKE_CLIENTS];
	atomic_size_t hits;  /* rules */
	atomic_size_t asked; /* for the map */
	int wake[2];
	pthread_t thread;
	char log[4096];
	char dir[32];
	char path[64]; /* of node 0, too */
	int local;
	char place[64];
	struct redis_options options;
	struct redis_target target;
};

static inline void fakes_say(int fd, const char *text)
{
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* With ports, and an end. */
static inline void fakes_reply(const struct fakes *f, int fd, const char *text)
{
	char out[2048];
	size_t at = 0;

	for (; *text != '\0' && at < sizeof(out) - 16; text++)
		if (*text == '@' && text[1] >= '0' && text[1] < '0' + f->nodes)
			at += (size_t)snprintf(out + at, 8, "%u",
					       f->port[*++text - '0']);
		else
			out[at++] = *text;
	(void)snprintf(out + at, sizeof(out) - at, "\r\n");
	fakes_say(fd, out);
}

static inline void fakes_bulk(int fd, const char *text)
{
	char out[512];

	(void)snprintf(out, sizeof(out), "$%zu\r\n%s\r\n", strlen(text), text);
	fakes_say(fd, out);
}

/* "FROM-TO=NODE ...", or a reply. */
static inline void fakes_map(const struct fakes *f, int fd)
{
	char out[2048];
	int count = 1;
	size_t at;
	unsigned long from, to, node;

	if (f->map[0] < '0' || f->map[0] > '9') {
		fakes_reply(f, fd, f->map);
		return;
	}
	for (const char *p = f->map; *p != '\0'; p++)
		count += *p == ' ' ? 1 : 0;
	at = (size_t)snprintf(out, sizeof(out), "*%d\r\n", count);
	for (const char *p = f->map; p != NULL; p = strchr(p + 1, ' ')) {
		char *end;

		/* "FROM-TO=NODE" */
		from = strtoul(p, &end, 10);
		to = *end == '-' ? strtoul(end + 1, &end, 10) : SLOTS_COUNT;
		if (to >= SLOTS_COUNT || *end != '=')
			abort();
		node = strtoul(end + 1, &end, 10);
		at += (size_t)snprintf(out + at, sizeof(out) - at,
				       "*3\r\n:%lu\r\n:%lu\r\n*2\r\n$9\r\n"
				       "127.0.0.1\r\n:%u\r\n",
				       from, to, f->port[node]);
	}
	fakes_say(fd, out);
}

static inline bool fakes_login(const struct fakes *f, int node, int fd,
			       const char *command)
{
	char text[256];

	if (strcmp(command, "INFO server") == 0)
		(void)snprintf(text, sizeof(text),
			       "redis_version:7.0.15\r\nrun_id:%s\r\n",
			       f->run_id[node]);
	else if (strcmp(command, "INFO replication") == 0)
		(void)snprintf(text, sizeof(text), "role:master\r\n");
	else if (strcmp(command, "INFO cluster") == 0)
		(void)snprintf(text, sizeof(text), "cluster_enabled:1\r\n");
	else
		return false;
	fakes_bulk(fd, text);
	return true;
}

static inline void fakes_hang_up(struct fake_client *c)
{
	(void)close(c->fd);
	c->fd = -1;
}

static inline void fakes_obey(struct fakes *f, struct fake_client *c,
			      const char *command)
{
	const char *last = strrchr(command, ' ');
	size_t at = strlen(f->log);
	char number[64];

	if (strncmp(command, "CLIENT ", 7) == 0) {
		fakes_say(c->fd, "+OK\r\n");
		return;
	}
	if (fakes_login(f, c->node, c->fd, command))
		return;
	if (strcmp(command, "CLUSTER SLOTS") == 0) {
		atomic_fetch_add(&f->asked, 1);
		fakes_map(f, c->fd);
		return;
	}
	(void)snprintf(f->log + at, sizeof(f->log) - at, "%d:%s|", c->node,
		       command);
	for (size_t i = 0; i < f->count; i++) {
		const struct fake_rule *r = &f->rules[i];

		if (f->used[i] || r->node != c->node ||
		    strcmp(r->command, command) != 0)
			continue;
		f->used[i] = !r->always;
		f->map = r->map != NULL ? r->map : f->map;
		if (r->run_id != NULL)
			f->run_id[c->node] = r->run_id;
		if (r->down) {
			(void)close(f->listener[c->node]);
			f->listener[c->node] = -1;
		}
		if (r->stop)
			(void)kill(getpid(), SIGINT);
		if (r->reply == NULL)
			fakes_hang_up(c);
		else if (r->reply[0] != '\0')
			fakes_reply(f, c->fd, r->reply);
		atomic_fetch_add(&f->hits, 1);
		return;
	}
	if (strcmp(command, "ASKING") == 0) {
		fakes_say(c->fd, "+OK\r\n");
		return;
	}
	(void)snprintf(number, sizeof(number), ":%s\r\n",
		       last != NULL ? last + 1 : "0");
	fakes_say(c->fd, number);
}

/* The first whole command, joined; what it takes of the bytes, 0: none. */
static inline size_t fakes_parse(const char *in, char *out)
{
	const char *at = strstr(in, "\r\n");
	long words = in[0] == '*' ? strtol(in + 1, NULL, 10) : 0;

	*out = '\0';
	for (long i = 0; at != NULL && i < words; i++) {
		long len = at[2] == '$' ? strtol(at + 3, NULL, 10) : 0;

		at = strstr(at + 2, "\r\n");
		if (at == NULL || strlen(at) < (size_t)len + 4)
			return 0;
		out += sprintf(out, "%s%.*s", i > 0 ? " " : "", (int)len,
			       at + 2);
		at += len + 2;
	}
	return at != NULL ? (size_t)(at + 2 - in) : 0;
}

static inline void fakes_read(struct fakes *f, struct fake_client *c)
{
	char command[8192];
	ssize_t n = recv(c->fd, c->in + c->len, sizeof(c->in) - 1 - c->len, 0);
	size_t used;

	if (n <= 0) {
		fakes_hang_up(c);
		return;
	}
	c->len += (size_t)n;
	c->in[c->len] = '\0';
	while (c->fd >= 0 && (used = fakes_parse(c->in, command)) > 0) {
		c->len -= used;
		memmove(c->in, c->in + used, c->len + 1);
		fakes_obey(f, c, command);
	}
}

static inline void fakes_accept(struct fakes *f, int listener, int node)
{
	for (int i = 0; i < FAKE_CLIENTS; i++)
		if (f->clients[i].fd < 0) {
			f->clients[i].fd = accept(listener, NULL, NULL);
			f->clients[i].node = node;
			f->clients[i].len = 0;
			return;
		}
	abort();
}

static inline void *fakes_run(void *arg)
{
	struct fakes *f = arg;
	struct pollfd fds[FAKE_NODES + FAKE_CLIENTS + 2];

	for (;;) {
		struct pollfd *clients = fds + FAKE_NODES;
		struct pollfd *others = clients + FAKE_CLIENTS;

		for (int i = 0; i < FAKE_NODES; i++)
			fds[i] = (struct pollfd){f->listener[i], POLLIN, 0};
		for (int i = 0; i < FAKE_CLIENTS; i++)
			clients[i] =
				(struct pollfd){f->clients[i].fd, POLLIN, 0};
		others[0] = (struct pollfd){f->wake[0], POLLIN, 0};
		others[1] = (struct pollfd){f->local, POLLIN, 0};
		if (poll(fds, FAKE_NODES + FAKE_CLIENTS + 2, -1) < 0)
			continue;
		if (others[0].revents != 0)
			return NULL;
		for (int i = 0; i < FAKE_CLIENTS; i++)
			if (clients[i].revents != 0)
				fakes_read(f, &f->clients[i]);
		for (int i = 0; i < FAKE_NODES; i++)
			if (fds[i].revents != 0 && f->listener[i] >= 0)
				fakes_accept(f, f->listener[i], i);
		if (others[1].revents != 0)
			fakes_accept(f, f->local, 0);
	}
}

static inline void fakes_listen(struct fakes *f)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	for (int i = 0; i < f->nodes; i++) {
		struct sockaddr_in in = {.sin_family = AF_INET};
		socklen_t len = sizeof(in);

		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		f->listener[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (bind(f->listener[i], (void *)&in, len) != 0 ||
		    listen(f->listener[i], 16) != 0 ||
		    getsockname(f->listener[i], (void *)&in, &len) != 0)
			abort();
		f->port[i] = ntohs(in.sin_port);
	}
	strcpy(f->dir, "/tmp/fakecluster-XXXXXX");
	if (mkdtemp(f->dir) == NULL)
		abort();
	(void)snprintf(f->path, sizeof(f->path), "%s/socket", f->dir);
	memcpy(un.sun_path, f->path, strlen(f->path) + 1);
	f->local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(f->local, (void *)&un, sizeof(un)) != 0 ||
	    listen(f->local, 16) != 0 || pipe(f->wake) != 0)
		abort();
}

static inline void fakes_start(struct fakes *f, int nodes, const char *map,
			       const struct fake_rule *rules, size_t count)
{
	static const char *const ids[FAKE_NODES] = {"id0", "id1", "id2", "id3"};

	memset(f, 0, sizeof(*f));
	f->nodes = nodes;
	f->map = map;
	f->rules = rules;
	f->count = count;
	memcpy(f->run_id, ids, sizeof(ids));
	for (int i = 0; i < FAKE_NODES; i++)
		f->listener[i] = -1;
	for (int i = 0; i < FAKE_CLIENTS; i++)
		f->clients[i].fd = -1;
	fakes_listen(f);
	f->target.address.host = "127.0.0.1";
	f->target.address.port = (uint16_t)f->port[0];
	f->target.options = &f->options;
	f->target.timeout_ms = 10000;
	(void)snprintf(f->place, sizeof(f->place), "redis://127.0.0.1:%u",
		       f->port[0]);
	f->target.place = f->place;
	if (pthread_create(&f->thread, NULL, fakes_run, f) != 0)
		abort();
}

/* How many rules were used; from now on the log can be read. */
static inline size_t fakes_stop(struct fakes *f)
{
	CHECK(write(f->wake[1], "x", 1) == 1);
	pthread_join(f->thread, NULL);
	for (int i = 0; i < FAKE_CLIENTS; i++)
		if (f->clients[i].fd >= 0)
			fakes_hang_up(&f->clients[i]);
	for (int i = 0; i < FAKE_NODES; i++)
		if (f->listener[i] >= 0)
			(void)close(f->listener[i]);
	(void)close(f->local);
	(void)close(f->wake[0]);
	(void)close(f->wake[1]);
	(void)unlink(f->path);
	(void)rmdir(f->dir);
	return atomic_load(&f->hits);
}

/* "ADD K NUMBER", whose answer is written down as "NUMBER=NUMBER ". */
static inline int fakes_add(struct cluster *c, int slot, unsigned number,
			    struct answers *a, struct error *err)
{
	char text[16];
	const char *const words[] = {"ADD", "K", text};

	(void)snprintf(text, sizeof(text), "%u", number);
	return cluster_sendv(c, slot, 3, words, NULL, answers_take, a, number,
			     err);
}

#endif
