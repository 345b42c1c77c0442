# SPDX-License-Identifier: MIT
"""On which terrain a world's next episode is, by how the last one went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import protocol as p
from ...group import Rows

UP, DOWN = 0.6, 0.3  # of what is paid for the velocity, in the mean of an episode


class Curriculum:
    """Worlds begin on the first terrain. Who came to the end of an episode, and went as told (a mean above UP), has
    the next one; who fell, or was below DOWN, the one before. Who has mastered the last goes on with one that is drawn.

    All other numbers of an episode are those that the group would draw for it (protocol.Group); a seed begins on the
    first terrain again."""

    is_memoryless = False

    def __init__(
        self,
        count: int,
        levels: int,
        noise: Sequence[p.GroupNoise],
        paid: Callable[[NDArray[Any]], NDArray[np.float64]],
    ) -> None:
        """The first column of `noise` is the terrain; all are uniform, of one number each."""
        self.levels, self._paid = levels, paid
        self._low = np.array([one.low or 0.0 for one in noise])
        self._span = np.array([one.high or 0.0 for one in noise]) - self._low
        self.level = np.zeros(count, np.int64)
        self._sum, self._steps, self._fell = np.zeros(count), np.zeros(count, np.int64), np.zeros(count, np.bool_)

    def watch(self, rows: Rows) -> None:
        self._sum[rows.worlds] += self._paid(rows.observation)
        self._steps[rows.worlds] += 1
        self._fell[rows.worlds] |= rows.terminated

    def draw(self, world: int, episode: int, stream: np.random.Generator) -> NDArray[np.float64]:
        drawn = stream.random(len(self._low))
        level, steps = int(self.level[world]), int(self._steps[world])
        mean = self._sum[world] / steps if steps else 0.5 * (UP + DOWN)
        if episode == 0:
            level = 0
        elif self._fell[world] or mean < DOWN:
            level = max(0, level - 1)
        elif mean > UP:
            level = level + 1 if level + 1 < self.levels else int(drawn[0] * self.levels)
        self.level[world], self._sum[world], self._steps[world], self._fell[world] = level, 0.0, 0, False
        values = self._low + drawn * self._span
        values[0] = level
        return np.asarray(values, np.float64)
