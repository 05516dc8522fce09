/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/net/tls.h"

#include <openssl/crypto.h>

#include "lib/base/input.h"
#include "tests/unit/net/tlspeer.h"

static struct cert ca, good;
static char folder[] = "/tmp/bloomctl-unit-XXXXXX";
static char ca_file[64];

static struct net_tls trusting(void)
{
	return (struct net_tls){.on = true, .ca = ca_file};
}

/* A connection to a server that does this, and that is as it should be. */
static struct net_stream *open_good(struct tlspeer *p)
{
	struct net_tls tls = trusting();
	struct error err = ERROR_INIT;
	struct net_stream *s = NULL;

	p->cert = &good;
	if (!tlspeer_start(p))
		return NULL;
	CHECK(net_open(&p->to, &tls, LONG_MS, &s, &err) == 0);
	CHECK_STR(err.text, "");
	return s;
}

static void echo(struct tlspeer *p, SSL *ssl)
{
	char buf[100];
	int n;

	while ((n = SSL_read(ssl, buf, sizeof(buf))) > 0) {
		p->read += (size_t)n;
		CHECK(SSL_write(ssl, buf, n) == n);
	}
	p->sum = (uint64_t)SSL_get_error(ssl, n);
}

static void both_ways(void)
{
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION, 0};

	for (size_t i = 0; i < 3; i++) {
		struct tlspeer p = {.serve = echo, .version = versions[i]};
		struct net_stream *s = open_good(&p);
		struct net_waiting waiting = {.stream = s};
		struct error err = ERROR_INIT;
		char buf[16];
		size_t got = 9;

		REQUIRE(s != NULL);
		CHECK(net_read(s, buf, sizeof(buf), &got, &err) == 0);
		CHECK_U64(got, 0);
		CHECK(net_wait(s, true, LONG_MS, &err) == 1);
		CHECK(write_all(s, "hello, you", 10, &err) == 0);
		CHECK(read_all(s, buf, 3, &err) == 0);
		/* The rest is in OpenSSL's hands, and no poll says so. */
		CHECK(net_wait(s, false, LONG_MS, &err) == 1);
		CHECK(net_wait_any(&waiting, 1, LONG_MS, &err) == 1);
		CHECK(waiting.ready);
		CHECK(net_read(s, buf + 3, 13, &got, &err) == 0);
		CHECK_U64(got, 7);
		CHECK(memcmp(buf, "hello, you", 10) == 0);
		CHECK(net_read(s, buf, 0, &got, &err) == 0 && got == 0);
		/* Tickets may come meanwhile, which are no bytes. */
		CHECK(net_read(s, buf, 1, &got, &err) == 0 && got == 0);
		CHECK(net_wait(s, false, 1, &err) == 0);
		CHECK(net_wait_any(&waiting, 1, 1, &err) == 0);
		CHECK(!waiting.ready);
		net_close(s);
		tlspeer_end(&p);
		/* It was told that this is the end. */
		CHECK_U64(p.sum, SSL_ERROR_ZERO_RETURN);
		CHECK_U64(p.read, 10);
	}
}

/* --- large writes -----------------------------------------------------------
 */

#define MUCH ((size_t)24 << 20)

static uint64_t add_up(uint64_t sum, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + (unsigned char)bytes[i];
	return sum;
}

/* Reads once it is told to, and all of it. */
static void read_much(struct tlspeer *p, SSL *ssl)
{
	static char buf[65536];
	int n;

	/* The full socket of the other side lets it begin. */
	while (input_wait(SSL_get_fd(ssl), LONG_MS,
			  &(struct error)ERROR_INIT) == 1 &&
	       (n = SSL_read(ssl, buf, sizeof(buf))) > 0) {
		p->sum = add_up(p->sum, buf, (size_t)n);
		p->read += (size_t)n;
		while (SSL_pending(ssl) > 0 &&
		       (n = SSL_read(ssl, buf, sizeof(buf))) > 0) {
			p->sum = add_up(p->sum, buf, (size_t)n);
			p->read += (size_t)n;
		}
		if (p->read == MUCH)
			CHECK(SSL_write(ssl, "done", 4) == 4);
	}
}

/* The next bytes in pieces, some of none, others longer than a record. */
static int cut(char *bytes, size_t left, struct iovec *pieces, int max)
{
	static const size_t lens[] = {1, 0, 16384, 5, 16383, 100, 0, 70000};
	int count = 0;

	while (left > 0 && count < max) {
		size_t len = lens[count % 8];

		if (len > left)
			len = left;
		pieces[count++] = (struct iovec){bytes, len};
		bytes += len;
		left -= len;
	}
	return count;
}

static void much(void)
{
	struct tlspeer p = {.serve = read_much};
	struct net_stream *s = open_good(&p);
	struct error err = ERROR_INIT;
	char *bytes = malloc(MUCH);
	struct iovec pieces[24];
	size_t sum = 0, put, waits = 0;
	char done[4];

	REQUIRE(s != NULL && bytes != NULL);
	for (size_t i = 0; i < MUCH; i++)
		bytes[i] = (char)(i * 2654435761u >> 11);
	while (sum < MUCH) {
		int count = cut(bytes + sum, MUCH - sum, pieces, 24);

		REQUIRE(net_write(s, pieces, count, &put, &err) == 0);
		sum += put;
		if (put == 0) {
			waits++;
			REQUIRE(net_wait(s, true, LONG_MS, &err) == 1);
		}
	}
	CHECK(waits > 0);
	CHECK(read_all(s, done, 4, &err) == 0 && memcmp(done, "done", 4) == 0);
	net_close(s);
	tlspeer_end(&p);
	CHECK_U64(p.read, MUCH);
	CHECK(p.sum == add_up(0, bytes, MUCH));
	free(bytes);
}

