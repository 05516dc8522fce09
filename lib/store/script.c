/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/script.h"

#include <stdio.h>
#include <string.h>

#include "lib/store/keys.h"

/* Only who holds the lock may go on. */
#define HOLDER                                                \
	"if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] " \
	"then return {'lost'} end\n"

/*
 * Takes a lock, when it has its keys and its fence is worked out.  Where
 * maxmemory is reached, too, for nothing can be removed without the lock: only
 * a script's first write is refused, and this one takes no memory.  So is who
 * may not release it: he shall not take it.
 */
#define TAKE                                                              \
	"local function take(fence)\n"                                    \
	"  redis.call('DEL', KEYS[1])\n"                                  \
	"  redis.call('SET', KEYS[2], fence)\n"                           \
	"  redis.call('HSET', KEYS[1], 'token', ARGV[1], 'fence', fence," \
	" 'command', ARGV[3], 'host', ARGV[4], 'pid', ARGV[5],"           \
	" 'since', ARGV[6], 'phase', ARGV[7], 'done', ARGV[8],"           \
	" 'total', ARGV[9])\n"                                            \
	"  redis.call('PEXPIRE', KEYS[1], ARGV[2])\n"                     \
	"end\n"

/* clang-format off */
static const char *const texts[SCRIPT_COUNT] = {
	/* a name that nothing has.  The type of a filter; none is left */
	[SCRIPT_PROBE] =
		"redis.call('TYPE', KEYS[1])\n"
		"redis.call('DEL', KEYS[1])\n"
		"redis.call('BF.RESERVE', KEYS[1], '0.01', '1')\n"
		"local kind = redis.call('TYPE', KEYS[1]).ok\n"
		"redis.call('DEL', KEYS[1])\n"
		"return {kind}\n",
	/*
	 * lock, fence : token, lease in ms, command, host, pid, since, phase,
	 * done, total, least fence
	 *
	 * 'ok' and the fence; 'held' and the fields of who holds it.
	 */
	[SCRIPT_LOCK] = TAKE
		"local held = redis.call('HGET', KEYS[1], 'token')\n"
		"if held == ARGV[1] then\n"
		"  return {'ok', redis.call('HGET', KEYS[1], 'fence')} end\n"
		"if held then\n"
		"  return {'held', redis.call('HGETALL', KEYS[1])} end\n"
		"local t = redis.call('TIME')\n"
		"local fence = math.max(\n"
		"  t[1] * 1000 + math.floor(t[2] / 1000),\n"
		"  (tonumber(redis.call('GET', KEYS[2]) or 0) or 0) + 1,\n"
		"  tonumber(ARGV[10]))\n"
		"fence = string.format('%.0f', fence)\n"
		"take(fence)\n"
		"return {'ok', fence}\n",
	/*
	 * lock, fence : as SCRIPT_LOCK, and last the fence that it has
	 *
	 * 'ok'; 'again': its key was gone, and nobody had it meanwhile;
	 * 'taken' and the fields of who has it; 'passed': somebody has had it;
	 * 'gone': all is lost, or as it was before we had it, and perhaps
	 * somebody has had it meanwhile.
	 */
	[SCRIPT_BEAT] =
		TAKE "local held = redis.call('HGET', KEYS[1], 'token')\n"
		"if held and held ~= ARGV[1] then\n"
		"  return {'taken', redis.call('HGETALL', KEYS[1])} end\n"
		"local last = redis.call('GET', KEYS[2])\n"
		"if not held and last ~= ARGV[10] then\n"
		"  return {(tonumber(last or 0) or 0) > tonumber(ARGV[10])\n"
		"    and 'passed' or 'gone'} end\n"
		"take(ARGV[10])\n"
		"return {held and 'ok' or 'again'}\n",
	/* lock : token */
	[SCRIPT_UNLOCK] = HOLDER
		"redis.call('DEL', KEYS[1])\n"
		"return {'ok'}\n",
	/*
	 * lock, generations, manifest : token, id, text.  'ok', 'lost'
	 *
	 * Also where maxmemory is reached, as TAKE.
	 */
	[SCRIPT_RECORD] = HOLDER
		"redis.call('DEL', KEYS[3])\n"
		"redis.call('SADD', KEYS[2], ARGV[2])\n"
		"redis.call('SET', KEYS[3], ARGV[3])\n"
		"return {'ok'}\n",
	/* lock, generations, manifest : token, id.  'ok', 'lost' */
	[SCRIPT_FORGET] = HOLDER
		"redis.call('SREM', KEYS[2], ARGV[2])\n"
		"redis.call('DEL', KEYS[3])\n"
		"return {'ok'}\n",
	/* lock, moving : token, generation or ''.  'ok', 'lost' */
	[SCRIPT_MOVING] =
		HOLDER "if ARGV[2] == '' then redis.call('DEL', KEYS[2])\n"
		"else redis.call('SET', KEYS[2], ARGV[2]) end\n"
		"return {'ok'}\n",
	/*
	 * shadow's state : generation, fingerprint, type, engine, fence,
	 * capacity, error
	 *
	 * Of a filter that is reserved.  'ok'
	 */
	[SCRIPT_STATE] =
		"redis.call('HSET', KEYS[1], 'generation', ARGV[1],"
		" 'fingerprint', ARGV[2], 'type', ARGV[3],"
		" 'engine', ARGV[4], 'fence', ARGV[5],"
		" 'capacity', ARGV[6], 'error', ARGV[7])\n"
		"return {'ok'}\n",
	/*
	 * shadow, its state : generation, fence, run id or '', capacity,
	 * least items, keys, added, horizon or ''
	 *
	 * 'ok' and the items; 'run', 'missing', 'state' and of which, 'fence',
	 * 'ttl', 'items' and how many, 'capacity' and which.
	 */
	[SCRIPT_SEAL] =
		"if ARGV[3] ~= '' and string.match(redis.call('INFO',"
		" 'server'), 'run_id:(%w+)') ~= ARGV[3] then\n"
		"  return {'run', string.match(redis.call('INFO',"
		" 'server'), 'run_id:(%w+)') or ''} end\n"
		"if redis.call('EXISTS', KEYS[1]) == 0 then\n"
		"  return {'missing'} end\n"
		"local s = redis.call('HMGET', KEYS[2], 'generation',"
		" 'fence')\n"
		"if s[1] ~= ARGV[1] then return {'state', s[1] or ''} end\n"
		"if s[2] ~= ARGV[2] then return {'fence', s[2]} end\n"
		"if redis.call('PTTL', KEYS[1]) ~= -1 then\n"
		"  return {'ttl'} end\n"
		"local items = redis.call('BF.CARD', KEYS[1])\n"
		"if items < tonumber(ARGV[5]) then\n"
		"  return {'items', tostring(items)} end\n"
		"local info = redis.call('BF.INFO', KEYS[1])\n"
		"for i = 1, #info - 1, 2 do\n"
		"  local name = info[i]\n"
		"  if type(name) == 'table' then name = name.ok end\n"
		"  if name == 'Capacity' and"
		" info[i + 1] ~= tonumber(ARGV[4]) then\n"
		"    return {'capacity', tostring(info[i + 1])} end\n"
		"end\n"
		"redis.call('HSET', KEYS[2], 'sealed', '1', 'rows', ARGV[6],"
		" 'added', ARGV[7], 'items', tostring(items))\n"
		"if ARGV[8] ~= '' then\n"
		"  redis.call('HSET', KEYS[2], 'horizon', ARGV[8]) end\n"
		"return {'ok', tostring(items)}\n",
	/*
	 * filter, its state : generation, fence, run id or '', keys, added,
	 * '0', or '1' with old horizon or '', new horizon
	 *
	 * 'ok', the items, the capacity by the state; nothing changed: 'run',
	 * 'missing', 'changed' and which field, 'ttl', 'items' and how many.
	 * A horizon that is the new one already was moved by the first run.
	 */
	[SCRIPT_ADVANCE] =
		"local id, fence, run, keys, added, moves, old, new ="
		" unpack(ARGV)\n"
		"if run ~= '' and string.match(redis.call('INFO',"
		" 'server'), 'run_id:(%w+)') ~= run then\n"
		"  return {'run'} end\n"
		"if redis.call('EXISTS', KEYS[1]) == 0 then\n"
		"  return {'missing'} end\n"
		"local s = redis.call('HMGET', KEYS[2], 'generation',"
		" 'fence', 'horizon', 'items', 'capacity', 'rows', 'added')\n"
		"if s[1] ~= id then return {'changed', 'generation'} end\n"
		"if s[2] ~= fence then return {'changed', 'fence'} end\n"
		"local items = redis.call('BF.CARD', KEYS[1])\n"
		"if moves == '1' and old ~= new and s[3] == new then\n"
		"  return {'ok', tostring(items), s[5] or ''} end\n"
		"if moves == '1' and (s[3] or '') ~= old then\n"
		"  return {'changed', 'horizon'} end\n"
		"if redis.call('PTTL', KEYS[1]) ~= -1 then\n"
		"  return {'ttl'} end\n"
		"if items < (tonumber(s[4] or 0) or 0) then\n"
		"  return {'items', tostring(items)} end\n"
		"local function grown(n, by) return string.format('%.0f',"
		" (tonumber(n or 0) or 0) + tonumber(by)) end\n"
		"redis.call('HSET', KEYS[2], 'items', tostring(items),"
		" 'rows', grown(s[6], keys))\n"
		"if s[7] then\n"
		"  redis.call('HSET', KEYS[2], 'added', grown(s[7], added)) end\n"
		"if moves == '1' and new ~= '' then\n"
		"  redis.call('HSET', KEYS[2], 'horizon', new) end\n"
		"return {'ok', tostring(items), s[5] or ''}\n",
	/* fed : ms.  'ok'; it only grows */
	[SCRIPT_FED] =
		"local at = tonumber(redis.call('GET', KEYS[1]) or 0) or 0\n"
		"if tonumber(ARGV[1]) > at then\n"
		"  redis.call('SET', KEYS[1], ARGV[1]) end\n"
		"return {'ok'}\n",
	/*
	 * filter, its state, shadow, its state : generation
	 *
	 * 'live' or 'shadow', where the generation's filter is, or where it
	 * was if nothing says so any more; TYPE; PTTL; the state's fields; the
	 * fields of BF.INFO, if it is a filter; the generation that readers
	 * get.
	 */
	[SCRIPT_LOOK] =
		"local where, f, s = 'shadow', KEYS[3], KEYS[4]\n"
		"local live = redis.call('HGET', KEYS[2], 'generation')\n"
		"if live == ARGV[1] or not live and"
		" redis.call('EXISTS', KEYS[3], KEYS[4]) == 0 then\n"
		"  where, f, s = 'live', KEYS[1], KEYS[2] end\n"
		"local kind = redis.call('TYPE', f).ok\n"
		"local info = {}\n"
		"if kind == 'MBbloom--' or kind == 'bloomfltr' then\n"
		"  info = redis.call('BF.INFO', f) end\n"
		"return {where, kind, redis.call('PTTL', f),\n"
		"  redis.call('HGETALL', s), info, live or ''}\n",
	/*
	 * filter, its state, shadow, its state, old, its state : 'claim' or
	 * 'move', generation, live generation seen or '', fence, fingerprint,
	 * type, now, the shadow's horizon or '', or '*' for any
	 *
	 * 'ok'; 'already'.  Nothing moved: 'fence' and which, 'keyspec' and
	 * whose, 'live' and which, 'type' and which, 'unknown', 'missing',
	 * 'shadow' and its type, 'state', 'horizon', 'ttl', 'items' and how many, 'old'.
	 * A claim moves nothing either, and keeps older fences out.
	 *
	 * What may fail for want of memory comes before the first rename.
	 */
	[SCRIPT_PROMOTE] =
		"local mode, id, seen, fence, print, kind, now, horizon ="
		" unpack(ARGV)\n"
		"local function newer(f)\n"
		"  return f and tonumber(f) > tonumber(fence) end\n"
		"local s = redis.call('HMGET', KEYS[2], 'generation',"
		" 'fence', 'fingerprint')\n"
		"local live = s[1] or ''\n"
		"if newer(s[2]) then return {'fence', s[2]} end\n"
		"if s[3] and s[3] ~= print then return {'keyspec', s[3]} end\n"
		"local here = redis.call('TYPE', KEYS[1]).ok\n"
		"if here ~= 'none' and here ~= kind then\n"
		"  return {'type', here} end\n"
		"if live == id then\n"
		"  if here == 'none' then return {'missing'} end\n"
		"  redis.call('HSET', KEYS[2], 'fence', fence)\n"
		"  return {'already'} end\n"
		"if live ~= seen then return {'live', live} end\n"
		"if live == '' and here ~= 'none' then\n"
		"  return {'unknown'} end\n"
		"local is = redis.call('TYPE', KEYS[3]).ok\n"
		"if is ~= kind then return {'shadow', is} end\n"
		"local n = redis.call('HMGET', KEYS[4], 'generation',"
		" 'fence', 'fingerprint', 'sealed', 'items', 'horizon')\n"
		"if n[1] ~= id or n[3] ~= print or not n[4] then\n"
		"  return {'state', n[1] or ''} end\n"
		"if newer(n[2]) then return {'fence', n[2]} end\n"
		"if horizon ~= '*' and (n[6] or '') ~= horizon then\n"
		"  return {'horizon', n[6] or ''} end\n"
		"if redis.call('PTTL', KEYS[3]) ~= -1 then\n"
		"  return {'ttl'} end\n"
		"local items = redis.call('BF.CARD', KEYS[3])\n"
		"if items < tonumber(n[5]) then\n"
		"  return {'items', tostring(items)} end\n"
		"if live ~= '' and redis.call('EXISTS', KEYS[5]) == 1 then\n"
		"  return {'old'} end\n"
		"redis.call('HSET', KEYS[4], 'fence', fence)\n"
		"if mode == 'claim' then\n"
		"  redis.call('HSET', KEYS[2], 'fence', fence)\n"
		"  return {'ok'} end\n"
		"if live ~= '' then\n"
		"  redis.call('HSET', KEYS[2], 'retired', now)\n"
		"  if here ~= 'none' then\n"
		"    redis.call('RENAME', KEYS[1], KEYS[5]) end\n"
		"  redis.call('RENAME', KEYS[2], KEYS[6])\n"
		"end\n"
		"redis.call('RENAME', KEYS[3], KEYS[1])\n"
		"redis.call('RENAME', KEYS[4], KEYS[2])\n"
		"return {'ok'}\n",
	/*
	 * shadow, its state : fence
	 *
	 * 'ok' and '1' if there was a filter; 'fence' and which.  Whatever the
	 * state says of the generation, the keys' names have its id.
	 */
	[SCRIPT_DROP] =
		"local f = redis.call('HGET', KEYS[2], 'fence')\n"
		"if f and tonumber(f) > tonumber(ARGV[1]) then\n"
		"  return {'fence', f} end\n"
		"local n = redis.call('UNLINK', KEYS[1])\n"
		"redis.call('UNLINK', KEYS[2])\n"
		"return {'ok', tostring(n)}\n",
	/*
	 * filter, its state : generation, fingerprint, type, engine, fence,
	 * capacity, error, keys or ''
	 *
	 * 'ok'; 'type' and which, 'ttl', 'fence' and which, 'live' and which.
	 */
	[SCRIPT_ADOPT] =
		"local kind = redis.call('TYPE', KEYS[1]).ok\n"
		"if kind ~= ARGV[3] then return {'type', kind} end\n"
		"if redis.call('PTTL', KEYS[1]) ~= -1 then\n"
		"  return {'ttl'} end\n"
		"local s = redis.call('HMGET', KEYS[2], 'generation',"
		" 'fence', 'sealed')\n"
		"if s[2] and tonumber(s[2]) > tonumber(ARGV[5]) then\n"
		"  return {'fence', s[2]} end\n"
		"if s[3] and s[1] ~= ARGV[1] then return {'live', s[1]} end\n"
		"redis.call('HSET', KEYS[2], 'generation', ARGV[1],"
		" 'fingerprint', ARGV[2], 'type', ARGV[3],"
		" 'engine', ARGV[4], 'fence', ARGV[5],"
		" 'capacity', ARGV[6], 'error', ARGV[7])\n"
		"if ARGV[8] ~= '' then\n"
		"  redis.call('HSET', KEYS[2], 'sealed', '1', 'rows', ARGV[8],"
		" 'items', tostring(redis.call('BF.CARD', KEYS[1]))) end\n"
		"return {'ok'}\n",
	/* state : generation.  'ok'; 'live': it is whole, or another's */
	[SCRIPT_DISOWN] =
		"local s = redis.call('HMGET', KEYS[1], 'generation',"
		" 'sealed')\n"
		"if s[2] or (s[1] and s[1] ~= ARGV[1]) then\n"
		"  return {'live'} end\n"
		"redis.call('DEL', KEYS[1])\n"
		"return {'ok'}\n",
};
/* clang-format on */

