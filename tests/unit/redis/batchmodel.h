/* SPDX-License-Identifier: BSD-2-Clause
 *
 * batchmodel: a batch on a connection of the test's own, which holds what is
 * sent until it is answered, and what should come of all items.
 */
#ifndef BLOOMCTL_TESTS_UNIT_REDIS_BATCHMODEL_H
#define BLOOMCTL_TESTS_UNIT_REDIS_BATCHMODEL_H

#include "lib/redis/batch.h"
#include "tests/unit/unit.h"

/* --- a connection that keeps what is sent -------------------------------- */

struct sent {
	const char *bytes;
	size_t len;
	conn_fn *fn;
	void *ctx;
	uint64_t tag;
};

struct cluster {
	struct sent ring[CONN_COMMANDS_MAX];
	size_t head, count;
	size_t window; /* how many are not answered before one waits */
	size_t commands, most, fails_at;
	size_t elsewhere; /* not to the slot of their key */
};

static const struct reply answer = {.type = REPLY_INTEGER};

/* The oldest one is looked at only now, where it still has to be whole. */
static inline int answer_one(struct cluster *c, struct error *err)
{
	struct sent s = c->ring[c->head];

	c->head = (c->head + 1) % CONN_COMMANDS_MAX;
	c->count--;
	return s.fn(s.ctx, s.tag, &answer, err);
}

int cluster_send(struct cluster *c, int slot, const void *bytes, size_t len,
		 conn_fn *fn, void *ctx, uint64_t tag, struct error *err)
{
	struct sent s = {bytes, len, fn, ctx, tag};
	const char *key = memchr(bytes, '{', len);

	/* By its hash tag, "{users:00000}". */
	c->elsewhere += slot != slots_of(key, 13);
	if (++c->commands == c->fails_at)
		return error_set(err, ERROR_TEMPORARY, "gone");
	while (c->count >= c->window)
		if (answer_one(c, err) != 0)
			return -1;
	c->ring[(c->head + c->count++) % CONN_COMMANDS_MAX] = s;
	if (c->count > c->most)
		c->most = c->count;
	return 0;
}

int cluster_wait(struct cluster *c, size_t pending, struct error *err)
{
	while (c->count > pending)
		if (answer_one(c, err) != 0)
			return -1;
	return 0;
}

int cluster_flush(struct cluster *c, struct error *err)
{
	return cluster_wait(c, 0, err);
}

size_t cluster_pending(const struct cluster *c)
{
	return c->count;
}

/* --- items, and what is to be of them ------------------------------------ */

#define BUCKETS_MAX 65536

struct model {
	struct cluster cluster;
	struct batch_options options;
	struct batch *batch;
	size_t len;         /* of most items */
	size_t long_len;    /* of every 100th */
	const char *suffix; /* of keys */
	uint32_t added[BUCKETS_MAX];
	uint32_t seen[BUCKETS_MAX];
	size_t commands, items_most;
	bool good;
};

static char item_room[1u << 20];

/* The n-th item of a bucket, the same whenever it is asked for. */
static inline const char *item(const struct model *m, uint32_t bucket,
			       uint32_t n, size_t *len)
{
	char text[32];
	size_t text_len =
		(size_t)snprintf(text, sizeof(text), "%u\r\n$%u;", bucket, n);

	*len = n % 100 == 99 ? m->long_len : m->len + n % 3;
	memset(item_room, 'x', *len);
	memcpy(item_room, text, text_len < *len ? text_len : *len);
	return item_room;
}

static inline size_t key_of(void *ctx, uint32_t bucket, char out[1024])
{
	const struct model *m = ctx;

	return (size_t)snprintf(out, 1024, "{users:%05u}:bloomctl:%s", bucket,
				m->suffix);
}

/* A word of a command; NULL where there is none. */
static inline const char *next_word(const char **at, const char *end,
				    size_t *len)
{
	const char *word;
	char *digits_end;

	if (*at >= end || **at != '$')
		return NULL;
	*len = strtoul(*at + 1, &digits_end, 10);
	word = digits_end + 2;
	if (memcmp(digits_end, "\r\n", 2) != 0 ||
	    *len + 2 > (size_t)(end - word) ||
	    memcmp(word + *len, "\r\n", 2) != 0)
		return NULL;
	*at = word + *len + 2;
	return word;
}

