# SPDX-License-Identifier: BSD-2-Clause
"""SPEC.md section 10: COPY text."""
import re


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
