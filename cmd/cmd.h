/* SPDX-License-Identifier: BSD-2-Clause
 *
 * cmd: what a subcommand is, and the one list of them.
 *
 * To add a subcommand NAME: write cmd/NAME.c with
 * `int cmd_NAME(const struct opts *opts, struct error *err)`; add its line to
 * COMMANDS below; add ON_NAME to the rows of cmd/options.def that it takes;
 * write man/bloomctl-NAME.1 and tests/NAME.bats.  tests/options.bats fails
 * until page, parser and --help name the same options.
 *
 * A subcommand parses nothing, works nothing out and prints no error: it
 * turns options into a call of lib/job and the answer into text.  It returns
 * the exit status of success (0, or another that its page documents), or -1
 * with *err set.
 */
#ifndef BLOOMCTL_CMD_CMD_H
#define BLOOMCTL_CMD_CMD_H

#include "lib/base/error.h"

struct opts;

/* COMMAND(NAME, ON_FLAG, "arguments", "what it does, one line", "more") */
#define COMMANDS                                                               \
	COMMAND(size, ON_SIZE, "",                                             \
		"plans a set: capacity, bits, memory, number of filters",      \
		"Rows are counted in a source, or said by --keys; the number " \
		"of filters comes from a keyspec or --buckets.")               \
	COMMAND(build, ON_BUILD, "",                                           \
		"builds a new generation of a set beside the live one",        \
		"Reads every row of the source into a generation of its own. " \
		"What is live is not touched; bloomctl swap promotes it.")     \
	COMMAND(swap, ON_SWAP, "", "makes a complete generation the live one", \
		"Checks every filter of the generation and its number of "     \
		"rows, then promotes it; readers never find a filter "         \
		"missing.")                                                    \
	COMMAND(sync, ON_SYNC, "",                                             \
		"adds what changed since to the live generation",              \
		"Reads the rows that a database committed since, or takes "    \
		"rows from a pipe as they come and says of each that it is "   \
		"in.  Fit for every minute, beside builds and swaps.")         \
	COMMAND(rebuild, ON_REBUILD, "",                                       \
		"builds, swaps and verifies under one lock, for a schedule",   \
		"Removes what nobody needs, looks at both ends, builds a "     \
		"generation, makes it live with what was committed "           \
		"meanwhile, and asks for its rows.  What readers get changes " \
		"only after all checks.")                                      \
	COMMAND(export, ON_EXPORT, "",                                         \
		"copies the rows of a source, and says that they are whole",   \
		"Writes rows, or their keys, to files with a list, or to "     \
		"standard output with a trailer, only if the source was "      \
		"whole.")                                                      \
	COMMAND(inspect, ON_INSPECT, "",                                       \
		"shows what a set is and holds, filter by filter",             \
		"Reads and checks every filter of the live generation, or of " \
		"another one.")                                                \
	COMMAND(verify, ON_VERIFY, "",                                         \
		"asks for every row of a source, and for random non-members",  \
		"Every row must be found, and non-members no more often than " \
		"the error rate allows.")                                      \
	COMMAND(lookup, ON_LOOKUP, "[VALUE...]",                               \
		"asks for one key and says who answers what",                  \
		"The values are those of the keyspec's fields in template "    \
		"order.  Ends with 0: maybe a member, 1: certainly not, or "   \
		"81: it is in the database, and readers are told no.")         \
	COMMAND(doctor, ON_DOCTOR, "",                                         \
		"says whether target and source are fit, and what is wrong",   \
		"Looks at the target, its engine, servers, rights and room, "  \
		"and at the set in it; at the source, its server, rights and " \
		"plan.  Reads no row and writes nothing.  Ends with 0, or "    \
		"with what the worst finding would end a command with.")       \
	COMMAND(key, ON_KEY, "[VALUE...]",                                     \
		"prints the key, hash, bucket and filter of a row",            \
		"The values are those of the keyspec's fields in template "    \
		"order.")

enum command_bit {
#define COMMAND(name, on, args, summary, more) on##_BIT,
	COMMANDS
#undef COMMAND
		COMMAND_COUNT
};

enum command_mask {
	ON_SIZE = 1u << ON_SIZE_BIT,
	ON_BUILD = 1u << ON_BUILD_BIT,
	ON_SWAP = 1u << ON_SWAP_BIT,
	ON_SYNC = 1u << ON_SYNC_BIT,
	ON_REBUILD = 1u << ON_REBUILD_BIT,
	ON_EXPORT = 1u << ON_EXPORT_BIT,
	ON_INSPECT = 1u << ON_INSPECT_BIT,
	ON_VERIFY = 1u << ON_VERIFY_BIT,
	ON_LOOKUP = 1u << ON_LOOKUP_BIT,
	ON_DOCTOR = 1u << ON_DOCTOR_BIT,
	ON_KEY = 1u << ON_KEY_BIT,
	/* Those that read rows of a source. */
	ON_ROWS = ON_SIZE | ON_BUILD | ON_SWAP | ON_REBUILD | ON_VERIFY |
		  ON_EXPORT,
	/* Those that note from where on rows are lacking, or add these. */
	ON_HORIZON = ON_BUILD | ON_SWAP | ON_SYNC | ON_REBUILD | ON_EXPORT,
	/* Those that may ask a database. */
	ON_QUERY = ON_ROWS | ON_SYNC | ON_DOCTOR | ON_LOOKUP,
	/* Those that open a set in a target. */
	ON_STORE = ON_BUILD | ON_SWAP | ON_REBUILD | ON_SYNC | ON_INSPECT |
		   ON_VERIFY | ON_LOOKUP | ON_DOCTOR,
	ON_ALL = (1u << COMMAND_COUNT) - 1,
};

struct command {
	const char *name;
	unsigned mask; /* one bit of enum command_mask */
	const char *args;
	const char *summary;
	const char *more;
	int (*run)(const struct opts *opts, struct error *err);
};

#define COMMAND(name, on, args, summary, more) \
	int cmd_##name(const struct opts *opts, struct error *err);
COMMANDS
#undef COMMAND

#endif
