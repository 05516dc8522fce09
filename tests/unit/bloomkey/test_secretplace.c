/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where a secret is, as a keyspec writes it and as a program is asked for it.
 */
#include "tests/unit/bloomkey/secret.h"

#define KEYED BASE "[field id]\ntransform = hmac-sha256\n"

static void check_asked(int at, const char *secret, int place, const char *name)
{
	/* Hex of 16 bytes, base64 of 24, and 32 bytes. */
	struct vault vault = {.data = "00112233445566778899aabbccddeeff",
			      .len = 32};
	struct outcome o = parse_secret(secret, &vault);

	if (o.code != BLOOMKEY_OK || vault.calls != 1 || vault.place != place ||
	    strcmp(vault.name, name) != 0 || vault.cap <= BLOOMKEY_SECRET_MAX) {
		unit_fail(__FILE__, at, secret);
		printf("#   %d: %s; %u calls, place %d, name '%s'\n", o.code,
		       o.err.text, vault.calls, vault.place, vault.name);
	}
	bloomkey_free(o.spec);
}

#define ENV(secret, name) \
	check_asked(__LINE__, secret, BLOOMKEY_PLACE_ENV, name)
#define PATH(secret, name) \
	check_asked(__LINE__, secret, BLOOMKEY_PLACE_FILE, name)

static void places(void)
{
	char secret[520], name[513];

	CHECK(BLOOMKEY_PLACE_ENV == 1);
	CHECK(BLOOMKEY_PLACE_FILE == 2);
	ENV("env:S", "S");
	ENV("hex:env:S", "S");
	ENV("base64:env:S", "S");
	ENV("\"env:S\"", "S");
	ENV("env:_", "_");
	ENV("env:a0_Z9", "a0_Z9");
	ENV("env:AZaz_09", "AZaz_09");
	PATH("file:k", "k");
	PATH("hex:file:k", "k");
	PATH("base64:file:k", "k");
	PATH("file:/etc/a b", "/etc/a b");
	PATH("file:../k", "../k");
	PATH("file:./k", "./k");
	PATH("\"file: k \"", " k ");
	PATH("file: k", " k");
	PATH("file:k:v", "k:v");
	PATH("file:env:S", "env:S");
	PATH("file:hex:k", "hex:k");
	PATH("\"file:a\\\\b\\\"c\"", "a\\b\"c");
	PATH("file:a\\b\"c", "a\\b\"c");
	PATH("file:%s%n\t$HOME~", "%s%n\t$HOME~");
	PATH("file:\xc3\xa9", "\xc3\xa9");
	memset(name, 'N', 512);
	name[512] = '\0';
	(void)snprintf(secret, sizeof(secret), "env:%s", name);
	ENV(secret, name);
}

/* A secret that somebody wrote where its place belongs. */
#define OOPS "Zq7#Wv9@Kx2!Jy8"

static void check_wrong(int at, const char *secret, const char *why)
{
	struct vault vault = {.data = SECRET, .len = 20};
	struct outcome o = parse_secret(secret, &vault);

	if (o.code != BLOOMKEY_EINVAL || o.spec != NULL || vault.calls != 0 ||
	    o.err.line != 9 || strstr(o.err.text, why) == NULL ||
	    strstr(o.err.text, OOPS) != NULL) {
		unit_fail(__FILE__, at, secret);
		printf("#   %d, line %u: %s\n", o.code, o.err.line, o.err.text);
	}
	bloomkey_free(o.spec);
}

