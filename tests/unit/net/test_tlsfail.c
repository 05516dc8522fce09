/* SPDX-License-Identifier: BSD-2-Clause */

/* strcasestr() */
#define _GNU_SOURCE

#include <openssl/crypto.h>

#include "lib/net/tls.h"
#include "tests/unit/net/tlspeer.h"

static struct cert ca, other_ca, good, expired, early, wrong, own, client,
	foreign;
static char folder[] = "/tmp/bloomctl-unit-XXXXXX";
static char ca_file[64], client_file[64], foreign_file[64];

/* Opens, and if that does, reads to the end; err is how it ended. */
static void try(struct tlspeer *p, const struct net_tls *tls, int ms,
		struct error *err)
{
	struct net_stream *s = NULL;

	*err = (struct error)ERROR_INIT;
	REQUIRE(tlspeer_start(p));
	if (net_open(&p->to, tls, ms, &s, err) == 0)
		read_to_end(s, err);
	else
		CHECK(s == NULL);
	net_close(s);
	tlspeer_end(p);
}

static void check_text(const char *text, const char *part)
{
	if (strcasestr(text, part) == NULL)
		CHECK_STR(text, part);
}

/* --- the server's certificate -----------------------------------------------
 */

static void not_accepted(void)
{
	static const struct {
		const struct cert *cert;
		const char *reason;
		const char *hint;
		bool system; /* its authorities, ours is not one of */
	} cases[] = {
		{&expired, "certificate has expired", "clock", false},
		{&early, "not yet valid", "clock", false},
		{&wrong, "mismatch", "--tls-name", false},
		{&own, "certificate", "--tls-ca FILE", false},
		{&own, "self", "--tls-ca FILE", true},
		{&good, "unable to get local issuer certificate",
		 "--tls-ca FILE", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tlspeer p = {.cert = cases[i].cert};
		struct net_tls tls = {.on = true};
		struct error err;

		tls.ca = cases[i].system ? NULL : ca_file;
		try(&p, &tls, LONG_MS, &err);
		CHECK_U64(err.code, ERROR_RIGHTS);
		check_text(err.text,
			   "the server's certificate is not accepted: ");
		check_text(err.text, cases[i].reason);
		check_text(err.hint, cases[i].hint);
		CHECK(!p.shaken);
	}
}

static void mismatch_of_name(void)
{
	struct tlspeer p = {.cert = &good};
	struct net_tls tls = {.on = true, .ca = ca_file, .name = "bad.example"};
	struct error err;

	try(&p, &tls, LONG_MS, &err);
	CHECK_U64(err.code, ERROR_RIGHTS);
	check_text(err.text, "hostname mismatch");
}

static void insecure(void)
{
	const struct cert *certs[] = {&expired, &wrong, &own};
	const struct net_tls tls = {.on = true, .insecure = true};

	for (size_t i = 0; i < 3; i++) {
		struct tlspeer p = {.cert = certs[i]};
		struct error err;

		try(&p, &tls, LONG_MS, &err);
		CHECK_U64(err.code, ERROR_TEMPORARY);
		CHECK_STR(err.text, "the server closed the connection");
		CHECK(p.shaken);
	}
}

/* --- ours --------------------------------------------------------------------
 */

static void client_certificates(void)
{
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	static const struct {
		const char *cert;
		enum error_code code;
		const char *text;
		const char *hint;
	} cases[] = {
		{NULL, ERROR_RIGHTS,
		 "the server requires a certificate of the client",
		 "--tls-cert FILE"},
		{foreign_file, ERROR_RIGHTS,
		 "the server does not accept the client's certificate: "
		 "unknown CA",
		 ""},
		{client_file, ERROR_TEMPORARY,
		 "the server closed the connection", ""},
	};

	for (size_t i = 0; i < 6; i++) {
		struct tlspeer p = {.cert = &good,
				    .client_ca = &ca,
				    .version = versions[i % 2]};
		struct net_tls tls = {.on = true, .ca = ca_file};
		struct error err;

		tls.cert = cases[i / 2].cert;
		try(&p, &tls, LONG_MS, &err);
		CHECK_U64(err.code, cases[i / 2].code);
		CHECK_STR(err.text, cases[i / 2].text);
		check_text(err.hint, cases[i / 2].hint);
		CHECK(p.shaken == (i / 2 == 2));
	}
}

/* The socket that is connected to a port. */
static int fd_to(uint16_t port)
{
	struct sockaddr_in at;

	for (int fd = 0; fd < 64; fd++) {
		socklen_t len = sizeof(at);

		if (getpeername(fd, (struct sockaddr *)&at, &len) == 0 &&
		    at.sin_family == AF_INET && at.sin_port == htons(port))
			return fd;
	}
	return -1;
}

/* The alert comes after the handshake, and a write may meet it first. */
static void alert_on_write(void)
{
	struct tlspeer p = {
		.cert = &good, .client_ca = &ca, .version = TLS1_3_VERSION};
	const struct net_tls tls = {.on = true, .ca = ca_file};
	struct iovec piece = {(void *)"PING\r\n", 6};
	struct error err = ERROR_INIT;
	struct net_stream *s = NULL;
	size_t put;

	REQUIRE(tlspeer_start(&p));
	REQUIRE(net_open(&p.to, &tls, LONG_MS, &s, &err) == 0);
	CHECK(net_wait(s, false, LONG_MS, &err) == 1);
	/* As if the server had gone: no write goes any more. */
	CHECK(shutdown(fd_to(p.to.port), SHUT_WR) == 0);
	CHECK(net_write(s, &piece, 1, &put, &err) == -1);
	CHECK_STR(err.text, "the server requires a certificate of the client");
	CHECK_U64(err.code, ERROR_RIGHTS);
	net_close(s);
	tlspeer_end(&p);
}

/* --- no TLS ------------------------------------------------------------------
 */

/* What a server of another kind does, once the first bytes came. */
static void hear(int fd)
{
	char buf[16];

	CHECK(recv(fd, buf, sizeof(buf), 0) > 0);
}

static void complains(struct tlspeer *p, int fd)
{
	static const char text[] = "-ERR unknown command '\x16\x03\x01'\r\n";

	(void)p;
	hear(fd);
	CHECK(write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
}

static void greets(struct tlspeer *p, int fd)
{
	static const char text[] = "HTTP/1.1 400 Bad Request\r\n\r\n";

	(void)p;
	CHECK(write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
}

static void closes(struct tlspeer *p, int fd)
{
	(void)p;
	hear(fd);
}

static void resets(struct tlspeer *p, int fd)
{
	const struct linger now = {1, 0};

	(void)p;
	hear(fd);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
	CHECK(dup2(open("/dev/null", O_RDWR), fd) == fd);
}

/* The other side gives up first. */
static void is_silent(struct tlspeer *p, int fd)
{
	char byte;

	(void)p;
	while (recv(fd, &byte, 1, 0) > 0)
		;
}

static void begins(struct tlspeer *p, int fd)
{
	CHECK(write(fd, "\x16\x03\x03\x01\x00\x02", 6) == 6);
	is_silent(p, fd);
}

/* Alerts: "protocol version", "unrecognized name". */
static void refuses_version(struct tlspeer *p, int fd)
{
	(void)p;
	hear(fd);
	CHECK(write(fd, "\x15\x03\x03\x00\x02\x02\x46", 7) == 7);
}

static void refuses_name(struct tlspeer *p, int fd)
{
	(void)p;
	hear(fd);
	CHECK(write(fd, "\x15\x03\x03\x00\x02\x02\x70", 7) == 7);
}

static void refuses(struct tlspeer *p, int fd)
{
	(void)p;
	hear(fd);
	CHECK(write(fd, "\x15\x03\x03\x00\x02\x02\x28", 7) == 7);
}

#define REFUSED "the server refused the TLS handshake: "

static const struct {
	void (*serve)(struct tlspeer *p, int fd);
	int ms;
	const char *text;
	const char *hint;
} others[] = {
	{complains, LONG_MS, "the server does not speak TLS", "redis://"},
	{greets, LONG_MS, "the server does not speak TLS", "redis://"},
	{closes, LONG_MS,
	 "the server closed the connection in the TLS handshake", "redis://"},
	{resets, LONG_MS,
	 "the connection broke in the TLS handshake: Connection reset by peer",
	 "redis://"},
	{is_silent, 100, "no answer to a TLS handshake within 100 ms",
	 "redis://"},
	{begins, 100, "the TLS handshake was not done within 100 ms", ""},
	{refuses_version, LONG_MS, REFUSED "protocol version", "TLS 1.2"},
	{refuses_name, LONG_MS, REFUSED "unrecognized name", "--tls-name"},
	{refuses, LONG_MS, REFUSED "handshake failure", ""},
};

static void no_tls(void)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct tlspeer p = {.serve_plain = others[i].serve};
		struct net_tls tls = {.on = true, .ca = ca_file};
		int64_t begun = clock_ns();
		struct error err;

		try(&p, &tls, others[i].ms, &err);
		CHECK_U64(err.code, ERROR_UNREACHED);
		CHECK_STR(err.text, others[i].text);
		check_text(err.hint, others[i].hint);
		CHECK((err.hint[0] != '\0') == (others[i].hint[0] != '\0'));
		if (others[i].ms < LONG_MS)
			CHECK(clock_ns() - begun >=
			      others[i].ms * INT64_C(1000000));
	}
}

static void old_version(void)
{
	struct tlspeer p = {.cert = &good, .version = TLS1_1_VERSION};
	struct net_tls tls = {.on = true, .ca = ca_file};
	struct error err;

	try(&p, &tls, LONG_MS, &err);
	CHECK_U64(err.code, ERROR_UNREACHED);
	check_text(err.text, "protocol version");
	CHECK_STR(err.hint, "it must speak TLS 1.2 or newer");
}

/* Whoever speaks no TLS to one that does is closed on. */
static void plain_to_tls(void)
{
	struct tlspeer p = {.cert = &good};
	struct error err = ERROR_INIT;
	struct net_stream *s = NULL;

	REQUIRE(tlspeer_start(&p));
	REQUIRE(net_open(&p.to, &plain, LONG_MS, &s, &err) == 0);
	CHECK(write_all(s, "*1\r\n$4\r\nPING\r\n", 14, &err) == 0);
	read_to_end(s, &err);
	check_text(err.hint, "rediss://");
	net_close(s);
	tlspeer_end(&p);
	CHECK(!p.shaken);
}

static void make_files(void)
{
	const char *names = "DNS:localhost,IP:127.0.0.1";

	(void)snprintf(ca_file, sizeof(ca_file), "%s/ca", folder);
	(void)snprintf(client_file, sizeof(client_file), "%s/client", folder);
	(void)snprintf(foreign_file, sizeof(foreign_file), "%s/foreign",
		       folder);
	ca = new_cert("an authority", NULL, NULL, DAY_S);
	other_ca = new_cert("another authority", NULL, NULL, DAY_S);
	good = new_cert("server", names, &ca, DAY_S);
	expired = new_cert("server", names, &ca, -DAY_S);
	early = new_cert("server", names, &ca, 2 * DAY_S);
	CHECK(X509_gmtime_adj(X509_getm_notBefore(early.x509), DAY_S) != NULL);
	CHECK(X509_sign(early.x509, ca.key, EVP_sha256()) > 0);
	wrong = new_cert("server", "DNS:other.example,IP:127.0.0.2", &ca,
			 DAY_S);
	own = new_cert("server", names, NULL, DAY_S);
	client = new_cert("client", "DNS:client", &ca, DAY_S);
	foreign = new_cert("client", "DNS:client", &other_ca, DAY_S);
	write_pem(ca_file, ca.x509, NULL, NULL);
	/* Each with its key in the same file. */
	write_pem(client_file, client.x509, client.key, NULL);
	write_pem(foreign_file, foreign.x509, foreign.key, NULL);
}

static void drop_files(void)
{
	struct cert *certs[] = {&ca,    &other_ca, &good,   &expired, &early,
				&wrong, &own,      &client, &foreign};

	for (size_t i = 0; i < sizeof(certs) / sizeof(certs[0]); i++)
		free_cert(certs[i]);
	(void)unlink(ca_file);
	(void)unlink(client_file);
	(void)unlink(foreign_file);
	(void)rmdir(folder);
}

int main(void)
{
	if (mkdtemp(folder) == NULL)
		return 1;
	make_files();
	UNIT(not_accepted, "tls: why a certificate is not accepted is told");
	UNIT(mismatch_of_name, "tls: so is that it is for another name");
	UNIT(insecure, "tls: any certificate is taken where that is asked for");
	UNIT(client_certificates, "tls: a server that wants ours gets it or "
				  "says so");
	UNIT(alert_on_write, "tls: an alert is told by a write, too");
	UNIT(no_tls, "tls: a server that does not speak TLS is told");
	UNIT(old_version, "tls: 1.2 is the oldest version that is spoken");
	UNIT(plain_to_tls, "tls: so is a server that speaks nothing else");
	drop_files();
	return unit_end();
}
