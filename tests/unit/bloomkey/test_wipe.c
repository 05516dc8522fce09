/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What memory holds of a secret while a keyspec is made, and when it is freed.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include "tests/unit/bloomkey/memory.h"
#include "tests/unit/bloomkey/secret.h"

#define RAW "Zq7#Wv9@Kx2!Jy8%"
#define HEX                \
	"5A71372357763940" \
	"4B7832214a793825"
#define B64 "WnE3I1d2OUBLeDIhSnk4JQ=="

/* What a keyed field keeps: the states after the block of secret and pad. */
struct states {
	SHA_LONG inner[8], outer[8];
};

static void state_of(const char *secret, unsigned char pad, SHA_LONG out[8])
{
	unsigned char block[SHA256_CBLOCK] = {0};
	SHA256_CTX ctx;

	memcpy(block, secret, strlen(secret));
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= pad;
	(void)SHA256_Init(&ctx);
	(void)SHA256_Update(&ctx, block, sizeof(block));
	memcpy(out, ctx.h, sizeof(ctx.h));
}

static struct states states_of(const char *secret)
{
	struct states states = {{0}, {0}};

	state_of(secret, 0x36, states.inner);
	state_of(secret, 0x5c, states.outer);
	return states;
}

static int serve_watched(void *ctx, int place, const char *name, void *out,
			 size_t cap)
{
	memory.watched = out;
	return serve(ctx, place, name, out, cap);
}

/*
 * parse_secret() under watch: the n-th allocation fails, and states are
 * forbidden, too; or none, and they are not.
 */
static struct outcome parse_watched(const char *secret, struct vault *vault,
				    unsigned long fails_at)
{
	static struct states states;
	struct outcome o = {.err = {77, "untouched"}};
	char text[SECRET_TEXT];
	size_t len = secret_text(text, secret);

	watch(fails_at);
	forbid(RAW, 8);
	forbid(HEX, 8);
	forbid(B64, 8);
	forbid(vault->data, vault->len < 8 ? vault->len : 8);
	if (fails_at > 0) {
		states = states_of(RAW);
		forbid(states.inner, sizeof(states.inner));
		forbid(states.outer, sizeof(states.outer));
	}
	o.code = bloomkey_parse(text, len, serve_watched, vault, &o.spec,
				&o.err);
	memory.on = false;
	return o;
}

/* Nothing of what is forbidden was freed, or is in what is not. */
static bool clean(void)
{
	unsigned kept = 0;

	for (size_t i = 0; i < memory.nbad; i++)
		kept += blocks_with(memory.bad[i]);
	if (memory.leaks + kept != 0)
		printf("#   %u blocks freed with it, %u kept\n", memory.leaks,
		       kept);
	return memory.leaks + kept == 0;
}

/* The watch sees what it has to see. */
static void watched(void)
{
	/* A compiler knows calloc() and free(), and what they leave alone. */
	void *(*volatile take)(size_t, size_t) = calloc;
	void (*volatile give)(void *) = free;
	unsigned char *block;

	MEMORY_NEEDED();
	watch(0);
	forbid(RAW, 8);
	block = take(1, 100);
	REQUIRE(block != NULL);
	memory.watched = block + 99;
	memcpy(block + 84, RAW, 16);
	CHECK(blocks_with(memory.bad[0]) == 1);
	give(block);
	CHECK(memory.leaks == 1 && memory.freed == 1 && memory.zeroed == 0);
	block = take(1, 100);
	memory.watched = block;
	give(block);
	memory.on = false;
	CHECK(memory.leaks == 1 && memory.freed == 2 && memory.zeroed == 1);
	CHECK_U64(memory.nblocks, 0);
}

static void check_parse(int at, const char *secret, const char *content,
			int code)
{
	struct vault vault = {.data = content, .len = strlen(content)};
	struct outcome o = parse_watched(secret, &vault, 0);

	if (o.code != code || !clean() || memory.freed != 1 ||
	    memory.zeroed != 1 || vault.calls != 1) {
		unit_fail(__FILE__, at, content);
		printf("#   %d, freed %u, of zeros %u\n", o.code, memory.freed,
		       memory.zeroed);
	}
	bloomkey_free(o.spec);
	CHECK_U64(memory.nblocks, 0);
}

