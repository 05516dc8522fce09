/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/bucketfile.h"

#include <signal.h>
#include <sys/resource.h>

#include "lib/base/sum.h"
#include "lib/filter/image.h"
#include "tests/unit/store/scratch.h"

#define NAME "07.bloom"

static unsigned char bits[1200]; /* bytes of capacity 1000 at 0.01 */
static int folder;

static struct bucketfile sample(void)
{
	struct bucketfile f;

	memset(&f, 0, sizeof(f));
	f.state = BUCKETFILE_SEALED;
	f.layout = 1;
	f.bucket = 7;
	f.buckets = 12;
	(void)engine_size(&engines[ENGINE_REDISBLOOM], 1000, 0.01, &f.params,
			  &scratch_err);
	f.items = 900;
	f.keys = 1234567890123;
	f.fence = 1796068614123;
	memset(f.fingerprint, 'b', BLOOMKEY_FINGERPRINT_LEN);
	f.fingerprint[0] = '0';
	f.fingerprint[63] = '9';
	memcpy(f.generation, "20261130T195654Z-1a2b", 22);
	return f;
}

/* The same of valkey-bloom's layout. */
static struct bucketfile seeded(void)
{
	struct bucketfile f = sample();

	f.layout = 2;
	(void)engine_size(&engines[ENGINE_VALKEY_BLOOM], 1000, 0.01, &f.params,
			  &scratch_err);
	for (size_t i = 0; i < sizeof(f.params.seed); i++)
		f.params.seed[i] = (unsigned char)(i * 3);
	return f;
}

/* Writes a sample's file anew; its path. */
static const char *fresh(const struct bucketfile *f)
{
	static char path[80];

	(void)unlinkat(folder, NAME, 0);
	if (f->params.bytes > sizeof(bits) ||
	    bucketfile_write(folder, NAME, f, bits, &scratch_err) != 0)
		abort();
	(void)snprintf(path, sizeof(path), "%s/" NAME, scratch);
	return path;
}

/* Opens and checks; 0 or -1. */
static int check(const struct bucketfile *want)
{
	struct bucketfile f;
	uint64_t size;
	int fd = bucketfile_open(folder, NAME, want, &f, &size, &scratch_err);
	int rc;

	if (fd < 0)
		return -1;
	rc = bucketfile_check(fd, &f, NULL, &scratch_err);
	(void)close(fd);
	return rc;
}

