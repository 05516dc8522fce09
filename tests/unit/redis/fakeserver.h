/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fakeserver: a server that plays a script, in a thread, on a unix socket.
 *
 *	static const struct fake_step script[] = {
 *		{FAKE_LOGIN, "ID master"}, {FAKE_EXPECT, "PING"},
 *		{FAKE_SEND, "+PONG\r\n"}, {FAKE_CLOSE, NULL}};
 *	fake_start(&f, script, FAKE_STEPS(script));
 *	... talk to f.target ...
 *	CHECK(fake_stop(&f));
 *
 * A step that needs a connection waits for the next one.  Steps that were not
 * played when fake_stop() is called, but for a repeated script, and commands
 * that are not those expected are failures.
 */
#ifndef BLOOMCTL_TESTS_UNIT_REDIS_FAKESERVER_H
#define BLOOMCTL_TESTS_UNIT_REDIS_FAKESERVER_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/redis/target.h"
#include "tests/unit/unit.h"

enum fake_op {
	FAKE_LOGIN,   /* "RUNID ROLE": all that a login asks, but for AUTH */
	FAKE_EXPECT,  /* a command of these words, joined by blanks */
	FAKE_MANY,    /* as many commands as the number says */
	FAKE_LENGTHS, /* the same, and answers each with its length */
	FAKE_BYTES,   /* so many bytes, of whatever */
	FAKE_SEND,    /* bytes */
	FAKE_BULK,    /* a text as a reply */
	FAKE_DRIP,    /* bytes, each in a write of its own */
	FAKE_CLOSE,   /* hangs up */
	FAKE_GONE,    /* the client hangs up, without another byte */
	FAKE_DOWN,    /* nobody listens any more */
	FAKE_SIGNAL,  /* SIGINT to the process */
	FAKE_WAIT,    /* until the test says go */
	FAKE_SLEEP,   /* for milliseconds: where time is what is tested */
	FAKE_AGAIN,   /* from the first step on, until fake_stop() */
};

struct fake_step {
	enum fake_op op;
	const char *text;
};

struct fake {
	const struct fake_step *steps;
	size_t count;
	char dir[32];
	char path[64];
	int listener;
	int fd; /* -1: none */
	FILE *in;
	pthread_t thread;
	size_t connections;
	atomic_size_t played; /* steps */
	atomic_bool go;
	bool ok;
	atomic_bool stopping;
	struct redis_options options;
	struct redis_target target;
};

#define FAKE_STEPS(script) (sizeof(script) / sizeof((script)[0]))
#define FAKE_SECONDS       20
#define FAKE_COMMAND_MAX   4096

static inline void fake_hang_up(struct fake *f)
{
	if (f->in != NULL)
		fclose(f->in);
	f->in = NULL;
	f->fd = -1;
}