static void room_is_wiped(void)
{
#define WIPED(secret, content, code) \
	check_parse(__LINE__, secret, content, BLOOMKEY_##code)
	MEMORY_NEEDED();
	WIPED("env:S", RAW, OK);
	WIPED("env:S", RAW "\n", OK);
	WIPED("hex:env:S", HEX, OK);
	WIPED("base64:env:S", B64, OK);
	/* A key of more than a block is hashed. */
	WIPED("env:S", RAW RAW RAW RAW RAW RAW, OK);
	WIPED("hex:env:S", HEX HEX HEX HEX HEX HEX, OK);
	WIPED("env:S", "Zq7#Wv9@Kx2!Jy8", ESECRET);
	WIPED("hex:env:S", HEX "5", ESECRET);
	WIPED("hex:env:S", HEX "5x", ESECRET);
	WIPED("hex:env:S", "5A71372357763940", ESECRET);
	WIPED("base64:env:S", B64 "=", ESECRET);
	WIPED("base64:env:S", "WnE3I1d2OUBLeDIhSnk4JR==", ESECRET);
	WIPED("base64:env:S", " " B64 "   ", ESECRET);
	WIPED("base64:env:S", "WnE3I1d2OUBL", ESECRET);
}

static void too_long(void)
{
	char *text = malloc(65537);
	struct vault vault = {.data = text, .len = 65537};
	struct outcome o;

	MEMORY_NEEDED();
	REQUIRE(text != NULL);
	memset(text, 'Q', 65537);
	o = parse_watched("env:S", &vault, 0);
	CHECK(o.code == BLOOMKEY_ESECRET);
	CHECK(clean() && memory.freed == 1 && memory.zeroed == 1);
	free(text);
}

/* Writes some of it, and fails. */
static int half(void *ctx, int place, const char *name, void *out, size_t cap)
{
	(void)serve_watched(ctx, place, name, out, cap);
	errno = EIO;
	return -1;
}

static void failing_callback(void)
{
	static const char text[] = BASE "[field id]\ntransform = hmac-sha256\n"
					"secret = file:f\n";
	struct vault vault = {.data = RAW, .len = 16};
	struct bloomkey_spec *spec;
	int rc;

	MEMORY_NEEDED();
	watch(0);
	forbid(RAW, 8);
	rc = bloomkey_parse(text, strlen(text), half, &vault, &spec, NULL);
	memory.on = false;
	CHECK(rc == BLOOMKEY_ESECRET);
	CHECK(clean() && memory.freed == 1 && memory.zeroed == 1);
	CHECK_U64(memory.nblocks, 0);
}

/* At each allocation that fails, states included. */
static void no_memory(void)
{
	struct vault vault = {.data = RAW, .len = 16};
	struct outcome o = {.code = BLOOMKEY_ENOMEM};
	unsigned long n = 0;

	MEMORY_NEEDED();
	while (o.code == BLOOMKEY_ENOMEM && n < 100) {
		vault.calls = 0;
		o = parse_watched("env:S", &vault, ++n);
		if (o.code == BLOOMKEY_OK)
			break;
		CHECK(o.code == BLOOMKEY_ENOMEM);
		CHECK(clean());
		CHECK(memory.freed == vault.calls);
		CHECK(memory.zeroed == vault.calls);
		CHECK_U64(memory.nblocks, 0);
	}
	CHECK(o.code == BLOOMKEY_OK);
	/* Some of them came after the secret. */
	CHECK(n > 6);
	bloomkey_free(o.spec);
}

static void check_free(const char *secret, const char *content)
{
	const struct states states = states_of(RAW);
	const struct value inner = {states.inner, sizeof(states.inner)};
	const struct value outer = {states.outer, sizeof(states.outer)};
	struct vault vault = {.data = content, .len = strlen(content)};
	struct outcome o = parse_watched(secret, &vault, 0);
	const void *values[] = {"v"};
	const size_t lens[] = {1};
	struct bloomkey_result r;
	char out[64];

	REQUIRE(o.code == BLOOMKEY_OK);
	CHECK(clean());
	CHECK(bloomkey_derive(o.spec, values, lens, out, sizeof(out), &r) ==
	      BLOOMKEY_OK);
	/* In one block, the same, that is watched from now on. */
	CHECK_U64(blocks_with(inner), 1);
	CHECK_U64(blocks_with(outer), 1);
	for (size_t i = 0; i < memory.nblocks; i++)
		if (holds(&memory.blocks[i], inner) &&
		    holds(&memory.blocks[i], outer))
			memory.watched = memory.blocks[i].data;
	memory.freed = memory.zeroed = 0;
	forbid(states.inner, sizeof(states.inner));
	forbid(states.outer, sizeof(states.outer));
	bloomkey_free(o.spec);
	CHECK_U64(memory.nblocks, 0);
	CHECK_U64(memory.leaks, 0);
	CHECK_U64(memory.freed, 1);
	CHECK_U64(memory.zeroed, 1);
}

static void free_wipes(void)
{
	MEMORY_NEEDED();
	check_free("env:S", RAW);
	check_free("hex:env:S", HEX);
	check_free("base64:env:S", B64 "\n");
}

int main(void)
{
	UNIT(watched, "wipe: the watch sees what a block holds when freed");
	UNIT(room_is_wiped, "wipe: what the callback wrote is wiped");
	UNIT(too_long, "wipe: so is what is too long");
	UNIT(failing_callback, "wipe: so is what a failing callback wrote");
	UNIT(no_memory, "wipe: so is all when memory is short");
	UNIT(free_wipes, "wipe: bloomkey_free() leaves no state of the HMAC");
	return unit_end();
}
