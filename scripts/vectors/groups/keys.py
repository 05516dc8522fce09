# SPDX-License-Identifier: BSD-2-Clause
"""SPEC.md's examples, keys without transforms, the order of reasons."""
from vectors.make import field, good, maps, rejects, rows, spec


def examples():
    good("example-cards", "Example: blocked cards of SPEC.md", """\
[keyspec]
version = 1
name    = blocked_cards
key     = card:{entity_id}:{scope}
buckets = 200
filter  = {name}:{bucket}
""")
    rows("example-cards",
         ("LastField: the delimiter is legal in the last field",
          b"4711", b"merchant:MID_ANYCOMPANY"),
         ("Example: an ordinary row", b"4711", b"global"))
    rejects("example-cards", "delimiter",
            ("FieldBoundary: the delimiter in a field that is not the last",
             b"4711:global", b"x"))
    rejects("example-cards", "empty",
            ("EmptyVsNull: empty is not NULL", b"", b"global"))
    rejects("example-cards", "null",
            ("EmptyVsNull: NULL is not empty", None, b"global"))
    good("example-products", "Example: product ids of SPEC.md", """\
[keyspec]
version = 1
name    = products
key     = {id}
buckets = 1
filter  = {name}

[field id]
column    = product_id
transform = trim, uuid
""")
    uuid = b"6f9619ff-8b86-d011-b42d-00cf4fc964ff"
    maps("example-products",
         ("UuidUpper: upper case and lower case are one UUID", uuid.upper(),
          uuid),
         ("UuidForms: blanks, braces and no dashes are the same UUID",
          b" {" + uuid.replace(b"-", b"") + b"}\n", uuid))
    rejects("example-products", "uuid",
            ("UuidShort: 31 digits are no UUID", uuid[:-1]))
    good("example-phones", "Example: telephone numbers of SPEC.md", """\
[keyspec]
version = 1
name    = phones
key     = tel:{number}
buckets = 16
filter  = {{{name}}}:{bucket}:{fp}

[field number]
transform = digits,hmac-sha256
secret    = hex:env:PHONES_SECRET
""", env_PHONES_SECRET=b"0123456789abcdef0123".hex().encode())
    rows("example-phones",
         ("DigitsOnly: separators have no part in the key",
          b"+1 (555) 010-9999"),
         ("DigitsOnly: other separators are the same number",
          b"1-555-010-9999"))
    rejects("example-phones", "digits",
            ("DigitsLetters: letters are no digits and are not dropped",
             b"1-800-FLOWERS"))
    rows("example-phones",
         ("EmptyInside: digits leaves nothing, and that has an HMAC too; "
          "empty is looked for before and after all transforms only", b"+"))


