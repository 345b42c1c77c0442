#!/usr/bin/env python3
"""What share of the branches of the server's rooms a program has reached, from the counts that a build with --coverage leaves.

  tests/coverage.py BUILD_DIR [--worst N]     a line for each room, and the N files (default 12) with the most branches never taken

A branch is what gcc takes for one: of `a && b` there are four. Asserts that hold are not among them: what cannot happen is not to be
reached."""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
ASSERT = re.compile(r"\b(ASSERT|VALIDATE|static_assert)\s*\(")


def read_counts(build, path):
    """gcov's word on one object: a list of files with lines with branches."""
    told = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", str(path)], cwd=build, capture_output=True,
                          text=True, check=True).stdout
    return [file for line in told.splitlines() if line for file in json.loads(line)["files"]]


def assert_lines(path):
    """The lines on which asserts stand, those that they go on over among them."""
    found, depth = set(), 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = ASSERT.search(line)
        if depth > 0 or match:
            found.add(number)
            rest = line if depth > 0 else line[match.start():]
            depth = max(0, depth + rest.count("(") - rest.count(")"))
    return found


def count_branches(build):
    """{file: {(line, branch): how often it was taken}}; headers are counted where they were compiled, and added up."""
    taken = collections.defaultdict(lambda: collections.defaultdict(int))
    asserts = {}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for files in pool.map(lambda path: read_counts(build, path), sorted(build.rglob("*.gcno"))):
            for file in files:
                path = (build / file["file"]).resolve()
                if not path.is_relative_to(ROOT / "server"):
                    continue
                if path not in asserts:
                    asserts[path] = assert_lines(path)
                for line in file["lines"]:
                    for index, branch in enumerate(line["branches"]):
                        if line["line_number"] not in asserts[path]:
                            taken[path][line["line_number"], index] += branch["count"]
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--worst", type=int, default=12)
    orders = parser.parse_args()
    by_file = {path: (sum(count > 0 for count in branches.values()), len(branches))
               for path, branches in count_branches(orders.build.resolve()).items()}
    rooms = collections.defaultdict(lambda: [0, 0])
    for path, (reached, total) in by_file.items():
        room = rooms[str(path.parent.relative_to(ROOT / "server"))]
        room[0] += reached
        room[1] += total
    print("room          branches  reached")
    for name, (reached, total) in sorted(rooms.items()):
        print(f"{name:12} {total:9,} {reached / total if total else 1:8.1%}")
    print(f"\nmost branches never taken, of {len(by_file)} files")
    for path, (reached, total) in sorted(by_file.items(), key=lambda item: item[1][0] - item[1][1])[:orders.worst]:
        print(f"{total - reached:6} of {total:5}  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
