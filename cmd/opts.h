/* SPDX-License-Identifier: BSD-2-Clause
 *
 * opts: the values of a subcommand's options, from the command line, the
 * configuration file and the environment, in that order of strength.
 *
 * Values are checked when they are read, against the kind that options.def
 * gives, wherever they come from; the getters cannot fail.
 */
#ifndef BLOOMCTL_CMD_OPTS_H
#define BLOOMCTL_CMD_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/cmd.h"
#include "lib/base/buf.h"
#include "lib/base/error.h"

enum option_kind {
	KIND_FLAG,      /* on or off; yes or no in a file or the environment */
	KIND_COUNT,     /* a flag that may be repeated; a number in a file */
	KIND_TEXT,      /* any text but the empty one */
	KIND_LIST,      /* as KIND_TEXT, repeatable */
	KIND_CHOICE,    /* one of the argument's words */
	KIND_U64,       /* a whole number */
	KIND_BYTES,     /* a whole number with a unit */
	KIND_MEGABYTES, /* 0 to 2^24, of 2^20 bytes; opts_u64() gives bytes */
	KIND_RATE,      /* above 0, below 1 */
	KIND_PERCENT,   /* 0 to 10,000 */
	KIND_BUCKETS,   /* 1 to 65,536 */
	KIND_JOBS,      /* 1 to SCAN_JOBS_MAX */
	KIND_REPLICAS,  /* 0 to 1,000 */
	KIND_CAPACITY,  /* a whole number above 0, or "auto" */
	KIND_DEADLINE,  /* a duration or a time */
	KIND_SPAN,      /* a duration, 1 s to 1 d */
	KIND_TIME,      /* a time of RFC 3339 that is past */
	KIND_WAIT,      /* a duration, 0 s to 1 d */
	KIND_SAMPLE,    /* 1 to DRAW_MAX */
	KIND_ID,        /* a generation's id */
};

enum option_id {
#define OPTION(name, longname, shortname, arg, kind, on, help) OPT_##name,
#include "cmd/options.def"
#undef OPTION
	OPT_COUNT
};

struct option_row {
	const char *longname;
	int shortname; /* 0: none */
	const char *arg;
	enum option_kind kind;
	unsigned on;
	const char *help;
};

/* options.def as a table, by enum option_id. */
extern const struct option_row option_rows[OPT_COUNT];

/* Where a value stands, the strongest place first. */
enum opt_place { PLACE_LINE, PLACE_FILE, PLACE_ENVIRONMENT };

struct opt_value {
	const char **items; /* owned array of borrowed texts */
	size_t count;
	enum opt_place place; /* of all its items */
};

/* How a word looks up the environment; main hands over getenv(). */
typedef char *opts_lookup(const char *name);

struct opts {
	const struct command *command;
	opts_lookup *lookup; /* for what a keyspec names */
	struct opt_value values[OPT_COUNT];
	char **args; /* what is no option; borrowed from argv */
	size_t arg_count;
	struct buf config; /* the configuration's text; values point into it */
};

/*
 * Reads a subcommand's command line (argv[0] is "bloomctl NAME"), then its
 * configuration and environment.  Of two options that exclude each other the
 * one from the stronger place counts; from the same place they are
 * ERROR_USAGE.  --help and --usage print and exit, as do unknown options (64).
 * ERROR_USAGE for a bad value on the command line, ERROR_CONFIG for one
 * elsewhere.  opts_release() in any case.
 */
int opts_read(struct opts *opts, const struct command *command, int argc,
	      char **argv, opts_lookup *lookup, struct error *err);

void opts_release(struct opts *opts);

/* Whether an option was given anywhere. */
bool opts_has(const struct opts *opts, enum option_id id);

/* Its last text, or NULL. */
const char *opts_text(const struct opts *opts, enum option_id id);

/* All its texts, for KIND_LIST. */
const struct opt_value *opts_list(const struct opts *opts, enum option_id id);

bool opts_flag(const struct opts *opts, enum option_id id);
uint64_t opts_u64(const struct opts *opts, enum option_id id, uint64_t none);
int64_t opts_span(const struct opts *opts, enum option_id id, int64_t none);
double opts_double(const struct opts *opts, enum option_id id, double none);

/* 0, or ERROR_USAGE that says which option is missing and what it is for. */
int opts_require(const struct opts *opts, enum option_id id, struct error *err);

/* 0, or ERROR_USAGE if there are arguments and the command takes none. */
int opts_no_args(const struct opts *opts, struct error *err);

/* Adds a value; for the reader of the configuration (cmd/config.c). */
int opts_add(struct opts *opts, enum option_id id, const char *text,
	     enum opt_place place, struct error *err);

/* The option of a long name, or OPT_COUNT. */
enum option_id opts_find(const char *longname);

/*
 * Of two options that exclude each other leaves the one from the stronger
 * place; from the same place they are ERROR_USAGE (cmd/pairs.c).
 */
int pairs_choose(struct opts *opts, struct error *err);

/*
 * Reads configuration and environment into what the command line left open
 * (cmd/config.c).
 */
int config_read(struct opts *opts, opts_lookup *lookup, struct error *err);

#endif
