/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/missed.h"

#include <stdlib.h>
#include <string.h>

const char *missed_why_name(enum missed_why why)
{
	static const char *const names[MISSED_WHYS] = {
		[MISSED_OPEN] = "unknown",  [MISSED_CAME] = "came",
		[MISSED_GONE] = "gone",     [MISSED_COVERED] = "recent",
		[MISSED_LATER] = "later",   [MISSED_UNMOVED] = "unmoved",
		[MISSED_BEFORE] = "before",
	};

	return names[why];
}

int missed_key_init(struct missed_key *out, uint32_t bucket, const void *key,
		    size_t len, struct error *err)
{
	memset(out, 0, sizeof(*out));
	out->key = malloc(len > 0 ? len : 1);
	if (out->key == NULL)
		return error_nomem(err);
	memcpy(out->key, key, len);
	out->bucket = bucket;
	out->len = len;
	return 0;
}

void missed_key_release(struct missed_key *key)
{
	free(key->key);
	free(key->values);
	memset(key, 0, sizeof(*key));
}

/* Room for one more: 1, or 0 where it is too much, or -1. */
static int grow(struct missed *missed, struct error *err)
{
	size_t room = missed->room > 0 ? 2 * missed->room : 16;
	struct missed_key *keys;

	if (missed->count == MISSED_MAX)
		return 0;
	if (missed->count < missed->room)
		return 1;
	keys = realloc(missed->keys, room * sizeof(*keys));
	if (keys == NULL)
		return error_nomem(err);
	missed->keys = keys;
	missed->room = room;
	return 1;
}

int missed_add(struct missed *missed, uint32_t bucket, const void *key,
	       size_t len, struct error *err)
{
	int rc;

	if (len > MISSED_BYTES - missed->bytes)
		return 0;
	rc = grow(missed, err);
	if (rc != 1)
		return rc;
	if (missed_key_init(&missed->keys[missed->count], bucket, key, len,
			    err) != 0)
		return -1;
	missed->count++;
	missed->bytes += len;
	return 0;
}

/* One block: the pointers, and behind them the texts. */
int missed_values(struct missed_key *key, size_t fields,
		  const void *const *values, const size_t *lens,
		  struct error *err)
{
	size_t size = (fields + 1) * sizeof(char *);
	char *text;

	for (size_t i = 0; i < fields; i++)
		size += values[i] != NULL ? lens[i] + 1 : 0;
	free(key->values);
	key->values = malloc(size);
	if (key->values == NULL)
		return error_nomem(err);
	text = (char *)(key->values + fields + 1);
	for (size_t i = 0; i < fields; i++) {
		key->values[i] = values[i] != NULL ? text : NULL;
		if (values[i] == NULL)
			continue;
		memcpy(text, values[i], lens[i]);
		text[lens[i]] = '\0';
		text += lens[i] + 1;
	}
	key->values[fields] = NULL;
	return 0;
}

void missed_cut(struct missed *missed, size_t count)
{
	while (missed->count > count) {
		struct missed_key *last = &missed->keys[--missed->count];

		missed->bytes -= last->len;
		missed_key_release(last);
	}
}

int missed_take(struct missed *missed, struct missed *from, struct error *err)
{
	for (size_t i = 0; i < from->count; i++) {
		struct missed_key *key = &from->keys[i];
		int rc = 0;

		if (key->len <= MISSED_BYTES - missed->bytes)
			rc = grow(missed, err);
		if (rc < 0)
			return -1;
		if (rc == 0)
			continue;
		missed->keys[missed->count++] = *key;
		missed->bytes += key->len;
		from->bytes -= key->len;
		memset(key, 0, sizeof(*key));
	}
	missed_cut(from, 0);
	return 0;
}

void missed_release(struct missed *missed)
{
	missed_cut(missed, 0);
	free(missed->keys);
	memset(missed, 0, sizeof(*missed));
}
