#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""lib/bloomkey/SPEC.md in Python: what the vectors are made with.

usage: bloomkey_model.py KEYSPEC <ROWS

Written from SPEC.md alone, one small function for each of its rules, and slow;
it shares no code with the C library.  As a program it is a writer as section 10
has it: rows on standard input are COPY text, and each is answered with a line.

Exit status: 0; 64 usage; 65 a row has another number of values; 74 the last
row is cut off; 78 the keyspec or a secret is wrong, or cannot be read.
"""
import base64
import binascii
import hashlib
import hmac
import os
import re
import struct
import sys

# Everything here is bytes.  Python's str would decode, and know more digits,
# blanks and cases than SPEC.md does.

MAX_KEYSPEC = 65536
MAX_VALUE = 65535
MAX_SECRET = 65536
MIN_SECRET = 16
MAX_FILTER = 512
MAX_TRANSFORMS = 16

BLANKS = b"\x20\x09"
TRIMMED = b"\x09\x0a\x0b\x0c\x0d\x20"

# Only ever used with fullmatch(): "$" would also match before a newline.
NAME = re.compile(rb"[A-Za-z0-9_.-]{1,64}")
NUMBER = re.compile(rb"0|[1-9][0-9]*")
VARIABLE = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
HEX = re.compile(rb"(?:[0-9A-Fa-f]{2})*")
INT = re.compile(rb"([+-]?)([0-9]+)")
UUID = re.compile(rb"([0-9A-Fa-f]{8})(-?)([0-9A-Fa-f]{4})\2([0-9A-Fa-f]{4})\2"
                  rb"([0-9A-Fa-f]{4})\2([0-9A-Fa-f]{12})")


class KeyspecError(Exception):
    """The keyspec or a secret is wrong."""


class Reject(Exception):
    """A row has no key; its text is the reason."""


# --- section 5: UTF-8 -----------------------------------------------------

def any_of(first, last):
    return range(first, last + 1)


TAIL = any_of(0x80, 0xBF)
UTF8_ROWS = (
    (any_of(0x00, 0x7F),),
    (any_of(0xC2, 0xDF), TAIL),
    (any_of(0xE0, 0xE0), any_of(0xA0, 0xBF), TAIL),
    (any_of(0xE1, 0xEC), TAIL, TAIL),
    (any_of(0xEE, 0xEF), TAIL, TAIL),
    (any_of(0xED, 0xED), any_of(0x80, 0x9F), TAIL),
    (any_of(0xF0, 0xF0), any_of(0x90, 0xBF), TAIL, TAIL),
    (any_of(0xF1, 0xF3), TAIL, TAIL, TAIL),
    (any_of(0xF4, 0xF4), any_of(0x80, 0x8F), TAIL, TAIL),
)
UTF8_ROW = {first: row for row in UTF8_ROWS for first in row[0]}


def code_point_end(data, at):
    """Where the code point at AT ends, or None if there is none."""
    row = UTF8_ROW.get(data[at])
    if row is None or at + len(row) > len(data):
        return None
    for i, legal in enumerate(row):
        if data[at + i] not in legal:
            return None
    return at + len(row)


def is_utf8(data):
    if max(data, default=0) < 0x80:  # the first row alone, in one step
        return True
    at = 0
    while at < len(data):
        at = code_point_end(data, at)
        if at is None:
            return False
    return True


# --- section 1: the file --------------------------------------------------

def file_lines(data):
    """The lines of a keyspec file, without their ends."""
    if len(data) > MAX_KEYSPEC:
        raise KeyspecError("more than 65536 bytes")
    if not is_utf8(data):
        raise KeyspecError("not UTF-8")
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    lines = data.split(b"\n")
    last = lines.pop()
    lines = [line[:-1] if line[-1:] == b"\r" else line for line in lines]
    if last:
        lines.append(last)  # a CR here is before no LF
    for line in lines:
        if any(b < 0x20 and b != 0x09 or b == 0x7F for b in line):
            raise KeyspecError("a control byte")
    return lines


def section_of(line):
    """("keyspec", None) or ("field", NAME)."""
    if len(line) < 2 or line[-1:] != b"]":
        raise KeyspecError("a section without ]")
    inner = line[1:-1].strip(BLANKS)
    if inner == b"keyspec":
        return "keyspec", None
    if inner[:5] != b"field" or inner[5:6] not in (b" ", b"\t"):
        raise KeyspecError("an unknown section")
    name = inner[5:].strip(BLANKS)
    if not NAME.fullmatch(name):
        raise KeyspecError("a section's name is no NAME")
    return "field", name


def unquote(value):
    """What a value that begins with a quote stands for."""
    out = bytearray()
    at = 1
    while at < len(value):
        byte = value[at:at + 1]
        if byte == b'"':
            if at + 1 != len(value):
                raise KeyspecError("text after the quote")
            return bytes(out)
        if byte == b"\\":
            at += 1
            byte = value[at:at + 1]
            if byte not in (b'"', b"\\"):
                raise KeyspecError("an unknown escape")
        out += byte
        at += 1
    raise KeyspecError("a quote that does not end")


def value_of(text):
    if text[:1] == b'"':
        value = unquote(text)
    else:
        value = text
        for blank in (b" ", b"\t"):
            for mark in (b"#", b";"):
                if blank + mark in value:
                    raise KeyspecError("a comment after a value")
    if not value:
        raise KeyspecError("an empty value")
    return value


def parse_file(data):
    """The names and values of each section: {(kind, NAME): {name: value}}."""
    sections = {}
    section = None
    for line in file_lines(data):
        line = line.strip(BLANKS)
        if not line or line[:1] in (b"#", b";"):
            continue
        if line[:1] == b"[":
            key = section_of(line)
            if key in sections:
                raise KeyspecError("a section twice")
            section = sections[key] = {}
            continue
        name, equals, text = line.partition(b"=")
        if not equals:
            raise KeyspecError("a line without =")
        name = name.strip(BLANKS)
        if not name:
            raise KeyspecError("an empty name")
        if section is None:
            raise KeyspecError("a name above any section")
        if name in section:
            raise KeyspecError("a name twice")
        section[name] = value_of(text.strip(BLANKS))
    if ("keyspec", None) not in sections:
        raise KeyspecError("no [keyspec]")
    return sections


def number_of(text, low, high):
    if not NUMBER.fullmatch(text):
        raise KeyspecError("no NUMBER")
    # int() refuses more than 4300 digits, with another exception.
    if len(text) > 20 or not low <= int(text) <= high:
        raise KeyspecError("a NUMBER out of range")
    return int(text)


def choice_of(text, *choices):
    if text not in choices:
        raise KeyspecError("a word that is not one of the choices")
    return text.decode()


# --- sections 2 and 7: templates ------------------------------------------

def parse_template(text):
    """A list of (True, NAME) and (False, literal bytes)."""
    parts = []
    literal = bytearray()
    at = 0
    while at < len(text):
        two = text[at:at + 2]
        if two in (b"{{", b"}}"):
            literal += two[:1]
            at += 2
        elif two[:1] == b"}":
            raise KeyspecError("a lone }")
        elif two[:1] == b"{":
            end = text.find(b"}", at)
            name = text[at + 1:end]
            if end < 0 or not NAME.fullmatch(name):
                raise KeyspecError("a lone {, or what is in it is no NAME")
            if literal:
                parts.append((False, bytes(literal)))
                literal = bytearray()
            parts.append((True, name))
            at = end + 1
        else:
            literal += two[:1]
            at += 1
    if literal:
        parts.append((False, bytes(literal)))
    return parts


def check_key_template(parts, delimiter):
    names = [text for is_name, text in parts if is_name]
    if not names:
        raise KeyspecError("a key without a field")
    if len(set(names)) != len(names):
        raise KeyspecError("a field twice in the key")
    # Literal text never stands beside literal text, so that what is between
    # two fields is nothing or one part.
    between = b""
    seen = False
    for is_name, text in parts:
        if not is_name:
            between = text
            continue
        if seen and delimiter not in between:
            raise KeyspecError("two fields without the delimiter between")
        seen = True
        between = b""


def fill(parts, values):
    return b"".join(values[text] if is_name else text
                    for is_name, text in parts)


def check_filter_name(name):
    if not 1 <= len(name) <= MAX_FILTER:
        raise KeyspecError("a filter's name is empty or too long")
    if any(not 0x21 <= byte <= 0x7E for byte in name):
        raise KeyspecError("a filter's name is not printable ASCII")
    if name.startswith(b"bloomctl:") or b":bloomctl" in name:
        raise KeyspecError("a filter's name of bloomctl itself")
    if b"{" not in name:
        if b"}" in name:
            raise KeyspecError("a filter's name with } and no {")
        return
    begin = name.find(b"{")
    end = name.find(b"}", begin)
    if end < begin + 2:  # also where there is none
        raise KeyspecError("a filter's name with an empty or open hash tag")


# --- section 4: transforms ------------------------------------------------

def trim(field, value):
    return value.strip(TRIMMED)


def rtrim(field, value):
    return value.rstrip(b"\x20")


def lower(field, value):
    return bytes(b + 0x20 if 0x41 <= b <= 0x5A else b for b in value)


def upper(field, value):
    return bytes(b - 0x20 if 0x61 <= b <= 0x7A else b for b in value)


def uuid(field, value):
    if value[:1] == b"{" and value[-1:] == b"}":
        value = value[1:-1]
    match = UUID.fullmatch(value)
    if not match:
        raise Reject("uuid")
    return lower(field, b"-".join(match.group(1, 3, 4, 5, 6)))


def integer(field, value):
    match = INT.fullmatch(value)
    if not match:
        raise Reject("int")
    sign, digits_ = match.groups()
    digits_ = digits_.lstrip(b"0") or b"0"
    return b"-" + digits_ if sign == b"-" and digits_ != b"0" else digits_


def digits(field, value):
    if any(byte not in b"0123456789 ()-./+" for byte in value):
        raise Reject("digits")
    return bytes(byte for byte in value if 0x30 <= byte <= 0x39)


def first(field, value, n):
    if len(value) <= n:
        return value
    if field.encoding == "bytes":
        return value[:n]
    end = 0
    while True:
        after = code_point_end(value, end)
        if after > n:
            return value[:end]
        end = after


def sha256(field, value):
    return hashlib.sha256(value).hexdigest().encode()


def hmac_sha256(field, value):
    return hmac.new(field.secret, value, hashlib.sha256).hexdigest().encode()


TRANSFORMS = {
    b"trim": trim,
    b"rtrim": rtrim,
    b"lower": lower,
    b"upper": upper,
    b"uuid": uuid,
    b"int": integer,
    b"digits": digits,
    b"sha256": sha256,
    b"hmac-sha256": hmac_sha256,
}


def parse_transform(text):
    """A function of field and value."""
    if text in TRANSFORMS:
        return TRANSFORMS[text]
    if text[:6] == b"first:":
        n = number_of(text[6:], 1, MAX_VALUE)
        return lambda field, value: first(field, value, n)
    raise KeyspecError("an unknown transform")


def parse_transforms(text):
    """The transforms as they are written, without blanks."""
    names = [name.strip(BLANKS) for name in text.split(b",")]
    if len(names) > MAX_TRANSFORMS:
        raise KeyspecError("too many transforms")
    if names.count(b"hmac-sha256") > 1:
        raise KeyspecError("hmac-sha256 twice")
    for name in names:
        parse_transform(name)
    return names


# --- section 6: secrets ---------------------------------------------------

def parse_secret(text):
    """(form, kind, where), of which form is b"", b"hex" or b"base64"."""
    form = b""
    for prefix in (b"hex:", b"base64:"):
        if text.startswith(prefix):
            form = prefix[:-1]
            text = text[len(prefix):]
            break
    kind, colon, where = text.partition(b":")
    if not colon or kind not in (b"env", b"file"):
        raise KeyspecError("a secret is neither env: nor file:")
    if kind == b"env" and not VARIABLE.fullmatch(where):
        raise KeyspecError("a secret's variable has no such name")
    if not where:
        raise KeyspecError("a secret's file has no name")
    return form, kind, where


def secret_content(kind, where, folder, environment):
    if kind == b"env":
        if where not in environment:
            raise KeyspecError("a secret's variable is not set")
        return environment[where]
    try:
        with open(os.path.join(folder, where), "rb") as file:
            return file.read(MAX_SECRET + 1)
    except (OSError, ValueError):
        raise KeyspecError("a secret's file cannot be read") from None


def drop_line_end(content):
    if content[-1:] == b"\n":
        content = content[:-1]
        if content[-1:] == b"\r":
            content = content[:-1]
    return content


def decode_hex(text):
    # fromhex() passes over blanks.
    if not HEX.fullmatch(text):
        raise KeyspecError("a secret is not hexadecimal")
    return bytes.fromhex(text.decode())


def decode_base64(text):
    try:
        result = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise KeyspecError("a secret is not base64") from None
    # It accepts unused bits that are not zero, and more.
    if base64.b64encode(result) != text:
        raise KeyspecError("a secret is not strictly base64")
    return result


def secret_of(form, content):
    if len(content) > MAX_SECRET:
        raise KeyspecError("a secret of more than 65536 bytes")
    content = drop_line_end(content)
    if form == b"hex":
        content = decode_hex(content)
    elif form == b"base64":
        content = decode_base64(content)
    if len(content) < MIN_SECRET:
        raise KeyspecError("a secret of less than 16 bytes")
    return content


def check_value(secret):
    tag = hmac.new(secret, b"bloomkey check 1", hashlib.sha256)
    return tag.digest()[:8].hex()


# --- the keyspec ----------------------------------------------------------

KEYSPEC_NAMES = {b"version", b"name", b"key", b"buckets", b"filter", b"seed",
                 b"delimiter", b"encoding", b"sentinel"}
FIELD_NAMES = {b"column", b"encoding", b"empty", b"null", b"transform",
               b"secret"}


class Field:
    def __init__(self, name, given, encoding, folder, environment):
        if set(given) - FIELD_NAMES:
            raise KeyspecError("an unknown name in [field]")
        self.name = name
        self.column = given.get(b"column", name)
        self.encoding = choice_of(given.get(b"encoding", encoding),
                                  b"utf-8", b"bytes")
        self.empty = choice_of(given.get(b"empty", b"reject"),
                               b"reject", b"allow")
        self.null = choice_of(given.get(b"null", b"reject"),
                              b"reject", b"empty")
        if self.null == "empty" and self.empty != "allow":
            raise KeyspecError("null=empty without empty=allow")
        self.transform_names = []
        if b"transform" in given:
            self.transform_names = parse_transforms(given[b"transform"])
        self.transforms = [parse_transform(t) for t in self.transform_names]
        self.secret = None
        if (b"hmac-sha256" in self.transform_names) != (b"secret" in given):
            raise KeyspecError("hmac-sha256 without secret, or the reverse")
        if b"secret" in given:
            form, kind, where = parse_secret(given[b"secret"])
            content = secret_content(kind, where, folder, environment)
            self.secret = secret_of(form, content)


class Keyspec:
    """A keyspec file, its secrets and what follows from them."""

    def __init__(self, data, folder=b".", environment=None):
        """ENVIRONMENT has names and contents as bytes."""
        environment = os.environb if environment is None else environment
        sections = parse_file(data)
        given = sections.pop(("keyspec", None))
        if set(given) - KEYSPEC_NAMES:
            raise KeyspecError("an unknown name in [keyspec]")
        for name in (b"version", b"name", b"key", b"buckets", b"filter"):
            if name not in given:
                raise KeyspecError(f"no {name.decode()}")
        if given[b"version"] != b"1":
            raise KeyspecError("another version")
        self.name = given[b"name"]
        if not NAME.fullmatch(self.name):
            raise KeyspecError("the set's name is no NAME")
        self.buckets = number_of(given[b"buckets"], 1, 65536)
        self.seed = number_of(given.get(b"seed", b"0"), 0, 2 ** 64 - 1)
        self.delimiter = given.get(b"delimiter", b":")
        if len(self.delimiter) != 1 or not 0x20 <= self.delimiter[0] <= 0x7E:
            raise KeyspecError("the delimiter is not one printable byte")
        encoding = given.get(b"encoding", b"utf-8")
        choice_of(encoding, b"utf-8", b"bytes")
        self.key_text = given[b"key"]
        self.key_parts = parse_template(self.key_text)
        check_key_template(self.key_parts, self.delimiter)
        names = [text for is_name, text in self.key_parts if is_name]
        if any(name not in names for _, name in sections):
            raise KeyspecError("a [field] that is not in the key")
        self.fields = [Field(name, sections.get(("field", name), {}),
                             encoding, folder, environment) for name in names]
        self.sentinel_text = given.get(b"sentinel")
        self.filter_text = given[b"filter"]
        self.filter_parts = parse_template(self.filter_text)
        self.check_filter_template()
        self.fingerprint_lines = self.make_fingerprint_lines()
        self.fingerprint = hashlib.sha256(self.fingerprint_lines).hexdigest()
        # As long as {bucket} has leading zeros, all are like this one.
        check_filter_name(self.filter_name(0))

    def check_filter_template(self):
        names = [text for is_name, text in self.filter_parts if is_name]
        if set(names) - {b"name", b"bucket", b"fp"}:
            raise KeyspecError("an unknown name in the filter")
        if self.buckets != 1 and b"bucket" not in names:
            raise KeyspecError("a filter without {bucket}")

    # Section 9.
    def make_fingerprint_lines(self):
        if self.sentinel_text is None:
            sentinel = "default"
        elif self.sentinel_text == b"none":
            sentinel = "none"
        else:
            sentinel = self.sentinel_text.hex()
        lines = ["bloomkey-keyspec-1",
                 f"name={self.name.decode()}",
                 f"buckets={self.buckets}",
                 f"seed={self.seed}",
                 f"delimiter={self.delimiter.hex()}",
                 f"key={self.key_text.hex()}",
                 f"filter={self.filter_text.hex()}",
                 f"sentinel={sentinel}"]
        for field in self.fields:
            transforms = b",".join(field.transform_names).decode()
            lines += [f"field={field.name.decode()}",
                      f"encoding={field.encoding}",
                      f"empty={field.empty}",
                      f"null={field.null}",
                      f"transform={transforms}"]
            if field.secret is not None:
                lines.append(f"check={check_value(field.secret)}")
        return "".join(line + "\n" for line in lines).encode()

    # Section 8.
    def sentinel(self):
        """The sentinel's bytes, or None."""
        if self.sentinel_text == b"none":
            return None
        if self.sentinel_text is None:
            return b"bloomkey:" + self.fingerprint[:8].encode()
        return self.sentinel_text

    # Section 7.
    def filter_name(self, bucket):
        width = len(str(self.buckets - 1))
        return fill(self.filter_parts,
                    {b"name": self.name,
                     b"bucket": str(bucket).rjust(width, "0").encode(),
                     b"fp": self.fingerprint[:8].encode()})

    def hash(self, key):
        return xxh64(key, self.seed)

    # Section 3.
    def key(self, values):
        """The key of a row: bytes or None in template order."""
        if len(values) != len(self.fields):
            raise ValueError("another number of values")
        done = {}
        for field, value in zip(self.fields, values):
            value = derive(field, value)
            if self.delimiter in value and field is not self.fields[-1]:
                raise Reject("delimiter")
            done[field.name] = value
        key = fill(self.key_parts, done)
        if not key:
            raise Reject("empty")
        if len(key) > MAX_VALUE:
            raise Reject("too-long")
        return key

    # Section 10.
    def answer(self, values):
        """The line of a row, without its end."""
        try:
            key = self.key(values)
        except Reject as reason:
            return b"!" + str(reason).encode()
        hash_ = self.hash(key)
        bucket = hash_ % self.buckets
        return b"\t".join((key.hex().encode(), b"%016x" % hash_,
                           b"%d" % bucket, self.filter_name(bucket)))


