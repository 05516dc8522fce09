/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/store/script.h"

/*
 * In which line of a script an error came up, "... on @user_script:12." or
 * "@user_script: 12: ..."; 0 if it does not say.
 */
static unsigned line_of(const struct reply *reply)
{
	static const char mark[] = "user_script:";
	const char *at = reply->type == REPLY_ERROR ? reply->u.text : "";
	unsigned line = 0;

	while ((at = strstr(at, mark)) != NULL) {
		at += strlen(mark);
		at += strspn(at, " ");
		line = (unsigned)strtoul(at, NULL, 10);
	}
	return line;
}

/* The one command that a line of a script calls, "HSET"; false if none. */
static bool called_in(enum script script, unsigned line, char out[16])
{
	static const char call[] = "redis.call('";
	const char *at = script_text(script);
	const char *end;
	const char *name;

	for (; line > 1 && at != NULL; line--) {
		at = strchr(at, '\n');
		at = at != NULL ? at + 1 : NULL;
	}
	name = at != NULL ? strstr(at, call) : NULL;
	end = at != NULL ? strchr(at, '\n') : NULL;
	if (name == NULL || (end != NULL && name > end))
		return false;
	name += strlen(call);
	at = strstr(name, call);
	if (at != NULL && (end == NULL || at < end))
		return false;
	(void)snprintf(out, 16, "%.*s", (int)strcspn(name, "'"), name);
	return true;
}

int script_refused(enum script script, const struct reply *reply,
		   struct error *err, const char *fmt, ...)
{
	unsigned line = line_of(reply);
	struct reply plain = {.type = REPLY_ERROR};
	char what[256];
	char text[80];
	char name[16];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	(void)reply_refused(reply, err, "%s", what);
	/* Most servers say that a command is refused, and not which. */
	if ((err->code != ERROR_RIGHTS && err->code != ERROR_ENGINE) ||
	    strstr(err->text, "access") != NULL || line == 0 ||
	    !called_in(script, line, name))
		return -1;
	(void)snprintf(text, sizeof(text),
		       err->code == ERROR_RIGHTS
			       ? "NOPERM this user may not call '%s'"
			       : "ERR unknown command '%s'",
		       name);
	plain.u.text = text;
	plain.len = strlen(text);
	return reply_refused(&plain, err, "%s", what);
}
