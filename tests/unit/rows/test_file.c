/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/rows/files.h"

/* Opens sources given as words, ended by NULL, and tells the outcome. */
static void check_open(const char *const *words, enum error_code code,
		       const char *text, const char *hint)
{
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	int rc = source_open(words, count_names(words), &plain_source, &source,
			     &err);

	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
	CHECK_STR(err.hint, hint);
	CHECK((rc == 0) == (code == ERROR_NONE));
	CHECK((source != NULL) == (rc == 0));
	if (source != NULL)
		source->ops->free(source);
}

#define OPEN(code, text, hint, ...)                                          \
	check_open((const char *const[]){__VA_ARGS__, NULL}, (code), (text), \
		   (hint))

#define KINDS                                                             \
	"there is: file:PATH, exec:COMMAND, postgresql://HOST/DATABASE, " \
	"-"

static void words(void)
{
	OPEN(ERROR_USAGE, "source 1 does not say what kind it is", KINDS,
	     "x.csv");
	OPEN(ERROR_USAGE, "source 1 does not say what kind it is", KINDS,
	     "./x:y.csv");
	OPEN(ERROR_USAGE, "nothing says which rows of the database",
	     "give --table [SCHEMA.]NAME, with --where CONDITION if not all, "
	     "or --query SQL",
	     "host=h password=p:q");
	OPEN(ERROR_USAGE, "source 1 does not say what kind it is", KINDS, "");
	OPEN(ERROR_USAGE, "source 1: no such kind of source: 'ftp'", KINDS,
	     "ftp://u:secret@h/x");
	OPEN(ERROR_USAGE, "source 1: no such kind of source: 'File'", KINDS,
	     "File:x");
	OPEN(ERROR_USAGE, "a source 'file:' has no path", "file:PATH", "file:");
	check_open((const char *const[]){NULL}, ERROR_USAGE,
		   "no source is given", "");
	REQUIRE(enter_folder());
	PUT("x", "a\n");
	OPEN(ERROR_USAGE, "source 2: no such kind of source: 'nfs'", KINDS,
	     "file:x", "nfs:y");
	OPEN(ERROR_NONE, "", "", "file:x");
	leave_folder();
}

static void not_files(void)
{
	REQUIRE(enter_folder());
	REQUIRE(mkdir("dir", 0700) == 0);
	REQUIRE(mkfifo("fifo", 0600) == 0);
	REQUIRE(symlink("nowhere", "link") == 0);
	PUT("x", "a\n");
	OPEN(ERROR_SOURCE,
	     "file 'no': cannot open it: No such file or directory", "",
	     "file:no");
	OPEN(ERROR_SOURCE,
	     "file 'link': cannot open it: No such file or directory", "",
	     "file:link");
	OPEN(ERROR_SOURCE, "file 'dir': neither a regular file nor a pipe", "",
	     "file:dir");
	/* A pipe, whose writer need not be there yet. */
	OPEN(ERROR_NONE, "", "", "file:fifo");
	OPEN(ERROR_SOURCE,
	     "file '/dev/null': neither a regular file nor a pipe", "",
	     "file:/dev/null");
	OPEN(ERROR_SOURCE, "file 'dir': neither a regular file nor a pipe", "",
	     "file:*");
	leave_folder();
}

