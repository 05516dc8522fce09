/* SPDX-License-Identifier: BSD-2-Clause
 *
 * tlspeer: a TLS server for one connection, in a thread of its own.
 */
#ifndef BLOOMCTL_TESTS_UNIT_NET_TLSPEER_H
#define BLOOMCTL_TESTS_UNIT_NET_TLSPEER_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>

#include "tests/unit/net/certs.h"
#include "tests/unit/net/peer.h"

/* What a server does with a connection, and how it speaks TLS. */
struct tlspeer {
	void (*serve)(struct tlspeer *p, SSL *ssl);
	void (*serve_plain)(struct tlspeer *p, int fd); /* instead of TLS */
	const struct cert *cert;
	const struct cert *client_ca; /* requires one that it signed */
	int version;                  /* the only one; 0: any */
	struct net_address to;
	int listener;
	pthread_t thread;
	bool shaken;  /* the handshake came to its end */
	char sni[64]; /* the name it was asked for */
	uint64_t sum; /* of what serve() read */
	size_t read;
};

static inline SSL_CTX *tlspeer_settings(const struct tlspeer *p)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	SSL_CTX_use_certificate(ctx, p->cert->x509);
	SSL_CTX_use_PrivateKey(ctx, p->cert->key);
	if (p->version != 0) {
		SSL_CTX_set_security_level(ctx, 0);
		SSL_CTX_set_min_proto_version(ctx, p->version);
		SSL_CTX_set_max_proto_version(ctx, p->version);
	}
	if (p->client_ca != NULL) {
		X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx),
				    p->client_ca->x509);
		SSL_CTX_set_verify(
			ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
			NULL);
	}
	return ctx;
}

static inline void tlspeer_speak(struct tlspeer *p, int fd)
{
	SSL_CTX *ctx = tlspeer_settings(p);
	SSL *ssl = SSL_new(ctx);
	const char *sni;

	SSL_set_fd(ssl, fd);
	p->shaken = SSL_accept(ssl) == 1;
	sni = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	(void)snprintf(p->sni, sizeof(p->sni), "%s", sni != NULL ? sni : "");
	if (p->shaken && p->serve != NULL)
		p->serve(p, ssl);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
}

static inline void *tlspeer_run(void *arg)
{
	struct tlspeer *p = arg;
	int fd = accept(p->listener, NULL, NULL);
	sigset_t pipe;
	char byte;

	/* OpenSSL's sockets raise it, and ours may not. */
	(void)sigemptyset(&pipe);
	(void)sigaddset(&pipe, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe, NULL);
	if (p->serve_plain != NULL)
		p->serve_plain(p, fd);
	else
		tlspeer_speak(p, fd);
	/* What is unread would make the end a reset. */
	(void)shutdown(fd, SHUT_WR);
	while (recv(fd, &byte, 1, 0) > 0)
		;
	(void)close(fd);
	return NULL;
}

static inline bool tlspeer_start(struct tlspeer *p)
{
	p->listener = listen_at("127.0.0.1", 1, &p->to);
	return p->listener >= 0 &&
	       pthread_create(&p->thread, NULL, tlspeer_run, p) == 0;
}

static inline void tlspeer_end(struct tlspeer *p)
{
	CHECK(pthread_join(p->thread, NULL) == 0);
	(void)close(p->listener);
}

#endif
