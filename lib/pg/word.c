/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Words that libpq reads, without connecting.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/pg/session.h"

static const char keyword_letters[] = "abcdefghijklmnopqrstuvwxyz_";

bool session_is_word(const char *word)
{
	static const char *const schemes[] = {"postgresql://", "postgres://"};
	size_t len;

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncmp(word, schemes[i], strlen(schemes[i])) == 0)
			return true;
	word += strspn(word, " ");
	len = strspn(word, keyword_letters);
	return len > 0 && word[len + strspn(word + len, " ")] == '=';
}

/* libpq's own message may show a part of a password. */
static int unreadable(const char *message, struct error *err)
{
	static const char unknown[] = "invalid connection option \"";
	const char *name;
	size_t len;

	if (message != NULL &&
	    strncmp(message, unknown, strlen(unknown)) == 0) {
		name = message + strlen(unknown);
		len = strspn(name, keyword_letters);
		if (len > 0 && name[len] == '"' && len < 64)
			return error_set(err, ERROR_USAGE,
					 "source: libpq has no connection "
					 "option '%.*s'",
					 (int)len, name);
	}
	(void)error_set(err, ERROR_USAGE,
			"source: libpq cannot read it as a connection string");
	return error_hint(err, "as postgresql://USER@HOST:PORT/DATABASE, with "
			       "special characters as %%XX, or "
			       "\"host=HOST dbname=DATABASE user=USER\"");
}

static PQconninfoOption *parse(const char *word, struct error *err)
{
	char *message = NULL;
	PQconninfoOption *list = PQconninfoParse(word, &message);

	if (list == NULL && message == NULL)
		(void)error_nomem(err);
	else if (list == NULL)
		(void)unreadable(message, err);
	PQfreemem(message);
	return list;
}

int session_check_word(const char *word, bool *password, struct error *err)
{
	PQconninfoOption *list = parse(word, err);

	*password = false;
	if (list == NULL)
		return -1;
	for (const PQconninfoOption *o = list; o->keyword != NULL; o++)
		if (o->val != NULL && (strcmp(o->keyword, "password") == 0 ||
				       strcmp(o->keyword, "sslpassword") == 0))
			*password = true;
	PQconninfoFree(list);
	return 0;
}

int session_label(const char *word, char **out, struct error *err)
{
	static const char *const shown[] = {"service", "host",   "hostaddr",
					    "port",    "dbname", "user"};
	PQconninfoOption *list = parse(word, err);
	struct buf text;
	int bad;

	*out = NULL;
	if (list == NULL)
		return -1;
	buf_init(&text, 64u << 10);
	bad = buf_adds(&text, "postgresql:");
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		for (const PQconninfoOption *o = list; o->keyword != NULL; o++)
			if (o->val != NULL && strcmp(o->keyword, shown[i]) == 0)
				bad |= buf_addf(&text, " %s=%s", o->keyword,
						o->val);
	PQconninfoFree(list);
	if (bad == 0)
		*out = buf_string(&text);
	if (*out != NULL)
		return 0;
	buf_release(&text);
	return error_nomem(err);
}
