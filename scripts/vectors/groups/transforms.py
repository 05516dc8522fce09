# SPDX-License-Identifier: BSD-2-Clause
"""Each transform that makes text of text."""
from vectors.make import field, good, maps, noise, rejects, spec


def transform(name, text, catches, encoding=None):
    """A keyspec whose only field has these transforms."""
    given = {"transform": text}
    if encoding:
        given["encoding"] = encoding
    good(name, catches, spec(field(**given)))


def trims():
    transform("trim", "trim", "Trim: six bytes at both ends, no others")
    transform("trim-bytes", "trim", "Trim: the same in bytes", "bytes")
    transform("rtrim", "rtrim", "Rtrim: 0x20 at the end only")
    for byte in range(0x21):
        value = bytes((byte,))
        text = b"a" + value + b"b"
        catches = f"TrimWhich: 0x{byte:02X}"
        stays = value if byte not in (9, 10, 11, 12, 13, 32) else b""
        maps("trim", (catches, value + text + value, stays + text + stays))
        maps("rtrim", (catches, text + value,
                       text + (value if byte != 32 else b"")))
    kept = (("U+0085", "\u0085"), ("U+00A0", "\u00a0"), ("U+1680", "\u1680"),
            ("U+180E", "\u180e"), ("U+2000", "\u2000"), ("U+2007", "\u2007"),
            ("U+200B", "\u200b"), ("U+2028", "\u2028"), ("U+2029", "\u2029"),
            ("U+202F", "\u202f"), ("U+205F", "\u205f"), ("U+3000", "\u3000"),
            ("U+FEFF", "\ufeff"), ("U+0020 before U+0301", "\u0301"))
    for what, char in kept:
        value = char.encode()
        maps("trim", (f"TrimUnicode: {what} is no blank here",
                      b" " + value + b"a" + value + b" ",
                      value + b"a" + value))
        maps("rtrim", (f"TrimUnicode: {what} is no blank here",
                       b"a" + value, b"a" + value))
    maps("trim-bytes",
         ("TrimBytes: 0x85 and 0xA0 are no blanks", b" \x85a\xa0 ",
          b"\x85a\xa0"),
         ("TrimBytes: blanks beside a broken sequence", b"\xc2 \t",
          b"\xc2"),
         ("TrimBytes: 0x7F stays", b"\x7fa\x7f", b"\x7fa\x7f"))
    maps("trim",
         ("Trim: many of all kinds", b"\n\r\t \v\f a b \f\v \t\r\n", b"a b"),
         ("Trim: two blanks within stay two", b" a  b ", b"a  b"),
         ("Trim: NUL behind blanks stays", b" a \0", b"a \0"),
         ("Trim: one byte is left", b"  x  ", b"x"),
         ("Trim: quotes stay", b" \"a\" ", b"\"a\""))
    rejects("trim", "empty",
            ("Trim: nothing but blanks", b" \t\n\v\f\r"),
            ("Trim: one blank", b" "))
    maps("rtrim",
         ("Rtrim: the begin stays", b"  a  ", b"  a"),
         ("Rtrim: a tab before the blanks stays", b"a\t  ", b"a\t"),
         ("Rtrim: blanks before a newline stay", b"a  \n", b"a  \n"),
         ("Rtrim: padding of CHAR(10)", b"abc       ", b"abc"))
    rejects("rtrim", "empty", ("Rtrim: nothing but blanks", b"   "))


