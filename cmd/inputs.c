/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/job/keyrow.h"
#include "lib/rows/exportlist.h"

/* Commands get ours. */
extern char **environ;

int inputs_spec(struct inputs *in, const struct opts *opts, struct error *err)
{
	struct bloomkey_error wrong = {0, ""};
	const char *path;
	int rc;

	if (opts_require(opts, OPT_KEYSPEC, err) != 0)
		return -1;
	path = opts_text(opts, OPT_KEYSPEC);
	rc = bloomkey_load(path, opts->lookup, &in->spec, &wrong);
	if (rc == BLOOMKEY_ENOMEM)
		return error_nomem(err);
	if (rc == 0)
		return 0;
	if (wrong.line > 0)
		(void)error_set(err, ERROR_CONFIG, "keyspec '%s': line %u: %s",
				path, wrong.line, wrong.text);
	else
		(void)error_set(err, ERROR_CONFIG, "keyspec '%s': %s", path,
				wrong.text);
	if (rc == BLOOMKEY_ESECRET)
		return error_hint(err, "SECRETS in keyspec(5) says what a "
				       "secret must be");
	if (rc == BLOOMKEY_EIO)
		return -1;
	return error_hint(err, "keyspec(5) describes the file");
}

const char *inputs_keyed(const struct inputs *in)
{
	size_t n = in->spec != NULL ? bloomkey_fields(in->spec) : 0;

	for (size_t i = 0; i < n; i++)
		if (bloomkey_field_check(in->spec, i) != NULL)
			return bloomkey_field_name(in->spec, i);
	return NULL;
}

/* Cuts --columns at its commas. */
static int split_names(struct inputs *in, const char *columns,
		       struct error *err)
{
	size_t n = 1;
	size_t i = 0;

	for (const char *p = columns; *p != '\0'; p++)
		n += *p == ',';
	in->names_text = strdup(columns);
	in->names = calloc(n, sizeof(char *));
	if (in->names_text == NULL || in->names == NULL)
		return error_nomem(err);
	for (char *p = in->names_text; p != NULL; i++) {
		char *comma = strchr(p, ',');

		if (comma != NULL)
			*comma = '\0';
		if (*p == '\0')
			return error_set(err, ERROR_USAGE,
					 "option --columns: column %zu has no "
					 "name",
					 i + 1);
		in->names[i] = p;
		p = comma != NULL ? comma + 1 : NULL;
	}
	in->format.names = (const char *const *)in->names;
	in->format.name_count = n;
	return 0;
}

int inputs_refuse(const struct opts *opts, const enum option_id *ids,
		  size_t count, const char *why, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (opts_has(opts, ids[i]) &&
		    opts_list(opts, ids[i])->place == PLACE_LINE)
			return error_set(err, ERROR_USAGE, "option --%s: %s",
					 option_rows[ids[i]].longname, why);
	return 0;
}

int inputs_secret(const struct opts *opts, enum option_id id,
		  const char *variable, struct error *err)
{
	if (opts_list(opts, id)->place != PLACE_LINE)
		return 0;
	(void)error_set(err, ERROR_USAGE,
			"option --%s: a password on the command line is seen "
			"by others",
			option_rows[id].longname);
	return error_hint(err,
			  "put the %s into %s, or the password into "
			  "PGPASSWORD, PGPASSFILE or a service file",
			  option_rows[id].longname, variable);
}

static int read_kind(struct inputs *in, const struct opts *opts,
		     struct error *err)
{
	/* The columns and NULL of a database are its own. */
	static const enum option_id of_bytes[] = {
		OPT_INPUT_FORMAT, OPT_COLUMNS, OPT_HEADER,
		OPT_NULL_TEXT,    OPT_PARTS,   OPT_NO_TRAILER};
	static const enum option_id of_files[] = {OPT_PARTS};
	const struct opt_value *words = opts_list(opts, OPT_SOURCE);
	bool password = false;
	bool files = false;
	bool is;

	for (size_t i = 0; i < words->count; i++) {
		bool has;

		if (source_is_database(words->items[i], &is, &has, err) != 0)
			return -1;
		in->database = in->database || is;
		files = files || strncmp(words->items[i], "file:", 5) == 0;
		password = password || has;
	}
	if (password &&
	    inputs_secret(opts, OPT_SOURCE, "BLOOMCTL_SOURCE", err) != 0)
		return -1;
	if (!in->database && !files &&
	    inputs_refuse(opts, of_files, 1, "it is for files", err) != 0)
		return -1;
	if (!in->database)
		return inputs_no_query(opts, err);
	if (inputs_refuse(
		    opts, of_bytes, sizeof(of_bytes) / sizeof(of_bytes[0]),
		    "it is for bytes, and the source is a database", err) != 0)
		return -1;
	return inputs_query(in, opts, err);
}

