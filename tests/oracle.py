#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the filters of a set must be, worked out without bloomctl.

usage: oracle.py BUCKETS CAPACITY ERROR SENTINEL FOLDER <KEYS

KEYS are Bloom keys, one a line.  XXH64 (xxhash_spec.md) says in which bucket a
key is; MurmurHash64A, as RedisBloom uses it, which bits it sets.  The bits of
bucket B go to FOLDER/B; standard output is JSON: per bucket keys, items
(members that set a bit, the sentinel first) and bits_set, and of every filter
bits and hashes.
"""
import json
import math
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "scripts"))
from vectors.xxh64 import M64, xxh64  # noqa: E402



def murmur64a(data, seed):
    m, n = 0xc6a4a7935bd1e995, len(data)
    h = (seed ^ n * m) & M64
    for at in range(0, n - n % 8, 8):
        k, = struct.unpack_from("<Q", data, at)
        k = k * m & M64
        k = (k ^ k >> 47) * m & M64
        h = (h ^ k) * m & M64
    if n % 8:
        h = (h ^ int.from_bytes(data[n - n % 8:], "little")) * m & M64
    h = (h ^ h >> 47) * m & M64
    return h ^ h >> 47


def main():
    buckets, capacity = int(sys.argv[1]), int(sys.argv[2])
    error, sentinel = float(sys.argv[3]), sys.argv[4].encode()
    bpe = -math.log(error) / 0.480453013918201
    bits = -(-int(capacity * bpe) // 64) * 64
    hashes = math.ceil(0.693147180559945 * bpe)
    filters = [bytearray(bits // 8) for _ in range(buckets)]
    keys, items = [0] * buckets, [0] * buckets

    def add(bucket, member):
        x = murmur64a(member, 0xc6a4a7935bd1e995)
        step = murmur64a(member, x)
        new = False
        for i in range(hashes):
            at = ((x + i * step) & M64) % bits
            new |= not filters[bucket][at >> 3] >> (at & 7) & 1
            filters[bucket][at >> 3] |= 1 << (at & 7)
        items[bucket] += new

    for bucket in range(buckets):
        if sentinel:
            add(bucket, sentinel)
    for line in sys.stdin.buffer:
        key = line.rstrip(b"\n")
        bucket = xxh64(key) % buckets
        keys[bucket] += 1
        add(bucket, key)
    for bucket in range(buckets):
        path = os.path.join(sys.argv[5], str(bucket))
        with open(path, "wb") as out:
            out.write(filters[bucket])
    set_bits = [sum(bin(b).count("1") for b in f) for f in filters]
    json.dump({"keys": keys, "items": items, "bits_set": set_bits,
               "bits": bits, "hashes": hashes}, sys.stdout)


main()