def cases():
    transform("lower", "lower", "Lower: 26 bytes and no others")
    transform("upper", "upper", "Upper: 26 bytes and no others")
    transform("lower-bytes", "lower", "Lower: the same in bytes", "bytes")
    transform("upper-bytes", "upper", "Upper: the same in bytes", "bytes")
    ascii_ = bytes(range(0x80))
    maps("lower",
         ("Lower: all of ASCII", ascii_,
          ascii_.replace(bytes(range(65, 91)), bytes(range(97, 123)))),
         ("Lower: neighbours of A and Z", b"@AZ[", b"@az["),
         ("Lower: neighbours of a and z", b"`az{", b"`az{"))
    maps("upper",
         ("Upper: all of ASCII", ascii_,
          ascii_.replace(bytes(range(97, 123)), bytes(range(65, 91)))),
         ("Upper: neighbours of a and z", b"`az{", b"`AZ{"),
         ("Upper: neighbours of A and Z", b"@AZ[", b"@AZ["))
    maps("lower-bytes", ("Lower: bytes from 0x80 stay",
                         bytes(range(128, 256)), bytes(range(128, 256))))
    maps("upper-bytes", ("Upper: bytes from 0x80 stay",
                         bytes(range(128, 256)), bytes(range(128, 256))))
    for what, char in (
            ("TurkishI: U+0130", "\u0130"), ("TurkishI: U+0131", "\u0131"),
            ("SharpS: U+00DF", "\u00df"), ("SharpS: U+1E9E", "\u1e9e"),
            ("KelvinSign: U+212A", "\u212a"),
            ("AngstromSign: U+212B", "\u212b"), ("LongS: U+017F", "\u017f"),
            ("FullWidth: U+FF21", "\uff21"), ("FullWidth: U+FF41", "\uff41"),
            ("Accent: U+00C9", "\u00c9"), ("Accent: U+00E9", "\u00e9"),
            ("MicroSign: U+00B5", "\u00b5"), ("Diaeresis: U+00FF", "\u00ff"),
            ("FinalSigma: U+03A3 at the end", "\u0391\u03a3"),
            ("FinalSigma: U+03C2", "\u03c2"), ("Cyrillic: U+0416", "\u0416"),
            ("Cyrillic: U+0436", "\u0436"), ("Digraph: U+01C5", "\u01c5"),
            ("Ligature: U+FB01", "\ufb01"), ("Deseret: U+10400",
                                             "\U00010400"),
            ("Roman: U+2160", "\u2160"), ("Greek: U+0390", "\u0390")):
        value = char.encode()
        maps("lower", (what + " stays, and ASCII beside it does not",
                       b"Ii" + value, b"ii" + value))
        maps("upper", (what + " stays, and ASCII beside it does not",
                       b"Ii" + value, b"II" + value))


UUIDS = b"6f9619ff-8b86-d011-b42d-00cf4fc964ff"


def uuids():
    transform("uuid", "uuid", "Uuid: four forms and no others")
    bare = UUIDS.replace(b"-", b"")
    maps("uuid",
         ("Uuid: as it is written out", UUIDS, UUIDS),
         ("Uuid: upper case", UUIDS.upper(), UUIDS),
         ("Uuid: mixed case", b"6F9619ff-8B86-d011-B42D-00Cf4fC964fF",
          UUIDS),
         ("Uuid: no dashes", bare, UUIDS),
         ("Uuid: no dashes, upper case", bare.upper(), UUIDS),
         ("Uuid: braces", b"{" + UUIDS + b"}", UUIDS),
         ("Uuid: braces, upper case", b"{" + UUIDS.upper() + b"}", UUIDS),
         ("Uuid: braces without dashes", b"{" + bare + b"}", UUIDS),
         ("Uuid: nil", b"0" * 32, b"00000000-0000-0000-0000-000000000000"),
         ("Uuid: all F", b"F" * 32, b"ffffffff-ffff-ffff-ffff-ffffffffffff"),
         ("Uuid: version and variant are any",
          b"00112233-4455-f677-0899-aabbccddeeff",
          b"00112233-4455-f677-0899-aabbccddeeff"),
         ("Uuid: byte order of the groups stays, not that of a GUID",
          b"00112233445566778899AABBCCDDEEFF",
          b"00112233-4455-6677-8899-aabbccddeeff"))
    rejects("uuid", "uuid",
            ("UuidBrace: the opening only", b"{" + UUIDS),
            ("UuidBrace: the closing only", UUIDS + b"}"),
            ("UuidBrace: twice", b"{{" + UUIDS + b"}}"),
            ("UuidBrace: the wrong way", b"}" + UUIDS + b"{"),
            ("UuidBrace: parentheses", b"(" + UUIDS + b")"),
            ("UuidBrace: brackets", b"[" + UUIDS + b"]"),
            ("UuidBrace: quotes", b"\"" + UUIDS + b"\""),
            ("UuidBrace: nothing in them", b"{}"),
            ("UuidBrace: one brace alone", b"{"),
            ("UuidBrace: a blank within", b"{ " + UUIDS + b" }"),
            ("UuidDash: after each four digits, as PostgreSQL takes it",
             b"6f96-19ff-8b86-d011-b42d-00cf-4fc9-64ff"),
            ("UuidDash: some are missing",
             b"6f9619ff-8b86d011-b42d-00cf4fc964ff"),
            ("UuidDash: the first is missing",
             b"6f9619ff8b86-d011-b42d-00cf4fc964ff"),
            ("UuidDash: the last is missing",
             b"6f9619ff-8b86-d011-b42d00cf4fc964ff"),
            ("UuidDash: one place to the left",
             b"6f9619f-f8b86-d011-b42d-00cf4fc964ff"),
            ("UuidDash: at the end", UUIDS + b"-"),
            ("UuidDash: at the start", b"-" + UUIDS),
            ("UuidDash: twice", b"6f9619ff--8b86-d011-b42d-00cf4fc964ff"),
            ("UuidDash: U+2010", UUIDS.replace(b"-", "\u2010".encode())),
            ("UuidDash: underscores", UUIDS.replace(b"-", b"_")),
            ("UuidDash: blanks", UUIDS.replace(b"-", b" ")),
            ("UuidShort: 31 digits", bare[:-1]),
            ("UuidShort: 31 digits and dashes", UUIDS[:-1]),
            ("UuidShort: groups without leading zeros, as Java takes them",
             b"1-1-1-1-1"),
            ("UuidShort: 16 bytes are no 32 digits", b"0123456789abcdef"),
            ("UuidLong: 33 digits", bare + b"0"),
            ("UuidLong: 33 digits and dashes", UUIDS + b"0"),
            ("UuidLong: 36 digits without dashes", b"0123" + bare),
            ("UuidLong: two of them", bare + bare),
            ("UuidPrefix: urn:uuid:", b"urn:uuid:" + UUIDS),
            ("UuidPrefix: uuid:", b"uuid:" + UUIDS),
            ("UuidPrefix: 0x", b"0x" + bare),
            ("UuidBlank: at the start", b" " + UUIDS),
            ("UuidBlank: at the end", UUIDS + b" "),
            ("UuidBlank: a newline at the end", UUIDS + b"\n"),
            ("UuidBlank: a newline behind the brace",
             b"{" + UUIDS + b"}\n"),
            ("UuidBlank: NUL at the end", UUIDS + b"\0"),
            ("UuidDigit: g is none", UUIDS.replace(b"f", b"g")),
            ("UuidDigit: O is none", UUIDS.replace(b"0", b"O")),
            ("UuidDigit: the last one is g", UUIDS[:-1] + b"g"),
            ("UuidDigit: full-width", UUIDS.replace(
                b"0", "\uff10".encode())),
            ("UuidDigit: Arabic", bare.replace(b"0", "\u0660".encode())),
            ("UuidDigit: a plus, as some number parsers take it",
             b"+f9619ff-8b86-d011-b42d-00cf4fc964ff"),
            ("UuidDigit: an underscore, as some number parsers take it",
             b"6f9_19ff-8b86-d011-b42d-00cf4fc964ff"),
            ("UuidDigit: a word", b"not-a-uuid"))
    rejects("uuid", "empty", ("UuidEmpty: empty comes before uuid", b""))


