/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/hex.h"
#include "lib/base/json.h"
#include "lib/base/record.h"
#include "lib/store/manifest_text.h"

static const char *const states[] = {
	[MANIFEST_BUILDING] = "building", [MANIFEST_COMPLETE] = "complete",
	[MANIFEST_LIVE] = "live",         [MANIFEST_OLD] = "old",
	[MANIFEST_ABORTED] = "aborted",   [MANIFEST_BROKEN] = "broken",
};

const char *manifest_state_name(enum manifest_state state)
{
	return states[state];
}

void manifest_release(struct manifest *m)
{
	free(m->bucket_keys);
	free(m->bucket_again);
	free(m->source);
	free(m->origin);
	m->bucket_keys = NULL;
	m->bucket_again = NULL;
	m->source = NULL;
	m->origin = NULL;
}

void manifest_break(struct manifest *m, const char *set, const char *id,
		    const char *why)
{
	manifest_release(m);
	memset(m, 0, sizeof(*m));
	m->state = MANIFEST_BROKEN;
	(void)snprintf(m->set, sizeof(m->set), "%s", set);
	(void)snprintf(m->generation, sizeof(m->generation), "%s", id);
	(void)snprintf(m->broken, sizeof(m->broken), "%.*s",
		       (int)sizeof(m->broken) - 1, why);
}

int manifest_check_place(const struct manifest *m, const char *set,
			 const struct bloomkey_spec *spec, const char *id,
			 struct error *err)
{
	if (strcmp(m->fingerprint, bloomkey_fingerprint(spec)) != 0 ||
	    strcmp(m->set, set) != 0)
		return error_set(err, ERROR_DATA,
				 "of another keyspec: fingerprint %.8s",
				 m->fingerprint);
	if (strcmp(m->generation, id) != 0)
		return error_set(err, ERROR_DATA, "of another generation: %s",
				 m->generation);
	if (m->buckets != bloomkey_buckets(spec))
		return error_set(err, ERROR_DATA,
				 "of another number of buckets");
	return 0;
}

void manifest_set_effective(struct manifest *m, const char *live, bool held,
			    uint64_t fence)
{
	enum manifest_state recorded = m->state;
	char why[sizeof(m->broken)];
	char set[NAMES_SET_MAX];
	char id[NAMES_ID_MAX];

	if (strcmp(m->generation, live) != 0) {
		if (m->state == MANIFEST_LIVE)
			m->state = MANIFEST_OLD;
		else if (m->state == MANIFEST_BUILDING &&
			 (!held || (fence != 0 && fence != m->fence)))
			m->state = MANIFEST_ABORTED; /* its owner is dead */
		return;
	}
	if (m->state == MANIFEST_COMPLETE || m->state == MANIFEST_LIVE ||
	    m->state == MANIFEST_OLD) {
		m->state = MANIFEST_LIVE;
		return;
	}
	memcpy(set, m->set, sizeof(set));
	memcpy(id, m->generation, sizeof(id));
	(void)snprintf(why, sizeof(why),
		       "readers get it, but its manifest says %s",
		       manifest_state_name(m->state));
	manifest_break(m, set, id, why);
	m->recorded = recorded;
}

uint64_t manifest_sent(const struct manifest *m, uint32_t bucket)
{
	return m->bucket_keys[bucket] +
	       (m->bucket_again != NULL ? m->bucket_again[bucket] : 0);
}

int manifest_copy(struct manifest *out, const struct manifest *m,
		  struct error *err)
{
	*out = *m;
	out->bucket_keys = NULL;
	out->bucket_again = NULL;
	out->source = NULL;
	out->origin = NULL;
	if (m->bucket_keys != NULL) {
		size_t size = (size_t)m->buckets * sizeof(*m->bucket_keys);

		out->bucket_keys = malloc(size);
		if (out->bucket_keys == NULL)
			goto fail;
		memcpy(out->bucket_keys, m->bucket_keys, size);
	}
	if (m->source != NULL) {
		out->source = strdup(m->source);
		if (out->source == NULL)
			goto fail;
	}
	if (m->origin != NULL) {
		out->origin = strdup(m->origin);
		if (out->origin == NULL)
			goto fail;
	}
	return 0;
fail:
	manifest_release(out);
	memset(out, 0, sizeof(*out));
	return error_nomem(err);
}

