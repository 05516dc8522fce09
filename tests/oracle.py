#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the filters of a set must be, worked out without bloomctl.

usage: oracle.py BUCKETS CAPACITY ERROR SENTINEL FOLDER [SEED] <KEYS

KEYS are Bloom keys, one a line.  XXH64 (xxhash_spec.md) says in which bucket a
key is; which bits it sets says MurmurHash64A, as RedisBloom uses it, or with a
SEED, 64 hexadecimal digits, SipHash-1-3, as valkey-bloom does.  The bits of
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


def redisbloom(capacity, error):
    """bits, hashes, and the positions of a member"""
    bpe = -math.log(error) / 0.480453013918201
    bits = -(-int(capacity * bpe) // 64) * 64
    hashes = math.ceil(0.693147180559945 * bpe)

    def positions(member):
        x = murmur64a(member, 0xc6a4a7935bd1e995)
        step = murmur64a(member, x)
        return [((x + i * step) & M64) % bits for i in range(hashes)]
    return bits, hashes, positions


def siphash13(key, data):
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def half(a, b, c, d, left, right):
        v[a] = v[a] + v[b] & M64
        v[c] = v[c] + v[d] & M64
        v[b] = (v[b] << left | v[b] >> 64 - left) & M64 ^ v[a]
        v[d] = (v[d] << right | v[d] >> 64 - right) & M64 ^ v[c]
        v[a] = (v[a] << 32 | v[a] >> 32) & M64

    def rounds(n):
        for _ in range(n):
            half(0, 1, 2, 3, 13, 16)
            half(2, 1, 0, 3, 17, 21)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for word, in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(1)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(3)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def valkeybloom(capacity, error, seed):
    size = math.ceil(capacity * math.log(error) / (-8 * math.log(2) ** 2))
    bits = 8 * size
    hashes = max(1, math.floor(bits / capacity * math.log(2) + 0.5))

    def positions(member):
        data = struct.pack("<Q", len(member)) + member
        a, b = siphash13(seed[:16], data), siphash13(seed[16:], data)
        more = [((a + i * b) & M64) % (2**64 - 59) for i in range(2, hashes)]
        return [x % bits for x in ([a, b] + more)[:hashes]]
    return bits, hashes, positions


def main():
    buckets, capacity = int(sys.argv[1]), int(sys.argv[2])
    error, sentinel = float(sys.argv[3]), sys.argv[4].encode()
    if len(sys.argv) > 6:
        bits, hashes, positions = valkeybloom(capacity, error,
                                              bytes.fromhex(sys.argv[6]))
    else:
        bits, hashes, positions = redisbloom(capacity, error)
    filters = [bytearray(bits // 8) for _ in range(buckets)]
    keys, items = [0] * buckets, [0] * buckets

    def add(bucket, member):
        new = False
        for at in positions(member):
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
