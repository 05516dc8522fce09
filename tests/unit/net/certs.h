/* SPDX-License-Identifier: BSD-2-Clause
 *
 * certs: certificates for the tests of TLS, made as they run.
 */
#ifndef BLOOMCTL_TESTS_UNIT_NET_CERTS_H
#define BLOOMCTL_TESTS_UNIT_NET_CERTS_H

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "tests/unit/unit.h"

struct cert {
	EVP_PKEY *key;
	X509 *x509;
};

#define DAY_S (24L * 60 * 60)

static inline EVP_PKEY *new_key(void)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
	EVP_PKEY *key = NULL;

	CHECK(ctx != NULL && EVP_PKEY_keygen_init(ctx) == 1 &&
	      EVP_PKEY_CTX_set_ec_paramgen_curve_nid(
		      ctx, NID_X9_62_prime256v1) == 1 &&
	      EVP_PKEY_keygen(ctx, &key) == 1);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

static inline void add_extension(X509 *x509, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;

	X509V3_set_ctx(&ctx, x509, x509, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	CHECK(ext != NULL && X509_add_ext(x509, ext, -1) == 1);
	X509_EXTENSION_free(ext);
}

/*
 * A certificate for names ("DNS:localhost,IP:127.0.0.1"; NULL: of an
 * authority), signed by an issuer (NULL: itself), until so many seconds from
 * now on.
 */
static inline struct cert new_cert(const char *subject, const char *names,
				   const struct cert *issuer, long until)
{
	static long serial;
	struct cert c = {new_key(), X509_new()};
	X509_NAME *name = X509_get_subject_name(c.x509);

	if (issuer == NULL)
		issuer = &c;
	CHECK(X509_set_version(c.x509, 2) == 1);
	CHECK(ASN1_INTEGER_set(X509_get_serialNumber(c.x509), ++serial) == 1);
	CHECK(X509_gmtime_adj(X509_getm_notBefore(c.x509), -2 * DAY_S) != NULL);
	CHECK(X509_gmtime_adj(X509_getm_notAfter(c.x509), until) != NULL);
	CHECK(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
					 (const unsigned char *)subject, -1, -1,
					 0) == 1);
	CHECK(X509_set_issuer_name(c.x509,
				   X509_get_subject_name(issuer->x509)) == 1);
	CHECK(X509_set_pubkey(c.x509, c.key) == 1);
	add_extension(c.x509, NID_basic_constraints,
		      names == NULL ? "critical,CA:TRUE" : "CA:FALSE");
	if (names != NULL)
		add_extension(c.x509, NID_subject_alt_name, names);
	CHECK(X509_sign(c.x509, issuer->key, EVP_sha256()) > 0);
	return c;
}

static inline void free_cert(struct cert *c)
{
	EVP_PKEY_free(c->key);
	X509_free(c->x509);
}

/* Writes what is not NULL as PEM; a key is encrypted by a passphrase. */
static inline void write_pem(const char *path, X509 *x509, EVP_PKEY *key,
			     const char *passphrase)
{
	FILE *out = fopen(path, "w");

	REQUIRE(out != NULL);
	if (x509 != NULL)
		CHECK(PEM_write_X509(out, x509) == 1);
	if (key != NULL)
		CHECK(PEM_write_PrivateKey(
			      out, key,
			      passphrase != NULL ? EVP_aes_128_cbc() : NULL,
			      NULL, 0, NULL, (void *)passphrase) == 1);
	CHECK(fclose(out) == 0);
}

#endif
