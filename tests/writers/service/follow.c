/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A reader that asks for every key of the writers' log, over and over, and
 * ends at the first one that is not found.
 */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service.h"

/* So many old keys are asked for before the log is looked at again. */
#define STRIDE 100
/* Seconds, where the log has nothing yet. */
#define NAP 0.001

struct card {
	struct key key;      /* of which the bytes are in `bytes` */
	char time[32];       /* when it was committed, the last time */
	bool gone;           /* it need not be found */
	unsigned long gones; /* how often it went */
	char bytes[];
};

struct follower {
	struct service *s;
	const struct work *w;
	FILE *log;
	struct card **cards;
	size_t count, room;
	void *tree; /* of the same, by key */
	unsigned long answers[ANSWER_PASS + 1];
};

static int compare(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->bytes, y->bytes, x->len);
}

/* The card of a key, which is made if there is none; NULL: no memory. */
static struct card *card_of(struct follower *f, const char *bytes, size_t len)
{
	struct key key = {.bytes = bytes, .len = len};
	void *found = tfind(&key, &f->tree, compare);
	struct card *e, **more;

	if (found != NULL)
		return *(struct card **)found;
	if (f->count == f->room) {
		f->room = f->room * 2 + 1024;
		more = realloc(f->cards, f->room * sizeof(struct card *));
		if (more == NULL)
			return NULL;
		f->cards = more;
	}
	e = calloc(1, sizeof(*e) + len);
	if (e == NULL)
		return NULL;
	memcpy(e->bytes, bytes, len);
	e->key.bytes = e->bytes;
	e->key.len = len;
	e->key.bucket =
		bloomkey_bucket(f->s->spec, e->bytes, len, &e->key.hash);
	if (tsearch(e, &f->tree, compare) == NULL) {
		free(e);
		return NULL;
	}
	f->cards[f->count++] = e;
	return e;
}

static void forget(struct follower *f)
{
	for (size_t i = 0; i < f->count; i++) {
		tdelete(f->cards[i], &f->tree, compare);
		free(f->cards[i]);
	}
	free(f->cards);
}

/* Takes the lines that the log has by now; a line that is not whole stays. */
static int read_log(struct follower *f)
{
	static char line[BLOOMKEY_MAX + 64];
	long at;

	while ((at = ftell(f->log)) >= 0 &&
	       fgets(line, sizeof(line), f->log) != NULL) {
		char *end = strchr(line, '\n'), *tab, *time;
		struct card *e;

		if (end == NULL) {
			clearerr(f->log);
			return fseek(f->log, at, SEEK_SET);
		}
		*end = '\0';
		tab = strchr(line, '\t');
		if (tab == NULL)
			return -1;
		time = tab + 1;
		e = card_of(f, line, (size_t)(tab - line));
		if (e == NULL)
			return -1;
		tab = strchr(time, '\t');
		e->gone = tab != NULL;
		e->gones += e->gone;
		snprintf(e->time, sizeof(e->time), "%.*s",
			 (int)strcspn(time, "\t"), time);
	}
	clearerr(f->log);
	return 0;
}

/* 0; or 1, and the key is lost. */
static int look(struct follower *f, struct card *e)
{
	const unsigned long gones = e->gones;
	enum answer answer = f->w->filter_only ? ask_filter(f->s, &e->key)
					       : ask(f->s, &e->key);

	f->answers[answer]++;
	if (answer != ANSWER_NO)
		return 0;
	/* A card that may have been unblocked meanwhile is none. */
	if (read_log(f) == 0 && (e->gone || e->gones != gones))
		return 0;
	fprintf(stderr, "%.*s, committed at %s, is not found at %.6f\n",
		(int)e->key.len, e->bytes, e->time, now());
	return 1;
}

static bool is_due(const struct follower *f, const struct card *e)
{
	return !e->gone &&
	       (f->w->before <= 0 || strtod(e->time, NULL) < f->w->before);
}

/* So many cards from *at on, and from there on the next time. */
static int look_at(struct follower *f, size_t *at, size_t n)
{
	for (size_t i = 0; i < n && f->count > 0; i++) {
		if (*at >= f->count)
			*at = 0;
		if (is_due(f, f->cards[*at]) && look(f, f->cards[*at]) != 0)
			return 1;
		(*at)++;
	}
	return 0;
}

static int follow(struct follower *f)
{
	size_t fresh = 0, at = 0, n;

	do {
		if (read_log(f) != 0) {
			fprintf(stderr, "the log is not one\n");
			return 70;
		}
		if (f->count == 0 && !f->w->once)
			sleep_for(NAP);
		/* What is new at once, and then some of what was there. */
		n = f->count - fresh;
		if (look_at(f, &fresh, n) != 0)
			return 1;
		fresh = f->count;
		if (!f->w->once && look_at(f, &at, STRIDE) != 0)
			return 1;
	} while (!f->w->once && !stopped() &&
		 (f->w->until <= 0 || now() < f->w->until));
	return 0;
}

int follow_log(struct service *s, const struct work *w, const char *path)
{
	struct follower f = {.s = s, .w = w, .log = fopen(path, "a+")};
	int status;

	if (f.log == NULL) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 70;
	}
	rewind(f.log);
	status = follow(&f);
	printf("keys=%zu filter=%lu recent=%lu passed=%lu missing=%lu\n",
	       f.count, f.answers[ANSWER_FILTER], f.answers[ANSWER_RECENT],
	       f.answers[ANSWER_PASS], status == 1 ? 1UL : 0UL);
	if (f.answers[ANSWER_PASS] > 0)
		fprintf(stderr, "the last one passed on: %s\n", s->why);
	forget(&f);
	fclose(f.log);
	return status;
}
