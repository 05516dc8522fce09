/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/columns.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rows/quote.h"

/* How many of the file's names a message lists. */
#define SEEN_MAX 4

int columns_init(struct columns *c, const char *const *wanted, size_t count,
		 struct error *err)
{
	memset(c, 0, sizeof(*c));
	c->wanted = wanted;
	c->wanted_count = count;
	c->twice = SIZE_MAX;
	c->slots = calloc(count + 1, sizeof(*c->slots));
	if (c->slots == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++)
		c->slots[i] = SIZE_MAX;
	return 0;
}

void columns_release(struct columns *c)
{
	free(c->slots);
	free(c->used);
	c->slots = NULL;
	c->used = NULL;
}

static void remember(struct columns *c, const void *name, size_t len)
{
	char shown[QUOTE_SIZE(QUOTE_NAME_MAX)];
	size_t used = strlen(c->seen);

	if (c->count >= SEEN_MAX)
		return;
	quote_bytes(shown, name, len, QUOTE_NAME_MAX);
	(void)snprintf(c->seen + used, sizeof(c->seen) - used, "%s'%s'",
		       c->count > 0 ? ", " : "", shown);
}

int columns_add(struct columns *c, const void *name, size_t len,
		struct error *err)
{
	if (c->count >= COLUMNS_MAX)
		return error_set(err, ERROR_DATA, "more than %u columns",
				 COLUMNS_MAX);
	for (size_t i = 0; i < c->wanted_count; i++) {
		if (strlen(c->wanted[i]) != len ||
		    memcmp(c->wanted[i], name, len) != 0)
			continue;
		if (c->slots[i] == SIZE_MAX)
			c->slots[i] = c->count;
		else if (c->twice == SIZE_MAX)
			c->twice = i;
	}
	remember(c, name, len);
	c->count++;
	return 0;
}

static int missing(const struct columns *c, const char *shown,
		   struct error *err)
{
	/* A header that is missing is a row of values: none is shown. */
	if (!c->told) {
		(void)error_set(err, ERROR_ROWS,
				"no column '%s' among the %zu of the header",
				shown, c->count);
		return error_hint(err, "name the columns by --columns if there "
				       "is no header");
	}
	if (c->count > SEEN_MAX)
		return error_set(err, ERROR_ROWS,
				 "no column '%s': there are %s and %zu more",
				 shown, c->seen, c->count - SEEN_MAX);
	return error_set(err, ERROR_ROWS, "no column '%s': there %s %s", shown,
			 c->count == 1 ? "is only" : "are", c->seen);
}

int columns_done(struct columns *c, struct error *err)
{
	char shown[QUOTE_SIZE(QUOTE_NAME_MAX)];

	if (c->twice != SIZE_MAX) {
		const char *name = c->wanted[c->twice];

		quote_bytes(shown, name, strlen(name), QUOTE_NAME_MAX);
		return error_set(err, ERROR_ROWS,
				 "column '%s' is there twice: which one is "
				 "meant cannot be told",
				 shown);
	}
	c->used = calloc(c->count + 1, 1);
	if (c->used == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < c->wanted_count; i++) {
		if (c->slots[i] == SIZE_MAX) {
			const char *name = c->wanted[i];

			quote_bytes(shown, name, strlen(name), QUOTE_NAME_MAX);
			return missing(c, shown, err);
		}
		c->used[c->slots[i]] = 1;
	}
	return 0;
}
