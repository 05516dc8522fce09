/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/manifest_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hex.h"
#include "lib/base/json.h"
#include "lib/base/record.h"
#include "lib/filter/engine.h"
#include "lib/store/manifest.h"

#define TEXT(name)                                                   \
	{                                                            \
#name, MEMBER_TEXT, offsetof(struct manifest, name), \
			sizeof(((struct manifest *)NULL)->name)      \
	}
#define MEMBER(name, kind)                                      \
	{                                                       \
#name, kind, offsetof(struct manifest, name), 0 \
	}

const struct manifest_member manifest_members[MANIFEST_MEMBERS] = {
	{"format", MEMBER_FORMAT, 0, 0},
	TEXT(set),
	TEXT(fingerprint),
	TEXT(generation),
	TEXT(previous),
	MEMBER(state, MEMBER_STATE),
	TEXT(engine),
	MEMBER(buckets, MEMBER_U32),
	MEMBER(capacity, MEMBER_U64),
	MEMBER(error, MEMBER_REAL),
	MEMBER(seed, MEMBER_SEED),
	MEMBER(bytes, MEMBER_U64),
	MEMBER(rows, MEMBER_U64),
	MEMBER(keys, MEMBER_U64),
	MEMBER(rejects, MEMBER_U64),
	MEMBER(added, MEMBER_U64),
	MEMBER(fence, MEMBER_U64),
	MEMBER(started, MEMBER_TIME),
	MEMBER(ended, MEMBER_TIME),
	MEMBER(promoted, MEMBER_TIME),
	MEMBER(retired, MEMBER_TIME),
	MEMBER(source, MEMBER_SOURCE),
	MEMBER(origin, MEMBER_ORIGIN),
	MEMBER(horizon, MEMBER_HORIZON),
	{"bucket_keys", MEMBER_COUNTS, 0, 0},
	{"checksum", MEMBER_CHECKSUM, 0, 0},
};

static int read_text(const json_t *json, const struct manifest_member *member,
		     char *out, struct error *err)
{
	const char *text;

	if (json_get_text(json, member->name, &text, err) != 0)
		return -1;
	if (strlen(text) >= member->size)
		return record_wrong(member->name, err);
	memcpy(out, text, strlen(text) + 1);
	return 0;
}

static int read_state(const json_t *json, enum manifest_state *out,
		      struct error *err)
{
	const char *text;

	if (json_get_text(json, "state", &text, err) != 0)
		return -1;
	for (int i = 0; i < MANIFEST_BROKEN; i++)
		if (strcmp(text, manifest_state_name(i)) == 0) {
			*out = (enum manifest_state)i;
			return 0;
		}
	return record_wrong("state", err);
}

static int read_origin(const json_t *json, char **out, struct error *err)
{
	const json_t *origin = json_object_get(json, "origin");
	size_t len;

	if (origin == NULL)
		return 0;
	if (!json_is_object(origin))
		return record_wrong("origin", err);
	*out = json_text(origin, 0, &len, err);
	return *out != NULL ? 0 : -1;
}

static int read_horizon(const json_t *json, struct horizon *out,
			struct error *err)
{
	const json_t *horizon = json_object_get(json, "horizon");

	if (horizon == NULL)
		return 0;
	if (json_is_null(horizon))
		return record_wrong("horizon", err);
	return horizon_read(horizon, out, err);
}

static int read_seed(const json_t *json, unsigned char *out, struct error *err)
{
	const char *text;

	if (json_get_text(json, "seed", &text, err) != 0)
		return -1;
	memset(out, 0, LAYOUT_SEED_LEN);
	/* All zero is written as "", and only so. */
	if (text[0] != '\0' && (hex_bytes(text, out, LAYOUT_SEED_LEN) != 0 ||
				layout_seed_none(out)))
		return record_wrong("seed", err);
	return 0;
}

/* The buckets are read and in range by now. */
static int read_counts(const json_t *json, struct manifest *out,
		       struct error *err)
{
	const json_t *counts = json_object_get(json, "bucket_keys");

	if (json_is_null(counts))
		return 0;
	if (!json_is_array(counts) || json_array_size(counts) != out->buckets)
		return record_wrong("bucket_keys", err);
	out->bucket_keys = calloc(out->buckets, sizeof(*out->bucket_keys));
	if (out->bucket_keys == NULL)
		return error_nomem(err);
	for (uint32_t i = 0; i < out->buckets; i++) {
		const json_t *count = json_array_get(counts, i);

		if (!json_is_integer(count) || json_integer_value(count) < 0)
			return record_wrong("bucket_keys", err);
		out->bucket_keys[i] = (uint64_t)json_integer_value(count);
	}
	return 0;
}

