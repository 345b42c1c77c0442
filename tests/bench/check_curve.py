#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`moreau bench curve` at its smallest: one scene, twelve boxes that fall.

  tests/bench/check_curve.py MOREAU_BENCH
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SCENE = "heap-12-falling"
SWEEPS = (2, 5, 10, 20, 50)


def run(*words):
    return subprocess.run([sys.argv[1], "curve", *words], capture_output=True, text=True)


def ran(*words):
    done = run("--scene", SCENE, "--seconds", "0.2", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_document():
    """More work leaves less, and the exact way is exact in every step."""
    rows = {row["figure"]: row["value"] for row in json.loads(ran("--json"))["rows"]}

    def value(way, figure):
        return rows[f"{SCENE}: {way}: {figure}"]
    left = [value(f"sweeps {count} sweeps", "e_DS p50") for count in SWEEPS]
    assert left == sorted(left, reverse=True) and left[-1] < 0.01 * left[0], left
    assert value("effort exact", "e_DS worst") <= 1e-6
    for count in SWEEPS:
        way = f"sweeps {count} sweeps"
        assert value(way, "e_DS p50") <= value(way, "e_DS worst")
        assert 0 < value(way, "step p50") <= value(way, "step worst")


def check_files():
    with tempfile.TemporaryDirectory() as folder:
        lines = ran("--write", folder).splitlines()
        assert all(len(line) <= 80 and "\t" not in line for line in lines), lines
        verdict = lines[-2].strip()
        picture = xml.etree.ElementTree.parse(pathlib.Path(folder, "curve.svg")).getroot()
        text = "".join(picture.itertext())
        page = pathlib.Path(folder, "curve.md").read_text()
    assert "10 sweeps" in text and "exact" in text, text
    # A picture says points and times in two lines, a page in one.
    assert all(line in text for line in verdict.split("; ")), verdict
    assert f"| {SCENE} | 12 |" in page and verdict in page and "| 50 sweeps |" in page


def check_refusals():
    done = run("--scene", "nothing")
    assert done.returncode == 1 and "no scene nothing" in done.stderr, done
    done = run("--scene", SCENE, "--seconds", "0.2", "--write", "/nowhere/at/all")
    assert done.returncode == 1 and "cannot write /nowhere/at/all/curve.md" in done.stderr, done


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    check_document()
    check_files()
    check_refusals()


main()
