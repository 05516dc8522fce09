/* SPDX-License-Identifier: BSD-2-Clause
 *
 * inputs: what several subcommands make of their options in the same way: a
 * keyspec, a source with its row format, an engine.
 */
#ifndef BLOOMCTL_CMD_INPUTS_H
#define BLOOMCTL_CMD_INPUTS_H

#include "cmd/opts.h"
#include "cmd/progress.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/filter/engine.h"
#include "lib/job/scan.h"

struct inputs {
	struct bloomkey_spec *spec;
	struct source *source;
	struct rowformat format;
	const char **wanted;
	bool database; /* the source is one: it names the columns */
	bool keys;     /* rows are keys (lib/job/keyrow.h) */
	struct source_query query;
	char **names; /* of --columns; the texts live in names_text */
	char *names_text;
	char *source_name; /* all -s words, for records */
	struct rejects rejects;
	struct progress_line line;
	struct scan scan;
};

/* Reads the keyspec of --keyspec; ERROR_CONFIG with file and line. */
int inputs_spec(struct inputs *in, const struct opts *opts, struct error *err);

/* The first field of the keyspec that is keyed; NULL: none, or no keyspec. */
const char *inputs_keyed(const struct inputs *in);

/*
 * What kind of source --source names, and the row format of --input-format, or
 * the usual one, --columns, --header and --null; of a database --table,
 * --where and --query.  Without a keyspec no column is wanted.  ERROR_USAGE
 * where they do not go together, or where a password is on the command line.
 */
int inputs_format(struct inputs *in, const struct opts *opts,
		  enum rowformat_kind usual, struct error *err);

/*
 * The same of rows that are no source's: those of standard input, whatever
 * --source says.
 */
int inputs_rows(struct inputs *in, const struct opts *opts,
		enum rowformat_kind usual, struct error *err);

/*
 * What of a database is read, and who says what is committed there: --table
 * and all options that go with it.  For inputs_format().
 */
int inputs_query(struct inputs *in, const struct opts *opts, struct error *err);

/* ERROR_USAGE if one of those is on the command line, and no database is. */
int inputs_no_query(const struct opts *opts, struct error *err);

/* The word of --writer, which is given: ERROR_USAGE if it is no database. */
int inputs_writer(const struct opts *opts, const char **word,
		  struct error *err);

/*
 * ERROR_USAGE if an option, of a database's word that holds a password, is on
 * the command line.
 */
int inputs_secret(const struct opts *opts, enum option_id id,
		  const char *variable, struct error *err);

/*
 * ERROR_USAGE if the command line has one of those options, saying why it must
 * not; else 0.
 */
int inputs_refuse(const struct opts *opts, const enum option_id *ids,
		  size_t count, const char *why, struct error *err);

/*
 * Opens the sources of --source and fills in the scan and what is done with
 * rows without a key; after the two above.  Where the source is an export its
 * list says how rows are written: ERROR_USAGE if the command line does, too,
 * and ERROR_CONFIG for keys of another keyspec.
 */
int inputs_source(struct inputs *in, const struct opts *opts,
		  struct error *err);

/* Says how many rows were passed over, if any were, after a run. */
void inputs_tell_rejects(const struct inputs *in);

/* The engine of --engine; NULL if it names none. */
const struct engine *inputs_engine(const struct opts *opts);

/* Closes the source, if one is open: what it said of its columns is gone. */
void inputs_close(struct inputs *in);

/* Frees what the above made; a zeroed struct is legal. */
void inputs_release(struct inputs *in);

#endif
