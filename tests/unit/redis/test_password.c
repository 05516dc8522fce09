/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <sys/stat.h>

#include "lib/base/stop.h"
#include "lib/redis/target.h"
#include "tests/unit/alloc.h"
#include "tests/unit/child.h"

static char folder[] = "/tmp/bloomctl-unit-XXXXXX";
static char path[64];

static void write_file(const char *data, size_t len)
{
	FILE *out = fopen(path, "wb");

	REQUIRE(out != NULL);
	CHECK(fwrite(data, 1, len, out) == len);
	CHECK(fclose(out) == 0);
}

/* What is given for these options with a target. */
static void check_is(const char *word, const struct redis_options *o,
		     const char *expected)
{
	struct error err = ERROR_INIT;
	struct redis_target t;
	char *password = NULL;

	REQUIRE(redis_target_parse(word, o, &t, &err) == 0);
	CHECK(redis_password(&t, &password, &err) == 0);
	CHECK_STR(err.text, "");
	if (expected == NULL)
		CHECK(password == NULL);
	else
		CHECK_STR(password, expected);
	redis_password_free(password);
	redis_target_release(&t);
}

static void check_fails(const struct redis_options *o, enum error_code code,
			const char *text)
{
	struct error err = ERROR_INIT;
	struct redis_target t;
	char *password = path;

	REQUIRE(redis_target_parse("redis://h", o, &t, &err) == 0);
	CHECK(redis_password(&t, &password, &err) == -1);
	CHECK(password == NULL);
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
	redis_target_release(&t);
}

static void order(void)
{
	struct redis_options o = {.password = "environment"};

	write_file("file\n", 5);
	check_is("redis://h", &o, "environment");
	o.password_command = "echo command";
	check_is("redis://h", &o, "command");
	o.password_file = path;
	check_is("redis://h", &o, "file");
	check_is("redis://:target@h", &o, "target");
	o = (struct redis_options){.password = ""};
	check_is("redis://u:@h", &o, NULL);
	o.password = NULL;
	check_is("redis://u@h", &o, NULL);
}

static void files(void)
{
	static const struct {
		const char *data;
		size_t len;
		const char *password;
	} cases[] = {
		{"secret", 6, "secret"},     {"secret\n", 7, "secret"},
		{"secret\r\n", 8, "secret"}, {"secret\n\n", 8, "secret\n"},
		{"secret\r", 7, "secret\r"}, {" se cret \n", 10, " se cret "},
		{"\xff\n", 2, "\xff"},       {"\r", 1, "\r"},
	};
	const struct redis_options o = {.password_file = path};
	static char many[65538];
	char text[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file(cases[i].data, cases[i].len);
		check_is("redis://h", &o, cases[i].password);
	}
	memset(many, 'x', sizeof(many) - 1);
	write_file(many, 65536);
	many[65536] = '\0';
	check_is("redis://h", &o, many);
	many[65536] = 'x';
	write_file(many, 65537);
	(void)snprintf(text, sizeof(text),
		       "password: file '%s': larger than 65536 bytes", path);
	check_fails(&o, ERROR_CONFIG, text);
	(void)snprintf(text, sizeof(text),
		       "password: file '%s': it gives no password", path);
	write_file("", 0);
	check_fails(&o, ERROR_CONFIG, text);
	write_file("\r\n", 2);
	check_fails(&o, ERROR_CONFIG, text);
	(void)snprintf(text, sizeof(text),
		       "password: file '%s': a password cannot hold a NUL",
		       path);
	write_file("secret\0x\n", 9);
	check_fails(&o, ERROR_CONFIG, text);
	CHECK(unlink(path) == 0);
	(void)snprintf(text, sizeof(text),
		       "password: file '%s': No such file or directory", path);
	check_fails(&o, ERROR_CONFIG, text);
}

