/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/manifest.h"

#include "lib/base/record.h"
#include "lib/base/sum.h"
#include "lib/store/manifest_text.h"
#include "tests/unit/unit.h"

static uint64_t counts[3] = {5, 0, 7};
static char source[] = "file:x \"1\"";

static struct manifest sample(enum manifest_state state)
{
	struct manifest m;

	memset(&m, 0, sizeof(m));
	memcpy(m.set, "t-01234567", 11);
	memset(m.fingerprint, 'a', BLOOMKEY_FINGERPRINT_LEN);
	memcpy(m.generation, "20261130T195654Z-1a2b", 22);
	memcpy(m.previous, "20261130T195653Z-ffff", 22);
	m.state = state;
	memcpy(m.engine, "redisbloom", 11);
	m.buckets = 3;
	m.capacity = 1000;
	m.error = 0.001;
	m.bytes = 1800;
	m.rows = 13;
	m.keys = 12;
	m.added = 11;
	m.fence = UINT64_C(1796068614123);
	m.started = 1796068614000;
	m.ended = 1796068615999;
	m.promoted = 1796068616001;
	m.bucket_keys = counts;
	m.source = source;
	return m;
}

/* The same of an engine whose filters have a seed. */
static struct manifest seeded(void)
{
	struct manifest m = sample(MANIFEST_COMPLETE);

	memcpy(m.engine, "elasticache", 12);
	for (size_t i = 0; i < sizeof(m.seed); i++)
		m.seed[i] = (unsigned char)(i + 0x90);
	return m;
}

static char *encode(const struct manifest *m, size_t *len)
{
	struct error err = ERROR_INIT;
	char *text = manifest_encode(m, len, &err);

	if (text == NULL)
		printf("# %s\n", err.text);
	return text;
}

static void round_trip(void)
{
	struct error err = ERROR_INIT;

	for (int state = 0; state < MANIFEST_BROKEN; state++) {
		struct manifest m = sample((enum manifest_state)state);
		struct manifest back;
		size_t len;
		size_t len2;
		char *text = encode(&m, &len);
		char *again;

		REQUIRE(text != NULL);
		CHECK_U64(strlen(text), len);
		REQUIRE(manifest_decode(text, len, &back, &err) == 0);
		CHECK_STR(back.set, m.set);
		CHECK_STR(back.fingerprint, m.fingerprint);
		CHECK_STR(back.generation, m.generation);
		CHECK_STR(back.previous, m.previous);
		CHECK_STR(back.engine, m.engine);
		CHECK_STR(back.source, source);
		CHECK(back.state == m.state);
		CHECK(back.error == m.error);
		CHECK_U64(back.fence, m.fence);
		CHECK(back.promoted == m.promoted && back.retired == 0);
		REQUIRE(back.bucket_keys != NULL);
		CHECK(memcmp(back.bucket_keys, counts, sizeof(counts)) == 0);
		again = encode(&back, &len2);
		CHECK_STR(again, text);
		free(again);
		free(text);
		manifest_release(&back);
	}
}

#define SEED                               \
	"909192939495969798999a9b9c9d9e9f" \
	"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"

static void seed_is_kept(void)
{
	const struct manifest m = seeded();
	struct error err = ERROR_INIT;
	struct manifest back;
	size_t len;
	char *text = encode(&m, &len);

	REQUIRE(text != NULL);
	CHECK(strstr(text, "\n  \"seed\": \"" SEED "\",\n") != NULL);
	REQUIRE(manifest_decode(text, len, &back, &err) == 0);
	CHECK(memcmp(back.seed, m.seed, sizeof(m.seed)) == 0);
	CHECK_STR(back.engine, "elasticache");
	manifest_release(&back);
	free(text);
}

static void broken_is_never_written(void)
{
	struct manifest m = sample(MANIFEST_BROKEN);
	struct error err = ERROR_INIT;
	size_t len;

	CHECK(manifest_encode(&m, &len, &err) == NULL);
	CHECK(err.code == ERROR_INTERNAL);
	m = sample(MANIFEST_LIVE);
	m.error = NAN;
	CHECK(manifest_encode(&m, &len, &err) == NULL);
}

