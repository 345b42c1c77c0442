#!/usr/bin/env python3
"""Builds the server wrong, in one way after the other, and says which property of the random histories finds it, and when; or which
seed of the simulated faults.

  tests/mutants.py [--histories N] [--seeds N] [NAME...]     each mutant, or these; of N histories (default 1200) or seeds (100)
  tests/mutants.py --brisk [--seconds S] [NAME...]           of brisk histories, for so long at most, and of no corpus
  tests/mutants.py --self                                    only looks whether each can be applied

A mutant is a text, under tests/histories/mutants:

    2 its first line: the property that must find it (a number of the table below), and how
    in FILE
    - lines of that file as they are, spaces at their begin apart
    + what is to stand there instead

FILE is found wherever it lies below server/, and the lines wherever they stand in files of that name: once, or the mutant no longer
applies, which is an error. There may be several such pairs, and several files. One under tests/simulate/mutants has no property in its first line. The tree is copied to build/mutants,
and there alone it is wrong. Exit status 1: one was not found by the property that must find it."""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests/histories/mutants"
SIMULATE_FOLDER = ROOT / "tests/simulate/mutants"
CORPUS = ROOT / "tests/histories/corpus"
COPY = ROOT / "build/mutants"
PROGRAM = COPY / "build/release/tests/moreau-histories"
SIMULATE = COPY / "build/release/tests/moreau-simulate"

# the properties that are promised, by what the campaign calls what it finds
PROPERTIES = {1: ("alive", "finite", "valid"), 2: ("again", "scene"), 3: ("record", "replay"), 4: ("refused", "bytes", "fault"),
              5: ("turned", "units"), 6: ("energy",), 7: ("judge",), 8: ("memory",)}
FOUND = re.compile(r"^(?:seed )?(\S+): (\w+) at ")
RUN_SECONDS_MAX = 900

SIMULATE_FOUND = re.compile(r"^FAILED: seed (\d+);")

Mutant = collections.namedtuple("Mutant", "name property how edits")  # edits: [(file name, old lines, new lines)]; property None: simulated


class Unfit(Exception):
    """A mutant that cannot be applied."""


def read_mutant(path):
    head, *lines = path.read_text().splitlines()
    is_simulated = path.parent == SIMULATE_FOLDER
    number, _, how = ("", "", head) if is_simulated else head.partition(" ")
    if not is_simulated and (not number.isdigit() or int(number) not in PROPERTIES):
        raise Unfit(f"{path.name}: the first line begins with a property, 1 to 8")
    edits, name = [], None
    for line in lines:
        if line.startswith("in "):
            name = line[3:].strip()
        elif line[:1] == "-" and name is not None:
            if not edits or edits[-1][0] != name or edits[-1][2]:
                edits.append((name, [], []))
            edits[-1][1].append(line[1:].strip())
        elif line[:1] == "+" and edits:
            edits[-1][2].append(line[2:])
        elif line.strip():
            raise Unfit(f"{path.name}: cannot be read: {line}")
    if not edits:
        raise Unfit(f"{path.name}: changes nothing")
    return Mutant(path.stem, None if is_simulated else int(number), how, edits)


def apply_edit(mutant, edit, tree, texts):
    """`texts`: {path below the tree: its lines as changed so far}."""
    name, old, new = edit
    places = []
    for path in sorted(path.relative_to(tree) for path in (tree / "server").rglob(name)):
        lines = texts.get(path) or (tree / path).read_text().splitlines()
        bare = [line.strip() for line in lines]
        places += [(path, lines, i) for i in range(len(bare) - len(old) + 1) if bare[i:i + len(old)] == old]
    if len(places) != 1:
        raise Unfit(f"{mutant.name} no longer applies: in files called {name} its lines stand {len(places)} times: {old[0]}")
    path, lines, at = places[0]
    lines[at:at + len(old)] = new
    texts[path] = lines


def apply(mutant, tree):
    """{path below the tree: the text that is wrong}."""
    texts = {}
    for edit in mutant.edits:
        apply_edit(mutant, edit, tree, texts)
    return {path: "\n".join(lines) + "\n" for path, lines in texts.items()}


