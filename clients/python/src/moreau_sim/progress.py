# SPDX-License-Identifier: MIT
"""A bar on standard error, where that is a terminal."""

from __future__ import annotations

import sys
import time

WIDTH = 30
REDRAW_S = 0.1


class Progress:
    """`update(done)` as often as wished; it draws ten times a second at most."""

    def __init__(self, total: int, what: str, *, shown: bool | None = None) -> None:
        self._total = max(total, 1)
        self._what = what
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._begun = self._drawn = time.monotonic()

    def update(self, done: int) -> None:
        now = time.monotonic()
        if not self._shown or now - self._drawn < REDRAW_S:
            return
        self._drawn = now
        share = min(done / self._total, 1.0)
        left = (now - self._begun) * (1.0 / share - 1.0) if share > 0.0 else 0.0
        bar = ("#" * round(WIDTH * share)).ljust(WIDTH)
        print(
            f"\r[{bar}] {done:,} of {self._total:,} {self._what}, {left:.0f} s left ",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def end(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
