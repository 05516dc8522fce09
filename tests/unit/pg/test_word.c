/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/session.h"
#include "tests/unit/unit.h"

static void words_are_told_from_others(void)
{
	static const char *const yes[] = {
		"postgres://h/d", "postgresql://", "host=h",
		"service=prod",   " dbname = x",   "password=x host=y"};
	static const char *const no[] = {"file:x",   "exec:a=b", "-",
					 "",         "file:a=b", "Host=x",
					 "s3://b/p", "=x",       "postgres"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK(session_is_word(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK(!session_is_word(no[i]));
}

static void check_password(const char *word, bool expected)
{
	struct error err = ERROR_INIT;
	bool password = !expected;

	CHECK(session_check_word(word, &password, &err) == 0);
	CHECK(password == expected);
}

static void a_password_is_seen(void)
{
	check_password("postgres://u:p@h/d", true);
	check_password("postgres://u@h/d?password=p", true);
	check_password("postgres://u@h/d?sslpassword=p", true);
	check_password("host=h password=p", true);
	check_password("host=h passfile=/x", false);
	check_password("postgres://u@h/d", false);
	check_password("service=prod", false);
}

static void nothing_secret_is_shown(void)
{
	static const char *const bad[] = {
		"postgres://u:secret@[::1/d",   "host=h pass word secret",
		"postgres://u:sec%ret@h/d",     "host='secret",
		"postgres://h/d?secret=secret", "host=h hots=secret"};
	struct error err = ERROR_INIT;
	bool password;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(session_check_word(bad[i], &password, &err) == -1);
		CHECK(err.code == ERROR_USAGE);
		CHECK(strstr(err.text, "secret") == NULL);
		CHECK(strstr(err.hint, "secret") == NULL);
	}
	CHECK(strstr(err.text, "'hots'") != NULL);
}

static void check_label(const char *word, const char *expected)
{
	struct error err = ERROR_INIT;
	char *label = NULL;

	REQUIRE(session_label(word, &label, &err) == 0);
	CHECK_STR(label, expected);
	free(label);
}

static void labels(void)
{
	check_label("postgres://u:secret@h:5433/d?sslmode=require",
		    "postgresql: host=h port=5433 dbname=d user=u");
	check_label("service=prod password=secret", "postgresql: service=prod");
	check_label("postgres://", "postgresql:");
}

int main(void)
{
	UNIT(words_are_told_from_others,
	     "word: what libpq reads is told from other sources");
	UNIT(a_password_is_seen, "word: a password is seen wherever it is");
	UNIT(nothing_secret_is_shown,
	     "word: one that cannot be read is not shown");
	UNIT(labels, "word: records name all but what is secret");
	return unit_end();
}
