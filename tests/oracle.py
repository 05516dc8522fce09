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

M64 = (1 << 64) - 1
P1, P2, P3, P4, P5 = (11400714785074694791, 14029467366897019727,
                      1609587929392839161, 9650029242287828579,
                      2870177450012600261)


def rotate(x, n):
    return (x << n | x >> (64 - n)) & M64


def xxh_round(acc, lane):
    return rotate((acc + lane * P2) & M64, 31) * P1 & M64


def xxh64(data, seed=0):
    at, n = 0, len(data)
    if n >= 32:
        v = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed,
             (seed - P1) & M64]
        while at + 32 <= n:
            lanes = struct.unpack_from("<4Q", data, at)
            v = [xxh_round(a, b) for a, b in zip(v, lanes)]
            at += 32
        h = sum(rotate(a, r) for a, r in zip(v, (1, 7, 12, 18))) & M64
        for a in v:
            h = ((h ^ xxh_round(0, a)) * P1 + P4) & M64
    else:
        h = (seed + P5) & M64
    h = (h + n) & M64
    while at + 8 <= n:
        lane, = struct.unpack_from("<Q", data, at)
        h = (rotate(h ^ xxh_round(0, lane), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= n:
        lane, = struct.unpack_from("<I", data, at)
        h = (rotate(h ^ lane * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P5 & M64, 11) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


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