static void sockets(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int fd;

	REQUIRE(enter_folder());
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	REQUIRE(fd >= 0);
	CHECK(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	OPEN(ERROR_SOURCE, "file 'socket': neither a regular file nor a pipe",
	     "", "file:socket");
	(void)close(fd);
	leave_folder();
}

static void unreadable(void)
{
	if (geteuid() == 0)
		SKIP("root reads every file");
	REQUIRE(enter_folder());
	PUT("x", "a\n");
	REQUIRE(chmod("x", 0) == 0);
	OPEN(ERROR_SOURCE, "file 'x': cannot open it: Permission denied", "",
	     "file:x");
	REQUIRE(mkdir("dir", 0) == 0);
	OPEN(ERROR_SOURCE,
	     "pattern 'dir/*': a folder cannot be read: Permission denied", "",
	     "file:dir/*");
	leave_folder();
}

static void foreign(void)
{
#define UNPACK "unpack it first and name the unpacked file"
#define RECODE "convert it to UTF-8 first, for example with iconv -t UTF-8"
	static const struct {
		const char *bytes;
		size_t len;
		const char *name;
		const char *hint;
	} cases[] = {
		{BYTES("\x04\x22\x4d\x18"), "lz4", UNPACK},
		{BYTES("\x1f\x9d\x90"), "compress", UNPACK},
		{BYTES("7z\xbc\xaf\x27\x1c"), "a 7z archive", UNPACK},
		{BYTES("Obj\x01"), "Avro",
		 "write it as CSV or COPY text instead"},
		{BYTES("SQLite format 3\0"), "an SQLite database",
		 "write it as CSV or COPY text instead"},
		{BYTES("PGDMP\1"), "pg_dump's custom format",
		 "write the table by COPY instead"},
		/* Without its mark. */
		{BYTES("a\0b\0"), "UTF-16", RECODE},
		{BYTES("\0a\0b"), "UTF-16", RECODE},
		{BYTES("BZh91AY&SYxx"), "bzip2", UNPACK},
		{BYTES("BZh9\x17\x72\x45\x38\x50\x90"), "bzip2", UNPACK},
		{BYTES("\xfd"
		       "7zXZ\0"),
		 "xz", UNPACK},
		{BYTES("PK\x03\x04"), "a zip archive", UNPACK},
		{BYTES("PK\x05\x06"), "a zip archive", UNPACK},
		{BYTES("PK\x07\x08"), "a zip archive", UNPACK},
		{BYTES("PAR1\x15"), "Parquet",
		 "write it as CSV or COPY text instead"},
		{BYTES("PGCOPY\n\xff\r\n\0\0\0\0\0"),
		 "PostgreSQL's binary COPY",
		 "export it with format text or csv instead"},
		{BYTES("\xff\xfe"
		       "a\0"),
		 "UTF-16", RECODE},
		{BYTES("\xfe\xff\0a"), "UTF-16", RECODE},
		{BYTES("\xff\xfe\0\0a\0\0\0"), "UTF-32", RECODE},
		{BYTES("\0\0\xfe\xff\0\0\0a"), "UTF-32", RECODE},
	};
	static const char *const fine[] = {
		"",     "P",     "PK\n",   "BZh9", "PGCOPY\n", "\xef\xbb\xbf",
		"\x1f", "(\xb5", "Obj,\n",
	};

	REQUIRE(enter_folder());
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text),
			 "file 'x': it is %s by its first bytes, not rows",
			 cases[i].name);
		REQUIRE(put("x", cases[i].bytes, cases[i].len));
		OPEN(ERROR_SOURCE, text, cases[i].hint, "file:x");
	}
	/* What is packed is unpacked, as far as it goes. */
	PUT("x", "\x1f\x8b\x08");
	OPEN(ERROR_DATA, "file 'x': the gzip data is cut off inside a member",
	     "test the original with gzip -t and copy it again", "file:x");
	PUT("x", "\x28\xb5\x2f\xfd");
	OPEN(ERROR_DATA, "file 'x': the zstd data is cut off inside a frame",
	     "test the original with zstd -t and copy it again", "file:x");
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		REQUIRE(put("x", fine[i], strlen(fine[i])));
		OPEN(ERROR_NONE, "", "", "file:x");
	}
	leave_folder();
}

/* The names of the parts of a source that is not cut, by spaces. */
static void check_parts(const char *const *patterns, const char *names)
{
	struct rowformat format = {.kind = ROWFORMAT_CSV};
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	struct source_part *parts = NULL;
	size_t count = 0;
	struct buf told;

	buf_init(&told, 4096);
	if (source_open(patterns, count_names(patterns), &plain_source, &source,
			&err) != 0) {
		CHECK_STR(err.text, "");
		return;
	}
	CHECK(source->ops->split(source, 8, &format, &parts, &count, &err) ==
	      0);
	for (size_t i = 0; i < count; i++) {
		buf_addf(&told, "%s%s", i > 0 ? " " : "", parts[i].name);
		CHECK_U64(parts[i].index, i);
		CHECK(parts[i].at_end && parts[i].start == 0);
		CHECK(parts[i].header == NULL);
	}
	CHECK_STR(buf_string(&told), names);
	source_parts_free(parts, count);
	source->ops->free(source);
	buf_release(&told);
}

