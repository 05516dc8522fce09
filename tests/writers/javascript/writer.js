#!/usr/bin/env node
// SPDX-License-Identifier: BSD-2-Clause
//
// writer.js: bloomkey version 1 in JavaScript, as a service would have it,
// written from lib/bloomkey/SPEC.md alone ("section N" is a section of it).
//
//     NODE_PATH=/folder/of/xxhashjs/and/cuint writer.js KEYSPEC <ROWS
//
// reads rows as COPY text and writes key, hash, bucket and filter of each.
// Exit: 0; 78 if the keyspec or a secret is wrong; 64 for a wrong command
// line; 65 for a row with another number of values than the key has fields.
// As a module it gives Keyspec.load(path) and keyspec.derive(values).
//
// The specification speaks of bytes, JavaScript's strings are UTF-16. So the
// values of rows are Buffers from end to end, and wherever a string is handy
// (the keyspec, regular expressions) it is 'latin1': one unit for each byte,
// no byte ever lost. Such a string must not meet trim(), \s or toLowerCase(),
// which know Unicode: to them the byte 0xA0 is a blank and 0xC3 a letter.

'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { UINT64 } = require('cuint');
const { h64 } = require('xxhashjs');

const MAX_FILE = 65536; // also the content of a secret
const MAX_VALUE = 65535; // also a key

class KeyspecError extends Error {}

// Messages never quote a value: somebody may have put a secret there.
function need(condition, message) {
  if (!condition) throw new KeyspecError(message);
}

const latin1 = (string) => Buffer.from(string, 'latin1');
const isName = (string) => /^[A-Za-z0-9_.-]{1,64}$/.test(string);

// A BigInt: a Number is exact up to 2^53 only, and Number() and parseInt()
// also take '', ' 1', '1e3', '0x10' or '12 buckets'.
function parseNumber(string, min, max, what) {
  need(/^(0|[1-9][0-9]*)$/.test(string), `${what} is not a number`);
  const number = BigInt(string);
  need(number >= min && number <= max, `${what} is out of range`);
  return number;
}

// Section 5. toString('utf8') puts U+FFFD for what is wrong, and fatal of
// TextDecoder depends on how node was built. No + within the *: it would be
// exponential.
const UTF8 = new RegExp(`^(?:[\x00-\x7f]|[\xc2-\xdf]T|\xe0[\xa0-\xbf]T|
  [\xe1-\xec\xee\xef]TT|\xed[\x80-\x9f]T|\xf0[\x90-\xbf]TT|[\xf1-\xf3]TTT|
  \xf4[\x80-\x8f]TT)*$`.replace(/\n */g, '').replace(/T/g, '[\x80-\xbf]'));
const isUtf8 = (bytes) => UTF8.test(bytes.toString('latin1'));

// What is left of a string or a Buffer when both ends, or one, are stripped.
function strip(it, isStripped, left = true) {
  let [from, to] = [0, it.length];
  while (left && from < to && isStripped(it[from])) from++;
  while (to > from && isStripped(it[to - 1])) to--;
  return it.slice(from, to);
}

const stripBlanks = (s) => strip(s, (c) => c === ' ' || c === '\t');

function readFile(name, what) {
  try {
    return fs.readFileSync(name);
  } catch (error) {
    throw new KeyspecError(`${what} cannot be read: ${error.code}`);
  }
}

const SET_NAMES = ['version', 'name', 'key', 'buckets', 'filter', 'seed',
  'delimiter', 'encoding', 'sentinel']; // the first five must be there
const FIELD_NAMES = ['column', 'encoding', 'empty', 'null', 'transform',
  'secret'];

