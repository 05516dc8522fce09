/* SPDX-License-Identifier: BSD-2-Clause */
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include "lib/net/tls.h"
#include "lib/net/tlsparts.h"

/* RFC 8446, 6 has the numbers; OpenSSL 1.1.1 has no words for this one. */
#define CERTIFICATE_REQUIRED 116

const char *tls_reason(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	return reason != NULL ? reason : "no reason is given";
}

/* --- the server's certificate --------------------------------------------- */

static int not_verified(long result, struct error *err)
{
	(void)error_set(err, ERROR_RIGHTS,
			"the server's certificate is not accepted: %s",
			X509_verify_cert_error_string(result));
	switch (result) {
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return error_hint(err, "--tls-name NAME gives the name that "
				       "stands in the certificate");
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
		return error_hint(err, "--tls-ca FILE gives the certificate "
				       "of the authority that signed it");
	case X509_V_ERR_CERT_HAS_EXPIRED:
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return error_hint(err, "the server needs another one, or this "
				       "machine's clock is wrong");
	default:
		return -1;
	}
}

/* --- alerts ----------------------------------------------------------------
 */

/* The alert among the errors in hand, or -1. */
static int find_alert(void)
{
	unsigned long e;
	int alert = -1;

	while (alert < 0 && (e = ERR_get_error()) != 0)
		if (ERR_GET_LIB(e) == ERR_LIB_SSL &&
		    ERR_GET_REASON(e) > SSL_AD_REASON_OFFSET)
			alert = ERR_GET_REASON(e) - SSL_AD_REASON_OFFSET;
	return alert;
}

/* Whether it is what a server says that does not like our certificate. */
static bool is_about_certificate(int alert, const struct tls_facts *facts)
{
	switch (alert) {
	case SSL_AD_BAD_CERTIFICATE:
	case SSL_AD_UNSUPPORTED_CERTIFICATE:
	case SSL_AD_CERTIFICATE_REVOKED:
	case SSL_AD_CERTIFICATE_EXPIRED:
	case SSL_AD_CERTIFICATE_UNKNOWN:
	case SSL_AD_UNKNOWN_CA:
	case SSL_AD_ACCESS_DENIED:
	case CERTIFICATE_REQUIRED:
		return true;
	case SSL_AD_HANDSHAKE_FAILURE:
		/* How TLS 1.2 says that one is required. */
		return facts->asked;
	default:
		return false;
	}
}

static int refused_certificate(int alert, const struct tls_facts *facts,
			       struct error *err)
{
	if (facts->ours && alert != CERTIFICATE_REQUIRED)
		return error_set(err, ERROR_RIGHTS,
				 "the server does not accept the client's "
				 "certificate: %s",
				 SSL_alert_desc_string_long(alert));
	(void)error_set(err, ERROR_RIGHTS,
			"the server requires a certificate of the client");
	return error_hint(err, "--tls-cert FILE and --tls-key FILE give it");
}

static int refused_handshake(int alert, struct error *err)
{
	(void)error_set(err, ERROR_UNREACHED,
			"the server refused the TLS handshake: %s",
			SSL_alert_desc_string_long(alert));
	if (alert == SSL_AD_PROTOCOL_VERSION)
		return error_hint(err, "it must speak TLS 1.2 or newer");
	if (alert == SSL_AD_UNRECOGNIZED_NAME)
		return error_hint(err, "--tls-name NAME gives the name to ask "
				       "it for");
	return -1;
}

/* --- both ------------------------------------------------------------------
 */

/* Whether a record of TLS begins so. */
static bool is_record(unsigned char first)
{
	return first >= SSL3_RT_CHANGE_CIPHER_SPEC &&
	       first <= SSL3_RT_APPLICATION_DATA;
}

static int broken_handshake(const struct tls_facts *facts, struct error *err)
{
	int errnum = facts->read_errnum != 0 ? facts->read_errnum
					     : facts->write_errnum;

	if (facts->ended)
		(void)error_set(err, ERROR_UNREACHED,
				"the server closed the connection in the TLS "
				"handshake");
	else
		(void)error_errno(err, ERROR_UNREACHED, errnum,
				  "the connection broke in the TLS handshake");
	return facts->heard ? -1 : error_hint(err, "%s", TLS_PLAIN_HINT);
}

int tls_handshake_failed(SSL *ssl, const struct tls_facts *facts,
			 struct error *err)
{
	long result = SSL_get_verify_result(ssl);
	int alert;

	if (facts->verify && result != X509_V_OK)
		return not_verified(result, err);
	if (facts->heard && !is_record(facts->first)) {
		(void)error_set(err, ERROR_UNREACHED,
				"the server does not speak TLS");
		return error_hint(err, "%s", TLS_PLAIN_HINT);
	}
	/* Before the errors are taken from the queue. */
	(void)error_set(err, ERROR_UNREACHED, "TLS handshake failed: %s",
			tls_reason());
	alert = find_alert();
	if (alert >= 0)
		return is_about_certificate(alert, facts)
			       ? refused_certificate(alert, facts, err)
			       : refused_handshake(alert, err);
	if (facts->ended || facts->read_errnum != 0 || facts->write_errnum != 0)
		return broken_handshake(facts, err);
	return -1;
}

int tls_failed(const struct tls_facts *facts, struct error *err)
{
	int alert;

	(void)error_set(err, ERROR_TEMPORARY, "TLS failed: %s", tls_reason());
	alert = find_alert();
	/* The handshake of TLS 1.3 is done before they are looked at. */
	if (alert >= 0)
		return is_about_certificate(alert, facts)
			       ? refused_certificate(alert, facts, err)
			       : error_set(err, ERROR_TEMPORARY,
					   "the server ended TLS: %s",
					   SSL_alert_desc_string_long(alert));
	if (facts->read_errnum != 0)
		return net_broken(facts->read_errnum, err);
	if (facts->write_errnum != 0)
		return net_broken(facts->write_errnum, err);
	return facts->ended ? net_ended(err) : -1;
}
