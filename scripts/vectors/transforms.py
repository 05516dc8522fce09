# SPDX-License-Identifier: BSD-2-Clause
"""SPEC.md section 4: transforms."""
import hashlib
import hmac

from vectors.rules import (
    BLANKS, INT, KeyspecError, MAX_TRANSFORMS, MAX_VALUE, Reject, TRIMMED,
    UUID)
from vectors.utf8 import code_point_end
from vectors.keyspecfile import number_of


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
