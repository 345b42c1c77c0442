# SPDX-License-Identifier: MIT
"""Rows of shares, cut and joined: worlds of a share are counted from its first, those of a fleet from the fleet's."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import protocol as p
from ..group import Final, Opinions, Rows, joined

FINAL_LATE = ("episode", "seed", "length")  # read when somebody asks


def ended_final(
    world: NDArray[Any], observation: NDArray[Any], extra: NDArray[Any], late: dict[str, NDArray[np.uint64]]
) -> Final:
    final = Final({}, world, observation, extra)
    final.__dict__.update(late)
    return final


class _JoinedFinal(Final):
    """Of several shares. What few ask for is read, and joined, when somebody does."""

    def __init__(self, parts: Sequence[tuple[int, Final]]) -> None:
        finals = self._parts = [final for _, final in parts]
        super().__init__(
            {},
            np.concatenate([final.world + np.uint32(first) for first, final in parts]),
            np.concatenate([final.observation for final in finals]),
            np.concatenate([final.extra for final in finals]),
        )

    def _column(self, name: str) -> NDArray[np.uint64]:
        return np.concatenate([getattr(final, name) for final in self._parts])

    @cached_property
    def episode(self) -> NDArray[np.uint64]:
        return self._column("episode")

    @cached_property
    def seed(self) -> NDArray[np.uint64]:
        return self._column("seed")

    @cached_property
    def length(self) -> NDArray[np.uint64]:
        return self._column("length")


def _final_part(final: Final, worlds: NDArray[np.intp]) -> Final:
    at = np.flatnonzero(np.isin(final.world, worlds))
    late = {name: getattr(final, name)[at] for name in FINAL_LATE}
    return ended_final(final.world[at], final.observation[at], final.extra[at], late)


def part(rows: Rows, at: NDArray[np.intp]) -> Rows:
    """The rows at these places. The opinions, which are of no row, go with the first place."""
    worlds = rows.worlds[at]
    told = rows.opinions if 0 in at else joined([])
    failures = [one for one in rows.failures if (one.world or 0) in worlds]
    return Rows(
        worlds,
        rows.observation[at],
        rows.extra[at],
        rows.terminated[at],
        rows.truncated[at],
        _final_part(rows.final, worlds),
        rows.unconverged[at],
        failures,
        rows.doubtful[at],
        told,
        rows.gained[at],
    )


def moved_opinions(opinions: Opinions, first: int) -> Opinions:
    if len(opinions) == 0 or first == 0:
        return opinions
    fields = {name: getattr(opinions, name) for name in Opinions.__dataclass_fields__}
    fields["world"] = fields["world"] + np.uint32(first)
    return Opinions(**fields)


def moved_failure(failure: p.Status, first: int) -> p.Status:
    moved = copy.copy(failure)
    moved.world = (failure.world or 0) + first
    return moved


def joined_final(parts: Sequence[tuple[int, Final]]) -> Final:
    ended = [one for one in parts if len(one[1])]
    return _JoinedFinal(ended) if ended else parts[0][1]


def join(parts: Sequence[tuple[int, Rows]]) -> Rows:
    """One behind the other, of shares that begin with these worlds."""

    def column(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(rows, name) for _, rows in parts])

    return Rows(
        np.concatenate([rows.worlds + first for first, rows in parts]),
        column("observation"),
        column("extra"),
        column("terminated"),
        column("truncated"),
        joined_final([(first, rows.final) for first, rows in parts]),
        column("unconverged"),
        [moved_failure(failure, first) for first, rows in parts for failure in rows.failures],
        column("doubtful"),
        joined([moved_opinions(rows.opinions, first) for first, rows in parts]),
        column("gained"),
    )