static void wrong_places(void)
{
#define WRONG(secret, why) check_wrong(__LINE__, secret, why)
#define NEITHER            "secret: the value is not env:NAME or file:PATH, "
#define NO_NAME            "what follows 'env:' is not the name of a variable"
	WRONG(OOPS, NEITHER);
	WRONG("hex:" OOPS, NEITHER);
	WRONG("base64:" OOPS, NEITHER);
	WRONG("raw:env:S", NEITHER);
	WRONG("env", NEITHER);
	WRONG("file", NEITHER);
	WRONG("Env:S", NEITHER);
	WRONG("FILE:k", NEITHER);
	WRONG("HEX:env:S", NEITHER);
	WRONG("env :S", NEITHER);
	WRONG("hex: env:S", NEITHER);
	WRONG("hex:hex:env:S", NEITHER);
	WRONG("hex:base64:env:S", NEITHER);
	WRONG("base64:hex:env:S", NEITHER);
	WRONG("base64url:env:S", NEITHER);
	WRONG("\" env:S\"", NEITHER);
	WRONG("env:", NO_NAME);
	WRONG("hex:env:", NO_NAME);
	WRONG("env:" OOPS, NO_NAME);
	WRONG("env:0S", NO_NAME);
	WRONG("env:S-T", NO_NAME);
	WRONG("env:S.T", NO_NAME);
	WRONG("env: S", NO_NAME);
	WRONG("\"env:S \"", NO_NAME);
	WRONG("env:S=x", NO_NAME);
	WRONG("env:$S", NO_NAME);
	WRONG("env:\xc3\xa9", NO_NAME);
	WRONG("file:", "secret: nothing follows 'file:'");
	WRONG("hex:file:", "secret: nothing follows 'file:'");
	WRONG("", "'secret' has an empty value");
}

static void no_callback(void)
{
	static const char text[] = KEYED "secret = env:S\n";
	struct outcome o = parse_bytes(text, strlen(text));

	CHECK(o.code == BLOOMKEY_ESECRET);
	CHECK(o.spec == NULL);
	CHECK_U64(o.err.line, 9);
	CHECK_STR(o.err.text, "secret: env:S is not read by this program");
	/* It is another code than that of a wrong keyspec. */
	CHECK(BLOOMKEY_ESECRET == -4 && BLOOMKEY_EIO == -5);
}

static void no_error(void)
{
	static const char text[] = KEYED "secret = env:S\n";
	struct vault vault = {.data = "short", .len = 5};
	struct bloomkey_spec *spec = (struct bloomkey_spec *)&vault;

	CHECK(bloomkey_parse(text, strlen(text), serve, &vault, &spec, NULL) ==
	      BLOOMKEY_ESECRET);
	CHECK(spec == NULL);
	vault.data = NULL;
	CHECK(bloomkey_parse(text, strlen(text), serve, &vault, &spec, NULL) ==
	      BLOOMKEY_ESECRET);
	CHECK(bloomkey_parse(text, strlen(text), NULL, NULL, &spec, NULL) ==
	      BLOOMKEY_ESECRET);
	vault.data = SECRET;
	vault.len = 20;
	CHECK(bloomkey_parse(text, strlen(text), serve, &vault, &spec, NULL) ==
	      BLOOMKEY_OK);
	bloomkey_free(spec);
}

/* A bloomkey_secret that has another one for each name; counts the calls. */
static int serve_name(void *ctx, int place, const char *name, void *out,
		      size_t cap)
{
	unsigned *calls = ctx;

	(void)place;
	(void)cap;
	(*calls)++;
	memset(out, *name, 16);
	return 16;
}

