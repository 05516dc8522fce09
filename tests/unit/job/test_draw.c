/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/draw.h"

#include "tests/unit/job/job.h"

#define KEYS 2000

static void offer(struct draw *d, unsigned n, const char *value)
{
	struct error err = ERROR_INIT;
	const void *values[] = {value};
	const size_t lens[] = {value != NULL ? strlen(value) : 0};
	char key[32];
	int len = sprintf(key, "k:%u", n);

	/* Any hash will do that is its own of each key. */
	REQUIRE(draw_offer(d, UINT64_C(0x9E3779B97F4A7C15) * (n + 1), n % 4,
			   key, (size_t)len, 1, values, lens, &err) == 0);
}

/* The number in a key, which has no NUL. */
static unsigned number_of(const struct drawn *d)
{
	char text[32] = "";

	memcpy(text, d->key.key, d->key.len);
	return (unsigned)strtoul(text + 2, NULL, 10);
}

static int compare(const void *a, const void *b)
{
	return number_of(a) < number_of(b) ? -1 : 1;
}

static void begin(struct draw *d, size_t wanted, uint64_t seed)
{
	struct error err = ERROR_INIT;

	REQUIRE(draw_init(d, wanted, seed, &err) == 0);
}

static void end(struct draw *d)
{
	draw_end(d);
	qsort(d->keys, d->count, sizeof(*d->keys), compare);
}

/* In any order and however often: the same are drawn. */
static void the_same_keys(void)
{
	struct draw a, b;

	begin(&a, 100, 7);
	begin(&b, 100, 7);
	for (unsigned i = 0; i < KEYS; i++)
		offer(&a, i, "v");
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = KEYS; i-- > 0;)
			offer(&b, i, "v");
	end(&a);
	end(&b);
	REQUIRE(a.count == 100 && b.count == 100);
	for (size_t i = 0; i < 100; i++) {
		CHECK_U64(a.keys[i].number, b.keys[i].number);
		CHECK(a.keys[i].key.len == b.keys[i].key.len &&
		      memcmp(a.keys[i].key.key, b.keys[i].key.key,
			     a.keys[i].key.len) == 0);
		CHECK_STR(a.keys[i].key.values[0], "v");
	}
	draw_release(&a);
	draw_release(&b);
}

static void fewer_than_wanted(void)
{
	struct draw d;

	begin(&d, 1000, 1);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < 300; i++)
			offer(&d, i, i % 2 != 0 ? "odd" : NULL);
	end(&d);
	REQUIRE(d.count == 300);
	for (unsigned i = 0; i < 300; i++) {
		CHECK_U64(d.keys[i].key.bucket, i % 4);
		CHECK((d.keys[i].key.values[0] != NULL) == (i % 2 != 0));
	}
	draw_release(&d);
}

/* Each key is drawn about as often as any other, whatever its place. */
static void evenly(void)
{
	unsigned drawn[20] = {0};

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct draw d;

		begin(&d, 100, seed * UINT64_C(0xD1B54A32D192ED03));
		for (unsigned i = 0; i < KEYS; i++)
			offer(&d, i, "");
		end(&d);
		REQUIRE(d.count == 100);
		for (size_t i = 0; i < d.count; i++)
			drawn[number_of(&d.keys[i]) / (KEYS / 20)]++;
		draw_release(&d);
	}
	/* 1000 each, within six deviations. */
	for (unsigned i = 0; i < 20; i++)
		CHECK(drawn[i] > 815 && drawn[i] < 1185);
}

struct offering {
	struct draw *draw;
	unsigned first;
};

static void *offer_all(void *arg)
{
	struct offering *o = arg;

	for (unsigned i = o->first; i < KEYS; i++)
		offer(o->draw, i, "v");
	return NULL;
}

static void by_several_threads(void)
{
	pthread_t threads[3];
	struct offering all[3];
	struct draw one, many;

	begin(&one, 50, 3);
	begin(&many, 50, 3);
	for (unsigned i = 0; i < KEYS; i++)
		offer(&one, i, "v");
	for (unsigned i = 0; i < 3; i++) {
		all[i] = (struct offering){&many, i * 300};
		REQUIRE(pthread_create(&threads[i], NULL, offer_all, &all[i]) ==
			0);
	}
	for (unsigned i = 0; i < 3; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	end(&one);
	end(&many);
	REQUIRE(one.count == 50 && many.count == 50);
	for (size_t i = 0; i < 50; i++)
		CHECK_U64(one.keys[i].number, many.keys[i].number);
	draw_release(&one);
	draw_release(&many);
}

int main(void)
{
	UNIT(the_same_keys, "draw: order and repetition are of no matter");
	UNIT(fewer_than_wanted, "draw: of fewer each one is drawn, once");
	UNIT(evenly, "draw: each key is as likely as another one");
	UNIT(by_several_threads, "draw: several threads may offer");
	return unit_end();
}
