/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/random.h"

#include <errno.h>
#include <unistd.h>

#include "tests/unit/unit.h"

int __real_getentropy(void *out, size_t len);
int __wrap_getentropy(void *out, size_t len);

static bool failing;

int __wrap_getentropy(void *out, size_t len)
{
	if (!failing)
		return __real_getentropy(out, len);
	memset(out, 0x5a, len);
	errno = ENOSYS;
	return -1;
}

/* Equal ones come once in 2^256 times. */
static void differ(void)
{
	struct error err = ERROR_INIT;
	unsigned char a[32], b[32];

	CHECK(random_bytes(a, sizeof(a), &err) == 0);
	CHECK(random_bytes(b, sizeof(b), &err) == 0);
	CHECK(memcmp(a, b, sizeof(a)) != 0);
}

static void all_bytes_are_set(void)
{
	struct error err = ERROR_INIT;
	unsigned char bytes[RANDOM_MAX], seen[RANDOM_MAX] = {0};

	for (int i = 0; i < 20; i++) {
		memset(bytes, 0, sizeof(bytes));
		CHECK(random_bytes(bytes, sizeof(bytes), &err) == 0);
		for (size_t j = 0; j < sizeof(bytes); j++)
			seen[j] |= bytes[j];
	}
	for (size_t j = 0; j < sizeof(seen); j++)
		CHECK(seen[j] != 0);
}

static void none(void)
{
	struct error err = ERROR_INIT;
	unsigned char bytes[32];

	failing = true;
	CHECK(random_bytes(bytes, sizeof(bytes), &err) == -1);
	failing = false;
	CHECK_U64(err.code, ERROR_INTERNAL);
	CHECK(strstr(err.text, "random bytes") == err.text);
	for (size_t i = 0; i < sizeof(bytes); i++)
		CHECK(bytes[i] == 0);
}

int main(void)
{
	UNIT(differ, "random: two calls give different bytes");
	UNIT(all_bytes_are_set, "random: every byte is drawn");
	UNIT(none, "random: a system without any is an error");
	return unit_end();
}