static void round_trip(void)
{
	struct bucketfile f = sample();
	struct bucketfile back;
	uint64_t size;
	uint64_t set;
	const unsigned char *map;
	int nomem;
	int fd;

	(void)fresh(&f);
	fd = bucketfile_open(folder, NAME, &f, &back, &size, &scratch_err);
	REQUIRE(fd >= 0);
	CHECK_U64(size, BUCKETFILE_HEADER + f.params.bytes);
	CHECK(back.state == f.state && back.layout == f.layout);
	CHECK(back.bucket == 7 && back.buckets == 12);
	CHECK_U64(back.params.capacity, 1000);
	CHECK(back.params.error == 0.01);
	CHECK_U64(back.params.bits, f.params.bits);
	CHECK_U64(back.params.bytes, f.params.bytes);
	CHECK(back.params.hashes == f.params.hashes);
	CHECK_U64(back.items, f.items);
	CHECK_U64(back.keys, f.keys);
	CHECK_U64(back.fence, f.fence);
	CHECK_STR(back.fingerprint, f.fingerprint);
	CHECK_STR(back.generation, f.generation);
	CHECK_U64(back.bits_sum, sum_xxh64(bits, (size_t)f.params.bytes));
	CHECK(bucketfile_check(fd, &back, &set, &scratch_err) == 0);
	CHECK_U64(set, 4 * f.params.bytes);
	map = bucketfile_map(fd, &back, &nomem, &scratch_err);
	(void)close(fd);
	REQUIRE(map != NULL);
	CHECK(memcmp(map, bits, (size_t)f.params.bytes) == 0);
	bucketfile_unmap(map, f.params.bytes);
	CHECK(bucketfile_write(folder, NAME, &f, bits, &scratch_err) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
}

static void seed_is_kept(void)
{
	const struct bucketfile f = seeded();
	struct bucketfile back;
	unsigned char page[BUCKETFILE_HEADER];

	bucketfile_encode(&f, page);
	CHECK(memcmp(page + 168, f.params.seed, 32) == 0);
	REQUIRE(bucketfile_decode(page, &back, &scratch_err) == 0);
	CHECK(memcmp(back.params.seed, f.params.seed, 32) == 0);
	CHECK(bucketfile_match(&back, &f, &scratch_err) == 0);
	(void)fresh(&f);
	CHECK(check(&f) == 0);
}

static const struct horizon some = {.read_at = 0x0102030405060708,
				    .since = 0x1112131415161718,
				    .xid = 0xf1f2f3f4f5f6f7f8,
				    .lsn = 0xe1e2e3e4e5e6e7e8,
				    .timeline = 0xd1d2d3d4,
				    .relation = 0xc1c2c3c4,
				    .system = 0xb1b2b3b4b5b6b7b8};

static void horizon_is_kept(void)
{
	struct bucketfile f = sample();
	struct bucketfile back;
	unsigned char page[BUCKETFILE_HEADER];

	f.horizon = some;
	bucketfile_encode(&f, page);
	REQUIRE(bucketfile_decode(page, &back, &scratch_err) == 0);
	CHECK_U64(back.horizon.read_at, some.read_at);
	CHECK_U64(back.horizon.since, some.since);
	CHECK_U64(back.horizon.xid, some.xid);
	CHECK_U64(back.horizon.lsn, some.lsn);
	CHECK_U64(back.horizon.timeline, some.timeline);
	CHECK_U64(back.horizon.relation, some.relation);
	CHECK_U64(back.horizon.system, some.system);
}

/* Of none all is 0; one has a time, and an id or a stamp. */
static void horizon_is_whole(void)
{
	const struct horizon good[] = {
		{0}, {.read_at = 1, .xid = 1}, {.read_at = 1, .since = 1}};
	const struct horizon bad[] = {
		{.read_at = 1},
		{.read_at = -1, .xid = 1},
		{.read_at = 1, .since = -1},
		{.read_at = 1, .since = -1, .xid = 1},
		{.xid = 1},
		{.since = 1},
		{.lsn = 1},
		{.timeline = 1},
		{.relation = 1},
		{.system = 1},
	};
	struct bucketfile f = sample();
	struct bucketfile back;
	unsigned char page[BUCKETFILE_HEADER];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		f.horizon = good[i];
		bucketfile_encode(&f, page);
		CHECK(bucketfile_decode(page, &back, &scratch_err) == 0);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		f.horizon = bad[i];
		bucketfile_encode(&f, page);
		CHECK(bucketfile_decode(page, &back, &scratch_err) == -1);
		CHECK_STR(scratch_err.text, "its header has no legal horizon");
	}
}

static void header_flips(void)
{
	struct bucketfile f = sample();
	struct bucketfile back;
	unsigned char page[BUCKETFILE_HEADER];

	bucketfile_encode(&f, page);
	CHECK(bucketfile_decode(page, &back, &scratch_err) == 0);
	for (size_t i = 0; i < sizeof(page); i++)
		for (int bit = 0; bit < 8; bit++) {
			page[i] ^= (unsigned char)(1 << bit);
			scratch_err.code = ERROR_NONE;
			CHECK(bucketfile_decode(page, &back, &scratch_err) ==
			      -1);
			CHECK(scratch_err.code == ERROR_DATA);
			page[i] ^= (unsigned char)(1 << bit);
		}
}

static void bit_flips(void)
{
	struct bucketfile f = sample();
	const char *path = fresh(&f);
	int fd = open(path, O_WRONLY);
	unsigned char byte;

	REQUIRE(fd >= 0);
	CHECK(check(&f) == 0);
	for (size_t i = 0; i < f.params.bytes; i += 37) {
		byte = bits[i] ^ 1;
		CHECK(pwrite(fd, &byte, 1, BUCKETFILE_HEADER + (off_t)i) == 1);
		CHECK(check(&f) == -1);
		CHECK(strstr(scratch_err.text, "damaged") != NULL);
		CHECK(pwrite(fd, &bits[i], 1, BUCKETFILE_HEADER + (off_t)i) ==
		      1);
	}
	CHECK(check(&f) == 0);
	(void)close(fd);
}

