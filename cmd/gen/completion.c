/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Built and run while building: writes the bash completion from the tables of
 * commands and options, or with the argument "list" the tables themselves,
 * a command and an option a line, for the tests.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

struct row {
	const char *longname;
	int shortname;
	const char *arg;
	unsigned on;
};

static const struct row rows[] = {
#define OPTION(name, longname, shortname, arg, kind, on, help) \
	{longname, shortname, arg, on},
#include "cmd/options.def"
#undef OPTION
};

static const struct {
	const char *name;
	unsigned on;
} commands[] = {
#define COMMAND(name, on, args, summary, more) {#name, on},
	COMMANDS
#undef COMMAND
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void list(void)
{
	for (size_t c = 0; c < COUNT(commands); c++)
		for (size_t i = 0; i < COUNT(rows); i++) {
			if ((rows[i].on & commands[c].on) == 0)
				continue;
			(void)printf("%s --%s", commands[c].name,
				     rows[i].longname);
			if (rows[i].shortname != 0)
				(void)printf(" -%c", rows[i].shortname);
			if (rows[i].arg != NULL)
				(void)printf(" %s", rows[i].arg);
			(void)puts("");
		}
}

/* The words of "csv|text" for the options that have such a choice. */
static void print_choices(void)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *p = rows[i].arg;

		if (p == NULL || strchr(p, '|') == NULL)
			continue;
		(void)printf("\t--%s)\n\t\tmapfile -t COMPREPLY < <(compgen "
			     "-W '",
			     rows[i].longname);
		for (; *p != '\0'; p++)
			if (strncmp(p, "N|", 2) == 0)
				p++; /* a number cannot be completed */
			else
				(void)putchar(*p == '|' ? ' ' : *p);
		(void)puts("' -- \"$word\")\n\t\treturn\n\t\t;;");
	}
}

static void completion(void)
{
	(void)puts(
		"# bash completion for bloomctl; made from its option table\n"
		"_bloomctl() {\n"
		"\tlocal word=${COMP_WORDS[COMP_CWORD]}\n"
		"\tlocal before=${COMP_WORDS[COMP_CWORD-1]} words\n"
		"\tCOMPREPLY=()\n"
		"\tcase $before in");
	print_choices();
	(void)puts("\t--keyspec|-k|--config|--receipt|--password-file|--tls-ca|"
		   "--tls-cert|--tls-key)\n"
		   "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
		   "\t\treturn\n\t\t;;\n\tesac\n"
		   "\tif ((COMP_CWORD == 1)); then");
	(void)printf("\t\twords='");
	for (size_t c = 0; c < COUNT(commands); c++)
		(void)printf("%s ", commands[c].name);
	(void)puts("--help --version'\n\telse\n\t\tcase ${COMP_WORDS[1]} in");
	for (size_t c = 0; c < COUNT(commands); c++) {
		(void)printf("\t\t%s) words='", commands[c].name);
		for (size_t i = 0; i < COUNT(rows); i++)
			if ((rows[i].on & commands[c].on) != 0)
				(void)printf("--%s ", rows[i].longname);
		(void)puts("--help' ;;");
	}
	(void)puts("\t\t*) words= ;;\n\t\tesac\n\tfi\n"
		   "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
		   "\"$word\")\n"
		   "}\n"
		   "complete -o default -F _bloomctl bloomctl");
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "list") == 0)
		list();
	else
		completion();
	return fflush(stdout) == 0 ? 0 : 1;
}