/* Rows that are keys. */
static int take_keys(struct inputs *in, const struct opts *opts,
		     struct error *err)
{
	static const enum option_id of_rows[] = {OPT_COLUMNS, OPT_HEADER,
						 OPT_NULL_TEXT};

	if (inputs_refuse(opts, of_rows, sizeof(of_rows) / sizeof(of_rows[0]),
			  "keys are COPY text of one column without a header",
			  err) != 0)
		return -1;
	if (in->spec == NULL)
		return error_set(err, ERROR_USAGE,
				 "option --input-format key: it needs "
				 "--keyspec, which says whose keys they are");
	in->keys = true;
	keyrow_format(&in->format);
	return 0;
}

int inputs_format(struct inputs *in, const struct opts *opts,
		  enum rowformat_kind usual, struct error *err)
{
	if (read_kind(in, opts, err) != 0)
		return -1;
	if (!in->database)
		return inputs_rows(in, opts, usual, err);
	in->format.kind = ROWFORMAT_TEXT;
	in->format.bom_is_data = true;
	return in->spec != NULL
		       ? scan_columns(in->spec, &in->format, &in->wanted, err)
		       : 0;
}

int inputs_rows(struct inputs *in, const struct opts *opts,
		enum rowformat_kind usual, struct error *err)
{
	const char *kind = opts_text(opts, OPT_INPUT_FORMAT);
	const char *columns = opts_text(opts, OPT_COLUMNS);

	if (in->spec != NULL &&
	    scan_columns(in->spec, &in->format, &in->wanted, err) != 0)
		return -1;
	if (kind != NULL && strcmp(kind, "key") == 0)
		return take_keys(in, opts, err);
	in->format.kind = usual;
	if (kind != NULL)
		in->format.kind = strcmp(kind, "text") == 0 ? ROWFORMAT_TEXT
							    : ROWFORMAT_CSV;
	in->format.null = opts_text(opts, OPT_NULL_TEXT);
	in->format.header = columns == NULL || opts_flag(opts, OPT_HEADER);
	return columns != NULL ? split_names(in, columns, err) : 0;
}

static int other_keys(const struct inputs *in, const struct exportlist *list,
		      struct error *err)
{
	(void)error_set(err, ERROR_CONFIG,
			"keyspec '%s': the export has keys of set '%s', made "
			"by the keyspec with fingerprint %.12s, and this one "
			"has %.12s",
			bloomkey_name(in->spec), list->set, list->fingerprint,
			bloomkey_fingerprint(in->spec));
	return error_hint(err, "use the keyspec of the export, or export "
			       "again");
}

/* The list of an export says what its rows are. */
static int take_list(struct inputs *in, const struct opts *opts,
		     const struct exportlist *list, struct error *err)
{
	static const enum option_id said[] = {OPT_INPUT_FORMAT, OPT_COLUMNS,
					      OPT_HEADER};
	static const enum option_id null[] = {OPT_NULL_TEXT};
	bool keys = list->kind == EXPORTLIST_KEYS;

	if (inputs_refuse(opts, said, sizeof(said) / sizeof(said[0]),
			  "the list of the export says how its rows are "
			  "written",
			  err) != 0)
		return -1;
	if (keys && in->spec != NULL) {
		if (strcmp(list->fingerprint, bloomkey_fingerprint(in->spec)) !=
		    0)
			return other_keys(in, list, err);
		return take_keys(in, opts, err);
	}
	if (list->origin != NULL &&
	    inputs_refuse(opts, null, 1,
			  "the rows of the export are a database's, whose NULL "
			  "is the format's own",
			  err) != 0)
		return -1;
	in->keys = false;
	in->format = (struct rowformat){
		.kind = list->kind == EXPORTLIST_CSV ? ROWFORMAT_CSV
						     : ROWFORMAT_TEXT,
		.header = list->header,
		.bom_is_data = !list->header,
		/* Of a database it is the format's own. */
		.null = keys || list->origin != NULL
				? NULL
				: opts_text(opts, OPT_NULL_TEXT),
		.names = (const char *const *)list->columns,
		.name_count = list->column_count,
		.wanted = in->wanted,
		.wanted_count =
			in->spec != NULL ? bloomkey_fields(in->spec) : 0,
	};
	return 0;
}

