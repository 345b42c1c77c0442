#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How long it takes from a command to the picture that it shows: the stopwatch of results/newcomer.md.

    first_picture.py [--runs N] [--keep FOLDER] NAME=COMMAND ...

Each command is started in turns, N times (default 7), on a screen of its own (Xvfb, whose picture is a file that is
looked at every 10 ms), as somebody who starts it for the first time: with a home that is empty. It is ended SETTLED_S
later. What it shows then has edges: pixels of another colour than their neighbours. The picture is there from when the
screen first has as many as SHARE of them, wherever they are, as what is shown may move. --keep keeps the screen of that moment, as a PNG, to be looked at: whether this is the
picture is for a person to say. Needs Xvfb and NumPy."""

import argparse
import contextlib
import mmap
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np

WIDTH, HEIGHT = 1280, 800
LOOK_S = 0.010  # from one look at the screen to the next
SETTLED_S = 6.0
SHARE = 0.75
EDGES_MIN = 100


class Screen:
    """An X server whose picture is a file."""

    def __init__(self, folder):
        reads, writes = os.pipe()
        words = ["Xvfb", "-displayfd", str(writes), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", str(folder), "-nolisten", "tcp"]
        self.process = subprocess.Popen(words, pass_fds=[writes], stderr=subprocess.DEVNULL)
        os.close(writes)
        with os.fdopen(reads) as said:
            self.name = ":" + said.readline().strip()
        with open(folder / "Xvfb_screen0", "rb") as file:
            self.picture = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        header = struct.unpack(">25I", self.picture[:100])  # of an XWD file
        self.begin, self.row_bytes = header[0] + 12 * header[19], header[12]

    def look(self):
        rows = np.frombuffer(self.picture, np.uint8, self.row_bytes * HEIGHT, self.begin)
        return rows.reshape(HEIGHT, -1, 4)[:, :WIDTH, 2::-1]

    def close(self):
        self.process.terminate()
        self.process.wait()


def edges(picture):
    colour = picture[:, :, 0].astype(np.uint32) << 16 | picture[:, :, 1].astype(np.uint32) << 8 | picture[:, :, 2]
    return int(((colour[1:, 1:] != colour[:-1, 1:]) | (colour[1:, 1:] != colour[1:, :-1])).sum())


def first_whole(seen):
    """Which of the pictures is the first that has the edges of the last one. None: that one has none."""
    before, last = edges(seen[0]), edges(seen[-1])
    if last < before + EDGES_MIN:
        return None
    return next(i for i, picture in enumerate(seen) if edges(picture) >= before + SHARE * (last - before))


def as_png(picture):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = picture.shape
    rows = np.insert(picture.reshape(height, -1), 0, 0, axis=1)  # none of them filtered
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")


def watch(command, folder, keep):
    """Seconds until a command shows its picture."""
    screen = Screen(folder)
    when, seen = [], []
    try:
        env = dict(os.environ, DISPLAY=screen.name, HOME=str(folder / "home"), XDG_CACHE_HOME=str(folder / "home/.cache"))
        env.pop("CI", None)
        (folder / "home").mkdir()
        begun = time.monotonic()
        tool = subprocess.Popen(command, shell=True, cwd=folder / "home", env=env, start_new_session=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while (now := time.monotonic() - begun) < SETTLED_S:
            picture = screen.look()
            if not seen or not np.array_equal(picture, seen[-1]):
                when.append(now)
                seen.append(picture.copy())
            time.sleep(LOOK_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(tool.pid, signal.SIGKILL)
        tool.wait()
    finally:
        screen.close()  # and with it whatever has a window
    first = first_whole(seen)
    if keep:
        keep.write_bytes(as_png(seen[first if first is not None else -1]))
    return when[first] if first is not None else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("command", nargs="+", metavar="NAME=COMMAND")
    options = parser.parse_args()
    commands = dict(word.split("=", 1) for word in options.command)
    took = {name: [] for name in commands}
    for _ in range(options.runs):
        for name, command in commands.items():
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                took[name].append(watch(command, pathlib.Path(folder), options.keep / f"{name}.png" if options.keep else None))
            print(f"{name}: {took[name][-1]:.2f} s", file=sys.stderr)
    for name, seconds in took.items():
        print(f"{name:20} {np.median(seconds):6.2f} s   {min(seconds):.2f} to {max(seconds):.2f}, {len(seconds)} runs")


if __name__ == "__main__":
    main()
