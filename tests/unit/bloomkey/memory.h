/* SPDX-License-Identifier: BSD-2-Clause
 *
 * memory: what is in blocks just before they are freed, for tests that nothing
 * of a secret is.  The linker sends allocations here: tests/unit/alloc.h says
 * how.  For one thread, and for one source file of a program.
 */
#ifndef BLOOMCTL_TESTS_UNIT_BLOOMKEY_MEMORY_H
#define BLOOMCTL_TESTS_UNIT_BLOOMKEY_MEMORY_H

#include "tests/unit/unit.h"

void *__real_malloc(size_t size) __attribute__((weak));
void __real_free(void *block) __attribute__((weak));
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *block);

struct block {
	unsigned char *data;
	size_t size;
};

static struct {
	bool on;
	unsigned long made, fails_at; /* fails_at 0: none */
	struct block blocks[64];
	size_t nblocks;
	/* What may not be in a block that is freed; where it has been seen. */
	struct value {
		const void *data;
		size_t len;
	} bad[8];
	size_t nbad;
	unsigned leaks; /* blocks that were freed with it */
	/* The block that holds this byte, and whether it was freed as zeros. */
	const void *watched;
	unsigned freed, zeroed;
} memory;

static inline bool holds(const struct block *b, struct value v)
{
	for (size_t i = 0; i + v.len <= b->size; i++)
		if (memcmp(b->data + i, v.data, v.len) == 0)
			return true;
	return false;
}

static inline bool is_zero(const struct block *b)
{
	for (size_t i = 0; i < b->size; i++)
		if (b->data[i] != 0)
			return false;
	return true;
}

static inline void inspect(const struct block *b)
{
	const uintptr_t from = (uintptr_t)b->data;
	const uintptr_t at = (uintptr_t)memory.watched;

	for (size_t i = 0; i < memory.nbad; i++)
		memory.leaks += holds(b, memory.bad[i]);
	if (at >= from && at < from + b->size) {
		memory.freed++;
		memory.zeroed += is_zero(b);
	}
}

void *__wrap_malloc(size_t size)
{
	void *data;

	if (memory.on && ++memory.made == memory.fails_at)
		return NULL;
	data = __real_malloc(size);
	if (memory.on && data != NULL) {
		if (memory.nblocks == 64)
			abort();
		memory.blocks[memory.nblocks++] = (struct block){data, size};
	}
	return data;
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *data = __wrap_malloc(count * size);

	if (data != NULL)
		memset(data, 0, count * size);
	return data;
}

void __wrap_free(void *block)
{
	for (size_t i = 0; i < memory.nblocks; i++)
		if (memory.blocks[i].data == block) {
			inspect(&memory.blocks[i]);
			memory.blocks[i] = memory.blocks[--memory.nblocks];
			break;
		}
	__real_free(block);
}

/* Of a block that was made while it was off nobody knows the size. */
void *__wrap_realloc(void *old, size_t size)
{
	size_t len = 0;
	void *data = __wrap_malloc(size);

	if (data == NULL)
		return NULL;
	for (size_t i = 0; i < memory.nblocks; i++)
		if (memory.blocks[i].data == old)
			len = memory.blocks[i].size;
	if (old != NULL && len == 0)
		abort();
	if (old != NULL)
		memcpy(data, old, len < size ? len : size);
	__wrap_free(old);
	return data;
}

/* From now on blocks are known; the n-th allocation fails (0: none). */
static inline void watch(unsigned long fails_at)
{
	memset(&memory, 0, sizeof(memory));
	memory.fails_at = fails_at;
	memory.on = true;
}

static inline void forbid(const void *data, size_t len)
{
	memory.bad[memory.nbad++] = (struct value){data, len};
}

static inline unsigned blocks_with(struct value v)
{
	unsigned n = 0;

	for (size_t i = 0; i < memory.nblocks; i++)
		n += holds(&memory.blocks[i], v);
	return n;
}

#define MEMORY_NEEDED()                                 \
	do {                                            \
		if (__real_free == NULL)                \
			SKIP("not linked with --wrap"); \
	} while (0)

#endif
