# SPDX-License-Identifier: MIT
"""Worlds whose episodes begin as a description draws them: what no noise of a group can say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..fleet import Fleet
from ..group import Group, Rows, joined, stream
from ..protocol import GroupResumed


class Starts(Protocol):
    """What draws how the episodes of a group's worlds begin.

    is_memoryless   what an episode begins with depends on its stream alone, and not on what worlds have done"""

    is_memoryless: bool

    def watch(self, rows: Rows) -> None:
        """What a step gave, before what is over begins anew."""

    def draw(self, world: int, episode: int, stream: np.random.Generator) -> Any:
        """How the episode of this number (of its seed, from 0) begins: a number for each column of the noise."""


class DrawnGroup:
    """A group, or a fleet, made without autoreset; its worlds begin anew here, as `autoreset` says. All else is the
    group's.

    World i's k-th episode after reset(seed=s) is drawn from the stream (s, first_world + i, k), as the group would."""

    def __init__(self, group: Group | Fleet, starts: Starts, autoreset: str, seed: int, first_world: int) -> None:
        self.group = group
        self._starts = starts
        self._autoreset = autoreset
        self._first = first_world
        self._seed = [seed] * group.count
        self._next = [0] * group.count  # of each world: which episode of its seed begins next
        self._over = np.zeros(group.count, np.bool_)
        if group.resumed is not None:
            self._go_on(group.resumed)

    def _go_on(self, resumed: GroupResumed) -> None:
        """Each world stands in the middle of an episode, or is about to begin one."""
        seeds, episodes = np.asarray(resumed.seed).tolist(), np.asarray(resumed.episode).tolist()
        if not len(seeds) == len(episodes) == self.group.count:
            raise ValueError("resume: the server does not say which episodes its worlds are at, or has no room for it")
        self._first = resumed.first_world or 0
        self._over = self.group.over()
        self._seed = seeds
        self._next = [episode + (not over) for episode, over in zip(episodes, self._over.tolist())]
        if self._autoreset == "SAME_STEP" and self._over.any():  # who recorded it was about to
            self.reset(self._over.copy())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.group, name)

    def __repr__(self) -> str:
        return repr(self.group)

    def reset(
        self, mask: NDArray[np.bool_] | None = None, *, seed: int | Sequence[int] | None = None, values: Any = None
    ) -> Rows:
        """As Group.reset; without `values` they are drawn."""
        chosen = range(self.group.count) if mask is None else np.flatnonzero(mask).tolist()
        seeds, begins = list(self._seed), list(self._next)
        if seed is not None:
            given = [seed] * len(chosen) if isinstance(seed, (int, np.integer)) else list(seed)
            for world, one in zip(chosen, given):
                seeds[world], begins[world] = int(one), 0
        if values is None:
            values = np.array([self._drawn(seeds[world], world, begins[world]) for world in chosen], np.float64)
        rows = self.group.reset(mask, seed=seed, values=values)
        # what was refused has begun nothing
        self._seed, self._next = seeds, begins
        for world in chosen:
            self._next[world] += 1
        self._over[rows.worlds] = False
        return rows

    def _drawn(self, seed: int, world: int, episode: int) -> Any:
        return self._starts.draw(world, episode, stream(seed, self._first + world, episode))

    def step(self, actions: NDArray[Any]) -> Rows:
        """As Group.step of all worlds."""
        if self._autoreset == "NEXT_STEP" and self._over.any():
            begins = self._over.copy()
            if begins.all():
                return self.reset(begins)
            stepped = self._stepped(np.asarray(actions)[~begins], ~begins)
            return _together(self.group.count, stepped, self.reset(begins))
        rows = self._stepped(actions, None)
        if self._autoreset == "SAME_STEP" and self._over.any():
            first = self.reset(self._over.copy())
            rows.observation[first.worlds], rows.extra[first.worlds] = first.observation, first.extra
            rows.opinions = joined([rows.opinions, first.opinions])
        return rows

    def _stepped(self, actions: NDArray[Any], mask: NDArray[np.bool_] | None) -> Rows:
        rows = self.group.step(actions, mask)
        self._starts.watch(rows)
        self._over[rows.worlds] = rows.terminated | rows.truncated
        return rows


def _together(count: int, stepped: Rows, begun: Rows) -> Rows:
    """The rows of all worlds, of which some stepped and the others began."""
    arrays: dict[str, Any] = {}
    for name in ("observation", "extra", "terminated", "truncated", "unconverged", "doubtful", "gained"):
        ours, others = getattr(stepped, name), getattr(begun, name)
        arrays[name] = np.zeros((count, *ours.shape[1:]), ours.dtype)
        arrays[name][stepped.worlds], arrays[name][begun.worlds] = ours, others
    return Rows(
        worlds=np.arange(count),
        final=stepped.final,
        failures=[*stepped.failures, *begun.failures],
        opinions=joined([stepped.opinions, begun.opinions]),
        **arrays,
    )