static void cut_off(void)
{
	static const off_t lengths[] = {0,    1,    8,    1000, 4095,
					4096, 4097, 5000, 0};
	struct bucketfile f = sample();
	char text[80];

	for (size_t i = 0; i + 1 < sizeof(lengths) / sizeof(lengths[0]); i++) {
		CHECK(truncate(fresh(&f), lengths[i]) == 0);
		CHECK(check(&f) == -1);
		(void)snprintf(
			text, sizeof(text), "cut off: %d of %" PRIu64 " bytes",
			(int)lengths[i], BUCKETFILE_HEADER + f.params.bytes);
		CHECK_STR(scratch_err.text, text);
	}
	CHECK(truncate(fresh(&f),
		       BUCKETFILE_HEADER + (off_t)f.params.bytes - 1) == 0);
	CHECK(check(&f) == -1);
	CHECK(truncate(fresh(&f),
		       BUCKETFILE_HEADER + (off_t)f.params.bytes + 1) == 0);
	CHECK(check(&f) == -1);
	CHECK(strstr(scratch_err.text, "too long: ") != NULL);
}

/* A file of another kind under the name. */
static void other_things(void)
{
	struct bucketfile f = sample();
	const char *path = fresh(&f);
	char other[96];

	(void)snprintf(other, sizeof(other), "%s.other", path);
	CHECK(rename(path, other) == 0 && symlink(other, path) == 0);
	CHECK(check(&f) == -1);
	CHECK_STR(scratch_err.text, "a symbolic link");
	CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
	CHECK(check(&f) == -1);
	CHECK_STR(scratch_err.text, "not a regular file");
	CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
	CHECK(check(&f) == -1);
	CHECK(rmdir(path) == 0 && unlink(other) == 0);
	CHECK(check(&f) == -1);
	CHECK(scratch_err.code == ERROR_DATA);
	scratch_write(path, "card,1\n");
	CHECK(truncate(path, BUCKETFILE_HEADER + (off_t)f.params.bytes) == 0);
	CHECK(check(&f) == -1);
	CHECK(strstr(scratch_err.text, "not a filter file") != NULL);
	CHECK(truncate(path, 0) == 0);
	CHECK(truncate(path, BUCKETFILE_HEADER + (off_t)f.params.bytes) == 0);
	CHECK(check(&f) == -1);
	CHECK(strstr(scratch_err.text, "not finished") != NULL);
}

static void foreign(void)
{
	const struct bucketfile want = seeded();
	struct bucketfile f[11];
	static const char *const text[] = {
		"of another keyspec", "of another generation",
		"of another bucket",  "of another bucket",
		"of another engine",  "of another size",
		"of another size",    "of another size",
		"of another size",    "not finished",
		"of another seed",
	};

	for (size_t i = 0; i < 11; i++)
		f[i] = want;
	f[0].fingerprint[5] = 'c';
	f[1].generation[20] = 'c';
	f[2].bucket = 8;
	f[3].buckets = 13;
	f[4].layout = 3;
	f[5].params.capacity++;
	f[6].params.error = 0.0100000001;
	f[7].params.hashes++;
	f[8].params.bits -= 8;
	f[9].state = BUCKETFILE_BUILDING;
	f[10].params.seed[31] ^= 0x80;
	for (size_t i = 0; i < 11; i++) {
		(void)fresh(&f[i]);
		CHECK(check(&want) == -1);
		CHECK(scratch_err.code == ERROR_DATA);
		CHECK(strstr(scratch_err.text, text[i]) != NULL);
	}
}

static void open_is_not_judged(void)
{
	struct bucketfile f = sample();
	const char *path;
	int fd;

	f.state = BUCKETFILE_OPEN;
	path = fresh(&f);
	fd = open(path, O_WRONLY);
	CHECK(pwrite(fd, "\xff", 1, 5000) == 1);
	(void)close(fd);
	CHECK(check(&f) == 0);
}

/* Values that a right checksum does not make right. */
static void ranges(void)
{
	struct bucketfile f[14];
	struct bucketfile back;
	unsigned char page[BUCKETFILE_HEADER];

	for (size_t i = 0; i < 14; i++)
		f[i] = sample();
	f[0].state = (enum bucketfile_state)0;
	f[1].state = (enum bucketfile_state)4;
	f[2].bucket = 12;
	f[3].buckets = 0;
	f[4].buckets = 65537;
	f[5].params.capacity = 0;
	f[6].params.error = NAN;
	f[7].params.bytes = 0;
	f[8].params.bytes = UINT64_MAX / 2;
	f[9].params.bits = f[9].params.bytes * 8 + 1;
	f[10].params.hashes = 65;
	f[11].generation[8] = '/';
	f[12].params.seed[7] = 1; /* where there is none */
	f[13].layout = 2;         /* none where there must be one */
	for (size_t i = 0; i < 14; i++) {
		bucketfile_encode(&f[i], page);
		CHECK(bucketfile_decode(page, &back, &scratch_err) == -1);
		CHECK(strstr(scratch_err.text, "no legal") != NULL);
	}
}

