/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/opts.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/num.h"
#include "lib/job/draw.h"
#include "lib/job/scan.h"
#include "lib/store/names.h"

const struct option_row option_rows[OPT_COUNT] = {
#define OPTION(name, longname, shortname, arg, kind, on, help) \
	{longname, shortname, arg, kind, on, help},
#include "cmd/options.def"
#undef OPTION
};

/* The longest KIND_SPAN: what waits longer has another way to be told. */
#define SPAN_MAX_MS (INT64_C(24) * 3600 * 1000)

/* Keys of options without a letter begin where no letter is. */
#define KEY_BASE 0x200

static bool is_choice(const char *choices, const char *text)
{
	size_t len = strlen(text);

	for (const char *p = choices; len > 0;) {
		size_t n = strcspn(p, "|");

		if (n == len && memcmp(p, text, n) == 0)
			return true;
		if (p[n] == '\0')
			break;
		p += n + 1;
	}
	return false;
}

static bool is_count(const char *text, uint64_t least, uint64_t most)
{
	uint64_t n;

	return num_u64(text, &n) == 0 && n >= least && n <= most;
}

/* As expected(), for counts with bounds and for times. */
static const char *expected_within(enum option_kind kind, const char *text)
{
	int64_t ms;

	switch (kind) {
	case KIND_COUNT:
		return is_count(text, 0, 9) ? NULL : "a number from 0 to 9";
	case KIND_MEGABYTES:
		return is_count(text, 0, UINT64_C(1) << 24)
			       ? NULL
			       : "a whole number of MiB up to 16777216";
	case KIND_BUCKETS:
		return is_count(text, 1, 65536) ? NULL
						: "a number from 1 to 65536";
	case KIND_JOBS:
		return is_count(text, 1, SCAN_JOBS_MAX)
			       ? NULL
			       : "a number of workers from 1 to 64";
	case KIND_REPLICAS:
		return is_count(text, 0, 1000) ? NULL
					       : "a number from 0 to 1000";
	case KIND_DEADLINE:
		return clock_parse_span(text, &ms) == 0 ||
				       clock_parse_time(text, &ms) == 0
			       ? NULL
			       : "a duration, as 30s, 10m, 2h or 1d, or a "
				 "time, as 2026-12-01T05:00:00Z";
	case KIND_SPAN:
		return clock_parse_span(text, &ms) == 0 && ms > 0 &&
				       ms <= SPAN_MAX_MS
			       ? NULL
			       : "a duration from 1s to 1d, as 30s or 2m";
	case KIND_TIME:
		return clock_parse_time(text, &ms) == 0 && ms > 0 &&
				       ms <= clock_wall_ms()
			       ? NULL
			       : "a time that is past, as "
				 "2026-12-01T05:00:00Z";
	case KIND_WAIT:
		return clock_parse_span(text, &ms) == 0 && ms <= SPAN_MAX_MS
			       ? NULL
			       : "a duration up to 1d, as 0s or 30s";
	case KIND_SAMPLE:
		return is_count(text, 1, DRAW_MAX)
			       ? NULL
			       : "a number from 1 to 1000000";
	default:
		return "a value";
	}
}

/* NULL if text is a value of the option, else what it should have been. */
static const char *expected(const struct option_row *row, const char *text)
{
	uint64_t n;
	double x;

	switch (row->kind) {
	case KIND_FLAG:
		return is_choice("yes|no", text) ? NULL : "yes or no";
	case KIND_TEXT:
	case KIND_LIST:
		/* --null '' is the one empty text that means something. */
		return text[0] != '\0' || row == &option_rows[OPT_NULL_TEXT]
			       ? NULL
			       : "a text that is not empty";
	case KIND_CHOICE:
		return is_choice(row->arg, text) ? NULL : row->arg;
	case KIND_U64:
		return num_u64(text, &n) == 0 ? NULL : "a whole number";
	case KIND_BYTES:
		return num_bytes(text, &n) == 0 && n > 0
			       ? NULL
			       : "bytes, as 1048576, 512K or 100M";
	case KIND_RATE:
		return num_double(text, &x) == 0 && x > 0 && x < 1
			       ? NULL
			       : "a rate between 0 and 1, as 0.01";
	case KIND_PERCENT:
		return num_double(text, &x) == 0 && x <= 10000
			       ? NULL
			       : "a percentage from 0 to 10000, without a sign";
	case KIND_CAPACITY:
		return strcmp(text, "auto") == 0 ||
				       is_count(text, 1, UINT64_MAX)
			       ? NULL
			       : "a whole number above 0, or auto";
	case KIND_ID:
		return names_id_valid(text)
			       ? NULL
			       : "a generation, as 20261130T195654Z-1a2b";
	default:
		return expected_within(row->kind, text);
	}
}

int opts_add(struct opts *opts, enum option_id id, const char *text,
	     enum opt_place place, struct error *err)
{
	const struct option_row *row = &option_rows[id];
	struct opt_value *value = &opts->values[id];
	const char *should = expected(row, text);
	const char **items;

	if (should != NULL)
		return error_set(
			err, ERROR_USAGE, "option --%s: '%.64s' is not %s%s",
			row->longname, text,
			row->kind == KIND_CHOICE ? "one of " : "", should);
	items = realloc(value->items, (value->count + 1) * sizeof(*items));
	if (items == NULL)
		return error_nomem(err);
	items[value->count++] = text;
	value->items = items;
	value->place = place;
	return 0;
}

