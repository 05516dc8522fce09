# SPDX-License-Identifier: BSD-2-Clause
"""Filter names, and what the fingerprint depends on."""
import base64
import sys

from vectors.make import bad, field, good, keyspecs, rows, spec
from vectors.groups.chains import KEY16


def filters():
    def fine(id_, catches, template, **given):
        good(id_, catches, spec(filter=template, **given))
        rows(id_, (catches, b"x"))
    bad("a filter without {bucket}",
        ("filter-no-bucket", "FilterBucket: two buckets, one name",
         spec(filter="{name}", buckets="2")),
        ("filter-escaped-bucket", "FilterBucket: in escaped braces",
         spec(filter="{{bucket}}", buckets="2")))
    fine("filter-no-number", "FilterBucket: one bucket, one name", "{name}",
         buckets="1")
    fine("filter-zero", "FilterBucket: the only one is 0", "{name}-{bucket}",
         buckets="1")
    fine("filter-fp", "FilterFingerprint: eight digits of it",
         "{fp}.{bucket}")
    fine("filter-literal", "FilterBytes: all that are legal",
         "!\"#$%&'()*+,-./0:;<=>?@AZ[\\]^_`az|~{bucket}")
    bad("an unknown name in the filter",
        ("filter-unknown", "FilterName: an unknown one",
         spec(filter="{name}:{id}:{bucket}")),
        ("filter-case", "FilterName: in upper case",
         spec(filter="{NAME}:{bucket}")),
        ("filter-fingerprint", "FilterName: fingerprint is another",
         spec(filter="{fingerprint}:{bucket}")),
        ("filter-key", "FilterName: key is none",
         spec(filter="{key}:{bucket}")))
    bad("a lone {, or what is in it is no NAME",
        ("filter-open", "FilterBraces: { alone",
         spec(filter="{bucket}{")),
        ("filter-empty-name", "FilterBraces: {}",
         spec(filter="{}:{bucket}")),
        ("filter-format", "FilterBraces: a format",
         spec(filter="{bucket:03d}")))
    bad("a lone }",
        ("filter-close", "FilterBraces: } alone",
         spec(filter="{bucket}:}")))
    fine("tag", "HashTag: not empty", "{{{name}}}:{bucket}")
    fine("tag-all", "HashTag: the whole name", "{{{name}:{bucket}}}")
    fine("tag-one", "HashTag: one byte", "{{a}}{bucket}")
    fine("tag-later", "HashTag: a } before the first {",
         "}}{{a}}{bucket}")
    fine("tag-two", "HashTag: the second may be empty",
         "{{a}}{{}}{bucket}")
    fine("tag-open-later", "HashTag: the second may be open",
         "{{a}}{{{bucket}")
    fine("tag-nested", "HashTag: {{}} has a { within",
         "{{{{}}}}{bucket}")
    fine("tag-behind", "HashTag: at the end", "{bucket}{{a}}")
    tag = "a filter's name with an empty or open hash tag"
    bad(tag,
        ("tag-empty", "HashTag: {} and text",
         spec(filter="{{}}x{bucket}")),
        ("tag-empty-more", "HashTag: {}x}",
         spec(filter="{{}}x}}{bucket}")),
        ("tag-empty-second", "HashTag: {} and then a good one",
         spec(filter="{{}}{{a}}{bucket}")),
        ("tag-open", "HashTag: { without }", spec(filter="{{a{bucket}")),
        ("tag-open-last", "HashTag: { at the end",
         spec(filter="{bucket}{{")),
        ("tag-turned", "HashTag: } and then {",
         spec(filter="}}{bucket}{{")))
    bad("a filter's name with } and no {",
        ("tag-close", "HashTag: } without {", spec(filter="a}}{bucket}")))
    ascii_ = "a filter's name is not printable ASCII"
    bad(ascii_,
        ("filter-blank", "FilterBytes: a blank",
         spec(filter="a {bucket}")),
        ("filter-tab", "FilterBytes: a tab", spec(filter="a\t{bucket}")),
        ("filter-quoted-blank", "FilterBytes: a blank at the end",
         spec(filter='"{bucket} "')),
        ("filter-utf-8", "FilterBytes: not ASCII",
         spec(filter="\u00e9{bucket}")),
        ("filter-nbsp", "FilterBytes: U+00A0",
         spec(filter="a\u00a0{bucket}")))
    own = "a filter's name of bloomctl itself"
    bad(own,
        ("filter-own", "FilterOwn: begins with bloomctl:",
         spec(filter="bloomctl:{bucket}")),
        ("filter-own-name", "FilterOwn: by its name",
         spec(name="bloomctl", filter="{name}:{bucket}")),
        ("filter-own-inside", "FilterOwn: holds :bloomctl",
         spec(filter="a:bloomctl{bucket}")),
        ("filter-own-end", "FilterOwn: ends with :bloomctl",
         spec(filter="{bucket}:bloomctl")),
        ("filter-own-inside-name", "FilterOwn: by its name",
         spec(name="bloomctl.a", filter="x:{name}{bucket}")))
    fine("filter-own-not", "FilterOwn: bloomctl without colons",
         "bloomctl-{bucket}.bloomctl")
    fine("filter-own-case", "FilterOwn: in upper case",
         "BLOOMCTL:{bucket}:Bloomctl")
    fine("filter-own-tag", "FilterOwn: a brace between", "{{bloomctl:}}"
         "{bucket}")
    fine("filter-512", "FilterLength: 512 bytes", "f" * 510 + "{bucket}")
    fine("filter-512-names", "FilterLength: 512 bytes, names filled in",
         "{name}" * 7 + "f" * 50 + "{bucket}{fp}{bucket}", name="n" * 64,
         buckets="101")
    bad("a filter's name is empty or too long",
        ("filter-513", "FilterLength: 513 bytes",
         spec(filter="f" * 511 + "{bucket}")),
        ("filter-513-name", "FilterLength: by its name",
         spec(name="n" * 64, filter="{name}" * 8 + "{bucket}")))
    for name, text in (("none", "none"), ("none-quoted", '"none"')):
        fine(f"sentinel-{name}", f"Sentinel: {text}", "{fp}:{bucket}",
             sentinel=text)
    if keyspecs["sentinel-none"].fingerprint != \
            keyspecs["sentinel-none-quoted"].fingerprint:
        sys.exit("gen-vectors: a quoted none is another one")
    for name, text in (("own", "my sentinel"), ("default", "default"),
                       ("case", "None"), ("utf-8", "\u00e9\u20ac\U0001f600"),
                       ("one", "x"), ("quoted", '" none "'),
                       ("tab", '"a\tb"'), ("hex", "626c6f6f6d"),
                       ("braces", "{fp}:{name}"),
                       ("like", "bloomkey:00000000")):
        fine(f"sentinel-{name}", f"Sentinel: {text}".replace("\t", " "),
             "{fp}:{bucket}", sentinel=text)


