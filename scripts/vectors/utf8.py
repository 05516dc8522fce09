# SPDX-License-Identifier: BSD-2-Clause
"""SPEC.md section 5: what is UTF-8."""


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
