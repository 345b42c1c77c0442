#!/usr/bin/env python3
"""The episodes of a recording of a group, as rows of the file, for tests/web.sh.

    rows.py DB NAME
"""
import json
import sqlite3
import sys

COLUMNS = "number world_index turn seed length return_sum unconverged doubtful_steps return_doubtful opinions opinion_gap_max parent_step".split()


def main(path, name):
    db = sqlite3.connect(path)
    rows = db.execute(f"SELECT lower(hex(substr(r.uid, 1, 12))) || printf('%08x', e.number), {', '.join('e.' + c for c in COLUMNS)} "
                      "FROM episode e JOIN recording r ON r.id = e.recording WHERE r.name = ? ORDER BY e.id", (name,)).fetchall()
    print(json.dumps([dict(zip(["uid", *COLUMNS], row)) for row in rows]))


main(*sys.argv[1:])
