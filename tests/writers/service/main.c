/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the example is told.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service.h"

static const char usage[] =
	"usage: service write  -k KEYSPEC -t PLACE -d CONNINFO --ttl SECONDS "
	"[OPTION...]\n"
	"       service follow -k KEYSPEC -t PLACE --log FILE [OPTION...]\n"
	"       service ask    -k KEYSPEC -t PLACE [-d CONNINFO] ENTITY_ID "
	"SCOPE\n"
	"\n"
	"write blocks cards, follow asks for all that FILE says are blocked,\n"
	"and ask asks for one and says `yes`, `no` or `maybe`, and which tier\n"
	"was the last before the database.\n"
	"\n"
	"  -k, --keyspec FILE     of the set\n"
	"  -t, --target PLACE     of the filters: a socket, or HOST:PORT of\n"
	"                         a server or of any node of a cluster\n"
	"      --recent PLACE     of recent-writes, if it is another one\n"
	"  -d, --database TEXT    for libpq\n"
	"      --log FILE         lines of KEY, TIME and perhaps `gone`\n"
	"      --seconds S        so long\n"
	"write:\n"
	"      --ttl S            for which a recent write is kept\n"
	"      --name TEXT        what entity_id begins with (w)\n"
	"      --scope TEXT       of the cards (global)\n"
	"      --number N         of transactions\n"
	"      --rate N           of transactions a second\n"
	"      --hold MS          each one stays open, before its last step\n"
	"      --ttl-file FILE    the same, read again for each\n"
	"      --rollback PERCENT of those that block are rolled back\n"
	"      --two-phase PERCENT of them are prepared first\n"
	"      --unstamped PERCENT leave updated_at as it was\n"
	"      --lost PERCENT     do not come to the filter\n"
	"      --clock S          stamps are this machine's time and S more\n"
	"      --removes PERCENT  of those that unblock delete the row\n"
	"      --flip PERCENT     are of a card that was there: it is\n"
	"                         unblocked, or blocked again\n"
	"      --seed N           which ones\n"
	"      --alarms N         so many end it (1)\n"
	"follow:\n"
	"      --once             each key once, those that are there\n"
	"      --filter-only      without recent-writes\n"
	"      --before TIME      what was committed before, in seconds\n"
	"                         since 1970\n"
	"\n"
	"Exit status: 0; 1 after an alarm, for a key that is not found, and\n"
	"for `no`; 64 to 78 for what kept it from beginning.\n";

static volatile sig_atomic_t stop;

bool stopped(void)
{
	return stop != 0;
}

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

enum {
	OPT_RECENT = 256,
	OPT_LOG,
	OPT_SECONDS,
	OPT_TTL,
	OPT_NAME,
	OPT_SCOPE,
	OPT_NUMBER,
	OPT_RATE,
	OPT_HOLD,
	OPT_ROLLBACK,
	OPT_FLIP,
	OPT_SEED,
	OPT_ALARMS,
	OPT_ONCE,
	OPT_FILTER_ONLY,
	OPT_TTL_FILE,
	OPT_TWO_PHASE,
	OPT_UNSTAMPED,
	OPT_LOST,
	OPT_CLOCK,
	OPT_REMOVES,
	OPT_BEFORE,
};

