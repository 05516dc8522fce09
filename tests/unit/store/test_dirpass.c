/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/store/passes.h"

static void adds(void)
{
	struct bucket_info before;
	struct bucket_info after;

	build_live(100);
	before = info(&live, 1);
	REQUIRE(begin(true) == 0);
	CHECK_U64(oldest.xid, 10);
	REQUIRE(add(0, 150) == 0);
	CHECK(state(ID1 "/1.bloom") == BUCKETFILE_OPEN);
	CHECK(found(&live, 0, 150) == 150);
	REQUIRE(end(&late) == 0);
	CHECK_U64(done.acknowledged, 150);
	CHECK(done.added > 90 && done.added <= 100);
	CHECK(done.moved == 4 && done.changed == 0 && done.failed == 0);
	CHECK(done.fill > 0.3 && done.fill < 0.6);
	CHECK(state(ID1 "/1.bloom") == BUCKETFILE_SEALED);
	CHECK(found(&live, 0, 150) == 150);
	after = info(&live, 1);
	CHECK_U64(after.horizon.xid, 20);
	CHECK(after.items > before.items && after.keys > before.keys);
	CHECK(after.bits_set > before.bits_set);
}

/* Where a filter has all, its file is not written but for its horizon. */
static void adds_nothing(void)
{
	struct stat st;
	struct stat again;

	build_live(100);
	REQUIRE(stat(scratch_path(spec, ID1 "/0.bloom"), &st) == 0);
	REQUIRE(begin(true) == 0);
	REQUIRE(add(0, 50) == 0);
	CHECK(state(ID1 "/0.bloom") == BUCKETFILE_SEALED);
	REQUIRE(end(NULL) == 0);
	CHECK_U64(done.acknowledged, 50);
	CHECK_U64(done.added, 0);
	CHECK(done.moved == 0 && done.changed == 0);
	REQUIRE(stat(scratch_path(spec, ID1 "/0.bloom"), &again) == 0);
	CHECK(st.st_mtim.tv_sec == again.st_mtim.tv_sec &&
	      st.st_mtim.tv_nsec == again.st_mtim.tv_nsec);
	REQUIRE(begin(true) == 0);
	REQUIRE(end(&late) == 0);
	CHECK(done.moved == 4);
	CHECK_U64(info(&live, 3).horizon.xid, 20);
}

/* A stamp moves what it knows, and the oldest of all counts. */
static void moves_horizons(void)
{
	static const struct horizon stamp = {
		.read_at = 3000, .since = 2900, .system = 7};

	build_live(100);
	REQUIRE(begin(true) == 0);
	REQUIRE(end(&stamp) == 0);
	REQUIRE(begin(true) == 0);
	CHECK_U64(oldest.xid, 10);
	CHECK(oldest.since == 2900 && oldest.read_at == 3000);
	s->ops->pass_drop(s);
	CHECK(info(&live, 2).horizon.since == 2900);
}

static void dropped(void)
{
	build_live(100);
	REQUIRE(begin(true) == 0);
	REQUIRE(add(50, 90) == 0);
	s->ops->pass_drop(s);
	s->ops->pass_drop(s);
	CHECK(state(ID1 "/1.bloom") == BUCKETFILE_SEALED);
	CHECK(found(&live, 0, 90) == 90);
	CHECK_U64(info(&live, 1).horizon.xid, 10);
	REQUIRE(begin(true) == 0);
	CHECK_U64(oldest.xid, 10);
	s->ops->pass_drop(s);
}

