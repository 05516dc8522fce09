/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <string.h>

#include "internal.h"

struct option {
	const char *name;
	int (*set)(struct bk_parser *p, struct bk_slice value);
};

static int set_word(struct bk_parser *p, const char *name,
		    struct bk_slice value, const char *no, const char *yes,
		    bool *out)
{
	*out = bk_slice_is(value, yes);
	if (*out || bk_slice_is(value, no))
		return BLOOMKEY_OK;
	return bk_error(p->err, p->line, "%s: '%s' is neither '%s' nor '%s'",
			name, bk_escape(value).text, no, yes);
}

static int set_number(struct bk_parser *p, const char *name,
		      struct bk_slice value, uint64_t min, uint64_t max,
		      uint64_t *out)
{
	if (!bk_slice_number(value, min, max, out))
		return bk_error(p->err, p->line,
				"%s: '%s' is not a number from %" PRIu64
				" to %" PRIu64,
				name, bk_escape(value).text, min, max);
	return BLOOMKEY_OK;
}

static int set_encoding_of(struct bk_parser *p, struct bk_slice value,
			   enum bk_encoding *out)
{
	bool bytes;
	int rc = set_word(p, "encoding", value, "utf-8", "bytes", &bytes);

	*out = bytes ? BK_ENCODING_BYTES : BK_ENCODING_UTF8;
	return rc;
}

static int set_version(struct bk_parser *p, struct bk_slice value)
{
	if (!bk_slice_is(value, "1"))
		return bk_error(p->err, p->line,
				"version: '%s' is not supported, only '1' is",
				bk_escape(value).text);
	return BLOOMKEY_OK;
}

static int set_name(struct bk_parser *p, struct bk_slice value)
{
	if (!bk_name_valid(value))
		return bk_error(p->err, p->line,
				"name: '%s' is not 1 to 64 of A-Za-z0-9_.-",
				bk_escape(value).text);
	memcpy(p->spec->name, value.data, value.len);
	p->spec->name[value.len] = '\0';
	return BLOOMKEY_OK;
}

static int set_key(struct bk_parser *p, struct bk_slice value)
{
	p->spec->key = value;
	return BLOOMKEY_OK;
}

static int set_buckets(struct bk_parser *p, struct bk_slice value)
{
	uint64_t n = 0;
	int rc = set_number(p, "buckets", value, 1, BK_BUCKETS_MAX, &n);

	p->spec->buckets = (uint32_t)n;
	return rc;
}

static int set_filter(struct bk_parser *p, struct bk_slice value)
{
	p->spec->filter = value;
	return BLOOMKEY_OK;
}

static int set_seed(struct bk_parser *p, struct bk_slice value)
{
	return set_number(p, "seed", value, 0, UINT64_MAX, &p->spec->seed);
}

static int set_delimiter(struct bk_parser *p, struct bk_slice value)
{
	if (value.len != 1 || value.data[0] < 0x20 || value.data[0] > 0x7e)
		return bk_error(p->err, p->line,
				"delimiter: '%s' is not one printable ASCII "
				"character",
				bk_escape(value).text);
	p->spec->delimiter = value.data[0];
	return BLOOMKEY_OK;
}

static int set_encoding(struct bk_parser *p, struct bk_slice value)
{
	return set_encoding_of(p, value, &p->spec->encoding);
}

static int set_sentinel(struct bk_parser *p, struct bk_slice value)
{
	if (bk_slice_is(value, "none")) {
		p->spec->sentinel_kind = BK_SENTINEL_NONE;
	} else {
		p->spec->sentinel_kind = BK_SENTINEL_BYTES;
		p->spec->sentinel = value;
	}
	return BLOOMKEY_OK;
}

static struct bk_section *section_at_hand(struct bk_parser *p)
{
	return &p->sections[p->nsections - 1];
}

