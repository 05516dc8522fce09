/* SPDX-License-Identifier: BSD-2-Clause
 *
 * tlsparts: what tls.c is made of: the files it is given, and the words for
 * its failures.  For tls*.c alone.
 */
#ifndef BLOOMCTL_NET_TLSPARTS_H
#define BLOOMCTL_NET_TLSPARTS_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/net/stream.h"

/* What OpenSSL does not tell of a connection that failed. */
struct tls_facts {
	bool verify;         /* the server's certificate */
	bool ours;           /* there is a certificate of ours */
	bool asked;          /* for one, and none was given */
	bool heard;          /* anything */
	unsigned char first; /* the byte heard first */
	bool ended;          /* the other side closed */
	int read_errnum;     /* of the socket, 0: none */
	int write_errnum;
};

/* Settings with the files of how; NULL: ERROR_CONFIG or ERROR_INTERNAL. */
SSL_CTX *tls_settings(const struct net_tls *how, struct error *err);

/* What OpenSSL says: its own words for the error in hand. */
const char *tls_reason(void);

/*
 * Says why the handshake, or later a read or a write, failed, by the errors
 * that OpenSSL has in hand.  -1.
 */
int tls_handshake_failed(SSL *ssl, const struct tls_facts *facts,
			 struct error *err);
int tls_failed(const struct tls_facts *facts, struct error *err);

#endif
