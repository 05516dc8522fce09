/* SPDX-License-Identifier: BSD-2-Clause
 *
 * image: objects as bytes, in the server's saves and for BF.LOAD.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include "tests/engine/object.h"

struct module_io;
struct module_string;

/* What the server calls. */
void *image_load(struct module_io *, int version);
void image_save(struct module_io *, void *object);
void image_rewrite(struct module_io *, struct module_string *key, void *object);

/* *object is what the payload of a BF.LOAD holds.  Returns NULL, or what is to
 * be answered. */
const char *image_decode(struct object **object, const char *payload,
			 size_t size);

#endif
