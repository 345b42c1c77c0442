#!/usr/bin/env python3
"""Makes a recording lie: changes the hash of one step, and makes the checksum of its chunk right again. Nothing but stepping it again can find that.

    lie.py DB NAME STEP      changes DB
"""
import sqlite3
import struct
import sys

HEADER_BYTES, CHECKED_BYTES = 192, 184
AT_VERSION, WITH_GAINS, GAIN_BYTES = 8, 7, 24  # what energy inputs gained stands in front of them
INPUTS, INPUT_STEP = 2, 5
MASK = (1 << 64) - 1
KEY = (0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
       0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179)


def fold(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def turn(value, by):
    return (value << by | value >> (64 - by)) & MASK


def hash_bytes(data):  # server/base/hash.c with seed 0
    accumulator = list(KEY[4:])
    padded = data + bytes(-len(data) % 64)
    for at in range(0, len(padded), 64):
        word = struct.unpack_from("<8Q", padded, at)
        for i in range(4):
            product = fold(word[2 * i] ^ KEY[2 * i], word[2 * i + 1] ^ KEY[2 * i + 1] ^ accumulator[i])
            accumulator[i] = (turn(accumulator[i], 29) + product) & MASK
    value = len(data) ^ KEY[0]
    for i in range(4):
        value = (fold(value ^ KEY[i + 1], accumulator[i] ^ KEY[7 - i]) + turn(accumulator[i], 17)) & MASK
    value ^= value >> 32
    value = value * KEY[3] & MASK
    return value ^ value >> 29


def change(chunk, wanted):
    """The chunk with another hash behind that step; None: the step is not in it."""
    version, = struct.unpack_from("<I", chunk, AT_VERSION)
    at = HEADER_BYTES + (GAIN_BYTES if version >= WITH_GAINS else 0)
    while at < len(chunk):
        step, _, hashes, length = struct.unpack_from("<QIIQ", chunk, at)
        kind, = struct.unpack_from("<I", chunk, at + 24)
        if kind == INPUT_STEP and step < wanted <= step + hashes:
            chunk[at + 24 + length + 8 * (wanted - step - 1)] ^= 1
            struct.pack_into("<Q", chunk, CHECKED_BYTES, hash_bytes(bytes(chunk[:CHECKED_BYTES] + chunk[HEADER_BYTES:])))
            return chunk
        at += 24 + length + 8 * hashes
    return None


def main(path, name, wanted):
    db = sqlite3.connect(path)
    rows = db.execute("SELECT c.id, bytes FROM chunk c JOIN recording r ON r.id = c.recording WHERE r.name = ? AND kind = ?", (name, INPUTS)).fetchall()
    changed = [(c, id) for id, data in rows if (c := change(bytearray(data), int(wanted))) is not None]
    assert len(changed) == 1
    db.execute("UPDATE chunk SET bytes = ? WHERE id = ?", changed[0])
    db.commit()


if __name__ == "__main__":
    main(*sys.argv[1:])