static void commands(void)
{
	static const struct {
		const char *command, *text;
	} cases[] = {
		{"true secret", "password: command 'true ...': it gives no "
				"password"},
		{"echo secret; exit 3",
		 "password: command 'echo ...': it failed with status 3"},
		{"kill -9 $$", "password: command 'kill ...': it was ended by "
			       "signal 9"},
		{"printf 'secret\\0'", "password: command 'printf ...': a "
				       "password cannot hold a NUL"},
		{"X=secret; head -c 65537 /dev/zero",
		 "password: command '...': it prints more than 65536 bytes"},
	};
	char *environment[] = {(char *)"PASSWORD=of the command",
			       (char *)"PATH=/usr/bin:/bin", NULL};
	struct redis_options o = {.environment = environment};

	o.password_command = "echo \"$PASSWORD\"";
	check_is("redis://h", &o, "of the command");
	o.password_command = "printf 'a\\r\\n'";
	check_is("redis://h", &o, "a");
	o.password_command = "head -c 65536 /dev/zero | tr '\\0' x | wc -c";
	check_is("redis://h", &o, "65536");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		o.password_command = cases[i].command;
		check_fails(&o, ERROR_CONFIG, cases[i].text);
	}
	o.environment = NULL;
	o.password_command = "echo \"<${PASSWORD-}>\"";
	check_is("redis://h", &o, "<>");
}

/* At each connection it is asked anew. */
static void anew(void)
{
	const struct redis_options o = {.password_file = path};
	struct error err = ERROR_INIT;
	struct redis_target t;
	char *password;

	REQUIRE(redis_target_parse("redis://h", &o, &t, &err) == 0);
	write_file("old", 3);
	CHECK(redis_password(&t, &password, &err) == 0);
	CHECK_STR(password, "old");
	redis_password_free(password);
	write_file("new", 3);
	CHECK(redis_password(&t, &password, &err) == 0);
	CHECK_STR(password, "new");
	redis_password_free(password);
	redis_target_release(&t);
}

static void stopped(void)
{
	struct redis_options o = {.password_command = "sleep 60"};
	struct error err = ERROR_INIT;

	REQUIRE(stop_init(&err) == 0);
	CHECK(raise(SIGTERM) == 0);
	check_fails(&o, ERROR_TERMINATED, "stopped by SIGTERM");
}

static void stop(void)
{
	in_child(stopped);
}

static void no_memory(void)
{
	const char *const words[] = {"redis://h", "redis://:p@h"};
	const struct redis_options all[] = {{.password_file = path},
					    {.password_command = "echo x"},
					    {.password = "x"}};

	ALLOC_NEEDED();
	write_file("x", 1);
	for (size_t i = 0; i < 6; i++) {
		struct error err = ERROR_INIT;
		struct redis_target t;
		char *password;
		unsigned long n;

		REQUIRE(redis_target_parse(words[i % 2], &all[i / 2], &t,
					   &err) == 0);
		for (n = 1; n < 20; n++) {
			int rc;

			alloc_fail(n, true);
			rc = redis_password(&t, &password, &err);
			if (!alloc_pass())
				break;
			CHECK(rc == -1 && password == NULL);
			CHECK_U64(err.code, ERROR_INTERNAL);
		}
		CHECK(n > 1 && n < 20);
		CHECK_STR(password, i % 2 == 0 ? "x" : "p");
		redis_password_free(password);
		redis_target_release(&t);
	}
}

int main(void)
{
	if (mkdtemp(folder) == NULL)
		return 1;
	(void)snprintf(path, sizeof(path), "%s/secret", folder);
	UNIT(order, "password: target, file, command, environment");
	UNIT(files, "password: a file holds one, whatever its bytes");
	UNIT(commands, "password: a command prints one, and ends well");
	UNIT(anew, "password: it is asked for anew");
	UNIT(stop, "password: a stop ends the wait for a command");
	UNIT(no_memory, "password: without memory there is none");
	(void)unlink(path);
	(void)rmdir(folder);
	return unit_end();
}
