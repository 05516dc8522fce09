/* SPDX-License-Identifier: BSD-2-Clause
 *
 * layout: how large a Bloom filter is, which bits a member sets, and how the
 * filter looks on the wire.  What a server accepts is in engine.h.
 *
 * Whatever a layout computes is, bit for bit, what a server would hold after
 * BF.RESERVE ... NONSCALING and BF.MADD.  Functions keep no state, allocate
 * nothing and may be called from any thread.
 */
#ifndef BLOOMCTL_FILTER_LAYOUT_H
#define BLOOMCTL_FILTER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most hash functions, so the most positions of one member. */
#define LAYOUT_HASHES_MAX 64
/*
 * The range of error rates: below it more than LAYOUT_HASHES_MAX hashes would
 * be needed, above it a filter rather says yes than no to any question.
 */
#define LAYOUT_ERROR_MIN 1e-15
#define LAYOUT_ERROR_MAX 0.5
/* Positions, and so the bits of a filter, stay below this, 2^63. */
#define LAYOUT_BITS_END 9223372036854775808.0
/* Room for any layout's header and footer, in bytes. */
#define LAYOUT_HEADER_MAX 128
#define LAYOUT_FOOTER_MAX 16
/* Bytes of a seed. */
#define LAYOUT_SEED_LEN 32

/* What a filter of one capacity and error rate is. */
struct filter_params {
	uint64_t capacity; /* members, at least 1 */
	double error;      /* designed rate of false positives at capacity */
	double bpe;        /* bits per member */
	uint64_t bits;     /* the modulus; 8 * bytes */
	uint64_t bytes;    /* of bits */
	uint32_t hashes;   /* 1 to LAYOUT_HASHES_MAX */
	uint32_t shift;    /* with magic, the reciprocal of bits: size() and */
	uint64_t magic;    /* filter_reciprocal() set it; 0 if there is none */
	/* Of the hashes, where the layout is seeded; all zero where not. */
	unsigned char seed[LAYOUT_SEED_LEN];
};

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 filter_wide;
#endif

/*
 * Sets the reciprocal of params->bits, by which filter_modulo() needs no
 * division.  For params that do not come from size().  Leaves magic 0 where
 * there is no reciprocal: bits is no multiple of 8, or is 0.
 */
void filter_reciprocal(struct filter_params *params);

/*
 * x % params->bits, for every x.  With x = 8 n + r and bits = 8 d it is
 * x - bits * (n / d), and n has only 61 bits, so that magic =
 * floor(2^(61 + shift) / d) + 1 with 2^shift >= d fits 64 bits and gives n / d
 * exactly: magic * d exceeds 2^(61 + shift) by at most d <= 2^shift, which
 * times n is below 2^(61 + shift).  The words multiplied here are 8 n, not n,
 * hence the 64 instead of 61.
 */
static inline uint64_t filter_modulo(const struct filter_params *params,
				     uint64_t x)
{
#ifdef __SIZEOF_INT128__
	if (params->magic != 0) {
		filter_wide product = x & ~UINT64_C(7);

		product *= params->magic;
		return x - params->bits *
				   ((uint64_t)(product >> 64) >> params->shift);
	}
#endif
	return x % params->bits;
}

struct layout_ops {
	uint32_t id; /* in a bucket file, see bloomctl-protocol(7) */

	/*
	 * Whether its hashes depend on a seed, which is then chosen at random
	 * for each generation and never all zero: with a seed that is known,
	 * strangers could choose keys that a filter finds.
	 */
	bool seeded;

	/*
	 * Sizes a filter, its seed all zero, of at least 1 member at an error
	 * rate of LAYOUT_ERROR_MIN to LAYOUT_ERROR_MAX.  -1 if its bits have no
	 * number below LAYOUT_BITS_END.
	 */
	int (*size)(uint64_t capacity, double error, struct filter_params *out);

	/* What the server says the filter takes (BF.INFO Size), in bytes. */
	uint64_t (*memory)(const struct filter_params *params);

	/* The params->hashes bit positions of a member, each < bits. */
	void (*positions)(const struct filter_params *params, const void *key,
			  size_t len, uint64_t *out);

	/*
	 * What the server dumps of a filter that holds items members is
	 * header, bits and footer.  Both return their length, which may be 0;
	 * out holds LAYOUT_HEADER_MAX and LAYOUT_FOOTER_MAX bytes.  The footer
	 * reads all params->bytes of the bits.
	 */
	size_t (*header)(const struct filter_params *params, uint64_t items,
			 unsigned char *out);
	size_t (*footer)(const struct filter_params *params, uint64_t items,
			 const void *bits, unsigned char *out);
};

extern const struct layout_ops layout_redisbloom;
extern const struct layout_ops layout_valkeybloom;

/* The layout of an id; NULL if there is none. */
const struct layout_ops *layout_by_id(uint32_t id);

/* Whether a seed is none: all zero. */
bool layout_seed_none(const unsigned char seed[LAYOUT_SEED_LEN]);

/* Bit b is bit b & 7 of byte b >> 3, in every layout. */
static inline int layout_bit(const unsigned char *bits, uint64_t position)
{
	return (bits[position >> 3] >> (position & 7)) & 1;
}

/*
 * The rate of false positives that a filter of these params has when items
 * members set their bits at random: (1 - e^(-k n / m))^k.
 */
double layout_error_at(const struct filter_params *params, double items);

/* The same from the number of bits that are set: (set / m)^k. */
double layout_error_of_set(const struct filter_params *params, uint64_t set);

#endif