const char *script_text(enum script script)
{
	return texts[script];
}

/* All words of the command in out; how many. */
static int words_of(enum script script, const char *const keys[],
		    const char *const args[], char count[16],
		    const char *out[SCRIPT_WORDS_MAX + 3])
{
	int n = 3;

	out[0] = "EVAL";
	out[1] = texts[script];
	out[2] = count;
	for (int i = 0; keys[i] != NULL && n < SCRIPT_WORDS_MAX + 3; i++)
		out[n++] = keys[i];
	(void)snprintf(count, 16, "%d", n - 3);
	for (int i = 0; args[i] != NULL && n < SCRIPT_WORDS_MAX + 3; i++)
		out[n++] = args[i];
	return n;
}

int script_send(struct cluster *c, enum script script, const char *const keys[],
		const char *const args[], conn_fn *fn, void *ctx, uint64_t tag,
		struct error *err)
{
	const char *words[SCRIPT_WORDS_MAX + 3];
	char count[16];
	int n = words_of(script, keys, args, count, words);

	return cluster_sendv(c, keys_slot(keys[0]), n, words, NULL, fn, ctx,
			     tag, err);
}

int script_call(struct cluster *c, enum script script, const char *const keys[],
		const char *const args[], const char *what,
		const struct reply **out, struct error *err)
{
	const char *words[SCRIPT_WORDS_MAX + 3];
	char count[16];
	int n = words_of(script, keys, args, count, words);

	if (cluster_call(c, keys_slot(keys[0]), n, words, NULL, out, err) != 0)
		return -1;
	if (script_word(*out, NULL)[0] == '\0')
		return script_refused(script, *out, err, "%s", what);
	return 0;
}

int script_call_node(struct cluster *c, size_t node, enum script script,
		     const char *const keys[], const char *const args[],
		     const struct reply **out, struct error *err)
{
	const char *words[SCRIPT_WORDS_MAX + 3];
	char count[16];
	int n = words_of(script, keys, args, count, words);

	return cluster_call_node(c, node, n, words, out, err);
}

const char *script_word(const struct reply *reply, const char **detail)
{
	const struct reply *items = reply->u.items;

	if (detail != NULL)
		*detail = "";
	if (reply->type != REPLY_ARRAY || reply->len == 0 ||
	    (items[0].type != REPLY_BULK && items[0].type != REPLY_STATUS))
		return "";
	if (detail != NULL && reply->len > 1 && items[1].type == REPLY_BULK)
		*detail = items[1].u.text;
	return items[0].u.text;
}
