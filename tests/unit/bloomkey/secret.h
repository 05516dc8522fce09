/* SPDX-License-Identifier: BSD-2-Clause
 *
 * secret: a bloomkey_secret for the tests, that remembers what it was asked.
 */
#ifndef BLOOMCTL_TESTS_UNIT_BLOOMKEY_SECRET_H
#define BLOOMCTL_TESTS_UNIT_BLOOMKEY_SECRET_H

#include <errno.h>

#include "tests/unit/bloomkey/keyspec.h"

struct vault {
	const void *data; /* NULL: -1 with code in errno */
	size_t len;
	int code;
	/* of the last call */
	unsigned calls;
	int place;
	char name[600];
	size_t cap;
	void *out;
};

static inline int serve(void *ctx, int place, const char *name, void *out,
			size_t cap)
{
	struct vault *vault = ctx;
	const size_t len = vault->len < cap ? vault->len : cap;

	vault->calls++;
	vault->place = place;
	(void)snprintf(vault->name, sizeof(vault->name), "%s", name);
	vault->cap = cap;
	vault->out = out;
	if (vault->len > 0 && vault->data != NULL)
		memcpy(out, vault->data, len);
	errno = vault->code;
	return vault->data != NULL ? (int)len : -1;
}

/* Room for the text of a keyspec with a secret. */
#define SECRET_TEXT 1024

/* Line 8 is the list, line 9 the secret. */
static inline size_t secret_text(char *text, const char *secret)
{
	return (size_t)snprintf(text, SECRET_TEXT,
				BASE "[field id]\ntransform = hmac-sha256\n"
				     "secret = %s\n",
				secret);
}

static inline struct outcome parse_secret(const char *secret,
					  struct vault *vault)
{
	struct outcome o = {.err = {77, "untouched"}};
	char text[SECRET_TEXT];

	o.code = bloomkey_parse(text, secret_text(text, secret), serve, vault,
				&o.spec, &o.err);
	return o;
}

#endif