static void few_counts(void)
{
	struct manifest m = sample(MANIFEST_BUILDING);
	struct manifest back;
	struct error err = ERROR_INIT;
	char bytes[] = "file:\xff\n";
	size_t len;
	char *text;

	m.bucket_keys = NULL;
	m.source = bytes;
	m.previous[0] = '\0';
	text = encode(&m, &len);
	REQUIRE(text != NULL);
	REQUIRE(manifest_decode(text, len, &back, &err) == 0);
	CHECK(back.bucket_keys == NULL);
	CHECK_STR(back.source, "file:\\xff\\n");
	manifest_release(&back);
	free(text);
	m.state = MANIFEST_COMPLETE;
	text = encode(&m, &len);
	CHECK(manifest_decode(text, len, &back, &err) == -1);
	free(text);
}

static void each_byte_counts(void)
{
	struct manifest m = sample(MANIFEST_COMPLETE);
	struct manifest back;
	struct error err = ERROR_INIT;
	size_t len;
	char *text = encode(&m, &len);

	REQUIRE(text != NULL);
	for (size_t i = 0; i < len; i++)
		for (int bit = 0; bit < 8; bit++) {
			text[i] ^= (char)(1 << bit);
			CHECK(manifest_decode(text, len, &back, &err) == -1);
			CHECK(err.code == ERROR_DATA && back.source == NULL);
			text[i] ^= (char)(1 << bit);
		}
	for (size_t i = 0; i < len; i++)
		CHECK(manifest_decode(text, i, &back, &err) == -1);
	free(text);
}

/* Decodes text, which has no tail, behind a right one. */
static int decode(const char *body, struct error *err)
{
	struct manifest back;
	char text[4096];
	int n = snprintf(text, sizeof(text), "%s" RECORD_TAIL, body,
			 sum_xxh64(body, strlen(body)));
	int rc = manifest_decode(text, (size_t)n, &back, err);

	manifest_release(&back);
	return rc;
}

/* The text of m in which one thing stands instead of another. */
static int changed_of(const struct manifest *m, const char *from,
		      const char *to, struct error *err)
{
	char body[4096];
	size_t len;
	char *text = encode(m, &len);
	char *at;

	text[len - RECORD_TAIL_LEN] = '\0';
	at = strstr(text, from);
	if (at == NULL) {
		printf("# no %s\n", from);
		abort();
	}
	(void)snprintf(body, sizeof(body), "%.*s%s%s", (int)(at - text), text,
		       to, at + strlen(from));
	free(text);
	return decode(body, err);
}

static int changed(const char *from, const char *to, struct error *err)
{
	struct manifest m = sample(MANIFEST_COMPLETE);

	return changed_of(&m, from, to, err);
}

static void each_member_counts(void)
{
	struct error err = ERROR_INIT;
	char from[64];
	char to[64];

	CHECK(changed("\"set\"", "\"set\"", &err) == 0);
	for (size_t i = 0; i + 1 < MANIFEST_MEMBERS; i++) {
		const char *name = manifest_members[i].name;

		/* It need not be there. */
		if (manifest_members[i].kind == MEMBER_ORIGIN ||
		    manifest_members[i].kind == MEMBER_HORIZON)
			continue;
		(void)snprintf(from, sizeof(from), "\"%s\": ", name);
		(void)snprintf(to, sizeof(to), "\"%s_\": ", name);
		CHECK(changed(from, to, &err) == -1);
		CHECK(err.code == ERROR_DATA && strstr(err.text, name) != NULL);
		(void)snprintf(to, sizeof(to), "\"%s\": {}, \"_\": ", name);
		CHECK(changed(from, to, &err) == -1);
		CHECK(strstr(err.text, name) != NULL);
	}
}

