/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/target.h"

#include <string.h>
#include <strings.h>

/* A command that prints a password gets ours. */
extern char **environ;

/* Options that mean something at a server only. */
static const struct {
	enum option_id id;
	bool tls; /* and there with TLS only */
} server_only[] = {
	{OPT_USER, false},
	{OPT_PASSWORD_FILE, false},
	{OPT_PASSWORD_COMMAND, false},
	{OPT_TLS_CA, true},
	{OPT_TLS_CERT, true},
	{OPT_TLS_KEY, true},
	{OPT_TLS_NAME, true},
	{OPT_TLS_INSECURE, true},
	{OPT_TIMEOUT, false},
	{OPT_LEASE, false},
	{OPT_WAIT_REPLICAS, false},
	{OPT_ALLOW_EVICTION, false},
	{OPT_RECENT, false},
	{OPT_CACHE, false},
	{OPT_REPLICAS, false},
};

static bool begins(const char *word, const char *how)
{
	return strncasecmp(word, how, strlen(how)) == 0;
}

/* The command line is read by every user of the machine. */
static int check_password(const struct opts *opts, const char *word,
			  struct error *err)
{
	if (opts_list(opts, OPT_TARGET)->place != PLACE_LINE ||
	    !redis_target_has_password(word))
		return 0;
	(void)error_set(err, ERROR_USAGE,
			"option --target: a password on the command line is "
			"seen by others");
	return error_hint(err, "put the target into BLOOMCTL_TARGET, or the "
			       "password into a file for --password-file");
}

/*
 * What is asked for on the command line and would do nothing is a mistake; a
 * file or the environment may hold it for other targets.
 */
static int check_use(const struct opts *opts, const char *word,
		     struct error *err)
{
	bool server = redis_target_is(word);
	bool tls = begins(word, "rediss:") || begins(word, "valkeys:");

	for (size_t i = 0; i < sizeof(server_only) / sizeof(server_only[0]);
	     i++) {
		enum option_id id = server_only[i].id;

		if (!opts_has(opts, id) ||
		    opts_list(opts, id)->place != PLACE_LINE)
			continue;
		if (!server)
			return error_set(err, ERROR_USAGE,
					 "option --%s: it is for a server, and "
					 "the target is none",
					 option_rows[id].longname);
		if (!tls && server_only[i].tls)
			return error_set(err, ERROR_USAGE,
					 "option --%s: it is for TLS, and the "
					 "target is not rediss://",
					 option_rows[id].longname);
	}
	if (server && opts_has(opts, OPT_TLS_KEY) &&
	    !opts_has(opts, OPT_TLS_CERT))
		return error_set(err, ERROR_USAGE,
				 "option --tls-key: it needs --tls-cert FILE");
	return 0;
}

static void read_options(struct target *t, const struct opts *opts)
{
	t->server.user = opts_text(opts, OPT_USER);
	t->server.password = opts->lookup("REDISCLI_AUTH");
	t->server.password_file = opts_text(opts, OPT_PASSWORD_FILE);
	t->server.password_command = opts_text(opts, OPT_PASSWORD_COMMAND);
	t->server.environment = environ;
	t->server.tls_ca = opts_text(opts, OPT_TLS_CA);
	t->server.tls_cert = opts_text(opts, OPT_TLS_CERT);
	t->server.tls_key = opts_text(opts, OPT_TLS_KEY);
	t->server.tls_name = opts_text(opts, OPT_TLS_NAME);
	t->server.tls_insecure = opts_flag(opts, OPT_TLS_INSECURE);
	t->server.timeout_ms =
		(int)opts_span(opts, OPT_TIMEOUT, REDIS_TIMEOUT_MS);
	t->options.server = &t->server;
	t->options.lease_ms = (int)opts_span(opts, OPT_LEASE, LEASE_MS);
	t->options.wait_replicas =
		(unsigned)opts_u64(opts, OPT_WAIT_REPLICAS, 0);
	t->options.allow_eviction = opts_has(opts, OPT_ALLOW_EVICTION);
	t->options.eviction_bytes = opts_u64(opts, OPT_ALLOW_EVICTION, 0);
}

int target_open(struct target *t, const struct opts *opts,
		const struct bloomkey_spec *spec, enum target_use use,
		struct error *err)
{
	const char *word;

	memset(t, 0, sizeof(*t));
	if (opts_require(opts, OPT_TARGET, err) != 0)
		return -1;
	word = opts_text(opts, OPT_TARGET);
	if (check_password(opts, word, err) != 0 ||
	    check_use(opts, word, err) != 0)
		return -1;
	t->options.create = use == TARGET_MAKES;
	t->options.writes = use != TARGET_READS;
	read_options(t, opts);
	return store_open(word, spec, &t->options, &t->store, err);
}

void target_close(struct target *t)
{
	store_close(t->store);
	t->store = NULL;
}
