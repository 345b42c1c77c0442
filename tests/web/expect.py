#!/usr/bin/env python3
"""What the viewer should show of an episode file, read by other code than its own: plain SQL and struct, as server/log/README.md invites.

    expect.py DB FIRST SECOND STEP

Prints JSON: the names of all episodes, all bodies and contacts of episode FIRST behind STEP, and the first frame at which SECOND differs.
"""
import json
import sqlite3
import struct
import sys

HEADER_BYTES = 192
FRAMES, CONTACTS = 3, 4


def bodies_of_chunks(db, name, kind):
    rows = db.execute(
        "SELECT substr(bytes, ?) FROM chunk c JOIN recording r ON r.id = c.recording WHERE r.name = ? AND kind = ? ORDER BY first_step",
        (HEADER_BYTES + 1, name, kind))
    return [row[0] for row in rows]


def frames(db, name):
    for body in bodies_of_chunks(db, name, FRAMES):
        bodies, count, positions, velocities = struct.unpack_from("<4Q", body)
        ids = struct.unpack_from(f"<{bodies}Q", body, 32)
        each = 24 + 104 * bodies + 8 * (positions + velocities)
        for i in range(count):
            at = 32 + 8 * bodies + i * each
            step, _, time = struct.unpack_from("<QQd", body, at)
            yield step, time, ids, struct.unpack_from(f"<{7 * bodies}d", body, at + 24)


def gained(db, name):
    told = db.execute("SELECT gained_j FROM episodes WHERE name = ?", (name,)).fetchone()[0]
    joules, step = db.execute("SELECT energy_gain, energy_gain_step FROM episode e JOIN recording r ON r.id = e.recording WHERE r.name = ?", (name,)).fetchone()
    return {"joules": joules, "step": step, "told": told}


def contacts(db, name):
    for body in bodies_of_chunks(db, name, CONTACTS):
        at = 8
        for _ in range(struct.unpack_from("<Q", body)[0]):
            step, count = struct.unpack_from("<2Q", body, at)
            at += 16
            ids = struct.unpack_from(f"<{2 * count}Q", body, at)
            parts = struct.unpack_from(f"<{2 * count}I", body, at + 16 * count)
            features = struct.unpack_from(f"<{count}Q", body, at + 24 * count)
            numbers = struct.unpack_from(f"<{20 * count}d", body, at + 32 * count)
            at += 192 * count
            yield step, [{
                "a": ids[i], "b": ids[count + i], "feature": f"{parts[i]}.{parts[count + i]}.{features[i]:x}", "gap": numbers[12 * count + i],
                "impulse": numbers[13 * count + 3 * i:13 * count + 3 * i + 3], "velocity": numbers[16 * count + 3 * i:16 * count + 3 * i + 3],
                "friction": numbers[19 * count + i]} for i in range(count)]


def main(path, first, second, wanted):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    step, time, ids, pose = next(f for f in frames(db, first) if f[0] == int(wanted))
    differs = next((a[0] for a, b in zip(frames(db, first), frames(db, second)) if a[3] != b[3]), -1)
    print(json.dumps({
        "episodes": [row[0] for row in db.execute("SELECT name FROM recording ORDER BY begun_ns DESC")],
        "last_step": db.execute("SELECT last_step FROM episode e JOIN recording r ON r.id = e.recording WHERE name = ?", (first,)).fetchone()[0],
        "step": step, "time": time, "bodies": {str(id): pose[7 * i:7 * i + 7] for i, id in enumerate(ids)},
        "contacts": next(c for s, c in contacts(db, first) if s == step), "differs": differs, "gained": gained(db, "rod")}))


main(*sys.argv[1:])
