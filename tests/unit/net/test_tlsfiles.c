/* SPDX-License-Identifier: BSD-2-Clause */
#include <openssl/crypto.h>
#include <sys/stat.h>

#include "lib/net/stream.h"
#include "tests/unit/net/certs.h"

static char folder[] = "/tmp/bloomctl-unit-XXXXXX";

enum file { CERT, KEY, BOTH, LOCKED, OTHER, TEXT, PIPE, MISSING, FILES };
static char files[FILES][64];

static void check(const struct net_tls *tls, const char *text, const char *hint)
{
	/* Whatever is wrong is told before anybody is called. */
	const struct net_address to = {.path = "/no/such/socket"};
	struct error err = ERROR_INIT;
	struct net_stream *s;
	char all[256];
	enum file f;

	CHECK(net_open(&to, tls, 1000, &s, &err) == -1);
	CHECK(s == NULL);
	if (text == NULL) {
		CHECK_U64(err.code, ERROR_UNREACHED);
		CHECK_STR(err.text,
			  "cannot connect: No such file or directory");
		return;
	}
	CHECK_U64(err.code, ERROR_CONFIG);
	/* A digit behind '%' stands for a file. */
	all[0] = '\0';
	for (size_t n = 0; *text != '\0'; text++) {
		if (*text != '%') {
			all[n++] = *text;
			all[n] = '\0';
			continue;
		}
		f = (enum file)(*++text - '0');
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s", files[f]);
	}
	if (strncmp(err.text, all, strlen(all)) != 0)
		CHECK_STR(err.text, all);
	CHECK(strstr(err.hint, hint) != NULL);
}

static void bad_files(void)
{
	static const struct {
		int ca, cert, key; /* -1: none */
		const char *text, *hint;
	} cases[] = {
		{CERT, CERT, KEY, NULL, ""},
		{-1, BOTH, -1, NULL, ""},
		{-1, CERT, BOTH, NULL, ""},
		{MISSING, -1, -1, "file '%7': No such file or directory", ""},
		{PIPE, -1, -1, "file '%6': not a regular file", ""},
		{TEXT, -1, -1,
		 "file '%5': no certificate of an authority can be read from "
		 "it: ",
		 ""},
		{-1, MISSING, -1, "file '%7': No such file or directory", ""},
		{-1, CERT, MISSING, "file '%7': No such file or directory", ""},
		{-1, PIPE, -1, "file '%6': not a regular file", ""},
		{-1, CERT, PIPE, "file '%6': not a regular file", ""},
		{-1, TEXT, -1,
		 "file '%5': no certificate can be read from it: ", ""},
		{-1, CERT, TEXT,
		 "file '%5': no private key can be read from it: ", ""},
		{-1, CERT, -1,
		 "file '%0': no private key can be read from it: ",
		 "--tls-key"},
		{-1, CERT, OTHER,
		 "file '%4': its key does not belong to the certificate of "
		 "file '%0'",
		 ""},
		{-1, CERT, LOCKED, "file '%3': its key has a passphrase",
		 "without"},
		{-1, -1, KEY, "file '%1': a key without a certificate", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct net_tls tls = {.on = true, .name = "server"};

		tls.ca = cases[i].ca >= 0 ? files[cases[i].ca] : NULL;
		tls.cert = cases[i].cert >= 0 ? files[cases[i].cert] : NULL;
		tls.key = cases[i].key >= 0 ? files[cases[i].key] : NULL;
		check(&tls, cases[i].text, cases[i].hint);
		/* A file that is named is looked at, whatever is verified. */
		tls.insecure = true;
		check(&tls, cases[i].text, cases[i].hint);
	}
}

int main(void)
{
	static const char *const names[] = {"cert",  "key",  "both", "locked",
					    "other", "text", "pipe", "missing"};
	struct cert c, other;
	FILE *text;

	if (mkdtemp(folder) == NULL)
		return 1;
	for (int i = 0; i < FILES; i++)
		(void)snprintf(files[i], sizeof(files[i]), "%s/%s", folder,
			       names[i]);
	c = new_cert("server", NULL, NULL, DAY_S);
	other = new_cert("server", NULL, NULL, DAY_S);
	write_pem(files[CERT], c.x509, NULL, NULL);
	write_pem(files[KEY], NULL, c.key, NULL);
	write_pem(files[BOTH], c.x509, c.key, NULL);
	write_pem(files[LOCKED], NULL, c.key, "secret");
	write_pem(files[OTHER], NULL, other.key, NULL);
	text = fopen(files[TEXT], "w");
	if (text == NULL || fputs("no PEM\n", text) < 0 || fclose(text) != 0 ||
	    mkfifo(files[PIPE], 0600) != 0)
		return 1;
	UNIT(bad_files, "tls: what is wrong with a file is told, and which");
	free_cert(&c);
	free_cert(&other);
	for (int i = 0; i < MISSING; i++)
		(void)unlink(files[i]);
	(void)rmdir(folder);
	return unit_end();
}