def plain_rows():
    good("plain", "Plain: one field, nothing but its value", spec())
    rows("plain",
         ("Ascii: an ordinary value", b"abc"),
         ("NonAscii: U+00E9 stays what it is", "caf\u00e9".encode()),
         ("NonAscii: e and U+0301 are another value, nothing is normalized",
          "cafe\u0301".encode()),
         ("Ligature: U+FB01 is not f and i", "\ufb01".encode()),
         ("EdgeSpaces: a blank at the start stays", b" abc"),
         ("EdgeSpaces: a blank at the end stays", b"abc "),
         ("EdgeSpaces: nothing but a blank is not empty", b" "),
         ("EmbeddedNul: text does not end at 0x00", b"a\0b"),
         ("EmbeddedNul: 0x00 alone is a value", b"\0"),
         ("EmbeddedNul: 0x00 at the end stays", b"a\0"),
         ("EmbeddedNul: 0x00 at the start stays", b"\0a"),
         ("EmbeddedNul: 0x00 before a digit is no longer escape", b"\x001"),
         ("Newline: a newline within a value", b"a\nb"),
         ("Newline: a newline at the end stays", b"a\n"),
         ("Newline: a newline alone is a value", b"\n"),
         ("CarriageReturn: 0x0D within a value", b"a\rb"),
         ("CarriageReturn: 0x0D 0x0A at the end stays", b"a\r\n"),
         ("CarriageReturn: 0x0D alone is a value", b"\r"),
         ("Tab: 0x09 within a value does not end it", b"a\tb"),
         ("Tab: 0x09 alone is a value", b"\t"),
         ("ControlBytes: 0x08, 0x0B, 0x0C, 0x1B and 0x7F", b"\b\v\f\x1b\x7f"),
         ("ControlBytes: 0x1A does not end the input", b"a\x1ab"),
         ("Backslash: one", b"\\"),
         ("Backslash: two", b"\\\\"),
         ("Backslash: before a letter that would be an escape", b"a\\tb"),
         ("Backslash: before digits", b"\\101"),
         ("Backslash: before x and digits", b"\\x41"),
         ("Backslash: at the end", b"a\\"),
         ("NullText: the two bytes \\N are a value and not NULL", b"\\N"),
         ("NullText: \\N within a value", b"a\\Nb"),
         ("NullText: N", b"N"),
         ("NullText: the word NULL", b"NULL"),
         ("NullText: the word null", b"null"),
         ("NullText: the word None", b"None"),
         ("NullText: a hyphen, NULL in the vectors' cells", b"-"),
         ("EndOfData: the two bytes \\. are a value", b"\\."),
         ("EndOfData: a full stop", b"."),
         ("Quotes: quotes stay", b"\"abc\""),
         ("Quotes: an apostrophe stays", b"o'neil"),
         ("Quotes: a comma and a semicolon", b"a,b;c"),
         ("Numbers: 1e5 stays text", b"1e5"),
         ("Numbers: leading zeros stay without int", b"007"),
         ("Numbers: 1.0 stays text", b"1.0"),
         ("Words: true stays text", b"true"),
         ("Html: & stays", b"a&amp;b<c>"),
         ("Percent: %41 is not decoded, + is no blank", b"%41+b"),
         ("Nbsp: U+00A0 at both ends stays", "\u00a0a\u00a0".encode()),
         ("LineSeparator: U+2028 does not end a line", "a\u2028b".encode()),
         ("LineSeparator: U+2029 at the end stays", "a\u2029".encode()),
         ("NextLine: U+0085 does not end a line", "a\u0085b".encode()),
         ("ByteOrderMark: U+FEFF at the start stays", "\ufeffa".encode()),
         ("ByteOrderMark: U+FEFF alone is a value", "\ufeff".encode()),
         ("Replacement: U+FFFD is a code point as any other",
          "\ufffd".encode()),
         ("Invisible: U+200B and U+00AD stay", "a\u200bb\u00ad".encode()),
         ("Delimiter: it is legal in a field that is the last", b"a:b"),
         ("Delimiter: alone", b":"),
         ("SurrogatePair: U+1F600 is four bytes and not six",
          "\U0001f600".encode()))
    rejects("plain", "null", ("EmptyVsNull: NULL", None))
    rejects("plain", "empty", ("EmptyVsNull: no bytes", b""))


