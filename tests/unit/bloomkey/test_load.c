/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Keyspecs and secrets from files and the environment.
 */
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/bloomkey/keyspec.h"

#define KEYED(secret)                                \
	BASE "[field id]\ntransform = hmac-sha256\n" \
	     "secret = " secret "\n"
/* The check value of SECRET. */
#define CHECK_OF_SECRET "7f77011dff657ef2"
#define VARIABLE        "BLOOMKEY_TEST_SECRET"

static char folder[PATH_MAX / 2]; /* the working directory, too */
static char absolute[PATH_MAX];   /* of the last in_folder() */

static int free_fd; /* the first, at first */

static const char *in_folder(const char *name)
{
	(void)snprintf(absolute, sizeof(absolute), "%s/%s", folder, name);
	return absolute;
}

static void put_bytes(const char *name, const void *bytes, size_t len)
{
	FILE *file = fopen(in_folder(name), "w");

	if (file == NULL || fwrite(bytes, 1, len, file) != len ||
	    fclose(file) != 0)
		abort();
}

static void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

/* A text, and behind it as many bytes as make it a length. */
static void put_filled(const char *name, const char *text, char fill,
		       size_t len)
{
	char *bytes = malloc(len);

	if (bytes == NULL)
		abort();
	memset(bytes, fill, len);
	memcpy(bytes, text, strlen(text));
	put_bytes(name, bytes, len);
	free(bytes);
}

static struct outcome load(const char *path)
{
	struct outcome o = {.err = {77, "untouched"}};

	o.spec = (struct bloomkey_spec *)&o;
	o.code = bloomkey_load(path, getenv, &o.spec, &o.err);
	return o;
}

static void check_load(int at, const char *path, const char *check)
{
	struct outcome o = load(path);
	const char *is;

	if (o.code != BLOOMKEY_OK || o.spec == NULL) {
		unit_fail(__FILE__, at, path);
		printf("#   %d, line %u: %s\n", o.code, o.err.line, o.err.text);
		return;
	}
	is = bloomkey_field_check(o.spec, 0);
	if (check == NULL ? is != NULL : is == NULL || strcmp(is, check) != 0) {
		unit_fail(__FILE__, at, path);
		printf("#   check value %s\n", is != NULL ? is : "NULL");
	}
	bloomkey_free(o.spec);
}

static void check_not(int at, const char *path, int code, unsigned line,
		      const char *why)
{
	struct outcome o = load(path);

	if (o.code != code || o.spec != NULL || o.err.line != line ||
	    strcmp(o.err.text, why) != 0 ||
	    bloomkey_load(path, getenv, &o.spec, NULL) != code) {
		unit_fail(__FILE__, at, path);
		printf("#   %d, line %u: %s\n", o.code, o.err.line, o.err.text);
	}
}

