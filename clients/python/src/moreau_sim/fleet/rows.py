# SPDX-License-Identifier: MIT
"""Rows of shares, cut and joined: worlds of a share are counted from its first, those of a fleet from the fleet's."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import protocol as p
from ..group import Final, Opinions, Rows, joined

FINAL_LATE = ("episode", "seed", "length")  # read when somebody asks


def _final(
    world: NDArray[Any], observation: NDArray[Any], extra: NDArray[Any], late: dict[str, NDArray[np.uint64]]
) -> Final:
    final = Final({}, world, observation, extra)
    final.__dict__.update(late)
    return final


def _final_part(final: Final, worlds: NDArray[np.intp]) -> Final:
    at = np.flatnonzero(np.isin(final.world, worlds))
    late = {name: getattr(final, name)[at] for name in FINAL_LATE}
    return _final(final.world[at], final.observation[at], final.extra[at], late)


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


def _moved_failure(failure: p.Status, first: int) -> p.Status:
    moved = copy.copy(failure)
    moved.world = (failure.world or 0) + first
    return moved


def _joined_final(parts: Sequence[tuple[int, Rows]]) -> Final:
    ended = [(first, rows.final) for first, rows in parts if len(rows.final)]
    if not ended:
        return parts[0][1].final
    late = {name: np.concatenate([getattr(final, name) for _, final in ended]) for name in FINAL_LATE}
    return _final(
        np.concatenate([final.world + np.uint32(first) for first, final in ended]),
        np.concatenate([final.observation for _, final in ended]),
        np.concatenate([final.extra for _, final in ended]),
        late,
    )


def join(
    parts: Sequence[tuple[int, Rows]], observation: NDArray[Any] | None = None, extra: NDArray[Any] | None = None
) -> Rows:
    """One behind the other, of shares that begin with these worlds. `observation`, `extra`: where theirs lie
    already."""

    def column(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(rows, name) for _, rows in parts])

    return Rows(
        np.concatenate([rows.worlds + first for first, rows in parts]),
        column("observation") if observation is None else observation,
        column("extra") if extra is None else extra,
        column("terminated"),
        column("truncated"),
        _joined_final(parts),
        column("unconverged"),
        [_moved_failure(failure, first) for first, rows in parts for failure in rows.failures],
        column("doubtful"),
        joined([moved_opinions(rows.opinions, first) for first, rows in parts]),
        column("gained"),
    )