/* --- ends -------------------------------------------------------------------
 */

static void says_goodbye(struct tlspeer *p, SSL *ssl)
{
	(void)p;
	CHECK(SSL_write(ssl, "bye", 3) == 3);
	(void)SSL_shutdown(ssl);
}

static void just_closes(struct tlspeer *p, SSL *ssl)
{
	(void)p;
	CHECK(SSL_write(ssl, "bye", 3) == 3);
}

static void resets(struct tlspeer *p, SSL *ssl)
{
	const struct linger now = {1, 0};
	int fd = SSL_get_fd(ssl);

	(void)p;
	/* In the midst of a record. */
	CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
	CHECK(write(fd, "\x17\x03\x03\x00\x20....", 9) == 9);
	CHECK(dup2(open("/dev/null", O_RDWR), fd) == fd);
}

static void sends_garbage(struct tlspeer *p, SSL *ssl)
{
	(void)p;
	CHECK(write(SSL_get_fd(ssl), "\x17\x03\x03\x00\x04....", 9) == 9);
}

static void ends(void)
{
	static const struct {
		void (*serve)(struct tlspeer *p, SSL *ssl);
		const char *text;
	} cases[] = {
		{says_goodbye, "the server closed the connection"},
		{just_closes, "the server closed the connection"},
		{resets, "the connection broke: Connection reset by peer"},
		{sends_garbage, "TLS failed: "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tlspeer p = {.serve = cases[i].serve};
		struct net_stream *s = open_good(&p);
		struct error err = ERROR_INIT;
		char buf[3];

		REQUIRE(s != NULL);
		if (i < 2) {
			CHECK(read_all(s, buf, 3, &err) == 0);
			CHECK(memcmp(buf, "bye", 3) == 0);
		}
		CHECK(read_all(s, buf, 1, &err) == -1);
		CHECK_U64(err.code, ERROR_TEMPORARY);
		if (strncmp(err.text, cases[i].text, strlen(cases[i].text)) !=
		    0)
			CHECK_STR(err.text, cases[i].text);
		net_close(s);
		tlspeer_end(&p);
	}
}

/* Nobody reads: what was written breaks the connection, and no signal. */
static void broken(void)
{
	struct tlspeer p = {.serve = resets};
	struct net_stream *s = open_good(&p);
	struct error err = ERROR_INIT;
	struct iovec piece = {(void *)"PING\r\n", 6};
	size_t put;

	REQUIRE(s != NULL);
	while (net_write(s, &piece, 1, &put, &err) == 0)
		;
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK(strncmp(err.text, "the connection broke: ", 22) == 0);
	net_close(s);
	tlspeer_end(&p);
}

/* --- names ------------------------------------------------------------------
 */

static void names(void)
{
	static const struct {
		const char *host, *name, *sni;
	} cases[] = {
		{"127.0.0.1", NULL, ""},
		{"localhost", NULL, "localhost"},
		{"127.0.0.1", "other.example", "other.example"},
		{"127.0.0.1", "other.example.", "other.example"},
		{"localhost", "any.wild.example", "any.wild.example"},
		{"localhost", "::1", ""},
		{"localhost", "fe80::1%eth0", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tlspeer p = {.cert = &good};
		struct net_tls tls = trusting();
		struct error err = ERROR_INIT;
		struct net_stream *s = NULL;

		REQUIRE(tlspeer_start(&p));
		p.to.host = cases[i].host;
		tls.name = cases[i].name;
		CHECK(net_open(&p.to, &tls, LONG_MS, &s, &err) == 0);
		CHECK_STR(err.text, "");
		net_close(s);
		tlspeer_end(&p);
		CHECK_STR(p.sni, cases[i].sni);
	}
}

static void no_name(void)
{
	const struct net_address to = {.path = "/nowhere"};
	struct net_tls tls = {.on = true};
	struct error err = ERROR_INIT;
	struct net_stream *s;
	char many[258];

	CHECK(net_open(&to, &tls, LONG_MS, &s, &err) == -1);
	CHECK_U64(err.code, ERROR_CONFIG);
	CHECK_STR(err.text, "no name to verify the server's certificate by");
	memset(many, 'x', 256);
	many[256] = '\0';
	tls.name = many;
	CHECK(net_open(&to, &tls, LONG_MS, &s, &err) == -1);
	CHECK_U64(err.code, ERROR_CONFIG);
	CHECK_STR(err.text, "a name for TLS has at most 255 bytes");
}

int main(void)
{
	if (mkdtemp(folder) == NULL)
		return 1;
	(void)snprintf(ca_file, sizeof(ca_file), "%s/ca", folder);
	ca = new_cert("an authority", NULL, NULL, DAY_S);
	good = new_cert("server",
			"DNS:localhost,IP:127.0.0.1,IP:::1,IP:fe80::1,"
			"DNS:other.example,DNS:*.wild.example",
			&ca, DAY_S);
	write_pem(ca_file, ca.x509, NULL, NULL);
	UNIT(both_ways, "tls: bytes go both ways over TLS 1.2 and 1.3");
	UNIT(much, "tls: a full socket takes part, and is awaited");
	UNIT(ends, "tls: how a connection ended is told");
	UNIT(broken, "tls: a write to a broken connection is told");
	UNIT(names, "tls: the host or another name is asked for and verified");
	UNIT(no_name, "tls: there must be a name, and not too long a one");
	free_cert(&good);
	free_cert(&ca);
	(void)unlink(ca_file);
	(void)rmdir(folder);
	return unit_end();
}
