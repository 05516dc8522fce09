# SPDX-License-Identifier: BSD-2-Clause
"""Transforms that cut and that hash, and several in a row."""
import hashlib
import hmac

from vectors.make import field, good, letters, maps, rejects, rows, spec
from vectors.groups.transforms import UUIDS, transform


def firsts():
    for n in (1, 2, 3, 4, 5, 65535):
        transform(f"first-{n}", f"first:{n}", f"First: {n} bytes of UTF-8")
        transform(f"first-{n}-bytes", f"first:{n}", f"First: {n} bytes",
                  "bytes")
    values = (
        ("Ascii", b"abcdef"), ("exactly one byte", b"a"),
        ("exactly two", b"ab"), ("exactly three", b"abc"),
        ("exactly four", b"abcd"), ("exactly five", b"abcde"),
        ("one and a code point of two bytes", "a\u00e9".encode()),
        ("code points of two bytes", "\u00e9\u00e8\u00ea".encode()),
        ("code points of three bytes", "\u20ac\u20ac".encode()),
        ("one and a code point of three bytes", "a\u20acb".encode()),
        ("two and a code point of three bytes", "ab\u20ac".encode()),
        ("code points of four bytes", "\U0001f600\U0001f601".encode()),
        ("one and a code point of four bytes", "a\U0001f600".encode()),
        ("a combining mark may be cut off", "e\u0301e\u0301".encode()),
        ("a flag may be cut apart", "\U0001f1e9\U0001f1ea".encode()),
        ("a family may be cut apart", "\U0001f468\u200d\U0001f469".encode()),
        ("0x0D and 0x0A may be cut apart", b"\r\n\r\n"),
        ("NUL counts", b"\0\0\0\0\0\0"),
        ("blanks count", b"  abc"))
    for n in (1, 2, 3, 4, 5):
        for what, value in values:
            catches = f"FirstBytes: N counts bytes: {what}"
            text = value[:n].decode(errors="ignore").encode()
            if text:
                maps(f"first-{n}", (catches, value, text))
            else:
                rejects(f"first-{n}", "empty", (catches, value))
            maps(f"first-{n}-bytes", (catches, value, value[:n]))
    maps("first-65535", ("FirstLong: a short value is its own", b"abc",
                         b"abc"))
    maps("first-3-bytes",
         ("FirstBytes: not UTF-8, cut anywhere", b"\xff\xfe\xfd\xfc",
          b"\xff\xfe\xfd"),
         ("FirstBytes: a continuation byte at the cut", b"ab\x80\x80",
          b"ab\x80"))
    transform("first-36", "first:36", "First: of a longer value")
    for n in (35, 36, 37, 100):
        value = letters(n)
        maps("first-36", (f"First: of {n} bytes", value, value[:36]))
    for before in range(31, 37):
        value = letters(before) + "\U0001f600\u20ac\u00e9".encode()
        maps("first-36", (f"First: {before} bytes before longer code points",
                          value,
                          value[:36].decode(errors="ignore").encode()))


