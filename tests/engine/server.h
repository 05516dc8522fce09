/* SPDX-License-Identifier: BSD-2-Clause
 *
 * server: what the stand-in uses of the module interface of Redis and Valkey,
 * which hand a module one function that finds the others by their names.
 */
#ifndef SERVER_H
#define SERVER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_ctx;
struct module_string;
struct module_key;
struct module_io;
struct module_digest;
struct module_info;
struct module_type;
struct module_command;

enum {
	MODULE_OK = 0,
	MODULE_ERROR = 1,
	MODULE_API = 1,
	MODULE_READ = 1 << 0,
	MODULE_WRITE = 1 << 1,
	MODULE_KEY_EMPTY = 0,
	/* Of SetModuleOptions(): errors of loading are ours to handle. */
	MODULE_HANDLES_IO_ERRORS = 1 << 0,
	/* Of GetContextFlags(). */
	MODULE_FROM_PRIMARY = 1 << 12,
	MODULE_LOADING = 1 << 13,
	MODULE_RESP3 = 1 << 22,
};

typedef int module_command_fn(struct module_ctx *, struct module_string **,
			      int);
typedef void module_info_fn(struct module_info *, int for_crash_report);

/* The third version of it, which all servers since 6.2 take. */
struct module_methods {
	uint64_t version;
	void *(*rdb_load)(struct module_io *, int version);
	void (*rdb_save)(struct module_io *, void *value);
	void (*aof_rewrite)(struct module_io *, struct module_string *key,
			    void *value);
	size_t (*mem_usage)(const void *value);
	void (*digest)(struct module_digest *, void *value);
	void (*free)(void *value);
	void *aux_load;
	void *aux_save;
	int aux_save_triggers;
	size_t (*free_effort)(struct module_string *key, const void *value);
	void *unlink;
	void *(*copy)(struct module_string *from, struct module_string *to,
		      const void *value);
	void *defrag;
};

typedef long long module_get_number(const char *name, void *data);
typedef int module_set_number(const char *name, long long, void *data,
			      struct module_string **error);
typedef int module_get_bool(const char *name, void *data);
typedef int module_set_bool(const char *name, int, void *data,
			    struct module_string **error);

/* clang-format off */
/* Every server that the stand-in loads into has these: result, name,
 * parameters. */
#define MODULE_FUNCTIONS(X)                                                    \
X(void *, Alloc, (size_t))                                                     \
X(void *, Calloc, (size_t, size_t))                                            \
X(void *, Realloc, (void *, size_t))                                           \
X(void, Free, (void *))                                                        \
X(void, SetModuleAttribs, (struct module_ctx *, const char *, int, int))       \
X(void, SetModuleOptions, (struct module_ctx *, int))                          \
X(void, Log, (struct module_ctx *, const char *, const char *, ...))           \
X(int, GetContextFlags, (struct module_ctx *))                                 \
X(void, GetRandomBytes, (unsigned char *, size_t))                             \
X(int, CreateCommand, (struct module_ctx *, const char *, module_command_fn *, \
		       const char *, int, int, int))                           \
X(struct module_type *, CreateDataType,                                        \
  (struct module_ctx *, const char *, int, const struct module_methods *))     \
X(int, RegisterInfoFunc, (struct module_ctx *, module_info_fn *))              \
X(int, InfoAddSection, (struct module_info *, const char *))                   \
X(int, InfoAddFieldLongLong, (struct module_info *, const char *, long long))  \
X(int, RegisterNumericConfig,                                                  \
  (struct module_ctx *, const char *, long long, unsigned, long long,          \
   long long, module_get_number *, module_set_number *, void *, void *))       \
X(int, RegisterBoolConfig,                                                     \
  (struct module_ctx *, const char *, int, unsigned, module_get_bool *,        \
   module_set_bool *, void *, void *))                                         \
X(int, LoadConfigs, (struct module_ctx *))                                     \
X(const char *, StringPtrLen, (const struct module_string *, size_t *))        \
X(struct module_key *, OpenKey,                                                \
  (struct module_ctx *, struct module_string *, int))                          \
X(void, CloseKey, (struct module_key *))                                       \
X(int, KeyType, (struct module_key *))                                         \
X(struct module_type *, ModuleTypeGetType, (struct module_key *))              \
X(void *, ModuleTypeGetValue, (struct module_key *))                           \
X(int, ModuleTypeSetValue, (struct module_key *, struct module_type *, void *))\
X(int, WrongArity, (struct module_ctx *))                                      \
X(int, ReplyWithError, (struct module_ctx *, const char *))                    \
X(int, ReplyWithSimpleString, (struct module_ctx *, const char *))             \
X(int, ReplyWithLongLong, (struct module_ctx *, long long))                    \
X(int, ReplyWithDouble, (struct module_ctx *, double))                         \
X(int, ReplyWithNull, (struct module_ctx *))                                   \
X(int, ReplyWithArray, (struct module_ctx *, long))                            \
X(int, ReplyWithStringBuffer, (struct module_ctx *, const char *, size_t))     \
X(int, Replicate, (struct module_ctx *, const char *, const char *, ...))      \
X(int, ReplicateVerbatim, (struct module_ctx *))                               \
X(void, SaveUnsigned, (struct module_io *, uint64_t))                          \
X(uint64_t, LoadUnsigned, (struct module_io *))                                \
X(void, SaveDouble, (struct module_io *, double))                              \
X(double, LoadDouble, (struct module_io *))                                    \
X(void, SaveStringBuffer, (struct module_io *, const char *, size_t))          \
X(char *, LoadStringBuffer, (struct module_io *, size_t *))                    \
X(int, IsIOError, (struct module_io *))                                        \
X(void, EmitAOF, (struct module_io *, const char *, const char *, ...))        \
X(void, DigestAddStringBuffer,                                                 \
  (struct module_digest *, const char *, size_t))                              \
X(void, DigestAddLongLong, (struct module_digest *, long long))                \
X(void, DigestEndSequence, (struct module_digest *))

/* Those that are NULL in older servers: Redis has them since 7.2 and 7.4. */
#define MODULE_NEWER_FUNCTIONS(X)                                              \
X(int, AddACLCategory, (struct module_ctx *, const char *))                    \
X(struct module_command *, GetCommand, (struct module_ctx *, const char *))    \
X(int, SetCommandACLCategories, (struct module_command *, const char *))
/* clang-format on */

struct server {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration has its own. */
#define MEMBER(result, name, parameters) result(*name) parameters;
	MODULE_FUNCTIONS(MEMBER)
	MODULE_NEWER_FUNCTIONS(MEMBER)
#undef MEMBER
};

extern struct server server;

/* Fills `server`.  false: it lacks a function that is needed. */
bool server_find(struct module_ctx *);

#endif