/* All -s words in one text, for manifest and receipt. */
static int name_source(struct inputs *in, const struct opt_value *words,
		       struct error *err)
{
	struct buf text;
	int bad = 0;

	buf_init(&text, 1u << 20);
	for (size_t i = 0; bad == 0 && i < words->count; i++) {
		char *label;

		if (source_label(words->items[i], &label, err) != 0) {
			buf_release(&text);
			return -1;
		}
		bad = buf_addf(&text, "%s%s", i > 0 ? " " : "", label);
		free(label);
	}
	in->source_name = bad == 0 ? buf_string(&text) : NULL;
	if (in->source_name != NULL)
		return 0;
	buf_release(&text);
	return error_nomem(err);
}

static int read_rejects(struct inputs *in, const struct opts *opts,
			struct error *err)
{
	in->rejects.max = opts_u64(opts, OPT_MAX_REJECTS, 0);
	in->rejects.path = opts_text(opts, OPT_REJECTS);
	in->rejects.raw = opts_flag(opts, OPT_REJECTS_RAW);
	in->scan.rejects = &in->rejects;
	if (in->rejects.raw && in->rejects.path == NULL)
		return error_set(err, ERROR_USAGE,
				 "option --rejects-raw: it needs --rejects "
				 "FILE");
	return 0;
}

int inputs_source(struct inputs *in, const struct opts *opts, struct error *err)
{
	const struct opt_value *words = opts_list(opts, OPT_SOURCE);
	const char *parts = opts_text(opts, OPT_PARTS);
	const struct exportlist *list;
	const struct source_options options = {
		.no_trailer = opts_flag(opts, OPT_NO_TRAILER),
		.parts = parts == NULL               ? SOURCE_PARTS_FOUND
			 : strcmp(parts, "any") == 0 ? SOURCE_PARTS_ANY
						     : SOURCE_PARTS_LISTED,
		.query = in->database ? &in->query : NULL,
		.environment = environ};

	in->query.columns = in->format.wanted;
	in->query.column_count = in->format.wanted_count;
	if (opts_require(opts, OPT_SOURCE, err) != 0 ||
	    read_rejects(in, opts, err) != 0 ||
	    name_source(in, words, err) != 0 ||
	    source_open(words->items, words->count, &options, &in->source,
			err) != 0)
		return -1;
	list = in->source->ops->list != NULL ? in->source->ops->list(in->source)
					     : NULL;
	if (list != NULL && take_list(in, opts, list, err) != 0)
		return -1;
	if (in->source->ops->columns != NULL)
		in->format.names = in->source->ops->columns(
			in->source, &in->format.name_count);
	progress_init(&in->line, opts_flag(opts, OPT_QUIET));
	in->scan.spec = in->spec;
	in->scan.keys = in->keys;
	in->scan.source = in->source;
	in->scan.format = &in->format;
	in->scan.jobs = (unsigned)opts_u64(opts, OPT_JOBS, 1);
	in->scan.progress.fn = progress_show;
	in->scan.progress.ctx = &in->line;
	return 0;
}

void inputs_tell_rejects(const struct inputs *in)
{
	const struct rejects_count *count = &in->rejects.count;
	char number[NUM_TEXT_MAX];

	if (count->total > 0)
		log_warn("%s %s no key and %s passed over: only the database "
			 "answers for %s",
			 num_grouped(count->total, number),
			 count->total == 1 ? "row has" : "rows have",
			 count->total == 1 ? "was" : "were",
			 count->total == 1 ? "it" : "them");
	if (in->source != NULL && in->source->lacking > 0)
		log_warn("the export lacks %s %s, passed over when it was "
			 "written: only the database answers for %s",
			 num_grouped(in->source->lacking, number),
			 in->source->lacking == 1 ? "row that has no key"
						  : "rows that have no key",
			 in->source->lacking == 1 ? "it" : "them");
}

const struct engine *inputs_engine(const struct opts *opts)
{
	const char *name = opts_text(opts, OPT_ENGINE);

	return name != NULL ? engine_by_name(name) : NULL;
}

void inputs_close(struct inputs *in)
{
	if (in->source != NULL)
		in->source->ops->free(in->source);
	in->source = NULL;
	in->scan.source = NULL;
}

void inputs_release(struct inputs *in)
{
	progress_end(&in->line);
	inputs_close(in);
	free(in->wanted);
	free(in->names);
	free(in->names_text);
	free(in->source_name);
	bloomkey_free(in->spec);
	memset(in, 0, sizeof(*in));
}