def ints():
    transform("int", "int", "Int: a number as text, of any length")
    for value, key in (
            (b"0", b"0"), (b"-0", b"0"), (b"+0", b"0"), (b"000", b"0"),
            (b"-000", b"0"), (b"+000", b"0"), (b"1", b"1"), (b"-1", b"-1"),
            (b"+7", b"7"), (b"007", b"7"), (b"-007", b"-7"),
            (b"+007", b"7"), (b"10", b"10"), (b"0100", b"100"),
            (b"-10", b"-10"), (b"08", b"8"), (b"0777", b"777")):
        maps("int", (f"IntSmall: {value.decode()}", value, key))
    for power in (31, 32, 53, 63, 64, 128):
        for n in (2 ** power - 1, 2 ** power, 2 ** power + 1, -2 ** power,
                  -2 ** power - 1):
            value = b"%d" % n
            maps("int", (f"IntLarge: beside 2^{power}", value, value))
    for n in (20, 40, 309, 1000, 4301):
        value = b"9" + noise_digits(n - 1)
        maps("int", (f"IntLarge: {n} digits", value, value))
    maps("int",
         ("IntLarge: 400 zeros and a digit", b"0" * 400 + b"5", b"5"),
         ("IntLarge: a minus and 400 zeros", b"-" + b"0" * 400, b"0"),
         ("IntLarge: 0 before 2^63", b"0%d" % 2 ** 63, b"%d" % 2 ** 63))
    rejects("int", "int",
            ("IntBlank: at the start", b" 1"),
            ("IntBlank: at the end", b"1 "),
            ("IntBlank: a tab", b"\t1"),
            ("IntBlank: a newline at the end", b"1\n"),
            ("IntBlank: a carriage return at the end", b"1\r"),
            ("IntBlank: behind the sign", b"- 1"),
            ("IntBlank: within", b"1 000"),
            ("IntBlank: nothing else", b" "),
            ("IntBlank: U+00A0", "1\u00a0".encode()),
            ("IntBlank: NUL at the end", b"1\0"),
            ("IntForm: 1.0", b"1.0"), ("IntForm: 1.", b"1."),
            ("IntForm: .5", b".5"), ("IntForm: 1e5", b"1e5"),
            ("IntForm: 1E5", b"1E5"), ("IntForm: 0x10", b"0x10"),
            ("IntForm: 0b1", b"0b1"), ("IntForm: 0o7", b"0o7"),
            ("IntForm: 10L", b"10L"), ("IntForm: 10n", b"10n"),
            ("IntForm: hexadecimal digits", b"ff"),
            ("IntForm: NaN", b"NaN"), ("IntForm: Infinity", b"Infinity"),
            ("IntForm: true", b"true"),
            ("IntSign: two minuses", b"--1"), ("IntSign: +-", b"+-1"),
            ("IntSign: -+", b"-+1"), ("IntSign: a plus alone", b"+"),
            ("IntSign: a minus alone", b"-"),
            ("IntSign: behind the digits", b"1-"),
            ("IntSign: in parentheses", b"(1)"),
            ("IntSign: U+2212", "\u22121".encode()),
            ("IntSign: U+FF0B", "\uff0b1".encode()),
            ("IntGroups: 1,000", b"1,000"), ("IntGroups: 1.000", b"1.000"),
            ("IntGroups: 1_000", b"1_000"), ("IntGroups: 1'000", b"1'000"),
            ("IntDigit: Arabic digits", "\u0661\u0662".encode()),
            ("IntDigit: Devanagari digits", "\u0967".encode()),
            ("IntDigit: full-width digits", "\uff11".encode()),
            ("IntDigit: superscript", "1\u00b2".encode()),
            ("IntDigit: a letter at the end", b"12a"),
            ("IntDigit: neighbours of the digits", b"1/"),
            ("IntDigit: neighbours of the digits", b":1"))
    rejects("int", "empty", ("IntEmpty: empty comes before int", b""))
    transform("int-bytes", "int", "Int: the same in bytes", "bytes")
    maps("int-bytes", ("IntBytes: -012", b"-012", b"-12"))
    rejects("int-bytes", "int", ("IntBytes: not UTF-8", b"1\xb2"))


