/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/inputs.h"

/* Unless told, a standby may take so long to come up to the writer; in ms. */
#define MAX_LAG 60000

int inputs_writer(const struct opts *opts, const char **word, struct error *err)
{
	bool password;
	bool is;

	*word = opts_text(opts, OPT_WRITER);
	if (source_is_database(*word, &is, &password, err) != 0)
		return -1;
	if (!is)
		return error_set(err, ERROR_USAGE,
				 "option --writer: it is no database, as "
				 "postgresql://HOST/DATABASE");
	return password
		       ? inputs_secret(opts, OPT_WRITER, "BLOOMCTL_WRITER", err)
		       : 0;
}

/* Others have a --writer, too, and ask it for other things. */
static bool takes_horizon(const struct opts *opts)
{
	return (option_rows[OPT_MAX_LAG].on & opts->command->mask) != 0;
}

int inputs_no_query(const struct opts *opts, struct error *err)
{
	static const enum option_id ids[] = {
		OPT_TABLE,          OPT_WHERE,   OPT_QUERY,
		OPT_CHANGED_COLUMN, OPT_OVERLAP, OPT_MAX_LAG,
		OPT_MAX_HORIZON_AGE};
	static const enum option_id writer[] = {OPT_WRITER};
	static const char why[] =
		"it is for a database, and the source is none";

	if (takes_horizon(opts) &&
	    inputs_refuse(opts, writer, 1, why, err) != 0)
		return -1;
	return inputs_refuse(opts, ids, sizeof(ids) / sizeof(ids[0]), why, err);
}

int inputs_query(struct inputs *in, const struct opts *opts, struct error *err)
{
	struct source_query *q = &in->query;

	q->table = opts_text(opts, OPT_TABLE);
	q->where = opts_text(opts, OPT_WHERE);
	q->query = opts_text(opts, OPT_QUERY);
	q->overlap_ms = -1;
	if (q->where != NULL && q->table == NULL)
		return error_set(err, ERROR_USAGE,
				 "option --where: it needs --table");
	if (!takes_horizon(opts))
		return 0;
	q->changed = opts_text(opts, OPT_CHANGED_COLUMN);
	q->overlap_ms = opts_span(opts, OPT_OVERLAP, -1);
	q->wait_ms = opts_span(opts, OPT_MAX_LAG, MAX_LAG);
	q->max_age_ms = opts_span(opts, OPT_MAX_HORIZON_AGE, 0);
	return opts_has(opts, OPT_WRITER) ? inputs_writer(opts, &q->writer, err)
					  : 0;
}
