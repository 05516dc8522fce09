/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "lib/store/server.h"

static const char build_again[] = "build and swap a new generation";

static void say_live(const struct keys *k, const char *seen, const char *now,
		     struct error *err)
{
	(void)error_set(err, ERROR_GENERATION,
			"filter '%s': changed meanwhile: '%.40s' is live and "
			"not '%s'",
			k->filter, now[0] != '\0' ? now : "none",
			seen[0] != '\0' ? seen : "none");
	(void)error_hint(err, "see what bloomctl inspect shows");
}

static void say_shadow(const struct keys *k, const char *type,
		       struct error *err)
{
	if (strcmp(type, "none") != 0)
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': a key of type '%.40s' has its "
				"name",
				k->shadow, type);
	else
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': missing: evicted, expired or "
				"deleted since it was built",
				k->shadow);
	(void)error_hint(err, build_again);
}

/* Of the filter that is live, or has its name. */
static bool refuse_live(const struct server *server, const char *seen,
			uint32_t bucket, const struct keys *k, const char *word,
			const char *detail, struct error *err)
{
	struct keys old;

	if (strcmp(word, "live") == 0) {
		say_live(k, seen, detail, err);
	} else if (strcmp(word, "type") == 0) {
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': a key of type '%.40s' has its "
				"name",
				k->filter, detail);
		(void)error_hint(err, "remove or rename that key, and swap "
				      "again");
	} else if (strcmp(word, "keyspec") == 0) {
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': live, of another keyspec, "
				"fingerprint %.8s: two must not share a name",
				k->filter, detail);
		(void)error_hint(err, "give this keyspec other filter names, "
				      "with {fp}; see bloomctl-operations(7)");
	} else if (strcmp(word, "unknown") == 0) {
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': live, and not built by bloomctl, "
				"or its state '%s' is lost",
				k->filter, k->state);
		(void)error_hint(err, "let its readers pass through, remove or "
				      "rename it, and swap again");
	} else if (strcmp(word, "missing") == 0) {
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': live by its state, and missing",
				k->filter);
		(void)error_hint(err, build_again);
	} else if (strcmp(word, "old") == 0) {
		keys_of(server->spec, bucket, seen, &old);
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': the name it would be kept under, "
				"'%s', is taken",
				k->filter, old.shadow);
		(void)error_hint(err, "find out who made that key, remove or "
				      "rename it, and swap again");
	} else {
		return false;
	}
	return true;
}

void serverswap_refuse(const struct server *server, const char *generation,
		       const char *seen, uint32_t bucket, const char *word,
		       const char *detail, struct error *err)
{
	struct keys k;

	keys_of(server->spec, bucket, generation, &k);
	if (refuse_live(server, seen, bucket, &k, word, detail, err))
		return;
	if (strcmp(word, "fence") == 0) {
		(void)error_set(err, ERROR_LOCKED,
				"filter '%s': a newer run, with fence %.20s, "
				"has taken the set over",
				k.filter, detail);
		(void)error_hint(err, "see what bloomctl inspect shows");
	} else if (strcmp(word, "shadow") == 0) {
		say_shadow(&k, detail, err);
	} else if (strcmp(word, "ttl") == 0) {
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': somebody gave it a time to live, "
				"so it would vanish",
				k.shadow);
		(void)error_hint(err, "take the TTL away (PERSIST), find who "
				      "set it, and run the same swap again");
	} else if (strcmp(word, "horizon") == 0) {
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': its horizon is not the one that "
				"this run gave it: something else has changed "
				"it meanwhile",
				k.shadow);
		(void)error_hint(err, "run the same swap again, which catches "
				      "up from there");
	} else if (strcmp(word, "items") == 0) {
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': it holds %.20s items, fewer than "
				"when it was built: it is from an older copy",
				k.shadow, detail);
		(void)error_hint(err, build_again);
	} else {
		(void)error_set(err, ERROR_GENERATION,
				"filter '%s': its state is missing, or of "
				"another generation, '%.40s'",
				k.shadow, detail);
		(void)error_hint(err, build_again);
	}
}
