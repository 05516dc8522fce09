/* SPDX-License-Identifier: BSD-2-Clause
 *
 * keys: what the keys of a set are called on a server.
 *
 *	F                      the filter that readers get
 *	B:bloomctl             its state
 *	B:bloomctl:ID          F's filter in generation ID, while it is not F
 *	B:bloomctl:ID:state    its state
 *	bloomctl:{S}:NAME      of the set: generations, manifest:ID, lock,
 *	                       fence, moving, probe:ID,
 *	                       sync-lock, sync-fence, fed,
 *	                       exposure
 *
 * B is {F}, or F itself where F has a hash tag, so that all keys of a bucket
 * lie in one slot of a cluster.  S is the set, NAME-FP8.  Keyspecs whose
 * filters would be called so are no keyspecs.
 */
#ifndef BLOOMCTL_STORE_KEYS_H
#define BLOOMCTL_STORE_KEYS_H

#include <stdint.h>

#include "lib/bloomkey/bloomkey.h"
#include "lib/store/names.h"

/* Room for any of them and a NUL. */
#define KEYS_MAX 640

/* The keys of one bucket in one generation. */
struct keys {
	char filter[KEYS_MAX];
	char state[KEYS_MAX];
	char shadow[KEYS_MAX];
	char shadow_state[KEYS_MAX];
	int slot; /* of a cluster, in which they all lie */
};

/* id may be NULL: then there is no shadow. */
void keys_of(const struct bloomkey_spec *spec, uint32_t bucket, const char *id,
	     struct keys *out);

/* "bloomctl:{S}:NAME", or with an id "bloomctl:{S}:NAME:ID". */
void keys_of_set(const char *set, const char *name, const char *id,
		 char out[KEYS_MAX]);

/* The slot of a cluster in which a key lies: CRC16 of its hash tag. */
int keys_slot(const char *key);

#endif
