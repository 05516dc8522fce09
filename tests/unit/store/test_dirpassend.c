/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>

#include "tests/unit/store/passes.h"

static void swapped(void)
{
	struct manifest next;

	build_live(100);
	build(ID2, 200, &late, &next);
	REQUIRE(begin(true) == 0);
	CHECK(add(50, 80) == 0);
	CHECK(s->ops->promote(s, &next, &live, &scratch_err) == 0);
	REQUIRE(end(&late) == 0);
	CHECK(done.changed == 4 && done.moved == 0);
	/* The next one goes where readers are, whatever the caller has. */
	REQUIRE(begin(true) == 0);
	CHECK_U64(oldest.xid, 20);
	CHECK(add(50, 80) == 0);
	REQUIRE(end(&late) == 0);
	CHECK(done.changed == 0 && done.moved == 4);
	CHECK(found(&next, 0, 80) == 80);
	manifest_release(&next);
}

/* From the horizon of the one that went, nothing can be told of this one. */
static void swapped_for_one_without(void)
{
	static const struct horizon none;
	struct manifest next;

	build_live(100);
	build(ID2, 200, &none, &next);
	CHECK(s->ops->promote(s, &next, &live, &scratch_err) == 0);
	CHECK(begin(true) == -1);
	CHECK(scratch_err.code == ERROR_TEMPORARY);
	manifest_release(&next);
}

static void changed(void)
{
	char path[PATH_MAX];
	char copy[PATH_MAX + 8];
	char command[2 * PATH_MAX + 64];

	build_live(100);
	REQUIRE(begin(true) == 0);
	rewrite(ID1 "/1.bloom", &late);
	(void)snprintf(path, sizeof(path), "%s",
		       scratch_path(spec, ID1 "/2.bloom"));
	(void)snprintf(copy, sizeof(copy), "%s.copy", path);
	(void)snprintf(command, sizeof(command), "cp '%s' '%s'", path, copy);
	/* NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe) */
	REQUIRE(system(command) == 0);
	REQUIRE(rename(copy, path) == 0);
	CHECK(add(50, 90) == 0);
	REQUIRE(end(&late) == 0);
	CHECK(done.changed == 2 && done.moved == 2 && done.failed == 0);
	CHECK_U64(info(&live, 2).horizon.xid, 10);
	CHECK_U64(info(&live, 3).horizon.xid, 20);
}

/* Begins a pass when it is told to, and says what it found. */
static _Noreturn void other_pass(int told, int tell)
{
	struct store *other;
	char c;

	if (store_open(scratch_target, spec, &taking, &other, &scratch_err) !=
		    0 ||
	    read(told, &c, 1) != 1 ||
	    other->ops->pass_begin(other, &live, true, 1, &oldest,
				   &scratch_err) != 0)
		_exit(1);
	c = (char)oldest.xid;
	_exit(write(tell, &c, 1) != 1);
}

static void one_at_a_time(void)
{
	struct pollfd answer = {.events = POLLIN};
	int told[2];
	int tell[2];
	int status;
	pid_t child;
	char c = 'x';

	build_live(100);
	REQUIRE(pipe(told) == 0 && pipe(tell) == 0);
	child = fork();
	if (child == 0)
		other_pass(told[0], tell[1]);
	REQUIRE(begin(true) == 0);
	CHECK(write(told[1], &c, 1) == 1);
	answer.fd = tell[0];
	CHECK(poll(&answer, 1, 300) == 0);
	CHECK(end(&late) == 0);
	CHECK(read(tell[0], &c, 1) == 1 && c == 20);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	for (int i = 0; i < 2; i++)
		(void)close(told[i]), (void)close(tell[i]);
}

int main(void)
{
	scratch_begin();
	spec = scratch_spec(4, "");
	with(swapped, "dirpassend: a swap meanwhile is told, and the next pass "
		      "goes into the new one");
	with(swapped_for_one_without,
	     "dirpassend: a generation without a horizon "
	     "is not caught up from another's");
	with(changed, "dirpassend: filters that others changed meanwhile are "
		      "told, and stay");
	with(one_at_a_time, "dirpassend: one pass waits for another to end");
	bloomkey_free(spec);
	scratch_end();
	return unit_end();
}