#define LOADS(path) check_load(__LINE__, path, NULL)
#define KEYS(path)  check_load(__LINE__, path, CHECK_OF_SECRET)
#define NOT(path, code, line, why) \
	check_not(__LINE__, path, BLOOMKEY_##code, line, why)
#define UNREAD  "cannot be read: "
#define FOREIGN "not a regular file"
#define LONG    "the file is longer than 65536 bytes"

static void keyspecs(void)
{
	put("k", BASE);
	put("bad", BASE "seed = x\n");
	put_filled("most", BASE, '#', 65536);
	put_filled("more", BASE, '#', 65537);
	LOADS("k");
	LOADS("most");
	NOT("more", EINVAL, 0, LONG);
	NOT("bad", EINVAL, 7,
	    "seed: 'x' is not a number from 0 to 18446744073709551615");
	put("empty", "");
	NOT("empty", EINVAL, 0, "'version' is missing in [keyspec]");
}

static void unreadable(void)
{
	char path[PATH_MAX + 100];

	put("k", BASE);
	NOT("no", EIO, 0, UNREAD "No such file or directory");
	NOT("", EIO, 0, UNREAD "No such file or directory");
	NOT("k/k", EIO, 0, UNREAD "Not a directory");
	NOT(".", EIO, 0, FOREIGN);
	NOT(folder, EIO, 0, FOREIGN);
	NOT("/dev/zero", EIO, 0, FOREIGN);
	NOT("/dev/null", EIO, 0, FOREIGN);
	/* Without waiting for somebody who writes to it. */
	(void)mkfifo(in_folder("fifo"), 0600);
	NOT("fifo", EIO, 0, FOREIGN);
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	NOT(path, EIO, 0, UNREAD "File name too long");
}

/* As somebody who may not read everything. */
static void denied(void)
{
	const bool root = geteuid() == 0;

	put("denied", BASE);
	put("secret", SECRET);
	put("k", KEYED("file:secret"));
	REQUIRE(chmod(in_folder("denied"), 0) == 0);
	REQUIRE(chmod(in_folder("secret"), 0) == 0);
	if (root && seteuid(65534) != 0)
		SKIP("root cannot become another user");
	NOT("denied", EIO, 0, UNREAD "Permission denied");
	NOT("k", ESECRET, 9,
	    "secret: file:secret cannot be read: Permission denied");
	if (root && seteuid(0) != 0)
		abort();
	(void)unlink(in_folder("secret"));
}

static void beside(void)
{
	char text[PATH_MAX + 200];

	REQUIRE(mkdir(in_folder("a"), 0755) == 0);
	REQUIRE(mkdir(in_folder("a/b"), 0755) == 0);
	put("s", "the one of the folder above");
	put("a/s", SECRET);
	put("a/k", KEYED("file:s"));
	put("a/b/k", KEYED("file:../s"));
	put("here", KEYED("file:a/s"));
	(void)snprintf(text, sizeof(text), KEYED("file:%s"), in_folder("a/s"));
	put("a/b/absolute", text);
	KEYS("a/k");
	KEYS("a/b/../k");
	KEYS(in_folder("a/k"));
	KEYS("a/b/k");
	KEYS("here");
	KEYS("a/b/absolute");
	KEYS(in_folder("a/b/absolute"));
	/* Of the path that is opened, wherever that leads. */
	REQUIRE(symlink("a/k", "link") == 0);
	check_load(__LINE__, "link", "8d48f5161611c836");
	put("a/other", KEYED("file:here"));
	NOT("a/other", ESECRET, 9,
	    "secret: file:here cannot be read: No such file or directory");
}

static void long_paths(void)
{
	char path[PATH_MAX + 8], text[PATH_MAX + 200];
	size_t used;

	put("secret", SECRET);
	put("k", KEYED("file:secret"));
	(void)snprintf(text, sizeof(text), KEYED("file:%s"),
		       in_folder("secret"));
	put("l", text);
	/* All that a path may have, without its NUL, is PATH_MAX - 1. */
	(void)snprintf(path, sizeof(path), "%s", folder);
	for (used = strlen(path); used < PATH_MAX - 10; used += 2)
		memcpy(path + used, "/.", 2);
	while (used < PATH_MAX - 1 - strlen("secret"))
		path[used++] = '/';
	memcpy(path + used, "k", 2);
	KEYS(path);
	/* One more, and the secret's path is too long, unless it is absolute.
	 */
	memcpy(path + used, "/k", 3);
	NOT(path, ESECRET, 9,
	    "secret: file:secret cannot be read: File name too long");
	path[used + 1] = 'l';
	KEYS(path);
}

static void secret_files(void)
{
	REQUIRE(mkdir(in_folder("d"), 0755) == 0);
	put("k", KEYED("file:s"));
	put("d/k", KEYED("file:."));
	(void)unlink(in_folder("s"));
	NOT("k", ESECRET, 9,
	    "secret: file:s cannot be read: No such file or directory");
	NOT("d/k", ESECRET, 9, "secret: file:. is not a regular file");
	put("k", KEYED("file:fifo"));
	(void)mkfifo(in_folder("fifo"), 0600);
	NOT("k", ESECRET, 9, "secret: file:fifo is not a regular file");
	put("k", KEYED("file:s"));
	put("s", "");
	NOT("k", ESECRET, 9,
	    "secret: file:s is a secret of fewer than 16 bytes");
	put("s", SECRET);
	KEYS("k");
	put_filled("s", "", 'x', 65536);
	check_load(__LINE__, "k", "e51d922d63df19c8");
	put_filled("s", "", 'x', 65537);
	NOT("k", ESECRET, 9, "secret: file:s has more than 65,536 bytes");
	put("k", KEYED("file:/dev/zero"));
	NOT("k", ESECRET, 9, "secret: file:/dev/zero is not a regular file");
	/* NUL is a byte of a file as any other. */
	put_bytes("s", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	put("k", KEYED("file:s"));
	check_load(__LINE__, "k", "611b28ff98a8d4dc");
}

static void variables(void)
{
	char *value = malloc(65538);

	REQUIRE(value != NULL);
	put("k", KEYED("env:" VARIABLE));
	put("h", KEYED("hex:env:" VARIABLE));
	(void)unsetenv(VARIABLE);
	NOT("k", ESECRET, 9, "secret: env:" VARIABLE " is not set");
	(void)setenv(VARIABLE, "", 1);
	NOT("k", ESECRET, 9,
	    "secret: env:" VARIABLE " is a secret of fewer than 16 bytes");
	(void)setenv(VARIABLE, SECRET, 1);
	KEYS("k");
	(void)setenv(VARIABLE, SECRET "\n", 1);
	KEYS("k");
	(void)setenv(VARIABLE, "3031323334353637383961626364656630313233", 1);
	KEYS("h");
	memset(value, 'x', 65537);
	value[65536] = '\0';
	(void)setenv(VARIABLE, value, 1);
	check_load(__LINE__, "k", "e51d922d63df19c8");
	memset(value, 'x', 65537);
	value[65537] = '\0';
	(void)setenv(VARIABLE, value, 1);
	NOT("k", ESECRET, 9,
	    "secret: env:" VARIABLE " has more than 65,536 bytes");
	(void)unsetenv(VARIABLE);
	free(value);
}

static char *other_lookup(const char *name)
{
	static char content[] = SECRET;

	return strcmp(name, VARIABLE) == 0 ? content : NULL;
}

/* What the program says of its environment counts, and nothing else. */
static void lookups(void)
{
	struct bloomkey_spec *spec;
	struct bloomkey_error err;

	put("k", KEYED("env:" VARIABLE));
	put("s", SECRET);
	put("f", KEYED("file:s"));
	(void)setenv(VARIABLE, "of the process, not of the program", 1);
	REQUIRE(bloomkey_load("k", other_lookup, &spec, &err) == BLOOMKEY_OK);
	CHECK_STR(bloomkey_field_check(spec, 0), CHECK_OF_SECRET);
	bloomkey_free(spec);
	CHECK(bloomkey_load("k", NULL, &spec, &err) == BLOOMKEY_ESECRET);
	CHECK_STR(err.text,
		  "secret: env:" VARIABLE " is not read by this program");
	REQUIRE(bloomkey_load("f", NULL, &spec, &err) == BLOOMKEY_OK);
	CHECK_STR(bloomkey_field_check(spec, 0), CHECK_OF_SECRET);
	bloomkey_free(spec);
	(void)unsetenv(VARIABLE);
}

/* After all the others. */
static void closed(void)
{
	CHECK(dup(STDOUT_FILENO) == free_fd);
}

static int drop(const char *path, const struct stat *st, int type,
		struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(folder, sizeof(folder), "%s/bloomkey.XXXXXX",
		       tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(folder) == NULL || chmod(folder, 0755) != 0 ||
	    chdir(folder) != 0)
		abort();
	free_fd = dup(STDOUT_FILENO);
	(void)close(free_fd);
	UNIT(keyspecs, "load: a keyspec file has at most 65,536 bytes");
	UNIT(unreadable, "load: a file that cannot be read is told why");
	UNIT(denied, "load: so is one that may not be read");
	UNIT(beside, "load: a secret's path is relative to the keyspec's");
	UNIT(long_paths, "load: paths are as long as the system lets them be");
	UNIT(secret_files, "load: a secret's file holds 16 to 65,536 bytes");
	UNIT(variables, "load: so does a secret's variable");
	UNIT(lookups, "load: variables are those that the program finds");
	UNIT(closed, "load: every file is closed again");
	if (chdir("/") != 0 || nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS) != 0)
		return 1;
	return unit_end();
}
