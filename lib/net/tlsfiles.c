/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/net/tlsparts.h"

/* OpenSSL would wait at a FIFO, and does not say which file is missing. */
static int check_file(const char *path, struct error *err)
{
	struct stat st;
	int rc = 0;
	int fd = file_openat(AT_FDCWD, path,
			     O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);

	if (fd < 0)
		return error_errno(err, ERROR_CONFIG, errno, "file '%s'", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		rc = error_set(err, ERROR_CONFIG,
			       "file '%s': not a regular file", path);
	(void)close(fd);
	return rc;
}

static int load_roots(SSL_CTX *ctx, const char *ca, struct error *err)
{
	if (ca == NULL) {
		if (SSL_CTX_set_default_verify_paths(ctx) == 1)
			return 0;
		return error_set(err, ERROR_CONFIG,
				 "the system's certificates cannot be read: %s",
				 tls_reason());
	}
	if (check_file(ca, err) != 0)
		return -1;
	if (SSL_CTX_load_verify_locations(ctx, ca, NULL) == 1)
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "file '%s': no certificate of an authority can be "
			 "read from it: %s",
			 ca, tls_reason());
}

/* OpenSSL would ask at the terminal. */
static int refuse_passphrase(char *buf, int size, int writing, void *ctx)
{
	(void)buf;
	(void)size;
	(void)writing;
	*(bool *)ctx = true;
	return -1;
}

static int load_key(SSL_CTX *ctx, const char *cert, const char *key,
		    struct error *err)
{
	const char *path = key != NULL ? key : cert;
	bool locked = false;
	bool loaded;

	SSL_CTX_set_default_passwd_cb(ctx, refuse_passphrase);
	SSL_CTX_set_default_passwd_cb_userdata(ctx, &locked);
	loaded = SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM) == 1;
	SSL_CTX_set_default_passwd_cb_userdata(ctx, NULL);
	SSL_CTX_set_default_passwd_cb(ctx, NULL);
	if (loaded && SSL_CTX_check_private_key(ctx) == 1)
		return 0;
	if (locked) {
		(void)error_set(err, ERROR_CONFIG,
				"file '%s': its key has a passphrase", path);
		return error_hint(err, "give it one without, in a file that "
				       "nobody else can read");
	}
	/* Which of the two calls finds it depends on OpenSSL's version. */
	if (loaded || ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_X509)
		return error_set(err, ERROR_CONFIG,
				 "file '%s': its key does not belong to the "
				 "certificate of file '%s'",
				 path, cert);
	(void)error_set(err, ERROR_CONFIG,
			"file '%s': no private key can be read from it: %s",
			path, tls_reason());
	return key != NULL ? -1
			   : error_hint(err, "--tls-key FILE says where the "
					     "key of --tls-cert is");
}

static int load_client(SSL_CTX *ctx, const struct net_tls *how,
		       struct error *err)
{
	if (how->cert == NULL && how->key != NULL)
		return error_set(err, ERROR_CONFIG,
				 "file '%s': a key without a certificate",
				 how->key);
	if (how->cert == NULL)
		return 0;
	if (check_file(how->cert, err) != 0 ||
	    (how->key != NULL && check_file(how->key, err) != 0))
		return -1;
	if (SSL_CTX_use_certificate_chain_file(ctx, how->cert) != 1)
		return error_set(err, ERROR_CONFIG,
				 "file '%s': no certificate can be read from "
				 "it: %s",
				 how->cert, tls_reason());
	return load_key(ctx, how->cert, how->key, err);
}

SSL_CTX *tls_settings(const struct net_tls *how, struct error *err)
{
	SSL_CTX *ctx;
	int rc = 0;

	ERR_clear_error();
	ctx = SSL_CTX_new(TLS_client_method());
	if (ctx == NULL ||
	    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1) {
		(void)error_set(err, ERROR_INTERNAL, "TLS cannot be set up: %s",
				tls_reason());
		SSL_CTX_free(ctx);
		return NULL;
	}
	(void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION |
					       SSL_OP_NO_COMPRESSION);
	(void)SSL_CTX_set_mode(ctx,
			       SSL_MODE_ENABLE_PARTIAL_WRITE |
				       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_verify(
		ctx, how->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	if (!how->insecure || how->ca != NULL)
		rc = load_roots(ctx, how->ca, err);
	if (rc == 0)
		rc = load_client(ctx, how, err);
	ERR_clear_error();
	if (rc == 0)
		return ctx;
	SSL_CTX_free(ctx);
	return NULL;
}
