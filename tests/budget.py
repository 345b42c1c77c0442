#!/usr/bin/env python3
"""Prints what the tests of a build took of the processor, by label and the dearest of them, and fails where a label takes more than
its share in tests/budget.txt. Shares of the whole, not seconds: a slow or busy machine makes all of them longer.

  tests/budget.py TIMED_DIR BUILD_DIR     the folder in which moreau-timed leaves a number for each test; the build that it is of

Not judged: a build whose name (release, dev) has no column, tests that have not all been run, and campaigns of another scale than
the build's own (MOREAU_CAMPAIGN_SCALE)."""
import os
import pathlib
import sys

DEAREST = 12
# so much more than its share a label may take: sieges last so many seconds, in which they come to less on a busy
# machine, and the others then have up to half as much again of the whole
SHARE_FACTOR = 2.0
SHARE_EXTRA = 0.03


def read_budget(build):
    """label: seconds, for this build; empty where it has no column."""
    lines = (pathlib.Path(__file__).resolve().parent / "budget.txt").read_text().splitlines()
    heads = [line.lstrip("# ").split() for line in lines if line.startswith("# label")][0]
    if build not in heads:
        return {}
    column = heads.index(build)
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {row[0]: float(row[column]) for row in rows}


def read_times(folder):
    """test: (kind, seconds or None where it has not been run), of those that a change must pass."""
    times = {}
    for line in (folder / "tests").read_text().splitlines():
        name, labels = line.split()
        if "gate" not in labels.split(";"):
            continue
        path = folder / name.replace("/", "-")
        times[name] = (labels.split(";")[1], float(path.read_text()) if path.exists() else None)
    return times


def sum_up(times):
    sums = {}
    for kind, seconds in times.values():
        sums[kind] = sums.get(kind, 0.0) + (seconds or 0.0)
    return sums


def judge(sums, budget):
    """Complaints; one for each label beyond its share."""
    total, whole = sum(sums.values()), sum(budget.values())
    complaints = []
    for label, seconds in sums.items():
        if label not in budget:
            complaints.append(f"tests/budget.txt has no line for the label {label}")
            continue
        limit = budget[label] / whole * SHARE_FACTOR + SHARE_EXTRA
        if seconds / total > limit:
            complaints.append(f"{label} takes {seconds / total:.0%} of all tests' time; tests/budget.txt allows {limit:.0%}")
    return complaints


def print_table(times, sums, budget):
    print(f"{'label':<8} {'CPU s':>8} {'budget':>8}")
    for label, seconds in sorted(sums.items(), key=lambda item: -item[1]):
        print(f"{label:<8} {seconds:8.1f} {budget.get(label, 0.0):8.1f}")
    print(f"{'all':<8} {sum(sums.values()):8.1f} {sum(budget.values()):8.1f}\n\nthe dearest")
    dearest = sorted(times.items(), key=lambda item: -(item[1][1] or 0.0))[:DEAREST]
    for name, (kind, seconds) in dearest:
        print(f"{seconds or 0.0:8.1f}  {name} ({kind})")


def main():
    folder, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).name
    times, budget = read_times(folder), read_budget(build)
    sums = sum_up(times)
    print_table(times, sums, budget)
    missing = [name for name, (_, seconds) in times.items() if seconds is None]
    if missing or not budget or "MOREAU_CAMPAIGN_SCALE" in os.environ:
        print(f"\nnot judged: {len(missing)} tests have not been run, {len(budget)} labels have a budget for {build}")
        return 0
    complaints = judge(sums, budget)
    print("\n" + ("\n".join(complaints) or "every label keeps to its share"))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
