/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Every line of lib/bloomkey/vectors: SPEC.md, section 10, has the format.
 */
#include <errno.h>

#include "lib/bloomkey/bloomkey.h"
#include "tests/unit/unit.h"

#define KEYSPEC_COLUMNS                                                       \
	"id\tcatches\tkeyspec\tsecrets\tstatus\tfingerprint\tsentinel\tfirst" \
	"\tlast"
#define ROW_COLUMNS \
	"keyspec\tcatches\tvalues\tkey\thash\tbucket\tfilter\treject"

/* A line of keyspecs.tsv that is a keyspec. */
struct known {
	char *id;
	struct bloomkey_spec *spec; /* NULL: status 78 */
};

static struct known *known;
static size_t nknown;

static void give_up(const char *what, const char *path)
{
	printf("Bail out! %s: %s\n", path, what);
	exit(99);
}

static void *room(size_t len)
{
	void *data = malloc(len > 0 ? len : 1);

	if (data == NULL)
		abort();
	return data;
}

/* A file of vectors, of which the first line is read and right. */
static FILE *open_vectors(const char *name, const char *columns)
{
	const char *top = getenv("BLOOMCTL_SRCDIR");
	char path[4096], line[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/lib/bloomkey/vectors/%s",
		       top != NULL ? top : ".", name);
	file = fopen(path, "r");
	if (file == NULL)
		give_up(strerror(errno), path);
	if (fgets(line, sizeof(line), file) == NULL ||
	    strncmp(line, columns, strlen(columns)) != 0 ||
	    strcmp(line + strlen(columns), "\n") != 0)
		give_up("the first line is not the columns' names", path);
	return file;
}

/* Takes off what is before the next `end`, or all; NULL when none is left. */
static char *next_cell(char **rest, char end)
{
	char *cell = *rest, *at;

	if (cell == NULL)
		return NULL;
	at = strchr(cell, end);
	*rest = at != NULL ? at + 1 : NULL;
	if (at != NULL)
		*at = '\0';
	return cell;
}

/* Cuts a line, with its end, into so many cells. */
static bool cut(char *line, ssize_t len, char *cells[], size_t n)
{
	if (len < 1 || line[len - 1] != '\n' || strlen(line) != (size_t)len)
		return false;
	line[len - 1] = '\0';
	for (size_t i = 0; i < n; i++)
		if ((cells[i] = next_cell(&line, '\t')) == NULL)
			return false;
	return line == NULL;
}

static int nibble(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c != '\0' ? strchr(digits, c) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

/* The bytes that Hex stands for, in memory of just their length. */
static bool decode(const char *hex, unsigned char **out, size_t *len)
{
	bool good = strlen(hex) % 2 == 0;

	*len = strlen(hex) / 2;
	*out = room(*len);
	for (size_t i = 0; good && i < *len; i++) {
		const int high = nibble(hex[2 * i]);
		const int low = nibble(hex[2 * i + 1]);

		good = high >= 0 && low >= 0;
		if (good)
			(*out)[i] = (unsigned char)(high << 4 | low);
	}
	return good;
}

/* Whether the cell is the Hex of the bytes. */
static bool is_hex(const char *cell, const void *bytes, size_t len)
{
	unsigned char *is;
	size_t n;
	bool good = decode(cell, &is, &n) && n == len &&
		    (len == 0 || memcmp(is, bytes, len) == 0);

	free(is);
	return good;
}

/* A bloomkey_secret that looks into a cell of `secrets`, its ctx. */
static int serve(void *ctx, int place, const char *name, void *out, size_t cap)
{
	const char *at = ctx;
	unsigned char *bytes;
	char wanted[512], *hex;
	size_t len;
	int n;

	/* Of a file the vectors have the name in the keyspec's folder. */
	if (place == BLOOMKEY_PLACE_FILE && strncmp(name, "./", 2) == 0)
		name += 2;
	n = snprintf(wanted, sizeof(wanted),
		     "%s:%s=", place == BLOOMKEY_PLACE_ENV ? "env" : "file",
		     name);
	while (*at != '\0' && strncmp(at, wanted, (size_t)n) != 0) {
		at += strcspn(at, ",");
		at += *at == ',';
	}
	errno = ENOENT;
	if (*at == '\0')
		return -1;
	hex = strdup(at + n);
	if (hex == NULL)
		abort();
	hex[strcspn(hex, ",")] = '\0';
	if (!decode(hex, &bytes, &len))
		give_up("secrets are not in Hex", name);
	free(hex);
	len = len < cap ? len : cap;
	memcpy(out, bytes, len);
	free(bytes);
	return (int)len;
}

static bool check_sentinel(const struct bloomkey_spec *spec, const char *cell)
{
	const void *data;
	size_t len = bloomkey_sentinel(spec, &data);

	return data == NULL ? strcmp(cell, "none") == 0
			    : is_hex(cell, data, len);
}

static bool check_filter(const struct bloomkey_spec *spec, uint32_t bucket,
			 const char *cell)
{
	char name[BLOOMKEY_FILTER_MAX + 1];
	int n = bloomkey_filter(spec, bucket, name, sizeof(name));

	return n > 0 && (size_t)n == strlen(name) && strcmp(name, cell) == 0;
}

/* What is wrong with a line of keyspecs.tsv, or NULL; *spec is the caller's. */
static const char *judge_keyspec(char *cells[9], struct bloomkey_spec **spec)
{
	const bool bad = strcmp(cells[4], "78") == 0;
	unsigned char *text;
	size_t len;
	int rc;

	*spec = NULL;
	if (!bad && strcmp(cells[4], "0") != 0)
		return "the status is neither 0 nor 78";
	if (!decode(cells[2], &text, &len)) {
		free(text);
		return "the keyspec is not in Hex";
	}
	rc = bloomkey_parse(text, len, serve, cells[3], spec, NULL);
	free(text);
	if (bad && (*cells[5] || *cells[6] || *cells[7] || *cells[8]))
		return "cells behind status 78";
	if (bad)
		return rc == BLOOMKEY_EINVAL || rc == BLOOMKEY_ESECRET
			       ? NULL
			       : "it is taken";
	if (rc != BLOOMKEY_OK)
		return "it is refused";
	if (strcmp(bloomkey_fingerprint(*spec), cells[5]) != 0)
		return "another fingerprint";
	if (!check_sentinel(*spec, cells[6]))
		return "another sentinel";
	if (!check_filter(*spec, 0, cells[7]))
		return "another first filter";
	if (!check_filter(*spec, bloomkey_buckets(*spec) - 1, cells[8]))
		return "another last filter";
	return NULL;
}

static struct known *find(const char *id)
{
	for (size_t i = 0; i < nknown; i++)
		if (strcmp(known[i].id, id) == 0)
			return &known[i];
	return NULL;
}

static void keyspecs(void)
{
	FILE *file = open_vectors("keyspecs.tsv", KEYSPEC_COLUMNS);
	char *line = NULL, *cells[9];
	const char *wrong;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, file)) >= 0) {
		known = realloc(known, (nknown + 1) * sizeof(*known));
		if (known == NULL)
			abort();
		REQUIRE(cut(line, len, cells, 9));
		wrong = judge_keyspec(cells, &known[nknown].spec);
		if (find(cells[0]) != NULL)
			wrong = "the id is repeated";
		if (wrong != NULL) {
			unit_fail(__FILE__, __LINE__, wrong);
			printf("#   %s: %s\n", cells[0], cells[1]);
		}
		known[nknown].id = strdup(cells[0]);
		if (known[nknown++].id == NULL)
			abort();
	}
	CHECK(!ferror(file) && nknown > 0);
	printf("# %zu keyspecs are checked\n", nknown);
	free(line);
	(void)fclose(file);
}

