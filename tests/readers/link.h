/* SPDX-License-Identifier: BSD-2-Clause
 *
 * link: a reader's connection to a server, and what it has heard there.
 */
#ifndef TESTS_READERS_LINK_H
#define TESTS_READERS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Closed while FD is -1; BYTES are what was received and not yet taken. */
struct link {
	int fd;
	size_t at;
	size_t len;
	char bytes[1 << 16];
};

/* What is asked: encoded commands, one behind the other, and their ends. */
struct questions {
	char *bytes;
	size_t *ends;
	uint16_t *slots;
	size_t count;
};

struct tally {
	uint64_t reads;
	uint64_t errors;
	uint64_t missing;
	uint64_t sentinel;
	uint64_t redirected;
};

/* Opens SOCKET or HOST:PORT; no wait takes longer.  False, see errno. */
bool link_open(struct link *link, const char *place, long seconds);
void link_close(struct link *link);
/* False: the connection broke. */
bool link_send(struct link *link, const char *bytes, size_t len);
/*
 * The next answer, which stays until the next call, and its length; NULL: the
 * connection broke, see errno, or 0 of it where the other side ended it.
 */
const char *link_next(struct link *link, size_t *len);

/* Counts the answer to a question. */
void judge(struct tally *t, const char *answer, size_t len);

/* The slot of a cluster in which a key is. */
uint16_t slot_of(const char *key);

/*
 * Reads until STOP, or ONCE, from the cluster that the node at PLACE belongs
 * to; READY is called after the first answers.  False: it is lost.
 */
bool follow(const char *place, const struct questions *q, struct tally *t,
	    bool once, bool (*stop)(void), void (*ready)(void));

/* Ends the program with status 2. */
_Noreturn void die(const char *what, const char *why);

#endif
