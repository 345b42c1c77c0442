#!/usr/bin/env python3
"""Which release has which version of the dynamics stands in three places: CHANGELOG.md, the server
(server/step/snapshot/release.c), which tells who has a recording of another version, and the page
(clients/web/src/releases.ts). They say the same, and the version of now is the last.

  tests/releases.py"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read(name):
    return (ROOT / name).read_text()


def told():
    """Of CHANGELOG.md: each release's highest version of the dynamics; what it says of versions before is no change."""
    rows = {}
    for release, text in re.findall(r"^## (\S+).*?\n(.*?)(?=^## |\Z)", read("CHANGELOG.md"), flags=re.M | re.S):
        rows[max(int(version) for version in re.findall(r"Dynamics version (\d+)", text))] = release
    return rows


def main():
    server = {int(version): release for version, release in re.findall(r"^    \{(\d+), \"([\d.]+)\"\},$", read("server/step/snapshot/release.c"), flags=re.M)}
    page = {int(version): release for version, release in re.findall(r"\[(\d+)n, \"([\d.]+)\"\]", read("clients/web/src/releases.ts"))}
    now = int(re.search(r"DYNAMICS_VERSION = (\d+)", read("server/step/snapshot/snapshot.h"))[1])
    if not told() == server == page or max(server) != now:
        sys.exit(f"releases: CHANGELOG.md says {told()}, the server {server}, the page {page}; the dynamics are of version {now}")
    print(f"releases: {len(server)}, the same everywhere")


if __name__ == "__main__":
    main()
