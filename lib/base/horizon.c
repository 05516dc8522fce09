/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/horizon.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/record.h"

#define MEMBERS 7

const char *horizon_lsn_text(uint64_t lsn, char out[HORIZON_LSN_MAX])
{
	(void)snprintf(out, HORIZON_LSN_MAX, "%" PRIX32 "/%" PRIX32,
		       (uint32_t)(lsn >> 32), (uint32_t)lsn);
	return out;
}

int horizon_lsn_parse(const char *text, uint64_t *lsn)
{
	static const char digits[] = "0123456789ABCDEFabcdef";
	size_t high = strspn(text, digits);
	size_t low = text[high] == '/' ? strspn(text + high + 1, digits) : 0;

	if (high < 1 || high > 8 || low < 1 || low > 8 ||
	    text[high + 1 + low] != '\0')
		return -1;
	*lsn = strtoull(text, NULL, 16) << 32 |
	       strtoull(text + high + 1, NULL, 16);
	return 0;
}

bool horizon_none(const struct horizon *h)
{
	return h->read_at == 0;
}

const char *horizon_text(const struct horizon *h, char out[HORIZON_TEXT_MAX])
{
	char lsn[HORIZON_LSN_MAX];

	out[0] = '\0';
	if (!horizon_none(h))
		(void)snprintf(out, HORIZON_TEXT_MAX,
			       "%" PRId64 " %" PRId64 " %" PRIu64 " %s %" PRIu32
			       " %" PRIu32 " %" PRIu64,
			       h->read_at, h->since, h->xid,
			       horizon_lsn_text(h->lsn, lsn), h->timeline,
			       h->relation, h->system);
	return out;
}

/* Cuts the next word off; NULL: there is none. */
static char *word(char **rest)
{
	char *start = *rest;
	char *blank = start != NULL ? strchr(start, ' ') : NULL;

	if (blank != NULL)
		*blank = '\0';
	*rest = blank != NULL ? blank + 1 : NULL;
	return start;
}

/* With what it needs: a time, and one way to catch up at least. */
static bool is_whole(const struct horizon *h)
{
	return h->read_at > 0 && (h->xid != 0 || h->since > 0);
}

/* The words of a line, each a number but one. */
static int parse_words(const char *const words[], struct horizon *h)
{
	uint64_t read_at, since, timeline, relation;

	if (num_u64(words[0], &read_at) != 0 || read_at > INT64_MAX ||
	    num_u64(words[1], &since) != 0 || since > INT64_MAX ||
	    num_u64(words[2], &h->xid) != 0 ||
	    horizon_lsn_parse(words[3], &h->lsn) != 0 ||
	    num_u64(words[4], &timeline) != 0 || timeline > UINT32_MAX ||
	    num_u64(words[5], &relation) != 0 || relation > UINT32_MAX ||
	    num_u64(words[6], &h->system) != 0)
		return -1;
	h->read_at = (int64_t)read_at;
	h->since = (int64_t)since;
	h->timeline = (uint32_t)timeline;
	h->relation = (uint32_t)relation;
	return 0;
}

int horizon_parse(const char *text, struct horizon *out)
{
	struct horizon h = {0};
	char copy[HORIZON_TEXT_MAX];
	char again[HORIZON_TEXT_MAX];
	char *rest = copy;
	const char *words[MEMBERS];

	memset(out, 0, sizeof(*out));
	if (text[0] == '\0')
		return 0;
	if (strlen(text) >= sizeof(copy))
		return -1;
	memcpy(copy, text, strlen(text) + 1);
	for (size_t i = 0; i < MEMBERS; i++) {
		words[i] = word(&rest);
		if (words[i] == NULL)
			return -1;
	}
	/* Texts are compared: one horizon has one. */
	if (rest != NULL || parse_words(words, &h) != 0 || !is_whole(&h) ||
	    strcmp(horizon_text(&h, again), text) != 0)
		return -1;
	*out = h;
	return 0;
}

void horizon_oldest(struct horizon *oldest, const struct horizon *h)
{
	struct horizon found = *oldest;

	if (h->xid < found.xid)
		found.xid = h->xid;
	if (h->since < found.since)
		found.since = h->since;
	if (h->lsn < found.lsn)
		found.lsn = h->lsn;
	if (h->read_at < found.read_at)
		found.read_at = h->read_at;
	if (h->relation != found.relation)
		found.relation = 0;
	if (h->system != found.system || h->timeline != found.timeline ||
	    !is_whole(&found))
		memset(&found, 0, sizeof(found));
	*oldest = found;
}