static int read_u32(const json_t *json, const char *name, uint32_t *out,
		    struct error *err)
{
	uint64_t n;

	if (json_get_u64(json, name, &n, err) != 0)
		return -1;
	if (n < 1 || n > 65536)
		return record_wrong(name, err);
	*out = (uint32_t)n;
	return 0;
}

static int read_format(const json_t *json, struct error *err)
{
	uint64_t format;

	if (json_get_u64(json, "format", &format, err) != 0)
		return -1;
	if (format != MANIFEST_FORMAT)
		return error_set(err, ERROR_DATA,
				 "format %" PRIu64
				 ": this bloomctl reads format %d",
				 format, MANIFEST_FORMAT);
	return 0;
}

static int read_member(const json_t *json, const struct manifest_member *member,
		       struct manifest *out, struct error *err)
{
	void *at = (char *)out + member->offset;

	switch (member->kind) {
	case MEMBER_FORMAT:
		return read_format(json, err);
	case MEMBER_TEXT:
		return read_text(json, member, at, err);
	case MEMBER_STATE:
		return read_state(json, &out->state, err);
	case MEMBER_U32:
		return read_u32(json, member->name, at, err);
	case MEMBER_U64:
		return json_get_u64(json, member->name, at, err);
	case MEMBER_REAL:
		return json_get_real(json, member->name, at, err);
	case MEMBER_TIME:
		return record_get_time(json, member->name, at, err);
	case MEMBER_SOURCE:
		return record_get_bytes(json, "source", &out->source, err);
	case MEMBER_ORIGIN:
		return read_origin(json, &out->origin, err);
	case MEMBER_HORIZON:
		return read_horizon(json, at, err);
	case MEMBER_SEED:
		return read_seed(json, out->seed, err);
	case MEMBER_COUNTS:
		return read_counts(json, out, err);
	case MEMBER_CHECKSUM:
		break; /* of the bytes, and checked before */
	}
	return 0;
}

/* What holds between members. */
static int check_values(const struct manifest *m, struct error *err)
{
	const struct engine *engine = engine_by_name(m->engine);

	if (m->set[0] == '\0')
		return record_wrong("set", err);
	if (strlen(m->fingerprint) != BLOOMKEY_FINGERPRINT_LEN ||
	    strspn(m->fingerprint, "0123456789abcdef") !=
		    BLOOMKEY_FINGERPRINT_LEN)
		return record_wrong("fingerprint", err);
	if (!names_id_valid(m->generation))
		return record_wrong("generation", err);
	if (m->previous[0] != '\0' && !names_id_valid(m->previous))
		return record_wrong("previous", err);
	if (m->engine[0] == '\0')
		return record_wrong("engine", err);
	/*
	 * Of an engine of a newer bloomctl nothing is known.  On a server each
	 * filter may have a seed that only the server knows.
	 */
	if (engine != NULL && !engine->layout->seeded &&
	    !layout_seed_none(m->seed))
		return record_wrong("seed", err);
	if (m->capacity == 0)
		return record_wrong("capacity", err);
	if (!(m->error > 0 && m->error < 1))
		return record_wrong("error", err);
	if (m->bytes == 0)
		return record_wrong("bytes", err);
	if (m->bucket_keys == NULL && m->state != MANIFEST_BUILDING &&
	    m->state != MANIFEST_ABORTED)
		return record_wrong("bucket_keys", err);
	return 0;
}

int manifest_decode(const char *text, size_t len, struct manifest *out,
		    struct error *err)
{
	json_t *json;
	size_t absent;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	if (record_check(text, len, MANIFEST_TEXT_MAX, "manifest", err) != 0)
		return -1;
	json = json_parse(text, len, err);
	if (json == NULL)
		return -1;
	for (size_t i = 0; i < MANIFEST_MEMBERS && rc == 0; i++)
		rc = read_member(json, &manifest_members[i], out, err);
	absent = (out->origin == NULL) + horizon_none(&out->horizon);
	/* An unknown one would be lost when the manifest is written again. */
	if (rc == 0 && json_object_size(json) != MANIFEST_MEMBERS - absent)
		rc = error_set(err, ERROR_DATA,
			       "members that this bloomctl does not know");
	if (rc == 0)
		rc = check_values(out, err);
	json_decref(json);
	if (rc != 0) {
		manifest_release(out);
		memset(out, 0, sizeof(*out));
	}
	return rc;
}
