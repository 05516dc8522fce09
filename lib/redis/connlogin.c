/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/stop.h"
#include "lib/redis/conn.h"
#include "lib/redis/conn_private.h"

/* --- one question -------------------------------------------------------- */

/* Overwrites what held a password; not optimized away, as it is volatile. */
static void wipe(char *data, size_t len)
{
	volatile char *p = data;

	while (len > 0)
		p[--len] = '\0';
}

/* Waits for the other end, until the step's time is over. */
static int wait_step(struct conn *c, bool write, int64_t since,
		     enum conn_after *after, struct error *err)
{
	char span[CONN_SPAN_MAX];
	int left = conn_step_left(c, since);
	int rc = net_wait(c->net, write, left, err);

	if (rc < 0) {
		*after = conn_after_wait(err);
		return -1;
	}
	if (rc > 0 || conn_step_left(c, since) > 0)
		return 0;
	return error_set(
		err, ERROR_TEMPORARY, "no answer for %s",
		conn_span(c->try_ms > 0 ? c->try_ms : c->target->timeout_ms,
			  span));
}

static int write_step(struct conn *c, const struct buf *bytes, int64_t since,
		      enum conn_after *after, struct error *err)
{
	size_t at = 0;

	while (at < bytes->len) {
		struct iovec piece = {bytes->data + at, bytes->len - at};
		size_t put;

		if (net_write(c->net, &piece, 1, &put, err) != 0)
			return -1;
		at += put;
		if (at == bytes->len)
			return 0;
		/* Who writes must read, too: perhaps nothing goes any more. */
		if (wait_step(c, true, since, after, err) != 0 ||
		    net_read(c->net, c->in, sizeof(c->in), &put, err) != 0)
			return -1;
		if (put == 0)
			continue;
		error_set(err, ERROR_TEMPORARY,
			  "it answers what it was not asked");
		if (reader_feed(c->reader, c->in, put, err) != 0)
			*after = CONN_FATAL;
		return -1;
	}
	return 0;
}

static int read_step(struct conn *c, int64_t since, const struct reply **out,
		     enum conn_after *after, struct error *err)
{
	int rc;

	while ((rc = reader_next(c->reader, out, err)) == 0) {
		size_t got;

		if (net_read(c->net, c->in, sizeof(c->in), &got, err) != 0)
			return -1;
		if (got == 0) {
			if (wait_step(c, false, since, after, err) != 0)
				return -1;
			continue;
		}
		rc = reader_feed(c->reader, c->in, got, err);
		if (rc != 0)
			break;
	}
	if (rc > 0) {
		c->reached = true;
		if (reader_empty(c->reader))
			return 0;
	}
	*after = CONN_FATAL;
	if (rc < 0)
		return -1;
	return error_set(err, ERROR_DATA, "it answers what it was not asked");
}

/*
 * One command of the login and its answer.  0, also for an error reply that
 * the caller may live with; -1 with *after.
 */
static int ask(struct conn *c, int argc, const char *const argv[],
	       const struct reply **out, enum conn_after *after,
	       struct error *err)
{
	int64_t since = clock_ns();
	struct buf bytes;
	size_t size = 32;
	bool whole = true;
	int rc = -1;

	*after = CONN_AGAIN;
	for (int i = 0; i < argc; i++)
		size += strlen(argv[i]) + 32;
	/* Reserved at once: growing would leave copies of a password. */
	buf_init(&bytes, size);
	if (buf_reserve(&bytes, size) != 0 ||
	    conn_encode(&bytes, argc, argv, NULL) != 0) {
		*after = CONN_FATAL;
		error_nomem(err);
	} else if (write_step(c, &bytes, since, after, err) == 0) {
		rc = read_step(c, since, out, after, err);
	} else if (*after == CONN_AGAIN) {
		struct error cause = *err;

		/* It may have said why, before it hung up. */
		whole = false;
		rc = read_step(c, since, out, after, err);
		if (rc != 0 && *after == CONN_AGAIN &&
		    err->code == ERROR_TEMPORARY)
			*err = cause;
	}
	if (bytes.data != NULL)
		wipe(bytes.data, bytes.cap);
	buf_release(&bytes);
	/* What a connection ends with by itself can be another time. */
	if (rc != 0 && *after == CONN_AGAIN && err->code != ERROR_TEMPORARY)
		*after = CONN_FATAL;
	if (rc != 0)
		return -1;
	if (conn_transient(*out))
		return reply_refused(*out, err, "%s", argv[0]);
	if (whole && !reply_is_error(*out, "NOAUTH") &&
	    !reply_is_error(*out, "WRONGPASS") &&
	    !reply_is_error(*out, "DENIED"))
		return 0;
	*after = CONN_FATAL;
	return reply_refused(*out, err, "%s", argv[0]);
}

