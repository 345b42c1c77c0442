#!/usr/bin/env python3
"""How many assertions a function has, by room: ASSERT and VALIDATE (server/base/assert.h) over all functions, static ones too. `tidy`
fails where a room falls below its floor; a floor only rises. A file that is a validator (*_valid.c) counts on neither side.

  tests/asserts.py              the table
  tests/asserts.py ROOM         the files of a room (server/step), those that say least first"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# room, with the rooms inside it: assertions a function, at least
FLOORS = {
    "server/collide": 0.45,
    "server/geometry": 0.30,
    "server/net": 0.20,
    "server/run": 0.33,
    "server/solve": 0.33,
    "server/step": 0.30,
    "server/world": 0.07,
}
ASSERTION = re.compile(r"\b(?:ASSERT|VALIDATE)\s*\(")


def counted(room):
    return [path for path in sorted((ROOT / room).rglob("*.[ch]")) if not path.stem.endswith("_valid")]


def rate(code, functions):
    """(assertions, functions) of code without comments; `functions` finds the functions in code (tidy.py)."""
    lines = [line for line in code.splitlines() if not line.startswith("#")]
    return len(ASSERTION.findall("\n".join(lines))), len(list(functions(code)))


def rates(paths, strip, functions):
    return {path: rate(strip(path.read_text()), functions) for path in paths}


def total(found):
    asserted, defined = (sum(pair[i] for pair in found.values()) for i in (0, 1))
    return asserted, defined, asserted / max(defined, 1)


def too_few(strip, functions):
    """(room, what is wrong) of every room below its floor."""
    for room, floor in FLOORS.items():
        asserted, defined, each = total(rates(counted(room), strip, functions))
        if each < floor:
            yield room, f"{asserted} assertions in {defined} functions: {each:.3f} each, at least {floor}"


def main():
    import tidy
    if len(sys.argv) > 1:
        found = rates(counted(sys.argv[1]), tidy.strip_comments, tidy.functions)
        for path, (asserted, defined) in sorted(found.items(), key=lambda row: (row[1][0] / max(row[1][1], 1), -row[1][1])):
            print(f"{asserted:5} {defined:5}  {path.relative_to(ROOT)}")
        return
    rooms = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "server").iterdir() if path.is_dir())
    for room in rooms:
        asserted, defined, each = total(rates(counted(room), tidy.strip_comments, tidy.functions))
        print(f"{asserted:5} {defined:5}  {each:.3f}  {FLOORS.get(room, 0.0):5.3f}  {room}")


if __name__ == "__main__":
    main()
