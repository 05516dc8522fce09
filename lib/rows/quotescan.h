/* SPDX-License-Identifier: BSD-2-Clause
 *
 * quotescan: whether a CSV field began with a quote, which libcsv does not
 * say.  It follows the bytes one by one, as well-formed CSV has them; what is
 * not well-formed is libcsv's to refuse.
 */
#ifndef BLOOMCTL_ROWS_QUOTESCAN_H
#define BLOOMCTL_ROWS_QUOTESCAN_H

#include <stdbool.h>

enum quotescan_place {
	QUOTESCAN_START,  /* of a field; zero, so zeroing makes a scanner */
	QUOTESCAN_BARE,   /* in a field without quotes */
	QUOTESCAN_QUOTED, /* between a field's quotes */
	QUOTESCAN_QUOTE,  /* behind a quote: its last, or one half of two */
};

struct quotescan {
	enum quotescan_place place;
	bool quoted; /* the field at hand began with a quote */
};

/* Takes the next byte.  Returns whether it ends the field at hand. */
static inline bool quotescan_ends(struct quotescan *q, char byte)
{
	bool ends = byte == ',' || byte == '\n' || byte == '\r';

	switch (q->place) {
	case QUOTESCAN_START:
		q->quoted = byte == '"';
		q->place = q->quoted ? QUOTESCAN_QUOTED : QUOTESCAN_BARE;
		return ends;
	case QUOTESCAN_QUOTED:
		if (byte == '"')
			q->place = QUOTESCAN_QUOTE;
		return false;
	case QUOTESCAN_QUOTE:
		if (byte == '"')
			q->place = QUOTESCAN_QUOTED;
		return ends;
	case QUOTESCAN_BARE:
		break;
	}
	return ends;
}

/* The next byte begins a field. */
static inline void quotescan_next(struct quotescan *q)
{
	q->place = QUOTESCAN_START;
	q->quoted = false;
}

#endif