/* --- logging in ---------------------------------------------------------- */

static int auth_refused(const struct reply *reply, const char *password,
			struct error *err)
{
	/* Some servers repeat what they do not understand. */
	if (reply_error_begins(reply, "ERR unknown command") ||
	    (password[0] != '\0' && reply->type == REPLY_ERROR &&
	     strstr(reply->u.text, password) != NULL))
		return error_set(err, ERROR_RIGHTS,
				 "AUTH: the server does not take it");
	reply_refused(reply, err, "AUTH");
	err->code = ERROR_RIGHTS;
	return -1;
}

static int authenticate(struct conn *c, enum conn_after *after,
			struct error *err)
{
	const char *user = c->target->user;
	const struct reply *reply;
	char *password = NULL;
	const char *argv[3] = {"AUTH"};
	int argc = 1;
	int rc = 0;

	*after = CONN_FATAL;
	if (redis_password(c->target, &password, err) != 0) {
		*after = conn_after_wait(err);
		return -1;
	}
	if (user != NULL)
		argv[argc++] = user;
	if (user != NULL || password != NULL) {
		argv[argc++] = password != NULL ? password : "";
		rc = ask(c, argc, argv, &reply, after, err);
		if (rc == 0 && !reply_is(reply, "OK")) {
			*after = CONN_FATAL;
			rc = auth_refused(reply, argv[argc - 1], err);
		}
	}
	redis_password_free(password);
	return rc;
}

static int select_db(struct conn *c, enum conn_after *after, struct error *err)
{
	char db[16];
	const char *argv[] = {"SELECT", db};
	const struct reply *reply;

	if (c->target->db == 0)
		return 0;
	(void)snprintf(db, sizeof(db), "%u", c->target->db);
	if (ask(c, 2, argv, &reply, after, err) != 0)
		return -1;
	if (reply_is(reply, "OK"))
		return 0;
	*after = CONN_FATAL;
	reply_refused(reply, err, "SELECT %s", db);
	if (err->code == ERROR_DATA)
		err->code = ERROR_CONFIG;
	return -1;
}

static int set_name(struct conn *c, enum conn_after *after, struct error *err)
{
	static const char *const argv[] = {"CLIENT", "SETNAME", "bloomctl"};
	const struct reply *reply;

	return ask(c, 3, argv, &reply, after, err);
}

/* --- who is there -------------------------------------------------------- */

/* The value of a line "NAME:VALUE" of INFO; false if there is none. */
static bool info_value(const struct reply *reply, const char *name, char *out,
		       size_t size)
{
	size_t len = strlen(name);
	const char *at;

	if (reply->type != REPLY_BULK)
		return false;
	for (at = reply->u.text; at != NULL; at = strchr(at, '\n')) {
		size_t n;

		at += *at == '\n' ? 1 : 0;
		if (strncmp(at, name, len) != 0 || at[len] != ':')
			continue;
		at += len + 1;
		n = strcspn(at, "\r\n");
		if (n >= size)
			return false;
		memcpy(out, at, n);
		out[n] = '\0';
		return true;
	}
	return false;
}

static void read_version(const char *text, unsigned version[3])
{
	for (int i = 0; i < 3; i++) {
		unsigned n = 0;

		for (; *text >= '0' && *text <= '9' && n < 100000; text++)
			n = n * 10 + (unsigned)(*text - '0');
		version[i] = n;
		if (*text == '.')
			text++;
	}
}

