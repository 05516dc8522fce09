# SPDX-License-Identifier: BSD-2-Clause
"""SPEC.md sections 2 and 7: templates of keys and of filter names."""
from vectors.rules import KeyspecError, MAX_FILTER, NAME


def parse_template(text):
    """A list of (True, NAME) and (False, literal bytes)."""
    parts = []
    literal = bytearray()
    at = 0
    while at < len(text):
        two = text[at:at + 2]
        if two in (b"{{", b"}}"):
            literal += two[:1]
            at += 2
        elif two[:1] == b"}":
            raise KeyspecError("a lone }")
        elif two[:1] == b"{":
            end = text.find(b"}", at)
            name = text[at + 1:end]
            if end < 0 or not NAME.fullmatch(name):
                raise KeyspecError("a lone {, or what is in it is no NAME")
            if literal:
                parts.append((False, bytes(literal)))
                literal = bytearray()
            parts.append((True, name))
            at = end + 1
        else:
            literal += two[:1]
            at += 1
    if literal:
        parts.append((False, bytes(literal)))
    return parts


def check_key_template(parts, delimiter):
    names = [text for is_name, text in parts if is_name]
    if not names:
        raise KeyspecError("a key without a field")
    if len(set(names)) != len(names):
        raise KeyspecError("a field twice in the key")
    # Literal text never stands beside literal text, so that what is between
    # two fields is nothing or one part.
    between = b""
    seen = False
    for is_name, text in parts:
        if not is_name:
            between = text
            continue
        if seen and delimiter not in between:
            raise KeyspecError("two fields without the delimiter between")
        seen = True
        between = b""


def fill(parts, values):
    return b"".join(values[text] if is_name else text
                    for is_name, text in parts)


def check_filter_name(name):
    if not 1 <= len(name) <= MAX_FILTER:
        raise KeyspecError("a filter's name is empty or too long")
    if any(not 0x21 <= byte <= 0x7E for byte in name):
        raise KeyspecError("a filter's name is not printable ASCII")
    if name.startswith(b"bloomctl:") or b":bloomctl" in name:
        raise KeyspecError("a filter's name of bloomctl itself")
    if b"{" not in name:
        if b"}" in name:
            raise KeyspecError("a filter's name with } and no {")
        return
    begin = name.find(b"{")
    end = name.find(b"}", begin)
    if end < begin + 2:  # also where there is none
        raise KeyspecError("a filter's name with an empty or open hash tag")
