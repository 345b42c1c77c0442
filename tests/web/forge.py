#!/usr/bin/env python3
"""Makes what a recording says of its beginning, or a group of its episodes, another thing, and the checksums of the chunks right again.

    forge.py DB NAME scene OLD NEW         in the text of its scenes
    forge.py DB NAME definition OLD NEW    a number of its definition, a double
    forge.py DB NAME said OLD NEW          a text of it
    forge.py DB NAME episodes FROM TO      of finished episodes the one is in the place of the other as well
"""
import sqlite3
import struct
import sys

from lie import CHECKED_BYTES, HEADER_BYTES, hash_bytes

KINDS = {"scene": 9, "definition": 6, "said": 6, "episodes": 8}
HEAD_BYTES, PARENT_BYTES = 16, 16  # of a chunk of finished episodes, whose columns stand one behind the other


def replace(body, old, new):
    assert old in body and len(old) == len(new)
    return body.replace(old, new, 1)


def double(body, source, target):
    _, count = struct.unpack_from("<2Q", body)
    parents = len(body) - PARENT_BYTES * count
    body = bytearray(body)
    for at, width in [*((at, 8) for at in range(HEAD_BYTES, parents, 8 * count)), (parents, PARENT_BYTES)]:
        piece = slice(at + width * target, at + width * (target + 1))
        body[piece] = body[at + width * source:at + width * (source + 1)]
    return bytes(body)


def forge(body, kind, old, new):
    return replace(body, old.encode(), new.encode()) if kind in ("scene", "said") else \
        replace(body, struct.pack("<d", float(old)), struct.pack("<d", float(new))) if kind == "definition" else double(body, int(old), int(new))


def main(path, name, kind, old, new):
    db = sqlite3.connect(path)
    id, chunk = db.execute("SELECT c.id, bytes FROM chunk c JOIN recording r ON r.id = c.recording WHERE r.name = ? AND kind = ? ORDER BY sequence", (name, KINDS[kind])).fetchone()
    head, body = bytearray(chunk[:HEADER_BYTES]), forge(chunk[HEADER_BYTES:], kind, old, new)
    struct.pack_into("<Q", head, CHECKED_BYTES, hash_bytes(bytes(head[:CHECKED_BYTES]) + body))
    db.execute("UPDATE chunk SET bytes = ? WHERE id = ?", (bytes(head) + body, id))
    db.commit()


main(*sys.argv[1:])
