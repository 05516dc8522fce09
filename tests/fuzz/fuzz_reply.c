/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_reply: any bytes as a server's answers, at once and in any pieces: the
 * same trees must come of them, or the same error.
 *
 * Input: flags, count of the pieces' sizes less one, these sizes less one, and
 * the bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/redis/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_LARGE (1u << 20)
#define MAX_SMALL 200

struct run {
	int rc;
	struct error err;
	struct buf trees;
};

static void require(int holds)
{
	if (!holds)
		abort();
}

static void render(const struct reply *reply, struct buf *out)
{
	require(buf_addf(out, "%d %zu ", (int)reply->type, reply->len) == 0);
	switch (reply->type) {
	case REPLY_STATUS:
	case REPLY_ERROR:
	case REPLY_BULK:
		require(reply->u.text[reply->len] == '\0');
		require(buf_add(out, reply->u.text, reply->len) == 0);
		break;
	case REPLY_INTEGER:
		require(buf_addf(out, "%lld", (long long)reply->u.integer) ==
			0);
		break;
	case REPLY_NIL:
		break;
	case REPLY_ARRAY:
		for (size_t i = 0; i < reply->len; i++)
			render(&reply->u.items[i], out);
		break;
	}
	require(buf_add(out, "\n", 1) == 0);
}

/* The questions do no harm, whatever it is. */
static void ask(const struct reply *reply)
{
	struct error err = ERROR_INIT;
	int64_t n;

	(void)reply_is(reply, "OK");
	(void)reply_integer(reply, &n);
	(void)reply_member(reply, "a");
	require(reply_refused(reply, &err, "x") == -1);
	require(err.code != ERROR_NONE && strncmp(err.text, "x: ", 3) == 0);
}

/* Feeds it in pieces, whose sizes come in turn. */
static void parse(struct run *run, size_t max, const uint8_t *data, size_t len,
		  const uint8_t *sizes, size_t count)
{
	static const struct error none = ERROR_INIT;
	struct reader *r = reader_new(max);
	const struct reply *reply;
	size_t turn = 0;

	require(r != NULL);
	run->rc = 0;
	run->err = none;
	buf_init(&run->trees, SIZE_MAX);
	for (size_t at = 0; at < len && run->rc == 0;) {
		size_t n = count > 0 ? 1 + (size_t)sizes[turn++ % count] : len;
		uint8_t *piece;

		if (n > len - at)
			n = len - at;
		piece = malloc(n);
		require(piece != NULL);
		memcpy(piece, data + at, n);
		run->rc = reader_feed(r, piece, n, &run->err);
		free(piece);
		at += n;
		if (run->rc != 0)
			break;
		while ((run->rc = reader_next(r, &reply, &run->err)) == 1) {
			render(reply, &run->trees);
			ask(reply);
		}
	}
	if (run->rc != 0) {
		require(run->err.code == ERROR_DATA);
		require(reader_next(r, &reply, &run->err) == -1);
	}
	reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run whole, cut;
	size_t count, head;

	if (size < 2)
		return 0;
	count = 1 + (size_t)data[1] % 8;
	head = 2 + count;
	if (size < head || size - head > MAX_LARGE)
		return 0;
	parse(&cut, (data[0] & 1) != 0 ? MAX_SMALL : MAX_LARGE, data + head,
	      size - head, data + 2, count);
	if ((data[0] & 1) == 0) {
		parse(&whole, MAX_LARGE, data + head, size - head, NULL, 0);
		require(whole.rc == cut.rc && whole.err.code == cut.err.code);
		require(strcmp(whole.err.text, cut.err.text) == 0);
		require(whole.trees.len == cut.trees.len);
		require(whole.trees.len == 0 ||
			memcmp(whole.trees.data, cut.trees.data,
			       cut.trees.len) == 0);
		buf_release(&whole.trees);
	}
	buf_release(&cut.trees);
	return 0;
}
