# SPDX-License-Identifier: BSD-2-Clause
"""The keyspec file, line by line."""
import sys

from vectors.make import bad, field, good, keyspecs, rows, spec


def small(**given):
    """A keyspec as bytes, to be damaged."""
    return spec(**given).encode()


def add(line, **given):
    """A keyspec with one more line in [keyspec]."""
    return spec(**given) + line + "\n"


def files():
    def fine(name, catches, text):
        good(name, catches, text)
        rows(name, (catches, b"x"))
    text = small()
    same = keyspecs["plain"].fingerprint
    for name, catches, data in (
            ("bom", "ByteOrderMark: one at the start is dropped",
             b"\xef\xbb\xbf" + text),
            ("crlf", "LineEnd: 0x0D 0x0A", text.replace(b"\n", b"\r\n")),
            ("crlf-mixed", "LineEnd: both kinds",
             text.replace(b"\n", b"\r\n", 2)),
            ("no-lf", "LineEnd: the last one is missing", text[:-1]),
            ("tabs", "Blanks: tabs around names and values",
             text.replace(b" = ", b"\t=\t \t")),
            ("no-blanks", "Blanks: none around =",
             text.replace(b" = ", b"=")),
            ("indented", "Blanks: lines that begin with blanks go on with "
             "nothing", text.replace(b"\nkey", b"\n \tkey")
             .replace(b"[keyspec]", b"  [keyspec]")),
            ("trailing", "Blanks: at the ends of lines",
             text.replace(b"\n", b" \t\n")),
            ("blank-lines", "Blanks: lines of nothing else",
             b"\n \n\t\n" + text.replace(b"\n", b"\n\n \t\n")),
            ("blank-crlf", "LineEnd: a blank line of 0x0D 0x0A",
             b"\r\n" + text),
            ("comments", "Comments: # and ; at the start of lines",
             b"# one\n;two\n  # three = 3\n\t;[four]\n" + text + b"#"),
            ("comment-utf-8", "Comments: in UTF-8",
             "# caf\u00e9 \u2028 \u0085 \U0001f600\n".encode() + text),
            ("comment-tab", "Comments: a tab in one", b"#\ta\tb\n" + text),
            ("comment-backslash", "Comments: a backslash at the end joins "
             "nothing", b"# one \\\n" + text),
            ("section-blanks", "Sections: blanks within the brackets",
             text.replace(b"[keyspec]", b"[ \tkeyspec\t ]")),
            ("quoted", "Quoted: every value",
             b"[keyspec]\nversion=\"1\"\nname = \"set\" \nkey= \"{id}\"\n"
             b"buckets=\"16\"\nfilter=\"{name}:{bucket}\"\n"),
            ("order", "Order: of names does not matter",
             b"[keyspec]\nfilter={name}:{bucket}\nbuckets=16\nkey={id}\n"
             b"name=set\nversion=1\n"),
            ("field-first", "Order: [field] may be before [keyspec]",
             field(encoding="utf-8").encode() + text),
            ("field-empty", "Sections: [field] without a name in it",
             text + b"[field id]\n"),
            ("field-blanks", "Sections: blanks around the field's name",
             text + b"[ field \t id ]\n"),
            ("defaults", "Defaults: written out",
             text + b"seed=0\ndelimiter=:\nencoding=utf-8\n[field id]\n"
             b"column=id\nencoding=utf-8\nempty=reject\nnull=reject\n")):
        fine(f"file-{name}", catches, data)
        if keyspecs[f"file-{name}"].fingerprint != same:
            sys.exit(f"gen-vectors: file-{name}: another keyspec")
    fine("file-escapes", "Quoted: \\\" and \\\\ are the only escapes",
         spec(key='"a\\"b\\\\c\\\\n{id}"'))
    fine("file-quoted-hash", "Quoted: # and ; behind a blank are text",
         spec(key='"a #b ;c\t#{id}"'))
    fine("file-quoted-blanks", "Quoted: blanks at its ends stay",
         spec(key='" \t{id}\t "'))
    fine("file-quoted-brackets", "Quoted: brackets and = are text",
         spec(key='"[a]=b{id}"'))
    fine("file-hash", "Comments: # not behind a blank is text",
         spec(key="a#b;c{id}#;"))
    fine("file-hash-first", "Comments: a value may begin with #",
         spec(key="#{id}"))
    fine("file-semicolon-first", "Comments: a value may begin with ;",
         spec(key=";{id}"))
    fine("file-quote-middle", "Quoted: a quote in the middle is text",
         spec(key='a"b" "c{id}"'))
    fine("file-apostrophe", "Quoted: apostrophes quote nothing",
         spec(key="'{id}'"))
    fine("file-backslash", "Quoted: backslashes without quotes are text",
         spec(key="\\\"\\\\\\x41\\u0041{id}\\"))
    fine("file-backslash-end", "Continuation: a backslash at the end of a "
         "line joins nothing", spec(sentinel="abc\\", seed="3"))
    fine("file-percent", "Interpolation: % and $ are text",
         spec(key="%(name)s $name %%{id}"))
    fine("file-commas", "Lists: commas and semicolons are text",
         spec(key="a,b;c,{id}"))
    fine("file-tab-inside", "Blanks: a tab within a value stays",
         spec(key="a\t b{id}"))
    fine("file-nbsp", "Blanks: U+00A0 is none and stays",
         spec(key="\u00a0{id}\u00a0"))
    fine("file-line-separator", "LineEnd: U+0085 and U+2028 end no line",
         spec(key="a\u0085b\u2028c{id}"))
    fine("file-bom-inside", "ByteOrderMark: within a value it stays",
         spec(key="\ufeff{id}"))

    control = "a control byte"
    bad(control,
        ("bad-cr", "LineEnd: 0x0D in the middle of a line",
         text.replace(b"set", b"s\ret")),
        ("bad-cr-only", "LineEnd: 0x0D alone ends no line",
         text.replace(b"\n", b"\r")),
        ("bad-crcrlf", "LineEnd: only one 0x0D is dropped",
         text.replace(b"\n", b"\r\r\n", 1)),
        ("bad-cr-end", "LineEnd: 0x0D at the end without 0x0A",
         text[:-1] + b"\r"),
        ("bad-cr-behind", "LineEnd: 0x0D behind the last line",
         text + b"\r"),
        ("bad-cr-quoted", "LineEnd: 0x0D within quotes",
         small(key='"a\r{id}"')),
        ("bad-nul", "ControlBytes: 0x00", text.replace(b"set", b"s\0et")),
        ("bad-nul-end", "ControlBytes: 0x00 behind the last line",
         text + b"\0"),
        ("bad-del", "ControlBytes: 0x7F", text.replace(b"set", b"s\x7fet")),
        ("bad-del-comment", "ControlBytes: 0x7F in a comment",
         b"#\x7f\n" + text),
        ("bad-comment-control", "ControlBytes: 0x01 in a comment",
         b"# a\x01\n" + text),
        ("bad-comment-cr", "ControlBytes: 0x0D in a comment",
         b"# a\rb\n" + text),
        ("bad-vt", "ControlBytes: 0x0B is no blank",
         text.replace(b" = ", b"\v= ")),
        ("bad-ff", "ControlBytes: 0x0C is no blank", b"\f\n" + text),
        ("bad-escape", "ControlBytes: 0x1B", text + b"#\x1b[0m\n"),
        ("bad-ctrl-z", "ControlBytes: 0x1A at the end", text + b"\x1a"),
        ("bad-1f", "ControlBytes: 0x1F in a value",
         small(sentinel="a\x1fb")))
    bad("not UTF-8",
        ("bad-latin1", "Utf8File: ISO 8859-1 in a value",
         small(sentinel="caf?").replace(b"?", b"\xe9")),
        ("bad-latin1-comment", "Utf8File: ISO 8859-1 in a comment",
         b"# caf\xe9\n" + text),
        ("bad-utf16", "Utf8File: UTF-16", text.decode().encode("utf-16")),
        ("bad-surrogate", "Utf8File: a surrogate", b"#\xed\xa0\x80\n" + text),
        ("bad-overlong", "Utf8File: an overlong form", b"#\xc0\x80\n" + text),
        ("bad-cut-off", "Utf8File: cut off at the end", text + b"#\xe2\x82"),
        ("bad-across", "Utf8File: a sequence across a line end",
         b"#\xe2\x82\n\xac\n" + text))
    bad("a line without =",
        ("bad-bom-two", "ByteOrderMark: the second one stays",
         b"\xef\xbb\xbf" * 2 + text),
        ("bad-bom-later", "ByteOrderMark: only at the very beginning",
         b"\n\xef\xbb\xbf" + text),
        ("bad-no-equals", "Lines: a word alone", add("seed")),
        ("bad-colon", "Lines: a colon is no =", add("seed: 1")),
        ("bad-include", "Lines: ! begins no comment", add("! comment")),
        ("bad-continued", "Continuation: a line does not go on with blanks",
         text.replace(b"{id}\n", b"{id}\n  more\n")),
        ("bad-slashes", "Lines: // begins no comment", add("// comment")))
    bad("an empty name", ("bad-no-name", "Lines: nothing before =",
                          add("= 1")))
    bad("an empty value",
        ("bad-empty", "EmptyValue: nothing behind =", add("sentinel =")),
        ("bad-empty-blanks", "EmptyValue: blanks behind =",
         add("sentinel = \t ")),
        ("bad-empty-quoted", "EmptyValue: empty quotes",
         add('sentinel = ""')),
        ("bad-empty-column", "EmptyValue: of column too",
         spec(field(column='""'))))
    bad("a comment after a value",
        ("bad-inline", "InlineComment: behind a value",
         add("seed = 1 # one")),
        ("bad-inline-semicolon", "InlineComment: with ;", add("seed = 1 ;")),
        ("bad-inline-tab", "InlineComment: behind a tab",
         add("sentinel = a\t#b")),
        ("bad-inline-twice", "InlineComment: the first # is text, the second "
         "is not", add("sentinel = # #")),
        ("bad-inline-key", "InlineComment: in a key",
         spec(key="{id} ;x")))
    bad("text after the quote",
        ("bad-quote-behind", "Quoted: text behind the quote",
         add('sentinel = "a"b')),
        ("bad-quote-comment", "Quoted: a comment behind the quote",
         add('sentinel = "a" # b')),
        ("bad-quote-two", "Quoted: two quotes", add('sentinel = "a" "b"')),
        ("bad-quote-doubled", "Quoted: quotes are not doubled",
         add('sentinel = "a""b"')))
    bad("an unknown escape",
        ("bad-escape-n", "Quoted: \\n", add('sentinel = "a\\nb"')),
        ("bad-escape-x", "Quoted: \\x41", add('sentinel = "\\x41"')),
        ("bad-escape-blank", "Quoted: a backslash and a blank",
         add('sentinel = "a\\ b"')),
        ("bad-escape-apostrophe", "Quoted: \\'", add('sentinel = "\\\'"')),
        ("bad-escape-end", "Quoted: a backslash at the end",
         add('sentinel = "a\\')))
    bad("a quote that does not end",
        ("bad-quote-open", "Quoted: the second quote is missing",
         add('sentinel = "abc')),
        ("bad-quote-escaped", "Quoted: the second quote is escaped",
         add('sentinel = "abc\\"')),
        ("bad-quote-alone", "Quoted: one quote", add('delimiter = "')),
        ("bad-quote-lines", "Quoted: it does not go on in the next line",
         add('sentinel = "a\nb"')))
    bad("an unknown name in [keyspec]",
        ("bad-name", "Names: an unknown one", add("colour = red")),
        ("bad-name-case", "Names: in upper case", add("Seed = 1")),
        ("bad-name-field", "Names: one of [field]", add("transform = trim")),
        ("bad-name-quoted", "Names: quoted", add('"seed" = 1')),
        ("bad-name-blank", "Names: a blank within", add("se ed = 1")),
        ("bad-name-export", "Names: a word before it",
         add("export seed = 1")))
    bad("an unknown name in [field]",
        ("bad-field-name", "Names: an unknown one in [field]",
         spec(field(colour="red"))),
        ("bad-field-seed", "Names: one of [keyspec]", spec(field(seed="1"))),
        ("bad-field-case", "Names: in upper case in [field]",
         spec(field(Column="x"))),
        ("bad-field-transforms", "Names: transforms is another",
         spec(field(transforms="trim"))))
    bad("a name twice",
        ("bad-name-twice", "Names: twice", add("seed = 1\nseed = 2")),
        ("bad-name-same", "Names: twice the same",
         add("seed = 1\nseed = 1")),
        ("bad-field-twice", "Names: twice in [field]",
         spec("[field id]\ncolumn = a\ncolumn = a\n")))
    bad("a name above any section",
        ("bad-above", "Sections: a name above all",
         b"version = 1\n" + text.replace(b"version = 1\n", b"")),
        ("bad-above-unknown", "Sections: any name above all",
         b"x = 1\n" + text))
    bad("a section twice",
        ("bad-section-twice", "Sections: [keyspec] twice",
         text + b"[keyspec]\n"),
        ("bad-section-split", "Sections: [keyspec] in two pieces",
         text + field().encode() + b"[keyspec]\nseed = 1\n"),
        ("bad-field-section", "Sections: one field twice",
         spec(field(), field())),
        ("bad-field-section-blanks", "Sections: one field twice, written "
         "otherwise", spec(field(), "[ field  id ]\n")))
    bad("an unknown section",
        ("bad-section", "Sections: an unknown one", text + b"[other]\n"),
        ("bad-section-case", "Sections: in upper case",
         text.replace(b"[keyspec]", b"[KEYSPEC]")),
        ("bad-section-empty", "Sections: []", text + b"[]\n"),
        ("bad-section-field", "Sections: [field] without a name",
         text + b"[field]\n"),
        ("bad-section-blank", "Sections: [field ] without a name",
         text + b"[field ]\n"),
        ("bad-section-joined", "Sections: [fieldid]", text + b"[fieldid]\n"),
        ("bad-section-dot", "Sections: [field.id]", text + b"[field.id]\n"),
        ("bad-section-quoted", "Sections: [field\"id\"]",
         text + b"[field\"id\"]\n"),
        ("bad-section-more", "Sections: [keyspec x]",
         text.replace(b"[keyspec]", b"[keyspec x]")),
        ("bad-section-double", "Sections: [[keyspec]]",
         text.replace(b"[keyspec]", b"[[keyspec]]")),
        ("bad-section-end", "Sections: [keyspec]]",
         text.replace(b"[keyspec]", b"[keyspec]]")))
    bad("a section without ]",
        ("bad-section-open", "Sections: [keyspec",
         text.replace(b"[keyspec]", b"[keyspec")),
        ("bad-section-bracket", "Sections: [", text + b"["),
        ("bad-section-behind", "Sections: text behind ]",
         text.replace(b"[keyspec]", b"[keyspec] x")),
        ("bad-section-comment", "Sections: a comment behind ]",
         text.replace(b"[keyspec]", b"[keyspec] # x")),
        ("bad-section-name", "Sections: a value behind ]",
         text.replace(b"[keyspec]\nversion", b"[keyspec] version")))
    bad("a section's name is no NAME",
        ("bad-field-quoted", "Sections: a field's name quoted",
         text + b"[field \"id\"]\n"),
        ("bad-field-two", "Sections: two names", text + b"[field id id]\n"),
        ("bad-field-bracket", "Sections: a bracket in a field's name",
         text + b"[field id]]\n"),
        ("bad-field-utf-8", "Sections: a field's name that is not ASCII",
         spec("[field \u00efd]\n", key="{id}")),
        ("bad-field-brace", "Sections: braces in a field's name",
         text + b"[field {id}]\n"))
    bad("a [field] that is not in the key",
        ("bad-field-unused", "Sections: a field that no key has",
         spec(field("other"))),
        ("bad-field-id-case", "Sections: the field in another case",
         spec(field("ID"))),
        ("bad-field-escaped", "Sections: a name in escaped braces only",
         spec(field("a"), key="{{a}}{id}")))
    bad("no [keyspec]",
        ("bad-nothing", "Sections: no bytes at all", b""),
        ("bad-only-comment", "Sections: a comment only", b"# nothing\n"),
        ("bad-only-bom", "Sections: a byte order mark only",
         b"\xef\xbb\xbf"),
        ("bad-only-field", "Sections: [field] only", field()))
