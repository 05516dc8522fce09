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
	const struct relation *relation; /* borrowed; NULL: any */
	const struct relation_leaf *leaf;
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

/* Rows that lie elsewhere by now may have been read twice, or never. */
static int check_place(struct pgstream *s, struct error *err)
{
	bool same;

	if (s->relation == NULL)
		return 0;
	if (relation_check(s->session, s->relation, s->leaf, &same, err) != 0)
		return -1;
	if (same)
		return 0;
	pgsessions_set_changed(s->sessions);
	(void)error_set(err, ERROR_TEMPORARY,
			"the table was rewritten or replaced meanwhile, so "
			"that rows lie on other pages");
	return error_hint(err, "run it again");
}

static int stream_finish(struct stream *stream, struct error *err)
{
	struct pgstream *s = (struct pgstream *)stream;

	if (copy_finish(s->copy, &stream->rows, err) != 0 ||
	    check_place(s, err) != 0) {
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

/*
 * What cuts off one session often cuts off all, and those that were idle say so
 * only now: another one is taken, up to a new one.
 */
static int begin(struct pgstream *s, const struct pgstream_of *of,
		 struct error *err)
{
	bool idle;

	for (;;) {
		if (pgsessions_take(s->sessions, &s->session, &idle, err) != 0)
			return -1;
		if (copy_open(s->session, of->statement, &s->copy, err) == 0)
			return 0;
		/* In one piece it would be read under a later snapshot. */
		if (!idle || of->relation == NULL ||
		    err->code != ERROR_TEMPORARY)
			return -1;
		pgsessions_give(s->sessions, s->session, false);
		s->session = NULL;
		err->code = ERROR_NONE;
	}
}

int pgstream_open(struct pgsessions *sessions, const struct pgstream_of *of,
		  struct stream **out, struct error *err)
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
	s->relation = of->relation;
	s->leaf = of->leaf;
	if (of->header != NULL) {
		s->header = strdup(of->header);
		s->left = strlen(of->header);
		rc = s->header == NULL ? error_nomem(err) : 0;
	}
	if (rc == 0)
		rc = begin(s, of, err);
	if (rc != 0) {
		stream_close(&s->base);
		return -1;
	}
	*out = &s->base;
	return 0;
}
