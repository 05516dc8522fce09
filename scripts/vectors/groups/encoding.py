# SPDX-License-Identifier: BSD-2-Clause
"""What is UTF-8 and what is not."""
from vectors.make import field, good, maps, rejects, rows, spec


WRONG_UTF8 = (
    ("Utf8Lone: a continuation byte alone", b"\x80"),
    ("Utf8Lone: the last continuation byte alone", b"\xbf"),
    ("Utf8Lone: a continuation byte too many", b"\xc3\xa9\xa9"),
    ("Utf8Lone: behind ASCII", b"a\x80"),
    ("Utf8Overlong: C0 80, the 0x00 of Java's modified UTF-8", b"\xc0\x80"),
    ("Utf8Overlong: C0 AF, a slash", b"\xc0\xaf"),
    ("Utf8Overlong: C1 BF, U+007F", b"\xc1\xbf"),
    ("Utf8Overlong: E0 80 80, U+0000", b"\xe0\x80\x80"),
    ("Utf8Overlong: E0 9F BF, U+07FF", b"\xe0\x9f\xbf"),
    ("Utf8Overlong: F0 80 80 80, U+0000", b"\xf0\x80\x80\x80"),
    ("Utf8Overlong: F0 8F BF BF, U+FFFF", b"\xf0\x8f\xbf\xbf"),
    ("Utf8Surrogate: ED A0 80, U+D800", b"\xed\xa0\x80"),
    ("Utf8Surrogate: ED AF BF, U+DBFF", b"\xed\xaf\xbf"),
    ("Utf8Surrogate: ED B0 80, U+DC00", b"\xed\xb0\x80"),
    ("Utf8Surrogate: ED BF BF, U+DFFF", b"\xed\xbf\xbf"),
    ("Utf8Surrogate: a pair, as CESU-8 writes U+1F600",
     b"\xed\xa0\xbd\xed\xb8\x80"),
    ("Utf8Above: F4 90 80 80, U+110000", b"\xf4\x90\x80\x80"),
    ("Utf8Above: F4 BF BF BF", b"\xf4\xbf\xbf\xbf"),
    ("Utf8Above: F5 80 80 80", b"\xf5\x80\x80\x80"),
    ("Utf8Above: F7 BF BF BF, U+1FFFFF", b"\xf7\xbf\xbf\xbf"),
    ("Utf8Above: F8, five bytes", b"\xf8\x88\x80\x80\x80"),
    ("Utf8Above: FC, six bytes", b"\xfc\x84\x80\x80\x80\x80"),
    ("Utf8Above: FE", b"\xfe"),
    ("Utf8Above: FF", b"\xff"),
    ("Utf8Above: FF FE, another byte order mark", b"\xff\xfe"),
    ("Utf8CutOff: C2 at the end", b"\xc2"),
    ("Utf8CutOff: DF at the end", b"a\xdf"),
    ("Utf8CutOff: E0 at the end", b"\xe0"),
    ("Utf8CutOff: E0 A0 at the end", b"\xe0\xa0"),
    ("Utf8CutOff: E2 82 at the end", b"a\xe2\x82"),
    ("Utf8CutOff: EF BF at the end", b"\xef\xbf"),
    ("Utf8CutOff: F0 at the end", b"\xf0"),
    ("Utf8CutOff: F0 9F at the end", b"\xf0\x9f"),
    ("Utf8CutOff: F0 9F 98 at the end", b"\xf0\x9f\x98"),
    ("Utf8CutOff: F4 8F BF at the end", b"\xf4\x8f\xbf"),
    ("Utf8Broken: C3 and then ASCII", b"\xc3a"),
    ("Utf8Broken: C3 and then another first byte", b"\xc3\xc3\xa9"),
    ("Utf8Broken: E2 and then ASCII", b"\xe2aa"),
    ("Utf8Broken: E2 82 and then ASCII", b"\xe2\x82a"),
    ("Utf8Broken: E2 82 and then another first byte", b"\xe2\x82\xc3\xa9"),
    ("Utf8Broken: F0 9F 98 and then ASCII", b"\xf0\x9f\x98a"),
    ("Utf8Broken: F0 9F and then ASCII", b"\xf0\x9faa"),
    ("Utf8Broken: F1 and then ASCII", b"\xf1aaa"),
    ("Utf8Broken: a NUL where a continuation byte should be", b"\xc3\0"),
    ("Utf8Broken: E1 C0 80, the second byte above BF", b"\xe1\xc0\x80"),
    ("Utf8Broken: E1 80 7F, the third byte below 80", b"\xe1\x80\x7f"),
    ("Utf8Broken: F1 80 80 C0, the fourth byte above BF",
     b"\xf1\x80\x80\xc0"),
    ("Utf8Latin1: ISO 8859-1 is not UTF-8", b"caf\xe9"),
    ("Utf8Latin1: in the middle of a long value",
     b"abcdefghijklmnopqrstuvwxyz\xe9abcdefghijklmnopqrstuvwxyz"),
    ("Utf8Latin1: the last of 32 bytes", b"a" * 31 + b"\x9f"),
)

