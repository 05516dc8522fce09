/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/target.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/num.h"
#include "lib/base/show.h"

#define PORT_DEFAULT 6379

/* The longest name of the domain name system. */
#define HOST_MAX 253

/*
 * No message here shows any part of a word: what stands at the wrong place may
 * be a password.
 */
#define FORMS                                                                \
	"redis://[USER[:PASSWORD]@]HOST[:PORT][/DB], rediss://... for TLS, " \
	"or unix:PATH[?db=N]"

static const struct scheme {
	const char *name;
	bool tls;
	bool path;
} schemes[] = {
	{"redis://", false, false}, {"valkey://", false, false},
	{"rediss://", true, false}, {"valkeys://", true, false},
	{"unix:", false, true},
};

static const struct scheme *find_scheme(const char *word)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncasecmp(word, schemes[i].name,
				strlen(schemes[i].name)) == 0)
			return &schemes[i];
	return NULL;
}

bool redis_target_is(const char *word)
{
	return find_scheme(word) != NULL;
}

bool redis_target_has_password(const char *word)
{
	const struct scheme *scheme = find_scheme(word);
	const char *at, *colon;

	if (scheme == NULL)
		return false;
	word += strlen(scheme->name);
	if (scheme->path && strncmp(word, "//", 2) != 0)
		return false;
	/* The last one: whatever a word is that will be refused, it is safe. */
	at = strrchr(word, '@');
	colon = at != NULL ? memchr(word, ':', (size_t)(at - word)) : NULL;
	return colon != NULL && colon + 1 < at;
}

static int wrong(struct error *err, const char *what)
{
	(void)error_set(err, ERROR_USAGE, "target: %s", what);
	return error_hint(err, "%s", FORMS);
}

/* --- pieces ----------------------------------------------------------------
 */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c != '\0' ? strchr(digits, c) : NULL;

	return at != NULL ? (int)((at - digits) % 16) : -1;
}

/* Decodes %XX into *out, owned by the caller, also after a failure. */
static int decode(const char *text, size_t len, const char *what, char **out,
		  struct error *err)
{
	char *to = calloc(len + 1, 1);
	size_t n = 0;

	*out = to;
	if (to == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte == '%') {
			int high = len - i > 2 ? hex_digit(text[i + 1]) : -1;
			int low = len - i > 2 ? hex_digit(text[i + 2]) : -1;

			if (high < 0 || low < 0 || high + low == 0) {
				(void)error_set(err, ERROR_USAGE,
						"target: the %s holds a '%%' "
						"that is no byte",
						what);
				return error_hint(err, "'%%' itself is "
						       "written %%25");
			}
			byte = (unsigned char)(high << 4 | low);
			i += 2;
		}
		to[n++] = (char)byte;
	}
	return 0;
}

/* The number of a database, or nothing, which is the first one. */
static int read_db(const char *text, unsigned *db, struct error *err)
{
	uint64_t n = 0;

	if (*text != '\0' && (num_u64(text, &n) != 0 || n > INT_MAX))
		return wrong(err, "the database is no number from 0 to "
				  "2147483647");
	*db = (unsigned)n;
	return 0;
}

static int read_port(const char *text, uint16_t *port, struct error *err)
{
	uint64_t n;

	if (num_u64(text, &n) != 0 || n < 1 || n > UINT16_MAX)
		return wrong(err, "the port is no number from 1 to 65535");
	*port = (uint16_t)n;
	return 0;
}

static int copy(const char *text, size_t len, char **out, struct error *err)
{
	*out = strndup(text, len);
	return *out != NULL ? 0 : error_nomem(err);
}

/* What a host is made of, and the name of an interface. */
static bool is_plain(const char *text, size_t len)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.-_";

	return strspn(text, plain) >= len;
}

/* An address of IPv6, perhaps with a zone, which a URL writes "%25eth0". */
static int read_ipv6(const char *text, size_t len, struct redis_target *t,
		     struct error *err)
{
	char address[INET6_ADDRSTRLEN];
	struct in6_addr bytes;
	const char *zone = memchr(text, '%', len);
	size_t n = zone != NULL ? (size_t)(zone - text) : len;

