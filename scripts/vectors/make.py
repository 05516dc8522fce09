# SPDX-License-Identifier: BSD-2-Clause
"""How a vector is written: a keyspec that is right or wrong, and rows of it.

Each states what it expects (accepted, or refused for what; a key, or the
reason), so that a mistake here or in the model shows at once.
"""
import re
import sys

import vectors.keyspec as model


KEYSPEC_COLUMNS = ("id", "catches", "keyspec", "secrets", "status",
                   "fingerprint", "sentinel", "first", "last")
ROW_COLUMNS = ("keyspec", "catches", "values", "key", "hash", "bucket",
               "filter", "reject")

keyspec_lines = []
row_lines = []
keyspecs = {}  # id -> model.Keyspec


def spec(*sections, **given):
    """The text of a keyspec; a name given as None is left out."""
    names = {"version": "1", "name": "set", "key": "{id}", "buckets": "16",
             "filter": "{name}:{bucket}"}
    names.update(given)
    text = "[keyspec]\n" + "".join(f"{name} = {value}\n"
                                   for name, value in names.items()
                                   if value is not None)
    return text + "".join(sections)


def field(name="id", **given):
    return f"[field {name}]\n" + "".join(
        f"{key} = {value}\n" for key, value in given.items())


def add_keyspec(name, catches, text, secrets):
    """The model's keyspec, or what is wrong with it."""
    data = text.encode() if isinstance(text, str) else text
    check_catches(catches)
    if not re.fullmatch("[A-Za-z0-9._-]+", name):
        sys.exit(f"gen-vectors: no id: '{name}'")
    if any(line[0] == name for line in keyspec_lines):
        sys.exit(f"gen-vectors: there are two keyspecs '{name}'")
    try:
        made = make_keyspec(data, secrets)
        last = made.filter_name(made.buckets - 1)
        sentinel = made.sentinel()
        cells = ("0", made.fingerprint,
                 "none" if sentinel is None else sentinel.hex(),
                 made.filter_name(0).decode(), last.decode())
        keyspecs[name] = made
    except model.KeyspecError as error:
        made = str(error)
        cells = ("78", "", "", "", "")
    cell = ",".join(f"{place}={content.hex()}"
                    for place, content in secrets.items())
    keyspec_lines.append((name, catches, data.hex(), cell) + cells)
    return made


def make_keyspec(data, secrets):
    """SECRETS: {"env:NAME" or "file:NAME": content}."""
    environment = {}
    files = {}
    for place, content in secrets.items():
        kind, _, where = place.partition(":")
        (environment if kind == "env" else files)[where.encode()] = content

    # Of what the model looks for, nothing of this machine is there.
    def content_of(kind, where, folder, environment):
        if kind == b"env":
            return real(kind, where, folder, environment)
        plain = where[2:] if where[:2] == b"./" else where
        if plain not in files:
            raise model.KeyspecError("a secret's file cannot be read")
        return files[plain]

    real = model.secret_content
    model.secret_content = content_of
    try:
        return model.Keyspec(data, b".", environment)
    finally:
        model.secret_content = real


def check_catches(catches):
    if not re.fullmatch("[A-Z][A-Za-z0-9]*: [^\0-\x1f\x7f]+", catches):
        sys.exit(f"gen-vectors: not 'Name: what it is': {catches!r}")


def good(name, catches, text, **secrets):
    """A keyspec that is right; secrets as env_NAME=... or from_file={...}."""
    places = dict(secrets.pop("from_file", {}))
    places = {f"file:{key}": value for key, value in places.items()}
    for key, value in secrets.items():
        places[f"env:{key[4:]}"] = value
    made = add_keyspec(name, catches, text, places)
    if isinstance(made, str):
        sys.exit(f"gen-vectors: {name}: {made}")


def bad(why, *table):
    """Keyspecs that are wrong for WHY: (id, catches, text[, secrets])."""
    for name, catches, text, *secrets in table:
        made = add_keyspec(name, catches, text, secrets[0] if secrets else {})
        if made != why:
            sys.exit(f"gen-vectors: {name}: {made} and not {why}")


def add_row(name, catches, values):
    """The key, or the reason as a string."""
    check_catches(catches)
    made = keyspecs[name]
    cell = ",".join("-" if value is None else value.hex() for value in values)
    try:
        key = made.key(values)
    except model.Reject as reason:
        row_lines.append((name, catches, cell, "", "", "", "", str(reason)))
        return str(reason)
    hash_ = made.hash(key)
    bucket = hash_ % made.buckets
    row_lines.append((name, catches, cell, key.hex(), f"{hash_:016x}",
                      str(bucket), made.filter_name(bucket).decode(), ""))
    return key


def rows(name, *table):
    """Rows that have a key: (catches, value of each field...)."""
    for catches, *values in table:
        key = add_row(name, catches, values)
        if isinstance(key, str):
            sys.exit(f"gen-vectors: {name}: {catches}: {key}")


def maps(name, *table):
    """Rows of one value, and their keys: (catches, value, key)."""
    for catches, value, expected in table:
        key = add_row(name, catches, [value])
        if key != expected:
            sys.exit(f"gen-vectors: {name}: {catches}: {key}")


def rejects(name, reason, *table):
    """Rows that have none, for REASON: (catches, value of each field...)."""
    for catches, *values in table:
        key = add_row(name, catches, values)
        if key != reason:
            sys.exit(f"gen-vectors: {name}: {catches}: {key}")


def noise(n, seed=1):
    """N bytes by a generator of our own, so that they never change."""
    out = bytearray()
    x = seed
    while len(out) < n:
        x = (x * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        out.append(x >> 56)
    return bytes(out)


def letters(n, seed=1):
    """N lower-case letters and digits."""
    chars = b"abcdefghijklmnopqrstuvwxyz0123456789"
    return bytes(chars[b % 36] for b in noise(n, seed))


def find(name, prefix, is_it, count=1):
    """COUNT values, PREFIX and a number, for whose hash IS_IT(hash, buckets).

    So that a vector shows a mistake for certain and not by chance.
    """
    made = keyspecs[name]
    found = []
    i = 0
    while len(found) < count:
        value = prefix + b"%d" % i
        if is_it(made.hash(made.key([value])), made.buckets):
            found.append(value)
        i += 1
    return found