def put(path, data):
    """What is the same is not written, so that it is not built again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy_tree():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                            check=True).stdout.decode().split("\0")
    kept = {pathlib.Path(name) for name in listed if name and (ROOT / name).is_file()}
    for path in kept:
        put(COPY / path, (ROOT / path).read_bytes())
        shutil.copymode(ROOT / path, COPY / path)
    for folder in ("server", "tests"):
        for path in list((COPY / folder).rglob("*")):
            if path.is_file() and path.relative_to(COPY) not in kept:
                path.unlink()


def build(target):
    told = subprocess.run(["cmake", "--build", "--preset", "release", "--target", target], cwd=COPY, capture_output=True,
                          text=True, check=False)
    if told.returncode != 0:
        sys.exit(told.stdout[-3000:] + told.stderr[-1000:])


def open_findings():
    """What is found without any mutant, as it is told."""
    files = [json.loads(path.read_text()) for path in CORPUS.glob("*.json")]
    return [f": {file['property']} at {file['place']}:" for file in files if "open" in file]


def play(arguments, wanted, found, seconds=RUN_SECONDS_MAX):
    """Adds {property: where it was found first}; ends once `wanted` is among them."""
    known = open_findings()
    command = ["timeout", str(seconds), str(PROGRAM), "--plain", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            match = FOUND.match(line)
            if match is None or any(place in line for place in known):
                continue
            number = next(n for n, names in PROPERTIES.items() if match[2] in names)
            found.setdefault(number, pathlib.Path(match[1]).stem)
            if wanted in found:
                process.terminate()
                break


def simulate(seeds, found):
    """Adds the first seed that fails."""
    command = ["timeout", str(RUN_SECONDS_MAX), str(SIMULATE), "1", str(seeds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        for line in process.stdout:
            match = SIMULATE_FOUND.match(line)
            if match is not None:
                found[None] = match[1]
                process.terminate()
                break


def try_mutant(mutant, orders):
    """Where each property found it first, until the one that must has."""
    found, texts = {}, apply(mutant, COPY)
    right = {path: (COPY / path).read_bytes() for path in texts}
    for path, text in texts.items():
        put(COPY / path, text.encode())
    build("moreau-simulate" if mutant.property is None else "moreau-histories")
    if mutant.property is None:
        simulate(orders.seeds, found)
    else:
        more = ["--brisk"] if orders.brisk else []
        play(["--histories", str(orders.histories), *more], mutant.property, found, orders.seconds)
    if mutant.property is not None and mutant.property not in found and not orders.brisk:
        play([str(path) for path in sorted((COPY / "tests/histories/corpus").glob("*.json"))], mutant.property, found)
    for path, data in right.items():
        put(COPY / path, data)
    return found


def tell(mutant, found):
    if mutant.property is None:
        words = f"   seed {found[None]} of moreau-simulate" if None in found else "   NOT FOUND by moreau-simulate"
    else:
        words = "".join(str(found.get(n, "")).rjust(7) for n in PROPERTIES)
        words += "" if mutant.property in found else f"   NOT FOUND by {mutant.property}"
    print(f"{mutant.name:<34} {words}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=1200)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--brisk", action="store_true")
    parser.add_argument("--seconds", type=int, default=RUN_SECONDS_MAX)
    parser.add_argument("--self", action="store_true", dest="only_looks")
    parser.add_argument("names", nargs="*")
    orders = parser.parse_args()
    paths = sorted(FOLDER.glob("*.txt")) + sorted(SIMULATE_FOLDER.glob("*.txt"))
    try:
        mutants = [read_mutant(path) for path in paths if not orders.names or path.stem in orders.names]
        for mutant in mutants:
            apply(mutant, ROOT)
    except Unfit as unfit:
        sys.exit(str(unfit))
    lacking = [n for n in PROPERTIES if sum(m.property == n for m in mutants) < 2]
    if not orders.names and lacking:
        sys.exit(f"fewer than two mutants are to be found by: {lacking}")
    if orders.only_looks:
        return
    copy_tree()
    subprocess.run(["cmake", "--preset", "release"], cwd=COPY, stdout=subprocess.DEVNULL, check=True)
    print(f"{'the history, of ' + str(orders.histories) + ', that finds it:':<35}" + "".join(str(n).rjust(7) for n in PROPERTIES), flush=True)
    missed = 0
    for mutant in mutants:
        found = try_mutant(mutant, orders)
        tell(mutant, found)
        missed += mutant.property not in found
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
