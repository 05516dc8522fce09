/* SPDX-License-Identifier: BSD-2-Clause
 *
 * libbloomkey: one function from a row to a Bloom key, its bucket and the
 * name of its filter, shared by whoever rebuilds the filters and whoever
 * writes to them.
 *
 * SPEC.md says what is derived; bloomkey(3) has examples.  A keyspec
 * (keyspec(5)) is parsed once; the result never changes and may be
 * used by any number of threads.  Deriving a key allocates nothing.
 *
 * Every pointer that a function returns belongs to the keyspec and lives as
 * long as it.  Every pointer that is passed in is borrowed until the function
 * returns.  Results are 0 or a count, or a negative code of enum
 * bloomkey_code; nothing is printed, and no global state is kept.
 */
#ifndef BLOOMKEY_H
#define BLOOMKEY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is declared here is exported, and nothing else is. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* The longest value, and the longest key, in bytes. */
#define BLOOMKEY_MAX 65535
/* The longest filter name, in bytes, without a NUL. */
#define BLOOMKEY_FILTER_MAX 512
/* Hexadecimal digits of a fingerprint, and of a secret's check value. */
#define BLOOMKEY_FINGERPRINT_LEN 64
#define BLOOMKEY_CHECK_LEN       16
/* The longest content of a secret's variable or file, in bytes. */
#define BLOOMKEY_SECRET_MAX 65536

struct bloomkey_spec;

enum bloomkey_code {
	BLOOMKEY_OK = 0,
	BLOOMKEY_EINVAL = -1,  /* the keyspec is wrong; the error says where */
	BLOOMKEY_ENOMEM = -2,  /* out of memory */
	BLOOMKEY_ERANGE = -3,  /* an index or a buffer is out of range */
	BLOOMKEY_ESECRET = -4, /* a secret is not there, or not as it must be */
	BLOOMKEY_EIO = -5,     /* the keyspec file cannot be read */
	/* why a row has no key; reject.def has the words for them */
	BLOOMKEY_REJECT_NULL = -10,      /* a value is SQL's NULL */
	BLOOMKEY_REJECT_TOO_LONG = -11,  /* value or key over BLOOMKEY_MAX */
	BLOOMKEY_REJECT_ENCODING = -12,  /* a value is not UTF-8 */
	BLOOMKEY_REJECT_EMPTY = -13,     /* a value or the key is empty */
	BLOOMKEY_REJECT_DELIMITER = -14, /* a value holds the delimiter */
	BLOOMKEY_REJECT_UUID = -15,      /* a value is no UUID */
	BLOOMKEY_REJECT_INT = -16,       /* a value is no integer */
	BLOOMKEY_REJECT_DIGITS = -17,    /* a value is no number of digits */
};

struct bloomkey_error {
	unsigned line;  /* of the keyspec, from 1; 0: of no single line */
	char text[256]; /* without the line; names are escaped, never raw;
			   nothing of a secret is ever in it */
};

/* Where the content of a secret is. */
enum bloomkey_place {
	BLOOMKEY_PLACE_ENV = 1,  /* the environment variable of that name */
	BLOOMKEY_PLACE_FILE = 2, /* the file of that path, as it is written */
};

/*
 * Gets the content of a secret: as much of it as fits into the cap bytes of
 * out.  place is one of enum bloomkey_place.  Returns the number of bytes
 * written to out; or -1, with errno saying why not (ENOENT: it is not there;
 * ENOTSUP: variables are not looked up, or it is not a regular file).
 * ctx is the caller's.  The library wipes out when it has what it needs.
 */
typedef int bloomkey_secret(void *ctx, int place, const char *name, void *out,
			    size_t cap);

struct bloomkey_result {
	size_t len;      /* of the key, in bytes; 0 when rejected; with
			    BLOOMKEY_ERANGE the room that it needs */
	uint64_t hash;   /* XXH64 of the key */
	uint32_t bucket; /* hash mod buckets */
	size_t field;    /* when rejected: index of the field at fault, or the
			    number of fields if it is the key as a whole */
};

/* Finds an environment variable, or NULL, as libc's own function does. */
typedef char *bloomkey_lookup(const char *name);