def boundary():
    good("boundary", "FieldBoundary: two fields and literal text",
         spec(key="card:{a}:{b}", buckets="200"))
    rows("boundary",
         ("FieldBoundary: a, b:c", b"a", b"b:c"),
         ("FieldBoundary: two delimiters in the last field", b"a", b":b:"),
         ("FieldBoundary: ab, c", b"ab", b"c"),
         ("FieldBoundary: a, bc", b"a", b"bc"),
         ("FieldBoundary: blanks beside the delimiter stay", b"a ", b" b"),
         ("FieldOrder: the same two values the other way", b"b", b"a"),
         ("Injection: a value that looks like a field is not replaced",
          b"{b}", b"x"),
         ("Injection: nor is one of the last field", b"x", b"{a}"),
         ("Injection: braces twice stay twice", b"{{", b"}}"),
         ("Injection: $& and $1 are text, not a pattern's groups",
          b"$&$1$$", b"$`$'"),
         ("Injection: \\1 and \\g<0> are text", b"\\1", b"\\g<0>"),
         ("Injection: %s and %d are text", b"%s%d%%", b"%n"),
         ("FullWidthColon: U+FF1A is no delimiter", "a\uff1ab".encode(),
          b"c"))
    rejects("boundary", "delimiter",
            ("FieldBoundary: a:b, c would be the key of a, b:c", b"a:b",
             b"c"),
            ("FieldBoundary: a delimiter at the end", b"a:", b"b"),
            ("FieldBoundary: a delimiter at the start", b":a", b"b"),
            ("FieldBoundary: a delimiter alone", b":", b"b"))
    rejects("boundary", "null",
            ("EmptyVsNull: NULL first", None, b"b"),
            ("EmptyVsNull: NULL last", b"a", None),
            ("EmptyVsNull: NULL twice", None, None))
    rejects("boundary", "empty",
            ("EmptyVsNull: empty first", b"", b"b"),
            ("EmptyVsNull: empty last", b"a", b""),
            ("EmptyVsNull: empty twice", b"", b""))
    good("three", "FieldOrder: template order is not that of the sections",
         spec(field("zone", transform="upper"), field("id", transform="int"),
              field("area", transform="lower"),
              key="{id}:{zone}:{area}"))
    rows("three",
         ("FieldOrder: values come in template order", b"007", b"aB", b"Cd"))
    rejects("three", "int",
            ("FieldOrder: the first field is the first of the template",
             b"x", None, b""))
    for name, delimiter, written in (
            ("dash", "-", "-"), ("space", " ", '" "'), ("hash", "#", "#"),
            ("semicolon", ";", ";"), ("quote", '"', '"\\""'),
            ("open", "{", "{"), ("close", "}", "}"),
            ("backslash", "\\", "\\"), ("tilde", "~", "~"),
            ("pipe", "|", "|"), ("zero", "0", "0"), ("equals", "=", "=")):
        good(f"delimiter-{name}", f"DelimiterOther: {written}",
             spec(key='"{a}' + {'"': '\\"', "\\": "\\\\", "{": "{{",
                                "}": "}}"}.get(delimiter, delimiter) +
                  '{b}"', delimiter=written))
        rows(f"delimiter-{name}",
             ("DelimiterOther: a colon is an ordinary byte then",
              b"a:1", b"b" + delimiter.encode()))
        rejects(f"delimiter-{name}", "delimiter",
                ("DelimiterOther: in the first field",
                 b"a" + delimiter.encode(), b"b"))
    good("delimiter-between", "DelimiterBetween: it may be anywhere between",
         spec(key="x{a}<:>{b} / : /{c}::y"))
    rows("delimiter-between",
         ("DelimiterBetween: literal text all around", b"1", b"2", b"3:"),
         ("DelimiterBetween: other literal text is legal in values",
          b"<", b"/", b">"))
    rejects("delimiter-between", "delimiter",
            ("FieldBoundary: in the second of three fields", b"a", b"b:",
             b"c"))
    good("braces", "Braces: escaped ones around fields are literal",
         spec(key="{{{a}}}:{{b}}:{c}"))
    rows("braces", ("Braces: {{b}} is no field", b"1", b"2"))
    good("key-literal", "KeyLiteral: UTF-8, quotes and blanks in the key",
         spec(key='"\\"\u00e9\u20ac\U0001f600\\\\ {id} "'))
    rows("key-literal", ("KeyLiteral: it is bytes as written", b"x"))
    good("key-equals", "KeyLiteral: only the first = of a line ends the name",
         spec(key="a=b={id}"))
    rows("key-equals", ("KeyLiteral: = in the key", b"x=y"))
    good("key-quotes", "KeyLiteral: a quote not at the start is literal",
         spec(key="x\"{id}\"\\n"))
    rows("key-quotes", ("KeyLiteral: backslash and n, no newline", b"x"))
    good("names", "FieldNames: dots, dashes, digits and case count",
         spec(field("a.b-c_1", transform="lower"),
              field("A.B-C_1", transform="upper"), field("-"),
              key="{a.b-c_1}:{A.B-C_1}:{-}:{0}"))
    rows("names", ("FieldNames: each is its own", b"Xy", b"Xy", b"Xy", b"Xy"))


