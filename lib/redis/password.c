/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The password of a target: see target.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/base/buf.h"
#include "lib/base/file.h"
#include "lib/base/proc.h"
#include "lib/base/show.h"
#include "lib/redis/target.h"

/* What a file or a command may give. */
#define PASSWORD_MAX (64u << 10)

void redis_password_free(char *password)
{
	if (password == NULL)
		return;
	explicit_bzero(password, strlen(password));
	free(password);
}

static int copy(const char *text, size_t len, char **out, struct error *err)
{
	*out = strndup(text, len);
	return *out != NULL ? 0 : error_nomem(err);
}

/* Without one last line's end. */
static int take(const struct buf *b, char **out, struct error *err)
{
	size_t len = b->len;

	if (len > 0 && b->data[len - 1] == '\n')
		len--;
	if (len < b->len && len > 0 && b->data[len - 1] == '\r')
		len--;
	if (len == 0)
		return error_set(err, ERROR_CONFIG, "it gives no password");
	if (memchr(b->data, '\0', len) != NULL)
		return error_set(err, ERROR_CONFIG,
				 "a password cannot hold a NUL");
	return copy(b->data, len, out, err);
}

/* All at once, so that no part of a secret is left where a buffer grew. */
static int make_room(struct buf *b, struct error *err)
{
	buf_init(b, PASSWORD_MAX);
	return buf_reserve(b, PASSWORD_MAX) == 0 ? 0 : error_nomem(err);
}

static void wipe(struct buf *b)
{
	if (b->data != NULL)
		explicit_bzero(b->data, b->cap);
	buf_release(b);
}

static int from_file(const char *path, char **out, struct error *err)
{
	struct buf b;
	int rc = make_room(&b, err);

	if (rc == 0 && file_read(path, &b, ERROR_CONFIG, err) != 0) {
		/* The file is named already. */
		if (err->code == ERROR_DATA)
			err->code = ERROR_CONFIG;
		rc = error_prefix(err, "password");
	} else if (rc == 0 && take(&b, out, err) != 0) {
		rc = err->code == ERROR_CONFIG
			     ? error_prefix(err, "password: file '%s'", path)
			     : -1;
	}
	wipe(&b);
	return rc;
}

/* Reads all that a command prints, and judges how it ended. */
static int read_command(struct proc *p, struct buf *b, struct error *err)
{
	size_t got = 1;
	char more;
	int status;

	while (got > 0) {
		size_t room = b->max - b->len;

		if (proc_read(p, room > 0 ? b->data + b->len : &more,
			      room > 0 ? room : 1, &got, err) != 0)
			return -1;
		if (room == 0 && got > 0)
			return error_set(err, ERROR_CONFIG,
					 "it prints more than %u bytes",
					 PASSWORD_MAX);
		b->len += got;
	}
	if (proc_wait(p, &status, err) != 0)
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		return error_set(err, ERROR_CONFIG, "it was ended by signal %d",
				 WTERMSIG(status));
	return error_set(err, ERROR_CONFIG, "it failed with status %d",
			 WEXITSTATUS(status));
}

static int from_command(const char *command, char *const environment[],
			char **out, struct error *err)
{
	static char *const none[] = {NULL};
	char label[SHOW_COMMAND_MAX];
	struct proc p;
	struct buf b;
	int rc = make_room(&b, err);

	if (rc != 0)
		return rc;
	rc = proc_start(&p, command, environment != NULL ? environment : none,
			err);
	if (rc == 0) {
		rc = read_command(&p, &b, err);
		proc_end(&p);
		if (rc == 0)
			rc = take(&b, out, err);
	}
	wipe(&b);
	if (rc == 0)
		return 0;
	/* How a source's fails; stops and a lack of memory are not its own. */
	if (err->code == ERROR_DATA || err->code == ERROR_SOURCE)
		err->code = ERROR_CONFIG;
	return err->code == ERROR_CONFIG
		       ? error_prefix(err, "password: command '%s'",
				      show_command(command, label))
		       : -1;
}

int redis_password(const struct redis_target *t, char **out, struct error *err)
{
	const struct redis_options *o = t->options;

	*out = NULL;
	if (t->password != NULL)
		return copy(t->password, strlen(t->password), out, err);
	if (o->password_file != NULL)
		return from_file(o->password_file, out, err);
	if (o->password_command != NULL)
		return from_command(o->password_command, o->environment, out,
				    err);
	if (o->password != NULL && *o->password != '\0')
		return copy(o->password, strlen(o->password), out, err);
	return 0;
}
