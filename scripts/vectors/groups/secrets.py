# SPDX-License-Identifier: BSD-2-Clause
"""Secrets: where they are, and how they are written there."""
import base64
import sys

from vectors.make import bad, field, good, keyspecs, letters, noise, rows, spec
from vectors.groups.chains import KEY16


def keyed(secret):
    return spec(field(transform="hmac-sha256", secret=secret))


HMAC_ROWS = (b"x", "\u20ac".encode(), b"0" * 64, letters(129))


def hmac_rows(name):
    rows(name, *((f"Hmac: of {len(value)} bytes", value)
                 for value in HMAC_ROWS))


def secrets():
    printable = letters(200, 7)
    for n in (16, 17, 32, 63, 64, 65, 128, 200):
        good(f"secret-{n}", f"SecretLength: {n} bytes", keyed("env:SECRET_1"),
             env_SECRET_1=printable[:n])
        hmac_rows(f"secret-{n}")
    base = noise(200, 9)
    for n in (16, 64, 65, 200):
        good(f"secret-file-{n}", f"SecretFile: any {n} bytes",
             keyed("file:secret.bin"), from_file={"secret.bin": base[:n]})
        hmac_rows(f"secret-file-{n}")
        good(f"secret-hex-{n}", f"SecretHex: {n} bytes", keyed("hex:env:KEY"),
             env_KEY=base[:n].hex().encode())
        hmac_rows(f"secret-hex-{n}")
        good(f"secret-base64-{n}", f"SecretBase64: {n} bytes",
             keyed("base64:env:KEY"), env_KEY=base64.b64encode(base[:n]))
        hmac_rows(f"secret-base64-{n}")
        if len({keyspecs[f"secret-{kind}-{n}"].fingerprint
                for kind in ("file", "hex", "base64")}) != 1:
            sys.exit("gen-vectors: one secret, but two fingerprints")
    k = KEY16
    for name, catches, content in (
            ("nul", "SecretNul: a secret does not end at 0x00",
             b"0123\0" + b"4567\0\0" * 3),
            ("nul-end", "SecretNul: 0x00 at the end counts as length",
             b"0123456789abcde\0"),
            ("high", "SecretHigh: bytes from 0x80", bytes(range(128, 160))),
            ("lf", "SecretLineEnd: one 0x0A is dropped", k + b"\n"),
            ("crlf", "SecretLineEnd: 0x0D 0x0A is dropped", k + b"\r\n"),
            ("lf-lf", "SecretLineEnd: only one is dropped", k + b"\n\n"),
            ("crlf-crlf", "SecretLineEnd: only one 0x0D 0x0A is dropped",
             k + b"\r\n\r\n"),
            ("crcrlf", "SecretLineEnd: only one 0x0D is dropped",
             k + b"\r\r\n"),
            ("cr", "SecretLineEnd: 0x0D alone stays", k + b"\r"),
            ("lfcr", "SecretLineEnd: 0x0A before 0x0D stays", k + b"\n\r"),
            ("lf-first", "SecretLineEnd: 0x0A at the start stays",
             b"\n" + k),
            ("blanks", "SecretBlanks: blanks at the ends stay",
             b" " + k + b" \t"),
            ("bom", "SecretBom: EF BB BF at the start stays",
             b"\xef\xbb\xbf" + k),
            ("ctrl-z", "SecretText: 0x1A does not end it", k + b"\x1a" + k),
            ("hexlike", "SecretText: digits are not decoded unasked",
             k.hex().encode())):
        good(f"secret-in-{name}", catches, keyed("file:secret"),
             from_file={"secret": content})
        rows(f"secret-in-{name}", (catches, b"x"))
    for name, catches, content in (
            ("lf", "SecretLineEnd: of a variable too", k + b"\n"),
            ("crlf", "SecretLineEnd: of a variable too", k + b"\r\n"),
            ("utf-8", "SecretHigh: UTF-8 in a variable is its bytes",
             "p\u00e4ssw\u00f6rt\u20ac\U0001f600".encode()),
            ("blanks", "SecretBlanks: of a variable too", b"  " + k + b"  "),
            ("equals", "SecretText: = in a variable", b"a=b=" + k)):
        good(f"secret-env-{name}", catches, keyed("env:KEY"),
             env_KEY=content)
        rows(f"secret-env-{name}", (catches, b"x"))
    digits = base[:20].hex().encode()
    for name, catches, content in (
            ("upper", "SecretHex: upper case", digits.upper()),
            ("mixed", "SecretHex: mixed case",
             digits[:20].upper() + digits[20:]),
            ("lf", "SecretHex: one 0x0A is dropped", digits + b"\n"),
            ("crlf", "SecretHex: 0x0D 0x0A is dropped", digits + b"\r\n"),
            ("zeros", "SecretHex: leading zeros are bytes",
             b"0000" + digits)):
        good(f"secret-hex-{name}", catches, keyed("hex:file:key.hex"),
             from_file={"key.hex": content})
        rows(f"secret-hex-{name}", (catches, b"x"))
    for n in (16, 17, 18):
        content = base64.b64encode(base[:n])
        good(f"secret-base64-pad-{n}", f"SecretBase64: {n} bytes with "
             f"{content.count(b'=')} of padding", keyed("base64:file:key"),
             from_file={"key": content + b"\n"})
        rows(f"secret-base64-pad-{n}", ("SecretBase64: padding", b"x"))
    plus = base64.b64encode(b"\xfb\xff\xbf" * 7)
    good("secret-base64-plus", "SecretBase64: + and / are digits",
         keyed("base64:env:KEY"), env_KEY=plus)
    rows("secret-base64-plus", ("SecretBase64: + and / are digits", b"x"))
    good("secret-dot", "SecretFile: ./ is the keyspec's folder",
         keyed("file:./key"), from_file={"key": KEY16})
    rows("secret-dot", ("SecretFile: relative to the keyspec", b"x"))
    good("secret-blank-name", "SecretFile: blanks in its name",
         keyed('"file:my key.txt"'), from_file={"my key.txt": KEY16})
    rows("secret-blank-name", ("SecretFile: blanks in its name", b"x"))
    good("secret-colon-name", "SecretFile: the name may hold a colon",
         keyed("file:env:KEY"), from_file={"env:KEY": KEY16})
    rows("secret-colon-name", ("SecretFile: it is no variable", b"x"))
    good("secret-variable", "SecretVariable: underscores, digits and case",
         keyed("env:_k9_Z"), env__k9_Z=KEY16)
    rows("secret-variable", ("SecretVariable: its name", b"x"))
    good("secret-two", "SecretEach: two fields, two secrets",
         spec(field("a", transform="hmac-sha256", secret="env:KEY_A"),
              field("b", transform="hmac-sha256", secret="env:KEY_B"),
              key="{a}:{b}"), env_KEY_A=KEY16, env_KEY_B=KEY16[::-1])
    rows("secret-two", ("SecretEach: each field has its own", b"x", b"x"))
    good("secret-zeros", "SecretPadding: HMAC fills a secret with zeros",
         keyed("file:key"), from_file={"key": KEY16 + b"\0\0"})
    rows("secret-zeros", ("SecretPadding: the same as without them", b"x"))
    good("secret-hashed", "SecretPadding: 65 bytes are hashed first",
         keyed("file:key"), from_file={"key": b"\xaa" * 65})
    rows("secret-hashed", ("SecretPadding: longer than a block", b"x"))
    good("secret-nul-hex", "SecretNul: NUL by hex:", keyed("hex:env:KEY"),
         env_KEY=(b"\0" * 16).hex().encode())
    rows("secret-nul-hex", ("SecretNul: 16 zeros are a secret", b"x"))
    good("secret-nul-base64", "SecretNul: NUL by base64:",
         keyed("base64:env:KEY"),
         env_KEY=base64.b64encode(b"a\0b" * 6))
    rows("secret-nul-base64", ("SecretNul: within a secret", b"x"))

    short = "a secret of less than 16 bytes"
    bad(short,
        ("secret-15", "SecretShort: 15 bytes", keyed("env:KEY"),
         {"env:KEY": k[:15]}),
        ("secret-15-lf", "SecretShort: the line end does not count",
         keyed("file:key"), {"file:key": k[:15] + b"\n"}),
        ("secret-15-crlf", "SecretShort: nor does 0x0D 0x0A",
         keyed("file:key"), {"file:key": k[:15] + b"\r\n"}),
        ("secret-empty", "SecretShort: a variable that is empty",
         keyed("env:KEY"), {"env:KEY": b""}),
        ("secret-file-empty", "SecretShort: a file that is empty",
         keyed("file:key"), {"file:key": b""}),
        ("secret-file-lf", "SecretShort: a file of a line end",
         keyed("file:key"), {"file:key": b"\n"}),
        ("secret-hex-15", "SecretShort: 30 digits are 15 bytes",
         keyed("hex:env:KEY"), {"env:KEY": digits[:30]}),
        ("secret-hex-empty", "SecretShort: no digits",
         keyed("hex:env:KEY"), {"env:KEY": b""}),
        ("secret-base64-15", "SecretShort: 20 digits are 15 bytes",
         keyed("base64:env:KEY"), {"env:KEY": base64.b64encode(k[:15])}))
    bad("a secret is not hexadecimal",
        ("secret-hex-odd", "SecretHex: an odd number of digits",
         keyed("hex:env:KEY"), {"env:KEY": digits[:-1]}),
        ("secret-hex-blank", "SecretHex: a blank within",
         keyed("hex:env:KEY"), {"env:KEY": digits[:20] + b" " + digits}),
        ("secret-hex-space", "SecretHex: a blank at the end",
         keyed("hex:env:KEY"), {"env:KEY": digits + b" "}),
        ("secret-hex-0x", "SecretHex: 0x before it", keyed("hex:env:KEY"),
         {"env:KEY": b"0x" + digits}),
        ("secret-hex-colons", "SecretHex: colons between",
         keyed("hex:env:KEY"), {"env:KEY": base[:20].hex(":").encode()}),
        ("secret-hex-g", "SecretHex: g is no digit", keyed("hex:env:KEY"),
         {"env:KEY": digits + b"gg"}),
        ("secret-hex-lines", "SecretHex: two line ends",
         keyed("hex:file:key"), {"file:key": digits + b"\n\n"}),
        ("secret-hex-cr", "SecretHex: 0x0D alone at the end",
         keyed("hex:file:key"), {"file:key": digits + b"\r"}),
        ("secret-hex-nul", "SecretHex: a NUL at the end",
         keyed("hex:file:key"), {"file:key": digits + b"\0"}))
    padded = base64.b64encode(base[:16])
    strict = "a secret is not strictly base64"
    loose = "a secret is not base64"
    bad(loose,
        ("secret-base64-open", "SecretBase64: the padding is missing",
         keyed("base64:env:KEY"), {"env:KEY": padded.rstrip(b"=")}),
        ("secret-base64-half", "SecretBase64: half the padding is missing",
         keyed("base64:env:KEY"), {"env:KEY": padded[:-1]}),
        ("secret-base64-lines", "SecretBase64: a line end within",
         keyed("base64:file:key"),
         {"file:key": padded[:12] + b"\n" + padded[12:]}),
        ("secret-base64-lf-lf", "SecretBase64: two line ends",
         keyed("base64:file:key"), {"file:key": padded + b"\n\n"}),
        ("secret-base64-blank", "SecretBase64: a blank within",
         keyed("base64:env:KEY"),
         {"env:KEY": padded[:12] + b" " + padded[12:]}),
        ("secret-base64-url", "SecretBase64: - and _ are no digits",
         keyed("base64:env:KEY"),
         {"env:KEY": plus.replace(b"+", b"-").replace(b"/", b"_")}),
        ("secret-base64-high", "SecretBase64: a byte that is not ASCII",
         keyed("base64:file:key"), {"file:key": padded + b"\xff"}),
        ("secret-base64-behind", "SecretBase64: digits behind the padding",
         keyed("base64:env:KEY"), {"env:KEY": padded + padded}))
    unused = padded[:-3] + bytes((padded[-3] + 1,)) + b"=="
    bad(strict,
        ("secret-base64-unused", "SecretBase64: unused bits that are not "
         "zero", keyed("base64:env:KEY"), {"env:KEY": unused}),
        ("secret-base64-pad", "SecretBase64: a lone = at the end",
         keyed("base64:env:KEY"),
         {"env:KEY": base64.b64encode(base[:18]) + b"="}))
    bad("a secret's variable is not set",
        ("secret-unset", "SecretMissing: no such variable",
         keyed("env:BLOOMKEY_MISSING")),
        ("secret-unset-case", "SecretMissing: the variable in another case",
         keyed("env:key"), {"env:KEY": k}))
    bad("a secret's file cannot be read",
        ("secret-no-file", "SecretMissing: no such file",
         keyed("file:missing.key")),
        ("secret-no-folder", "SecretMissing: no such folder",
         keyed("file:missing/key"), {"file:key": k}))
