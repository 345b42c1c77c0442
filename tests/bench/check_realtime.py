#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`moreau bench realtime` with a scene: ten boxes at rest, with which any machine keeps up.

  tests/bench/check_realtime.py MOREAU_BENCH
"""
import subprocess
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    done = subprocess.run([sys.argv[1], "realtime", "--scene", "stack10"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    line = [cell.strip() for cell in done.stdout.splitlines()[-1].split("|")[1:-1]]
    assert line[:3] == ["stack10", "10", "mdp"] and line[-1] == "yes", done.stdout
    assert 0.0 < float(line[3]) <= float(line[4]), line
    assert 0.0 < float(line[5].removesuffix(" %")) < 100.0, line
    assert line[6].endswith(" of 480"), line


main()
