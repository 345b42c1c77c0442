#!/usr/bin/env python3
"""Changes rows of an episode file, as somebody might who has SQLite and nothing else.

    change.py DB SQL
"""
import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as db:
    assert db.execute(sys.argv[2]).rowcount > 0
