/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/target.h"

#include "tests/unit/alloc.h"

static const struct redis_options none;

static void which(void)
{
	static const struct {
		const char *word;
		bool is, has;
	} cases[] = {
		{"redis://h", true, false},
		{"rediss://h", true, false},
		{"valkey://h", true, false},
		{"valkeys://h", true, false},
		{"REDIS://:p@h", true, true},
		{"unix:/p", true, false},
		{"unix:a:b@c", true, false},
		{"unix://u:p@/s", true, true},
		{"redis://u:p@h", true, true},
		{"redis://:p@h/1", true, true},
		{"redis://:p/q@h", true, true},
		{"redis://h:1/0?x=a@b", true, true},
		{"redis://u@h:6379", true, false},
		{"redis://u:@h:6379", true, false},
		{"redis://:@h", true, false},
		{"redis:h", false, false},
		{"redis:/h", false, false},
		{"rediss", false, false},
		{"http://u:p@h", false, false},
		{"dir:x", false, false},
		{"", false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (redis_target_is(cases[i].word) != cases[i].is ||
		    redis_target_has_password(cases[i].word) != cases[i].has)
			CHECK_STR(cases[i].word, "");
	}
}

static void check_text(const char *a, const char *b)
{
	if (b == NULL)
		CHECK(a == NULL);
	else
		CHECK_STR(a, b);
}

static const struct {
	const char *word, *place, *host, *path;
	const char *user, *password;
	unsigned port, db;
	bool tls;
} good_words[] = {
	{"redis://h", "redis://h:6379", "h", NULL, NULL, NULL, 6379, 0, false},
	{"redis://h/", "redis://h:6379", "h", NULL, NULL, NULL, 6379, 0, false},
	{"redis://h/0", "redis://h:6379", "h", NULL, NULL, NULL, 6379, 0,
	 false},
	{"VALKEY://a-b.c_d.e:1/7", "valkey://a-b.c_d.e:1/7", "a-b.c_d.e", NULL,
	 NULL, NULL, 1, 7, false},
	{"rediss://10.0.0.1:65535/2147483647",
	 "rediss://10.0.0.1:65535/2147483647", "10.0.0.1", NULL, NULL, NULL,
	 65535, 2147483647, true},
	{"valkeys://u@h", "valkeys://h:6379", "h", NULL, "u", NULL, 6379, 0,
	 true},
	{"redis://u:p@h:6380/1", "redis://h:6380/1", "h", NULL, "u", "p", 6380,
	 1, false},
	{"redis://:secret@h", "redis://h:6379", "h", NULL, NULL, "secret", 6379,
	 0, false},
	{"redis://u:@h", "redis://h:6379", "h", NULL, "u", NULL, 6379, 0,
	 false},
	{"redis://:@h", "redis://h:6379", "h", NULL, NULL, NULL, 6379, 0,
	 false},
	{"redis://@h", "redis://h:6379", "h", NULL, NULL, NULL, 6379, 0, false},
	{"redis://a%40b:%2F%3a%25+:@@h", "redis://h:6379", "h", NULL, "a@b",
	 "/:%+:@", 6379, 0, false},
	{"redis://%c3%BC:%FF@h", "redis://h:6379", "h", NULL, "\xc3\xbc",
	 "\xff", 6379, 0, false},
	{"redis://[::1]", "redis://[::1]:6379", "::1", NULL, NULL, NULL, 6379,
	 0, false},
	{"rediss://u:p@[2001:db8::7]:7000/3", "rediss://[2001:db8::7]:7000/3",
	 "2001:db8::7", NULL, "u", "p", 7000, 3, true},
	{"redis://[fe80::1%eth0]:1", "redis://[fe80::1%eth0]:1", "fe80::1%eth0",
	 NULL, NULL, NULL, 1, 0, false},
	{"redis://[fe80::1%25eth0]", "redis://[fe80::1%eth0]:6379",
	 "fe80::1%eth0", NULL, NULL, NULL, 6379, 0, false},
	{"redis://[fe80::1%25]", "redis://[fe80::1%25]:6379", "fe80::1%25",
	 NULL, NULL, NULL, 6379, 0, false},
	{"unix:/run/x.sock", "unix:/run/x.sock", NULL, "/run/x.sock", NULL,
	 NULL, 0, 0, false},
	{"unix:///run/x.sock", "unix:/run/x.sock", NULL, "/run/x.sock", NULL,
	 NULL, 0, 0, false},
	{"unix:////run//x", "unix:/run//x", NULL, "/run//x", NULL, NULL, 0, 0,
	 false},
	{"unix:x%41:y@z?db=0", "unix:x%41:y@z", NULL, "x%41:y@z", NULL, NULL, 0,
	 0, false},
	{"unix:a\nb?db=12", "unix:a?b?db=12", NULL, "a\nb", NULL, NULL, 0, 12,
	 false},
};

static void good(void)
{
	for (size_t i = 0; i < sizeof(good_words) / sizeof(good_words[0]);
	     i++) {
		struct error err = ERROR_INIT;
		struct redis_target t;

		CHECK(redis_target_parse(good_words[i].word, &none, &t, &err) ==
		      0);
		CHECK_STR(err.text, "");
		CHECK_STR(t.place, good_words[i].place);
		check_text(t.host, good_words[i].host);
		check_text(t.path, good_words[i].path);
		check_text(t.user, good_words[i].user);
		check_text(t.password, good_words[i].password);
		CHECK(t.address.host == t.host && t.address.path == t.path);
		CHECK_U64(t.address.port, good_words[i].port);
		CHECK_U64(t.db, good_words[i].db);
		CHECK(t.tls.on == good_words[i].tls);
		CHECK_U64((unsigned)t.timeout_ms, REDIS_TIMEOUT_MS);
		redis_target_release(&t);
		CHECK(t.password == NULL && t.place == NULL);
	}
}

#define NO_PORT  "target: the port is no number from 1 to 65535"
#define NO_DB    "target: the database is no number from 0 to 2147483647"
#define NO_NAME  "target: the host is no name and no address"
#define NO_V6    "target: no IPv6 address stands in the brackets"
#define NO_USER  "target: the user holds a '%' that is no byte"
#define NO_PASS  "target: the password holds a '%' that is no byte"
#define BRACKETS "target: an IPv6 address stands in brackets"

/* Each with "secret", and with "ecr", as a password or a part of one. */
static const char *const bad_words[][2] = {
	{"dir:x", "target: it begins as no server does"},
	{"redis://", "target: it names no host"},
	{"redis://:secret@", "target: it names no host"},
	{"redis://:secret@:1", "target: it names no host"},
	{"redis:///1", "target: it names no host"},
	{"redis://:secret", "target: it names no host"},
	{"redis://h:secret", NO_PORT},
	{"redis://:secret@h:", NO_PORT},
	{"redis://:secret@h:0", NO_PORT},
	{"redis://:secret@h:65536", NO_PORT},
	{"redis://:secret@h:+1", NO_PORT},
	{"redis://:secret@h:1x", NO_PORT},
	{"redis://:secret@h:99999999999999999999", NO_PORT},
	{"redis://u:secret@::1", BRACKETS},
	{"redis://u:secret@[::1", BRACKETS ", and a port behind them"},
	{"redis://u:secret@[::1]x", BRACKETS ", and a port behind them"},
	{"redis://u:secret@[]", NO_V6},
	{"redis://u:secret@[1.2.3.4]", NO_V6},
	{"redis://u:secret@[::1%]", NO_V6},
	{"redis://u:secret@[fe80::1%a[]", NO_V6},
	{"redis://u:secret@[fe80::1%25\x01]", NO_V6},
	{"redis://"
	 "u:secret@[0000:0000:0000:0000:0000:0000:0000:0000:00]",
	 NO_V6},
	{"redis://u:secret@h h", NO_NAME},
	{"redis://u:secret@h\n", NO_NAME},
	{"redis://u:secret@h%41", NO_NAME},
	{"redis://u:secret@h/x", NO_DB},
	{"redis://u:secret@h/-1", NO_DB},
	{"redis://u:secret@h/1/", NO_DB},
	{"redis://u:secret@h/2147483648", NO_DB},
	{"redis://u:secret@h?db=1", "target: no '?' can follow a host"},
	{"redis://u:secret@h/1?x", "target: no '?' can follow a host"},
	{"redis://u:secret@h#1", "target: no '#' can follow a host"},
	{"redis://u:secret@h/1#", "target: no '#' can follow a host"},
	{"redis://u:s/ecr@h", "target: an '@' stands behind the host"},
	{"redis://u:s?ecr@h", "target: an '@' stands behind the host"},
	{"redis://u:s#ecr@h", "target: an '@' stands behind the host"},
	{"redis://u:secret%@h", NO_PASS},
	{"redis://u:secret%2@h", NO_PASS},
	{"redis://u:secret%2g@h", NO_PASS},
	{"redis://u:secret%g2@h", NO_PASS},
	{"redis://u:secret%00@h", NO_PASS},
	{"redis://u%00:secret@h", NO_USER},
	{"redis://u%0:secret@h", NO_USER},
	{"unix:", "target: it names no path"},
	{"unix:?db=1", "target: it names no path"},
	{"unix://", "target: behind 'unix://' the path begins with a "
		    "slash"},
	{"unix://u:secret@/s", "target: behind 'unix://' the path "
			       "begins with a slash"},
	{"unix:/s?", "target: only '?db=N' can follow a path"},
	{"unix:/s?db=", "target: only '?db=N' can follow a path"},
	{"unix:/s?password=secret", "target: only '?db=N' can follow a "
				    "path"},
	{"unix:/s?db=1&password=secret", NO_DB},
	{"unix:/s?db=x", NO_DB},
};

static void bad(void)
{
	for (size_t i = 0; i < sizeof(bad_words) / sizeof(bad_words[0]); i++) {
		struct error err = ERROR_INIT;
		struct redis_target t;

		CHECK(redis_target_parse(bad_words[i][0], &none, &t, &err) ==
		      -1);
		CHECK_U64(err.code, ERROR_USAGE);
		CHECK_STR(err.text, bad_words[i][1]);
		CHECK(err.hint[0] != '\0');
		CHECK(strstr(err.text, "ecr") == NULL);
		CHECK(strstr(err.hint, "ecr") == NULL);
		CHECK(t.password == NULL && t.place == NULL);
		redis_target_release(&t);
	}
}

static void long_names(void)
{
	char word[512] = "redis://u@";
	size_t len = strlen(word);
	struct error err = ERROR_INIT;
	struct redis_target t;

	memset(word + len, 'h', 254);
	word[len + 254] = '\0';
	CHECK(redis_target_parse(word, &none, &t, &err) == -1);
	CHECK_STR(err.text, NO_NAME);
	word[len + 253] = '\0';
	CHECK(redis_target_parse(word, &none, &t, &err) == 0);
	CHECK(t.place != NULL && strlen(t.place) == 8 + 253 + 5);
	redis_target_release(&t);
}

static void options(void)
{
	const struct redis_options all = {.user = "other",
					  .tls_ca = "ca",
					  .tls_cert = "cert",
					  .tls_key = "key",
					  .tls_name = "name",
					  .tls_insecure = true,
					  .timeout_ms = 7};
	const struct redis_options key = {.tls_key = "key"};
	const struct redis_options only[] = {{.tls_ca = "x"},
					     {.tls_cert = "x"},
					     {.tls_key = "x"},
					     {.tls_name = "x"},
					     {.tls_insecure = true}};
	struct error err = ERROR_INIT;
	struct redis_target t;

	CHECK(redis_target_parse("rediss://h", &all, &t, &err) == 0);
	check_text(t.user, "other");
	CHECK(t.tls.on && t.tls.insecure);
	CHECK_STR(t.tls.ca, "ca");
	CHECK_STR(t.tls.cert, "cert");
	CHECK_STR(t.tls.key, "key");
	CHECK_STR(t.tls.name, "name");
	CHECK_U64((unsigned)t.timeout_ms, 7);
	CHECK(t.options == &all);
	redis_target_release(&t);
	CHECK(redis_target_parse("rediss://u@h", &all, &t, &err) == 0);
	check_text(t.user, "u");
	redis_target_release(&t);
	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++) {
		CHECK(redis_target_parse(i % 2 == 0 ? "redis://h" : "unix:/s",
					 &only[i], &t, &err) == -1);
		CHECK_U64(err.code, ERROR_USAGE);
		CHECK_STR(err.text, "target: it is one without TLS, and "
				    "options of TLS are given");
	}
	CHECK(redis_target_parse("rediss://h", &key, &t, &err) == -1);
	CHECK_STR(err.text, "target: a key for TLS is given without its "
			    "certificate");
}

static void no_memory(void)
{
	const struct redis_options o = {.user = "x"};
	unsigned long n;

	ALLOC_NEEDED();
	for (n = 1; n < 50; n++) {
		struct error err = ERROR_INIT;
		struct redis_target t;
		int rc;

		alloc_fail(n, true);
		rc = redis_target_parse(n % 2 == 0 ? "redis://:p%41@h"
						   : "unix:/p?db=2",
					&o, &t, &err);
		if (!alloc_pass()) {
			CHECK(rc == 0);
			redis_target_release(&t);
			if (n % 2 == 0)
				break;
			continue;
		}
		CHECK(rc == -1 && t.place == NULL && t.password == NULL);
		CHECK_U64(err.code, ERROR_INTERNAL);
	}
	CHECK(n > 5 && n < 50);
}

int main(void)
{
	UNIT(which, "target: a word for a server, and a password in it");
	UNIT(good, "target: what a word means");
	UNIT(bad, "target: what is wrong is told without the password");
	UNIT(long_names, "target: a host has as many bytes as a name may have");
	UNIT(options, "target: options count where the word says nothing");
	UNIT(no_memory, "target: without memory nothing is left");
	return unit_end();
}
