/* SPDX-License-Identifier: BSD-2-Clause
 *
 * pass KEYSPEC TARGET: does with a store what its standard input says, a line
 * each, and answers each line by one, so that a test can do something between
 * the beginning of a pass and its end:
 *
 *	lock, unlock, sync-lock, sync-unlock
 *	fed, set-fed MS
 *	begin [GENERATION]	a pass, into what is live unless told
 *	add FIELD...		a row's fields, for the writer
 *	flush, close		the writer; end does both
 *	end [HORIZON]		the pass, with its text; without: none moves
 *	drop
 *	promote GENERATION
 *
 * "ok ...", or "CODE message", where CODE is the exit status it would be.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/horizon.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/generation.h"
#include "lib/store/store.h"

#define FIELDS_MAX 8

struct test {
	struct bloomkey_spec *spec;
	struct store *store;
	const struct store_ops *ops;
	struct manifest m;
	struct writer *writer;
	uint64_t *keys;
};

/* What is said of a line that went well, behind "ok". */
struct said {
	char text[1024];
};

static int pick(struct test *t, const char *id, struct error *err)
{
	manifest_release(&t->m);
	memset(&t->m, 0, sizeof(t->m));
	return generation_pick(t->store, t->spec, id, &t->m, err);
}

static int begin(struct test *t, const char *id, struct said *said,
		 struct error *err)
{
	struct horizon oldest;
	char text[HORIZON_TEXT_MAX];

	memset(t->keys, 0, bloomkey_buckets(t->spec) * sizeof(*t->keys));
	if (pick(t, id, err) != 0 ||
	    t->ops->pass_begin(t->store, &t->m, id == NULL, 1, &oldest, err) !=
		    0)
		return -1;
	(void)snprintf(said->text, sizeof(said->text), "%s",
		       horizon_text(&oldest, text));
	return 0;
}

static int add(struct test *t, char *fields, struct error *err)
{
	const void *values[FIELDS_MAX] = {0};
	size_t lens[FIELDS_MAX] = {0};
	unsigned char key[BLOOMKEY_MAX];
	struct bloomkey_result result;
	size_t n = 0;

	for (char *f = strtok(fields, " "); f != NULL && n < FIELDS_MAX;
	     f = strtok(NULL, " ")) {
		values[n] = f;
		lens[n++] = strlen(f);
	}
	if (bloomkey_derive(t->spec, values, lens, key, sizeof(key), &result) !=
	    0)
		return error_set(err, ERROR_ROWS, "no key");
	if (t->writer == NULL && t->ops->writer(t->store, &t->writer, err) != 0)
		return -1;
	t->keys[result.bucket]++;
	return t->writer->ops->add(t->writer, result.bucket, key, result.len,
				   err);
}

static int flush(struct test *t, struct error *err)
{
	return t->writer != NULL ? t->writer->ops->flush(t->writer, err) : 0;
}

static void close_writer(struct test *t)
{
	if (t->writer != NULL)
		t->writer->ops->close(t->writer);
	t->writer = NULL;
}

static int end(struct test *t, const char *text, struct said *said,
	       struct error *err)
{
	struct pass_report r;
	struct horizon to;
	int rc = flush(t, err);

	close_writer(t);
	if (rc != 0)
		return -1;
	if (text != NULL && horizon_parse(text, &to) != 0)
		return error_set(err, ERROR_USAGE, "no horizon: %s", text);
	if (t->ops->pass_end(t->store, text != NULL ? &to : NULL, t->keys, &r,
			     err) != 0)
		return -1;
	(void)snprintf(said->text, sizeof(said->text),
		       "acknowledged=%" PRIu64 " added=%" PRIu64
		       " moved=%" PRIu32 " changed=%" PRIu32 " failed=%" PRIu32
		       " fill=%.3f fullest=%" PRIu32 " why=%d %s",
		       r.acknowledged, r.added, r.moved, r.changed, r.failed,
		       r.fill, r.fullest, (int)r.why.code, r.why.text);
	return 0;
}