RIGHT_UTF8 = (
    ("00", b"\x00"), ("7F", b"\x7f"), ("C2 80", b"\xc2\x80"),
    ("DF BF", b"\xdf\xbf"), ("E0 A0 80", b"\xe0\xa0\x80"),
    ("E0 BF BF", b"\xe0\xbf\xbf"), ("E1 80 80", b"\xe1\x80\x80"),
    ("EC BF BF", b"\xec\xbf\xbf"), ("ED 80 80", b"\xed\x80\x80"),
    ("ED 9F BF", b"\xed\x9f\xbf"), ("EE 80 80", b"\xee\x80\x80"),
    ("EF BF BF, U+FFFF", b"\xef\xbf\xbf"),
    ("EF BF BE, U+FFFE", b"\xef\xbf\xbe"),
    ("EF B7 90, U+FDD0", b"\xef\xb7\x90"),
    ("F0 90 80 80, U+10000", b"\xf0\x90\x80\x80"),
    ("F0 BF BF BF", b"\xf0\xbf\xbf\xbf"),
    ("F1 80 80 80", b"\xf1\x80\x80\x80"),
    ("F3 BF BF BF", b"\xf3\xbf\xbf\xbf"),
    ("F4 80 80 80", b"\xf4\x80\x80\x80"),
    ("F4 8F BF BF, U+10FFFF", b"\xf4\x8f\xbf\xbf"),
    ("CD B8, not assigned", b"\xcd\xb8"),
    ("EE 80 80, for private use", b"a\xee\x80\x80b"),
)


def utf8():
    good("utf-8", "Utf8Strict: bytes that are not UTF-8 are rejected",
         spec(encoding="utf-8"))
    rejects("utf-8", "encoding", *WRONG_UTF8)
    rows("utf-8", *(("Utf8Edge: " + what, value)
                    for what, value in RIGHT_UTF8))
    good("bytes", "BytesEncoding: every value passes", spec(encoding="bytes"))
    maps("bytes", *(("BytesEncoding: " + what, value, value)
                    for what, value in WRONG_UTF8))
    maps("bytes", *(("BytesEncoding: UTF-8 passes too: " + what, value, value)
                    for what, value in RIGHT_UTF8))
    maps("bytes", ("BytesEncoding: all 256 bytes", bytes(range(256)),
                   bytes(range(256))))
    good("encodings", "FieldEncoding: a field's own encoding comes first",
         spec(field("a", encoding="utf-8"), field("b", encoding="bytes"),
              key="{a}:{b}:{c}", encoding="bytes"))
    rows("encodings",
         ("FieldEncoding: the others have that of [keyspec]", b"a", b"\xff",
          b"\xff"))
    rejects("encodings", "encoding",
            ("FieldEncoding: the first is utf-8", b"\xff", b"b", b"c"))
    good("encodings-two", "FieldEncoding: bytes in a keyspec of utf-8",
         spec(field("a", encoding="bytes"), key="{a}:{b}"))
    rows("encodings-two",
         ("FieldEncoding: only the first is bytes", b"\xc3", b"b"))
    rejects("encodings-two", "encoding",
            ("FieldEncoding: the key is never judged as a whole", b"\xc3",
             b"\xa9"))
    good("encoding-last", "EncodingBefore: judged before the transforms",
         spec(field(transform="first:1")))
    rows("encoding-last",
         ("EncodingBefore: a sound value is cut", b"abc"))
    rejects("encoding-last", "encoding",
            ("EncodingBefore: what first:1 would leave is sound",
             b"a\xff"))
