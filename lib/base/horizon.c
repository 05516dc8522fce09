/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/horizon.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/record.h"

#define MEMBERS 6

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

const char *horizon_text(const struct horizon *h, char out[HORIZON_TEXT_MAX])
{
	char lsn[HORIZON_LSN_MAX];

	out[0] = '\0';
	if (h->kind != HORIZON_NONE)
		(void)snprintf(
			out, HORIZON_TEXT_MAX,
			"xmin %" PRId64 " %" PRIu64 " %s %" PRIu32 " %" PRIu64,
			h->read_at, h->xid, horizon_lsn_text(h->lsn, lsn),
			h->timeline, h->system);
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

int horizon_parse(const char *text, struct horizon *out)
{
	struct horizon h = {.kind = HORIZON_XMIN};
	uint64_t read_at = 0, timeline = 0;
	char copy[HORIZON_TEXT_MAX];
	char again[HORIZON_TEXT_MAX];
	char *rest = copy;
	const char *words[6];

	memset(out, 0, sizeof(*out));
	if (text[0] == '\0')
		return 0;
	if (strlen(text) >= sizeof(copy))
		return -1;
	memcpy(copy, text, strlen(text) + 1);
	for (size_t i = 0; i < 6; i++) {
		words[i] = word(&rest);
		if (words[i] == NULL)
			return -1;
	}
	if (strcmp(words[0], "xmin") != 0 || num_u64(words[1], &read_at) != 0 ||
	    read_at > INT64_MAX || num_u64(words[2], &h.xid) != 0 ||
	    horizon_lsn_parse(words[3], &h.lsn) != 0 ||
	    num_u64(words[4], &timeline) != 0 || timeline > UINT32_MAX ||
	    num_u64(words[5], &h.system) != 0)
		return -1;
	h.read_at = (int64_t)read_at;
	h.timeline = (uint32_t)timeline;
	/* Texts are compared: one horizon has one. */
	if (rest != NULL || h.xid == 0 || h.read_at == 0 ||
	    strcmp(horizon_text(&h, again), text) != 0)
		return -1;
	*out = h;
	return 0;
}

bool horizon_covers(const struct horizon *a, const struct horizon *b)
{
	if (a->kind == HORIZON_NONE || b->kind == HORIZON_NONE)
		return a->kind == HORIZON_NONE;
	return a->system == b->system && a->timeline == b->timeline &&
	       a->xid <= b->xid;
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

	if (h->kind == HORIZON_NONE)
		return json_null();
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o}", "kind", "xmin", "read_at",
		record_time(h->read_at), "xid", number(h->xid), "lsn",
		h->lsn != 0 ? json_string(horizon_lsn_text(h->lsn, lsn))
			    : json_null(),
		"timeline", json_integer((json_int_t)h->timeline), "system",
		number(h->system));
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

static int read_members(const json_t *json, struct horizon *h,
			struct error *err)
{
	const char *kind;
	uint64_t timeline;

	if (!json_is_object(json) || json_object_size(json) != MEMBERS)
		return record_wrong("horizon", err);
	if (json_get_text(json, "kind", &kind, err) != 0)
		return -1;
	if (strcmp(kind, "xmin") != 0)
		return record_wrong("kind", err);
	h->kind = HORIZON_XMIN;
	if (record_get_time(json, "read_at", &h->read_at, err) != 0 ||
	    read_number(json, "xid", &h->xid, err) != 0 ||
	    read_lsn(json, &h->lsn, err) != 0 ||
	    json_get_u64(json, "timeline", &timeline, err) != 0 ||
	    read_number(json, "system", &h->system, err) != 0)
		return -1;
	h->timeline = (uint32_t)timeline;
	if (timeline > UINT32_MAX)
		return record_wrong("timeline", err);
	if (h->read_at == 0 || h->xid == 0)
		return record_wrong(h->xid == 0 ? "xid" : "read_at", err);
	return 0;
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
	struct horizon h = {.kind = HORIZON_XMIN, .read_at = read_at};
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
