/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/redis/reply.h"

/* How much of a server's text goes into a message. */
#define TEXT_MAX 200

static bool has_text(const struct reply *reply)
{
	return reply->type == REPLY_STATUS || reply->type == REPLY_BULK;
}

bool reply_is(const struct reply *reply, const char *text)
{
	return has_text(reply) && reply->len == strlen(text) &&
	       memcmp(reply->u.text, text, reply->len) == 0;
}

bool reply_error_begins(const struct reply *reply, const char *text)
{
	size_t len = strlen(text);

	return reply->type == REPLY_ERROR && reply->len >= len &&
	       memcmp(reply->u.text, text, len) == 0;
}

bool reply_is_error(const struct reply *reply, const char *word)
{
	size_t len = strlen(word);

	return reply_error_begins(reply, word) &&
	       (reply->len == len || reply->u.text[len] == ' ');
}

int reply_integer(const struct reply *reply, int64_t *out)
{
	int64_t n = 0;
	bool minus;

	if (reply->type == REPLY_INTEGER) {
		*out = reply->u.integer;
		return 0;
	}
	if (!has_text(reply))
		return -1;
	minus = reply->len > 0 && reply->u.text[0] == '-';
	if (reply->len == (minus ? 1 : 0))
		return -1;
	for (size_t i = minus ? 1 : 0; i < reply->len; i++) {
		int digit = reply->u.text[i] - '0';

		/* Downwards, as the least number has no opposite. */
		if (digit < 0 || digit > 9 ||
		    __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_sub_overflow(n, digit, &n))
			return -1;
	}
	if (!minus && __builtin_sub_overflow(0, n, &n))
		return -1;
	*out = n;
	return 0;
}

const struct reply *reply_member(const struct reply *reply, const char *name)
{
	size_t len = strlen(name);

	if (reply->type != REPLY_ARRAY || reply->len % 2 != 0)
		return NULL;
	for (size_t i = 0; i < reply->len; i += 2) {
		const struct reply *at = &reply->u.items[i];

		if (has_text(at) && at->len == len &&
		    strncasecmp(at->u.text, name, len) == 0)
			return at + 1;
	}
	return NULL;
}

/* --- what a refusal means ------------------------------------------------ */

#define HINT_PASSWORD                                                \
	"a password comes from BLOOMCTL_TARGET, --password-file or " \
	"--password-command"
#define HINT_QUOTA                                                            \
	"the service's quota of requests is used up: raise it, or run again " \
	"when it begins anew"
#define HINT_RATE                                                           \
	"the service takes no more commands per second than it was given: " \
	"raise its limit, or run again at a quieter time"
#define HINT_RIGHTS "bloomctl(1), RIGHTS lists what the user needs"

static const struct {
	const char *begins; /* a word, or the first ones */
	enum error_code code;
	const char *hint;
} meanings[] = {
	{"NOAUTH", ERROR_RIGHTS, HINT_PASSWORD},
	{"WRONGPASS", ERROR_RIGHTS, HINT_PASSWORD},
	{"NOPERM", ERROR_RIGHTS, HINT_RIGHTS},
	{"DENIED", ERROR_RIGHTS, HINT_PASSWORD},
	{"OOM", ERROR_SPACE,
	 "the server's maxmemory is used up: raise it or free some; bloomctl "
	 "size tells what a set needs"},
	{"WRONGTYPE", ERROR_DATA,
	 "somebody has made another key under that name: find out who, and "
	 "remove or rename it"},
	{"LOADING", ERROR_TEMPORARY, NULL},
	{"MASTERDOWN", ERROR_TEMPORARY, NULL},
	{"READONLY", ERROR_TEMPORARY, NULL},
	{"CLUSTERDOWN", ERROR_TEMPORARY, NULL},
	{"TRYAGAIN", ERROR_TEMPORARY, NULL},
	{"BUSY", ERROR_TEMPORARY, NULL},
	{"MISCONF", ERROR_TEMPORARY,
	 "the server cannot save and takes no writes until it can: see its log "
	 "and its disk"},
	{"NOREPLICAS", ERROR_TEMPORARY,
	 "the server wants more replicas (min-replicas-to-write) than it has: "
	 "see to them"},
	{"ERR max number of clients", ERROR_TEMPORARY, NULL},
	/* Upstash */
	{"ERR max concurrent connections", ERROR_TEMPORARY, NULL},
	{"ERR max requests limit exceeded", ERROR_TEMPORARY, HINT_QUOTA},
	{"ERR max daily request limit exceeded", ERROR_TEMPORARY, HINT_QUOTA},
	{"ERR DB capacity quota exceeded", ERROR_SPACE,
	 "the plan's size is used up: raise it or free some; bloomctl size "
	 "tells what a set needs"},
	{"ERR unknown command", ERROR_ENGINE, NULL},
};

/* The same of a command that a script calls: words that are somewhere in it. */
static const struct {
	const char *holds;
	enum error_code code;
} in_scripts[] = {
	{"executing the script can't run this command", ERROR_RIGHTS},
	{"executing the script can't access at least one", ERROR_RIGHTS},
	{"ACL failure in script", ERROR_RIGHTS},
	{"command called from script", ERROR_ENGINE},
	{"command called from Lua script", ERROR_ENGINE},
};

/*
 * Services that limit how many commands come per second do not tell how they
 * say so, ElastiCache Serverless among them; these are the words for it.
 */
static bool is_throttled(const char *text)
{
	static const char *const words[] = {
		"throttl", "rate limit", "rate exceeded", "too many requests"};

	for (; *text != '\0'; text++)
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strncasecmp(text, words[i], strlen(words[i])) == 0)
				return true;
	return false;
}