/*
 * Reads and parses the keyspec file of that path, and the secrets that it
 * names: variables by lookup, for which most programs give libc's, and
 * files, relative ones to the folder of path.  The library itself looks at no
 * environment: where lookup is NULL, a keyspec that names a variable is
 * BLOOMKEY_ESECRET.
 *
 * 0, with *out owned by the caller (bloomkey_free()); BLOOMKEY_EIO,
 * BLOOMKEY_EINVAL, BLOOMKEY_ESECRET or BLOOMKEY_ENOMEM, with *out NULL and
 * *err filled in.  err may be NULL.
 */
int bloomkey_load(const char *path, bloomkey_lookup *lookup,
		  struct bloomkey_spec **out, struct bloomkey_error *err);

/*
 * The same with the text of a keyspec file (at most 65,536 bytes; no NUL is
 * needed behind it).  secret is called with ctx for each keyed field, once,
 * and by no other function; where it is NULL, a keyspec with a keyed field is
 * BLOOMKEY_ESECRET.
 */
int bloomkey_parse(const void *text, size_t len, bloomkey_secret *secret,
		   void *ctx, struct bloomkey_spec **out,
		   struct bloomkey_error *err);

/* Frees a keyspec, and wipes what it has of secrets; NULL is legal. */
void bloomkey_free(struct bloomkey_spec *spec);

/* The name of the set, 1 to 64 characters of A-Za-z0-9_.- */
const char *bloomkey_name(const struct bloomkey_spec *spec);

/* The number of buckets, 1 to 65,536. */
uint32_t bloomkey_buckets(const struct bloomkey_spec *spec);

/* The seed of the hash. */
uint64_t bloomkey_seed(const struct bloomkey_spec *spec);

/* SHA-256 of the keyspec's meaning, as 64 lower-case hexadecimal digits. */
const char *bloomkey_fingerprint(const struct bloomkey_spec *spec);

/* The lines that the fingerprint is the SHA-256 of, ended by NUL. */
const char *bloomkey_fingerprint_text(const struct bloomkey_spec *spec);

/* The number of fields that the template names, at least 1. */
size_t bloomkey_fields(const struct bloomkey_spec *spec);

/* The name of field i in template order, or NULL if there is none. */
const char *bloomkey_field_name(const struct bloomkey_spec *spec, size_t i);

/* The source's column for field i, UTF-8 and ended by NUL, or NULL. */
const char *bloomkey_field_column(const struct bloomkey_spec *spec, size_t i);

/*
 * The check value of field i's secret, BLOOMKEY_CHECK_LEN hexadecimal digits;
 * NULL if the field is not keyed or there is none.
 */
const char *bloomkey_field_check(const struct bloomkey_spec *spec, size_t i);

/*
 * The member that is planted in every filter, in *data (not ended by NUL;
 * may hold any byte).  Its length, or 0 with *data NULL where the keyspec
 * says `sentinel = none`.
 */
size_t bloomkey_sentinel(const struct bloomkey_spec *spec, const void **data);

/*
 * Writes the name of a bucket's filter and a NUL to out, which holds cap
 * bytes.  The length without the NUL (1 to BLOOMKEY_FILTER_MAX), or
 * BLOOMKEY_ERANGE if there is no such bucket or out is too small.
 */
int bloomkey_filter(const struct bloomkey_spec *spec, uint32_t bucket,
		    char *out, size_t cap);

/*
 * Derives the key of one row.
 *
 * values and lens hold bloomkey_fields() elements in template order; a value
 * that is NULL is SQL's NULL (the empty value is a pointer to anything, with
 * length 0).  The key is written to out, which holds cap bytes and overlaps
 * no value; cap of BLOOMKEY_MAX always suffices.  For values of more than 256
 * bytes that are transformed it takes 64 KiB of stack.
 *
 * 0 with *result filled in; BLOOMKEY_REJECT_... with result->field, the same
 * whatever cap is; or BLOOMKEY_ERANGE with result->len if out is too small for
 * a legal key.  What out holds is meaningful only after 0.  Allocates nothing.
 */
int bloomkey_derive(const struct bloomkey_spec *spec, const void *const *values,
		    const size_t *lens, void *out, size_t cap,
		    struct bloomkey_result *result);

/* The bucket of a key: XXH64(key, seed) mod buckets; *hash may be NULL. */
uint32_t bloomkey_bucket(const struct bloomkey_spec *spec, const void *key,
			 size_t len, uint64_t *hash);

/* "null" for BLOOMKEY_REJECT_NULL and so on; NULL if code is no reject. */
const char *bloomkey_reason(int code);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