static const struct option options[] = {
	{"keyspec", required_argument, NULL, 'k'},
	{"target", required_argument, NULL, 't'},
	{"database", required_argument, NULL, 'd'},
	{"recent", required_argument, NULL, OPT_RECENT},
	{"log", required_argument, NULL, OPT_LOG},
	{"seconds", required_argument, NULL, OPT_SECONDS},
	{"ttl", required_argument, NULL, OPT_TTL},
	{"name", required_argument, NULL, OPT_NAME},
	{"scope", required_argument, NULL, OPT_SCOPE},
	{"number", required_argument, NULL, OPT_NUMBER},
	{"rate", required_argument, NULL, OPT_RATE},
	{"hold", required_argument, NULL, OPT_HOLD},
	{"rollback", required_argument, NULL, OPT_ROLLBACK},
	{"flip", required_argument, NULL, OPT_FLIP},
	{"seed", required_argument, NULL, OPT_SEED},
	{"alarms", required_argument, NULL, OPT_ALARMS},
	{"once", no_argument, NULL, OPT_ONCE},
	{"filter-only", no_argument, NULL, OPT_FILTER_ONLY},
	{"ttl-file", required_argument, NULL, OPT_TTL_FILE},
	{"two-phase", required_argument, NULL, OPT_TWO_PHASE},
	{"unstamped", required_argument, NULL, OPT_UNSTAMPED},
	{"lost", required_argument, NULL, OPT_LOST},
	{"clock", required_argument, NULL, OPT_CLOCK},
	{"removes", required_argument, NULL, OPT_REMOVES},
	{"before", required_argument, NULL, OPT_BEFORE},
	{"help", no_argument, NULL, 'h'},
	{0},
};

struct told {
	const char *keyspec, *target, *database, *recent, *log;
	struct work work;
};

__attribute__((noreturn)) static void end(int status, const char *what,
					  const char *why)
{
	fprintf(stderr, "service: %s: %s\n", what, why);
	exit(status);
}

static double number(const char *text)
{
	char *rest;
	double n = strtod(text, &rest);

	if (rest == text || *rest != '\0' || !(n >= 0 && n < 1e15))
		end(64, text, "is no number that makes sense here");
	return n;
}

/* What differs from one service to the next. */
static void take_manner(struct work *w, struct service *s, int option)
{
	switch (option) {
	case OPT_TTL_FILE:
		s->ttl_file = optarg;
		break;
	case OPT_ROLLBACK:
		w->rollback = (unsigned)number(optarg);
		break;
	case OPT_TWO_PHASE:
		w->two_phase = (unsigned)number(optarg);
		break;
	case OPT_UNSTAMPED:
		w->unstamped = (unsigned)number(optarg);
		break;
	case OPT_LOST:
		w->lost = (unsigned)number(optarg);
		break;
	case OPT_CLOCK:
		w->own_clock = true;
		w->clock = strtod(optarg, NULL);
		break;
	case OPT_REMOVES:
		w->removes = (unsigned)number(optarg);
		break;
	case OPT_BEFORE:
		w->before = number(optarg);
		break;
	default:
		break;
	}
}

static void take(struct told *told, struct service *s, int option)
{
	struct work *w = &told->work;

	switch (option) {
	case 'k':
		told->keyspec = optarg;
		break;
	case 't':
		told->target = optarg;
		break;
	case 'd':
		told->database = optarg;
		break;
	case OPT_RECENT:
		told->recent = optarg;
		break;
	case OPT_LOG:
		told->log = optarg;
		break;
	case OPT_SECONDS:
		w->until = now() + number(optarg);
		break;
	case OPT_TTL:
		s->ttl = optarg;
		break;
	case OPT_NAME:
		w->name = optarg;
		break;
	case OPT_SCOPE:
		w->scope = optarg;
		break;
	case OPT_NUMBER:
		w->number = (unsigned long)number(optarg);
		break;
	case OPT_RATE:
		w->rate = number(optarg);
		break;
	case OPT_HOLD:
		s->hold = (unsigned)number(optarg);
		break;
	case OPT_FLIP:
		w->flip = (unsigned)number(optarg);
		break;
	case OPT_SEED:
		w->seed = (uint64_t)number(optarg);
		break;
	case OPT_ALARMS:
		w->alarms = (unsigned long)number(optarg);
		break;
	case OPT_ONCE:
		w->once = true;
		break;
	case OPT_FILTER_ONLY:
		w->filter_only = true;
		break;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	case '?':
		fputs(usage, stderr);
		exit(64);
	default:
		take_manner(w, s, option);
	}
}