enum option_id opts_find(const char *longname)
{
	int i = 0;

	while (i < OPT_COUNT && strcmp(option_rows[i].longname, longname) != 0)
		i++;
	return (enum option_id)i;
}

struct parse {
	struct opts *opts;
	struct error *err;
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	if (key == ARGP_KEY_ARGS) {
		p->opts->args = state->argv + state->next;
		p->opts->arg_count = (size_t)(state->argc - state->next);
		state->next = state->argc;
		return 0;
	}
	for (int i = 0; i < OPT_COUNT; i++) {
		const struct option_row *row = &option_rows[i];
		const char *text = arg;

		if (key != KEY_BASE + i &&
		    (row->shortname == 0 || key != row->shortname))
			continue;
		if (row->kind == KIND_FLAG)
			text = "yes";
		else if (row->kind == KIND_COUNT)
			text = "1";
		return opts_add(p->opts, (enum option_id)i, text, PLACE_LINE,
				p->err) == 0
			       ? 0
			       : EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

static int parse(struct opts *opts, int argc, char **argv, struct error *err)
{
	struct argp_option table[OPT_COUNT + 1];
	struct parse p = {opts, err};
	struct argp argp;
	char doc[1024];
	int n = 0;
	error_t rc;

	memset(table, 0, sizeof(table));
	for (int i = 0; i < OPT_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		if ((row->on & opts->command->mask) == 0)
			continue;
		table[n].name = row->longname;
		table[n].key =
			row->shortname != 0 ? row->shortname : KEY_BASE + i;
		table[n].arg = row->arg;
		table[n].doc = row->help;
		n++;
	}
	memset(&argp, 0, sizeof(argp));
	argp.options = table;
	argp.parser = parse_opt;
	if (opts->command->args[0] != '\0')
		argp.args_doc = opts->command->args;
	(void)snprintf(doc, sizeof(doc),
		       "bloomctl %s: %s.\v%s\n\nThe manual page is "
		       "bloomctl-%s(1).",
		       opts->command->name, opts->command->summary,
		       opts->command->more, opts->command->name);
	argp.doc = doc;
	rc = argp_parse(&argp, argc, argv, 0, NULL, &p);
	if (rc == 0)
		return 0;
	if (err->code == ERROR_NONE)
		return error_errno(err, ERROR_INTERNAL, rc, "options");
	return -1;
}

int opts_read(struct opts *opts, const struct command *command, int argc,
	      char **argv, opts_lookup *lookup, struct error *err)
{
	memset(opts, 0, sizeof(*opts));
	opts->command = command;
	opts->lookup = lookup;
	if (parse(opts, argc, argv, err) != 0)
		return -1;
	if (config_read(opts, lookup, err) != 0)
		return -1;
	if (pairs_choose(opts, err) != 0)
		return -1;
	return 0;
}

void opts_release(struct opts *opts)
{
	for (int i = 0; i < OPT_COUNT; i++)
		free(opts->values[i].items);
	buf_release(&opts->config);
}

bool opts_has(const struct opts *opts, enum option_id id)
{
	return opts->values[id].count > 0;
}

const char *opts_text(const struct opts *opts, enum option_id id)
{
	const struct opt_value *value = &opts->values[id];

	return value->count > 0 ? value->items[value->count - 1] : NULL;
}

const struct opt_value *opts_list(const struct opts *opts, enum option_id id)
{
	return &opts->values[id];
}

bool opts_flag(const struct opts *opts, enum option_id id)
{
	const char *text = opts_text(opts, id);

	return text != NULL && strcmp(text, "yes") == 0;
}

uint64_t opts_u64(const struct opts *opts, enum option_id id, uint64_t none)
{
	const char *text = opts_text(opts, id);
	uint64_t n = none;

	if (text == NULL)
		return none;
	if (option_rows[id].kind == KIND_COUNT) {
		n = 0;
		for (size_t i = 0; i < opts->values[id].count; i++) {
			uint64_t one = 0;

			(void)num_u64(opts->values[id].items[i], &one);
			n += one;
		}
	} else if (option_rows[id].kind == KIND_BYTES) {
		(void)num_bytes(text, &n);
	} else if (option_rows[id].kind == KIND_MEGABYTES) {
		(void)num_u64(text, &n);
		n <<= 20;
	} else {
		(void)num_u64(text, &n);
	}
	return n;
}

int64_t opts_span(const struct opts *opts, enum option_id id, int64_t none)
{
	const char *text = opts_text(opts, id);
	int64_t ms = none;

	if (text != NULL)
		(void)clock_parse_span(text, &ms);
	return ms;
}

double opts_double(const struct opts *opts, enum option_id id, double none)
{
	const char *text = opts_text(opts, id);
	double x = none;

	if (text != NULL)
		(void)num_double(text, &x);
	return x;
}

int opts_require(const struct opts *opts, enum option_id id, struct error *err)
{
	const struct option_row *row = &option_rows[id];

	if (opts_has(opts, id))
		return 0;
	(void)error_set(err, ERROR_USAGE, "option --%s %s: missing",
			row->longname, row->arg);
	return error_hint(err, "%s", row->help);
}

int opts_no_args(const struct opts *opts, struct error *err)
{
	if (opts->arg_count == 0)
		return 0;
	(void)error_set(err, ERROR_USAGE, "argument '%.64s': none is expected",
			opts->args[0]);
	return error_hint(err, "bloomctl %s --help lists the options",
			  opts->command->name);
}