/* What is wrong with a row of these values, or NULL. */
static const char *judge_values(const struct bloomkey_spec *spec,
				const void *const *values, const size_t *lens,
				char *cells[8])
{
	static unsigned char out[BLOOMKEY_MAX];
	struct bloomkey_result r = {9, 9, 9, 9};
	const int rc =
		bloomkey_derive(spec, values, lens, out, sizeof(out), &r);
	char text[32];
	uint64_t hash;

	if (*cells[7] != '\0') {
		const char *reason = bloomkey_reason(rc);

		if (*cells[3] || *cells[4] || *cells[5] || *cells[6])
			return "cells of a row that is rejected";
		return reason != NULL && strcmp(reason, cells[7]) == 0
			       ? NULL
			       : "not rejected for this";
	}
	if (rc != BLOOMKEY_OK)
		return "it is rejected";
	if (!is_hex(cells[3], out, r.len))
		return "another key";
	(void)snprintf(text, sizeof(text), "%016" PRIx64, r.hash);
	if (strcmp(text, cells[4]) != 0)
		return "another hash";
	(void)snprintf(text, sizeof(text), "%" PRIu32, r.bucket);
	if (strcmp(text, cells[5]) != 0)
		return "another bucket";
	if (bloomkey_bucket(spec, out, r.len, &hash) != r.bucket ||
	    hash != r.hash)
		return "another bucket of the key than of the row";
	return check_filter(spec, r.bucket, cells[6]) ? NULL : "another filter";
}

static const char *judge_row(char *cells[8])
{
	const struct known *of = find(cells[0]);
	const char *wrong = NULL;
	unsigned char **values;
	size_t *lens, n, i;
	char *cell;

	if (of == NULL || of->spec == NULL)
		return "no good keyspec has this id";
	n = bloomkey_fields(of->spec);
	values = calloc(n, sizeof(*values));
	lens = calloc(n, sizeof(*lens));
	if (values == NULL || lens == NULL)
		abort();
	for (i = 0; (cell = next_cell(&cells[2], ',')) != NULL; i++) {
		if (i >= n)
			wrong = "more values than fields";
		else if (strcmp(cell, "-") != 0 &&
			 !decode(cell, &values[i], &lens[i]))
			wrong = "a value is not in Hex";
	}
	if (i < n)
		wrong = "fewer values than fields";
	if (wrong == NULL)
		wrong = judge_values(of->spec, (const void *const *)values,
				     lens, cells);
	for (i = 0; i < n; i++)
		free(values[i]);
	free(values);
	free(lens);
	return wrong;
}

static void rows(void)
{
	FILE *file = open_vectors("rows.tsv", ROW_COLUMNS);
	unsigned long checked = 0;
	char *line = NULL, *cells[8];
	const char *wrong;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, file)) >= 0) {
		checked++;
		REQUIRE(cut(line, len, cells, 8));
		wrong = judge_row(cells);
		if (wrong != NULL) {
			unit_fail(__FILE__, __LINE__, wrong);
			printf("#   line %lu, %s: %s\n", checked + 1, cells[0],
			       cells[1]);
		}
	}
	CHECK(!ferror(file) && checked > 0);
	printf("# %lu rows are checked\n", checked);
	free(line);
	(void)fclose(file);
}

int main(void)
{
	UNIT(keyspecs, "vectors: every keyspec is what its line says");
	UNIT(rows, "vectors: every row comes to what its line says");
	for (size_t i = 0; i < nknown; i++) {
		bloomkey_free(known[i].spec);
		free(known[i].id);
	}
	free(known);
	return unit_end();
}
