/* SPDX-License-Identifier: BSD-2-Clause
 *
 * internal: what the modules of libbloomkey share; not installed.
 *
 * One pass over a private copy of the file: lines.c cuts it into sections,
 * names and unquoted values in place, keyspec.c collects them by options.c,
 * template.c compiles the key template, transformlist.c the transforms,
 * secret.c gets the secrets (by load.c, or as the caller wants) and leaves
 * hmac.c's state of them, fingerprint.c names the result, filtername.c renders
 * the filter names.  From then on the keyspec is constant, and derive.c and
 * transform.c work from it.  Every slice points into the private copy.
 *
 * Functions that can fail return BLOOMKEY_OK or a code of bloomkey_code; with
 * BLOOMKEY_EINVAL the error is filled in.
 */
#ifndef BLOOMKEY_INTERNAL_H
#define BLOOMKEY_INTERNAL_H

#include <stdbool.h>

#include "bloomkey.h"

#define BK_FILE_MAX       65536
#define BK_NAME_MAX       64
#define BK_BUCKETS_MAX    65536
#define BK_TRANSFORMS_MAX 16
#define BK_SECRET_MIN     16
#define BK_SHA256_HEX     64

/* Bytes that are borrowed; they may hold NUL where a value may. */
struct bk_slice {
	const char *data;
	size_t len;
};

enum bk_encoding {
	BK_ENCODING_UNSET,
	BK_ENCODING_UTF8,
	BK_ENCODING_BYTES,
};

enum bk_transform_kind {
	BK_TRIM,
	BK_RTRIM,
	BK_LOWER,
	BK_UPPER,
	BK_UUID,
	BK_INT,
	BK_DIGITS,
	BK_FIRST,
	BK_SHA256,
	BK_HMAC_SHA256,
};

struct bk_transform {
	enum bk_transform_kind kind;
	uint32_t n; /* only of BK_FIRST: bytes, 1 to BLOOMKEY_MAX */
};

/* What a value of a field has to be, and what becomes of it. */
struct bk_rules {
	enum bk_encoding encoding; /* never UNSET in a finished keyspec */
	bool empty_allowed;
	bool null_is_empty;
	bool keyed; /* hmac-sha256 is among the transforms */
	unsigned ntransforms;
	struct bk_transform transforms[BK_TRANSFORMS_MAX];
};

/* Where a secret is and how it is written there. */
struct bk_secret {
	enum {
		BK_SECRET_RAW,
		BK_SECRET_HEX,
		BK_SECRET_BASE64,
	} form;
	enum bloomkey_place place;
	const char *name; /* NULL: no secret */
};

struct bk_hmac; /* of hmac.c */

struct bk_field {
	struct bk_slice literal; /* the text in front of it, unescaped */
	struct bk_rules rules;
	struct bk_hmac *hmac; /* only of keyed fields */
	const char *column;
	char name[BK_NAME_MAX + 1];
	char check[BLOOMKEY_CHECK_LEN + 1]; /* only of keyed fields */
};

enum bk_sentinel {
	BK_SENTINEL_DEFAULT,
	BK_SENTINEL_NONE,
	BK_SENTINEL_BYTES,
};

/*
 * The filter names of a set differ in nothing but the digits of the bucket:
 * the name of bucket 0, and where in it the digits start.
 */
struct bk_filtername {
	char zero[BLOOMKEY_FILTER_MAX];
	size_t len;
	unsigned width; /* digits of a bucket number, 1 to 5 */
	size_t places;
	uint16_t place[BLOOMKEY_FILTER_MAX];
};

struct bloomkey_spec {
	char *text; /* the private copy of the file */

	char name[BK_NAME_MAX + 1];
	uint32_t buckets;
	uint64_t seed;
	char delimiter;
	enum bk_encoding encoding;
	struct bk_slice key;    /* the template as it was written */
	struct bk_slice filter; /* the same */
	enum bk_sentinel sentinel_kind;
	struct bk_slice sentinel; /* only of BK_SENTINEL_BYTES */

	struct bk_field *fields;
	size_t nfields;
	char *literals;       /* what the fields' literals point into */
	struct bk_slice tail; /* the literal behind the last field */

