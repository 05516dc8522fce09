#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
#
# What a writer needs that loads libbloomkey.so by a foreign function interface:
#
#	derive.py LIBRARY KEYSPEC [SECRET] <ROWS
#
# A row has a tab between two values, and \N for NULL.  The answer to each is a
# line as `bloomctl key --stdin` writes it.  SECRET is a file: what the keyspec
# says of the place is not looked at.  Ends with 78 if the keyspec is wrong.
import ctypes
import errno
import sys

MAX = 65535
FILTER_MAX = 512


class Error(ctypes.Structure):
    _fields_ = [("line", ctypes.c_uint), ("text", ctypes.c_char * 256)]


class Result(ctypes.Structure):
    _fields_ = [
        ("len", ctypes.c_size_t),
        ("hash", ctypes.c_uint64),
        ("bucket", ctypes.c_uint32),
        ("field", ctypes.c_size_t),
    ]


Spec = ctypes.c_void_p
Secret = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    use_errno=True,
)


def load(path):
    library = ctypes.CDLL(path)
    library.bloomkey_parse.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        Secret,
        ctypes.c_void_p,
        ctypes.POINTER(Spec),
        ctypes.POINTER(Error),
    ]
    library.bloomkey_fields.argtypes = [Spec]
    library.bloomkey_fields.restype = ctypes.c_size_t
    library.bloomkey_derive.argtypes = [
        Spec,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.POINTER(ctypes.c_size_t),
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.POINTER(Result),
    ]
    library.bloomkey_filter.argtypes = [
        Spec,
        ctypes.c_uint32,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    library.bloomkey_reason.restype = ctypes.c_char_p
    library.bloomkey_free.argtypes = [Spec]
    library.bloomkey_free.restype = None
    return library


def secret_from(path):
    """A function for bloomkey_parse() that has the content of that file."""

    @Secret
    def secret(_ctx, _place, _name, out, cap):
        try:
            with open(path, "rb") as file:
                content = file.read(cap)
        except OSError as error:
            ctypes.set_errno(error.errno or errno.EIO)
            return -1
        ctypes.memmove(out, content, len(content))
        return len(content)

    return secret


def answer(library, spec, values):
    fields = library.bloomkey_fields(spec)
    if len(values) != fields:
        sys.exit(f"a row has {len(values)} values, not {fields}")
    array = (ctypes.c_char_p * fields)(*values)
    lens = (ctypes.c_size_t * fields)(*[len(v or b"") for v in values])
    out = ctypes.create_string_buffer(MAX)
    result = Result()
    code = library.bloomkey_derive(spec, array, lens, out, MAX, result)
    if code != 0:
        return "!" + library.bloomkey_reason(code).decode()
    name = ctypes.create_string_buffer(FILTER_MAX + 1)
    library.bloomkey_filter(spec, result.bucket, name, len(name))
    key = out.raw[: result.len].hex()
    return f"{key}\t{result.hash:016x}\t{result.bucket}\t{name.value.decode()}"


def main():
    library = load(sys.argv[1])
    with open(sys.argv[2], "rb") as file:
        text = file.read()
    secret = secret_from(sys.argv[3]) if len(sys.argv) > 3 else Secret()
    spec, error = Spec(), Error()
    code = library.bloomkey_parse(text, len(text), secret, None, spec, error)
    if code != 0:
        print(f"{code}: {error.line}: {error.text.decode()}", file=sys.stderr)
        sys.exit(78)
    for line in sys.stdin.buffer:
        values = line.rstrip(b"\n").split(b"\t")
        values = [None if value == rb"\N" else value for value in values]
        print(answer(library, spec, values))
    library.bloomkey_free(spec)


if __name__ == "__main__":
    main()
