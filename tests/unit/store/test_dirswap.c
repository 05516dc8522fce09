/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/store/scratch.h"

#define ID1 "20261130T195654Z-1a2b"
#define ID2 "20261130T195655Z-0a2b"
#define ID3 "20261130T195655Z-1a2b"

static struct bloomkey_spec *spec;
static struct store *s;
static uint64_t fence;

static void build(const char *id, struct manifest *m)
{
	if (scratch_build(s, spec, id, 100, fence, 0, 50, m) != 0) {
		printf("# %s\n", scratch_err.text);
		abort();
	}
}

static int promote(struct manifest *next, struct manifest *live)
{
	scratch_err.code = ERROR_NONE;
	return s->ops->promote(s, next, live, &scratch_err);
}

/* Reads a generation's manifest as list() reports it. */
static struct manifest listed(const char *id)
{
	struct manifest *list;
	struct manifest m;
	size_t n;

	memset(&m, 0, sizeof(m));
	m.state = MANIFEST_BROKEN;
	if (s->ops->list(s, &list, &n, &scratch_err) != 0)
		return m;
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].generation, id) == 0 &&
		    manifest_copy(&m, &list[i], &scratch_err) != 0)
			abort();
	store_list_free(list, n);
	return m;
}

static void point(const char *target)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s", scratch_path(spec, "live"));
	(void)unlink(path);
	if (target != NULL && symlink(target, path) != 0)
		abort();
}

