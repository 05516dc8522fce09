/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/generation.h"

#include <string.h>

#include "lib/base/log.h"

int generations_read(struct store *store, struct generations *g,
		     struct error *err)
{
	g->list = NULL;
	g->count = 0;
	return store->ops->list(store, &g->list, &g->count, err);
}

void generations_release(struct generations *g)
{
	store_list_free(g->list, g->count);
	g->list = NULL;
	g->count = 0;
}

struct manifest *generations_newest(const struct generations *g,
				    enum manifest_state state)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->list[i].state == state)
			return &g->list[i];
	return NULL;
}

struct manifest *generations_live(const struct generations *g)
{
	return generations_newest(g, MANIFEST_LIVE);
}

struct manifest *generations_linked(const struct generations *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->list[i].linked)
			return &g->list[i];
	return NULL;
}

struct manifest *generations_find(const struct generations *g, const char *id)
{
	for (size_t i = 0; i < g->count; i++)
		if (strcmp(g->list[i].generation, id) == 0)
			return &g->list[i];
	return NULL;
}

struct manifest *generations_choose(const struct generations *g, const char *id,
				    const char *set, const char *place,
				    struct error *err)
{
	struct manifest *m =
		id != NULL ? generations_find(g, id) : generations_live(g);

	if (g->count == 0) {
		(void)error_set(err, ERROR_SOURCE, "set '%s': not in %s", set,
				place);
		(void)error_hint(err, "build it first: bloomctl build");
		return NULL;
	}
	/* What readers get may be too broken to be live. */
	if (m == NULL && id == NULL)
		m = generations_linked(g);
	if (m == NULL && id != NULL) {
		(void)error_set(err, ERROR_GENERATION,
				"set '%s': no generation '%s' in %s", set, id,
				place);
		(void)error_hint(err, "bloomctl inspect lists them");
		return NULL;
	}
	if (m == NULL) {
		(void)error_set(err, ERROR_GENERATION,
				"set '%s': no live generation in %s", set,
				place);
		(void)error_hint(err, "promote one: bloomctl swap");
		return NULL;
	}
	if (m->state == MANIFEST_BROKEN) {
		(void)error_set(err, ERROR_DATA, "generation '%s': %s",
				m->generation, m->broken);
		(void)error_hint(err, "build and swap a new generation");
		return NULL;
	}
	if (m->state == MANIFEST_BUILDING || m->state == MANIFEST_ABORTED) {
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': %s, not complete",
				m->generation, manifest_state_name(m->state));
		return NULL;
	}
	return m;
}

int generation_pick(struct store *store, const struct bloomkey_spec *spec,
		    const char *id, struct manifest *out, struct error *err)
{
	char set[NAMES_SET_MAX];
	struct store_facts facts;
	struct generations g;
	const struct manifest *m;
	int rc;

	memset(out, 0, sizeof(*out));
	names_set(spec, set);
	if (store->ops->facts(store, &facts, err) != 0 ||
	    generations_read(store, &g, err) != 0)
		return -1;
	m = generations_choose(&g, id, set, facts.place, err);
	rc = m != NULL ? generation_check(m, spec, err) : -1;
	if (rc == 0)
		rc = manifest_copy(out, m, err);
	generations_release(&g);
	return rc;
}

int generations_unlocked(struct store *store, const char *set,
			 struct error *err)
{
	char who[256];

	if (store->ops->locked_by(store, false, who, sizeof(who), err) != 0)
		return -1;
	if (who[0] == '\0')
		return 0;
	return error_set(err, ERROR_LOCKED, "set '%s': locked by %s", set, who);
}

int generations_next_id(const struct generations *g, struct manifest *m,
			struct error *err)
{
	const char *newest = g->count > 0 ? g->list[0].generation : "";

	names_id_after(m->started, newest, m->generation);
	if (names_id_valid(m->generation))
		return 0;
	m->generation[0] = '\0';
	(void)error_set(err, ERROR_GENERATION,
			"set '%s': no id follows that of generation '%s'",
			m->set, newest);
	return error_hint(err, "its clock was wrong: remove that generation");
}

int generations_drop_dead(struct store *store, const struct generations *g,
			  unsigned *removed, struct error *err)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct manifest *m = &g->list[i];

		if (m->state != MANIFEST_ABORTED &&
		    m->state != MANIFEST_BUILDING)
			continue;
		if (store->ops->drop(store, m->generation, err) != 0)
			return -1;
		(*removed)++;
		log_note("removed abandoned generation '%s'", m->generation);
	}
	return 0;
}

int generation_check(const struct manifest *m, const struct bloomkey_spec *spec,
		     struct error *err)
{
	if (strcmp(m->fingerprint, bloomkey_fingerprint(spec)) != 0 ||
	    m->buckets != bloomkey_buckets(spec))
		return error_set(err, ERROR_DATA,
				 "generation '%s': its manifest is of another "
				 "keyspec",
				 m->generation);
	return 0;
}
