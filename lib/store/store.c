/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/store.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/show.h"
#include "lib/store/dir.h"

typedef int open_fn(const char *rest, const struct bloomkey_spec *spec,
		    const struct store_options *options, struct store **out,
		    struct error *err);

/* How a target begins, and who opens what comes behind. */
static const struct {
	const char *word;
	open_fn *open;
	int (*creatable)(const char *rest, struct error *err);
} targets[] = {
	{"dir:", dir_open, dir_creatable},
};

static int not_known(const char *target, struct error *err)
{
	struct buf shown;

	buf_init(&shown, 256);
	(void)show_copy(&shown, target, strlen(target));
	(void)error_set(err, ERROR_USAGE, "target '%.*s': not known",
			(int)shown.len, shown.data != NULL ? shown.data : "");
	buf_release(&shown);
	return error_hint(err, "use dir:PATH");
}

int store_open(const char *target, const struct bloomkey_spec *spec,
	       const struct store_options *options, struct store **out,
	       struct error *err)
{
	*out = NULL;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		size_t len = strlen(targets[i].word);

		if (strncmp(target, targets[i].word, len) == 0)
			return targets[i].open(target + len, spec, options, out,
					       err);
	}
	return not_known(target, err);
}

int store_creatable(const char *target, struct error *err)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		size_t len = strlen(targets[i].word);

		if (strncmp(target, targets[i].word, len) == 0)
			return targets[i].creatable(target + len, err);
	}
	return not_known(target, err);
}

void store_close(struct store *s)
{
	if (s != NULL)
		s->ops->close(s);
}

void store_list_free(struct manifest *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		manifest_release(&list[i]);
	free(list);
}