	if (n < sizeof(address)) {
		memcpy(address, text, n);
		address[n] = '\0';
	}
	if (n >= sizeof(address) || inet_pton(AF_INET6, address, &bytes) != 1 ||
	    (zone != NULL && n + 1 == len))
		return wrong(err, "no IPv6 address stands in the brackets");
	if (zone != NULL) {
		/* Its '%' may be written as a URL has it. */
		zone += n + 3 < len && strncmp(zone, "%25", 3) == 0 ? 3 : 1;
		if (!is_plain(zone, (size_t)(text + len - zone)))
			return wrong(err, "no IPv6 address stands in the "
					  "brackets");
	}
	if (copy(text, len, &t->host, err) != 0)
		return -1;
	if (zone != NULL)
		memmove(t->host + n + 1, t->host + (zone - text),
			strlen(t->host + (zone - text)) + 1);
	return 0;
}

static int read_name(const char *text, size_t len, struct redis_target *t,
		     struct error *err)
{
	if (len == 0)
		return wrong(err, "it names no host");
	if (memchr(text, ':', len) != NULL)
		return wrong(err, "an IPv6 address stands in brackets");
	if (len > HOST_MAX || !is_plain(text, len))
		return wrong(err, "the host is no name and no address");
	return copy(text, len, &t->host, err);
}

/* HOST[:PORT] */
static int read_host(const char *text, struct redis_target *t,
		     struct error *err)
{
	const char *end, *colon;
	int rc;

	if (*text == '[') {
		end = strchr(text, ']');
		if (end == NULL || (end[1] != '\0' && end[1] != ':'))
			return wrong(err, "an IPv6 address stands in brackets, "
					  "and a port behind them");
		rc = read_ipv6(text + 1, (size_t)(end - text - 1), t, err);
		colon = end[1] == ':' ? end + 1 : NULL;
	} else {
		colon = strrchr(text, ':');
		end = colon != NULL ? colon : text + strlen(text);
		rc = read_name(text, (size_t)(end - text), t, err);
	}
	t->address.port = PORT_DEFAULT;
	if (rc == 0 && colon != NULL)
		rc = read_port(colon + 1, &t->address.port, err);
	t->address.host = t->host;
	return rc;
}

/* USER[:PASSWORD] */
static int read_user(const char *text, size_t len, struct redis_target *t,
		     struct error *err)
{
	const char *colon = memchr(text, ':', len);
	size_t n = colon != NULL ? (size_t)(colon - text) : len;

	if (n > 0 && decode(text, n, "user", &t->user, err) != 0)
		return -1;
	if (colon == NULL || n + 1 == len)
		return 0;
	return decode(colon + 1, len - n - 1, "password", &t->password, err);
}

/* Behind the host, as a copy that may be written to and is wiped. */
static int read_url(char *text, struct redis_target *t, struct error *err)
{
	char *end = text + strcspn(text, "/?#");
	char *host = text;
	char *at;

	if (strchr(end, '@') != NULL) {
		(void)wrong(err, "an '@' stands behind the host");
		return error_hint(err, "in a user or a password '/' is written "
				       "%%2F, '?' %%3F, '#' %%23 and '@' %%40");
	}
	if (*end == '?' || strchr(end, '?') != NULL)
		return wrong(err, "no '?' can follow a host");
	if (*end == '#' || strchr(end, '#') != NULL)
		return wrong(err, "no '#' can follow a host");
	if (*end == '/' && read_db(end + 1, &t->db, err) != 0)
		return -1;
	*end = '\0';
	at = strrchr(text, '@');
	if (at != NULL) {
		if (read_user(text, (size_t)(at - text), t, err) != 0)
			return -1;
		host = at + 1;
	}
	return read_host(host, t, err);
}

/* PATH[?db=N] */
static int read_path(const char *text, struct redis_target *t,
		     struct error *err)
{
	size_t len;

