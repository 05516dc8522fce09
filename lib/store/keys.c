/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/keys.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/redis/slots.h"

/*
 * The hash tag of a key: what stands between its first { and the first }
 * behind it, if that is not empty; otherwise all of it.
 */
static size_t hash_tag(const char *key, const char **tag)
{
	const char *open = strchr(key, '{');
	const char *end = open != NULL ? strchr(open, '}') : NULL;

	if (end == NULL || end == open + 1) {
		*tag = key;
		return strlen(key);
	}
	*tag = open + 1;
	return (size_t)(end - open) - 1;
}

static bool has_tag(const char *key)
{
	const char *tag;

	(void)hash_tag(key, &tag);
	return tag != key;
}

void keys_of(const struct bloomkey_spec *spec, uint32_t bucket, const char *id,
	     struct keys *out)
{
	char name[BLOOMKEY_FILTER_MAX + 1] = "";
	char base[BLOOMKEY_FILTER_MAX + 3];

	(void)bloomkey_filter(spec, bucket, name, sizeof(name));
	(void)snprintf(base, sizeof(base), has_tag(name) ? "%s" : "{%s}", name);
	(void)snprintf(out->filter, KEYS_MAX, "%s", name);
	(void)snprintf(out->state, KEYS_MAX, "%s:bloomctl", base);
	out->slot = keys_slot(out->filter);
	out->shadow[0] = '\0';
	out->shadow_state[0] = '\0';
	if (id == NULL)
		return;
	(void)snprintf(out->shadow, KEYS_MAX, "%s:bloomctl:%s", base, id);
	(void)snprintf(out->shadow_state, KEYS_MAX, "%s:bloomctl:%s:state",
		       base, id);
}

void keys_of_set(const char *set, const char *name, const char *id,
		 char out[KEYS_MAX])
{
	(void)snprintf(out, KEYS_MAX, "bloomctl:{%s}:%s%s%s", set, name,
		       id != NULL ? ":" : "", id != NULL ? id : "");
}

int keys_slot(const char *key)
{
	return slots_of(key, strlen(key));
}
