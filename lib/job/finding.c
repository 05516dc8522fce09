/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *finding_level_name(enum finding_level level)
{
	static const char *const names[] = {"ok", "warning", "error"};

	return names[level];
}

static struct finding *add(struct findings *f)
{
	struct finding *list =
		realloc(f->list, (f->count + 1) * sizeof(*f->list));

	if (list == NULL) {
		f->failed = true;
		return NULL;
	}
	f->list = list;
	memset(&list[f->count], 0, sizeof(*list));
	return &list[f->count++];
}

static void set_text(char *out, size_t size, const char *text)
{
	(void)snprintf(out, size, "%s", text != NULL ? text : "");
}

void findings_add(struct findings *f, enum finding_level level,
		  const char *what, const char *remedy, const char *fmt, ...)
{
	struct finding *one = add(f);
	va_list args;

	if (one == NULL)
		return;
	one->level = level;
	one->code = level == FINDING_ERROR ? ERROR_DATA : ERROR_NONE;
	set_text(one->what, sizeof(one->what), what);
	set_text(one->remedy, sizeof(one->remedy), remedy);
	va_start(args, fmt);
	(void)vsnprintf(one->evidence, sizeof(one->evidence), fmt, args);
	va_end(args);
}

void findings_add_error(struct findings *f, const char *what,
			const struct error *why)
{
	struct finding *one = add(f);

	if (one == NULL)
		return;
	one->level = FINDING_ERROR;
	one->code = why->code;
	set_text(one->what, sizeof(one->what), what);
	set_text(one->evidence, sizeof(one->evidence), why->text);
	set_text(one->remedy, sizeof(one->remedy), why->hint);
}

int findings_end(const struct findings *f, struct error *err)
{
	return f->failed ? error_nomem(err) : 0;
}

const struct finding *findings_worst(const struct findings *f)
{
	const struct finding *worst = NULL;

	for (size_t i = 0; i < f->count; i++)
		if (worst == NULL || f->list[i].level > worst->level)
			worst = &f->list[i];
	return worst;
}

void findings_release(struct findings *f)
{
	free(f->list);
	memset(f, 0, sizeof(*f));
}

static void of_generation(struct findings *f, const struct manifest *m,
			  const char *locked_by)
{
	char what[NAMES_ID_MAX + 32];

	(void)snprintf(what, sizeof(what), "generation '%s'", m->generation);
	switch (m->state) {
	case MANIFEST_LIVE:
		if (m->recorded != MANIFEST_LIVE)
			findings_add(f, FINDING_WARNING, what,
				     "run the same swap again",
				     "its swap is not finished");
		break;
	case MANIFEST_OLD:
		if (m->recorded == MANIFEST_LIVE)
			findings_add(f, FINDING_WARNING, what,
				     "run the same swap again",
				     "the swap away from it is not finished");
		break;
	case MANIFEST_BUILDING:
		if (locked_by[0] == '\0')
			findings_add(f, FINDING_WARNING, what,
				     "the next build removes it, or swap "
				     "--prune",
				     "its build died and has left it behind");
		break;
	case MANIFEST_ABORTED:
		findings_add(f, FINDING_WARNING, what,
			     "the next build removes it, or swap --prune",
			     "its build failed and has left it behind");
		break;
	case MANIFEST_BROKEN:
		/* One that readers get is an error of its own. */
		if (!m->linked)
			findings_add(f, FINDING_WARNING, what,
				     m->unread ? "see why it cannot be read"
					       : "swap --prune removes it",
				     "its record is lost: %s", m->broken);
		break;
	case MANIFEST_COMPLETE:
		break;
	}
}

void findings_of_generations(struct findings *f, const struct generations *g,
			     const char *locked_by)
{
	for (size_t i = 0; i < g->count; i++)
		of_generation(f, &g->list[i], locked_by);
}

void findings_add_unseen(struct findings *f, const struct error *why)
{
	findings_add(f, FINDING_WARNING, "servers", why->hint,
		     "nothing can be said of memory and eviction: %s",
		     why->text);
}

void findings_of_nodes(struct findings *f, const struct store_node *nodes,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct store_node *n = &nodes[i];
		char what[sizeof(n->name) + 16];

		(void)snprintf(what, sizeof(what), "server '%s'", n->name);
		if (n->evicts)
			findings_add(f, FINDING_WARNING, what,
				     "set maxmemory-policy to noeviction or a "
				     "volatile one: filters have no TTL",
				     "it may evict filters when memory is "
				     "short (maxmemory-policy %s), and a "
				     "missing filter says no to everything",
				     n->policy);
		if (n->replica)
			findings_add(f, FINDING_WARNING, what,
				     "name the primary as target",
				     "it is a replica, which takes no writes");
	}
}
