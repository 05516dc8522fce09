/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/batch.h"

#include "lib/redis/batch_private.h"
#include "tests/unit/alloc.h"
#include "tests/unit/redis/batchmodel.h"

/* --- tests --------------------------------------------------------------- */

static void all_items_arrive_in_order(void)
{
	static const struct {
		uint32_t buckets;
		size_t memory, items, window;
		bool skewed, first;
	} cases[] = {
		{1, 1u << 20, 100000, 1024, false, false},
		{1, 0, 10000, 1, false, true},
		{200, 64u << 20, 500000, 1024, false, false},
		{200, 1u << 20, 300000, 3, true, true},
		{200, 1u << 20, 300000, 1024, true, false},
		{10000, 16u << 20, 300000, 1024, true, true},
		{65536, 16u << 20, 500000, 1024, false, false},
		{65536, 0, 200000, 2, true, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model *m = model_new(cases[i].buckets, cases[i].memory,
					    cases[i].first);
		struct error err = ERROR_INIT;
		uint64_t x = 1;

		REQUIRE(m != NULL);
		m->cluster.window = cases[i].window;
		m->long_len = i % 2 == 0 ? 40 : 150000;
		for (size_t n = 0; n < cases[i].items; n++) {
			uint32_t bucket;

			x = x * 6364136223846793005u + 1442695040888963407u;
			bucket = (uint32_t)((x >> 33) % cases[i].buckets);
			if (cases[i].skewed && n % 4 != 0)
				bucket %= 3;
			if (add(m, bucket, &err) != 0)
				break;
		}
		CHECK(batch_flush(m->batch, &err) == 0);
		CHECK_STR(err.text, "");
		CHECK(all_seen(m));
		CHECK_U64(m->cluster.count, 0);
		CHECK(m->items_most <= BATCH_ITEMS_MAX);
		printf("# %u buckets: slots of %zu bytes, %zu commands, up to "
		       "%zu items\n",
		       cases[i].buckets, m->batch->slot_size, m->commands,
		       m->items_most);
		/* It may go on after a flush. */
		CHECK(add(m, 0, &err) == 0);
		CHECK(batch_flush(m->batch, &err) == 0);
		CHECK(all_seen(m));
		model_free(m);
	}
}

static void only_full_slots_are_sent(void)
{
	struct model *m = model_new(3, 16u << 20, true);
	struct error err = ERROR_INIT;
	unsigned full = 0;

	REQUIRE(m != NULL);
	/* The first slot of the last bucket is a whole one. */
	while (m->cluster.commands == 0 && full < 10000) {
		CHECK(add(m, 2, &err) == 0);
		full++;
	}
	CHECK(full > 100 && full < 10000);
	CHECK(add(m, 1, &err) == 0);
	CHECK_U64(m->cluster.commands, 1);
	CHECK(batch_flush(m->batch, &err) == 0);
	CHECK_U64(m->cluster.commands, 3);
	CHECK(m->items_most <= BATCH_ITEMS_MAX);
	CHECK(all_seen(m));
	model_free(m);
}

/* Buckets that fill at the same pace are not sent at the same time. */
static void first_slots_are_full_in_turn(void)
{
	struct model *m = model_new(4, 16u << 20, true);
	struct error err = ERROR_INIT;
	unsigned sent[4] = {0, 0, 0, 0};

	REQUIRE(m != NULL);
	for (unsigned i = 1; i < 10000 && sent[3] == 0; i++) {
		for (uint32_t b = 0; b < 4; b++) {
			size_t before = m->cluster.commands;

			CHECK(add(m, b, &err) == 0);
			if (m->cluster.commands > before && sent[b] == 0)
				sent[b] = i;
		}
	}
	/* A quarter, a half, three quarters of a slot, and a whole one. */
	for (unsigned b = 0; b < 4; b++)
		CHECK(sent[b] + 3 > sent[3] * (b + 1) / 4 &&
		      sent[b] < sent[3] * (b + 1) / 4 + 3);
	CHECK(batch_flush(m->batch, &err) == 0);
	CHECK(all_seen(m));
	model_free(m);
}

static void slots_are_filled_to_the_last_byte(void)
{
	struct model *m = model_new(1, 0, false);
	struct error err = ERROR_INIT;
	size_t room;

	REQUIRE(m != NULL);
	room = m->batch->slot_size - m->batch->head_max;
	CHECK_U64(room, 64);
	/* "$58\r\n", 58 bytes... one too many; and 57, which just fit. */
	CHECK(batch_add(m->batch, 0, item_room, 57, &err) == 0);
	CHECK(m->batch->lones == NULL);
	CHECK(m->batch->slots[m->batch->slot_of[0]].len == room);
	CHECK(batch_add(m->batch, 0, item_room, 58, &err) == 0);
	CHECK(m->batch->lones != NULL);
	CHECK_U64(m->cluster.commands, 2);
	model_free(m);
}

static void memory_is_as_given(void)
{
	static const struct {
		uint32_t buckets;
		size_t memory;
	} cases[] = {{1, 4u << 20},      {200, 16u << 20},
		     {200, 1u << 30},    {10000, 16u << 20},
		     {65536, 16u << 20}, {65536, 64u << 20}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model *m =
			model_new(cases[i].buckets, cases[i].memory, false);
		size_t slots = 0;

		REQUIRE(m != NULL);
		for (uint32_t at = m->batch->free; at != BATCH_NONE;
		     at = m->batch->slots[at].bucket)
			slots++;
		CHECK(slots * (m->batch->slot_size +
			       sizeof(struct batch_slot)) +
			      cases[i].buckets * sizeof(uint32_t) <=
		      cases[i].memory);
		CHECK(slots >= cases[i].buckets + 16);
		CHECK(m->batch->slot_size - m->batch->head_max >= 64);
		CHECK(m->batch->slot_size <= 128u << 10);
		model_free(m);
	}
}

static void nothing_is_allocated_for_an_item(void)
{
	struct model *m = model_new(100, 8u << 20, true);
	struct error err = ERROR_INIT;

	ALLOC_NEEDED();
	REQUIRE(m != NULL);
	alloc_fail(0, false);
	for (unsigned i = 0; i < 100000; i++)
		if (batch_add(m->batch, i % 100, item_room, 40, &err) != 0)
			break;
	CHECK(batch_flush(m->batch, &err) == 0);
	alloc_pass();
	CHECK_U64(alloc.made, 0);
	CHECK(m->commands > 0);
	model_free(m);
}

static void without_memory_nothing_is_lost(void)
{
	struct error err;
	unsigned long n;
	bool met = true;

	ALLOC_NEEDED();
	for (n = 1; met && n < 100; n++) {
		struct model *m = model_new(10, 0, true);
		struct batch *b = NULL;
		int rc;

		REQUIRE(m != NULL);
		alloc_fail(n, true);
		rc = batch_new(&m->cluster, &m->options, &b, &err);
		if (rc == 0) {
			/* Two, so that a list of them is undone. */
			rc = batch_add(b, 0, item_room, 1000, &err);
			if (rc == 0)
				rc = batch_add(b, 0, item_room, 1000, &err);
		}
		met = alloc_pass();
		CHECK(rc == (met ? -1 : 0));
		if (met)
			CHECK_U64(err.code, ERROR_INTERNAL);
		batch_free(b);
		model_free(m);
	}
	CHECK(n > 5 && n < 100);
}

static void faults_of_the_connection_come_through(void)
{
	struct model *m = model_new(3, 0, false);
	struct error err = ERROR_INIT;
	unsigned i;

	REQUIRE(m != NULL);
	m->cluster.fails_at = 5;
	for (i = 0; i < 100 && add(m, i % 3, &err) == 0; i++)
		;
	CHECK(i > 3 && i < 100);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK_STR(err.text, "gone");
	model_free(m);
}

static void a_longer_key_is_refused(void)
{
	struct model *m = model_new(3, 0, false);
	struct error err = ERROR_INIT;

	REQUIRE(m != NULL);
	CHECK(add(m, 1, &err) == 0);
	m->suffix = "20261202T180000Z:longer";
	CHECK(batch_flush(m->batch, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERNAL);
	CHECK_U64(m->cluster.commands, 0);
	model_free(m);
}

int main(void)
{
	UNIT(all_items_arrive_in_order,
	     "batch: all items arrive once, each bucket's in order");
	UNIT(first_slots_are_full_in_turn,
	     "batch: buckets that fill at one pace are sent in turn");
	UNIT(only_full_slots_are_sent,
	     "batch: only full slots are sent before a flush");
	UNIT(slots_are_filled_to_the_last_byte,
	     "batch: what just fits a slot goes into it");
	UNIT(memory_is_as_given, "batch: memory is what was given");
	UNIT(nothing_is_allocated_for_an_item,
	     "batch: nothing is allocated for an item");
	UNIT(without_memory_nothing_is_lost,
	     "batch: no memory is an error, wherever");
	UNIT(faults_of_the_connection_come_through,
	     "batch: a fault of the connection is the batch's");
	UNIT(a_longer_key_is_refused,
	     "batch: a key longer than measured is refused");
	return unit_end();
}
