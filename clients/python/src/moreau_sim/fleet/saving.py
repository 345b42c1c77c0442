# SPDX-License-Identifier: MIT
"""How a fleet saves, and how often: seldom enough to cost little, often enough that a loss is soon made good."""

from __future__ import annotations

import math
from collections import deque
from contextlib import suppress

from ..errors import MoreauError
from .host import Host
from .share import Share
from .under_way import UnderWay

SHARE_MAX = 0.03  # of the time, that saving may take
CALLS_MIN, CALLS_MAX = 16, 4096
BYTES_MAX = 1 << 26  # of calls that are kept to be repeated
WEIGHT = 0.1  # of the latest call in the mean
SAVES_AT_ONCE = 2  # on one server, which holds what they are in its memory


class Saving(UnderWay[bytes]):
    """A share that is being saved."""

    def __init__(self, share: Share, host: Host) -> None:
        super().__init__(share, host, share.group.begin_save())

    def go_on(self) -> bool:
        is_done = super().go_on()
        if is_done:
            self.share.keep(self.result)
        return is_done

    def close(self) -> None:
        """Nobody wants it any more: it ends, so that the server keeps nothing of it."""
        with suppress(MoreauError):
            deque(self._calls, maxlen=0)


class Schedule:
    """When the next save is due. `every`: calls between two; default: as many as keep saving below 3 % of the time."""

    def __init__(self, every: int | None) -> None:
        if every is not None and every < 1:
            raise ValueError(f"save_every: at least one call lies between two saves, not {every}")
        self.fixed = every
        self.calls = 0  # since the last
        self.call_s = 0.0  # mean time of a call
        self.save_s = 0.0  # of the last save

    @property
    def every(self) -> int:
        if self.fixed is not None:
            return self.fixed
        if self.call_s == 0.0 or self.save_s == 0.0:
            return CALLS_MIN
        return min(max(math.ceil(self.save_s / (SHARE_MAX * self.call_s)), CALLS_MIN), CALLS_MAX)

    def called(self, seconds: float) -> None:
        self.calls += 1
        self.call_s = seconds if self.call_s == 0.0 else (1.0 - WEIGHT) * self.call_s + WEIGHT * seconds

    def saved(self, seconds: float) -> None:
        self.calls = 0
        self.save_s = seconds

    def is_due(self, kept_bytes: int) -> bool:
        return self.calls >= self.every or (kept_bytes > BYTES_MAX and self.calls > 0)