def fingerprints():
    secret = {"env_KEY": KEY16}

    def both(a=None, b=None, more=(), **given):
        first = {"transform": "trim,lower"}
        first.update(a or {})
        second = {"transform": "hmac-sha256", "secret": "env:KEY"}
        second.update(b or {})
        base = {"key": "k:{a}:{b}", "buckets": "200",
                "filter": "{name}:{bucket}:{fp}"}
        base.update(given)
        return spec(field("a", **first), field("b", **second), *more, **base)
    text = both()
    good("fp", "Fingerprint: what the next ones are compared with", text,
         **secret)
    rows("fp", ("Fingerprint: its digits are in the filter's name", b" A ",
                b"b"))
    fp = keyspecs["fp"].fingerprint

    def same(name, catches, text, **places):
        places = places or secret
        good(f"fp-{name}", f"FingerprintSame: {catches}", text, **places)
        if keyspecs[f"fp-{name}"].fingerprint != fp:
            sys.exit(f"gen-vectors: fp-{name} is not the same")
    same("blanks", "blanks", text.replace(" = ", "="))
    same("crlf", "line ends and a byte order mark",
         "\ufeff" + text.replace("\n", "\r\n"))
    same("comments", "comments", "# a\n" + text.replace("\n", "\n; b\n"))
    same("quotes", "quotes", both(key='"k:{a}:{b}"', name='"set"'))
    same("order", "order of the sections",
         text[text.index("[field"):] + text[:text.index("[field")])
    same("fields", "order of the fields' sections",
         text[:text.index("[field a")] + text[text.index("[field b"):] +
         text[text.index("[field a"):text.index("[field b")])
    same("column", "column", both(a={"column": "other \"name\""}))
    same("transform", "blanks between transforms",
         both(a={"transform": "trim \t,  lower"}))
    same("defaults", "defaults written out",
         both(a={"encoding": "utf-8", "empty": "reject", "null": "reject"},
              seed="0", delimiter=":", encoding="utf-8"))
    same("variable", "another variable", both(b={"secret": "env:OTHER"}),
         env_OTHER=KEY16)
    same("file", "a file", both(b={"secret": "file:key"}),
         from_file={"key": KEY16 + b"\n"})
    same("hex", "hex", both(b={"secret": "hex:env:KEY"}),
         env_KEY=KEY16.hex().encode())
    same("base64", "base64", both(b={"secret": "base64:file:key"}),
         from_file={"key": base64.b64encode(KEY16) + b"\r\n"})
    same("encodings", "the encoding said of each field",
         both(a={"encoding": "utf-8"}, b={"encoding": "utf-8"},
              encoding="bytes"))
    same("zeros", "a secret that HMAC fills to the same", both(
        b={"secret": "file:key"}), from_file={"key": KEY16 + b"\0"})

    seen = {fp}

    def other(name, catches, text, **places):
        places = places or secret
        good(f"fp-{name}", f"FingerprintOther: {catches}", text, **places)
        fingerprint = keyspecs[f"fp-{name}"].fingerprint
        if fingerprint in seen:
            sys.exit(f"gen-vectors: fp-{name} is no other")
        seen.add(fingerprint)
    other("name", "name", both(name="Set"))
    other("buckets", "buckets", both(buckets="201"))
    other("seed", "seed", both(seed="1"))
    other("seed-large", "seed is a number without sign",
          both(seed=str(2 ** 64 - 1)))
    other("key", "key", both(key="K:{a}:{b}"))
    other("key-fields", "order of the fields", both(key="k:{b}:{a}"))
    other("key-third", "one more field", both(key="k:{a}:{b}:{c}"))
    other("delimiter", "delimiter", both(key="k:{a}:|{b}",
                                         delimiter="|"))
    other("delimiter-key", "the same key without it",
          both(key="k:{a}:|{b}"))
    other("filter", "filter", both(filter="{name}.{bucket}:{fp}"))
    other("filter-same", "filter, with the same names",
          both(filter="set:{bucket}:{fp}"))
    other("sentinel", "sentinel", both(sentinel="x"))
    other("sentinel-none", "no sentinel", both(sentinel="none"))
    other("sentinel-default", "the word default as a sentinel",
          both(sentinel="default"))
    other("encoding", "encoding of all", both(encoding="bytes"))
    other("encoding-field", "encoding of one field",
          both(a={"encoding": "bytes"}))
    other("empty", "empty", both(a={"empty": "allow"}))
    other("null", "null", both(a={"empty": "allow", "null": "empty"}))
    other("no-transform", "one transform less",
          both(a={"transform": "trim"}))
    other("turned", "order of the transforms",
          both(a={"transform": "lower,trim"}))
    other("repeated", "a transform twice, though twice is once",
          both(a={"transform": "trim,lower,lower"}))
    other("first", "first:3", both(a={"transform": "trim,lower,first:3"}))
    other("first-other", "first:4",
          both(a={"transform": "trim,lower,first:4"}))
    other("secret", "another secret", text, env_KEY=KEY16[::-1])
    other("secret-longer", "a longer secret", text, env_KEY=KEY16 + b"x")
    other("secret-lf", "a secret that ends with 0x0A",
          text, env_KEY=KEY16 + b"\n\n")
    good("fp-no-transform-line", "Fingerprint: transform= without transforms",
         spec(key="{a}:{b}"))
    rows("fp-no-transform-line", ("Fingerprint: no transforms", b"a", b"b"))
    good("fp-braces", "Fingerprint: key and filter with their braces twice",
         spec(key="{{{id}}}", filter="{{{name}}}{bucket}"))
    rows("fp-braces", ("Fingerprint: hashed as they are written", b"x"))
    good("fp-utf-8", "Fingerprint: Hex of UTF-8",
         spec(key="\u00e9{id}", sentinel="\u20ac"))
    rows("fp-utf-8", ("Fingerprint: not ASCII", b"x"))
