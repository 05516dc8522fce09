/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Options of which only one can be meant, and which of the two that is.
 */
#include "cmd/opts.h"

static const struct {
	enum option_id a, b;
	unsigned on;
} pairs[] = {
	{OPT_QUIET, OPT_VERBOSE, ON_ALL},
	{OPT_CAPACITY, OPT_KEYS, ON_BUILD | ON_REBUILD},
	{OPT_BUCKETS, OPT_KEYSPEC, ON_SIZE},
	{OPT_KEYS, OPT_SOURCE, ON_SIZE},
	{OPT_PRUNE, OPT_ROLLBACK, ON_SWAP},
	{OPT_PRUNE, OPT_GENERATION, ON_SWAP},
	{OPT_PRUNE, OPT_ALLOW_SHRINK, ON_SWAP},
	{OPT_ADOPT, OPT_ROLLBACK, ON_SWAP},
	{OPT_ADOPT, OPT_PRUNE, ON_SWAP},
	{OPT_ADOPT, OPT_GENERATION, ON_SWAP},
	{OPT_ADOPT, OPT_ALLOW_SHRINK, ON_SWAP},
	{OPT_ADOPT, OPT_DRY_RUN, ON_SWAP},
	{OPT_PRUNE, OPT_CATCH_UP, ON_SWAP},
	{OPT_PRUNE, OPT_STATIC, ON_SWAP},
	{OPT_PRUNE, OPT_HORIZON, ON_SWAP},
	{OPT_PRUNE, OPT_SOURCE, ON_SWAP},
	{OPT_PRUNE, OPT_TABLE, ON_SWAP},
	{OPT_PRUNE, OPT_WHERE, ON_SWAP},
	{OPT_PRUNE, OPT_QUERY, ON_SWAP},
	{OPT_PRUNE, OPT_WRITER, ON_SWAP},
	{OPT_RETIRE, OPT_CATCH_UP, ON_SWAP},
	{OPT_RETIRE, OPT_STATIC, ON_SWAP},
	{OPT_RETIRE, OPT_HORIZON, ON_SWAP},
	{OPT_RETIRE, OPT_SOURCE, ON_SWAP},
	{OPT_RETIRE, OPT_TABLE, ON_SWAP},
	{OPT_RETIRE, OPT_WHERE, ON_SWAP},
	{OPT_RETIRE, OPT_QUERY, ON_SWAP},
	{OPT_RETIRE, OPT_WRITER, ON_SWAP},
	{OPT_RETIRE, OPT_ALLOW_SHRINK, ON_SWAP},
	{OPT_RETIRE, OPT_ROLLBACK, ON_SWAP},
	{OPT_RETIRE, OPT_PRUNE, ON_SWAP},
	{OPT_RETIRE, OPT_ADOPT, ON_SWAP},
	{OPT_ADOPT, OPT_CATCH_UP, ON_SWAP},
	{OPT_ADOPT, OPT_STATIC, ON_SWAP},
	{OPT_ADOPT, OPT_HORIZON, ON_SWAP},
	{OPT_STATIC, OPT_HORIZON, ON_SWAP | ON_REBUILD},
	{OPT_TABLE, OPT_QUERY, ON_QUERY},
	{OPT_WHERE, OPT_QUERY, ON_QUERY},
	{OPT_PASSWORD_FILE, OPT_PASSWORD_COMMAND, ON_STORE},
	{OPT_CHECK, OPT_FORMAT, ON_INSPECT},
	{OPT_STDIN, OPT_FINGERPRINT, ON_KEY},
	{OPT_STDIN, OPT_SENTINEL, ON_KEY},
	{OPT_FINGERPRINT, OPT_SENTINEL, ON_KEY},
};

/* Whether an option says something: a flag that is "no" does not. */
static bool says(const struct opts *opts, enum option_id id)
{
	return option_rows[id].kind == KIND_FLAG ? opts_flag(opts, id)
						 : opts_has(opts, id);
}

static int choose_one(struct opts *opts, enum option_id a, enum option_id b,
		      struct error *err)
{
	if (!says(opts, a) || !says(opts, b))
		return 0;
	if (opts->values[a].place == opts->values[b].place)
		return error_set(err, ERROR_USAGE,
				 "options --%s and --%s: only one of them can "
				 "be meant",
				 option_rows[a].longname,
				 option_rows[b].longname);
	opts->values[opts->values[a].place > opts->values[b].place ? a : b]
		.count = 0;
	return 0;
}

int pairs_choose(struct opts *opts, struct error *err)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if ((pairs[i].on & opts->command->mask) != 0 &&
		    choose_one(opts, pairs[i].a, pairs[i].b, err) != 0)
			return -1;
	return 0;
}
