# SPDX-License-Identifier: MIT
"""The servers on this machine that belong to actors of Ray, and how they come to an end."""

import pathlib
import time


def running():
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"moreau-ray-" in place.read_bytes():
                found.append(place)
        except OSError:
            continue
    return found


def await_at_most(count):
    until = time.monotonic() + 60
    while len(running()) > count:
        assert time.monotonic() < until
        time.sleep(0.05)


def lose_node(cluster):
    """Kills one that is not the head, and waits until its server is gone: actors see the end of their node late."""
    left = len(running()) - 1
    cluster.remove_node(cluster.others[0], allow_graceful=False)
    await_at_most(left)