static void write_fails(void)
{
	struct bucketfile f = sample();
	struct rlimit old;
	struct rlimit small;

	(void)unlinkat(folder, NAME, 0);
	CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
	small = old;
	small.rlim_cur = 4096 + 100;
	(void)signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	CHECK(bucketfile_write(folder, NAME, &f, bits, &scratch_err) == -1);
	CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
	CHECK(scratch_err.code == ERROR_SPACE);
	CHECK(check(&f) == -1);
}

/* The manual's table: ".It 96 Ta 32 Ta fingerprint Ta ..." per field. */
static void manual_agrees(void)
{
	static const char *const rows[] = {
#define BUCKETFILE_FIELD(name, offset, bytes) \
	".It " #offset " Ta " #bytes " Ta " #name " Ta ",
#include "lib/store/bucketfile.def"
#undef BUCKETFILE_FIELD
	};
	size_t count = sizeof(rows) / sizeof(rows[0]);
	size_t i = 0;
	char line[256];
	FILE *f = fopen("man/bloomctl-protocol.7", "r");

	REQUIRE(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, ".It ", 4) != 0 ||
		    strstr(line, " Ta ") == NULL)
			continue;
		REQUIRE(i < count);
		CHECK(strncmp(line, rows[i], strlen(rows[i])) == 0);
		i++;
	}
	CHECK_U64(i, count);
	(void)fclose(f);
}

/* No field overlaps another one, and every one is where it is written. */
static void fields_are_apart(void)
{
	static const struct {
		size_t offset;
		size_t bytes;
	} fields[] = {
#define BUCKETFILE_FIELD(name, offset, bytes) {(offset), (bytes)},
#include "lib/store/bucketfile.def"
#undef BUCKETFILE_FIELD
	};
	size_t end = 0;
	struct bucketfile f = sample();
	unsigned char page[BUCKETFILE_HEADER];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		CHECK(fields[i].offset >= end);
		CHECK(fields[i].offset % (fields[i].bytes & 4 ? 4 : 8) == 0);
		end = fields[i].offset + fields[i].bytes;
	}
	bucketfile_encode(&f, page);
	for (; end < sizeof(page); end++)
		CHECK(page[end] == 0);
	CHECK(memcmp(page,
		     "BLOOMBKT\1\0\0\0\0\x10\0\0\2\0\0\0\1\0\0\0"
		     "\7\0\0\0\x0c\0\0\0\xe8\3\0\0\0\0\0\0",
		     40) == 0);
	CHECK(memcmp(page + 96, "\x0b\xbb", 2) == 0 && page[127] == 0xb9);
	CHECK(memcmp(page + 128, "20261130T195654Z-1a2b\0\0\0", 24) == 0);
}

int main(void)
{
	scratch_begin();
	folder = open(scratch, O_RDONLY | O_DIRECTORY);
	memset(bits, 0x5a, sizeof(bits));
	UNIT(round_trip, "bucketfile: what is written reads back");
	UNIT(fields_are_apart, "bucketfile: fields are where the table says");
	UNIT(manual_agrees, "bucketfile: the manual's table is the code's");
	UNIT(seed_is_kept, "bucketfile: a seed stands in the header");
	UNIT(horizon_is_kept, "bucketfile: a horizon stands in the header");
	UNIT(horizon_is_whole, "bucketfile: half a horizon is refused");
	UNIT(header_flips, "bucketfile: every flipped bit of a header is seen");
	UNIT(bit_flips, "bucketfile: a flipped bit of the filter is seen");
	UNIT(cut_off, "bucketfile: a file too short or too long is named");
	UNIT(other_things, "bucketfile: links, pipes, folders and other files "
			   "are refused");
	UNIT(foreign, "bucketfile: another filter's file is refused");
	UNIT(ranges, "bucketfile: values out of range are refused");
	UNIT(open_is_not_judged,
	     "bucketfile: an open file's sum is not judged");
	UNIT(write_fails, "bucketfile: a write that fails leaves no header");
	(void)close(folder);
	scratch_end();
	return unit_end();
}
