/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "lib/base/buf.h"
#include "lib/job/tiers.h"
#include "lib/redis/cluster.h"

/* Room for a pattern, and for a key in it. */
#define NAME_MAX_BYTES ((size_t)1 << 20)

bool tiers_pattern(const char *pattern)
{
	const char *at = strstr(pattern, TIERS_KEY);

	return at != NULL && strstr(at + 1, TIERS_KEY) == NULL;
}

static int make_name(const char *pattern, const void *key, size_t len,
		     struct buf *out, struct error *err)
{
	const char *at = strstr(pattern, TIERS_KEY);

	if (at == NULL)
		return error_set(err, ERROR_INTERNAL,
				 "a pattern without a "
				 "key");
	if (buf_add(out, pattern, (size_t)(at - pattern)) == 0 &&
	    buf_add(out, key, len) == 0 &&
	    buf_adds(out, at + strlen(TIERS_KEY)) == 0)
		return 0;
	return error_nomem(err);
}

/* The time that a key has left also says whether it is there. */
static int ask(struct cluster *c, const char *what, const struct buf *name,
	       struct tier_key *out, struct error *err)
{
	const char *const words[] = {"PTTL", name->data};
	const size_t lens[] = {strlen(words[0]), name->len};
	int slot = slots_of(name->data, name->len);
	const struct conn_facts *facts;
	const struct reply *reply;
	int64_t ms;

	if (cluster_call(c, slot, 2, words, lens, &reply, err) != 0)
		return error_prefix(err, "%s", what);
	if (reply->type != REPLY_INTEGER || reply_integer(reply, &ms) != 0)
		return reply_refused(reply, err, "%s: PTTL", what);
	facts = cluster_facts(c, cluster_owner(c, slot));
	out->asked = true;
	out->found = ms != -2;
	out->ttl_ms = ms >= 0 ? ms : -1;
	out->replica = facts != NULL && facts->replica;
	return 0;
}

int tierkey_ask(struct cluster *c, const char *what, const char *pattern,
		const void *key, size_t len, struct tier_key *out,
		struct error *err)
{
	struct buf name;
	int rc;

	buf_init(&name, NAME_MAX_BYTES);
	rc = make_name(pattern, key, len, &name, err);
	if (rc == 0)
		rc = ask(c, what, &name, out, err);
	buf_release(&name);
	return rc;
}
