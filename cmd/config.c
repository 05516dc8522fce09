/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl.conf and BLOOMCTL_... variables: they fill in what the command
 * line left open.  A file is never taken from the working directory.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/opts.h"
#include "lib/base/file.h"

#define CONFIG_FILE "/etc/bloomctl.conf"
#define CONFIG_MAX  (1u << 20)

/* Which options a stronger place has said already. */
struct taken {
	bool option[OPT_COUNT];
};

static void take_stock(const struct opts *opts, struct taken *taken)
{
	for (int i = 0; i < OPT_COUNT; i++)
		taken->option[i] = opts_has(opts, (enum option_id)i);
}

/* A mode that stood in a file would turn every run into another thing. */
static bool line_only(enum option_id id)
{
	return id == OPT_CONFIG || id == OPT_ROLLBACK || id == OPT_PRUNE ||
	       id == OPT_RETIRE || id == OPT_ADOPT || id == OPT_CHECK ||
	       id == OPT_STDIN || id == OPT_FINGERPRINT || id == OPT_SENTINEL;
}

/*
 * Programs speak with --stdin and the bare answers of `key`: what a host's
 * administrator set for rows and for people must not change their keys.
 */
static bool spoken(const struct opts *opts, enum option_id id)
{
	bool rows = opts_flag(opts, OPT_STDIN);

	if (id == OPT_FORMAT)
		return opts->command->mask == ON_KEY &&
		       (rows || opts_flag(opts, OPT_FINGERPRINT) ||
			opts_flag(opts, OPT_SENTINEL));
	return rows && (id == OPT_INPUT_FORMAT || id == OPT_COLUMNS ||
			id == OPT_HEADER || id == OPT_NULL_TEXT);
}

static int add(struct opts *opts, const struct taken *taken, enum option_id id,
	       const char *text, enum opt_place place, struct error *err)
{
	if (line_only(id))
		return error_set(err, ERROR_CONFIG,
				 "option --%s: on the command line only",
				 option_rows[id].longname);
	if (taken->option[id] || spoken(opts, id) ||
	    (option_rows[id].on & opts->command->mask) == 0)
		return 0;
	if (opts_add(opts, id, text, place, err) != 0) {
		if (err->code == ERROR_USAGE)
			err->code = ERROR_CONFIG;
		return -1;
	}
	return 0;
}

static char *trim(char *text)
{
	size_t n;

	text += strspn(text, " \t");
	n = strlen(text);
	while (n > 0 && strchr(" \t\r", text[n - 1]) != NULL)
		n--;
	text[n] = '\0';
	return text;
}

/* Who may write a file that names a command may run it as whoever reads it. */
static int check_command(const struct stat *st, enum option_id id,
			 struct error *err)
{
	if ((st->st_uid == 0 || st->st_uid == geteuid()) &&
	    (st->st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	(void)error_set(err, ERROR_CONFIG,
			"%s: it names a command, and others may write this "
			"file",
			option_rows[id].longname);
	return error_hint(err, "take the file over: chown it to yourself or "
			       "root, and chmod go-w");
}

static bool names_command(enum option_id id, const char *value)
{
	return id == OPT_PASSWORD_COMMAND || id == OPT_BEFORE_SWAP ||
	       id == OPT_AFTER ||
	       (id == OPT_SOURCE &&
		strncmp(value, "exec:", strlen("exec:")) == 0);
}

/* One line, cut at its end: blank, a comment, or `name = value`. */
static int read_line(struct opts *opts, const struct taken *taken, char *line,
		     const struct stat *st, struct error *err)
{
	enum option_id id;
	char *name = trim(line);
	char *value;

	if (name[0] == '\0' || name[0] == '#' || name[0] == ';')
		return 0;
	value = strchr(name, '=');
	if (value == NULL)
		return error_set(err, ERROR_CONFIG,
				 "not of the form name = value");
	*value++ = '\0';
	name = trim(name);
	id = opts_find(name);
	if (id == OPT_COUNT)
		return error_set(err, ERROR_CONFIG,
				 "'%.64s' is no option of bloomctl", name);
	value = trim(value);
	if (names_command(id, value) && check_command(st, id, err) != 0)
		return -1;
	return add(opts, taken, id, value, PLACE_FILE, err);
}

static int read_file(struct opts *opts, const char *path, struct error *err)
{
	struct taken taken;
	struct stat st;
	unsigned number = 0;
	char *line;

	/* Before it is read: what is changed after that is of the same file. */
	if (stat(path, &st) != 0)
		memset(&st, 0, sizeof(st));
	if (file_read(path, &opts->config, ERROR_CONFIG, err) != 0) {
		if (err->code == ERROR_DATA)
			err->code = ERROR_CONFIG;
		return -1;
	}
	line = buf_string(&opts->config);
	if (line == NULL)
		return error_nomem(err);
	if (strlen(line) != opts->config.len)
		return error_set(err, ERROR_CONFIG,
				 "file '%s': holds a NUL byte", path);
	take_stock(opts, &taken);
	while (*line != '\0') {
		char *end = line + strcspn(line, "\n");
		bool last = *end == '\0';

		*end = '\0';
		number++;
		if (read_line(opts, &taken, line, &st, err) != 0)
			return error_prefix(err, "file '%s': line %u", path,
					    number);
		line = last ? end : end + 1;
	}
	return 0;
}

static int read_environment(struct opts *opts, opts_lookup *lookup,
			    struct error *err)
{
	struct taken taken;

	take_stock(opts, &taken);
	for (int i = 0; i < OPT_COUNT; i++) {
		char name[64];
		const char *text;
		size_t n = 0;

		if (i == OPT_CONFIG)
			continue;
		(void)snprintf(name, sizeof(name), "BLOOMCTL_%s",
			       option_rows[i].longname);
		for (n = strlen("BLOOMCTL_"); name[n] != '\0'; n++)
			name[n] = name[n] == '-' ? '_'
						 : (char)(name[n] - 'a' + 'A');
		text = lookup(name);
		if (text == NULL || text[0] == '\0')
			continue;
		if (add(opts, &taken, (enum option_id)i, text,
			PLACE_ENVIRONMENT, err) != 0)
			return error_prefix(err, "variable %s", name);
	}
	return 0;
}

int config_read(struct opts *opts, opts_lookup *lookup, struct error *err)
{
	const char *path = opts_text(opts, OPT_CONFIG);

	buf_init(&opts->config, CONFIG_MAX);
	if (path == NULL)
		path = lookup("BLOOMCTL_CONFIG");
	if (path == NULL || path[0] == '\0')
		path = access(CONFIG_FILE, F_OK) == 0 ? CONFIG_FILE : NULL;
	if (path != NULL && read_file(opts, path, err) != 0)
		return -1;
	return read_environment(opts, lookup, err);
}