def noise_digits(n):
    return bytes(0x30 + b % 10 for b in noise(n, 10))


def digit_rows():
    transform("digits", "digits", "Digits: of a number with separators")
    maps("digits",
         ("Digits: all separators", b"+1 (555) 010-99.99/0", b"155501099990"),
         ("Digits: leading zeros stay", b"00 44 20", b"004420"),
         ("Digits: none to drop", b"15550109999", b"15550109999"),
         ("Digits: separators only at the ends", b"(+1)", b"1"),
         ("Digits: a plus may be anywhere", b"1+2", b"12"),
         ("Digits: one digit", b"-0-", b"0"),
         ("Digits: all ten", b"0123456789", b"0123456789"),
         ("Digits: longer than any number",
          b"1 " * 50, b"1" * 50))
    rejects("digits", "digits",
            ("DigitsLetters: 1-800-FLOWERS", b"1-800-FLOWERS"),
            ("DigitsLetters: an extension", b"555-0100 x123"),
            ("DigitsLetters: ext.", b"555-0100 ext. 1"),
            ("DigitsLetters: nothing else", b"abc"),
            ("DigitsLetters: tel:", b"tel:5550100"),
            ("DigitsBlank: a tab", b"555\t0100"),
            ("DigitsBlank: a newline at the end", b"5550100\n"),
            ("DigitsBlank: U+00A0", "555\u00a00100".encode()),
            ("DigitsBlank: U+202F", "555\u202f0100".encode()),
            ("DigitsBlank: U+200E", "\u200e5550100".encode()),
            ("DigitsBlank: NUL", b"555\x000100"),
            ("DigitsOther: a comma", b"555,0100"),
            ("DigitsOther: an underscore", b"555_0100"),
            ("DigitsOther: a star", b"*31#5550100"),
            ("DigitsOther: a hash", b"5550100#"),
            ("DigitsOther: brackets", b"[555]"),
            ("DigitsOther: a backslash", b"555\\0100"),
            ("DigitsOther: a colon, the neighbour of 9", b"5:"),
            ("DigitsOther: U+2013", "555\u20130100".encode()),
            ("DigitsOther: U+2010", "555\u20100100".encode()),
            ("DigitsOther: full-width plus", "\uff0b1".encode()),
            ("DigitsOther: Arabic digits", "\u0665\u0665".encode()),
            ("DigitsOther: full-width digits", "\uff15".encode()))
    rejects("digits", "empty",
            ("DigitsNone: separators only", b"+-(). /"),
            ("DigitsNone: a plus", b"+"),
            ("DigitsNone: a blank", b" "),
            ("DigitsNone: no bytes", b""))
