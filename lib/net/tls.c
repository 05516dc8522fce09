/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/net/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/tlsparts.h"

/* What a record holds at most. */
#define RECORD_MAX 16384

/* The longest name that can be asked for. */
#define ASKED_MAX 255

struct tls {
	SSL_CTX *ctx;
	SSL *ssl;
	BIO_METHOD *method;
	int fd; /* borrowed */
	struct tls_facts facts;
	bool read_wants_write;
	bool write_wants_read;
	bool up;      /* the handshake is done, and nothing failed */
	bool address; /* name is one */
	char name[ASKED_MAX + 1]; /* to ask for and to verify; "": none */
	unsigned char record[RECORD_MAX]; /* pieces brought together */
};

/* --- the socket ------------------------------------------------------------
 */

/*
 * OpenSSL's own would raise SIGPIPE, and forget how the socket failed and what
 * an answer that is no TLS began with.
 */
static int sock_read(BIO *bio, char *buf, int len)
{
	struct tls *t = BIO_get_data(bio);
	ssize_t n;

	BIO_clear_retry_flags(bio);
	do {
		n = recv(t->fd, buf, len > 0 ? (size_t)len : 0, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		BIO_set_retry_read(bio);
	else if (n < 0)
		t->facts.read_errnum = errno;
	else if (n == 0)
		t->facts.ended = true;
	else if (!t->facts.heard) {
		t->facts.heard = true;
		t->facts.first = (unsigned char)buf[0];
	}
	return (int)n;
}

/*
 * A socket that is broken lets OpenSSL wait: an alert that came before may
 * still be read.
 */
static int sock_write(BIO *bio, const char *buf, int len)
{
	struct tls *t = BIO_get_data(bio);
	ssize_t n;

	BIO_clear_retry_flags(bio);
	do {
		n = send(t->fd, buf, len > 0 ? (size_t)len : 0, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		return (int)n;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		t->facts.write_errnum = errno;
	BIO_set_retry_write(bio);
	return -1;
}

static long sock_ctrl(BIO *bio, int what, long number, void *data)
{
	const struct tls *t = BIO_get_data(bio);

	(void)number;
	(void)data;
	if (what == BIO_CTRL_FLUSH)
		return 1;
	return what == BIO_CTRL_EOF && t->facts.ended;
}

static BIO *new_socket(struct tls *t)
{
	BIO *bio;

	t->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket");
	if (t->method == NULL || BIO_meth_set_read(t->method, sock_read) != 1 ||
	    BIO_meth_set_write(t->method, sock_write) != 1 ||
	    BIO_meth_set_ctrl(t->method, sock_ctrl) != 1)
		return NULL;
	bio = BIO_new(t->method);
	if (bio == NULL)
		return NULL;
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	return bio;
}

/* --- making one ------------------------------------------------------------
 */

/* A certificate holds no zone of an address and no last dot of a name. */
static int set_name(struct tls *t, const char *name, struct error *err)
{
	unsigned char bytes[16];
	size_t len =
		strchr(name, ':') != NULL ? strcspn(name, "%") : strlen(name);

	if (len > 1 && name[len - 1] == '.')
		len--;
	if (len > ASKED_MAX)
		return error_set(err, ERROR_CONFIG,
				 "a name for TLS has at most %d bytes",
				 ASKED_MAX);
	memcpy(t->name, name, len);
	t->name[len] = '\0';
	t->address = inet_pton(AF_INET, t->name, bytes) == 1 ||
		     inet_pton(AF_INET6, t->name, bytes) == 1;
	return 0;
}

/* Called where the server wants a certificate and none was given. */
static int no_certificate(SSL *ssl, X509 **cert, EVP_PKEY **key)
{
	struct tls *t = SSL_get_app_data(ssl);

	(void)cert;
	(void)key;
	t->facts.asked = true;
	return 0;
}

int tls_new(const struct net_tls *how, const char *host, struct tls **out,
	    struct error *err)
{
	const char *name = how->name != NULL ? how->name : host;
	struct tls *t = calloc(1, sizeof(*t));

	*out = NULL;
	if (t == NULL)
		return error_nomem(err);
	t->fd = -1;
	t->facts.verify = !how->insecure;
	t->facts.ours = how->cert != NULL;
	if (set_name(t, name != NULL ? name : "", err) == 0)
		t->ctx = tls_settings(how, err);
	if (t->ctx != NULL && t->facts.verify && t->name[0] == '\0') {
		(void)error_set(err, ERROR_CONFIG,
				"no name to verify the server's certificate "
				"by");
	} else if (t->ctx != NULL) {
		SSL_CTX_set_client_cert_cb(t->ctx, no_certificate);
		*out = t;
		return 0;
	}
	tls_free(t);
	return -1;
}

void tls_free(struct tls *t)
{
	if (t == NULL)
		return;
	if (t->up)
		(void)SSL_shutdown(t->ssl);
	SSL_free(t->ssl);
	BIO_meth_free(t->method);
	SSL_CTX_free(t->ctx);
	ERR_clear_error();
	OPENSSL_cleanse(t->record, sizeof(t->record));
	free(t);
}

static bool ask_for_name(struct tls *t)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(t->ssl);

	if (t->name[0] == '\0')
		return true;
	if (t->address)
		return X509_VERIFY_PARAM_set1_ip_asc(param, t->name) == 1;
	X509_VERIFY_PARAM_set_hostflags(param,
					X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return X509_VERIFY_PARAM_set1_host(param, t->name, 0) == 1 &&
	       SSL_set_tlsext_host_name(t->ssl, t->name) == 1;
}

int tls_start(struct tls *t, int fd, struct error *err)
{
	BIO *bio;

	ERR_clear_error();
	t->fd = fd;
	t->ssl = SSL_new(t->ctx);
	bio = t->ssl != NULL ? new_socket(t) : NULL;
	if (bio != NULL)
		SSL_set_bio(t->ssl, bio, bio);
	if (bio == NULL || SSL_set_app_data(t->ssl, t) != 1 || !ask_for_name(t))
		return error_set(err, ERROR_INTERNAL,
				 "TLS cannot be set up: %s", tls_reason());
	SSL_set_connect_state(t->ssl);
	return 0;
}

int tls_handshake(struct tls *t, struct error *err)
{
	int rc;

	ERR_clear_error();
	rc = SSL_do_handshake(t->ssl);
	if (rc == 1) {
		t->up = true;
		t->read_wants_write = false;
		return 1;
	}
	rc = SSL_get_error(t->ssl, rc);
	t->read_wants_write = rc == SSL_ERROR_WANT_WRITE;
	if (rc == SSL_ERROR_WANT_READ ||
	    (rc == SSL_ERROR_WANT_WRITE && t->facts.write_errnum == 0))
		return 0;
	return tls_handshake_failed(t->ssl, &t->facts, err);
}

bool tls_heard(const struct tls *t)
{
	return t->facts.heard;
}

/* --- bytes ------------------------------------------------------------------
 */

static int fail(struct tls *t, struct error *err)
{
	t->up = false;
	return tls_failed(&t->facts, err);
}

int tls_read(struct tls *t, void *buf, size_t cap, size_t *got,
	     struct error *err)
{
	int rc;

	*got = 0;
	ERR_clear_error();
	t->read_wants_write = false;
	if (SSL_read_ex(t->ssl, buf, cap, got) == 1)
		return 0;
	*got = 0;
	rc = SSL_get_error(t->ssl, 0);
	if (rc == SSL_ERROR_ZERO_RETURN)
		return net_ended(err);
	t->read_wants_write = rc == SSL_ERROR_WANT_WRITE;
	if (rc == SSL_ERROR_WANT_READ ||
	    (rc == SSL_ERROR_WANT_WRITE && t->facts.write_errnum == 0))
		return 0;
	return fail(t, err);
}

/* A write failed: unless there is something to read first, that is the end. */
static int read_first(struct tls *t, struct error *err)
{
	char byte;
	size_t n;

	ERR_clear_error();
	return SSL_peek_ex(t->ssl, &byte, 1, &n) == 1 ? 0 : fail(t, err);
}

/* Where among the pieces a write is. */
struct cursor {
	const struct iovec *pieces;
	int left; /* pieces, with the one at hand */
	size_t at;
};

/* The next bytes, without going on; how many. */
static size_t gather(const struct cursor *c, unsigned char out[RECORD_MAX])
{
	size_t at = c->at;
	size_t len = 0;

	for (int i = 0; i < c->left && len < RECORD_MAX; i++) {
		size_t n = c->pieces[i].iov_len - at;

		if (n > RECORD_MAX - len)
			n = RECORD_MAX - len;
		if (n > 0)
			memcpy(out + len,
			       (const char *)c->pieces[i].iov_base + at, n);
		len += n;
		at = 0;
	}
	return len;
}

static void go_on(struct cursor *c, size_t len)
{
	while (len > 0) {
		size_t n = c->pieces->iov_len - c->at;

		if (len < n) {
			c->at += len;
			return;
		}
		len -= n;
		c->pieces++;
		c->left--;
		c->at = 0;
	}
}

int tls_write(struct tls *t, const struct iovec *pieces, int count, size_t *put,
	      struct error *err)
{
	struct cursor c = {pieces, count, 0};
	size_t len;
	size_t went;
	int rc;

	*put = 0;
	t->write_wants_read = false;
	while ((len = gather(&c, t->record)) > 0) {
		ERR_clear_error();
		if (SSL_write_ex(t->ssl, t->record, len, &went) == 1) {
			*put += went;
			go_on(&c, went);
			continue;
		}
		rc = SSL_get_error(t->ssl, 0);
		t->write_wants_read = rc == SSL_ERROR_WANT_READ;
		if (rc == SSL_ERROR_WANT_WRITE && t->facts.write_errnum != 0)
			return read_first(t, err);
		if (rc == SSL_ERROR_WANT_WRITE || rc == SSL_ERROR_WANT_READ)
			return 0;
		return fail(t, err);
	}
	return 0;
}

bool tls_pending(const struct tls *t)
{
	return SSL_pending(t->ssl) > 0;
}

short tls_events(const struct tls *t, bool write)
{
	int events = t->read_wants_write ? POLLOUT : POLLIN;

	if (write)
		events |= t->write_wants_read ? POLLIN : POLLOUT;
	return (short)events;
}
