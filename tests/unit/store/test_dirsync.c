/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/store/scratch.h"

static struct bloomkey_spec *spec;
static struct store *s;

static struct store *open_set(void)
{
	struct store *store;

	scratch_err.code = ERROR_NONE;
	if (store_open(scratch_target, spec, &making, &store, &scratch_err) !=
	    0)
		abort();
	return store;
}

static void begin(void)
{
	uint64_t fence;

	scratch_reset();
	s = open_set();
	/* Makes the set. */
	if (s->ops->lock(s, "build", &fence, &scratch_err) != 0)
		abort();
}

static int64_t fed(void)
{
	int64_t at;

	return s->ops->fed(s, &at, &scratch_err) == 0 ? at : -1;
}

static void one_syncs(void)
{
	char who[256];
	struct store *other = open_set();

	REQUIRE(other->ops->sync_lock(other, "sync", &scratch_err) == 0);
	CHECK(s->ops->locked_by(s, true, who, sizeof(who), &scratch_err) == 0);
	CHECK(strncmp(who, "sync, pid ", 10) == 0);
	CHECK(s->ops->locked_by(s, false, who, sizeof(who), &scratch_err) == 0);
	CHECK(strncmp(who, "build, pid ", 11) == 0);
	CHECK(s->ops->sync_lock(s, "sync", &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_LOCKED);
	CHECK(strstr(scratch_err.text, "sync: locked by sync, pid ") != NULL);
	CHECK(other->ops->sync_lock(other, "sync", &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
	other->ops->sync_unlock(other);
	CHECK(s->ops->sync_lock(s, "sync", &scratch_err) == 0);
	s->ops->close(s);
	s = open_set();
	/* It ends with the store. */
	CHECK(other->ops->sync_lock(other, "sync", &scratch_err) == 0);
	other->ops->close(other);
}

static void of_no_set(void)
{
	int64_t at = 1;

	s->ops->close(s);
	scratch_reset();
	s = open_set();
	CHECK(s->ops->sync_lock(s, "sync", &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_SOURCE);
	CHECK(s->ops->fed(s, &at, &scratch_err) == 0 && at == 0);
	CHECK(s->ops->set_fed(s, 5, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_SOURCE);
}

static void marks(void)
{
	struct store *other = open_set();

	CHECK(fed() == 0);
	CHECK(s->ops->set_fed(s, 1700000000000, &scratch_err) == 0);
	CHECK(fed() == 1700000000000);
	CHECK(other->ops->set_fed(other, 1600000000000, &scratch_err) == 0);
	CHECK(fed() == 1700000000000);
	CHECK(other->ops->set_fed(other, 1700000000001, &scratch_err) == 0);
	CHECK(fed() == 1700000000001);
	other->ops->close(other);
}

/* Left by a run that died before it added anything, or by somebody else. */
static void odd_marks(void)
{
	scratch_write(scratch_path(spec, "fed"), "");
	CHECK(fed() == 0);
	scratch_write(scratch_path(spec, "fed"), "yesterday\n");
	CHECK(fed() == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	CHECK(s->ops->set_fed(s, 7, &scratch_err) == 0);
	CHECK(fed() == 7);
	(void)unlink(scratch_path(spec, "fed"));
	CHECK(symlink("elsewhere", scratch_path(spec, "fed")) == 0);
	CHECK(fed() == -1);
	CHECK(s->ops->set_fed(s, 7, &scratch_err) == -1);
}

static void with(void (*test)(void), const char *claim)
{
	begin();
	UNIT(test, claim);
	s->ops->close(s);
}

int main(void)
{
	scratch_begin();
	spec = scratch_spec(4, "");
	with(one_syncs, "dirsync: one sync at a time, beside whoever has the "
			"set's lock");
	with(of_no_set, "dirsync: a set that is not there was never fed");
	with(marks, "dirsync: the latest feed counts, whoever says it");
	with(odd_marks, "dirsync: an empty mark is none, an odd one is told");
	bloomkey_free(spec);
	scratch_end();
	return unit_end();
}
