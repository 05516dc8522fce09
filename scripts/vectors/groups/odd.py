# SPDX-License-Identifier: BSD-2-Clause
"""What is large, and what is odd otherwise; and what came later."""
import sys

from vectors.make import bad, field, good, letters, rejects, rows, spec


def large():
    """Seven lines of 64 KiB, and no more: hexadecimal is twice as long."""
    head = spec(key="?", buckets="200")
    sections = field("b", transform="int")
    room = 65536 - len(head) + 1 - len(sections) - len("{a}:{b}")
    key = letters(room, 3).decode() + "{a}:{b}"
    text = head.replace("?", key) + sections
    if len(text) != 65536:
        sys.exit("gen-vectors: the large keyspec is not of 65536 bytes")
    good("large", "FileLength: 65,536 bytes, nearly all of them key", text)
    for n in (65534, 65535):
        rows("large", (f"KeyLength: {n} bytes with the literal text",
                       b"v" * (n - room - 2), b"5"))
    rejects("large", "too-long",
            ("KeyLength: 65,536 bytes", b"v" * (65536 - room - 2), b"5"),
            ("KeyLength: the length is that behind the transforms",
             b"v" * (65535 - room - 2), b"-5"))
    rejects("large", "null",
            ("ReasonOrder: the key's length comes behind all fields",
             b"v" * 500, None))
    rejects("large", "int",
            ("ReasonOrder: the key's length comes behind all transforms",
             b"v" * 500, b"x"))
    rejects("large", "delimiter",
            ("ReasonOrder: the key's length comes behind the delimiter",
             b"v:" * 500, b"1"))
    bad("more than 65536 bytes",
        ("large-more", "FileLength: 65,537 bytes, of which three are the byte "
         "order mark",
         "\ufeff" + "#" * (65534 - len(spec()) - 1) + "\n" + spec()))
    good("large-value", "ValueLength: a value alone", spec())
    rejects("large-value", "too-long",
            ("ReasonOrder: too long comes before encoding",
             b"\xff" + letters(65535, 5)))
    good("large-first", "ValueLength: judged before the transforms",
         spec(field(transform="trim,first:1", encoding="bytes")))
    rejects("large-first", "too-long",
            ("ValueLength: 65,536 bytes, though little would be left",
             b"v" + b" " * 65535))
    good("large-sha256", "ValueLength: of what is hashed",
         spec(field(transform="sha256")))
    rows("large-sha256", ("ValueLength: 65,535 bytes are hashed",
                          b"v" * 65535))


def odd_names():
    good("names-objects", "FieldNames: names that objects of JavaScript have",
         spec(field("__proto__", transform="lower"),
              field("constructor", transform="upper"),
              field("toString", transform="int"), name="__proto__",
              key="{__proto__}:{constructor}:{toString}:{length}"))
    rows("names-objects",
         ("FieldNames: they are names as any other", b"Ab", b"Ab", b"01",
          b"x"))
    good("names-numbers", "FieldOrder: names that are numbers are not sorted",
         spec(field("1", transform="lower"), field("0", transform="upper"),
              field("10", transform="int"), key="{b}:{10}:{1}:{0}"))
    rows("names-numbers",
         ("FieldOrder: that of the template", b"Xy", b"07", b"Xy", b"Xy"))
    good("names-words", "FieldNames: words that mean something elsewhere",
         spec(field("keyspec", transform="lower"),
              field("bucket", transform="int"), field("field", empty="allow"),
              key="{keyspec}:{name}:{field}:{bucket}", delimiter=":"))
    rows("names-words",
         ("FieldNames: {name} and {bucket} of a key are fields", b"X", b"Y",
          b"", b"+3"))
    good("names-case", "FieldNames: upper and lower case are two fields",
         spec(field("ID", transform="upper"), field("id", transform="lower"),
              key="{id}:{ID}"))
    rows("names-case", ("FieldNames: each is its own", b"Ab", b"Ab"))


def odd_input():
    good("input-bom", "ByteOrderMark: of the input, it is the first value's",
         spec())
    rows("input-bom",
         ("ByteOrderMark: at the very start of the input it stays",
          "\ufeffa".encode()),
         ("ByteOrderMark: in the second row too", "\ufeffa".encode()))
    good("input-empty", "EmptyLine: an empty line is a row",
         spec(field(empty="allow"), key="k:{id}"))
    rows("input-empty",
         ("EmptyLine: the first", b""), ("EmptyLine: and the second", b""),
         ("EmptyLine: another row between", b"x"),
         ("EmptyLine: the last", b""))
    good("input-null", "NullOnly: no row of the input has a key", spec())
    rejects("input-null", "null",
            ("NullOnly: the first", None), ("NullOnly: the second", None))
    good("input-blanks", "BlankLine: blanks alone are values",
         spec(key="{a}:{b}"))
    rows("input-blanks",
         ("BlankLine: blanks and a tab between", b" ", b" "),
         ("BlankLine: a tab in each value", b"\t", b"\t"))
    good("input-comment", "CommentLine: # begins no comment in the input",
         spec())
    rows("input-comment",
         ("CommentLine: #", b"#a"), ("CommentLine: --", b"--a"),
         ("CommentLine: the word id is no header", b"id"))


def columns():
    good("column-fp", "Fingerprint: what the source calls a field is not in it",
         spec(field(column="card_number"), filter="{name}:{bucket}:{fp}"))
    rows("column-fp", ("Fingerprint: of a field with a column", b"4711"))
    rows("first-65535-bytes", ("First: of the most bytes there can be",
                               b"\xff" * 300))