static void two_fields(void)
{
	static const char text[] =
		HEAD "key = {a}:{b}:{c}\nfilter = f\n"
		     "[field c]\ntransform = hmac-sha256\nsecret = env:X\n"
		     "[field b]\ntransform = trim\n"
		     "[field a]\ntransform = hmac-sha256\nsecret = file:Y\n";
	const void *values[] = {"v", "v", "v"};
	const size_t lens[] = {1, 1, 1};
	struct bloomkey_spec *spec;
	struct bloomkey_result r;
	char out[256], filter[8];
	unsigned calls = 0;

	REQUIRE(bloomkey_parse(text, strlen(text), serve_name, &calls, &spec,
			       NULL) == BLOOMKEY_OK);
	CHECK_U64(calls, 2);
	/* Of sixteen letters Y and X, by Python. */
	CHECK_STR(bloomkey_field_check(spec, 0), "9a004b16321f0622");
	CHECK(bloomkey_field_check(spec, 1) == NULL);
	CHECK_STR(bloomkey_field_check(spec, 2), "d67c2a6d39b4f127");
	CHECK(bloomkey_field_check(spec, 3) == NULL);
	CHECK(bloomkey_field_check(spec, SIZE_MAX) == NULL);
	REQUIRE(bloomkey_derive(spec, values, lens, out, sizeof(out), &r) ==
		BLOOMKEY_OK);
	REQUIRE(r.len == 131);
	out[r.len] = '\0';
	CHECK_STR(out, "3e0362b9adad4de8e826cdc725142e76"
		       "8695299dd879553b57f2d049aa486008:v:"
		       "75527b2ea7721d79c742090fe5a0ac55"
		       "c42fa41f9e1b3173eede3f86b27c1541");
	CHECK(bloomkey_filter(spec, r.bucket, filter, sizeof(filter)) == 1);
	/* Nothing but parsing asks. */
	CHECK_U64(calls, 2);
	bloomkey_free(spec);
}

/* The first secret that cannot be had ends it. */
static void first_missing(void)
{
	static const char text[] =
		PAIR "[field b]\ntransform = hmac-sha256\nsecret = env:B\n"
		     "[field a]\ntransform = hmac-sha256\nsecret = env:A\n";
	struct vault vault = {.code = ENOENT};
	struct bloomkey_error err;
	struct bloomkey_spec *spec;

	CHECK(bloomkey_parse(text, strlen(text), serve, &vault, &spec, &err) ==
	      BLOOMKEY_ESECRET);
	CHECK_U64(vault.calls, 1);
	CHECK_U64(err.line, 9);
	CHECK_STR(err.text, "secret: env:B is not set");
}

/* Whoever is asked is asked for a good keyspec. */
static void not_asked(void)
{
	static const char *const texts[] = {
		KEYED "secret = env:S\nseed = 1\n",
		KEYED "secret = env:S\n[field no]\n",
		KEYED "secret = env:S\nnull = empty\n",
		KEYED "secret = env:S\n\x01\n",
		HEAD "key = {id}{x}\nfilter = f\n[field id]\n"
		     "transform = hmac-sha256\nsecret = env:S\n",
		HEAD "filter = f\n[field id]\ntransform = hmac-sha256\n"
		     "secret = env:S\n",
	};
	struct vault vault = {.data = SECRET, .len = 20};
	struct bloomkey_spec *spec;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		CHECK(bloomkey_parse(texts[i], strlen(texts[i]), serve, &vault,
				     &spec, NULL) == BLOOMKEY_EINVAL);
	CHECK_U64(vault.calls, 0);
	CHECK(bloomkey_parse(BASE, strlen(BASE), serve, &vault, &spec, NULL) ==
	      BLOOMKEY_OK);
	CHECK_U64(vault.calls, 0);
	CHECK(bloomkey_field_check(spec, 0) == NULL);
	bloomkey_free(spec);
}

/* A long place fits into the error with what is wrong of it. */
static void long_place(void)
{
	struct vault vault = {.data = "x", .len = 1};
	struct outcome o;
	char secret[600] = "base64:file:";

	memset(secret + strlen(secret), 'p', 500);
	o = parse_secret(secret, &vault);
	CHECK(o.code == BLOOMKEY_ESECRET);
	CHECK_U64(strlen(vault.name), 500);
	CHECK(strstr(o.err.text, "ppp... is not base64 with padding") != NULL);
}

int main(void)
{
	UNIT(places, "secret place: it is asked for as it is written");
	UNIT(wrong_places, "secret place: another value is refused, not shown");
	UNIT(no_callback, "secret place: without a callback there is none");
	UNIT(no_error, "secret place: nobody needs to ask for the error");
	UNIT(two_fields, "secret place: each keyed field has a secret, once");
	UNIT(first_missing, "secret place: the first that is missing is told");
	UNIT(not_asked, "secret place: none is asked for a wrong keyspec");
	UNIT(long_place, "secret place: a long one leaves room for the error");
	return unit_end();
}
