/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/exportsink.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/sum.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/rows/trailer.h"

/* Lines of keys are gathered up to this many bytes. */
#define KEYS_SIZE (64u << 10)
/* The longest escape of a byte. */
#define ESCAPE_LEN 4u
/* The longest line: every byte escaped, and a newline. */
#define KEY_LINE_MAX (ESCAPE_LEN * BLOOMKEY_MAX + 1)

static int take_packed(void *ctx, const void *data, size_t len,
		       struct error *err)
{
	struct exportsink *s = ctx;
	char name[512];

	if (s->pipe != NULL)
		return s->pipe->write(s->pipe->ctx, data, len, err);
	sum_stream_add(s->sum, data, len);
	s->part.bytes += len;
	exportfile_part(s->file, s->number, name, sizeof(name));
	return file_write_all(s->fd, data, len, name, err);
}

/* Bytes of rows or keys, not yet packed. */
static int add(struct exportsink *s, const void *data, size_t len,
	       struct error *err)
{
	if (s->pipe != NULL)
		sum_stream_add(s->sum, data, len);
	s->unpacked_part += len;
	return pack_add(s->pack, data, len, err);
}

static int flush_keys(struct exportsink *s, struct error *err)
{
	int rc = add(s, s->keys.data, s->keys.len, err);

	s->keys.len = 0;
	return rc;
}

/*
 * One line of COPY text; the escapes are those that PostgreSQL writes, and one
 * for NUL, which it has not.  Room was made before.
 */
static void add_line(struct buf *out, const unsigned char *key, size_t len)
{
	static const char escapes[256] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n',  ['\r'] = 'r',
		['\t'] = 't', ['\v'] = 'v', ['\\'] = '\\',
	};
	static const char nul[ESCAPE_LEN] = {'\\', 'x', '0', '0'};
	char *to = out->data + out->len;

	for (size_t i = 0; i < len; i++) {
		char escape = escapes[key[i]];

		if (key[i] == '\0') {
			memcpy(to, nul, ESCAPE_LEN);
			to += ESCAPE_LEN;
			continue;
		}
		if (escape != 0)
			*to++ = '\\';
		*to++ = escape != 0 ? escape : (char)key[i];
	}
	*to++ = '\n';
	out->len = (size_t)(to - out->data);
}

static int on_key(struct sink *sink, uint32_t bucket, const void *key,
		  size_t len, struct error *err)
{
	struct exportsink *s = (struct exportsink *)sink;

	(void)bucket;
	s->part.rows++;
	if (s->keys.max - s->keys.len < ESCAPE_LEN * len + 1 &&
	    flush_keys(s, err) != 0)
		return -1;
	add_line(&s->keys, key, len);
	return 0;
}

static int on_bytes(struct sink *sink, const void *data, size_t len,
		    struct error *err)
{
	return add((struct exportsink *)sink, data, len, err);
}

/* What every beginning of a part does. */
static int start(struct exportsink *s, struct error *err)
{
	memset(&s->part, 0, sizeof(s->part));
	s->unpacked_part = 0;
	s->keys.len = 0;
	sum_stream_free(s->sum);
	s->sum = sum_stream_new();
	if (s->sum == NULL)
		return error_nomem(err);
	pack_begin(s->pack);
	return s->header.len > 0 ? add(s, s->header.data, s->header.len, err)
				 : 0;
}

static int on_begin(struct sink *sink, const struct source_part *part,
		    struct error *err)
{
	struct exportsink *s = (struct exportsink *)sink;

	s->header.len = 0;
	if (part->header_len > 0 && s->keys.max == 0 &&
	    buf_add(&s->header, part->header, part->header_len) != 0)
		return error_nomem(err);
	if (s->file != NULL) {
		s->fd = exportfile_begin(s->file, part->number, err);
		if (s->fd < 0)
			return -1;
	}
	s->number = part->number;
	return start(s, err);
}

static int on_again(struct sink *sink, struct error *err)
{
	struct exportsink *s = (struct exportsink *)sink;

	if (s->file == NULL)
		return error_set(err, ERROR_INTERNAL,
				 "what a pipe was given cannot be taken back");
	if (exportfile_again(s->file, s->number, s->fd, err) != 0)
		return -1;
	return start(s, err);
}

static int on_done(struct sink *sink, uint64_t rows, struct error *err)
{
	struct exportsink *s = (struct exportsink *)sink;
	size_t number = s->number;

	if (s->keys.max > 0) {
		if (flush_keys(s, err) != 0)
			return -1;
	} else {
		s->part.rows = rows;
	}
	s->unpacked += s->unpacked_part;
	if (s->file == NULL)
		return 0;
	if (pack_end(s->pack, err) != 0)
		return -1;
	s->part.xxh64 = sum_stream_value(s->sum);
	s->number = 0;
	return exportfile_done(s->file, number, s->fd, &s->part, err);
}

int exportsink_trailer(struct exportsink *s, struct error *err)
{
	struct trailer trailer = {.rows = s->part.rows,
				  .bytes = s->unpacked,
				  .xxh64 = sum_stream_value(s->sum)};
	char text[TRAILER_MAX + 1];
	size_t len = trailer_format(&trailer, text);

	if (pack_add(s->pack, text, len, err) != 0)
		return -1;
	return pack_end(s->pack, err);
}

int exportsink_init(struct exportsink *s, struct exportfile *file,
		    const struct exportpipe *pipe, enum pack_kind packed,
		    bool keys, struct error *err)
{
	static const struct sink_ops rows_ops = {.begin = on_begin,
						 .bytes = on_bytes,
						 .again = on_again,
						 .done = on_done};
	static const struct sink_ops keys_ops = {.key = on_key,
						 .begin = on_begin,
						 .again = on_again,
						 .done = on_done};

	memset(s, 0, sizeof(*s));
	s->base.ops = keys ? &keys_ops : &rows_ops;
	s->file = file;
	s->pipe = pipe;
	buf_init(&s->keys, keys ? KEYS_SIZE + KEY_LINE_MAX : 0);
	buf_init(&s->header, ROWPARSE_ROW_MAX);
	if (keys && buf_reserve(&s->keys, s->keys.max) != 0)
		return error_nomem(err);
	return pack_new(packed, take_packed, s, &s->pack, err);
}

void exportsink_release(struct exportsink *s)
{
	if (s->number > 0 && s->file != NULL)
		exportfile_drop(s->file, s->number, s->fd);
	pack_free(s->pack);
	sum_stream_free(s->sum);
	buf_release(&s->keys);
	buf_release(&s->header);
	memset(s, 0, sizeof(*s));
}
