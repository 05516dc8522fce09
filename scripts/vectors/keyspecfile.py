# SPDX-License-Identifier: BSD-2-Clause
"""SPEC.md section 1: the keyspec file."""
from vectors.rules import BLANKS, KeyspecError, MAX_KEYSPEC, NAME, NUMBER
from vectors.utf8 import is_utf8


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