/* Those that it has are in; more are refused, and the others go on. */
static void full(void)
{
	uint32_t full_ones = 0;

	build_live(25);
	REQUIRE(begin(true) == 0);
	CHECK(add(0, 1000) == 0);
	REQUIRE(end(&late) == 0);
	CHECK(done.failed == 4 && done.moved == 0 && done.changed == 0);
	CHECK(done.why.code == ERROR_FULL);
	CHECK(strstr(done.why.text, "capacity 25 reached") != NULL);
	CHECK(done.fill == 1);
	for (uint32_t b = 0; b < 4; b++) {
		struct bucket_info i = info(&live, b);

		CHECK_U64(i.horizon.xid, 10);
		full_ones += i.items == 25;
	}
	CHECK(full_ones == 4);
	CHECK(state(ID1 "/0.bloom") == BUCKETFILE_SEALED);
	CHECK(found(&live, 0, 50) == 50);
	/* What is in may come again. */
	REQUIRE(begin(true) == 0);
	CHECK(add(0, 50) == 0);
	REQUIRE(end(&late) == 0);
	CHECK(done.failed == 0 && done.moved == 4);
}

static void missing(void)
{
	build_live(100);
	CHECK(unlink(scratch_path(spec, ID1 "/2.bloom")) == 0);
	REQUIRE(begin(true) == 0);
	CHECK_U64(oldest.xid, 10);
	CHECK(add(0, 150) == 0);
	REQUIRE(end(&late) == 0);
	CHECK(done.failed == 1 && done.moved == 3);
	CHECK(done.why.code == ERROR_DATA);
	CHECK(strstr(done.why.text, ID1 "/2.bloom'") != NULL);
	CHECK(done.acknowledged > 50 && done.acknowledged < 150);
	CHECK_U64(info(&live, 1).horizon.xid, 20);
}

static void guards_promotion(void)
{
	struct manifest next;

	build_live(100);
	build(ID2, 100, &early, &next);
	REQUIRE(s->ops->pass_begin(s, &next, false, 1, &oldest, &scratch_err) ==
		0);
	CHECK(add(50, 90) == 0);
	REQUIRE(end(&late) == 0);
	CHECK(done.moved == 4);
	rewrite(ID2 "/3.bloom", &early);
	CHECK(s->ops->promote(s, &next, &live, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	CHECK(strstr(scratch_err.text, "/3.bloom': its horizon") != NULL);
	CHECK(scratch_state(s, ID1) == MANIFEST_LIVE);
	CHECK(scratch_state(s, ID2) == MANIFEST_COMPLETE);
	rewrite(ID2 "/3.bloom", &late);
	CHECK(s->ops->promote(s, &next, &live, &scratch_err) == 0);
	CHECK(found(&next, 0, 90) == 90);
	manifest_release(&next);
}

static void needs_the_lock(void)
{
	build_live(100);
	s->ops->unlock(s);
	CHECK(begin(false) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
	CHECK(begin(true) == 0);
	CHECK(begin(true) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
	CHECK(end(NULL) == 0);
	CHECK(end(NULL) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
}

static void needs_a_live_one(void)
{
	build(ID1, 100, &early, &live);
	CHECK(begin(true) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	CHECK(strstr(scratch_err.text, "nothing is live") != NULL);
}

int main(void)
{
	scratch_begin();
	spec = scratch_spec(4, "");
	with(adds, "dirpass: members go into live filters, and readers find "
		   "them at once");
	with(adds_nothing, "dirpass: a filter that has all is not written to");
	with(moves_horizons, "dirpass: a stamp moves a stamp, and leaves the "
			     "transaction");
	with(dropped, "dirpass: one that is dropped leaves what it added, and "
		      "no horizon moves");
	with(full, "dirpass: a full filter is told at the end, the others take "
		   "theirs");
	with(missing, "dirpass: a missing filter is told at the end, the "
		      "others take theirs");
	with(guards_promotion, "dirpass: promote wants the horizons that the "
			       "pass has left");
	with(needs_the_lock, "dirpass: what is not live is added to under the "
			     "lock, and one pass at a time");
	with(needs_a_live_one, "dirpass: without a live generation there is no "
			       "pass into it");
	bloomkey_free(spec);
	scratch_end();
	return unit_end();
}
