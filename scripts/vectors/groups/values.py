# SPDX-License-Identifier: BSD-2-Clause
"""Names and numbers of keyspecs, and key templates."""
from vectors.make import bad, field, good, rejects, rows, spec
from vectors.groups.chains import KEY16
from vectors.groups.secrets import keyed


def names_and_numbers():
    for name in ("version", "name", "key", "buckets", "filter"):
        bad(f"no {name}",
            (f"missing-{name}", f"Missing: {name}", spec(**{name: None})))
    bad("another version",
        ("version-2", "Version: 2", spec(version="2")),
        ("version-01", "Version: 01", spec(version="01")),
        ("version-1.0", "Version: 1.0", spec(version="1.0")),
        ("version-plus", "Version: +1", spec(version="+1")),
        ("version-0", "Version: 0", spec(version="0")),
        ("version-v1", "Version: v1", spec(version="v1")),
        ("version-blank", "Version: blanks within the quotes",
         spec(version='" 1"')),
        ("version-wide", "Version: full-width", spec(version="\uff11")))
    bad("no NUMBER",
        ("buckets-sign", "Number: +16", spec(buckets="+16")),
        ("buckets-minus", "Number: -1", spec(buckets="-1")),
        ("buckets-zero", "Number: a leading zero", spec(buckets="016")),
        ("buckets-00", "Number: 00", spec(buckets="00")),
        ("buckets-hex", "Number: 0x10", spec(buckets="0x10")),
        ("buckets-blank", "Number: a blank within", spec(buckets="1 6")),
        ("buckets-quoted-blank", "Number: a blank within the quotes",
         spec(buckets='"16 "')),
        ("buckets-float", "Number: 16.0", spec(buckets="16.0")),
        ("buckets-exponent", "Number: 1e3", spec(buckets="1e3")),
        ("buckets-comma", "Number: 1,000", spec(buckets="1,000")),
        ("buckets-underscore", "Number: 1_000", spec(buckets="1_000")),
        ("buckets-word", "Number: ten", spec(buckets="ten")),
        ("buckets-unit", "Number: 1k", spec(buckets="1k")),
        ("buckets-wide", "Number: full-width", spec(buckets="\uff11")),
        ("seed-sign", "Number: -0", spec(seed="-0")),
        ("seed-minus", "Number: -1 is not 2^64-1", spec(seed="-1")),
        ("seed-zeros", "Number: 01", spec(seed="01")),
        ("seed-hex", "Number: 0xff", spec(seed="0xff")),
        ("seed-hex-digits", "Number: ff", spec(seed="ff")))
    bad("a NUMBER out of range",
        ("buckets-0", "Range: no bucket", spec(buckets="0")),
        ("buckets-65537", "Range: 65537 buckets", spec(buckets="65537")),
        ("buckets-2-32", "Range: 2^32+1 is not 1",
         spec(buckets=str(2 ** 32 + 1))),
        ("buckets-2-64", "Range: 2^64+1 is not 1",
         spec(buckets=str(2 ** 64 + 1))),
        ("seed-2-64", "Range: 2^64", spec(seed=str(2 ** 64))),
        ("seed-21-digits", "Range: 21 digits", spec(seed="1" * 21)),
        ("seed-5000-digits", "Range: 5000 digits", spec(seed="9" * 5000)))
    long = "n" * 64
    good("name-64", "NameLength: 64 bytes",
         spec(field("f" * 64, transform="lower"), name=long,
              key="{" + "f" * 64 + "}"))
    rows("name-64", ("NameLength: of the set and of the field", b"X"))
    good("name-chars", "NameBytes: all that are legal",
         spec(name="AZaz09_.-", filter="{name}{bucket}"))
    rows("name-chars", ("NameBytes: all that are legal", b"x"))
    for value in (".", "..", "-", "0", "_", "none"):
        good(f"name-is-{value}", f"NameBytes: {value} is a name",
             spec(name=value))
        rows(f"name-is-{value}", (f"NameBytes: {value}", b"x"))
    bad("the set's name is no NAME",
        ("name-65", "NameLength: 65 bytes", spec(name=long + "n")),
        ("name-slash", "NameBytes: a slash", spec(name="a/b")),
        ("name-blank", "NameBytes: a blank", spec(name="a b")),
        ("name-colon", "NameBytes: a colon", spec(name="a:b")),
        ("name-brace", "NameBytes: braces", spec(name="{a}")),
        ("name-utf-8", "NameBytes: not ASCII", spec(name="caf\u00e9")),
        ("name-quote", "NameBytes: a quote", spec(name="a\"b")),
        ("name-plus", "NameBytes: a plus", spec(name="a+b")),
        ("name-quoted-blank", "NameBytes: a blank within the quotes",
         spec(name='"a "')))
    bad("a section's name is no NAME",
        ("field-65", "NameLength: a field of 65 bytes",
         spec(field("f" * 65))))
    bad("the delimiter is not one printable byte",
        ("delimiter-two", "DelimiterForm: two bytes", spec(delimiter="::")),
        ("delimiter-tab", "DelimiterForm: a tab",
         spec(delimiter='"\t"')),
        ("delimiter-utf-8", "DelimiterForm: not ASCII",
         spec(delimiter="\u00a7")),
        ("delimiter-escaped", "DelimiterForm: \\t is two bytes",
         spec(delimiter="\\t")),
        ("delimiter-word", "DelimiterForm: a word",
         spec(delimiter="colon")),
        ("delimiter-brace", "DelimiterForm: braces are not doubled here",
         spec(delimiter="{{")),
        ("delimiter-apostrophe", "DelimiterForm: apostrophes are no quotes",
         spec(delimiter="':'")))
    bad("an empty value",
        ("delimiter-none", "DelimiterForm: no byte", spec(delimiter='""')),
        ("delimiter-blank", "DelimiterForm: a blank without quotes",
         spec(delimiter=" ")))
    word = "a word that is not one of the choices"
    for name, values in (("encoding", ("UTF-8", "utf8", "latin1", "Bytes",
                                       "binary", "ascii")),
                         ("empty", ("yes", "Allow", "true", "null")),
                         ("null", ("allow", "Empty", "NULL"))):
        for value in values:
            given = {name: value}
            if name == "null":
                given["empty"] = "allow"
            bad(word, (f"{name}-{value}-word", f"Words: {name} = {value}",
                       spec(field(**given))))
    bad(word,
        ("encoding-set", "Words: encoding = UTF-8 of [keyspec]",
         spec(encoding="UTF-8")),
        ("encoding-overridden", "Words: a wrong one that no field uses",
         spec(field(encoding="bytes"), encoding="utf16")))
    bad("null=empty without empty=allow",
        ("null-alone", "NullAsEmpty: it needs empty = allow",
         spec(field(null="empty"))),
        ("null-reject", "NullAsEmpty: it does not go with empty = reject",
         spec(field(null="empty", empty="reject"))))
    good("null-written", "Defaults: empty and null as they are anyway",
         spec(field(null="reject", empty="allow"), key="k{id}"))
    rows("null-written", ("EmptyAllowed: it is not NULL", b""))
    rejects("null-written", "null", ("EmptyVsNull: NULL", None))


