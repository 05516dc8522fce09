/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How long a key takes, on one core, from values in memory to key, hash and
 * bucket; how many allocations it makes (all of the process: malloc() is
 * counted here); and that long values of each kind, good and bad, cost no more
 * per byte than short ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/bloomkey/bloomkey.h"

#define ROWS   (1u << 16)
#define ROUNDS 64u

/* The C library's own, under the names that it keeps for such as this. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static unsigned long allocations;

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	allocations++;
	return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	allocations++;
	return __libc_realloc(old, size);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int secret(void *ctx, int place, const char *name, void *out, size_t cap)
{
	(void)ctx;
	(void)place;
	(void)name;
	memset(out, 's', cap < 32 ? cap : 32);
	return 32;
}

/* A keyspec of one field with these transforms, or of two with none. */
static struct bloomkey_spec *keyspec(const char *encoding,
				     const char *transform)
{
	char text[1024];
	struct bloomkey_error err = {0, ""};
	struct bloomkey_spec *spec;
	int n = snprintf(text, sizeof(text),
			 "[keyspec]\nversion = 1\nname = bench\nbuckets = 200\n"
			 "key = card:{id}%s\nfilter = {name}:{bucket}\n"
			 "[field id]\nencoding = %s\n%s%s\n%s\n",
			 transform == NULL ? ":{scope}" : "", encoding,
			 transform != NULL ? "transform = " : "",
			 transform != NULL ? transform : "",
			 transform != NULL && strstr(transform, "hmac") != NULL
				 ? "secret = env:S"
				 : "");

	if (bloomkey_parse(text, (size_t)n, secret, NULL, &spec, &err) != 0) {
		fprintf(stderr, "line %u: %s\n", err.line, err.text);
		exit(1);
	}
	return spec;
}

/* What a row has for its id, behind the same prefix. */
enum id { ID_HEX, ID_UPPER_HEX, ID_NUMBER };

static void make_id(char *out, size_t size, const char *prefix, enum id kind,
		    uint64_t n)
{
	if (kind == ID_HEX)
		snprintf(out, size, "%s%016" PRIx64, prefix, n);
	else if (kind == ID_UPPER_HEX)
		snprintf(out, size, "%s%016" PRIX64, prefix, n);
	else
		snprintf(out, size, "%s%012" PRIu64, prefix, n);
}

/* The fastest of five passes, so that a busy moment does not count. */
static void short_values(const char *name, const char *transform,
			 const char *prefix, enum id kind)
{
	static char ids[ROWS][48], out[BLOOMKEY_MAX];
	struct bloomkey_spec *spec = keyspec("utf-8", transform);
	struct bloomkey_result r = {0, 0, 0, 0};
	double best = 1e9;
	unsigned long before = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ROWS; i++)
		make_id(ids[i], sizeof(ids[i]), prefix, kind,
			(uint64_t)i * 0x9e3779b97f4a7c15u >> 4);
	for (int pass = 0; pass < 5; pass++) {
		double start = now();

		before = allocations;
		for (uint32_t k = 0; k < ROUNDS * ROWS; k++) {
			const char *id = ids[k % ROWS];
			const void *values[2] = {id, "merchant:MID_0012345"};
			const size_t lens[2] = {strlen(id), 20};

			if (bloomkey_derive(spec, values, lens, out,
					    sizeof(out), &r) != 0) {
				fprintf(stderr, "%s: rejected\n", id);
				exit(1);
			}
			sum += r.bucket;
		}
		start = now() - start;
		best = start < best ? start : best;
	}
	printf("%-22s %6.1f ns/key %6.2f M keys/s, %lu allocations in %u keys "
	       "(%" PRIu64 ")\n",
	       name, best * 1e9 / ROUNDS / ROWS, ROUNDS * ROWS / best / 1e6,
	       allocations - before, ROUNDS * ROWS, sum % 10);
	bloomkey_free(spec);
}

/* Nanoseconds for one derivation of a value of len bytes. */
static double one_long(const struct bloomkey_spec *spec, const char *value,
		       size_t len)
{
	static char out[BLOOMKEY_MAX];
	const void *values[1] = {value};
	const size_t lens[1] = {len};
	struct bloomkey_result r;
	const unsigned count = (unsigned)(200000000 / len / 8) + 1;
	double best = 1e9;

	for (int pass = 0; pass < 5; pass++) {
		double start = now();

		for (unsigned i = 0; i < count; i++)
			(void)bloomkey_derive(spec, values, lens, out,
					      sizeof(out), &r);
		start = (now() - start) / count;
		best = start < best ? start : best;
	}
	return best * 1e9;
}

/*
 * unit repeated, with `end` as the last bytes: what makes it bad, or good, is
 * seen only after all of it.
 */
static void long_value(const char *encoding, const char *transform,
		       const char *unit, const char *end)
{
	static char value[BLOOMKEY_MAX];
	struct bloomkey_spec *spec = keyspec(encoding, transform);
	const size_t lens[2] = {1024, BLOOMKEY_MAX};
	double ns[2];

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(unit), tail = strlen(end);

		for (size_t at = 0; at < lens[i]; at++)
			value[at] = unit[at % n];
		memcpy(value + lens[i] - tail, end, tail);
		ns[i] = one_long(spec, value, lens[i]);
	}
	printf("%-22s %8.3f ns/byte at 1024, %8.3f at 65535: ratio %5.2f\n",
	       transform, ns[0] / (double)lens[0], ns[1] / (double)lens[1],
	       ns[1] / (double)lens[1] / (ns[0] / (double)lens[0]));
	bloomkey_free(spec);
}

int main(void)
{
	puts("short values, one core:");
	short_values("none, two fields", NULL, "", ID_HEX);
	short_values("trim", "trim", "  ", ID_HEX);
	short_values("lower", "lower", "", ID_UPPER_HEX);
	short_values("uuid", "uuid", "6F9619FF8B86D011", ID_UPPER_HEX);
	short_values("int", "int", "+00", ID_NUMBER);
	short_values("digits", "digits", "+1 (555) ", ID_NUMBER);
	short_values("first:12", "first:12", "", ID_HEX);
	short_values("sha256", "sha256", "", ID_HEX);
	short_values("hmac-sha256", "hmac-sha256", "", ID_HEX);
	short_values("digits,hmac-sha256", "digits,hmac-sha256", "+1 (555) ",
		     ID_NUMBER);
	puts("long values, no kind worse than linear:");
	long_value("bytes", "trim", " ", " ");
	long_value("bytes", "trim,trim,trim", " a", " ");
	long_value("bytes", "rtrim", " ", " ");
	long_value("bytes", "lower", "A", "\xff");
	long_value("bytes", "upper", "a", "\xff");
	long_value("bytes", "uuid", "0", "0");
	long_value("bytes", "int", "0", "x");
	long_value("bytes", "int,int", "0", "7");
	long_value("bytes", "digits", "(", "x");
	long_value("bytes", "digits,digits", "5", "5");
	long_value("bytes", "first:65535", "\x80", "\x80");
	long_value("utf-8", "first:1", "\xf0\x9f\x98\x80", "");
	long_value("utf-8", "trim", "\xc3\xa9", "\xc3");
	long_value("bytes", "sha256", "a", "a");
	long_value("bytes", "hmac-sha256", "a", "a");
	long_value("bytes", "upper,lower,trim,digits", "5", "x");
	return 0;
}
