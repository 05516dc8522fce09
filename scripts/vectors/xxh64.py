# SPDX-License-Identifier: BSD-2-Clause
"""XXH64, as xxhash_spec.md has it."""
import struct


M64 = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F,
                      0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)


def rotate(x, n):
    return (x << n | x >> (64 - n)) & M64


def xxh_round(acc, lane):
    return rotate((acc + lane * P2) & M64, 31) * P1 & M64


def xxh64(data, seed=0):
    at, n = 0, len(data)
    if n >= 32:
        acc = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed,
               (seed - P1) & M64]
        while at + 32 <= n:
            lanes = struct.unpack_from("<4Q", data, at)
            acc = [xxh_round(a, lane) for a, lane in zip(acc, lanes)]
            at += 32
        h = sum(rotate(a, r) for a, r in zip(acc, (1, 7, 12, 18))) & M64
        for a in acc:
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
