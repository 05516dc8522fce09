/* SPDX-License-Identifier: BSD-2-Clause
 *
 * target: a server as a user names it, and how to log in to it.
 *
 *	redis://[USER[:PASSWORD]@]HOST[:PORT][/DB]    also valkey://
 *	rediss://...                                  TLS; also valkeys://
 *	unix:PATH[?db=N]
 *
 * User and password are percent-encoded; an IPv6 address is in brackets.  The
 * port is 6379 unless given.  Nothing that is made of a target for messages
 * holds a password.
 */
#ifndef BLOOMCTL_REDIS_TARGET_H
#define BLOOMCTL_REDIS_TARGET_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/net/stream.h"

/* How long a server may be silent unless told otherwise, in milliseconds. */
#define REDIS_TIMEOUT_MS 30000

/* What is said beside the target; texts are borrowed, NULL is "none". */
struct redis_options {
	const char *user;             /* a user in the target is stronger */
	const char *password;         /* from the environment; weaker than one
					 in the target, a file, a command */
	const char *password_file;    /* its content, without one last LF or
					 CRLF, read at each connection */
	const char *password_command; /* what it prints, the same; run at each
					 connection by lib/base/proc.h */
	char *const *environment;     /* for the command */
	const char *tls_ca;           /* as in struct net_tls */
	const char *tls_cert;
	const char *tls_key;
	const char *tls_name;
	bool tls_insecure;
	int timeout_ms; /* to connect, and for silence; 0: the default */
};

struct redis_target {
	struct net_address address; /* texts owned, by text */
	struct net_tls tls;
	const struct redis_options *options; /* borrowed */
	char *user;                          /* owned; NULL: none */
	char *password; /* of the target itself; owned; NULL: none */
	unsigned db;
	int timeout_ms;
	char *host; /* owned: what address points to */
	char *path;
	char *place; /* the target as messages name it, without password, and
			with the port; owned */
};

/* Whether a word begins as a server's target does. */
bool redis_target_is(const char *word);

/* Whether a password stands in it: such a word is no secret on a command line.
 */
bool redis_target_has_password(const char *word);

/*
 * Reads a word; options is borrowed until redis_target_release().
 * ERROR_USAGE naming what is wrong, without the password.
 */
int redis_target_parse(const char *word, const struct redis_options *options,
		       struct redis_target *out, struct error *err);

/* Wipes the password and frees; a zeroed struct is legal. */
void redis_target_release(struct redis_target *t);

/*
 * The password to log in with now, a fresh one: of the target, or of the file,
 * or of the command, or of the environment.  *out is owned by the caller, who
 * wipes it by redis_password_free(); NULL if there is none.  ERROR_CONFIG: the
 * file cannot be read, or the command failed or printed nothing.
 */
int redis_password(const struct redis_target *t, char **out, struct error *err);
void redis_password_free(char *password);

#endif
