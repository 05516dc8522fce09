#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""engine_golden.py SOCKET [blob]: a server with valkey-bloom, or what stands in
for it, holds what tests/golden says.

Each filter of valkey-bloom.jsonl is made on the server by BF.INSERT with the
seed of the line, and once more from its image by RESTORE; answers, size and
every byte of DUMP must be those of the line, but for the version of the format,
which is the server's own and is printed.  With `blob`, the server has the
other order of fields in images, and so have they.  What is not is printed, and
the status is 1 then.
"""
import hashlib
import json
import pathlib
import struct
import sys

from golden import Refused, Server, hold, item

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "valkey-bloom.jsonl"
HEADER = 1 + 9 + 2 + 2 + 9 + 9 + 2


def crc64(data):
    """The checksum of DUMP: of Jones, reflected, from 0 on."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
    return crc


def sealed(body):
    return body + struct.pack("<Q", crc64(body))


def number_size(first):
    """Of a number whose first byte is this: its two high bits tell."""
    return {0: 1, 1: 2}.get(first >> 6) or {0x80: 5, 0x81: 9}[first]


def blob_first(payload):
    """The image of one filter, with the blob before the numbers."""
    assert payload[HEADER] == 2, "the image begins with no number"
    end = HEADER
    for _ in range(2):
        end += 1 + number_size(payload[end + 1])
    body = payload[:-8]
    return sealed(body[:HEADER] + body[end:-3] + body[HEADER:end] + body[-3:])


def check_filter(server, key, line, image):
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
    hold("image", server("DUMP", key).hex(), image.hex())


def of_version(image, version):
    return sealed(image[:-10] + version)


def check(server, line, blob, version):
    """One line, added and restored."""
    server("DEL", "added", "restored")
    hold("added",
         sum(server("BF.INSERT", "added", "ERROR", repr(line["error"]),
                    "CAPACITY", line["capacity"], "NONSCALING", "SEED",
                    bytes.fromhex(line["seed_hex"]), "ITEMS",
                    *map(item, range(line["items"])))),
         line["added"])
    image = bytes.fromhex(line["dump_hex"])
    hold("digest of the line", hashlib.sha256(image).hexdigest(),
         line["dump_sha256"])
    hold("checksum of the line", sealed(image[:-8]).hex(), image.hex())
    image = of_version(image, version)
    if blob:
        image, other = blob_first(image), image
    else:
        other = blob_first(image)
    check_filter(server, "added", line, image)
    hold("restore", server("RESTORE", "restored", 0, image), b"OK")
    check_filter(server, "restored", line, image)
    hold("digests", *server("DEBUG", "DIGEST-VALUE", "added", "restored"))
    try:
        server("RESTORE", "other", 0, other)
        raise AssertionError("the other order of fields is taken")
    except Refused as error:
        hold("refusal", str(error), "ERR Bad data format")


def main():
    server = Server(sys.argv[1])
    blob = sys.argv[2:] == ["blob"]
    lines = [json.loads(text) for text in GOLDEN.open(encoding="utf-8")]
    server("SET", "any", "any")
    version = server("DUMP", "any")[-10:-8]
    wrong = 0
    for line in lines:
        try:
            check(server, line, blob, version)
        except (AssertionError, Refused) as error:
            print(f"{line['case']}: {error}")
            wrong += 1
    print(f"{len(lines) - wrong} of {len(lines)} filters agree,"
          f" version {version[0]}")
    return wrong > 0 or not lines


if __name__ == "__main__":
    sys.exit(main())
