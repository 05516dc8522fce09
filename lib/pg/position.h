/* SPDX-License-Identifier: BSD-2-Clause
 *
 * position: where a writer stands, so that what was read of it or of one of its
 * standbys can be told from what came later.
 *
 *	writer   snapshot's xmin │ insert position ──┐
 *	standby                                      └─► replayed │ snapshot
 *
 * What a snapshot behind that position does not show was not finished when the
 * xmin was taken, so that its id is not below it.  An asynchronous commit can
 * be seen before it is written: that is why the insert position counts.
 */
#ifndef BLOOMCTL_PG_POSITION_H
#define BLOOMCTL_PG_POSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/pg/session.h"

/*
 * Fills *out with the session's facts, and of them xmin, xmax, lsn and taken
 * as they are now: taken before xmin, and lsn behind it.  The session is one of
 * session_open_current(), its server a primary; it is closed soon, upon which
 * what is not written of the log will be.  0 or -1.
 */
int position_read(struct session *session, struct session_facts *out,
		  struct error *err);

/*
 * Waits until all that the session's primary has logged by now is written: a
 * crash would have it give out again the ids of what is not.  Where it does not
 * tell, there is nothing to wait for.  0, or -1: ERROR_TEMPORARY after wait_ms.
 */
int position_settle(struct session *session, int64_t wait_ms,
		    struct error *err);

/* ERROR_SOURCE where the writer's server is in recovery; else 0. */
int position_check_writer(const struct session_facts *writer,
			  struct error *err);

/* ERROR_SOURCE where the two are known to be of two clusters; else 0. */
int position_check_cluster(const struct session_facts *writer,
			   const struct session_facts *source,
			   struct error *err);

#endif
