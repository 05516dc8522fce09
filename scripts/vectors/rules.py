# SPDX-License-Identifier: BSD-2-Clause
"""The limits of SPEC.md, and how a program says that they are not kept.

Everything is bytes: Python's str would decode, and know more digits, blanks
and cases than SPEC.md does.
"""
import re


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
