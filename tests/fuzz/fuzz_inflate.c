/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_inflate: the first two bytes of an input choose how the rest, if it is
 * gzip or zstd by its first bytes, is cut: it is unpacked in one piece and in
 * many, into buffers of many sizes.  Both must give the same bytes and end the
 * same.  Output is looked at up to a limit: a few bytes may hold many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rows/inflate.h"

#define LIMIT (1u << 20)
#define MOST  4096u /* bytes of a buffer */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct inner {
	struct stream base;
	const uint8_t *data;
	size_t len;
	uint32_t random; /* of the pieces; 0: one piece */
	int ended;
	int closed;
};

struct seen {
	uint8_t out[LIMIT + MOST + 1];
	size_t len;
	struct error err;
};

static void require(int holds)
{
	if (!holds)
		abort();
}

/* From 1 to most, small more often than not. */
static size_t next_size(uint32_t *random, size_t most)
{
	uint32_t n;

	if (*random == 0)
		return most;
	*random = *random * 1664525u + 1013904223u;
	n = *random >> 8;
	*random |= 1;
	return 1 + (n >> 3) % ((n & 7) == 0 ? most : 8);
}

static int inner_read(struct stream *stream, void *buf, size_t cap, size_t *got,
		      struct error *err)
{
	struct inner *in = (struct inner *)stream;
	size_t n = next_size(&in->random, cap);

	(void)err;
	require(cap > 80 && !in->ended);
	if (n > in->len)
		n = in->len;
	memcpy(buf, in->data, n);
	in->data += n;
	in->len -= n;
	in->ended = n == 0;
	*got = n;
	return 0;
}

static int inner_finish(struct stream *stream, struct error *err)
{
	(void)err;
	require(((struct inner *)stream)->ended);
	return 0;
}

static void inner_close(struct stream *stream)
{
	((struct inner *)stream)->closed++;
}

static void see(struct seen *seen, enum inflate_kind kind, const uint8_t *data,
		size_t size, uint32_t random)
{
	static const struct stream_ops ops = {inner_read, inner_finish,
					      inner_close};
	struct inner in = {
		.base.ops = &ops, .data = data, .len = size, .random = random};
	struct stream *stream;
	size_t got = 1;
	int rc;

	seen->len = 0;
	memset(&seen->err, 0, sizeof(seen->err));
	require(inflate_open(&in.base, kind, &stream, &seen->err) == 0);
	do {
		size_t cap = next_size(&random, MOST);
		uint8_t *at = seen->out + seen->len;

		at[cap] = 0xa5;
		rc = stream->ops->read(stream, at, cap, &got, &seen->err);
		require(at[cap] == 0xa5 && got <= cap);
		require(rc == 0 || got == 0);
		seen->len += got;
	} while (got > 0 && seen->len < LIMIT);
	if (rc == 0 && got == 0)
		rc = stream->ops->finish(stream, &seen->err);
	require((rc != 0) == (seen->err.code != ERROR_NONE));
	stream->ops->close(stream);
	require(in.closed == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct seen whole, cut;
	enum inflate_kind kind;
	size_t same;

	if (size < 2)
		return 0;
	kind = inflate_kind(data + 2, size - 2);
	if (kind == INFLATE_NONE)
		return 0;
	see(&whole, kind, data + 2, size - 2, 0);
	see(&cut, kind, data + 2, size - 2,
	    1u + data[0] + ((uint32_t)data[1] << 8));
	same = whole.len < cut.len ? whole.len : cut.len;
	require(memcmp(whole.out, cut.out, same) == 0);
	if (whole.len >= LIMIT || cut.len >= LIMIT)
		return 0;
	if (whole.err.code != cut.err.code ||
	    strcmp(whole.err.text, cut.err.text) != 0 ||
	    strcmp(whole.err.hint, cut.err.hint) != 0 ||
	    (whole.err.code == ERROR_NONE && whole.len != cut.len)) {
		fprintf(stderr, "whole: %s\ncut: %s\n", whole.err.text,
			cut.err.text);
		abort();
	}
	return 0;
}