	if (strncmp(text, "//", 2) == 0) {
		text += 2;
		/* Else it were a user or a host. */
		if (*text != '/')
			return wrong(err, "behind 'unix://' the path begins "
					  "with a slash");
		/* The path's name in messages shall be no such word. */
		text += strspn(text, "/") - 1;
	}
	len = strcspn(text, "?");
	if (len == 0)
		return wrong(err, "it names no path");
	if (text[len] == '?') {
		if (strncmp(text + len, "?db=", 4) != 0 ||
		    text[len + 4] == '\0')
			return wrong(err, "only '?db=N' can follow a path");
		if (read_db(text + len + 4, &t->db, err) != 0)
			return -1;
	}
	if (copy(text, len, &t->path, err) != 0)
		return -1;
	t->address.path = t->path;
	return 0;
}

/* --- the whole --------------------------------------------------------------
 */

static int set_place(const struct scheme *scheme, struct redis_target *t,
		     struct error *err)
{
	const char *host = t->host != NULL ? t->host : t->path;
	bool ipv6 = t->host != NULL && strchr(t->host, ':') != NULL;
	size_t cap = strlen(host) + 64;
	char port[16] = "";
	char db[24] = "";

	t->place = malloc(cap);
	if (t->place == NULL)
		return error_nomem(err);
	if (!scheme->path)
		(void)snprintf(port, sizeof(port), ":%u",
			       (unsigned)t->address.port);
	if (t->db != 0)
		(void)snprintf(db, sizeof(db), "%s%u",
			       scheme->path ? "?db=" : "/", t->db);
	(void)snprintf(t->place, cap, "%s%s%s%s%s%s", scheme->name,
		       ipv6 ? "[" : "", host, ipv6 ? "]" : "", port, db);
	show_clean(t->place);
	return 0;
}

/* TLS that is asked for and not done would be worse than none. */
static int set_tls(const struct scheme *scheme, struct redis_target *t,
		   struct error *err)
{
	const struct redis_options *o = t->options;

	t->tls = (struct net_tls){.on = scheme->tls,
				  .insecure = o->tls_insecure,
				  .ca = o->tls_ca,
				  .cert = o->tls_cert,
				  .key = o->tls_key,
				  .name = o->tls_name};
	if (!scheme->tls &&
	    (o->tls_insecure || o->tls_ca != NULL || o->tls_cert != NULL ||
	     o->tls_key != NULL || o->tls_name != NULL)) {
		(void)wrong(err, "it is one without TLS, and options of TLS "
				 "are given");
		return error_hint(err, "with TLS a target begins with "
				       "rediss:// or valkeys://");
	}
	if (o->tls_key != NULL && o->tls_cert == NULL)
		return error_set(err, ERROR_USAGE,
				 "target: a key for TLS is given without its "
				 "certificate");
	return 0;
}

static int set_options(struct redis_target *t, struct error *err)
{
	const struct redis_options *o = t->options;

	t->timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : REDIS_TIMEOUT_MS;
	if (t->user != NULL || o->user == NULL || *o->user == '\0')
		return 0;
	return copy(o->user, strlen(o->user), &t->user, err);
}

int redis_target_parse(const char *word, const struct redis_options *options,
		       struct redis_target *out, struct error *err)
{
	const struct scheme *scheme = find_scheme(word);
	char *text;
	int rc;

	memset(out, 0, sizeof(*out));
	out->options = options;
	if (scheme == NULL)
		return wrong(err, "it begins as no server does");
	if (copy(word + strlen(scheme->name), SIZE_MAX, &text, err) != 0)
		return -1;
	rc = scheme->path ? read_path(text, out, err)
			  : read_url(text, out, err);
	explicit_bzero(text, strlen(word) - strlen(scheme->name));
	free(text);
	if (rc == 0)
		rc = set_tls(scheme, out, err);
	if (rc == 0)
		rc = set_options(out, err);
	if (rc == 0)
		rc = set_place(scheme, out, err);
	if (rc != 0)
		redis_target_release(out);
	return rc;
}

void redis_target_release(struct redis_target *t)
{
	redis_password_free(t->password);
	free(t->user);
	free(t->host);
	free(t->path);
	free(t->place);
	memset(t, 0, sizeof(*t));
}