// Section 1: a Map of Maps, [keyspec] as '', which is no field's name. Maps,
// because an object has names such as 'constructor' from the start.
function readSections(bytes) {
  need(bytes.length <= MAX_FILE, `it has more than ${MAX_FILE} bytes`);
  need(isUtf8(bytes), 'it is not UTF-8');
  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const lines = text.split('\n');
  // Not split(/\r?\n/): at the end of the file a lone 0x0D is an error.
  const last = lines.pop();
  const sections = new Map();
  let section, names;
  [...lines.map((s) => s.replace(/\r$/, '')), last].forEach((whole, index) => {
    const check = (condition, what) =>
      need(condition, `line ${index + 1}: ${what}`);
    check(!/[\x00-\x08\x0a-\x1f\x7f]/.test(whole), 'a control character');
    const line = stripBlanks(whole);
    if (line === '' || line[0] === '#' || line[0] === ';') return;
    if (line[0] === '[') {
      const [, id = ''] = /^\[[ \t]*(?:keyspec|field[ \t]+([^ \t]+))[ \t]*\]$/
        .exec(line) ?? check(false, 'no such section');
      check(id === '' || isName(id), 'not a name');
      check(!sections.has(id), 'a section that is there already');
      sections.set(id, section = new Map());
      names = id === '' ? SET_NAMES : FIELD_NAMES;
      return;
    }
    const equals = line.indexOf('=');
    check(equals > 0, 'neither a section nor name = value');
    check(section, 'a value above any section');
    const name = stripBlanks(line.slice(0, equals));
    check(names.includes(name), 'a name that does not exist');
    check(!section.has(name), `${name} is there already`);
    let value = stripBlanks(line.slice(equals + 1));
    if (value[0] === '"') {
      const match = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value);
      check(match, 'a quoted value that is not well-formed');
      value = match[1].replace(/\\(["\\])/g, '$1');
    } else {
      check(!/[ \t][#;]/.test(value), 'a comment behind a value');
    }
    check(value !== '', 'a value that is empty');
    section.set(name, value);
  });
  return sections;
}

// Section 2: names and the literals around them, one more than names.
function parseTemplate(string, what) {
  const token = /(\{\{|\}\}|[^{}]+)|\{([A-Za-z0-9_.-]{1,64})\}/y;
  const [literals, names] = [[''], []];
  while (token.lastIndex < string.length) {
    const [, text, name] = token.exec(string) ?? need(false, `${what}: braces`);
    if (name === undefined) {
      literals[names.length] += /[{}]/.test(text) ? text[0] : text;
    } else {
      names.push(name);
      literals.push('');
    }
  }
  return { literals, names };
}

// Section 6. In process.env there is also what every object has ('toString'),
// and U+FFFD for what is not UTF-8; the bytes are in /proc, where that exists.
function readVariable(name) {
  need(Object.prototype.hasOwnProperty.call(process.env, name),
    'secret: the variable is not set');
  const value = process.env[name];
  if (!value.includes('\ufffd')) return Buffer.from(value, 'utf8');
  const all = readFile('/proc/self/environ', 'a variable that is not UTF-8');
  return latin1(all.toString('latin1').split('\0')
    .find((s) => s.startsWith(`${name}=`)).slice(name.length + 1));
}

function readSecret(setting, folder) {
  const [, coding, variable, file] =
    /^(hex:|base64:)?(?:env:([A-Za-z_][A-Za-z0-9_]*)|file:([^]+))$/
      .exec(setting) ?? need(false, 'secret: neither env:NAME nor file:PATH');
  // Not path.join(), which makes 'a' of 'link/../a'.
  const content = variable ? readVariable(variable) : readFile(Buffer.concat([
    Buffer.from(file[0] === '/' ? '' : `${folder}/`), latin1(file)]), 'secret');
  need(content.length <= MAX_FILE, 'secret: too long');
  const text = content.toString('latin1').replace(/\r?\n$/, '');
  let secret = latin1(text);
  if (coding === 'hex:') {
    // Buffer.from() stops at the first digit that is none, and says nothing.
    need(/^([0-9A-Fa-f]{2})*$/.test(text), 'secret: not hexadecimal');
    secret = Buffer.from(text, 'hex');
  } else if (coding === 'base64:') {
    // Buffer.from() skips what is not base64, takes - and _ for + and /, and
    // does without padding.
    secret = Buffer.from(text, 'base64');
    need(secret.toString('base64') === text, 'secret: not base64');
  }
  need(secret.length >= 16, 'secret: too short');
  return secret;
}

// Section 4: of a value, N of first:N and the field the result, or null where
// the transform fails. map() and filter() of a Buffer make another Buffer.
const isDigit = (b) => b >= 0x30 && b <= 0x39;
const isSpace = (b) => b === 0x20 || (b >= 0x09 && b <= 0x0d);
const UUID = new RegExp('^(\\{?)([0-9a-f]{8})(-?)([0-9a-f]{4})\\3' +
  '([0-9a-f]{4})\\3([0-9a-f]{4})\\3([0-9a-f]{12})(\\}?)$', 'i');

const TRANSFORMS = new Map(Object.entries({
  trim: (value) => strip(value, isSpace),
  rtrim: (value) => strip(value, (b) => b === 0x20, false),
  lower: (value) => value.map((b) => (b >= 0x41 && b <= 0x5a ? b + 0x20 : b)),
  upper: (value) => value.map((b) => (b >= 0x61 && b <= 0x7a ? b - 0x20 : b)),
  uuid(value) {
    const match = UUID.exec(value.toString('latin1'));
    if (!match || match[1].length !== match[8].length) return null;
    const groups = [match[2], match[4], match[5], match[6], match[7]];
    return latin1(groups.join('-').toLowerCase()); // it is ASCII by now
  },
  int(value) {
    // By its text: a Number loses digits, and even a BigInt takes ' 1 ', ''.
    const match = /^([+-]?)([0-9]+)$/.exec(value.toString('latin1'));
    if (!match) return null;
    const digits = match[2].replace(/^0+(?=[0-9])/, '');
    return latin1(match[1] === '-' && digits !== '0' ? `-${digits}` : digits);
  },
  digits(value) {
    const legal = latin1('0123456789 ()-./+');
    return value.every((b) => legal.includes(b)) ? value.filter(isDigit) : null;
  },
  first(value, count, field) {
    if (value.length <= count) return value;
    if (field.encoding === 'utf-8') {
      while (count > 0 && (value[count] & 0xc0) === 0x80) count--;
    }
    return value.subarray(0, count);
  },
  'sha256': (value) =>
    latin1(crypto.createHash('sha256').update(value).digest('hex')),
  'hmac-sha256': (value, count, { secret }) =>
    latin1(crypto.createHmac('sha256', secret).update(value).digest('hex')),
}));

function parseTransforms(string) {
  const list = string.split(',').map((item) => {
    const written = stripBlanks(item);
    const [, first, number] = /^(first):(.*)$/.exec(written) ?? [];
    const name = first ?? written;
    need(TRANSFORMS.has(name) && (name !== 'first' || first), 'no transform');
    return { name, written, count: first && Number(
      parseNumber(number, 1n, BigInt(MAX_VALUE), 'N of first')) };
  });
  need(list.length <= 16, 'more than 16 transforms');
  need(list.filter((t) => t.name === 'hmac-sha256').length < 2, 'hmac twice');
  return list;
}

function pick(section, name, choices, otherwise = choices[0]) {
  const value = section.get(name) ?? otherwise;
  need(choices.includes(value), `${name} is not ${choices.join(' or ')}`);
  return value;
}

class Field {
  constructor(name, section, encoding, folder) {
    this.name = name;
    this.encoding = pick(section, 'encoding', ['utf-8', 'bytes'], encoding);
    this.empty = pick(section, 'empty', ['reject', 'allow']);
    this.null = pick(section, 'null', ['reject', 'empty']);
    need(this.null === 'reject' || this.empty === 'allow',
      'null = empty without empty = allow');
    this.transforms = section.has('transform')
      ? parseTransforms(section.get('transform')) : [];
    const keyed = this.transforms.some((t) => t.name === 'hmac-sha256');
    need(keyed === section.has('secret'), 'secret or hmac-sha256 alone');
    if (keyed) this.secret = readSecret(section.get('secret'), folder);
  }

  // Section 3, steps 1 to 6: a Buffer, or a string that is the reason.
  apply(value) {
    if (value === null && this.null === 'reject') return 'null';
    if (value === null) value = Buffer.alloc(0);
    if (value.length > MAX_VALUE) return 'too-long';
    if (this.encoding === 'utf-8' && !isUtf8(value)) return 'encoding';
    if (value.length === 0 && this.empty === 'reject') return 'empty';
    for (const { name, count } of this.transforms) {
      value = TRANSFORMS.get(name)(value, count, this);
      if (value === null) return name;
      if (value.length > MAX_VALUE) return 'too-long';
    }
    if (value.length === 0 && this.empty === 'reject') return 'empty';
    return value;
  }

  fingerprintLines() {
    const lines = [`field=${this.name}`, `encoding=${this.encoding}`,
      `empty=${this.empty}`, `null=${this.null}`,
      `transform=${this.transforms.map((t) => t.written).join(',')}`];
    if (this.secret) {
      const hmac = crypto.createHmac('sha256', this.secret);
      const check = hmac.update('bloomkey check 1').digest('hex').slice(0, 16);
      lines.push(`check=${check}`);
    }
    return lines;
  }
}

class Keyspec {
  static load(file) {
    return new Keyspec(readFile(file, 'the file'), path.dirname(file));
  }

  // folder: where files with secrets are, if their path is relative.
  constructor(bytes, folder) {
    const sections = readSections(bytes);
    const set = sections.get('') ?? need(false, 'no [keyspec]');
    for (const name of SET_NAMES.slice(0, 5)) need(set.has(name), `no ${name}`);
    need(set.get('version') === '1', 'version is not 1');
    this.name = set.get('name');
    need(isName(this.name), 'name is not a name');
    this.buckets = parseNumber(set.get('buckets'), 1n, 65536n, 'buckets');
    this.seed = parseNumber(set.get('seed') ?? '0', 0n, 2n ** 64n - 1n, 'seed');
    // From text, because of a Number cuint takes the lower 32 bits only.
    this.seed64 = UINT64(this.seed.toString());
    this.delimiter = set.get('delimiter') ?? ':';
    need(/^[\x20-\x7e]$/.test(this.delimiter), 'delimiter is not one byte');
    const encoding = pick(set, 'encoding', ['utf-8', 'bytes']);

    this.key = parseTemplate(set.get('key'), 'key');
    const { names, literals } = this.key;
    need(names.length > 0, 'key: no field');
    need(new Set(names).size === names.length, 'key: a field twice');
    need(literals.slice(1, -1).every((s) => s.includes(this.delimiter)),
      'key: two fields without the delimiter between them');
    need([...sections.keys()].every((s) => s === '' || names.includes(s)),
      'a [field] that is not in key');
    this.fields = names.map((name) =>
      new Field(name, sections.get(name) ?? new Map(), encoding, folder));

    this.fingerprint = this.computeFingerprint(set);
    const planted = set.get('sentinel') ??
      `bloomkey:${this.fingerprint.slice(0, 8)}`;
    this.sentinel = planted === 'none' ? null : latin1(planted);

    this.filter = parseTemplate(set.get('filter'), 'filter');
    need(this.filter.names.every((n) => ['name', 'bucket', 'fp'].includes(n)),
      'filter: not name, bucket or fp');
    need(this.buckets === 1n || this.filter.names.includes('bucket'),
      'filter: no {bucket}');
    const filter = this.filterName(0n); // the others differ in digits only
    need(/^[\x21-\x7e]{1,512}$/.test(filter), 'filter: too long or not ASCII');
    need(!/^bloomctl:|:bloomctl/.test(filter), 'filter: reserved');
    need(!/[{}]/.test(filter) || /^[^{]*\{[^}]+\}/.test(filter),
      'filter: braces that are no hash tag');
  }

  // Section 9.
  computeFingerprint(set) {
    const hex = (string) => latin1(string).toString('hex');
    const sentinel = set.get('sentinel');
    const shown = sentinel === undefined ? 'default'
      : sentinel === 'none' ? 'none' : hex(sentinel);
    const lines = ['bloomkey-keyspec-1', `name=${this.name}`,
      `buckets=${this.buckets}`, `seed=${this.seed}`,
      `delimiter=${hex(this.delimiter)}`, `key=${hex(set.get('key'))}`,
      `filter=${hex(set.get('filter'))}`, `sentinel=${shown}`,
      ...this.fields.flatMap((field) => field.fingerprintLines())];
    const text = lines.map((line) => `${line}\n`).join('');
    return crypto.createHash('sha256').update(text).digest('hex');
  }

  filterName(bucket) {
    const width = (this.buckets - 1n).toString().length;
    const values = { name: this.name, fp: this.fingerprint.slice(0, 8),
      bucket: bucket.toString().padStart(width, '0') };
    const { names, literals } = this.filter;
    return literals[0] + names.map((n, i) => values[n] + literals[i + 1])
      .join('');
  }

  // Sections 3 and 7. values: a Buffer, or null for NULL, for each field in
  // template order. { key, hash, bucket, filter }, or { reject: REASON }.
  derive(values) {
    const { literals } = this.key;
    const parts = [latin1(literals[0])];
    for (const [i, field] of this.fields.entries()) {
      const value = field.apply(values[i]);
      if (typeof value === 'string') return { reject: value };
      const last = i === this.fields.length - 1;
      if (!last && value.includes(this.delimiter)) {
        return { reject: 'delimiter' };
      }
      parts.push(value, latin1(literals[i + 1]));
    }
    const key = Buffer.concat(parts);
    if (key.length === 0) return { reject: 'empty' };
    if (key.length > MAX_VALUE) return { reject: 'too-long' };
    // key as a Buffer: a string is hashed as its UTF-8. hash as a BigInt: of
    // a Number the lower bits, which the modulo needs, are gone.
    const hash = BigInt(`0x${h64(key, this.seed64).toString(16)}`);
    const bucket = hash % this.buckets;
    return { key, hash: hash.toString(16).padStart(16, '0'), bucket,
      filter: this.filterName(bucket) };
  }
}

// Section 10. As in PostgreSQL, a tab or 0x0A directly behind a backslash is
// part of the value. A backslash at the end of the input is itself.
const ESCAPES = { b: 0x08, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b };

function* readRows(input) {
  let [row, value, start] = [[], [], 0];
  for (let i = 0; i <= input.length; i++) {
    const byte = input[i] ?? 0x0a; // the end of the input ends the last row
    if (byte === 0x09 || byte === 0x0a) {
      if (i === input.length && i === start && row.length === 0) return;
      const isNull = input.toString('latin1', start, i) === '\\N';
      row.push(isNull ? null : Buffer.from(value));
      [value, start] = [[], i + 1];
      if (byte === 0x09) continue;
      yield row;
      row = [];
    } else if (byte !== 0x5c || i + 1 === input.length) {
      value.push(byte);
    } else {
      const [all, sixteen, eight] = /^(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|[^])/
        .exec(input.toString('latin1', i + 1, i + 4));
      i += all.length;
      if (sixteen) value.push(parseInt(sixteen, 16));
      else if (eight) value.push(parseInt(eight, 8) & 0xff);
      else value.push(ESCAPES[all] ?? input[i]);
    }
  }
}

// process.exit() loses what stdout has not written yet; exitCode does not.
function fail(code, message) {
  process.stderr.write(`writer.js: ${message}\n`);
  process.exitCode = code;
}

async function main(args) {
  if (args.length !== 1) return fail(64, 'one argument is needed: a keyspec');
  let keyspec;
  try {
    keyspec = Keyspec.load(args[0]);
  } catch (error) {
    if (!(error instanceof KeyspecError)) throw error;
    return fail(78, `the keyspec is wrong: ${error.message}`);
  }
  const input = []; // readFileSync(0) fails with EAGAIN on some pipes
  for await (const chunk of process.stdin) input.push(chunk);
  for (const values of readRows(Buffer.concat(input))) {
    if (values.length !== keyspec.fields.length) {
      return fail(65, 'a row has another number of values than the key');
    }
    const { reject, key, hash, bucket, filter } = keyspec.derive(values);
    process.stdout.write(reject ? `!${reject}\n`
      : `${key.toString('hex')}\t${hash}\t${bucket}\t${filter}\n`);
  }
}

module.exports = { Keyspec, KeyspecError };
if (require.main === module) main(process.argv.slice(2));