static void swaps_and_goes_back(void)
{
	struct manifest a;
	struct manifest b;

	build(ID1, &a);
	build(ID2, &b);
	CHECK(promote(&a, NULL) == 0);
	CHECK_STR(a.previous, "");
	CHECK(promote(&b, NULL) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	CHECK(scratch_state(s, ID2) == MANIFEST_COMPLETE);
	CHECK(promote(&b, &a) == 0);
	CHECK(b.state == MANIFEST_LIVE && a.state == MANIFEST_OLD);
	CHECK_STR(b.previous, ID1);
	CHECK(a.retired > 0);
	CHECK(scratch_state(s, ID1) == MANIFEST_OLD);
	CHECK(scratch_state(s, ID2) == MANIFEST_LIVE);
	manifest_release(&a);
	manifest_release(&b);
	a = listed(ID1);
	b = listed(ID2);
	CHECK_STR(b.previous, ID1);
	CHECK(promote(&a, &b) == 0);
	CHECK_STR(a.previous, ID2);
	CHECK(scratch_state(s, ID1) == MANIFEST_LIVE);
	CHECK(scratch_state(s, ID2) == MANIFEST_OLD);
	manifest_release(&a);
	manifest_release(&b);
}

static void changed_meanwhile(void)
{
	struct manifest a;
	struct manifest b;
	struct manifest c;

	build(ID1, &a);
	build(ID2, &b);
	build(ID3, &c);
	CHECK(promote(&b, &a) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	CHECK(promote(&a, NULL) == 0 && promote(&b, &a) == 0);
	CHECK(promote(&c, &a) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	CHECK(strstr(scratch_err.text, "changed meanwhile") != NULL);
	CHECK(scratch_state(s, ID2) == MANIFEST_LIVE);
	manifest_release(&a);
	manifest_release(&b);
	manifest_release(&c);
}

static void not_promotable(void)
{
	struct manifest a;

	build(ID1, &a);
	a.state = MANIFEST_ABORTED;
	CHECK(s->ops->put(s, &a, &scratch_err) == 0);
	CHECK(promote(&a, NULL) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	CHECK(strstr(scratch_err.text, "aborted") != NULL);
	CHECK(unlink(scratch_path(spec, ID1 "/manifest.json")) == 0);
	CHECK(promote(&a, NULL) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	memcpy(a.generation, ID2, sizeof(ID2));
	CHECK(promote(&a, NULL) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	s->ops->unlock(s);
	CHECK(promote(&a, NULL) == -1);
	CHECK(scratch_err.code == ERROR_INTERNAL);
	manifest_release(&a);
}

/* As a run leaves it that died between the rename and the manifests. */
static void resumes(void)
{
	struct manifest a;
	struct manifest b;
	struct manifest live;

	build(ID1, &a);
	build(ID2, &b);
	CHECK(promote(&a, NULL) == 0);
	memcpy(b.previous, ID1, sizeof(ID1));
	CHECK(s->ops->put(s, &b, &scratch_err) == 0);
	point(ID2);
	/* Both manifests are stale, and the list is right. */
	CHECK(scratch_state(s, ID1) == MANIFEST_OLD);
	CHECK(scratch_state(s, ID2) == MANIFEST_LIVE);
	manifest_release(&b);
	b = listed(ID2);
	live = listed(ID2);
	memset(b.previous, 0, sizeof(b.previous));
	CHECK(promote(&b, &live) == 0);
	CHECK_STR(b.previous, ID1);
	manifest_release(&a);
	a = listed(ID1);
	CHECK(a.state == MANIFEST_OLD && a.retired > 0);
	manifest_release(&b);
	b = listed(ID2);
	CHECK(b.state == MANIFEST_LIVE && b.promoted > 0);
	CHECK_STR(b.previous, ID1);
	/* Once more, and nothing moves. */
	live.promoted = b.promoted;
	live.retired = a.retired;
	CHECK(promote(&b, NULL) == 0);
	CHECK(b.promoted == live.promoted);
	CHECK(promote(&b, &a) == 0);
	CHECK(a.retired == live.retired);
	manifest_release(&a);
	manifest_release(&b);
	manifest_release(&live);
}

/* A folder that cannot be removed makes the manifest's replacement fail. */
static void incomplete(void)
{
	struct manifest a;
	struct manifest b;

	build(ID1, &a);
	build(ID2, &b);
	CHECK(promote(&a, NULL) == 0);
	CHECK(mkdir(scratch_path(spec, ID1 "/manifest.json.tmp"), 0700) == 0);
	CHECK(promote(&b, &a) == -1);
	CHECK(scratch_err.code == ERROR_SWAP);
	CHECK(strstr(scratch_err.text, "generation '" ID2 "' is live, but ") !=
	      NULL);
	CHECK(scratch_err.hint[0] != '\0');
	CHECK(scratch_state(s, ID2) == MANIFEST_LIVE);
	CHECK(scratch_state(s, ID1) == MANIFEST_OLD);
	CHECK(rmdir(scratch_path(spec, ID1 "/manifest.json.tmp")) == 0);
	CHECK(promote(&b, NULL) == 0);
	CHECK_STR(b.previous, ID1);
	/* And one before the rename changes nothing. */
	CHECK(mkdir(scratch_path(spec, ID1 "/manifest.json.tmp"), 0700) == 0);
	CHECK(promote(&a, &b) == -1);
	CHECK(scratch_err.code != ERROR_SWAP);
	CHECK(scratch_state(s, ID2) == MANIFEST_LIVE);
	CHECK(rmdir(scratch_path(spec, ID1 "/manifest.json.tmp")) == 0);
	CHECK(mkdir(scratch_path(spec, "live.tmp"), 0700) == 0);
	CHECK(promote(&a, &b) == -1);
	CHECK(scratch_err.code != ERROR_SWAP);
	CHECK(scratch_state(s, ID2) == MANIFEST_LIVE);
	manifest_release(&a);
	manifest_release(&b);
}

static void broken_links(void)
{
	struct manifest a;
	struct manifest m;
	struct manifest *list;
	size_t n;

	build(ID1, &a);
	point(ID2);
	m = listed(ID2);
	CHECK(m.state == MANIFEST_BROKEN);
	CHECK(strstr(m.broken, "readers get it") != NULL);
	CHECK(scratch_state(s, ID1) == MANIFEST_COMPLETE);
	CHECK(promote(&a, &m) == 0);
	CHECK_STR(a.previous, "");
	point(ID2);
	CHECK(promote(&a, NULL) == 0);
	point("../x");
	CHECK(s->ops->list(s, &list, &n, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	CHECK(promote(&a, NULL) == -1);
	point(ID1 ID1 ID1);
	CHECK(s->ops->list(s, &list, &n, &scratch_err) == -1);
	point(NULL);
	scratch_write(scratch_path(spec, "live"), ID1);
	CHECK(s->ops->list(s, &list, &n, &scratch_err) == -1);
	CHECK(strstr(scratch_err.text, "not a symbolic link") != NULL);
	point(NULL);
	CHECK(promote(&a, NULL) == 0);
	a.state = MANIFEST_ABORTED;
	CHECK(s->ops->put(s, &a, &scratch_err) == 0);
	m = listed(ID1);
	CHECK(m.state == MANIFEST_BROKEN);
	CHECK(strstr(m.broken, "aborted") != NULL);
	manifest_release(&a);
}

static void lists_what_is_there(void)
{
	struct manifest a;
	struct manifest b;
	struct manifest c;
	struct manifest *list;
	size_t n;

	build(ID1, &a);
	build(ID3, &b);
	build(ID2, &c);
	CHECK(mkdir(scratch_path(spec, "x"), 0700) == 0);
	scratch_write(scratch_path(spec, "20261130T195659Z-1a2b"), "");
	REQUIRE(s->ops->list(s, &list, &n, &scratch_err) == 0 && n == 4);
	CHECK(list[0].state == MANIFEST_BROKEN);
	CHECK_STR(list[1].generation, ID3);
	CHECK_STR(list[2].generation, ID2);
	CHECK_STR(list[3].generation, ID1);
	store_list_free(list, n);
	/* Another generation's manifest, a link to it, half of it, none. */
	scratch_write(scratch_path(spec, ID1 "/manifest.json"), "");
	CHECK(scratch_state(s, ID1) == MANIFEST_BROKEN);
	CHECK(unlink(scratch_path(spec, ID1 "/manifest.json")) == 0);
	CHECK(scratch_state(s, ID1) == MANIFEST_ABORTED);
	CHECK(symlink("../" ID2 "/manifest.json",
		      scratch_path(spec, ID1 "/manifest.json")) == 0);
	CHECK(scratch_state(s, ID1) == MANIFEST_BROKEN);
	CHECK(unlink(scratch_path(spec, ID1 "/manifest.json")) == 0);
	{
		char from[PATH_MAX];

		(void)snprintf(from, sizeof(from), "%s",
			       scratch_path(spec, ID2 "/manifest.json"));
		CHECK(rename(from, scratch_path(spec, ID1 "/manifest.json")) ==
		      0);
	}
	a.broken[0] = '\0';
	c = (manifest_release(&c), listed(ID1));
	CHECK(strstr(c.broken, "of another generation") != NULL);
	manifest_release(&a);
	manifest_release(&b);
}

static void drops(void)
{
	struct manifest a;
	struct manifest b;

	build(ID1, &a);
	build(ID2, &b);
	CHECK(promote(&a, NULL) == 0);
	CHECK(s->ops->drop(s, ID1, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	CHECK(scratch_state(s, ID1) == MANIFEST_LIVE);
	CHECK(s->ops->drop(s, ID2, &scratch_err) == 0);
	CHECK(scratch_state(s, ID2) == -1);
	CHECK(access(scratch_path(spec, ID2 ".gone"), F_OK) != 0);
	CHECK(s->ops->drop(s, ID2, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_GENERATION);
	CHECK(s->ops->drop(s, "..", &scratch_err) == -1);
	CHECK(s->ops->drop(s, "", &scratch_err) == -1);
	manifest_release(&a);
	manifest_release(&b);
}

/* Nothing that is not ours is removed, and nothing behind a link. */
static void drops_only_ours(void)
{
	char other[PATH_MAX];
	struct manifest a;

	build(ID1, &a);
	(void)snprintf(other, sizeof(other), "%s/t/other", scratch);
	scratch_write(other, "x");
	CHECK(symlink(other, scratch_path(spec, ID1 "/99.bloom")) == 0);
	scratch_write(scratch_path(spec, ID1 "/mine"), "x");
	CHECK(mkdir(scratch_path(spec, ID1 "/98.bloom"), 0700) == 0);
	CHECK(s->ops->drop(s, ID1, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	CHECK(strstr(scratch_err.text, "not bloomctl's") != NULL);
	CHECK(scratch_state(s, ID1) == -1);
	CHECK(access(other, F_OK) == 0);
	CHECK(access(scratch_path(spec, ID1 ".gone/mine"), F_OK) == 0);
	CHECK(access(scratch_path(spec, ID1 ".gone/0.bloom"), F_OK) != 0);
	CHECK(symlink(".", scratch_path(spec, ID2)) == 0);
	CHECK(s->ops->drop(s, ID2, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	manifest_release(&a);
}

static void tidies_up(void)
{
	struct manifest a;
	struct manifest b;

	build(ID1, &a);
	build(ID2, &b);
	{
		char from[PATH_MAX];

		(void)snprintf(from, sizeof(from), "%s",
			       scratch_path(spec, ID1));
		CHECK(rename(from, scratch_path(spec, ID1 ".gone")) == 0);
	}
	CHECK(symlink(ID2, scratch_path(spec, "live.tmp")) == 0);
	scratch_write(scratch_path(spec, ID2 "/manifest.json.tmp"), "x");
	CHECK(mkdir(scratch_path(spec, "x.gone"), 0700) == 0);
	s->ops->unlock(s);
	CHECK(s->ops->lock(s, "swap", &fence, &scratch_err) == 0);
	CHECK(access(scratch_path(spec, ID1 ".gone"), F_OK) != 0);
	CHECK(access(scratch_path(spec, ID2 "/manifest.json.tmp"), F_OK) != 0);
	CHECK(access(scratch_path(spec, "live.tmp"), F_OK) != 0);
	CHECK(access(scratch_path(spec, "x.gone"), F_OK) == 0);
	CHECK(scratch_state(s, ID2) == MANIFEST_COMPLETE);
	manifest_release(&a);
	manifest_release(&b);
}

int main(void)
{
	static const struct {
		void (*test)(void);
		const char *claim;
	} tests[] = {
		{swaps_and_goes_back, "dirswap: there and back again"},
		{changed_meanwhile, "dirswap: another live one is noticed"},
		{not_promotable, "dirswap: only whole generations go live"},
		{resumes, "dirswap: stale manifests are put right"},
		{incomplete, "dirswap: a failure behind the rename says so"},
		{broken_links, "dirlist: a broken live one is reported"},
		{lists_what_is_there, "dirlist: newest first, broken too"},
		{drops, "dirdrop: the live one stays"},
		{drops_only_ours, "dirdrop: foreign files stay"},
		{tidies_up, "dirdrop: leftovers go with the next lock"},
	};

	scratch_begin();
	spec = scratch_spec(10, "");
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (store_open(scratch_target, spec, &making, &s,
			       &scratch_err) != 0 ||
		    s->ops->lock(s, "test", &fence, &scratch_err) != 0)
			abort();
		UNIT(tests[i].test, tests[i].claim);
		store_close(s);
		scratch_reset();
	}
	bloomkey_free(spec);
	scratch_end();
	return unit_end();
}