static json_t *encode_seed(const unsigned char seed[LAYOUT_SEED_LEN])
{
	char text[2 * LAYOUT_SEED_LEN + 1] = "";

	if (!layout_seed_none(seed))
		(void)hex_text(seed, LAYOUT_SEED_LEN, text);
	return json_string(text);
}

static json_t *encode_count(uint64_t count)
{
	return count <= INT64_MAX ? json_integer((json_int_t)count) : NULL;
}

/* NULL if memory is out or the value is none that a manifest may have. */
static json_t *encode_member(const struct manifest *m,
			     const struct manifest_member *member,
			     struct error *err)
{
	const void *at = (const char *)m + member->offset;

	switch (member->kind) {
	case MEMBER_FORMAT:
		return json_integer(MANIFEST_FORMAT);
	case MEMBER_TEXT:
		return json_string(at);
	case MEMBER_STATE:
		return m->state < MANIFEST_BROKEN
			       ? json_string(states[m->state])
			       : NULL;
	case MEMBER_U32:
		return json_integer(*(const uint32_t *)at);
	case MEMBER_U64:
		return encode_count(*(const uint64_t *)at);
	case MEMBER_REAL:
		return json_real(*(const double *)at);
	case MEMBER_TIME:
		return record_time(*(const int64_t *)at);
	case MEMBER_SOURCE:
		return record_bytes(m->source);
	case MEMBER_ORIGIN:
		return json_parse(m->origin, strlen(m->origin), err);
	case MEMBER_HORIZON:
		return horizon_json(&m->horizon);
	case MEMBER_SEED:
		return encode_seed(m->seed);
	case MEMBER_COUNTS:
	case MEMBER_CHECKSUM:
		break;
	}
	return NULL;
}

/* All members but the counts and the checksum, as text; NULL on failure. */
static char *encode_head(const struct manifest *m, size_t *len,
			 struct error *err)
{
	json_t *json = json_object();
	char *text = NULL;

	if (json == NULL) {
		(void)error_nomem(err);
		return NULL;
	}
	for (const struct manifest_member *member = manifest_members;
	     member->kind != MEMBER_COUNTS; member++) {
		if ((member->kind == MEMBER_ORIGIN && m->origin == NULL) ||
		    (member->kind == MEMBER_HORIZON &&
		     horizon_none(&m->horizon)))
			continue;
		if (json_object_set_new(json, member->name,
					encode_member(m, member, err)) != 0) {
			(void)error_set(err, ERROR_INTERNAL,
					"manifest: no legal \"%s\"",
					member->name);
			goto out;
		}
	}
	text = json_text(json, 2, len, err);
out:
	json_decref(json);
	return text;
}

/* The counts stand on one line: one line each would be 65,536 of them. */
static int add_counts(struct buf *b, const struct manifest *m)
{
	if (buf_adds(b, ",\n  \"bucket_keys\": ") != 0)
		return -1;
	if (m->bucket_keys == NULL)
		return buf_adds(b, "null");
	for (uint32_t i = 0; i < m->buckets; i++)
		if (buf_addf(b, "%s%" PRIu64, i == 0 ? "[" : ",",
			     m->bucket_keys[i]) != 0)
			return -1;
	return buf_adds(b, "]");
}

char *manifest_encode(const struct manifest *m, size_t *len, struct error *err)
{
	static const char end[] = "\n}\n";
	struct buf b;
	size_t used;
	char *head = encode_head(m, &used, err);

	if (head == NULL)
		return NULL;
	buf_init(&b, MANIFEST_TEXT_MAX);
	if (buf_add(&b, head, used - strlen(end)) != 0 ||
	    add_counts(&b, m) != 0 || record_end(&b) != 0 ||
	    buf_string(&b) == NULL) {
		(void)error_set(err, ERROR_INTERNAL,
				"manifest: out of memory, or too long");
		buf_release(&b);
	}
	free(head);
	*len = b.len;
	return b.data;
}
