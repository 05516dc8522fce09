# SPDX-License-Identifier: BSD-2-Clause
"""SPEC.md sections 3, 8 and 9: a keyspec, and what it makes of a row."""
import hashlib
import os

from vectors.rules import KeyspecError, MAX_VALUE, NAME, Reject
from vectors.utf8 import is_utf8
from vectors.keyspecfile import choice_of, number_of, parse_file
from vectors.templates import (
    check_filter_name, check_key_template, fill, parse_template)
from vectors.transforms import parse_transform, parse_transforms
from vectors.secretplaces import (
    check_value, parse_secret, secret_content, secret_of)
from vectors.xxh64 import xxh64


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