def emptiness():
    good("allow", "EmptyAllowed: empty values, no NULL",
         spec(field("a", empty="allow"), field("b", empty="allow"),
              key="{a}:{b}"))
    rows("allow",
         ("EmptyAllowed: the first", b"", b"b"),
         ("EmptyAllowed: the last", b"a", b""),
         ("EmptyAllowed: both, the key is the delimiter", b"", b""))
    rejects("allow", "null",
            ("EmptyVsNull: NULL is still none, first", None, b"b"),
            ("EmptyVsNull: NULL is still none, last", b"a", None))
    good("null-empty", "NullAsEmpty: NULL counts as the empty value",
         spec(field("a", empty="allow", null="empty"), key="{a}:{b}"))
    rows("null-empty",
         ("NullAsEmpty: no word NULL comes into the key", None, b"b"),
         ("NullAsEmpty: and the empty value is the same", b"", b"b"))
    rejects("null-empty", "null",
            ("NullAsEmpty: it is said of each field", b"a", None))
    good("key-empty", "KeyEmpty: a key of no bytes is rejected",
         spec(field("a", empty="allow", null="empty"), key="{a}"))
    rows("key-empty", ("KeyEmpty: one byte is a key", b"x"))
    rejects("key-empty", "empty",
            ("KeyEmpty: from the empty value", b""),
            ("KeyEmpty: from NULL", None))
    for transform in ("trim", "rtrim", "lower", "upper", "uuid", "int",
                      "digits", "first:1", "first:65535", "sha256",
                      "hmac-sha256"):
        more = {}
        places = {}
        if transform == "hmac-sha256":
            more["secret"] = "env:KEY"
            places["env_KEY"] = b"0123456789abcdef"
        name = "null-" + transform.replace(":", "-")
        good(name, f"NullAsEmpty: {transform} gets the empty value",
             spec(field(empty="allow", null="empty", transform=transform,
                        **more), key="k:{id}"), **places)
        for value in (None, b""):
            catches = f"NullAsEmpty: {transform} of it"
            if transform in ("uuid", "int"):
                rejects(name, transform, (catches, value))
            else:
                rows(name, (catches, value))
    good("allow-transforms", "EmptyAllowed: what transforms leave may be empty",
         spec(field("a", empty="allow", transform="trim"),
              field("b", empty="allow", transform="digits"),
              field("c", empty="allow", transform="first:1"),
              key="{a}:{b}:{c}"))
    rows("allow-transforms",
         ("EmptyAllowed: all three leave nothing", b" \t", b"()",
          "\u00e9".encode()))
    for transform, value in (("trim", b" \t\r\n"), ("rtrim", b"   "),
                             ("digits", b"+-(). /"),
                             ("first:1", "\u00e9".encode()),
                             ("first:2", "\u20ac".encode()),
                             ("first:3", "\U0001f600".encode())):
        name = "empty-after-" + transform.replace(":", "-")
        good(name, f"EmptyAfter: what {transform} leaves may not be empty",
             spec(field(transform=transform), key="k:{id}"))
        rejects(name, "empty",
                (f"EmptyAfter: {transform} leaves nothing", value),
                ("EmptyAfter: there was nothing before", b""))


