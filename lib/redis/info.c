/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/info.h"

#include <string.h>

#include "lib/base/num.h"

bool info_text(const struct reply *reply, const char *name, char *out,
	       size_t size)
{
	size_t want = strlen(name);
	const char *at;
	const char *end;

	out[0] = '\0';
	if (reply->type != REPLY_BULK && reply->type != REPLY_STATUS)
		return false;
	end = reply->u.text + reply->len;
	for (at = reply->u.text; at < end;) {
		size_t left = (size_t)(end - at);
		const char *eol = memchr(at, '\n', left);
		size_t len = eol != NULL ? (size_t)(eol - at) : left;

		if (len > want && at[want] == ':' &&
		    memcmp(at, name, want) == 0) {
			size_t n = len - want - 1;

			if (n > 0 && at[want + n] == '\r')
				n--;
			if (n > size - 1)
				n = size - 1;
			memcpy(out, at + want + 1, n);
			out[n] = '\0';
			return true;
		}
		at += len + 1;
	}
	return false;
}

bool info_u64(const struct reply *reply, const char *name, uint64_t *out)
{
	char text[24];

	return info_text(reply, name, text, sizeof(text)) &&
	       num_u64(text, out) == 0;
}
