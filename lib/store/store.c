/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/show.h"
#include "lib/store/dir.h"
#include "lib/store/server.h"

/* How a folder's target begins. */
#define DIR_WORD "dir:"

static const char *folder_of(const char *target)
{
	size_t len = strlen(DIR_WORD);

	return strncmp(target, DIR_WORD, len) == 0 ? target + len : NULL;
}

static int not_known(const char *target, struct error *err)
{
	struct buf shown;

	buf_init(&shown, 256);
	/* A server's whose kind is not known may hold a password. */
	(void)show_copy(&shown, target,
			strchr(target, '@') != NULL ? strcspn(target, ":")
						    : strlen(target));
	(void)error_set(err, ERROR_USAGE, "target '%.*s': not known",
			(int)shown.len, shown.data != NULL ? shown.data : "");
	buf_release(&shown);
	return error_hint(err, "use dir:PATH, redis://HOST, rediss://HOST or "
			       "unix:PATH");
}

int store_open(const char *target, const struct bloomkey_spec *spec,
	       const struct store_options *options, struct store **out,
	       struct error *err)
{
	const char *folder = folder_of(target);

	*out = NULL;
	if (folder != NULL)
		return dir_open(folder, spec, options, out, err);
	if (redis_target_is(target))
		return server_open(target, spec, options, out, err);
	return not_known(target, err);
}

int store_creatable(const char *target, struct error *err)
{
	const char *folder = folder_of(target);

	/* Of a server it is known that it is not there. */
	return folder != NULL ? dir_creatable(folder, err) : -1;
}

int store_params(const struct manifest *m, const struct engine **engine,
		 struct filter_params *out, struct error *err)
{
	*engine = engine_by_name(m->engine);
	if (*engine == NULL)
		return error_set(err, ERROR_DATA,
				 "generation '%s': engine '%s' is not known",
				 m->generation, m->engine);
	if (engine_size(*engine, m->capacity, m->error, out, err) != 0) {
		err->code = ERROR_DATA;
		return error_prefix(err, "generation '%s'", m->generation);
	}
	if (out->bytes != m->bytes)
		return error_set(err, ERROR_DATA,
				 "generation '%s': filters of %" PRIu64
				 " bytes, where its capacity and error rate "
				 "make %" PRIu64,
				 m->generation, m->bytes, out->bytes);
	memcpy(out->seed, m->seed, sizeof(out->seed));
	return 0;
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