static void read_info(const struct reply *reply, struct conn_facts *facts,
		      bool *role_known)
{
	char value[64];

	if (info_value(reply, "run_id", value, sizeof(value)) &&
	    strlen(value) < CONN_RUN_ID_MAX)
		memcpy(facts->run_id, value, strlen(value) + 1);
	if (info_value(reply, "redis_version", value, sizeof(value)) &&
	    !facts->valkey)
		read_version(value, facts->version);
	if (info_value(reply, "valkey_version", value, sizeof(value))) {
		facts->valkey = true;
		read_version(value, facts->version);
	}
	if (info_value(reply, "server_name", value, sizeof(value)) &&
	    strcmp(value, "valkey") == 0)
		facts->valkey = true;
	if (info_value(reply, "role", value, sizeof(value))) {
		facts->replica = strcmp(value, "slave") == 0 ||
				 strcmp(value, "replica") == 0;
		*role_known = true;
	}
	if (info_value(reply, "cluster_enabled", value, sizeof(value)))
		facts->cluster = strcmp(value, "1") == 0;
}

static int learn(struct conn *c, enum conn_after *after, struct error *err)
{
	static const char *const sections[] = {"server", "replication",
					       "cluster"};
	static const char *const role[] = {"ROLE"};
	struct conn_facts facts = {.run_id = ""};
	const struct reply *reply;
	bool role_known = false;

	/* One by one: not every server takes several, or gives all of them. */
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const char *argv[] = {"INFO", sections[i]};

		if (ask(c, 2, argv, &reply, after, err) != 0)
			return -1;
		read_info(reply, &facts, &role_known);
	}
	if (!role_known) {
		if (ask(c, 1, role, &reply, after, err) != 0)
			return -1;
		facts.replica = reply->type == REPLY_ARRAY && reply->len > 0 &&
				(reply_is(&reply->u.items[0], "slave") ||
				 reply_is(&reply->u.items[0], "replica"));
	}
	c->facts = facts;
	return 0;
}

/* Whether it is one that may be talked to. */
static int judge(const struct conn *c, enum conn_after *after,
		 struct error *err)
{
	const struct conn_facts *facts = &c->facts;

	if (c->pinned &&
	    (facts->run_id[0] == '\0' || facts->replica != c->pin.replica ||
	     strcmp(facts->run_id, c->pin.run_id) != 0)) {
		*after = CONN_FATAL;
		error_set(err, ERROR_TEMPORARY,
			  "the server was restarted or replaced: what it "
			  "acknowledged may be lost");
		return error_hint(err, "run the same command again");
	}
	/* That of a cluster says who is the primary. */
	if ((c->flags & CONN_WRITES) == 0 || !facts->replica || facts->cluster)
		return 0;
	*after = CONN_AGAIN;
	error_set(err, ERROR_TEMPORARY,
		  "it is a replica, where nothing can "
		  "be written");
	return error_hint(err, "name the primary, or an address that always "
			       "leads to it");
}

/* --- the connection ------------------------------------------------------ */

static int open_stream(struct conn *c, enum conn_after *after,
		       struct error *err)
{
	int left = conn_step_left(c, c->trouble);

	reader_free(c->reader);
	c->reader = reader_new(CONN_REPLY_MAX);
	if (c->reader == NULL) {
		*after = CONN_FATAL;
		return error_nomem(err);
	}
	if (net_open(&c->target->address, &c->target->tls, left > 0 ? left : 1,
		     &c->net, err) != 0) {
		*after = conn_after_wait(err);
		/* A wrong address is told at once, and a lost one sought. */
		if (c->reached && *after == CONN_FATAL &&
		    (err->code == ERROR_UNREACHED ||
		     err->code == ERROR_TEMPORARY))
			*after = CONN_AGAIN;
		return -1;
	}
	net_set_patient(c->net, c->patient_until != 0);
	return 0;
}

int conn_login(struct conn *c, enum conn_after *after, struct error *err)
{
	*after = CONN_FATAL;
	if (open_stream(c, after, err) != 0 ||
	    authenticate(c, after, err) != 0 || select_db(c, after, err) != 0 ||
	    set_name(c, after, err) != 0 || learn(c, after, err) != 0)
		return -1;
	return judge(c, after, err);
}
