/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/resource.h>

#include "tests/unit/store/scratch.h"

#define ID1 "20261130T195654Z-1a2b"
#define ID2 "20261130T195655Z-0a2b"

static struct bloomkey_spec *spec;

static struct store *open_store(bool create)
{
	struct store *s = NULL;

	if (store_open(scratch_target, spec, create ? &making : &taking, &s,
		       &scratch_err) != 0)
		printf("# %s\n", scratch_err.text);
	return s;
}

struct tally {
	unsigned asked;
	unsigned found;
};

static void count(void *ctx, uint32_t bucket, const void *key, size_t len,
		  bool found)
{
	struct tally *t = ctx;

	(void)bucket;
	(void)key;
	(void)len;
	t->asked++;
	t->found += found;
}

/* How many of from..to - 1 a generation says yes to. */
static struct tally ask(struct store *s, const struct bloomkey_spec *of,
			const struct manifest *m, unsigned from, unsigned to)
{
	struct tally t = {0, 0};
	struct probe *p;
	char key[16];

	if (s->ops->probe(s, m, count, &t, &p, &scratch_err) != 0)
		return t;
	for (unsigned i = from; i < to; i++) {
		uint32_t bucket = scratch_key(of, i, key);

		if (p->ops->ask(p, bucket, key, strlen(key), &scratch_err) != 0)
			break;
	}
	(void)p->ops->flush(p, &scratch_err);
	p->ops->close(p);
	return t;
}

static void whole_cycle(void)
{
	struct store *s = open_store(true);
	struct manifest m;
	struct manifest *list;
	struct bucket_info info;
	struct tally t;
	const void *sentinel;
	uint64_t fence;
	uint64_t items = 0;
	size_t n;

	REQUIRE(s != NULL);
	CHECK(s->ops->list(s, &list, &n, &scratch_err) == 0 && n == 0);
	REQUIRE(s->ops->lock(s, "build", &fence, &scratch_err) == 0);
	REQUIRE(scratch_build(s, spec, ID1, 1000, fence, 0, 3000, &m) == 0);
	CHECK(m.added <= 3000 && m.added > 2900);
	CHECK(scratch_state(s, ID1) == MANIFEST_COMPLETE);
	t = ask(s, spec, &m, 0, 3000);
	CHECK(t.asked == 3000 && t.found == 3000);
	t = ask(s, spec, &m, 10000, 13000);
	CHECK(t.asked == 3000 && t.found < 100);
	for (uint32_t i = 0; i < m.buckets; i++) {
		REQUIRE(s->ops->info(s, &m, i, true, &info, &scratch_err) == 0);
		CHECK_U64(info.keys, m.bucket_keys[i]);
		CHECK_U64(info.memory, 4096 + m.bytes);
		CHECK(info.bits_set > info.keys && info.layout->id == 1);
		items += info.items;
	}
	CHECK_U64(items, m.added + m.buckets);
	CHECK(s->ops->info(s, &m, 3, false, &info, &scratch_err) == 0);
	CHECK(info.bits_set == UINT64_MAX);
	CHECK(bloomkey_sentinel(spec, &sentinel) > 0);
	CHECK(s->ops->promote(s, &m, NULL, &scratch_err) == 0);
	CHECK(m.state == MANIFEST_LIVE && m.promoted > 0);
	CHECK(scratch_state(s, ID1) == MANIFEST_LIVE);
	s->ops->unlock(s);
	manifest_release(&m);
	REQUIRE(s->ops->list(s, &list, &n, &scratch_err) == 0 && n == 1);
	CHECK(list[0].state == MANIFEST_LIVE && list[0].promoted > 0);
	CHECK_U64(list[0].rows, 3000);
	store_list_free(list, n);
	store_close(s);
}

static void sentinel_everywhere(void)
{
	struct bloomkey_spec *none = scratch_spec(10, "sentinel = none\n");
	struct store *s = open_store(true);
	struct manifest m;
	struct tally t = {0, 0};
	struct probe *p;
	struct bucket_info info;
	const void *sentinel;
	size_t len = bloomkey_sentinel(spec, &sentinel);
	uint64_t fence;

	REQUIRE(s != NULL &&
		s->ops->lock(s, "build", &fence, &scratch_err) == 0);
	REQUIRE(scratch_build(s, spec, ID1, 10, fence, 0, 0, &m) == 0);
	CHECK_U64(m.added, 0);
	REQUIRE(s->ops->probe(s, &m, count, &t, &p, &scratch_err) == 0);
	for (uint32_t i = 0; i < m.buckets; i++)
		CHECK(p->ops->ask(p, i, sentinel, len, &scratch_err) == 0);
	CHECK(t.found == m.buckets);
	CHECK(p->ops->ask(p, m.buckets, "x", 1, &scratch_err) == -1);
	p->ops->close(p);
	manifest_release(&m);
	store_close(s);
	REQUIRE(store_open(scratch_target, none, &making, &s, &scratch_err) ==
		0);
	REQUIRE(s->ops->lock(s, "build", &fence, &scratch_err) == 0);
	REQUIRE(scratch_build(s, none, ID1, 10, fence, 0, 0, &m) == 0);
	CHECK(s->ops->info(s, &m, 9, true, &info, &scratch_err) == 0);
	CHECK(info.items == 0 && info.bits_set == 0);
	manifest_release(&m);
	store_close(s);
	bloomkey_free(none);
}