bool reply_is_throttled(const struct reply *reply)
{
	return reply->type == REPLY_ERROR && is_throttled(reply->u.text);
}

static const char *unknown_command_hint(const char *text)
{
	for (; *text != '\0'; text++)
		if (strncasecmp(text, "BF.", 3) == 0)
			return "load the RedisBloom or valkey-bloom module "
			       "into the server";
	return "the server, or a proxy in front of it, has this command "
	       "switched off or renamed";
}

/* "a status 'OK'", "an array of 3". */
static void describe(const struct reply *reply, char *out, size_t size)
{
	switch (reply->type) {
	case REPLY_STATUS:
		(void)snprintf(out, size, "a status, '%.64s'", reply->u.text);
		break;
	case REPLY_BULK:
		/* Its bytes may be a row's. */
		(void)snprintf(out, size, "a text of %zu bytes", reply->len);
		break;
	case REPLY_INTEGER:
		(void)snprintf(out, size, "the number %lld",
			       (long long)reply->u.integer);
		break;
	case REPLY_NIL:
		(void)snprintf(out, size, "nil");
		break;
	case REPLY_ARRAY:
		(void)snprintf(out, size, "an array of %zu", reply->len);
		break;
	case REPLY_ERROR:
		break;
	}
}

/* The text behind what Redis 6 puts before the error of a script. */
static const char *unwrap(const char *text)
{
	static const char mark[] = "user_script:";
	const char *at;

	if (strncmp(text, "ERR Error running script", 24) != 0)
		return text;
	while ((at = strstr(text, mark)) != NULL)
		text = at + strlen(mark);
	text += strspn(text, " 0123456789:");
	return *text == '-' ? text + 1 : text;
}

/*
 * The text of an error reply, cut; error_set() makes it clean.  Some servers
 * repeat the words of a command that they do not know, which may be a row's,
 * and say in which line of a script it was.
 */
static void copy_text(const struct reply *reply, char out[TEXT_MAX + 1])
{
	size_t len = reply->len < TEXT_MAX ? reply->len : TEXT_MAX;
	const char *text;
	char *end;

	for (size_t i = 0; i < len; i++)
		out[i] = reply->u.text[i] != '\0' ? reply->u.text[i] : '?';
	out[len] = '\0';
	text = unwrap(out);
	len = strlen(text);
	memmove(out, text, len + 1);
	end = strstr(out, ", with args beginning with");
	if (end != NULL)
		*end = '\0';
	/* " script: SHA1, on @user_script:LINE." */
	end = strstr(out, ", on @user_script:");
	while (end != NULL && end > out && strncmp(end, " script: ", 9) != 0)
		end--;
	if (end != NULL)
		*end = '\0';
	for (len = strlen(out); len > 0 && strchr(" .", out[len - 1]); len--)
		out[len - 1] = '\0';
}

/* Words are whole, and so not the beginning of another. */
static bool begins_with(const char *text, const char *begins)
{
	size_t len = strlen(begins);

	return strncmp(text, begins, len) == 0 &&
	       (strchr(begins, ' ') != NULL || text[len] == '\0' ||
		text[len] == ' ');
}

/* The code and the hint of a text; ERROR_DATA for all that is not known. */
static enum error_code meaning_of(const char *text, const char **hint)
{
	enum error_code code = ERROR_DATA;

	*hint = NULL;
	for (size_t i = 0; i < sizeof(in_scripts) / sizeof(in_scripts[0]); i++)
		if (strstr(text, in_scripts[i].holds) != NULL)
			code = in_scripts[i].code;
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (!begins_with(text, meanings[i].begins))
			continue;
		code = meanings[i].code;
		*hint = meanings[i].hint;
		break;
	}
	if (code == ERROR_DATA && *hint == NULL && is_throttled(text)) {
		*hint = HINT_RATE;
		return ERROR_TEMPORARY;
	}
	if (code == ERROR_ENGINE)
		*hint = unknown_command_hint(text);
	else if (code == ERROR_RIGHTS && *hint == NULL)
		*hint = HINT_RIGHTS;
	return code;
}

/*
 * "MOVED 3999 10.0.0.2:6379" or "ASK 3999 10.0.0.2:6379": the key is on another
 * node of a cluster.  Whether it is one of them, with *err set.
 */
static bool is_elsewhere(const struct reply *reply, const char *what,
			 const char *text, struct error *err)
{
	bool moved = reply_is_error(reply, "MOVED");
	const char *slot = strchr(text, ' ');
	int digits;

	if ((!moved && !reply_is_error(reply, "ASK")) || slot == NULL)
		return false;
	slot++;
	digits = (int)strspn(slot, "0123456789");
	if (digits == 0 || slot[digits] != ' ' || slot[digits + 1] == '\0')
		return false;
	(void)error_set(err, ERROR_ENGINE,
			"%s: slot %.*s %s node %.100s of the cluster", what,
			digits, slot, moved ? "is on" : "is moving to",
			slot + digits + 1);
	(void)error_hint(err, "let this user ask INFO and CLUSTER SLOTS, so "
			      "that the cluster is known as one");
	return true;
}

int reply_refused(const struct reply *reply, struct error *err, const char *fmt,
		  ...)
{
	char what[256];
	char text[TEXT_MAX + 1];
	enum error_code code;
	const char *hint;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (reply->type != REPLY_ERROR) {
		describe(reply, text, sizeof(text));
		return error_set(err, ERROR_DATA, "%s: unexpected answer: %s",
				 what, text);
	}
	copy_text(reply, text);
	if (is_elsewhere(reply, what, text, err))
		return -1;
	code = meaning_of(text, &hint);
	(void)error_set(err, code, "%s: %s", what, text);
	return hint != NULL ? error_hint(err, "%s", hint) : -1;
}