	char *fingerprint_text;
	char fingerprint[BLOOMKEY_FINGERPRINT_LEN + 1];
	char default_sentinel[sizeof("bloomkey:") + 8];
	struct bk_filtername filtername;
};

/* error.c */

/*
 * Fills in *err, unless it is NULL; line 0 means no single line.  Returns
 * BLOOMKEY_EINVAL.
 */
int bk_error(struct bloomkey_error *err, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Text for an error message: printable ASCII and of bounded length. */
struct bk_escaped {
	char text[100];
};

/* Bytes that are not printable become \xHH; a long text ends with "...". */
struct bk_escaped bk_escape(struct bk_slice bytes);

/* utf8.c */

/* Whether all bytes are UTF-8: no overlong forms, no surrogates; NUL is. */
bool bk_utf8_valid(const void *bytes, size_t len);

/* slice.c */

/* A space or a TAB. */
bool bk_blank(char c);

/* Without the blanks at both ends. */
struct bk_slice bk_slice_trim(struct bk_slice slice);

/* Whether two byte strings are the same; the second ends with NUL. */
bool bk_slice_is(struct bk_slice slice, const char *text);

/* Whether it begins with a prefix, which is cut off then. */
bool bk_slice_take(struct bk_slice *slice, const char *prefix);

/* Whether it is a NUMBER of SPEC.md from min to max; *out is it then. */
bool bk_slice_number(struct bk_slice slice, uint64_t min, uint64_t max,
		     uint64_t *out);

/* lines.c */

enum bk_line_kind {
	BK_LINE_END,     /* no more lines */
	BK_LINE_KEYSPEC, /* [keyspec] */
	BK_LINE_FIELD,   /* [field NAME]: name */
	BK_LINE_VALUE,   /* name = value: both, the value with a NUL behind */
};

struct bk_line {
	enum bk_line_kind kind;
	unsigned number; /* from 1 */
	struct bk_slice name;
	struct bk_slice value;
};

struct bk_lines {
	char *at; /* writable, and so is *end, one byte behind the text */
	char *end;
	unsigned number; /* of the last line that was read */
	struct bloomkey_error *err;
};

/* Starts at the first line of text, behind a BOM. */
void bk_lines_init(struct bk_lines *lines, char *text, size_t len,
		   struct bloomkey_error *err);

/* The next line that is neither blank nor a comment; it overwrites the text. */
int bk_lines_next(struct bk_lines *lines, struct bk_line *line);

/* options.c */

/* The names of [keyspec], those first that may not be left out. */
enum {
	BK_OPTION_VERSION,
	BK_OPTION_NAME,
	BK_OPTION_KEY,
	BK_OPTION_BUCKETS,
	BK_OPTION_FILTER,
	BK_OPTIONS_NEEDED,
	BK_OPTION_SEED = BK_OPTIONS_NEEDED,
	BK_OPTION_DELIMITER,
	BK_OPTION_ENCODING,
	BK_OPTION_SENTINEL,
	BK_OPTIONS
};

/* The names of [field NAME]. */
enum {
	BK_FIELD_OPTION_COLUMN,
	BK_FIELD_OPTION_ENCODING,
	BK_FIELD_OPTION_EMPTY,
	BK_FIELD_OPTION_NULL,
	BK_FIELD_OPTION_TRANSFORM,
	BK_FIELD_OPTION_SECRET,
	BK_FIELD_OPTIONS
};

/* A [field NAME] as it is read, before the template is known. */
struct bk_section {
	struct bk_slice name;
	unsigned line;
	unsigned lines[BK_FIELD_OPTIONS]; /* where each stands; 0: nowhere */
	const char *column;               /* NULL: not given */
	struct bk_rules rules;
	struct bk_secret secret;
	size_t field; /* its index, once the template is known */
};

/* What has been read of a file. */
struct bk_parser {
	struct bloomkey_spec *spec;
	struct bloomkey_error *err;
	bloomkey_secret *secret; /* may be NULL */
	void *secret_ctx;
	unsigned line; /* the one at hand */
	enum {
		BK_IN_NOTHING,
		BK_IN_KEYSPEC,
		BK_IN_FIELD /* the last of sections */
	} where;
	unsigned keyspec_line;      /* of [keyspec]; 0: nowhere */
	unsigned lines[BK_OPTIONS]; /* where each stands; 0: nowhere */
	struct bk_section *sections;
	size_t nsections, capacity;
};

/*
 * Sets the name of a BK_LINE_VALUE in the section at hand, checked as far as
 * one value can be.
 */
int bk_option_set(struct bk_parser *p, const struct bk_line *line);

/* Names the first needed option that no line has set. */
int bk_options_complete(const struct bk_parser *p);

/* template.c */

/* Whether name is 1 to 64 characters of A-Za-z0-9_.- */
bool bk_name_valid(struct bk_slice name);

/* A walk through a template; `what` and `line` are for its errors. */
struct bk_template {
	const char *at;
	const char *end;
	const char *what;
	unsigned line;
	struct bloomkey_error *err;
};

struct bk_token {
	enum {
		BK_TOKEN_END,
		BK_TOKEN_LITERAL, /* text: unescaped, at least one byte */
		BK_TOKEN_NAME,    /* text: what stands between the braces */
	} kind;
	struct bk_slice text;
};

/* The next token; literal text may come in more than one. */
int bk_template_next(struct bk_template *t, struct bk_token *token);

/*
 * Compiles spec->key, of the line given, to spec->fields, with names, literal
 * text and columns set and without rules.
 */
int bk_key_compile(struct bloomkey_spec *spec, unsigned line,
		   struct bloomkey_error *err);

/* filtername.c */

/*
 * Compiles spec->filter, of the line given, to spec->filtername.  Needs the
 * name, the buckets and the fingerprint.
 */
int bk_filter_compile(struct bloomkey_spec *spec, unsigned line,
		      struct bloomkey_error *err);

/* transformlist.c */

/* Compiles the value of `transform`; line is for errors. */
int bk_transforms_compile(struct bk_slice value, struct bk_rules *rules,
			  unsigned line, struct bloomkey_error *err);

/* The transform as it is written in a keyspec, without N. */
const char *bk_transform_name(enum bk_transform_kind kind);

/* transform.c */

/* The least room that bk_transform() needs, and the most. */
#define BK_SCRATCH_MIN BK_SHA256_HEX
#define BK_SCRATCH_MAX BLOOMKEY_MAX

/*
 * Takes a value, valid in the field's encoding, through the field's
 * transforms; *value then points to where it pointed, or into scratch, which
 * has room for the value and at least for BK_SCRATCH_MIN bytes.  BLOOMKEY_OK
 * or the reject of the transform that failed.
 */
int bk_transform(const struct bk_field *field, struct bk_slice *value,
		 char *scratch);

/* secret.c */

/* Cuts the value of `secret` into its parts; line is for errors. */
int bk_secret_compile(struct bk_slice value, struct bk_secret *secret,
		      unsigned line, struct bloomkey_error *err);

/*
 * Gets the secret that a section names, and makes the HMAC state and the
 * check value of the field from it.  Leaves nothing else of it in memory.
 */
int bk_secret_get(const struct bk_parser *p, const struct bk_section *section,
		  struct bk_field *field);

/* hmac.c */

/* Lower-case hexadecimal digits of len bytes, without a NUL. */
void bk_hex(const void *bytes, size_t len, char *out);

/* SHA-256 of len bytes. */
void bk_sha256(const void *bytes, size_t len, char out[BK_SHA256_HEX]);

/* What HMAC-SHA256 needs of a secret; NULL without memory. */
struct bk_hmac *bk_hmac_new(const void *secret, size_t len);

/* Wipes and frees it; NULL is legal. */
void bk_hmac_free(struct bk_hmac *hmac);

/* HMAC-SHA256 of len bytes, which may be where out is. */
void bk_hmac(const struct bk_hmac *hmac, const void *bytes, size_t len,
	     char out[BK_SHA256_HEX]);

/* fingerprint.c */

/*
 * Sets the fingerprint, its text and the default sentinel from everything
 * else.
 */
int bk_fingerprint(struct bloomkey_spec *spec);

#endif
