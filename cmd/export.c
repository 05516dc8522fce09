/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl export: source → rows on standard output, with a trailer.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/output.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/job/export.h"

static int write_output(void *ctx, const void *data, size_t len,
			struct error *err)
{
	(void)ctx;
	return output_write(data, len, err);
}

static int run(const struct inputs *in, struct trailer *done, struct error *err)
{
	struct export e = {.source = in->source,
			   .format = &in->format,
			   .progress = in->scan.progress,
			   .write = write_output};
	int rc = export_run(&e, done, err);

	/* Where the output failed the source is not to blame. */
	if ((rc == 0 || output_failed()) && output_flush(err) != 0)
		return -1;
	return rc;
}

static int check(const struct opts *opts, struct error *err)
{
	const char *target;

	if (opts_no_args(opts, err) != 0 ||
	    opts_require(opts, OPT_TARGET, err) != 0)
		return -1;
	target = opts_text(opts, OPT_TARGET);
	if (strcmp(target, "-") == 0)
		return 0;
	/* One in the environment may hold a server's password. */
	(void)error_set(err, ERROR_USAGE,
			"target '%.*s': no such kind of target of an export",
			(int)(strchr(target, '@') != NULL
				      ? strcspn(target, ":")
				      : strnlen(target, 200)),
			target);
	return error_hint(err, "there is: -, standard output");
}

int cmd_export(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct receipt receipt;
	struct trailer done;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&done, 0, sizeof(done));
	memset(&receipt, 0, sizeof(receipt));
	receipt.command = "export";
	receipt.started = clock_wall_ms();
	rc = check(opts, err);
	if (rc == 0)
		rc = inputs_format(&in, opts, ROWFORMAT_CSV, err);
	if (rc == 0)
		rc = inputs_source(&in, opts, err);
	if (rc == 0)
		rc = run(&in, &done, err);
	progress_end(&in.line);
	if (rc == 0)
		log_step("%" PRIu64 " rows, %" PRIu64 " bytes", done.rows,
			 done.bytes);
	receipt.source = in.source_name;
	receipt.rows = done.rows;
	rc = output_receipt(opts, &receipt, rc, err);
	inputs_release(&in);
	return rc;
}