static int promote(struct test *t, const char *id, struct error *err)
{
	struct manifest live = {0};
	int rc = generation_pick(t->store, t->spec, NULL, &live, err);

	if (rc == 0)
		rc = pick(t, id, err);
	if (rc == 0)
		rc = t->ops->promote(t->store, &t->m, &live, err);
	manifest_release(&live);
	return rc;
}

static int take_lock(struct test *t, struct said *said, struct error *err)
{
	uint64_t fence;

	if (t->ops->lock(t->store, "pass", &fence, err) != 0)
		return -1;
	(void)snprintf(said->text, sizeof(said->text), "%" PRIu64, fence);
	return 0;
}

static int tell_fed(struct test *t, struct said *said, struct error *err)
{
	int64_t at;

	if (t->ops->fed(t->store, &at, err) != 0)
		return -1;
	(void)snprintf(said->text, sizeof(said->text), "%" PRId64, at);
	return 0;
}

/* arg: what stands behind the word; NULL: nothing. */
static int run(struct test *t, const char *word, char *arg, struct said *said,
	       struct error *err)
{
	int rc = 0;

	if (strcmp(word, "lock") == 0)
		rc = take_lock(t, said, err);
	else if (strcmp(word, "unlock") == 0)
		t->ops->unlock(t->store);
	else if (strcmp(word, "sync-lock") == 0)
		rc = t->ops->sync_lock(t->store, "pass", err);
	else if (strcmp(word, "sync-unlock") == 0)
		t->ops->sync_unlock(t->store);
	else if (strcmp(word, "fed") == 0)
		rc = tell_fed(t, said, err);
	else if (strcmp(word, "set-fed") == 0 && arg != NULL)
		rc = t->ops->set_fed(t->store, strtoll(arg, NULL, 10), err);
	else if (strcmp(word, "begin") == 0)
		rc = begin(t, arg, said, err);
	else if (strcmp(word, "add") == 0 && arg != NULL)
		rc = add(t, arg, err);
	else if (strcmp(word, "flush") == 0)
		rc = flush(t, err);
	else if (strcmp(word, "close") == 0)
		close_writer(t);
	else if (strcmp(word, "end") == 0)
		rc = end(t, arg, said, err);
	else if (strcmp(word, "drop") == 0)
		t->ops->pass_drop(t->store);
	else if (strcmp(word, "promote") == 0 && arg != NULL)
		rc = promote(t, arg, err);
	else
		rc = error_set(err, ERROR_USAGE, "no such line: %s", word);
	return rc;
}

static void take_line(struct test *t, char *line)
{
	struct error err = ERROR_INIT;
	struct said said = {""};
	char *arg;

	line[strcspn(line, "\n")] = '\0';
	arg = strchr(line, ' ');
	if (arg != NULL)
		*arg++ = '\0';
	if (run(t, line, arg, &said, &err) != 0)
		printf("%d %s\n", (int)err.code, err.text);
	else
		printf("ok %s\n", said.text);
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct store_options options = {.writes = true, .lease_ms = 2000};
	struct test t = {0};
	struct error err = ERROR_INIT;
	char line[512];

	(void)signal(SIGPIPE, SIG_IGN);
	if (argc != 3 || bloomkey_load(argv[1], NULL, &t.spec, NULL) != 0)
		return 64;
	if (store_open(argv[2], t.spec, &options, &t.store, &err) != 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		bloomkey_free(t.spec);
		return 1;
	}
	t.ops = t.store->ops;
	t.keys = calloc(bloomkey_buckets(t.spec), sizeof(*t.keys));
	while (t.keys != NULL && fgets(line, sizeof(line), stdin) != NULL)
		take_line(&t, line);
	close_writer(&t);
	manifest_release(&t.m);
	store_close(t.store);
	bloomkey_free(t.spec);
	free(t.keys);
	return 0;
}
