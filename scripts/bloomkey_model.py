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
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from vectors.rules import KeyspecError, MAX_KEYSPEC  # noqa: E402
from vectors.copytext import read_lines, read_row  # noqa: E402
from vectors.keyspec import Keyspec  # noqa: E402


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
