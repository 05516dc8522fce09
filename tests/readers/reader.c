/* SPDX-License-Identifier: BSD-2-Clause
 *
 * reader: an application that reads filters all the time, as one of many whose
 * work a swap must not disturb.  It shares nothing with bloomctl.
 *
 *	reader SOCKET FILE      reader HOST:PORT FILE
 *	reader [--once] cluster:HOST:PORT FILE
 *
 * A line of FILE is FILTER, SENTINEL and KEY, separated by tabs; KEY is in
 * hexadecimal.  Each is asked for by BF.MEXISTS FILTER SENTINEL KEY, from the
 * first line to the last and over again, in pipelines, until SIGTERM.  Then it
 * takes the answers that are still to come and prints one line:
 *
 *	reads=N errors=N missing=N sentinel=N
 *
 * reads: answers; errors: those that are no two integers, and one for a
 * connection that breaks or says nothing for 20 seconds, which ends it;
 * missing: keys that were not found; sentinel: sentinels that were not.
 * The status is 1 if there was any of the last three, 2 if there was nothing
 * to ask.  It has a handler for SIGTERM from the first answers on.
 *
 * In a cluster it asks who has the slot of the filter.  There it goes where
 * MOVED and ASK send it, and asks again after TRYAGAIN, where the cluster is
 * down, or when a connection breaks or says nothing for a second: none of that
 * is an answer, and the line ends in " redirected=N", how often it was.  An
 * error it is where a question has no answer for 20 seconds.  With --once each
 * line is asked for once.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

/* Commands that are sent at a time; so many again are under way meanwhile. */
#define WINDOW   200
#define PATIENCE 20

static volatile sig_atomic_t told_to_stop;

static void on_term(int number)
{
	(void)number;
	told_to_stop = 1;
}

static bool is_told(void)
{
	return told_to_stop != 0;
}

static void handle_term(void)
{
	struct sigaction action = {.sa_handler = on_term,
				   .sa_flags = SA_RESTART};

	(void)sigaction(SIGTERM, &action, NULL);
}

/* Decodes in place; the length, or -1. */
static ssize_t decode_hex(char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i += 2) {
		const char digits[3] = {text[i], text[i + 1], '\0'};

		if (strspn(digits, "0123456789abcdefABCDEF") != 2)
			return -1;
		text[i / 2] = (char)strtoul(digits, NULL, 16);
	}
	return (ssize_t)(len / 2);
}

/* Makes it a command; *SLOT is that of its filter. */
static bool add_question(FILE *out, char *line, uint16_t *slot)
{
	char *filter = line, *sentinel = strchr(line, '\t'), *key;
	ssize_t len;

	line[strcspn(line, "\r\n")] = '\0';
	key = sentinel != NULL ? strchr(sentinel + 1, '\t') : NULL;
	if (key == NULL)
		return false;
	*sentinel++ = '\0';
	*key++ = '\0';
	len = decode_hex(key);
	if (len < 0)
		return false;
	(void)fprintf(out,
		      "*4\r\n$10\r\nBF.MEXISTS\r\n"
		      "$%zu\r\n%s\r\n$%zu\r\n%s\r\n$%zd\r\n",
		      strlen(filter), filter, strlen(sentinel), sentinel, len);
	*slot = slot_of(filter);
	(void)fwrite(key, 1, (size_t)len, out);
	(void)fputs("\r\n", out);
	return true;
}

static void read_questions(const char *path, struct questions *q)
{
	size_t size = 0, room = 0, line_size = 0;
	FILE *file = fopen(path, "r"), *out = open_memstream(&q->bytes, &size);
	char *line = NULL;

	if (file == NULL || out == NULL)
		die(path, strerror(errno));
	while (getline(&line, &line_size, file) > 0) {
		if (q->count == room) {
			room = 2 * room + 1024;
			q->ends = realloc(q->ends, room * sizeof(*q->ends));
			q->slots = realloc(q->slots, room * sizeof(*q->slots));
			if (q->ends == NULL || q->slots == NULL)
				die(path, strerror(errno));
		}
		if (!add_question(out, line, &q->slots[q->count]))
			die(path, "a line is not FILTER, SENTINEL and KEY");
		q->ends[q->count++] = (size_t)ftell(out);
	}
	if (q->count == 0)
		die(path, "there is nothing to ask");
	if (ferror(file) || fclose(out) != 0)
		die(path, "cannot be read");
	(void)fclose(file);
	free(line);
}

/* Takes so many answers; false: the connection broke. */
static bool take(struct link *link, struct tally *t, size_t count)
{
	for (; count > 0; count--) {
		size_t len;
		const char *answer = link_next(link, &len);

		if (answer == NULL)
			return false;
		judge(t, answer, len);
	}
	return true;
}

/* Until it is told to stop; false: the connection broke. */
static bool read_on(const char *place, const struct questions *q,
		    struct tally *t)
{
	static struct link link;
	size_t at = 0, pending = 0;
	bool ready = false, good = link_open(&link, place, PATIENCE);

	while (good && !told_to_stop) {
		size_t from = at > 0 ? q->ends[at - 1] : 0, count = WINDOW;

		if (count > q->count - at)
			count = q->count - at;
		at += count;
		good = link_send(&link, q->bytes + from,
				 q->ends[at - 1] - from) &&
		       take(&link, t, pending);
		if (t->reads > 0 && !ready) {
			handle_term();
			ready = true;
		}
		pending = count;
		at %= q->count;
	}
	good = good && take(&link, t, pending);
	link_close(&link);
	return good;
}

int main(int argc, char **argv)
{
	static const char scheme[] = "cluster:";
	struct questions questions = {.count = 0};
	struct tally tally = {.reads = 0};
	bool cluster, once = argc > 1 && strcmp(argv[1], "--once") == 0;

	argc -= once;
	argv += once;
	if (argc != 3)
		die("usage", "reader [--once] [cluster:]SOCKET|HOST:PORT FILE");
	read_questions(argv[2], &questions);
	cluster = strncmp(argv[1], scheme, strlen(scheme)) == 0;
	if (once && !cluster)
		die("usage", "--once is for a cluster");
	if (cluster ? !follow(argv[1] + strlen(scheme), &questions, &tally,
			      once, is_told, handle_term)
		    : !read_on(argv[1], &questions, &tally)) {
		(void)fprintf(stderr, "reader: the connection broke: %s\n",
			      strerror(errno));
		tally.errors++;
	}
	printf("reads=%" PRIu64 " errors=%" PRIu64 " missing=%" PRIu64
	       " sentinel=%" PRIu64,
	       tally.reads, tally.errors, tally.missing, tally.sentinel);
	if (cluster)
		printf(" redirected=%" PRIu64, tally.redirected);
	(void)putchar('\n');
	free(questions.bytes);
	free(questions.ends);
	free(questions.slots);
	return tally.errors + tally.missing + tally.sentinel > 0;
}
