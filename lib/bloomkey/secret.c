/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* What the check value is the HMAC of. */
#define CHECK_TEXT "bloomkey check 1"

static bool is_variable(struct bk_slice name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      c == '_' || (i > 0 && c >= '0' && c <= '9')))
			return false;
	}
	return name.len > 0;
}

/*
 * The value is not shown: who puts the secret itself there would find it in
 * the log.
 */
int bk_secret_compile(struct bk_slice value, struct bk_secret *secret,
		      unsigned line, struct bloomkey_error *err)
{
	secret->form = BK_SECRET_RAW;
	if (bk_slice_take(&value, "hex:"))
		secret->form = BK_SECRET_HEX;
	else if (bk_slice_take(&value, "base64:"))
		secret->form = BK_SECRET_BASE64;
	if (bk_slice_take(&value, "env:")) {
		secret->place = BLOOMKEY_PLACE_ENV;
		if (!is_variable(value))
			return bk_error(err, line,
					"secret: what follows 'env:' is not "
					"the name of a variable");
	} else if (bk_slice_take(&value, "file:")) {
		secret->place = BLOOMKEY_PLACE_FILE;
		if (value.len == 0)
			return bk_error(err, line,
					"secret: nothing follows 'file:'");
	} else {
		return bk_error(err, line,
				"secret: the value is not env:NAME or "
				"file:PATH, with hex: or base64: before it "
				"where wanted");
	}
	secret->name = value.data;
	return BLOOMKEY_OK;
}

/* All that ever holds a secret while it is read. */
struct room {
	unsigned char content[BLOOMKEY_SECRET_MAX + 1];
	unsigned char decoded[BLOOMKEY_SECRET_MAX + 1];
	/* EVP_EncodeBlock() writes four bytes for three, and a NUL. */
	unsigned char again[BLOOMKEY_SECRET_MAX + 8];
	size_t len; /* of content, then of decoded */
};

static int refuse(const struct bk_parser *p, const struct bk_section *s,
		  const char *why)
{
	const struct bk_slice name = {s->secret.name, strlen(s->secret.name)};

	(void)bk_error(p->err, s->lines[BK_FIELD_OPTION_SECRET],
		       "secret: %s%s %s",
		       s->secret.place == BLOOMKEY_PLACE_ENV ? "env:" : "file:",
		       bk_escape(name).text, why);
	return BLOOMKEY_ESECRET;
}

static int fetch(const struct bk_parser *p, const struct bk_section *s,
		 struct room *room)
{
	static const char foreign[] = "is not read by this program";
	char why[128] = "cannot be read";
	int n, code;

	if (p->secret == NULL)
		return refuse(p, s, foreign);
	errno = 0;
	n = p->secret(p->secret_ctx, (int)s->secret.place, s->secret.name,
		      room->content, sizeof(room->content));
	code = errno;
	if (n > BLOOMKEY_SECRET_MAX)
		return refuse(p, s, "has more than 65,536 bytes");
	if (n >= 0) {
		room->len = (size_t)n;
		return BLOOMKEY_OK;
	}
	if (code == ENOENT && s->secret.place == BLOOMKEY_PLACE_ENV)
		return refuse(p, s, "is not set");
	if (code == ENOTSUP)
		return refuse(p, s,
			      s->secret.place == BLOOMKEY_PLACE_ENV
				      ? foreign
				      : "is not a regular file");
	if (code == ENOMEM)
		return BLOOMKEY_ENOMEM;
	if (code != 0) {
		static const char text[] = "cannot be read: ";

		memcpy(why, text, sizeof(text));
		(void)strerror_r(code, why + sizeof(text) - 1,
				 sizeof(why) - sizeof(text) + 1);
	}
	return refuse(p, s, why);
}

static void drop_newline(struct room *room)
{
	if (room->len > 0 && room->content[room->len - 1] == '\n') {
		room->len--;
		if (room->len > 0 && room->content[room->len - 1] == '\r')
			room->len--;
	}
}

static bool decode_hex(struct room *room)
{
	if (room->len % 2 != 0)
		return false;
	for (size_t i = 0; i < room->len; i += 2) {
		int high = OPENSSL_hexchar2int(room->content[i]);
		int low = OPENSSL_hexchar2int(room->content[i + 1]);

		if (high < 0 || low < 0)
			return false;
		room->decoded[i / 2] = (unsigned char)(high << 4 | low);
	}
	room->len /= 2;
	return true;
}

/* OpenSSL's decoder is lax; the way back shows whether it had to be. */
static bool decode_base64(struct room *room)
{
	const unsigned char *content = room->content;
	size_t len = room->len;
	int n = EVP_DecodeBlock(room->decoded, content, (int)len);

	if (len % 4 != 0 || n < 0)
		return false;
	/* It counts what stands for padding. */
	for (size_t i = len; i > 0 && i > len - 2 && content[i - 1] == '='; i--)
		n--;
	if (n < 0 ||
	    (size_t)EVP_EncodeBlock(room->again, room->decoded, n) != len)
		return false;
	room->len = (size_t)n;
	return memcmp(room->again, content, len) == 0;
}

static int decode(const struct bk_parser *p, const struct bk_section *s,
		  struct room *room)
{
	drop_newline(room);
	switch (s->secret.form) {
	case BK_SECRET_RAW:
		memcpy(room->decoded, room->content, room->len);
		break;
	case BK_SECRET_HEX:
		if (!decode_hex(room))
			return refuse(p, s,
				      "is not an even number of hexadecimal "
				      "digits");
		break;
	case BK_SECRET_BASE64:
		if (!decode_base64(room))
			return refuse(p, s, "is not base64 with padding");
		break;
	}
	if (room->len < BK_SECRET_MIN)
		return refuse(p, s, "is a secret of fewer than 16 bytes");
	return BLOOMKEY_OK;
}

static int keep(struct bk_field *field, const struct room *room)
{
	char mac[BK_SHA256_HEX];

	field->hmac = bk_hmac_new(room->decoded, room->len);
	if (field->hmac == NULL)
		return BLOOMKEY_ENOMEM;
	bk_hmac(field->hmac, CHECK_TEXT, strlen(CHECK_TEXT), mac);
	memcpy(field->check, mac, BLOOMKEY_CHECK_LEN);
	field->check[BLOOMKEY_CHECK_LEN] = '\0';
	return BLOOMKEY_OK;
}

int bk_secret_get(const struct bk_parser *p, const struct bk_section *section,
		  struct bk_field *field)
{
	struct room *room = calloc(1, sizeof(*room));
	int rc;

	if (room == NULL)
		return BLOOMKEY_ENOMEM;
	rc = fetch(p, section, room);
	if (rc == BLOOMKEY_OK)
		rc = decode(p, section, room);
	if (rc == BLOOMKEY_OK)
		rc = keep(field, room);
	OPENSSL_cleanse(room, sizeof(*room));
	free(room);
	return rc;
}
