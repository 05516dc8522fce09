/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/show.h"
#include "lib/store/server.h"

static const char *field(const struct reply *fields, const char *name)
{
	const struct reply *value = reply_member(fields, name);

	return value != NULL && value->type == REPLY_BULK ? value->u.text : "";
}

static void add_progress(struct buf *b, const struct reply *fields)
{
	char done[NUM_TEXT_MAX];
	char total[NUM_TEXT_MAX];
	uint64_t d;
	uint64_t t;

	if (num_u64(field(fields, "done"), &d) != 0 || d == 0)
		return;
	if (num_u64(field(fields, "total"), &t) == 0 && t > 0)
		(void)buf_addf(b, " %s of %s", num_grouped(d, done),
			       num_grouped(t, total));
	else
		(void)buf_addf(b, " %s", num_grouped(d, done));
}

void lease_owner(const struct reply *fields, char *out, size_t size)
{
	const char *phase = field(fields, "phase");
	struct buf b;

	buf_init(&b, 512);
	(void)show_copy(&b, field(fields, "command"),
			strlen(field(fields, "command")));
	(void)buf_adds(&b, ", pid ");
	(void)show_copy(&b, field(fields, "pid"), strlen(field(fields, "pid")));
	(void)buf_adds(&b, " on ");
	(void)show_copy(&b, field(fields, "host"),
			strlen(field(fields, "host")));
	(void)buf_adds(&b, ", since ");
	(void)show_copy(&b, field(fields, "since"),
			strlen(field(fields, "since")));
	if (phase[0] != '\0') {
		(void)buf_adds(&b, ", ");
		(void)show_copy(&b, phase, strlen(phase));
		add_progress(&b, fields);
	}
	if (buf_string(&b) != NULL)
		(void)snprintf(out, size, "%s", b.data);
	else
		(void)snprintf(out, size, "another run");
	/* It may have been cut within a character. */
	show_clean(out);
	buf_release(&b);
}