static void a_horizon_is_kept(void)
{
	struct manifest m = sample(MANIFEST_COMPLETE);
	struct manifest back;
	struct error err = ERROR_INIT;
	size_t len;
	char *whole;

	m.horizon = (struct horizon){
		.read_at = 1800000000123, .xid = 728, .lsn = 0x16b374d848};
	whole = manifest_encode(&m, &len, &err);
	REQUIRE(whole != NULL);
	REQUIRE(manifest_decode(whole, len, &back, &err) == 0);
	CHECK(back.horizon.read_at == m.horizon.read_at);
	CHECK_U64(back.horizon.xid, 728);
	CHECK_U64(back.horizon.lsn, m.horizon.lsn);
	manifest_release(&back);
	free(whole);
	CHECK(changed_of(&m, "\"xid\": \"728\"", "\"xid\": \"x\"", &err) == -1);
	CHECK_STR(err.text, "\"xid\" is missing or not as it must be");
	CHECK(changed_of(&m, "\"horizon\": {", "\"other\": {", &err) == -1);
	CHECK(strstr(err.text, "does not know") != NULL);
}

static void an_origin_is_kept(void)
{
	static char text[] = "{\"lsn\": \"0/1\"}";
	struct manifest m = sample(MANIFEST_COMPLETE);
	struct manifest back;
	struct manifest copy;
	struct error err = ERROR_INIT;
	size_t len;
	char *whole;

	m.origin = text;
	whole = encode(&m, &len);
	REQUIRE(whole != NULL);
	REQUIRE(manifest_decode(whole, len, &back, &err) == 0);
	CHECK_STR(back.origin, "{\"lsn\":\"0/1\"}\n");
	REQUIRE(manifest_copy(&copy, &back, &err) == 0);
	CHECK(copy.origin != back.origin);
	CHECK_STR(copy.origin, back.origin);
	manifest_release(&copy);
	manifest_release(&back);
	free(whole);
	CHECK(changed_of(&m, "\"origin\": {", "\"origin\": 7, \"x\": {",
			 &err) == -1);
	CHECK(strstr(err.text, "origin") != NULL);
	CHECK(changed_of(&m, "\"origin\": {", "\"other\": {", &err) == -1);
	CHECK(strstr(err.text, "does not know") != NULL);
}

static void refuses_values(void)
{
	static const struct {
		const char *from;
		const char *to;
	} cases[] = {
		{"\"format\": 1", "\"format\": 2"},
		{"\"t-01234567\"", "\"\""},
		{"20261130T195654Z-1a2b", "../../etc"},
		{"20261130T195653Z-ffff", "x"},
		{"\"complete\"", "\"broken\""},
		{"\"complete\"", "\"Complete\""},
		{"\"redisbloom\"", "\"redisbloom-redisbloom\""},
		{"\"buckets\": 3", "\"buckets\": 0"},
		{"\"buckets\": 3", "\"buckets\": 65537"},
		{"\"buckets\": 3", "\"buckets\": 4294967299"},
		{"\"buckets\": 3", "\"buckets\": 2"},
		{"\"capacity\": 1000", "\"capacity\": 0"},
		{"\"capacity\": 1000", "\"capacity\": -1"},
		{"\"capacity\": 1000", "\"capacity\": 1.5"},
		{"\"capacity\": 1000", "\"capacity\": 9223372036854775808"},
		{"\"error\": 0.001", "\"error\": 1"},
		{"\"error\": 0.001", "\"error\": 0"},
		{"\"bytes\": 1800", "\"bytes\": 0"},
		{"2026-11-30T", "2026-11-31T"},
		{"2026-11-30T", "1960-11-30T"},
		{"[5,0,7]", "[5,0]"},
		{"[5,0,7]", "[5,0,7,1]"},
		{"[5,0,7]", "[5,0,-7]"},
		{"[5,0,7]", "[5,0,7.5]"},
		{"[5,0,7]", "null"},
		{"\"rows\": 13", "\"rows\": 13, \"more\": 1"},
		{"\"rows\": 13", "\"rows\": 13, \"rows\": 13"},
		{"\"keys\": 12", "\"keys\": \"12\""},
	};
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err.code = ERROR_NONE;
		if (changed(cases[i].from, cases[i].to, &err) == 0)
			unit_fail(__FILE__, __LINE__, cases[i].to);
		CHECK(err.code == ERROR_DATA);
	}
	CHECK(decode("", &err) == -1);
	CHECK(decode("[1", &err) == -1);
	CHECK(decode("{\"a\": 1", &err) == -1);
}