def hashes():
    transform("sha256", "sha256", "Sha256: 64 lower-case digits")
    transform("sha256-bytes", "sha256", "Sha256: of any bytes", "bytes")
    for n in (1, 3, 55, 56, 57, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129,
              1000):
        value = letters(n, n)
        digest = hashlib.sha256(value).hexdigest().encode()
        maps("sha256", (f"Sha256: of {n} bytes", value, digest))
    maps("sha256",
         ("Sha256: of abc, as FIPS 180 has it", b"abc",
          b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    rows("sha256",
         ("Sha256: a newline at the end counts", b"abc\n"),
         ("Sha256: NUL counts", b"abc\0"),
         ("Sha256: of UTF-8, not UTF-16", "\u20ac\U0001f600".encode()),
         ("Sha256: of hexadecimal digits it is of the digits",
          b"616263"))
    rows("sha256-bytes",
         ("Sha256: of all bytes", bytes(range(256))),
         ("Sha256: of 0xFF", b"\xff"))
    good("sha256-empty", "Sha256: of the empty value",
         spec(field(transform="sha256", empty="allow")))
    maps("sha256-empty",
         ("Sha256: of the empty value", b"",
          b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    rejects("sha256", "empty", ("Sha256Empty: rejected and not hashed", b""))


KEY16 = b"0123456789abcdef"


def chains():
    def chain(name, text, *table, secret=None, encoding=None, empty=None):
        given = {"transform": text}
        places = {}
        if secret:
            given["secret"] = "env:KEY"
            places["env_KEY"] = secret
        if encoding:
            given["encoding"] = encoding
        if empty:
            given["empty"] = empty
        good(name, f"ChainOrder: {text}", spec(field(**given)), **places)
        maps(name, *((f"ChainOrder: {what}", value, key)
                     for what, value, key in table))

    def sha(value):
        return hashlib.sha256(value).hexdigest().encode()

    def mac(value):
        return hmac.new(KEY16, value, hashlib.sha256
                              ).hexdigest().encode()

    chain("chain-lower-sha", "lower,sha256",
          ("lower before the hash", b"AbC", sha(b"abc")))
    chain("chain-sha-lower", "sha256,lower",
          ("lower behind the hash changes nothing", b"AbC", sha(b"AbC")))
    chain("chain-sha-upper", "sha256,upper",
          ("upper behind the hash", b"AbC", sha(b"AbC").upper()))
    chain("chain-upper-lower", "upper,lower",
          ("the last one stays", b"AbC\xc3\x89", b"abc\xc3\x89"))
    chain("chain-lower-upper", "lower,upper",
          ("the last one stays", b"AbC\xc3\xa9", b"ABC\xc3\xa9"))
    chain("chain-trim-first", "trim,first:3",
          ("blanks go before the cut", b"  abcd", b"abc"),
          ("the cut leaves a blank at the end", b" ab cd", b"ab "))
    chain("chain-first-trim", "first:3,trim",
          ("blanks are cut and then go", b"  abcd", b"a"),
          ("the blank at the cut goes", b"ab cd", b"ab"))
    chain("chain-digits-first", "digits,first:4",
          ("digits before the cut", b"+1 (555) 010", b"1555"))
    chain("chain-first-digits", "first:4,digits",
          ("the cut before the digits, letters cut away", b"+1 (abc", b"1"))
    chain("chain-hmac-first", "hmac-sha256,first:16",
          ("the first digits of the HMAC", b"x", mac(b"x")[:16]),
          ("all bytes count before the cut", b"x" * 40,
           mac(b"x" * 40)[:16]), secret=KEY16)
    chain("chain-first-hmac", "first:16,hmac-sha256",
          ("the HMAC of the first bytes", b"x" * 40, mac(b"x" * 16)),
          ("no code point is cut apart", b"x" * 15 + b"\xc3\xa9",
           mac(b"x" * 15)), secret=KEY16)
    chain("chain-sha-hmac", "sha256,hmac-sha256",
          ("the HMAC of 64 digits and not of 32 bytes", b"x", mac(sha(b"x"))),
          secret=KEY16)
    chain("chain-hmac-sha", "hmac-sha256,sha256",
          ("the hash of 64 digits and not of 32 bytes", b"x", sha(mac(b"x"))),
          secret=KEY16)
    chain("chain-sha-sha", "sha256,sha256",
          ("the hash of 64 digits and not of 32 bytes", b"x", sha(sha(b"x"))))
    chain("chain-trim-uuid-first", "trim,uuid,first:8",
          ("a UUID's first group", b" {" + UUIDS.upper() + b"} ",
           b"6f9619ff"))
    chain("chain-uuid-upper", "uuid,upper",
          ("a UUID in upper case", UUIDS, UUIDS.upper()))
    chain("chain-first-uuid", "first:36,uuid",
          ("what is behind a UUID is cut away", UUIDS + b"/1", UUIDS))
    chain("chain-int-int", "int,int", ("twice is once", b"-007", b"-7"))
    chain("chain-int-digits", "int,digits",
          ("the sign goes", b"-007", b"7"))
    chain("chain-digits-int", "digits,int",
          ("digits takes the sign first", b"-0 07", b"7"))
    chain("chain-trim-int", "trim,int",
          ("blanks may be around a number", b" -7\n", b"-7"))
    chain("chain-rtrim-lower", "rtrim,lower",
          ("a padded code", b" AB  ", b" ab"))
    chain("chain-first-first", "first:5,first:3",
          ("the shorter one stays", b"abcdef", b"abc"))
    chain("chain-first-longer", "first:3,first:5",
          ("the shorter one stays", b"abcdef", b"abc"))
    chain("chain-first-steps", "first:4,first:3",
          ("each cut leaves whole code points", "a\u20acb".encode(), b"a"))
    chain("chain-trim-trim", "trim , trim",
          ("twice is once", b"  a  ", b"a"))
    chain("chain-bytes", "first:2,sha256",
          ("bytes are cut anywhere and hashed", b"\xe2\x82\xac",
           sha(b"\xe2\x82")), encoding="bytes")
    chain("chain-empty-sha", "trim,sha256",
          ("the empty value within has a hash", b"  ", sha(b"")))
    chain("chain-empty-hmac", "digits,hmac-sha256",
          ("the empty value within has an HMAC", b"()", mac(b"")),
          secret=KEY16)
    chain("chain-digits-sha", "digits,sha256",
          ("no digits have a hash", b"+", sha(b"")),
          ("digits before the hash", b"+1 (2)", sha(b"12")))
    chain("chain-sixteen", "trim,rtrim,lower,upper,lower,first:40,first:39,"
          "first:38,trim,uuid,upper,lower,uuid,first:13,sha256,first:12",
          ("sixteen of them", b" " + UUIDS.upper() + b" ",
           sha(UUIDS[:13])[:12]))
    chain("chain-same", ",".join(["lower"] * 16),
          ("sixteen times the same", b"ABC", b"abc"))
    rejects("chain-first-digits", "digits",
            ("ChainFails: letters within the cut", b"a1"))
    rejects("chain-trim-uuid-first", "uuid",
            ("ChainFails: the second of three", b" x "),
            ("ChainFails: uuid gets nothing", b"  "))
    rejects("chain-trim-int", "int",
            ("ChainFails: int gets nothing, and that is not empty", b" ")
            )
    rejects("chain-digits-int", "int",
            ("ChainFails: digits leaves nothing", b"+"))
    rejects("chain-digits-int", "digits",
            ("ChainFails: the first of two that would fail", b"x"))
    rejects("chain-first-trim", "empty",
            ("ChainEmpty: nothing is left at the end", b"   a"))
    good("chain-int-digits-order", "ChainFails: the first that fails is told",
         spec(field(transform="int,uuid,digits")))
    rejects("chain-int-digits-order", "int",
            ("ChainFails: all three would fail", b"x"))
    rejects("chain-int-digits-order", "uuid",
            ("ChainFails: int would not", b"12"))
