/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/lookup.h"

#include "cmd/inputs.h"
#include "lib/rows/source.h"

/* Options that mean something to a database only. */
static const enum option_id of_database[] = {OPT_TABLE, OPT_WHERE, OPT_QUERY,
					     OPT_EXPIRES};

/* What the command line asks for, as against a file or the environment. */
static bool on_line(const struct opts *opts, enum option_id id)
{
	return opts_has(opts, id) && opts_list(opts, id)->place == PLACE_LINE;
}

/* Whether the word of an option is a database. */
static int is_database(const struct opts *opts, enum option_id id,
		       const char *variable, bool *is, struct error *err)
{
	bool password = false;

	if (source_is_database(opts_text(opts, id), is, &password, err) != 0)
		return -1;
	return password ? inputs_secret(opts, id, variable, err) : 0;
}

/* A file or the environment may name files, for other commands. */
static int read_source(const struct opts *opts, const char **word,
		       struct error *err)
{
	bool line = on_line(opts, OPT_SOURCE);
	bool is;

	if (is_database(opts, OPT_SOURCE, "BLOOMCTL_SOURCE", &is, err) != 0)
		return -1;
	if (opts_list(opts, OPT_SOURCE)->count > 1 && (is || line))
		return error_set(err, ERROR_USAGE,
				 "option --source: one database is asked, and "
				 "more words are given");
	if (!is && line) {
		(void)error_set(err, ERROR_USAGE,
				"option --source: it is no database, and "
				"lookup asks nothing else");
		return error_hint(err, "bloomctl verify asks for the rows of "
				       "files");
	}
	if (is)
		*word = opts_text(opts, OPT_SOURCE);
	return 0;
}

/* Nothing of a database may be asked for where there is none. */
static int read_database(const struct opts *opts, struct tiers_database *db,
			 struct error *err)
{
	*db = (struct tiers_database){
		.primary = opts_has(opts, OPT_WRITER),
		.table = opts_text(opts, OPT_TABLE),
		.where = opts_text(opts, OPT_WHERE),
		.query = opts_text(opts, OPT_QUERY),
		.expires = opts_text(opts, OPT_EXPIRES),
	};
	if (opts_has(opts, OPT_SOURCE) &&
	    read_source(opts, db->primary ? &db->of : &db->word, err) != 0)
		return -1;
	if (db->primary && inputs_writer(opts, &db->word, err) != 0)
		return -1;
	if (db->word == NULL)
		return inputs_refuse(
			opts, of_database,
			sizeof(of_database) / sizeof(of_database[0]),
			"it is for a database, and none is named", err);
	if (db->where != NULL && db->table == NULL)
		return error_set(err, ERROR_USAGE,
				 "option --where: it needs --table");
	if (db->table != NULL || db->query != NULL)
		return 0;
	/* A file or the environment may name it for other commands. */
	if (!on_line(opts, OPT_SOURCE) && !on_line(opts, OPT_WRITER)) {
		db->word = NULL;
		return 0;
	}
	(void)error_set(err, ERROR_USAGE,
			"nothing says which rows of the database");
	return error_hint(err, "give --table [SCHEMA.]NAME, with --where "
			       "CONDITION if not all, or --query SQL");
}

static int read_pattern(const struct opts *opts, enum option_id id,
			const char **out, struct error *err)
{
	*out = opts_text(opts, id);
	if (*out == NULL || tiers_pattern(*out))
		return 0;
	(void)error_set(err, ERROR_USAGE,
			"option --%s: the pattern must hold " TIERS_KEY
			", once",
			option_rows[id].longname);
	return error_hint(err, "as %s:" TIERS_KEY, option_rows[id].longname);
}

int lookupask_read(const struct opts *opts, struct tiers_database *database,
		   struct tiers_question *out, struct error *err)
{
	if (read_database(opts, database, err) != 0 ||
	    read_pattern(opts, OPT_RECENT, &out->recent, err) != 0 ||
	    read_pattern(opts, OPT_CACHE, &out->cache, err) != 0)
		return -1;
	out->database = database->word != NULL ? database : NULL;
	out->generation = opts_text(opts, OPT_GENERATION);
	return 0;
}

int lookupask_key(const struct opts *opts, const struct rowkey *key,
		  const struct target *target, struct tiers_question *out,
		  struct error *err)
{
	out->key = key->bytes;
	out->len = key->at.len;
	out->bucket = key->at.bucket;
	out->values = (const char *const *)key->values;
	out->nul = key->nul;
	out->server = opts_text(opts, OPT_TARGET);
	out->options = &target->server;
	/* A folder has neither; a file may name them for other targets. */
	if (!redis_target_is(out->server)) {
		out->recent = NULL;
		out->cache = NULL;
	}
	if (out->database == NULL || out->values != NULL)
		return 0;
	if (on_line(opts, OPT_SOURCE) || on_line(opts, OPT_WRITER))
		return error_set(err, ERROR_USAGE,
				 "option --input-format key: a database is "
				 "asked by the values of fields, and a key has "
				 "none");
	out->database = NULL;
	return 0;
}