static inline bool is_word(const char **at, const char *end, const char *want)
{
	size_t len;
	const char *word = next_word(at, end, &len);

	return word != NULL && len == strlen(want) &&
	       memcmp(word, want, len) == 0;
}

/* Whether the command at the front of the window, which is about to be
 * answered, has just these items. */
static inline bool command_is(const struct model *m, uint32_t bucket,
			      const struct batch_items *items,
			      const struct sent *s)
{
	const char *end = s->bytes + s->len;
	char *digits_end;
	unsigned long words = strtoul(s->bytes + 1, &digits_end, 10);
	const char *at = digits_end + 2;
	char key[1024];
	size_t step = 0;

	key_of((void *)m, bucket, key);
	if (s->bytes[0] != '*' || !is_word(&at, end, "BF.INSERT") ||
	    !is_word(&at, end, key) || !is_word(&at, end, "NOCREATE") ||
	    !is_word(&at, end, "ITEMS") ||
	    words != 4 + batch_items_count(items))
		return false;
	for (size_t i = 0; i < words - 4; i++) {
		size_t len, item_len;
		const char *word = next_word(&at, end, &len);
		const void *p = batch_items_next(items, &step, &item_len);

		/* They are the very same bytes. */
		if (word == NULL || p != word || item_len != len)
			return false;
	}
	return at == end;
}

static inline int take_reply(void *ctx, uint32_t bucket,
			     const struct batch_items *items,
			     const struct reply *reply, struct error *err)
{
	struct model *m = ctx;
	size_t front =
		(m->cluster.head + CONN_COMMANDS_MAX - 1) % CONN_COMMANDS_MAX;
	size_t at = 0, len, want_len;
	const char *p;

	(void)err;
	m->commands++;
	m->good = m->good && reply == &answer &&
		  command_is(m, bucket, items, &m->cluster.ring[front]);
	if (batch_items_count(items) > m->items_most)
		m->items_most = batch_items_count(items);
	if (m->options.first != NULL) {
		p = batch_items_next(items, &at, &len);
		m->good = m->good && p != NULL && len == 5 &&
			  memcmp(p, "first", 5) == 0;
	}
	while ((p = batch_items_next(items, &at, &len)) != NULL) {
		const char *want =
			item(m, bucket, m->seen[bucket]++, &want_len);

		m->good =
			m->good && len == want_len && memcmp(p, want, len) == 0;
	}
	return 0;
}

/* Room for one at a time; NULL: none. */
static inline struct model *model_new(uint32_t buckets, size_t memory,
				      bool first)
{
	struct model *m = calloc(1, sizeof(*m));
	struct error err;

	if (m == NULL)
		return NULL;
	m->cluster.window = CONN_COMMANDS_MAX;
	m->good = true;
	m->len = 40;
	m->long_len = 40;
	m->suffix = "20261202T180000Z";
	m->options = (struct batch_options){
		.buckets = buckets,
		.memory = memory,
		.before = "BF.INSERT",
		.behind = {"NOCREATE", "ITEMS"},
		.first = first ? "first" : NULL,
		.first_len = first ? 5 : 0,
		.key = key_of,
		.reply = take_reply,
		.ctx = m,
	};
	if (batch_new(&m->cluster, &m->options, &m->batch, &err) == 0)
		return m;
	free(m);
	return NULL;
}

static inline void model_free(struct model *m)
{
	batch_free(m->batch);
	free(m);
}

static inline int add(struct model *m, uint32_t bucket, struct error *err)
{
	size_t len;
	const char *p = item(m, bucket, m->added[bucket]++, &len);
	/* Borrowed only until return. */
	char *copy = malloc(len);
	int rc;

	if (copy == NULL)
		return -1;
	memcpy(copy, p, len);
	rc = batch_add(m->batch, bucket, copy, len, err);
	memset(copy, 'y', len);
	free(copy);
	return rc;
}

static inline bool all_seen(const struct model *m)
{
	for (uint32_t i = 0; i < m->options.buckets; i++)
		if (m->seen[i] != m->added[i])
			return false;
	return m->good && m->cluster.elsewhere == 0;
}

#endif