/* Everything is there before anything is done. */
static void begin(struct service *s, const struct told *told)
{
	const char *recent = told->recent != NULL ? told->recent : told->target;
	struct bloomkey_error err;

	if (told->keyspec == NULL || told->target == NULL)
		end(64, "-k, -t", "both are needed");
	if (bloomkey_load(told->keyspec, getenv, &s->spec, &err) != BLOOMKEY_OK)
		end(78, told->keyspec, err.text);
	if (bloomkey_fields(s->spec) != FIELDS ||
	    strcmp(bloomkey_field_name(s->spec, 0), "entity_id") != 0 ||
	    strcmp(bloomkey_field_name(s->spec, 1), "scope") != 0)
		end(78, told->keyspec, "its fields are not entity_id, scope");
	s->nodes = calloc(bloomkey_buckets(s->spec), sizeof(*s->nodes));
	if (s->nodes == NULL)
		end(70, "out of memory", strerror(errno));
	if (redis_open(&s->filters, told->target) != 0 ||
	    redis_open(&s->recent, recent) != 0)
		end(64, told->target, "is too long for a place");
	if (told->database != NULL) {
		s->db = PQconnectdb(told->database);
		if (PQstatus(s->db) != CONNECTION_OK)
			end(69, "the database", PQerrorMessage(s->db));
	}
	s->log = -1;
}

static void finish(struct service *s)
{
	redis_close(&s->filters);
	redis_close(&s->recent);
	PQfinish(s->db);
	free(s->nodes);
	bloomkey_free(s->spec);
	if (s->log >= 0)
		close(s->log);
}

static int run_write(struct service *s, const struct told *told)
{
	if (s->db == NULL || s->ttl == NULL || number(s->ttl) < 1)
		end(64, "-d, --ttl", "both are needed");
	if (strpbrk(told->work.name, "\t\n") != NULL ||
	    strpbrk(told->work.scope, "\t\n") != NULL)
		end(64, "--name, --scope", "the log cannot hold a TAB");
	if (told->log != NULL) {
		s->log = open(told->log, O_WRONLY | O_CREAT | O_APPEND, 0644);
		if (s->log < 0)
			end(73, told->log, strerror(errno));
	}
	return write_cards(s, &told->work);
}

/* A key that is rejected is in no filter: the database knows. */
static int run_ask(struct service *s, const char *const values[FIELDS])
{
	static const char *const tiers[] = {"nothing", "filter",
					    "recent-writes", "passed on"};
	static const char *const words[] = {"no", "yes"};
	enum answer answer = ANSWER_PASS;
	const char *word = "maybe";
	char why[sizeof(s->why)];
	struct key key;
	int found = 1;

	s->why[0] = '\0';
	if (derive(s, values, &key) == 0)
		answer = ask(s, &key);
	memcpy(why, s->why, sizeof(why));
	if (answer == ANSWER_NO) {
		found = 0;
		word = "no";
	} else if (s->db != NULL) {
		found = ask_database(s, values);
		if (found < 0)
			end(69, "the database", s->why);
		word = words[found];
	}
	printf("%s\t%s%s%s\n", word, tiers[answer],
	       answer == ANSWER_PASS ? ": " : "",
	       answer == ANSWER_PASS ? why : "");
	return found ? 0 : 1;
}

int main(int argc, char **argv)
{
	static struct service s;
	struct told told = {
		.work = {.name = "w", .scope = "global", .alarms = 1}};
	const struct sigaction act = {.sa_handler = on_signal};
	const char *const *words = (const char *const *)argv;
	const char *what;
	int option, status, n;

	while ((option = getopt_long(argc, argv, "k:t:d:h", options, NULL)) !=
	       -1)
		take(&told, &s, option);
	what = optind < argc ? words[optind] : "";
	words += optind + 1;
	n = argc - optind - 1;
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (strcmp(what, "write") == 0 && n == 0) {
		begin(&s, &told);
		status = run_write(&s, &told);
	} else if (strcmp(what, "follow") == 0 && n == 0 && told.log != NULL) {
		begin(&s, &told);
		status = follow_log(&s, &told.work, told.log);
	} else if (strcmp(what, "ask") == 0 && n == FIELDS) {
		begin(&s, &told);
		status = run_ask(&s, words);
	} else {
		fputs(usage, stderr);
		return 64;
	}
	finish(&s);
	return status;
}
