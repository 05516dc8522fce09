/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One keyspec in several threads at once.
 */
#include <pthread.h>

#include "tests/unit/bloomkey/keyspec.h"

#define ROWS    400
#define THREADS 4
#define ROUNDS  5

static const char text[] =
	"[keyspec]\nversion = 1\nname = t\nbuckets = 97\n"
	"key = {a}:{b}:{c}\nfilter = {name}:{bucket}:{fp}\n"
	"[field a]\ntransform = trim,int,hmac-sha256\nsecret = env:A\n"
	"[field b]\ntransform = lower,sha256,first:32,uuid\n"
	"[field c]\ntransform = digits,hmac-sha256,upper\nsecret = env:C\n";

struct answer {
	int code;
	struct bloomkey_result result;
	char key[256];
	char filter[64];
	uint32_t bucket;
};

static struct bloomkey_spec *spec;
static struct answer answers[ROWS];

/* Row i: short values and long ones, and one in seven that is rejected. */
static struct answer derive(unsigned i)
{
	char a[600], b[600], c[600];
	const void *values[] = {a, b, c};
	struct answer answer;
	size_t lens[3];

	memset(&answer, 0, sizeof(answer));
	(void)snprintf(a, sizeof(a), " -%0*u ", (int)(i % 5 * 70 + 1), i);
	(void)snprintf(b, sizeof(b), "B-%0*u", (int)(i % 3 * 140 + 1), i);
	(void)snprintf(c, sizeof(c), "+1 (%0*u) %s", (int)(i % 2 * 260 + 1), i,
		       i % 7 == 6 ? "x" : "-");
	for (unsigned f = 0; f < 3; f++)
		lens[f] = strlen(values[f]);
	answer.code = bloomkey_derive(spec, values, lens, answer.key,
				      sizeof(answer.key), &answer.result);
	if (answer.code != BLOOMKEY_OK)
		return answer;
	answer.bucket =
		bloomkey_bucket(spec, answer.key, answer.result.len, NULL);
	(void)bloomkey_filter(spec, answer.bucket, answer.filter,
			      sizeof(answer.filter));
	return answer;
}

static bool same(const struct answer *a, const struct answer *b)
{
	if (a->code != b->code || a->result.field != b->result.field)
		return false;
	return a->code != BLOOMKEY_OK ||
	       (a->result.len == b->result.len &&
		a->result.hash == b->result.hash && a->bucket == b->bucket &&
		a->result.bucket == b->bucket &&
		strcmp(a->filter, b->filter) == 0 &&
		memcmp(a->key, b->key, a->result.len) == 0);
}

/* Counts to its argument the rows that come to something else. */
static void *work(void *ctx)
{
	unsigned *wrong = ctx;

	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < ROWS; i++) {
			const struct answer answer = derive(i);

			*wrong += !same(&answer, &answers[i]);
		}
	return NULL;
}

/* Threads that each count what comes out wrong: nothing. */
static void at_once(void *(*counts)(void *))
{
	pthread_t ids[THREADS];
	unsigned wrong[THREADS] = {0};

	for (unsigned i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&ids[i], NULL, counts, &wrong[i]) == 0);
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK(pthread_join(ids[i], NULL) == 0);
		CHECK_U64(wrong[i], 0);
	}
}

static void threads(void)
{
	unsigned good = 0, buckets = 0;
	bool met[97] = {false};

	spec = parse_keyed(text, SECRET);
	for (unsigned i = 0; i < ROWS; i++) {
		answers[i] = derive(i);
		good += answers[i].code == BLOOMKEY_OK;
		met[answers[i].bucket] = true;
	}
	for (unsigned i = 0; i < 97; i++)
		buckets += met[i];
	/* The rows are rows, and not all the same. */
	CHECK_U64(good, ROWS - ROWS / 7);
	CHECK(buckets > 80);
	at_once(work);
	bloomkey_free(spec);
}

/* Parses and frees keyspecs of its own; counts what comes out wrong. */
static void *parse(void *ctx)
{
	unsigned *wrong = ctx;

	for (unsigned round = 0; round < 20; round++) {
		struct bloomkey_spec *own = parse_keyed(text, SECRET);

		*wrong += strcmp(bloomkey_fingerprint(own),
				 bloomkey_fingerprint(spec)) != 0;
		bloomkey_free(own);
	}
	return NULL;
}

static void parsers(void)
{
	spec = parse_keyed(text, SECRET);
	at_once(parse);
	bloomkey_free(spec);
}

int main(void)
{
	UNIT(threads, "threads: one keyspec gives each the same keys");
	UNIT(parsers, "threads: keyspecs are parsed at the same time");
	return unit_end();
}