#define PARTS(names, ...) \
	check_parts((const char *const[]){__VA_ARGS__, NULL}, (names))

static void patterns(void)
{
	REQUIRE(enter_folder());
	REQUIRE(mkdir("d", 0700) == 0);
	PUT("b.csv", "1\n");
	PUT("a.csv", "1\n");
	PUT("B.csv", "1\n");
	PUT("d/[a].csv", "1\n");
	PUT("d/a.csv", "1\n");
	PUT("q'x", "1\n");
	PARTS("file 'B.csv' file 'a.csv' file 'b.csv'", "file:*.csv");
	PARTS("file 'b.csv' file 'a.csv'", "file:b.csv", "file:[a].csv");
	PARTS("file 'd/[a].csv'", "file:d/[a].csv");
	PARTS("file 'd/[a].csv' file 'd/a.csv'", "file:*/*.csv");
	PARTS("file 'q\\x27x'", "file:q'x");
	OPEN(ERROR_SOURCE, "no file matches 'z*'", "", "file:a.csv", "file:z*");
	OPEN(ERROR_SOURCE,
	     "pattern 'no/*': a folder cannot be read: No such file or "
	     "directory",
	     "", "file:no/*");
	leave_folder();
}

static void same_twice(void)
{
	static const char hint[] = "name every file once: its rows count once";

	REQUIRE(enter_folder());
	PUT("a", "1\n");
	PUT("b", "1\n");
	REQUIRE(link("a", "c") == 0);
	REQUIRE(symlink("b", "d") == 0);
	OPEN(ERROR_USAGE, "file 'a' and file 'a' are the same", hint, "file:a",
	     "file:b", "file:a");
	OPEN(ERROR_USAGE, "file 'c' and file 'a' are the same", hint, "file:c",
	     "file:[ab]");
	OPEN(ERROR_USAGE, "file 'b' and file 'd' are the same", hint,
	     "file:[abd]");
	OPEN(ERROR_NONE, "", "", "file:[ab]");
	leave_folder();
}

/* Opens, splits and reads while the n-th allocation fails, and all after. */
static bool survive(unsigned long n)
{
	static const char *const words[] = {"file:[x]", "file:y"};
	struct rowformat format = text_a;
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	struct source_part *parts = NULL;
	struct stream *stream = NULL;
	size_t count = 0;
	bool met;
	int rc;

	format.header = true;
	alloc_fail(n, true);
	rc = source_open(words, 2, &plain_source, &source, &err);
	if (rc == 0) {
		((struct file_source *)source)->part_min = 2;
		rc = source->ops->split(source, 3, &format, &parts, &count,
					&err);
	}
	if (rc == 0)
		rc = source->ops->open(source, parts, &stream, &err);
	met = alloc_pass();
	CHECK((rc != 0) == met);
	if (rc != 0)
		CHECK_U64(err.code, ERROR_INTERNAL);
	if (stream != NULL)
		stream->ops->close(stream);
	source_parts_free(parts, count);
	if (source != NULL)
		source->ops->free(source);
	return met;
}

static void allocations(void)
{
	unsigned long n = 1;

	ALLOC_NEEDED();
	REQUIRE(enter_folder());
	PUT("x", "a\n1\n2\n3\n4\n5\n6\n");
	PUT("y", "a\n1\n");
	while (n < 1000 && survive(n))
		n++;
	CHECK(n > 10 && n < 1000);
	leave_folder();
}

int main(void)
{
	UNIT(words, "source: a word that is no source is refused, unprinted");
	UNIT(not_files, "file: only regular files are read");
	UNIT(sockets, "file: a socket, which cannot be opened, is none");
	UNIT(unreadable, "file: what cannot be read is named");
	UNIT(foreign, "file: foreign files are told by their first bytes");
	UNIT(patterns, "file: patterns are matched and sorted by bytes");
	UNIT(same_twice, "file: one file under two names is refused");
	UNIT(allocations, "file: every failed allocation is reported");
	return unit_end();
}
