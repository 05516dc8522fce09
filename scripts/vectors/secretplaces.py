# SPDX-License-Identifier: BSD-2-Clause
"""SPEC.md section 6: secrets."""
import base64
import binascii
import hashlib
import hmac
import os

from vectors.rules import HEX, KeyspecError, MAX_SECRET, MIN_SECRET, VARIABLE


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
