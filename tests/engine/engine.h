/* SPDX-License-Identifier: BSD-2-Clause
 *
 * engine: a stand-in for valkey-bloom, the Bloom module of Valkey, which no
 * package registry carries.  It is our own, made after what is known of that
 * engine, and it is not the engine: what bloomctl says of valkey-bloom's sizes
 * and bits rests on tests/golden/valkey-bloom.jsonl, to which a test holds the
 * stand-in, too.  It shares no code with lib/, so that the two can be compared.
 *
 * It loads into redis-server from 7.0 on and into valkey-server.  It can be
 * told, as arguments of the module:
 *
 *	limit=BYTES		of one object (134217728)
 *	seed=random|fixed	what a new object is hashed by (random)
 *	order=capacity|blob	what comes first of a filter in DUMP (capacity)
 *	full=short|refuse	a command for which there is no room is answered
 *				up to there, by an array whose last element is
 *				an error, or refused as a whole (short)
 *
 * The last two are because versions of the engine differ there.  Where 1.0
 * ends the server, on an image with a wrong header or ratio, the stand-in
 * refuses the image.  Of an object of several filters, the memory that is not
 * bits is a guess.  It does not defragment.
 *
 * The server calls back without a context, also from threads that free: so
 * there is one `server` and one `engine`, written when the module is loaded,
 * and counters that are atomic.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct engine {
	atomic_llong limit;
	atomic_bool fixed_seed;
	bool blob_first;
	bool refuse_whole;
	struct module_type *type;

	/* What INFO tells. */
	atomic_llong memory;
	atomic_llong objects;
	atomic_llong filters;
	atomic_llong items;
	atomic_llong capacity;
};

extern struct engine engine;

#endif
