#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bloomkey, version 1, in Python: from rows to keys, buckets and filters.

    writer.py KEYSPEC <rows >answers

Written from lib/bloomkey/SPEC.md alone, as the author of a service would; the
numbers of sections are that page's.  The rows are PostgreSQL's COPY text, the
answers those of section 10.  Ends with 0, with 78 where the keyspec or a
secret is wrong, and with 65 where a row has not one value for each field.

Everything is bytes: methods of str know Unicode, those of bytes (lower, upper,
isdigit) ASCII only.  Patterns are for fullmatch: $ fits before a last \\n too.
"""

import base64
import binascii
import hashlib
import hmac
import os
import re
import sys

import xxhash

LIMIT = 65535
FILE_LIMIT = 65536
BLANKS = b" \t"  # strip() without an argument takes \v, \f, \r and \n too
NAME = rb"[A-Za-z0-9_.-]{1,64}"
SECTION = re.compile(rb"\[[ \t]*(?:keyspec|field[ \t]+(%b))[ \t]*\]" % NAME)
QUOTED = re.compile(rb'"((?:[^"\\]|\\["\\])*)"')
TOKEN = re.compile(rb"(\{\{|\}\})|\{(%b)\}|([^{}]+)" % NAME)
SECRET = re.compile(rb"(hex:|base64:)?"
                    rb"(?:env:([A-Za-z_][A-Za-z0-9_]*)|file:(.+))")
UUID = re.compile(rb"(\{)?([0-9A-Fa-f]{8})(-?)([0-9A-Fa-f]{4})\3([0-9A-Fa-f]"
                  rb"{4})\3([0-9A-Fa-f]{4})\3([0-9A-Fa-f]{12})(?(1)\})")
INT = re.compile(rb"([+-]?)([0-9]+)")
CELL = re.compile(rb"([^\\\t]*(?:\\.[^\\\t]*)*)\t", re.DOTALL)
ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
LETTERS = dict(zip(b"bfnrtv", (b"\b", b"\f", b"\n", b"\r", b"\t", b"\v")))

REQUIRED = {b"version", b"name", b"key", b"buckets", b"filter"}
IN_KEYSPEC = REQUIRED | {b"seed", b"delimiter", b"encoding", b"sentinel"}
IN_FIELD = {b"column", b"encoding", b"empty", b"null", b"transform", b"secret"}


class KeyspecError(Exception):
    """The keyspec or a secret is wrong.  Its text never quotes a value: it
    may be a secret that stands where its place should."""


class Rejected(Exception):
    """The row has no key; the argument is the reason."""


def need(condition, why):
    if not condition:
        raise KeyspecError(why)


def is_utf8(value):
    try:
        value.decode()  # strict: no overlong forms, no surrogates
    except UnicodeDecodeError:
        return False
    return True


def number(value, low, high, what):
    # int() takes blanks, signs, `_` and leading zeros, and raises ValueError
    # at thousands of digits: look before.
    need(re.fullmatch(rb"0|[1-9][0-9]{0,19}", value)
         and low <= int(value) <= high, f"{what} is not from {low} to {high}")
    return int(value)


def choice(values, name, default, *others):
    value = values.get(name, default)
    need(value in (default, *others), f"{name.decode()} has a wrong value")
    return value


def parse_file(data):
    """The sections (1): a field's name, or None for [keyspec], to values."""
    need(len(data) <= FILE_LIMIT, "the keyspec is too long")
    need(is_utf8(data), "the keyspec is not UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    sections, section = {}, None
    # Not splitlines(): that splits at a lone \r too.
    for line_no, line in enumerate(data.split(b"\n"), 1):
        at = f"line {line_no}: "
        need(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", line),
             at + "a control character")
        line = line.strip(BLANKS)
        if not line or line[0] in b"#;":
            continue
        if line[0] in b"[":
            head = SECTION.fullmatch(line)
            need(head, at + "not a section")
            need(head[1] not in sections, at + "a section twice")
            section = sections[head[1]] = {}
            known = IN_FIELD if head[1] else IN_KEYSPEC
            continue
        name, equals, value = line.partition(b"=")
        name, value = name.strip(BLANKS), value.strip(BLANKS)
        need(equals and section is not None, at + "not `name = value`, or "
             "above any section")
        need(name in known and name not in section,
             at + "an unknown name, or a name twice")
        if value.startswith(b'"'):
            quoted = QUOTED.fullmatch(value)
            need(quoted, at + "wrong quotes or escapes")
            value = re.sub(rb"\\(.)", rb"\1", quoted[1])
        else:
            need(not re.search(rb"[ \t][#;]", value),
                 at + "a comment cannot follow a value")
        need(value, at + "an empty value")
        section[name] = value
    return sections


def parse_template(text, what):
    """Literals and names by turns, a literal first and last (2)."""
    literals, names, at = [b""], [], 0
    while at < len(text):
        token = TOKEN.match(text, at)
        need(token, f"{what}: a brace alone, or no name within braces")
        pair, name, plain = token.groups()
        if name:
            names.append(name)
            literals.append(b"")
        else:
            literals[-1] += pair[:1] if pair else plain
        at = token.end()
    return literals, names


def read_file(path, what):
    try:
        with open(path, "rb") as file:
            return file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise KeyspecError(f"{what}: {error.strerror}") from None


def read_secret(where, folder):
    place = SECRET.fullmatch(where)
    need(place, "a secret is neither env:NAME nor file:PATH")
    coding, variable, path = place.groups()
    if variable:
        content = os.environb.get(variable)
        need(content is not None, "the variable of a secret is not set")
    else:
        content = read_file(os.path.join(folder, path), "a secret's file")
    need(len(content) <= FILE_LIMIT, "a secret is too long")
    if content.endswith(b"\n"):  # one only, where rstrip() takes all
        content = content[:-1].removesuffix(b"\r")
    secret = content
    try:
        if coding == b"hex:":
            secret = binascii.unhexlify(content)  # fromhex() skips blanks
        elif coding == b"base64:":
            secret = base64.b64decode(content, validate=True)
            # The decoder does not look at unused bits.
            need(base64.b64encode(secret) == content, "a secret: not base64")
    except ValueError:  # its text may hold some of the secret
        raise KeyspecError("a secret is not in its code") from None
    need(len(secret) >= 16, "a secret has less than 16 bytes")
    return secret


# The transforms (4), from bytes to bytes.

def to_uuid(value):
    match = UUID.fullmatch(value)  # uuid.UUID() takes urn:uuid: and more
    if not match:
        raise Rejected("uuid")
    return b"-".join(match.group(2, 4, 5, 6, 7)).lower()


def to_int(value):
    match = INT.fullmatch(value)  # not int(), as in number()
    if not match:
        raise Rejected("int")
    digits = match[2].lstrip(b"0") or b"0"
    return b"-" + digits if match[1] == b"-" and digits != b"0" else digits


def to_digits(value):
    digits = value.translate(None, b" ()-./+")
    if digits and not digits.isdigit():
        raise Rejected("digits")
    return digits


def first(value, n, utf8):
    if utf8 and len(value) > n:
        while n and value[n] & 0xC0 == 0x80:
            n -= 1
    return value[:n]


TRANSFORMS = {
    b"trim": lambda value: value.strip(b"\t\n\v\f\r "),
    b"rtrim": lambda value: value.rstrip(b" "),
    b"lower": lambda value: value.lower(),
    b"upper": lambda value: value.upper(),
    b"uuid": to_uuid,
    b"int": to_int,
    b"digits": to_digits,
    b"sha256": lambda value: hashlib.sha256(value).hexdigest().encode(),
}


class Field:
    def __init__(self, name, values, encoding, folder):
        self.name = name
        self.column = values.get(b"column", name)
        self.encoding = choice(values, b"encoding", encoding,
                               b"utf-8", b"bytes")
        self.empty = choice(values, b"empty", b"reject", b"allow")
        self.null = choice(values, b"null", b"reject", b"empty")
        need(self.null == b"reject" or self.empty == b"allow",
             "null = empty needs empty = allow")
        self.transforms = [word.strip(BLANKS) for word in
                           values.get(b"transform", b"").split(b",")]
        if b"transform" not in values:
            self.transforms = []
        keyed = self.transforms.count(b"hmac-sha256")
        need(len(self.transforms) <= 16 and keyed <= 1, "too many transforms")
        need(keyed == (b"secret" in values),
             "hmac-sha256 and a secret need each other")
        secret = read_secret(values[b"secret"], folder) if keyed else None
        self.steps = [self._step(word, secret) for word in self.transforms]
        self.lines = [b"field=" + name, b"encoding=" + self.encoding,
                      b"empty=" + self.empty, b"null=" + self.null,
                      b"transform=" + b",".join(self.transforms)]
        if keyed:
            check = hmac.digest(secret, b"bloomkey check 1", "sha256")
            self.lines.append(b"check=%b" % check[:8].hex().encode())

    def _step(self, word, secret):
        if word == b"hmac-sha256":
            return lambda it: hmac.digest(secret, it, "sha256").hex().encode()
        if word.startswith(b"first:"):
            n = number(word[6:], 1, LIMIT, "N of first:N")
            return lambda value: first(value, n, self.encoding == b"utf-8")
        need(word in TRANSFORMS, "an unknown transform")
        return TRANSFORMS[word]

    def apply(self, value, delimiter):
        """The steps (3); None is NULL, and no delimiter for the last field."""
        if value is None:
            if self.null == b"reject":
                raise Rejected("null")
            value = b""
        if len(value) > LIMIT:
            raise Rejected("too-long")
        if self.encoding == b"utf-8" and not is_utf8(value):
            raise Rejected("encoding")
        if not value and self.empty == b"reject":
            raise Rejected("empty")
        for step in self.steps:
            value = step(value)
            if len(value) > LIMIT:
                raise Rejected("too-long")
        if not value and self.empty == b"reject":  # again: see digits, trim
            raise Rejected("empty")
        if delimiter and delimiter in value:
            raise Rejected("delimiter")
        return value


class Keyspec:
    def __init__(self, data, folder=b""):
        sections = parse_file(data)
        values = sections.pop(None, {})
        need(REQUIRED <= values.keys(), "a name is missing in [keyspec]")
        choice(values, b"version", b"1")
        need(re.fullmatch(NAME, values[b"name"]), "name is no NAME")
        self.buckets = number(values[b"buckets"], 1, 65536, "buckets")
        self.seed = number(values.get(b"seed", b"0"), 0, 2**64 - 1, "seed")
        self.delimiter = values.get(b"delimiter", b":")
        need(re.fullmatch(rb"[ -~]", self.delimiter), "delimiter: not a byte")
        encoding = choice(values, b"encoding", b"utf-8", b"bytes")

        self._literals, names = parse_template(values[b"key"], "key")
        need(names and len(set(names)) == len(names), "key: no or same fields")
        need(all(self.delimiter in text for text in self._literals[1:-1]),
             "key: no delimiter between two fields")
        need(sections.keys() <= set(names), "a field that key does not have")
        self.fields = [Field(name, sections.get(name, {}), encoding, folder)
                       for name in names]
        self._delimiters = [self.delimiter] * (len(names) - 1) + [None]

        sentinel = values.get(b"sentinel")
        written = sentinel and sentinel.hex().encode() or b"default"
        lines = [
            b"bloomkey-keyspec-1",
            b"name=" + values[b"name"],
            b"buckets=%d" % self.buckets,
            b"seed=%d" % self.seed,
            b"delimiter=" + self.delimiter.hex().encode(),
            b"key=" + values[b"key"].hex().encode(),
            b"filter=" + values[b"filter"].hex().encode(),
            b"sentinel=" + (b"none" if sentinel == b"none" else written),
        ] + [line for field in self.fields for line in field.lines]
        self.fingerprint = hashlib.sha256(
            b"".join(line + b"\n" for line in lines)).hexdigest()
        fp = self.fingerprint[:8].encode()
        self.sentinel = sentinel or b"bloomkey:" + fp
        if sentinel == b"none":
            self.sentinel = None
        self._set_filter(values[b"filter"], {b"name": values[b"name"],
                                             b"fp": fp})

    @classmethod
    def load(cls, path):
        path = os.fsencode(path)
        return cls(read_file(path, "the keyspec"), os.path.dirname(path))

    def _set_filter(self, template, known):
        """The text between the places of the bucket, and the checks (7)."""
        literals, names = parse_template(template, "filter")
        self._parts = literals[:1]
        for name, literal in zip(names, literals[1:]):
            need(name == b"bucket" or name in known, "filter: unknown name")
            if name == b"bucket":
                self._parts.append(literal)
            else:
                self._parts[-1] += known[name] + literal
        need(self.buckets == 1 or b"bucket" in names, "filter: no {bucket}")
        self._width = len(str(self.buckets - 1))
        name = self.filter_name(0)  # the others differ in digits only
        need(re.fullmatch(rb"[!-~]{1,512}", name), "filter: not a name")
        need(not name.startswith(b"bloomctl:") and b":bloomctl" not in name,
             "filter: bloomctl's own name")
        need(re.fullmatch(rb"[^{}]*|[^{]*\{[^}]+\}.*", name),
             "filter: a hash tag that is empty or open")

    def filter_name(self, bucket):
        return (b"%0*d" % (self._width, bucket)).join(self._parts)

    def derive(self, values):
        """Key, hash, bucket and filter's name of a row, or Rejected."""
        key = self._literals[0]
        for field, value, delimiter, literal in zip(
                self.fields, values, self._delimiters, self._literals[1:]):
            key += field.apply(value, delimiter) + literal
        if not 0 < len(key) <= LIMIT:
            raise Rejected("too-long" if key else "empty")
        digest = xxhash.xxh64_intdigest(key, seed=self.seed)
        bucket = digest % self.buckets
        return key, digest, bucket, self.filter_name(bucket)


def unescape(match):
    digits, octal, other = match.groups()
    if digits or octal:
        return bytes([int(digits or octal, 16 if digits else 8) & 0xFF])
    return LETTERS.get(other[0], other)


def read_rows(file):
    """Rows of COPY text (10).  An escaped tab or \\n is of the value."""
    row = b""
    for line in file:  # a binary file's lines end with \n only
        row += line
        text = row.removesuffix(b"\n")
        if b"\\" not in text:
            yield text.split(b"\t")
        elif (len(text) - len(text.rstrip(b"\\"))) % 2:
            continue
        else:
            yield [None if cell == b"\\N" else ESCAPE.sub(unescape, cell)
                   for cell in CELL.findall(text + b"\t")]
        row = b""
    if row:
        yield []  # ends within an escape


def main(argv):
    try:
        need(len(argv) == 2, "usage: writer.py KEYSPEC")
        keyspec = Keyspec.load(argv[1])
    except KeyspecError as error:
        print(f"writer.py: {error}", file=sys.stderr)
        return 78
    out = sys.stdout.buffer
    for row_no, values in enumerate(read_rows(sys.stdin.buffer), 1):
        if len(values) != len(keyspec.fields):
            print(f"writer.py: row {row_no} has not one value for each field",
                  file=sys.stderr)
            return 65
        try:
            key, digest, bucket, name = keyspec.derive(values)
        except Rejected as reason:
            out.write(b"!%b\n" % str(reason).encode())
        else:
            out.write(b"%b\t%016x\t%d\t%b\n"
                      % (key.hex().encode(), digest, bucket, name))
    out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