void horizon_move(const struct horizon *from, const struct horizon *to,
		  struct horizon *out)
{
	struct horizon h = *to;

	if (h.xid == 0) {
		h.xid = from->xid;
		h.relation = from->relation;
	}
	if (h.since == 0)
		h.since = from->since;
	*out = h;
}

/* Numbers of 64 bits stand as text: not every reader of JSON has room. */
static json_t *number(uint64_t n)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, n);
	return n != 0 ? json_string(text) : json_null();
}

json_t *horizon_json(const struct horizon *h)
{
	char lsn[HORIZON_LSN_MAX];

	if (horizon_none(h))
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read_at",
			 record_time(h->read_at), "since",
			 record_time(h->since), "xid", number(h->xid), "lsn",
			 h->lsn != 0
				 ? json_string(horizon_lsn_text(h->lsn, lsn))
				 : json_null(),
			 "timeline", json_integer((json_int_t)h->timeline),
			 "relation", json_integer((json_int_t)h->relation),
			 "system", number(h->system));
}

static int read_number(const json_t *json, const char *name, uint64_t *out,
		       struct error *err)
{
	const char *text = json_string_value(json_object_get(json, name));

	if (json_is_null(json_object_get(json, name)))
		return 0;
	if (text == NULL || num_u64(text, out) != 0 || *out == 0)
		return record_wrong(name, err);
	return 0;
}

static int read_lsn(const json_t *json, uint64_t *out, struct error *err)
{
	const char *text = json_string_value(json_object_get(json, "lsn"));
	char again[HORIZON_LSN_MAX];

	if (json_is_null(json_object_get(json, "lsn")))
		return 0;
	if (text == NULL || horizon_lsn_parse(text, out) != 0 || *out == 0 ||
	    strcmp(horizon_lsn_text(*out, again), text) != 0)
		return record_wrong("lsn", err);
	return 0;
}

static int read_u32(const json_t *json, const char *name, uint32_t *out,
		    struct error *err)
{
	uint64_t n;

	if (json_get_u64(json, name, &n, err) != 0)
		return -1;
	if (n > UINT32_MAX)
		return record_wrong(name, err);
	*out = (uint32_t)n;
	return 0;
}

static int read_members(const json_t *json, struct horizon *h,
			struct error *err)
{
	if (!json_is_object(json) || json_object_size(json) != MEMBERS)
		return record_wrong("horizon", err);
	if (record_get_time(json, "read_at", &h->read_at, err) != 0 ||
	    record_get_time(json, "since", &h->since, err) != 0 ||
	    read_number(json, "xid", &h->xid, err) != 0 ||
	    read_lsn(json, &h->lsn, err) != 0 ||
	    read_u32(json, "timeline", &h->timeline, err) != 0 ||
	    read_u32(json, "relation", &h->relation, err) != 0 ||
	    read_number(json, "system", &h->system, err) != 0)
		return -1;
	return is_whole(h) ? 0 : record_wrong("horizon", err);
}

int horizon_read(const json_t *json, struct horizon *out, struct error *err)
{
	memset(out, 0, sizeof(*out));
	if (json_is_null(json))
		return 0;
	if (read_members(json, out, err) == 0)
		return 0;
	memset(out, 0, sizeof(*out));
	return -1;
}

static int take(const char *text, const char *name, uint64_t *out,
		struct error *err)
{
	if (text[0] == '\0' || num_u64(text, out) == 0)
		return 0;
	return record_wrong(name, err);
}

int horizon_xmin(struct horizon *out, int64_t read_at, const char *xid,
		 const char *lsn, const char *timeline, const char *system,
		 struct error *err)
{
	struct horizon h = {.read_at = read_at};
	uint64_t n = 0;

	memset(out, 0, sizeof(*out));
	if (take(xid, "xid", &h.xid, err) != 0 ||
	    take(timeline, "timeline", &n, err) != 0 ||
	    take(system, "system", &h.system, err) != 0)
		return -1;
	if (h.xid == 0 || read_at <= 0 || n > UINT32_MAX)
		return record_wrong("horizon", err);
	if (lsn[0] != '\0' && horizon_lsn_parse(lsn, &h.lsn) != 0)
		return record_wrong("lsn", err);
	h.timeline = (uint32_t)n;
	*out = h;
	return 0;
}