def templates():
    bad("a key without a field",
        ("key-plain", "Template: no field", spec(key="abc")),
        ("key-escaped", "Template: escaped braces only", spec(key="{{id}}")))
    bad("a field twice in the key",
        ("key-twice", "Template: a field twice", spec(key="{id}:{id}")))
    brace = "a lone {, or what is in it is no NAME"
    bad(brace,
        ("key-open", "Braces: { alone", spec(key="{id}:{")),
        ("key-open-text", "Braces: { and text", spec(key="{id}:{x")),
        ("key-empty-name", "Braces: {}", spec(key="{}")),
        ("key-blanks", "Braces: blanks within", spec(key="{ id }")),
        ("key-blank-name", "Braces: a blank at the end", spec(key="{id }")),
        ("key-format", "Braces: a format", spec(key="{id:05d}")),
        ("key-conversion", "Braces: a conversion", spec(key="{id!r}")),
        ("key-index", "Braces: an index", spec(key="{id[0]}")),
        ("key-name-65", "Braces: a name of 65 bytes",
         spec(key="{" + "f" * 65 + "}")),
        ("key-name-utf-8", "Braces: a name that is not ASCII",
         spec(key="{\u00efd}")),
        ("key-within", "Braces: one field within another",
         spec(key="{a{b}}")),
        ("key-escaped-open", "Braces: {{{ and a name, } missing",
         spec(key="{{{id")))
    bad("a lone }",
        ("key-close", "Braces: } alone", spec(key="{id}:}")),
        ("key-close-first", "Braces: } before a field",
         spec(key="}{id}")),
        ("key-close-odd", "Braces: {id}} is a field and a lone }",
         spec(key="{id}}")),
        ("key-close-three", "Braces: }}} is a pair and a lone }",
         spec(key="{id}:}}}")),
        ("key-escaped-close", "Braces: {{id} is a { and a lone }",
         spec(key="{{id}:{x}")))
    between = "two fields without the delimiter between"
    bad(between,
        ("key-adjacent", "Between: nothing", spec(key="{a}{b}")),
        ("key-other", "Between: text without the delimiter",
         spec(key="{a}-{b}")),
        ("key-other-delimiter", "Between: a colon where it is another",
         spec(key="{a}:{b}", delimiter="|")),
        ("key-second", "Between: in the second place",
         spec(key="{a}:{b}{c}")),
        ("key-before", "Between: the delimiter stands only before",
         spec(key=":{a}-{b}:")),
        ("key-utf-8", "Between: U+FF1A is no delimiter",
         spec(key="{a}\uff1a{b}")))
    good("key-adjacent-braces", "Braces: {a}}}:{{{b} has literal } and {",
         spec(key="{a}}}:{{{b}"))
    rows("key-adjacent-braces", ("Braces: left to right", b"1", b"2"))
    good("key-five", "Braces: {{{{{id}}}}} is three and two",
         spec(key="{{{{{id}}}}}"))
    rows("key-five", ("Braces: left to right", b"x"))
    good("key-dollar", "Braces: ${id} is a $ and a field",
         spec(key="${id}"))
    rows("key-dollar", ("Braces: a $ before them", b"x"))
    good("key-many", "Fields: many",
         spec(key=":".join("{f%d}" % i for i in range(16))))
    rows("key-many", ("FieldOrder: f10 is behind f9, not behind f1",
                      *(b"%d" % i for i in range(16))))

    for i, text in enumerate((
            "trin", "Trim", "TRIM", "ltrim", "md5", "sha-256", "sha1", "hmac",
            "hmac_sha256", "none", "uuid()", "int:1", "trim:", "first",
            "left:3", "trim;lower", "trim lower", "first(3)", "first=3",
            "FIRST:3")):
        bad("an unknown transform",
            (f"transform-unknown-{i}", f"TransformName: {text}",
             spec(field(transform=text))))
    bad("an unknown transform",
        ("transform-comma", "TransformList: an empty one in the middle",
         spec(field(transform="trim,,lower"))),
        ("transform-end", "TransformList: a comma at the end",
         spec(field(transform="trim,"))),
        ("transform-begin", "TransformList: a comma at the start",
         spec(field(transform=",trim"))),
        ("transform-only", "TransformList: a comma",
         spec(field(transform=","))),
        ("transform-first-blank", "First: a blank before the colon",
         spec(field(transform="first :3"))),
        ("transform-nbsp", "TransformList: U+00A0 is no blank",
         spec(field(transform="trim,\u00a0lower"))),
        ("transform-quoted-blank", "TransformList: nothing but a blank",
         spec(field(transform='" "'))))
    bad("no NUMBER",
        ("first-empty", "First: without N", spec(field(transform="first:"))),
        ("first-01", "First: a leading zero",
         spec(field(transform="first:01"))),
        ("first-blank", "First: a blank before N",
         spec(field(transform="first: 3"))),
        ("first-minus", "First: -1", spec(field(transform="first:-1"))),
        ("first-plus", "First: +1", spec(field(transform="first:+1"))),
        ("first-hex", "First: 0x3", spec(field(transform="first:0x3"))),
        ("first-two", "First: two numbers",
         spec(field(transform="first:3:4"))))
    bad("a NUMBER out of range",
        ("first-0", "First: 0", spec(field(transform="first:0"))),
        ("first-65536", "First: 65536",
         spec(field(transform="first:65536"))),
        ("first-2-32", "First: 2^32+1 is not 1",
         spec(field(transform=f"first:{2 ** 32 + 1}"))))
    bad("too many transforms",
        ("transform-17", "TransformList: 17 of them",
         spec(field(transform=",".join(["trim"] * 17)))))
    good("transform-blanks", "TransformList: blanks around each are dropped",
         spec(field(transform="trim ,\tlower\t, \tfirst:3")))
    rows("transform-blanks", ("TransformList: all three", b" ABCD "))
    good("transform-quoted", "TransformList: quoted, blanks at the ends too",
         spec(field(transform='" trim, lower "')))
    rows("transform-quoted", ("TransformList: both", b" AB "))
    text = {"env:KEY": KEY16}
    bad("hmac-sha256 twice",
        ("hmac-twice", "HmacOnce: twice",
         spec(field(transform="hmac-sha256,hmac-sha256", secret="env:KEY")),
         text),
        ("hmac-twice-apart", "HmacOnce: twice with another between",
         spec(field(transform="hmac-sha256,lower,hmac-sha256",
                    secret="env:KEY")), text))
    bad("hmac-sha256 without secret, or the reverse",
        ("hmac-alone", "HmacSecret: without secret",
         spec(field(transform="hmac-sha256"))),
        ("secret-alone", "HmacSecret: a secret and no hmac-sha256",
         spec(field(transform="sha256", secret="env:KEY")), text),
        ("secret-only", "HmacSecret: a secret and no transform",
         spec(field(secret="env:KEY")), text))
    kind = "a secret is neither env: nor file:"
    variable = "a secret's variable has no such name"
    bad(kind,
        ("secret-vault", "SecretForm: vault:", keyed("vault:X"), text),
        ("secret-word", "SecretForm: the secret itself",
         keyed("0123456789abcdef"), text),
        ("secret-upper", "SecretForm: HEX:", keyed("HEX:env:KEY"), text),
        ("secret-env-upper", "SecretForm: ENV:", keyed("ENV:KEY"), text),
        ("secret-both", "SecretForm: hex: and base64:",
         keyed("hex:base64:env:KEY"), text),
        ("secret-hex-twice", "SecretForm: hex: twice",
         keyed("hex:hex:env:KEY"), text),
        ("secret-hex-bare", "SecretForm: hex: and digits",
         keyed("hex:" + KEY16.hex()), text),
        ("secret-order", "SecretForm: env: before hex:",
         keyed("raw:env:KEY"), text),
        ("secret-equals", "SecretForm: env=KEY", keyed("env=KEY"), text),
        ("secret-dollar", "SecretForm: $KEY", keyed("$KEY"), text),
        ("secret-blank", "SecretForm: a blank behind hex:",
         keyed("hex: env:KEY"), text))
    bad(variable,
        ("secret-env-none", "SecretForm: env: without a name",
         keyed("env:"), text),
        ("secret-env-digit", "SecretForm: a name that begins with a digit",
         keyed("env:1A"), {"env:A": KEY16}),
        ("secret-env-dash", "SecretForm: a dash in the name",
         keyed("env:A-B"), {"env:A": KEY16}),
        ("secret-env-dot", "SecretForm: a dot in the name",
         keyed("env:A.B"), {"env:A": KEY16}),
        ("secret-env-hex", "SecretForm: hex: behind env:",
         keyed("env:hex:KEY"), text),
        ("secret-env-blank", "SecretForm: a blank behind env:",
         keyed("env: KEY"), text),
        ("secret-env-wide", "SecretForm: a name that is not ASCII",
         keyed("env:K\u00cbY"), text))
    bad("a secret's file has no name",
        ("secret-file-none", "SecretForm: file: without a name",
         keyed("file:"), text),
        ("secret-hex-file-none", "SecretForm: hex:file: without a name",
         keyed("hex:file:"), text))
