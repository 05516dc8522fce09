/* SPDX-License-Identifier: BSD-2-Clause
 *
 * replytree: replies as text, for the tests of the reader: "*2(:1 $ab ) ".
 */
#ifndef BLOOMCTL_TESTS_UNIT_REDIS_REPLYTREE_H
#define BLOOMCTL_TESTS_UNIT_REDIS_REPLYTREE_H

#include "lib/base/buf.h"
#include "lib/redis/reply.h"
#include "tests/unit/unit.h"

#define MAX (1u << 20)

#define BYTES(text) text, sizeof(text) - 1

static inline void render(const struct reply *reply, struct buf *out)
{
	static const char marks[] = "+-$:_*";

	CHECK(buf_addf(out, "%c", marks[reply->type]) == 0);
	switch (reply->type) {
	case REPLY_STATUS:
	case REPLY_ERROR:
	case REPLY_BULK:
		CHECK(reply->u.text[reply->len] == '\0');
		CHECK(buf_add(out, reply->u.text, reply->len) == 0);
		break;
	case REPLY_INTEGER:
		CHECK(buf_addf(out, "%" PRId64, reply->u.integer) == 0);
		break;
	case REPLY_NIL:
		break;
	case REPLY_ARRAY:
		CHECK(buf_addf(out, "%zu(", reply->len) == 0);
		for (size_t i = 0; i < reply->len; i++)
			render(&reply->u.items[i], out);
		CHECK(buf_adds(out, ")") == 0);
		break;
	}
	CHECK(buf_adds(out, " ") == 0);
}

/*
 * Feeds the bytes in pieces, the first one of `first` bytes and the others of
 * `each`, and appends what comes.  0, or -1 at an error.
 */
static inline int feed(struct reader *r, const char *text, size_t len,
		       size_t first, size_t each, struct buf *out,
		       struct error *err)
{
	const struct reply *reply;
	size_t size = first;
	int rc;

	for (size_t at = 0; at < len; at += size) {
		char *piece;

		if (at > 0)
			size = each;
		if (size > len - at)
			size = len - at;
		/* Its own memory, as it is borrowed only until return. */
		piece = malloc(size > 0 ? size : 1);
		if (piece == NULL)
			return -1;
		memcpy(piece, text + at, size);
		rc = reader_feed(r, piece, size, err);
		free(piece);
		if (rc != 0)
			return -1;
		while ((rc = reader_next(r, &reply, err)) == 1)
			render(reply, out);
		if (rc < 0)
			return -1;
	}
	return 0;
}

struct parsed {
	int rc;
	bool empty;
	struct error err;
	struct buf out;
};

static inline void parse(struct parsed *p, size_t max, const char *text,
			 size_t len, size_t first, size_t each)
{
	static const struct error none = ERROR_INIT;
	struct reader *r = reader_new(max);

	p->err = none;
	buf_init(&p->out, 1u << 20);
	REQUIRE(r != NULL);
	p->rc = feed(r, text, len, first, each, &p->out, &p->err);
	p->empty = reader_empty(r);
	CHECK(buf_string(&p->out) != NULL);
	reader_free(r);
}

#endif
