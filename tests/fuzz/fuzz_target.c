/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_target: any bytes as a word that names a server.  Aborts where what
 * was read could not be called, or where a password came into a message.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/redis/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check_line(const char *text)
{
	for (; *text != '\0'; text++)
		require((unsigned char)*text >= 0x20 && *text != 0x7f);
}

static void check(const struct redis_target *t)
{
	require((t->host != NULL) != (t->path != NULL));
	require(t->address.host == t->host && t->address.path == t->path);
	require(t->host == NULL || t->address.port > 0);
	require(t->path == NULL || !t->tls.on);
	require(*(t->host != NULL ? t->host : t->path) != '\0');
	require(t->db <= INT32_MAX && t->timeout_ms == REDIS_TIMEOUT_MS);
	require(t->user == NULL || t->user[0] != '\0');
	require(t->password == NULL || t->password[0] != '\0');
	check_line(t->place);
}

/* Its own name reads as the same place, without user and password. */
static void check_place(const struct redis_target *t)
{
	const struct redis_options none = {0};
	struct error err = ERROR_INIT;
	struct redis_target again;

	require(redis_target_is(t->place));
	require(!redis_target_has_password(t->place));
	if (t->path != NULL && strpbrk(t->path, "?") != NULL)
		return;
	if (redis_target_parse(t->place, &none, &again, &err) != 0) {
		/* A path that had to be cleaned, or that looks as a host. */
		require(t->path != NULL);
		return;
	}
	require(t->path != NULL || strcmp(again.place, t->place) == 0);
	require(t->path != NULL || strcmp(again.host, t->host) == 0);
	require(again.password == NULL && again.user == NULL);
	redis_target_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct redis_options none = {0};
	struct error err = ERROR_INIT;
	struct redis_target t;
	char *word = malloc(size + 1);

	require(word != NULL);
	memcpy(word, data, size);
	word[size] = '\0';
	if (redis_target_parse(word, &none, &t, &err) == 0) {
		require(redis_target_is(word));
		require(t.password == NULL || redis_target_has_password(word));
		check(&t);
		check_place(&t);
	} else {
		require(err.code == ERROR_USAGE && err.hint[0] != '\0');
		require(t.place == NULL && t.password == NULL);
		check_line(err.text);
	}
	redis_target_release(&t);
	free(word);
	return 0;
}
