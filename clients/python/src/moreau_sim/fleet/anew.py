# SPDX-License-Identifier: MIT
"""Shares of a fleet that repeats nothing (on_loss="TRUNCATE"): what a lost server had is over, and its worlds begin
anew. Whoever had an episode under way is told once, with the next row of that world: truncated, and what was seen last
of it is its end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import protocol as p
from .._asked import packed
from ..client import Pending
from ..group import Final, Group, Opinions, Rows
from .calls import Call, Kind
from .rows import ended_final, joined_final

_COLUMNS = ("observation", "extra", "terminated", "truncated", "unconverged", "doubtful", "gained")


def bits_of(worlds: NDArray[np.intp], count: int) -> bytes:
    mask = np.zeros(count, np.bool_)
    mask[worlds] = True
    return packed(mask)


class Parted:
    """A call of whose worlds some have an end to be told: the server is asked for the others alone, and with
    SAME_STEP for the beginnings of theirs. As a Pending, of the others' reply."""

    def __init__(self, group: Group, call: Call, told: NDArray[np.bool_], begins: bool) -> None:
        self.told = call.worlds[told]
        self.at = told  # of the call's worlds
        self.others = call.worlds[~told]
        self._first = group.begin_reset(bits_of(self.told, group.count), None, None) if begins else None
        self._rest: Pending[Any] | None = None
        if len(self.others):
            assert call.numbers is not None
            bits = bits_of(self.others, group.count)
            self._rest = Call(call.kind, self.others, bits, call.numbers[~told]).begin(group)

    @property
    def done(self) -> bool:
        return all(one is None or one.done for one in (self._first, self._rest))

    def fields(self) -> dict[str, Any]:
        return {} if self._rest is None else self._rest.fields()

    def first_rows(self, group: Group) -> Rows | None:
        """With which the worlds that are told of begin."""
        return None if self._first is None else group.made(self._first.fields(), self.told)


class Anew:
    """What is known of a share's worlds without their server.

    is_begun    an episode is under way
    is_untold   it was under way on a server that is lost, and nobody was told
    """

    def __init__(self, count: int, same_step: bool) -> None:
        self.same_step = same_step
        self.is_begun = np.zeros(count, np.bool_)
        self.is_untold = np.zeros(count, np.bool_)
        self.observation: NDArray[Any] | None = None  # as last seen
        self.extra: NDArray[Any] | None = None
        self.losses = 0

    def lose(self) -> None:
        """The server is gone."""
        self.is_untold |= self.is_begun
        self.is_begun[:] = False
        self.losses += 1

    def part(self, group: Group, call: Call) -> Parted | None:
        """The call, where some of its worlds have an end to be told."""
        if call.kind not in (Kind.STEP, Kind.SEND):
            return None
        told = self.is_untold[call.worlds]
        return Parted(group, call, told, self.same_step) if told.any() else None

    def see(
        self, worlds: NDArray[np.intp], observation: NDArray[Any], extra: NDArray[Any], final: Final, failures: Any
    ) -> None:
        """Rows that are given."""
        if self.observation is None or self.extra is None:
            count = len(self.is_begun)
            self.observation = np.zeros((count, observation.shape[1]), observation.dtype)
            self.extra = np.zeros((count, extra.shape[1]), extra.dtype)
        self.observation[worlds], self.extra[worlds] = observation, extra
        self.is_untold[worlds] = False
        begun = self.is_begun[worlds] | ~np.isin(worlds, [failure.world or 0 for failure in failures])
        self.is_begun[worlds] = begun
        if not self.same_step:
            self.is_begun[final.world] = False

    def ends(self, group: Group, worlds: NDArray[np.intp], first: Rows | None) -> Rows:
        """A row for each of these worlds: its episode is over, and here it begins another one, or with the next
        step. Which episode it was, and how long, only the server knew: 0."""
        assert self.observation is not None and self.extra is not None
        seen, more = self.observation[worlds], self.extra[worlds]
        rows = group.blank(worlds)
        rows.observation[:] = seen if first is None else first.observation
        rows.extra[:] = more if first is None else first.extra
        rows.truncated[:] = True
        rows.failures = [] if first is None else first.failures
        none = np.zeros(len(worlds), np.uint64)
        rows.final = ended_final(
            worlds.astype(np.uint32), seen, more, {"episode": none, "seed": none, "length": none}
        )
        return rows

    def fill(
        self, group: Group, parted: Parted, fields: dict[str, Any], rows: Rows, at: slice
    ) -> tuple[Final, list[p.Status], Opinions]:
        """As Group.fill, of a call that was parted."""
        places = np.arange(at.start, at.stop)
        ends = self.ends(group, parted.told, parted.first_rows(group))
        others = group.made(fields, parted.others) if len(parted.others) else group.blank(parted.others)
        for name in _COLUMNS:
            column = getattr(rows, name)
            column[places[parted.at]] = getattr(ends, name)
            column[places[~parted.at]] = getattr(others, name)
        final = joined_final([(0, ends.final), (0, others.final)])
        return final, ends.failures + others.failures, others.opinions