/* 64 lower-case digits or nothing, and nothing where the engine has none. */
static void refuses_seeds(void)
{
	static const char *const bad[] = {
		"9",
		SEED "9",
		"g" SEED,
		" " SEED,
		"909192939495969798999A9B9C9D9E9F"
		"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf",
		"00000000000000000000000000000000"
		"00000000000000000000000000000000",
	};
	const struct manifest m = seeded();
	struct error err = ERROR_INIT;

	CHECK(changed_of(&m, SEED, SEED, &err) == 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(changed_of(&m, SEED, bad[i], &err) == -1);
		CHECK(strstr(err.text, "\"seed\"") != NULL);
	}
	CHECK(changed_of(&m, "\"elasticache\"", "\"valkey-bloom\"", &err) == 0);
	/* On a server it is not known. */
	CHECK(changed_of(&m, SEED, "", &err) == 0);
	CHECK(changed("\"redisbloom\"", "\"elasticache\"", &err) == 0);
	CHECK(changed_of(&m, "\"elasticache\"", "\"redis8\"", &err) == -1);
	CHECK(strstr(err.text, "\"seed\"") != NULL);
	CHECK(changed("\"redisbloom\"", "\"redis8\"", &err) == 0);
	CHECK(changed("\"seed\": \"\"", "\"seed\": \"" SEED "\"", &err) == -1);
	/* What an engine of tomorrow wants is not known. */
	CHECK(changed("\"redisbloom\"", "\"other\"", &err) == 0);
	CHECK(changed_of(&m, "\"elasticache\"", "\"other\"", &err) == 0);
}

static void copies_deeply(void)
{
	struct manifest m = sample(MANIFEST_LIVE);
	struct manifest copy;
	struct error err = ERROR_INIT;

	REQUIRE(manifest_copy(&copy, &m, &err) == 0);
	CHECK(copy.source != m.source && copy.bucket_keys != m.bucket_keys);
	CHECK_STR(copy.source, m.source);
	CHECK(memcmp(copy.bucket_keys, counts, sizeof(counts)) == 0);
	manifest_release(&copy);
	CHECK(copy.source == NULL && copy.bucket_keys == NULL);
	manifest_release(&copy);
}

/* The members that the manual lists, in order, are those of the text. */
static void manual_agrees(void)
{
	char line[256];
	char expected[64];
	bool within = false;
	size_t i = 0;
	FILE *f = fopen("man/bloomctl-protocol.7", "r");

	REQUIRE(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, ".Sh ", 4) == 0)
			within = strcmp(line, ".Sh MANIFESTS\n") == 0;
		if (!within || strncmp(line, ".It Va ", 7) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		REQUIRE(i < MANIFEST_MEMBERS);
		(void)snprintf(expected, sizeof(expected), ".It Va %s",
			       manifest_members[i++].name);
		CHECK_STR(line, expected);
	}
	CHECK_U64(i, MANIFEST_MEMBERS);
	(void)fclose(f);
}

int main(void)
{
	UNIT(round_trip, "manifest: every state reads back as it was written");
	UNIT(a_horizon_is_kept,
	     "manifest: from where on something may be missing is kept");
	UNIT(an_origin_is_kept,
	     "manifest: what the source said of itself is kept");
	UNIT(seed_is_kept, "manifest: a seed is written as 64 digits");
	UNIT(refuses_seeds, "manifest: a seed that is missing, superfluous or "
			    "not as it must be is refused");
	UNIT(broken_is_never_written, "manifest: a broken one is never "
				      "written");
	UNIT(few_counts, "manifest: counts may be missing only while building");
	UNIT(each_byte_counts, "manifest: a flipped bit or a cut is noticed");
	UNIT(each_member_counts, "manifest: a member that is missing or of "
				 "another type is named");
	UNIT(refuses_values, "manifest: values out of range are refused");
	UNIT(copies_deeply, "manifest: a copy owns what it holds");
	UNIT(manual_agrees, "manifest: the manual lists its members");
	return unit_end();
}