def derive(field, value):
    """Steps 1 to 6 of section 3 on the value of one field."""
    if value is None:
        if field.null == "reject":
            raise Reject("null")
        value = b""
    if len(value) > MAX_VALUE:
        raise Reject("too-long")
    if field.encoding == "utf-8" and not is_utf8(value):
        raise Reject("encoding")
    if not value and field.empty == "reject":
        raise Reject("empty")
    for transform in field.transforms:
        value = transform(field, value)
        if len(value) > MAX_VALUE:
            raise Reject("too-long")
    if not value and field.empty == "reject":
        raise Reject("empty")
    return value


# --- XXH64, as xxhash_spec.md has it --------------------------------------

M64 = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F,
                      0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)


def rotate(x, n):
    return (x << n | x >> (64 - n)) & M64


def xxh_round(acc, lane):
    return rotate((acc + lane * P2) & M64, 31) * P1 & M64


def xxh64(data, seed=0):
    at, n = 0, len(data)
    if n >= 32:
        acc = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed,
               (seed - P1) & M64]
        while at + 32 <= n:
            lanes = struct.unpack_from("<4Q", data, at)
            acc = [xxh_round(a, lane) for a, lane in zip(acc, lanes)]
            at += 32
        h = sum(rotate(a, r) for a, r in zip(acc, (1, 7, 12, 18))) & M64
        for a in acc:
            h = ((h ^ xxh_round(0, a)) * P1 + P4) & M64
    else:
        h = (seed + P5) & M64
    h = (h + n) & M64
    while at + 8 <= n:
        lane, = struct.unpack_from("<Q", data, at)
        h = (rotate(h ^ xxh_round(0, lane), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= n:
        lane, = struct.unpack_from("<I", data, at)
        h = (rotate(h ^ lane * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P5 & M64, 11) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


# --- section 10: COPY text ------------------------------------------------

LETTERS = {b"b": b"\x08", b"f": b"\x0c", b"n": b"\x0a", b"r": b"\x0d",
           b"t": b"\x09", b"v": b"\x0b"}
ESCAPES = {value[0]: b"\\" + letter for letter, value in LETTERS.items()}
ESCAPES[0x5C] = b"\\\\"
ESCAPES[0x00] = b"\\x00"
ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|([\x00-\xff]))")
# An escaped tab or newline ends no value and no row.
VALUE = re.compile(rb"(?:\\[\x00-\xff]|[^\\\t])*\\?")


def unescape(text):
    def one(match):
        hexadecimal, octal, other = match.groups()
        if hexadecimal:
            return bytes((int(hexadecimal, 16),))
        if octal:
            return bytes((int(octal, 8) & 0xFF,))
        return LETTERS.get(other, other)
    return ESCAPE.sub(one, text)


def read_row(line):
    """The values of a line of COPY text, without its end."""
    values = []
    at = -1
    while at < len(line):
        match = VALUE.match(line, at + 1)
        text = match.group()
        values.append(None if text == b"\\N" else unescape(text))
        at = match.end()
    return values


def read_lines(file):
    """The lines of COPY text, without their ends."""
    line = b""
    for part in file:
        line += part
        if line[-1:] != b"\n":
            break
        before = line[:-1]
        if (len(before) - len(before.rstrip(b"\\"))) % 2 == 0:
            yield before
            line = b""
    if line:
        raise EOFError


def write_row(values):
    return b"\t".join(
        b"\\N" if value is None else
        b"".join(ESCAPES.get(b, bytes((b,))) for b in value)
        for value in values)


# --- the program ----------------------------------------------------------

def stop(status, what):
    sys.stdout.flush()
    print(f"bloomkey_model.py: {what}", file=sys.stderr)
    sys.exit(status)


def main():
    arguments = sys.argv[1:]
    if arguments == ["--help"]:
        print(__doc__, end="")
        return
    if len(arguments) != 1:
        stop(64, "usage: bloomkey_model.py KEYSPEC <ROWS")
    path = os.fsencode(arguments[0])
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_KEYSPEC + 1)
    except OSError as error:
        stop(78, f"{arguments[0]}: {error.strerror}")
    try:
        keyspec = Keyspec(data, os.path.dirname(path))
    except KeyspecError as error:
        stop(78, f"{arguments[0]}: {error}")
    try:
        for line in read_lines(sys.stdin.buffer):
            values = read_row(line)
            if len(values) != len(keyspec.fields):
                stop(65, "a row has another number of values")
            sys.stdout.buffer.write(keyspec.answer(values) + b"\n")
    except EOFError:
        stop(74, "the last row is cut off")


if __name__ == "__main__":
    main()
