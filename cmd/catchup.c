/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/catchup.h"

#include <string.h>

#include "lib/base/clock.h"

enum catchup_way catchup_way(const struct opts *opts)
{
	const char *way = opts_text(opts, OPT_CATCH_UP);

	if (way == NULL || strcmp(way, "xmin") == 0)
		return CATCHUP_XMIN;
	return strcmp(way, "stamp") == 0 ? CATCHUP_STAMP : CATCHUP_NONE;
}

/* What goes with a way and not with the other. */
static int check_way(const struct opts *opts, const struct inputs *in,
		     struct error *err)
{
	if (catchup_way(opts) == CATCHUP_STAMP && in->query.changed == NULL)
		return error_set(err, ERROR_USAGE,
				 "option --catch-up stamp: it needs "
				 "--changed-column, the column that every "
				 "change of a row moves");
	if (catchup_way(opts) == CATCHUP_XMIN && in->query.query != NULL) {
		(void)error_set(err, ERROR_USAGE,
				"option --query: what changed in its rows "
				"cannot be told by ids of transactions");
		return error_hint(err, "give --table, with --where if not all; "
				       "or --catch-up stamp with "
				       "--changed-column");
	}
	return 0;
}

int catchup_read(struct catchup *out, bool *is, struct inputs *in,
		 const struct opts *opts, struct error *err)
{
	const struct opt_value *words = opts_list(opts, OPT_SOURCE);

	memset(out, 0, sizeof(*out));
	*is = in->database && catchup_way(opts) != CATCHUP_NONE;
	/* A file of options names it for other commands, too. */
	if (in->query.table == NULL && in->query.query == NULL &&
	    words->place != PLACE_LINE)
		*is = false;
	if (!*is)
		return 0;
	if (words->count != 1)
		return error_set(err, ERROR_USAGE,
				 "%zu sources: one database can be caught up "
				 "from",
				 words->count);
	if (in->query.table == NULL && in->query.query == NULL) {
		(void)error_set(err, ERROR_USAGE,
				"nothing says which rows of the database");
		return error_hint(err, "give the --table of the build, with "
				       "its --where if it had one");
	}
	if (check_way(opts, in, err) != 0)
		return -1;
	in->query.columns = in->format.wanted;
	in->query.column_count = in->format.wanted_count;
	progress_init(&in->line, opts_flag(opts, OPT_QUIET));
	out->word = words->items[0];
	out->query = &in->query;
	out->format = &in->format;
	out->stamped = catchup_way(opts) == CATCHUP_STAMP;
	out->jobs = (unsigned)opts_u64(opts, OPT_JOBS, 1);
	out->max_rejects = opts_u64(opts, OPT_MAX_REJECTS, 0);
	out->progress.fn = progress_show;
	out->progress.ctx = &in->line;
	return 0;
}

int catchup_said(const struct opts *opts, bool database, bool *unchanging,
		 int64_t *since, struct error *err)
{
	const char *text = opts_text(opts, OPT_HORIZON);

	*unchanging = opts_flag(opts, OPT_STATIC);
	*since = 0;
	if (text == NULL)
		return 0;
	(void)clock_parse_time(text, since);
	if (database && catchup_way(opts) != CATCHUP_STAMP)
		return error_set(err, ERROR_USAGE,
				 "option --horizon: it needs --catch-up stamp, "
				 "for it is no id of a transaction");
	return 0;
}
