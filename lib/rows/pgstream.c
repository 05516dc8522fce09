/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/pg/copy.h"
#include "lib/rows/postgres.h"

struct pgstream {
	struct stream base;
	struct pgsessions *sessions;
	struct session *session; /* lent */
	struct copy *copy;
	bool failed;
	char *header; /* owned; what of it is still to be read */
	size_t at;
	size_t left;
};

static int stream_read(struct stream *stream, void *buf, size_t cap,
		       size_t *got, struct error *err)
{
	struct pgstream *s = (struct pgstream *)stream;

	if (s->left > 0) {
		*got = s->left < cap ? s->left : cap;
		memcpy(buf, s->header + s->at, *got);
		s->at += *got;
		s->left -= *got;
		return 0;
	}
	if (copy_read(s->copy, buf, cap, got, err) == 0)
		return 0;
	s->failed = true;
	return -1;
}

static int stream_finish(struct stream *stream, struct error *err)
{
	struct pgstream *s = (struct pgstream *)stream;

	if (copy_finish(s->copy, &stream->rows, err) != 0) {
		s->failed = true;
		return -1;
	}
	stream->counted = true;
	stream->witness = "the server";
	return 0;
}

static void stream_close(struct stream *stream)
{
	struct pgstream *s = (struct pgstream *)stream;
	bool good = s->copy != NULL && copy_close(s->copy);

	if (s->session != NULL)
		pgsessions_give(s->sessions, s->session, good && !s->failed);
	free(s->header);
	free(s);
}

int pgstream_open(struct pgsessions *sessions, const char *statement,
		  const char *header, struct stream **out, struct error *err)
{
	static const struct stream_ops ops = {stream_read, stream_finish,
					      stream_close};
	struct pgstream *s = calloc(1, sizeof(*s));
	int rc = 0;

	*out = NULL;
	if (s == NULL)
		return error_nomem(err);
	s->base.ops = &ops;
	s->sessions = sessions;
	if (header != NULL) {
		s->header = strdup(header);
		s->left = strlen(header);
		rc = s->header == NULL ? error_nomem(err) : 0;
	}
	if (rc == 0)
		rc = pgsessions_take(sessions, &s->session, err);
	if (rc == 0)
		rc = copy_open(s->session, statement, &s->copy, err);
	if (rc != 0) {
		stream_close(&s->base);
		return -1;
	}
	*out = &s->base;
	return 0;
}