static int set_field_column(struct bk_parser *p, struct bk_slice value)
{
	section_at_hand(p)->column = value.data;
	return BLOOMKEY_OK;
}

static int set_field_encoding(struct bk_parser *p, struct bk_slice value)
{
	return set_encoding_of(p, value, &section_at_hand(p)->rules.encoding);
}

static int set_field_empty(struct bk_parser *p, struct bk_slice value)
{
	return set_word(p, "empty", value, "reject", "allow",
			&section_at_hand(p)->rules.empty_allowed);
}

static int set_field_null(struct bk_parser *p, struct bk_slice value)
{
	return set_word(p, "null", value, "reject", "empty",
			&section_at_hand(p)->rules.null_is_empty);
}

static int set_field_transform(struct bk_parser *p, struct bk_slice value)
{
	return bk_transforms_compile(value, &section_at_hand(p)->rules, p->line,
				     p->err);
}

static int set_field_secret(struct bk_parser *p, struct bk_slice value)
{
	return bk_secret_compile(value, &section_at_hand(p)->secret, p->line,
				 p->err);
}

static const struct option options[BK_OPTIONS] = {
	[BK_OPTION_VERSION] = {"version", set_version},
	[BK_OPTION_NAME] = {"name", set_name},
	[BK_OPTION_KEY] = {"key", set_key},
	[BK_OPTION_BUCKETS] = {"buckets", set_buckets},
	[BK_OPTION_FILTER] = {"filter", set_filter},
	[BK_OPTION_SEED] = {"seed", set_seed},
	[BK_OPTION_DELIMITER] = {"delimiter", set_delimiter},
	[BK_OPTION_ENCODING] = {"encoding", set_encoding},
	[BK_OPTION_SENTINEL] = {"sentinel", set_sentinel},
};

static const struct option field_options[BK_FIELD_OPTIONS] = {
	[BK_FIELD_OPTION_COLUMN] = {"column", set_field_column},
	[BK_FIELD_OPTION_ENCODING] = {"encoding", set_field_encoding},
	[BK_FIELD_OPTION_EMPTY] = {"empty", set_field_empty},
	[BK_FIELD_OPTION_NULL] = {"null", set_field_null},
	[BK_FIELD_OPTION_TRANSFORM] = {"transform", set_field_transform},
	[BK_FIELD_OPTION_SECRET] = {"secret", set_field_secret},
};

/* Sets one of the n names in table; lines says which have been set. */
static int set_option(struct bk_parser *p, const struct option *table, size_t n,
		      unsigned *lines, const struct bk_line *line)
{
	for (size_t i = 0; i < n; i++) {
		if (!bk_slice_is(line->name, table[i].name))
			continue;
		if (lines[i] != 0)
			return bk_error(p->err, p->line,
					"'%s' is repeated, it stands in line "
					"%u already",
					table[i].name, lines[i]);
		lines[i] = p->line;
		return table[i].set(p, line->value);
	}
	return bk_error(p->err, p->line, "unknown name '%s' in [%s]",
			bk_escape(line->name).text,
			p->where == BK_IN_FIELD ? "field" : "keyspec");
}

int bk_option_set(struct bk_parser *p, const struct bk_line *line)
{
	if (p->where == BK_IN_FIELD)
		return set_option(p, field_options, BK_FIELD_OPTIONS,
				  section_at_hand(p)->lines, line);
	if (p->where == BK_IN_KEYSPEC)
		return set_option(p, options, BK_OPTIONS, p->lines, line);
	return bk_error(p->err, p->line, "'%s' stands before any section",
			bk_escape(line->name).text);
}

int bk_options_complete(const struct bk_parser *p)
{
	for (size_t i = 0; i < BK_OPTIONS_NEEDED; i++)
		if (p->lines[i] == 0)
			return bk_error(p->err, 0,
					"'%s' is missing in [keyspec]",
					options[i].name);
	return BLOOMKEY_OK;
}
