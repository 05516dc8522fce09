#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a user would put between psql and redis-cli --pipe.

    psql -c 'COPY (SELECT entity_id, scope ...) TO STDOUT' |
        pipe.py | redis-cli --pipe

COPY text becomes BF.MADD commands of 1000 keys, for filters cards:000 to
cards:199 that are there already; a backslash stays as COPY wrote it, for cards
have none.  The bucket is the CRC-32 of the key, which Python has without a
package: each filter gets about as many keys as bloomctl gives it.
"""

import sys
import zlib

BUCKETS = 200
BATCH = 1000


def batches(rows):
    """Pairs of a filter and at most BATCH keys for it."""
    waiting = [[] for _ in range(BUCKETS)]
    for row in rows:
        key = b"card:" + row[:-1].replace(b"\t", b":", 1)
        bucket = zlib.crc32(key) % BUCKETS
        keys = waiting[bucket]
        keys.append(key)
        if len(keys) == BATCH:
            yield b"cards:%03d" % bucket, keys
            waiting[bucket] = []
    for bucket, keys in enumerate(waiting):
        if keys:
            yield b"cards:%03d" % bucket, keys


def main():
    out = sys.stdout.buffer
    for name, keys in batches(sys.stdin.buffer):
        words = [b"BF.MADD", name] + keys
        out.write(b"*%d\r\n" % len(words))
        out.write(b"".join([b"$%d\r\n%b\r\n" % (len(word), word)
                            for word in words]))


if __name__ == "__main__":
    main()