def order_of_reasons():
    good("order", "ReasonOrder: fields in template order, steps in theirs",
         spec(field("b", transform="int"), field("a", transform="trim,uuid"),
              key="{a}:{b}:{c}"))
    uuid = b"6f9619ff-8b86-d011-b42d-00cf4fc964ff"
    rejects("order", "null",
            ("ReasonOrder: NULL in the first, all others wrong too",
             None, b"x", b"\xff"))
    rejects("order", "encoding",
            ("ReasonOrder: encoding before the transform", b"\xff", None,
             b""))
    rejects("order", "empty",
            ("ReasonOrder: empty before the transform", b"", None, None))
    rejects("order", "uuid",
            ("ReasonOrder: the first field's transform before the second's "
             "NULL", b"x", None, None),
            ("ReasonOrder: a transform before the delimiter", b"a:b", b"1",
             b"x"),
            ("ReasonOrder: a transform that gets nothing, not empty", b" ",
             b"1", b"x"))
    rejects("order", "int",
            ("ReasonOrder: the second field before the third's NULL", uuid,
             b"x", None),
            ("ReasonOrder: int before the delimiter", uuid, b"1:1", None))
    rejects("order", "null", ("ReasonOrder: the last field", uuid, b"1", None))
    rejects("order", "encoding",
            ("ReasonOrder: the last field's bytes", uuid, b"1", b"a\xc3"))
    good("order-plain", "ReasonOrder: without transforms",
         spec(key="{a}:{b}"))
    rejects("order-plain", "delimiter",
            ("ReasonOrder: a delimiter first, NULL after it", b"a:b", None),
            ("ReasonOrder: a delimiter first, empty after it", b"a:b", b""),
            ("ReasonOrder: a delimiter first, bad bytes after it", b"a:b",
             b"\xff"))
    rejects("order-plain", "encoding",
            ("ReasonOrder: bad bytes before the delimiter", b":\xff", b"b"),
            ("ReasonOrder: bad bytes first, NULL after them", b"\xff", None))
    rejects("order-plain", "empty",
            ("ReasonOrder: empty first, NULL after it", b"", None))
    good("delimiter-after", "DelimiterAfter: what transforms leave counts",
         spec(field("a", transform="digits"), field("b", transform="sha256"),
              field("c", transform="first:2"), key="{a}:{b}:{c}:{d}"))
    rows("delimiter-after",
         ("DelimiterAfter: it is hashed and cut away", b"1", b"a:b", b"ab:",
          b"d"))
    rejects("delimiter-after", "digits",
            ("DelimiterAfter: digits does not drop a colon", b"1:2", b"b",
             b"c", b"d"))
    rejects("delimiter-after", "delimiter",
            ("DelimiterAfter: first:2 leaves it", b"1", b"b", b"a:b", b"d"))
    good("delimiter-made", "DelimiterMade: transforms can make the delimiter",
         spec(field("a", transform="lower"), field("b", transform="upper"),
              key="{a}x{b}x{c}", delimiter="x"))
    rows("delimiter-made", ("DelimiterMade: upper takes it away", b"a", b"x",
                            b"x"))
    rejects("delimiter-made", "delimiter",
            ("DelimiterMade: lower makes an X to x", b"X", b"b", b"c"))
    good("delimiter-uuid", "DelimiterMade: uuid puts in a dash",
         spec(field("a", transform="uuid"), key="{a}-{b}", delimiter="-"))
    rejects("delimiter-uuid", "delimiter",
            ("DelimiterMade: there was none in the value",
             uuid.replace(b"-", b""), b"b"))
    good("delimiter-int", "DelimiterMade: int keeps a minus",
         spec(field("a", transform="int"), key="{a}-{b}", delimiter="-"))
    rows("delimiter-int",
         ("DelimiterMade: -0 becomes 0", b"-0", b"b"),
         ("DelimiterMade: a plus is dropped", b"+5", b"b"))
    rejects("delimiter-int", "delimiter",
            ("DelimiterMade: a negative number", b"-5", b"b"))
    good("delimiter-trim", "DelimiterMade: trim takes blanks away",
         spec(field("a", transform="trim"), key='"{a} {b}"',
              delimiter='" "'))
    rows("delimiter-trim",
         ("DelimiterMade: none is left", b" a ", b" b "))
    rejects("delimiter-trim", "delimiter",
            ("DelimiterMade: one is left within", b" a b ", b"c"))