/* Writes one byte into a bucket's file of generation ID1. */
static void spoil(const char *file, off_t at)
{
	char below[64];
	unsigned char byte;
	int fd;

	(void)snprintf(below, sizeof(below), ID1 "/%s", file);
	fd = open(scratch_path(spec, below), O_RDWR);
	if (fd < 0 || pread(fd, &byte, 1, at) != 1)
		abort();
	byte ^= 4;
	if (pwrite(fd, &byte, 1, at) != 1)
		abort();
	(void)close(fd);
}

static void names_bad_files(void)
{
	struct store *s = open_store(true);
	struct manifest m;
	struct bucket_info info;
	struct tally t;
	char path[PATH_MAX + 64];
	uint64_t fence;

	REQUIRE(s != NULL &&
		s->ops->lock(s, "build", &fence, &scratch_err) == 0);
	REQUIRE(scratch_build(s, spec, ID1, 1000, fence, 0, 100, &m) == 0);
	spoil("7.bloom", 4096 + 100);
	CHECK(s->ops->info(s, &m, 7, false, &info, &scratch_err) == 0);
	CHECK(s->ops->info(s, &m, 7, true, &info, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	(void)snprintf(path, sizeof(path), "filter file '%s': damaged: ",
		       scratch_path(spec, ID1 "/7.bloom"));
	CHECK(strncmp(scratch_err.text, path, strlen(path)) == 0);
	t = ask(s, spec, &m, 0, 100);
	CHECK(t.asked < 100 && scratch_err.code == ERROR_DATA);
	spoil("6.bloom", 80);
	CHECK(s->ops->info(s, &m, 6, false, &info, &scratch_err) == -1);
	CHECK(s->ops->promote(s, &m, NULL, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	CHECK(scratch_state(s, ID1) == MANIFEST_COMPLETE);
	CHECK(truncate(scratch_path(spec, ID1 "/5.bloom"), 1000) == 0);
	CHECK(s->ops->info(s, &m, 5, false, &info, &scratch_err) == -1);
	CHECK(strstr(scratch_err.text, "cut off: 1000 of ") != NULL);
	CHECK(unlink(scratch_path(spec, ID1 "/4.bloom")) == 0);
	CHECK(s->ops->info(s, &m, 4, false, &info, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	/* Two buckets' files that changed places. */
	(void)snprintf(path, sizeof(path), "%s",
		       scratch_path(spec, ID1 "/4.bloom"));
	CHECK(rename(scratch_path(spec, ID1 "/3.bloom"), path) == 0);
	CHECK(s->ops->info(s, &m, 4, false, &info, &scratch_err) == -1);
	CHECK(strstr(scratch_err.text, "of another bucket: 3 of 10") != NULL);
	m.capacity++;
	CHECK(s->ops->info(s, &m, 2, false, &info, &scratch_err) == -1);
	m.capacity--;
	memcpy(m.engine, "other", 6);
	CHECK(s->ops->info(s, &m, 2, false, &info, &scratch_err) == -1);
	CHECK(strstr(scratch_err.text, "engine 'other'") != NULL);
	manifest_release(&m);
	store_close(s);
}

/* 65,536 filters through 64 descriptors, more than are mapped at a time. */
static void many_buckets(void)
{
	struct bloomkey_spec *many = scratch_spec(65536, "");
	struct store *s;
	struct manifest m;
	struct rlimit old;
	struct rlimit few;
	struct tally t;
	uint64_t fence;
	int64_t began = clock_ns();
	int64_t built;

	REQUIRE(getrlimit(RLIMIT_NOFILE, &old) == 0);
	few = old;
	few.rlim_cur = 64;
	REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
	REQUIRE(store_open(scratch_target, many, &making, &s, &scratch_err) ==
		0);
	REQUIRE(s->ops->lock(s, "build", &fence, &scratch_err) == 0);
	REQUIRE(scratch_build(s, many, ID1, 20, fence, 0, 20000, &m) == 0);
	built = clock_ns();
	CHECK(s->ops->promote(s, &m, NULL, &scratch_err) == 0);
	t = ask(s, many, &m, 0, 20000);
	CHECK(t.asked == 20000 && t.found == 20000);
	t = ask(s, many, &m, 0, 20000);
	CHECK(t.found == 20000);
	printf("# built in %.1f s, promoted and asked in %.1f s\n",
	       (double)(built - began) / 1e9,
	       (double)(clock_ns() - built) / 1e9);
	manifest_release(&m);
	store_close(s);
	(void)setrlimit(RLIMIT_NOFILE, &old);
	bloomkey_free(many);
}

/* Opens a target below the scratch folder; the error's code. */
static enum error_code try_open(const char *below, bool create)
{
	char target[160];
	struct store *s;

	scratch_err.code = ERROR_NONE;
	(void)snprintf(target, sizeof(target), "dir:%s/%s", scratch, below);
	if (store_open(target, spec, create ? &making : &taking, &s,
		       &scratch_err) == 0)
		store_close(s);
	return scratch_err.code;
}

static void targets(void)
{
	char path[96];
	struct store_facts facts;
	struct store *s;

	CHECK(store_open("http://x", spec, &making, &s, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_USAGE && s == NULL);
	CHECK_STR(scratch_err.hint,
		  "use dir:PATH, redis://HOST, rediss://HOST or unix:PATH");
	CHECK(store_open("dir:", spec, &making, &s, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_USAGE);
	CHECK(try_open("t", false) == ERROR_SOURCE);
	CHECK(try_open("t/u", true) == ERROR_SOURCE);
	(void)snprintf(path, sizeof(path), "%s/t", scratch);
	scratch_write(path, "x");
	CHECK(try_open("t", true) == ERROR_SOURCE);
	CHECK(unlink(path) == 0 && symlink("nowhere", path) == 0);
	CHECK(try_open("t", true) == ERROR_SOURCE);
	CHECK(strstr(scratch_err.text, "points nowhere") != NULL);
	CHECK(try_open("t", false) == ERROR_SOURCE);
	CHECK(unlink(path) == 0);
	CHECK(try_open("t//", true) == ERROR_NONE);
	CHECK(try_open("t", false) == ERROR_NONE);
	REQUIRE((s = open_store(false)) != NULL);
	CHECK(s->ops->facts(s, &facts, &scratch_err) == 0);
	CHECK_STR(facts.place, scratch_target);
	store_close(s);
	store_close(NULL);
}

static void odd_paths(void)
{
	char back[PATH_MAX];
	char target[160];
	struct store_facts facts;
	struct store *s;

	(void)snprintf(target, sizeof(target), "dir:%s/t/", scratch);
	CHECK(store_open(target, spec, &making, &s, &scratch_err) == 0);
	CHECK(s->ops->facts(s, &facts, &scratch_err) == 0);
	CHECK_STR(facts.place, scratch_target);
	store_close(s);
	(void)snprintf(target, sizeof(target), "dir:%s/t/a\n\xff '", scratch);
	REQUIRE(store_open(target, spec, &making, &s, &scratch_err) == 0);
	CHECK(s->ops->facts(s, &facts, &scratch_err) == 0);
	(void)snprintf(target, sizeof(target), "dir:%s/t/a\\n\\xff '", scratch);
	CHECK_STR(facts.place, target);
	store_close(s);
	REQUIRE(getcwd(back, sizeof(back)) != NULL && chdir(scratch) == 0);
	REQUIRE(store_open("dir:t/r", spec, &making, &s, &scratch_err) == 0);
	CHECK(chdir(back) == 0);
	CHECK(s->ops->facts(s, &facts, &scratch_err) == 0);
	CHECK_STR(facts.place, "dir:t/r");
	store_close(s);
}

static void sets_side_by_side(void)
{
	struct bloomkey_spec *other = scratch_spec(3, "seed = 1\n");
	struct store *s = open_store(true);
	struct store *o = NULL;
	struct manifest m;
	struct manifest n;
	uint64_t fence;

	REQUIRE(s != NULL && store_open(scratch_target, other, &making, &o,
					&scratch_err) == 0);
	REQUIRE(s->ops->lock(s, "build", &fence, &scratch_err) == 0);
	REQUIRE(o->ops->lock(o, "build", &fence, &scratch_err) == 0);
	REQUIRE(scratch_build(s, spec, ID1, 100, fence, 0, 9, &m) == 0);
	REQUIRE(scratch_build(o, other, ID2, 100, fence, 0, 9, &n) == 0);
	CHECK(scratch_state(s, ID2) == -1 && scratch_state(o, ID1) == -1);
	manifest_release(&m);
	manifest_release(&n);
	store_close(s);
	store_close(o);
	bloomkey_free(other);
}

int main(void)
{
	static const struct {
		void (*test)(void);
		const char *claim;
	} tests[] = {
		{whole_cycle, "dir: build, seal, ask, promote, list"},
		{sentinel_everywhere, "dir: the sentinel is in every filter, "
				      "or in none"},
		{names_bad_files, "dir: a bad filter file is named"},
		{many_buckets, "dir: 65,536 filters need few descriptors"},
		{targets, "dir: what is no folder is refused"},
		{odd_paths, "dir: a path may hold any bytes"},
		{sets_side_by_side, "dir: sets share a folder"},
	};

	scratch_begin();
	spec = scratch_spec(10, "");
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		UNIT(tests[i].test, tests[i].claim);
		scratch_reset();
	}
	bloomkey_free(spec);
	scratch_end();
	return unit_end();
}