static inline bool fake_accept(struct fake *f)
{
	struct timeval most = {.tv_sec = FAKE_SECONDS};

	if (f->fd >= 0)
		return true;
	f->fd = accept(f->listener, NULL, NULL);
	if (f->fd < 0)
		return false;
	f->connections++;
	(void)setsockopt(f->fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	(void)setsockopt(f->fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	f->in = fdopen(f->fd, "rb");
	return f->in != NULL;
}

/* The words of a command, joined; what does not fit is read over.  Their
 * length, or -1. */
static inline long fake_read_long(struct fake *f, char out[FAKE_COMMAND_MAX])
{
	char line[64];
	size_t at = 0;
	long words, whole = 0;

	out[0] = '\0';
	if (fgets(line, sizeof(line), f->in) == NULL || line[0] != '*')
		return -1;
	words = strtol(line + 1, NULL, 10);
	for (long i = 0; i < words; i++) {
		long len;

		if (fgets(line, sizeof(line), f->in) == NULL || line[0] != '$')
			return -1;
		len = strtol(line + 1, NULL, 10);
		whole += len;
		if (i > 0 && at < FAKE_COMMAND_MAX - 1)
			out[at++] = ' ';
		for (long b = 0; b < len + 2; b++) {
			int c = getc(f->in);

			if (c == EOF)
				return -1;
			if (b < len && at < FAKE_COMMAND_MAX - 1)
				out[at++] = (char)c;
		}
	}
	out[at] = '\0';
	return whole;
}

static inline bool fake_read(struct fake *f, char out[FAKE_COMMAND_MAX])
{
	return fake_read_long(f, out) >= 0;
}

static inline bool fake_send(struct fake *f, const char *data, size_t len,
			     size_t each)
{
	while (len > 0) {
		ssize_t n = send(f->fd, data, each < len ? each : len,
				 MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

static inline bool fake_answer(struct fake *f, const char *text)
{
	return fake_send(f, text, strlen(text), SIZE_MAX);
}

static inline bool fake_bulk(struct fake *f, const char *text)
{
	char out[512];

	(void)snprintf(out, sizeof(out), "$%zu\r\n%s\r\n", strlen(text), text);
	return fake_answer(f, out);
}

static inline bool fake_login(struct fake *f, const char *who)
{
	char command[FAKE_COMMAND_MAX];
	const char *role = strchr(who, ' ') + 1;
	char text[256];
	bool ok = true;

	while (ok && fake_read(f, command)) {
		if (strcmp(command, "INFO server") == 0) {
			(void)snprintf(text, sizeof(text),
				       "# Server\r\nredis_version:7.0.15\r\n"
				       "run_id:%.*s\r\n",
				       (int)(role - who - 1), who);
			ok = fake_bulk(f, text);
		} else if (strcmp(command, "INFO replication") == 0) {
			(void)snprintf(text, sizeof(text),
				       "# Replication\r\nrole:%s\r\n", role);
			ok = fake_bulk(f, text);
		} else if (strcmp(command, "INFO cluster") == 0) {
			return fake_bulk(f, "# Cluster\r\ncluster_enabled:0"
					    "\r\n");
		} else if (strncmp(command, "CLIENT ", 7) == 0 ||
			   strncmp(command, "SELECT ", 7) == 0) {
			ok = fake_answer(f, "+OK\r\n");
		} else {
			printf("# a login does not ask '%s'\n", command);
			return false;
		}
	}
	return false;
}

static inline bool fake_step(struct fake *f, const struct fake_step *step)
{
	char command[FAKE_COMMAND_MAX];

	if (step->op == FAKE_DOWN) {
		fake_hang_up(f);
		unlink(f->path);
		return true;
	}
	if (step->op == FAKE_SLEEP)
		return usleep((useconds_t)strtol(step->text, NULL, 10) *
			      1000) == 0;
	if (step->op == FAKE_WAIT) {
		while (!atomic_load(&f->go))
			sched_yield();
		return true;
	}
	if (step->op == FAKE_SIGNAL)
		return kill(getpid(), SIGINT) == 0;
	if (!fake_accept(f))
		return false;
	switch (step->op) {
	case FAKE_LOGIN:
		return fake_login(f, step->text);
	case FAKE_EXPECT:
		if (fake_read(f, command) && strcmp(command, step->text) == 0)
			return true;
		printf("# wanted '%s', got '%s'\n", step->text, command);
		return false;
	case FAKE_MANY:
		for (long i = strtol(step->text, NULL, 10); i > 0; i--)
			if (!fake_read(f, command))
				return false;
		return true;
	case FAKE_BYTES:
		for (long i = strtol(step->text, NULL, 10); i > 0; i--)
			if (getc(f->in) == EOF)
				return false;
		return true;
	case FAKE_LENGTHS:
		for (long i = strtol(step->text, NULL, 10); i > 0; i--) {
			long len = fake_read_long(f, command);
			char text[32];

			(void)snprintf(text, sizeof(text), ":%ld\r\n", len);
			if (len < 0 || !fake_answer(f, text))
				return false;
		}
		return true;
	case FAKE_SEND:
		return fake_answer(f, step->text);
	case FAKE_BULK:
		return fake_bulk(f, step->text);
	case FAKE_DRIP:
		return fake_send(f, step->text, strlen(step->text), 1);
	case FAKE_CLOSE:
		fake_hang_up(f);
		return true;
	case FAKE_GONE:
		if (getc(f->in) != EOF)
			return false;
		fake_hang_up(f);
		return true;
	case FAKE_DOWN:
	case FAKE_SIGNAL:
	case FAKE_SLEEP:
	case FAKE_WAIT:
	case FAKE_AGAIN:
		break;
	}
	return false;
}

static inline void *fake_play(void *arg)
{
	struct fake *f = arg;

	f->ok = true;
	for (size_t i = 0; i < f->count && f->ok; i++) {
		if (f->steps[i].op == FAKE_AGAIN)
			i = 0;
		f->ok = fake_step(f, &f->steps[i]);
		atomic_store(&f->played, i + 1);
		if (!f->ok && !atomic_load(&f->stopping))
			printf("# step %zu of the server failed\n", i);
	}
	/* A script that goes on for ever has been ended. */
	if (f->steps[f->count - 1].op == FAKE_AGAIN)
		f->ok = true;
	if (f->fd >= 0 && !f->ok)
		fake_hang_up(f);
	return NULL;
}

static inline void fake_start(struct fake *f, const struct fake_step *steps,
			      size_t count)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct timeval most = {.tv_sec = FAKE_SECONDS};

	memset(f, 0, sizeof(*f));
	f->steps = steps;
	f->count = count;
	f->fd = -1;
	strcpy(f->dir, "/tmp/fakeserver-XXXXXX");
	if (mkdtemp(f->dir) == NULL)
		abort();
	(void)snprintf(f->path, sizeof(f->path), "%s/socket", f->dir);
	memcpy(un.sun_path, f->path, strlen(f->path) + 1);
	f->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)setsockopt(f->listener, SOL_SOCKET, SO_RCVTIMEO, &most,
			 sizeof(most));
	if (bind(f->listener, (struct sockaddr *)&un, sizeof(un)) != 0 ||
	    listen(f->listener, 16) != 0)
		abort();
	f->target.address.path = f->path;
	f->target.options = &f->options;
	f->target.timeout_ms = 10000;
	f->target.place = (char *)"unix:fake";
	if (pthread_create(&f->thread, NULL, fake_play, f) != 0)
		abort();
}

/* Whether the script was played to its end. */
static inline bool fake_stop(struct fake *f)
{
	/* Whoever repeats a script waits for the next connection. */
	if (f->steps[f->count - 1].op == FAKE_AGAIN) {
		atomic_store(&f->stopping, true);
		(void)shutdown(f->listener, SHUT_RDWR);
	}
	pthread_join(f->thread, NULL);
	fake_hang_up(f);
	close(f->listener);
	unlink(f->path);
	rmdir(f->dir);
	return f->ok;
}

#endif
