#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A writer that loads libbloomkey.so by a foreign function interface.

usage: writer.py LIBRARY KEYSPEC <ROWS

Speaks the protocol of SPEC.md section 10.  The secrets come through a callback
in Python, as those of a service would that keeps them elsewhere.
"""
import ctypes
import errno
import os
import re
import sys

MAX = 65535
FILTER_MAX = 512
PLACE_ENV = 1


class Error(ctypes.Structure):
    _fields_ = [("line", ctypes.c_uint), ("text", ctypes.c_char * 256)]


class Result(ctypes.Structure):
    _fields_ = [("len", ctypes.c_size_t), ("hash", ctypes.c_uint64),
                ("bucket", ctypes.c_uint32), ("field", ctypes.c_size_t)]


Spec = ctypes.c_void_p
Secret = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
                          ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t,
                          use_errno=True)


def load(path):
    library = ctypes.CDLL(path)
    library.bloomkey_parse.argtypes = [
        ctypes.c_char_p, ctypes.c_size_t, Secret, ctypes.c_void_p,
        ctypes.POINTER(Spec), ctypes.POINTER(Error)]
    library.bloomkey_fields.argtypes = [Spec]
    library.bloomkey_fields.restype = ctypes.c_size_t
    library.bloomkey_derive.argtypes = [
        Spec, ctypes.POINTER(ctypes.c_char_p),
        ctypes.POINTER(ctypes.c_size_t), ctypes.c_char_p, ctypes.c_size_t,
        ctypes.POINTER(Result)]
    library.bloomkey_filter.argtypes = [
        Spec, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t]
    library.bloomkey_reason.restype = ctypes.c_char_p
    library.bloomkey_free.argtypes = [Spec]
    library.bloomkey_free.restype = None
    return library


def secrets_of(keyspec):
    """The function for bloomkey_parse() that has that keyspec's secrets."""

    @Secret
    def secret(_ctx, place, name, out, cap):
        try:
            if place == PLACE_ENV:
                content = os.environb[name][:cap]
            else:
                folder = os.fsencode(os.path.dirname(keyspec))
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read(cap)
        except (KeyError, OSError) as error:
            ctypes.set_errno(getattr(error, "errno", errno.ENOENT))
            return -1
        ctypes.memmove(out, content, len(content))
        return len(content)

    return secret


LETTERS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t",
           b"v": b"\v"}


def unescaped(match):
    digits, octal, other = match.groups()
    if digits is not None:
        return bytes((int(digits, 16),))
    if octal is not None:
        return bytes((int(octal, 8) & 0xFF,))
    return LETTERS.get(other, other)


def value_of(text):
    if text == rb"\N":
        return None
    return re.sub(rb"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.))", unescaped,
                  text, flags=re.DOTALL)


def answer(library, spec, values):
    array = (ctypes.c_char_p * len(values))(*values)
    lens = (ctypes.c_size_t * len(values))(*[len(v or b"") for v in values])
    out = ctypes.create_string_buffer(MAX)
    result = Result()
    code = library.bloomkey_derive(spec, array, lens, out, MAX, result)
    if code != 0:
        return "!" + library.bloomkey_reason(code).decode()
    name = ctypes.create_string_buffer(FILTER_MAX + 1)
    library.bloomkey_filter(spec, result.bucket, name, len(name))
    key = out.raw[:result.len].hex()
    return f"{key}\t{result.hash:016x}\t{result.bucket}\t{name.value.decode()}"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: writer.py LIBRARY KEYSPEC <ROWS")
    library = load(sys.argv[1])
    with open(sys.argv[2], "rb") as file:
        text = file.read()
    spec, error = Spec(), Error()
    secret = secrets_of(sys.argv[2])
    code = library.bloomkey_parse(text, len(text), secret, None, spec, error)
    if code != 0:
        print(f"{code}: {error.line}: {error.text.decode()}", file=sys.stderr)
        sys.exit(78)
    for line in sys.stdin.buffer:
        values = [value_of(text) for text in line[:-1].split(b"\t")]
        if len(values) != library.bloomkey_fields(spec):
            sys.exit("a row has another number of values")
        print(answer(library, spec, values))
    library.bloomkey_free(spec)


if __name__ == "__main__":
    main()
