/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/store/passes.h"

static void died(void)
{
	struct store *other;
	struct writer *w;
	struct bucket_info i;
	uint64_t items;
	pid_t child;
	int status;

	build_live(100);
	items = info(&live, 1).items;
	child = fork();
	if (child == 0) {
		char key[16];

		if (store_open(scratch_target, spec, &taking, &other,
			       &scratch_err) != 0 ||
		    other->ops->pass_begin(other, &live, true, 1, &oldest,
					   &scratch_err) != 0 ||
		    other->ops->writer(other, &w, &scratch_err) != 0)
			_exit(1);
		for (unsigned n = 50; n < 150; n++) {
			uint32_t bucket = scratch_key(spec, n, key);

			if (w->ops->add(w, bucket, key, strlen(key),
					&scratch_err) != 0)
				_exit(1);
		}
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(state(ID1 "/1.bloom") == BUCKETFILE_OPEN);
	/* Readers use it, and nothing is wrong with it. */
	CHECK(found(&live, 0, 150) == 150);
	CHECK_U64(info(&live, 1).items, items);
	CHECK_U64(info(&live, 1).horizon.xid, 10);
	REQUIRE(begin(true) == 0);
	CHECK_U64(oldest.xid, 10);
	REQUIRE(end(&late) == 0);
	CHECK(done.moved == 4);
	CHECK(state(ID1 "/1.bloom") == BUCKETFILE_SEALED);
	i = info(&live, 1);
	CHECK_U64(i.horizon.xid, 20);
	/* 20 to 30 came; how many its bits tell, but not quite. */
	CHECK(i.items > items + 15 && i.items < items + 40);
	CHECK(found(&live, 0, 150) == 150);
}

static void breaks_links(void)
{
	char path[PATH_MAX];
	char other[PATH_MAX];
	unsigned char was[16384];
	unsigned char is[16384];
	struct stat st;
	size_t n;
	FILE *file;

	build_live(100);
	(void)snprintf(path, sizeof(path), "%s",
		       scratch_path(spec, ID1 "/1.bloom"));
	(void)snprintf(other, sizeof(other), "%s/linked", scratch);
	(void)unlink(other);
	REQUIRE(link(path, other) == 0);
	file = fopen(other, "r");
	REQUIRE(file != NULL);
	n = fread(was, 1, sizeof(was), file);
	(void)fclose(file);
	REQUIRE(begin(true) == 0);
	CHECK(add(50, 150) == 0);
	REQUIRE(end(&late) == 0);
	CHECK(done.moved == 4 && done.changed == 0);
	CHECK(found(&live, 0, 150) == 150);
	file = fopen(other, "r");
	REQUIRE(file != NULL);
	CHECK(fread(is, 1, sizeof(is), file) == n);
	(void)fclose(file);
	CHECK(n < sizeof(was) && memcmp(was, is, n) == 0);
	REQUIRE(stat(path, &st) == 0);
	CHECK(st.st_nlink == 1);
}

struct range {
	unsigned from;
	unsigned to;
};

static void *run_range(void *ctx)
{
	const struct range *r = ctx;
	struct error err = ERROR_INIT;
	struct writer *w;
	char key[16];
	int rc = s->ops->writer(s, &w, &err);

	for (unsigned i = r->from; rc == 0 && i < r->to; i++) {
		uint32_t bucket = scratch_key(spec, i, key);

		rc = w->ops->add(w, bucket, key, strlen(key), &err);
	}
	if (rc == 0)
		rc = w->ops->flush(w, &err);
	w->ops->close(w);
	return rc == 0 ? ctx : NULL;
}

static void two_writers(void)
{
	struct range ranges[] = {{0, 1500}, {500, 2000}};
	pthread_t threads[2];
	void *ok[2];
	uint64_t items = 0;

	build_live(1000);
	REQUIRE(begin(true) == 0);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run_range, &ranges[i]) !=
		    0)
			abort();
	for (int i = 0; i < 2; i++)
		(void)pthread_join(threads[i], &ok[i]);
	CHECK(ok[0] != NULL && ok[1] != NULL);
	REQUIRE(end(&late) == 0);
	CHECK_U64(done.acknowledged, 3000);
	CHECK(found(&live, 0, 2000) == 2000);
	for (uint32_t b = 0; b < 4; b++)
		items += info(&live, b).items - 1;
	CHECK_U64(items, done.added + live.added);
}

/* Looks at whole filters as others do, through a store of its own. */
static void *look_on(void *ctx)
{
	struct store *other;
	struct error err = ERROR_INIT;
	struct bucket_info i;
	atomic_bool *over = ctx;
	bool good =
		store_open(scratch_target, spec, &taking, &other, &err) == 0;

	if (!good)
		return NULL;
	while (good && !atomic_load(over))
		for (uint32_t b = 0; good && b < 4; b++)
			good = other->ops->info(other, &live, b, true, &i,
						&err) == 0;
	if (!good)
		printf("# %s\n", err.text);
	other->ops->close(other);
	return good ? ctx : NULL;
}

static void readers_meanwhile(void)
{
	atomic_bool over;
	pthread_t reader;
	void *good;

	atomic_init(&over, false);
	/* Large ones, so that reading one takes as long as adding to it. */
	build_live(1000000);
	if (pthread_create(&reader, NULL, look_on, &over) != 0)
		abort();
	for (unsigned n = 50; n < 250; n += 4) {
		struct horizon to = {.read_at = n, .xid = n, .system = 7};

		CHECK(begin(true) == 0 && add(n, n + 4) == 0 && end(&to) == 0);
	}
	atomic_store(&over, true);
	(void)pthread_join(reader, &good);
	CHECK(good != NULL);
	CHECK(found(&live, 0, 250) == 250);
}

/* More filters than files are open at a time, or synced one by one. */
static void many_filters(void)
{
	struct bloomkey_spec *few = spec;

	spec = scratch_spec(1200, "");
	s->ops->close(s);
	if (store_open(scratch_target, spec, &making, &s, &scratch_err) != 0 ||
	    s->ops->lock(s, "build", &fence, &scratch_err) != 0)
		abort();
	build_live(10);
	REQUIRE(begin(true) == 0);
	CHECK(add(0, 3000) == 0);
	CHECK(found(&live, 0, 3000) == 3000);
	REQUIRE(end(&late) == 0);
	CHECK(done.moved == 1200 && done.failed == 0);
	CHECK_U64(done.acknowledged, 3000);
	CHECK(found(&live, 0, 3000) == 3000);
	CHECK(state(ID1 "/0000.bloom") == BUCKETFILE_SEALED);
	CHECK_U64(info(&live, 1199).horizon.xid, 20);
	s->ops->close(s);
	bloomkey_free(spec);
	spec = few;
	if (store_open(scratch_target, spec, &making, &s, &scratch_err) != 0)
		abort();
}

int main(void)
{
	scratch_begin();
	spec = scratch_spec(4, "");
	with(died,
	     "dirpassfile: a filter whose pass died is whole, and the next "
	     "pass seals it");
	with(breaks_links, "dirpassfile: a file that others have by a link is "
			   "copied first");
	with(two_writers,
	     "dirpassfile: two writers lose nothing and count right");
	with(readers_meanwhile,
	     "dirpassfile: who reads whole filters meanwhile "
	     "finds nothing wrong");
	with(many_filters, "dirpassfile: many filters take members, few files "
			   "being open");
	bloomkey_free(spec);
	scratch_end();
	return unit_end();
}
