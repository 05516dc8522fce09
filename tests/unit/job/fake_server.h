/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fake_server: what the fake store says of where it is; a part of fake.h.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_FAKE_SERVER_H
#define BLOOMCTL_TESTS_UNIT_JOB_FAKE_SERVER_H

static inline int fake_facts(struct store *s, struct store_facts *out,
			     struct error *err)
{
	struct fake *f = (struct fake *)s;

	if (fake_call(f, FAKE_FACTS, err) != 0)
		return -1;
	out->place = "fake:place";
	out->server = f->server;
	return 0;
}

static inline int fake_engine(struct store *s, const struct engine **out,
			      struct error *err)
{
	struct fake *f = (struct fake *)s;

	if (fake_call(f, FAKE_ENGINE, err) != 0)
		return -1;
	*out = f->engine;
	return 0;
}

static inline int fake_nodes(struct store *s, struct store_node **out,
			     size_t *count, struct error *err)
{
	struct fake *f = (struct fake *)s;

	*out = NULL;
	*count = 0;
	if (fake_call(f, FAKE_NODES, err) != 0)
		return -1;
	if (f->node == NULL)
		return 0;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		abort();
	**out = *f->node;
	*count = 1;
	return 0;
}

static inline int fake_held(struct store *s, struct error *err)
{
	return fake_call((struct fake *)s, FAKE_HELD, err);
}

/* Notes each word once until another one comes. */
static inline void fake_phase(struct store *s, const char *phase, uint64_t done,
			      uint64_t total)
{
	struct fake *f = (struct fake *)s;
	size_t used = strlen(f->phases);
	size_t len = strlen(phase);

	f->faults += !f->locked || (total > 0 && done > total);
	if (used > len && f->phases[used - 1] == ' ' &&
	    strncmp(f->phases + used - 1 - len, phase, len) == 0)
		return;
	(void)snprintf(f->phases + used, sizeof(f->phases) - used, "%s ",
		       phase);
}

#endif
