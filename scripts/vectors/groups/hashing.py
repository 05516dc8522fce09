# SPDX-License-Identifier: BSD-2-Clause
"""The hash, the seed and the buckets."""
from vectors.make import find, good, letters, noise, rows, spec


def lengths():
    good("lengths", "KeyLength: every path of XXH64",
         spec(encoding="bytes", buckets="1000"))
    for n in list(range(1, 65)) + [65, 95, 96, 97, 127, 128, 129, 255, 256,
                                   257, 1000, 4096]:
        rows("lengths", (f"KeyLength: {n} bytes", noise(n, n)))
    rows("lengths",
         ("SignedBytes: 0x80 to 0xFF", bytes(range(0x80, 0x100))),
         ("SignedBytes: one 0xFF", b"\xff"),
         ("SignedBytes: five of 0xFF", b"\xff" * 5),
         ("Zeros: one", b"\0"), ("Zeros: four", b"\0" * 4),
         ("Zeros: eight", b"\0" * 8), ("Zeros: 32", b"\0" * 32),
         ("Zeros: 33", b"\0" * 33))
    good("literal", "KeyLiteral: literal text is hashed too",
         spec(key="abc:{id}:def", buckets="1000"))
    for n in (1, 4, 23, 24, 25, 56):
        rows("literal", (f"KeyLiteral: with a value of {n} bytes",
                         letters(n)))


def swapped(hash_):
    return int.from_bytes(hash_.to_bytes(8, "big"), "little")


def signed(hash_):
    return hash_ - 2 ** 64 if hash_ >> 63 else hash_


def buckets():
    for n in (1, 2, 3, 7, 10, 11, 100, 101, 200, 1000, 32768, 65535, 65536):
        name = f"buckets-{n}"
        good(name, f"BucketName: as wide as {n - 1}",
             spec(buckets=str(n), filter="f-{bucket}"))
        rows(name, *((f"BucketName: of {n} buckets", b"id-%d" % i)
                     for i in range(3)))
    good("buckets-one-plain", "BucketName: one bucket needs no number",
         spec(buckets="1", filter="just-this"))
    rows("buckets-one-plain", ("BucketName: the only one", b"x"))
    good("buckets-twice", "BucketName: as often as wanted",
         spec(buckets="12", filter="{bucket}/{name}-{bucket}-{fp}{fp}"))
    rows("buckets-twice", *(("BucketName: twice", b"x%d" % i)
                            for i in range(4)))
    for n in (2, 200, 65536):
        name = f"buckets-{n}"
        find_rows(name, b"top", "TopBit: the hash taken as a signed number",
                  lambda h, b: h >> 63 and (b == 2 or b == 65536 or len({
                      h % b, signed(h) % b, abs(signed(h)) % b,
                      -(-signed(h) % b)}) == 4), 4)
    find_rows("buckets-200", b"float",
              "FloatHash: above 2^53 a double is another number",
              lambda h, b: h >> 63 == 0 and int(float(h)) % b != h % b, 4)
    find_rows("buckets-200", b"low", "LowHalf: modulo of 32 bits only",
              lambda h, b: len({h % b, h % 2 ** 32 % b, (h >> 32) % b,
                                (h ^ h >> 32) % 2 ** 32 % b}) == 4, 2)
    find_rows("buckets-200", b"order", "ByteOrder: the hash's bytes turned "
              "round", lambda h, b: swapped(h) % b != h % b, 2)
    find_rows("buckets-200", b"multiply", "Multiply: hash times buckets by "
              "2^64 is not modulo", lambda h, b: (h * b >> 64) != h % b, 2)
    find_rows("buckets-200", b"small", "LeadingZeros: 16 digits always",
              lambda h, b: h < 2 ** 60, 2)
    find_rows("buckets-200", b"smaller", "LeadingZeros: 16 digits always",
              lambda h, b: h < 2 ** 54, 1)
    find_rows("buckets-200", b"first", "BucketName: the first bucket",
              lambda h, b: h % b == 0, 1)
    find_rows("buckets-200", b"last", "BucketName: the last bucket",
              lambda h, b: h % b == b - 1, 1)
    find_rows("buckets-65536", b"first", "BucketName: the first bucket",
              lambda h, b: h % b == 0, 1)


def find_rows(name, prefix, catches, is_it, count):
    rows(name, *((catches, value)
                 for value in find(name, prefix, is_it, count)))


def seeds():
    for seed, what in ((0, "none"), (1, "one"), (2 ** 32 - 1, "32 bits"),
                       (2 ** 32, "above 32 bits"),
                       (2 ** 53 + 1, "no double has it"),
                       (2 ** 63 - 1, "the last signed one"),
                       (2 ** 63, "the first that is no signed one"),
                       (2 ** 64 - 1, "all ones")):
        name = f"seed-{seed}"
        good(name, f"Seed: {what}", spec(seed=str(seed), buckets="200"))
        rows(name, *((f"Seed: {what}, {n} bytes", letters(n))
                     for n in (1, 4, 8, 12, 31, 32, 33, 64, 100)))
