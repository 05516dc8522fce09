#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""golden.py SOCKET: a RedisBloom server holds what tests/golden says.

Each filter of redisbloom.jsonl is made on the server by BF.MADD, and once more
from its image by BF.LOADCHUNK; answers, size and every bit must be those of
the line.  What is not is printed, and the status is 1 then.
"""
import hashlib
import json
import pathlib
import socket
import sys

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "redisbloom.jsonl"


class Refused(Exception):
    """An error reply."""


class Server:
    """A connection that sends bytes and takes them as they are."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def __call__(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        out = [b"*%d\r\n" % len(words)]
        out += [b"$%d\r\n%s\r\n" % (len(w), w) for w in words]
        self.socket.sendall(b"".join(out))
        return self.reply()

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise Refused(rest.decode())
        if kind == b"+":
            return rest
        number = int(rest)
        if kind == b":":
            return number
        if number < 0:
            return None
        if kind == b"*":
            return [self.reply() for _ in range(number)]
        return self.file.read(number + 2)[:-2]


def item(i):
    """Item i: see tests/golden/README.md."""
    return f"card:{i * 0x9E3779B97F4A7C15 % 2**64:016x}:merchant:MID_{i % 97}"


def dump(server, key):
    """The chunks of a filter and their iterators, up to the end."""
    chunks, at = [], 0
    while True:
        at, data = server("BF.SCANDUMP", key, at)
        if at == 0:
            assert data == b"", "the last chunk is not empty"
            return chunks
        chunks.append((at, data))


def hold(name, found, wanted):
    """Compares; a difference is told in few words."""
    if found != wanted:
        raise AssertionError(f"{name} is {str(found)[:200]}"
                             f" and not {str(wanted)[:200]}")


def check_filter(server, key, line):
    """What can be asked and dumped of a filter is that of the line."""
    info = [v.decode() if isinstance(v, bytes) else v
            for v in server("BF.INFO", key)]
    hold("info", info, line["info"])
    hold("card", server("BF.CARD", key), line["card"])
    hold("members", sum(server("BF.MEXISTS", key,
                               *map(item, range(line["items"])))),
         line["items"])
    hold("false positives",
         sum(server("BF.MEXISTS", key, *map(item, range(1000000, 1001000)))),
         line["false_positives_of_absent_1000"])
    chunks = dump(server, key)
    bits = b"".join(data for _, data in chunks[1:])
    hold("iterators", [at for at, _ in chunks], line["iterators"])
    hold("header", chunks[0][1].hex(), line["header_hex"])
    hold("digest", hashlib.sha256(bits).hexdigest(), line["bits_sha256"])
    hold("bits", bits.hex(), line.get("bits_hex", bits.hex()))
    return chunks


def check(server, line):
    """One line, added and loaded."""
    server("DEL", "added", "loaded")
    server("BF.RESERVE", "added", repr(line["error"]), line["capacity"],
           "NONSCALING")
    hold("empty header", dump(server, "added")[0][1].hex(),
         "00" * 8 + line["header_hex"][16:72] + "00" * 8
         + line["header_hex"][88:])
    hold("added",
         sum(server("BF.MADD", "added", *map(item, range(line["items"])))),
         line["added"])
    chunks = check_filter(server, "added", line)
    header = bytes.fromhex(line["header_hex"])
    hold("load", server("BF.LOADCHUNK", "loaded", 1, header), b"OK")
    # In pieces, from the last to the first: position is behind the piece.
    bits = b"".join(data for _, data in chunks[1:])
    for at in reversed(range(0, len(bits), 500)):
        piece = bits[at:at + 500]
        hold("load", server("BF.LOADCHUNK", "loaded", 1 + at + len(piece),
                            piece), b"OK")
    check_filter(server, "loaded", line)


def main():
    server = Server(sys.argv[1])
    lines = [json.loads(text) for text in GOLDEN.open(encoding="utf-8")]
    wrong = 0
    for line in lines:
        try:
            check(server, line)
        except (AssertionError, Refused) as error:
            print(f"{line['case']}: {error}")
            wrong += 1
    print(f"{len(lines) - wrong} of {len(lines)} filters agree")
    return wrong > 0 or not lines


if __name__ == "__main__":
    sys.exit(main())
