# SPDX-License-Identifier: MIT
"""What a share was told since it was last saved, to be told again."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._asked import Returns
from ..client import Pending
from ..group import Group, Rows


class Kind(Enum):
    RESET = "reset"
    STEP = "step"
    SEND = "send"
    RECEIVE = "receive"
    READ = "read"


@dataclass(slots=True)
class Call:
    """A call on a share's worlds."""

    kind: Kind
    worlds: NDArray[np.intp]  # of the share; of a RECEIVE, those that came
    bits: bytes | None = None  # likewise, as a mask has them; None: all
    numbers: NDArray[Any] | None = None  # actions, or what a reset adds
    seeds: Any = None
    digest: int | None = None  # of the reply that was given
    returns: list[Returns] | None = None  # that went with it; None: it was not under way yet
    rows: dict[int, int] = field(default_factory=dict)  # of a RECEIVE: of each world's row
    older: list[Returns] = field(default_factory=list)  # likewise, of what ended before a save that is still to count

    def begin(self, group: Group) -> Pending[Any]:
        """Sends it, with the returns that the group was told and has not sent."""
        if self.kind is Kind.RESET:
            return group.begin_reset(self.bits, self.seeds, self.numbers)
        if self.kind is Kind.READ:
            return group.begin_read(self.bits)
        assert self.numbers is not None
        return (
            group.begin_step(self.bits, self.numbers)
            if self.kind is Kind.STEP
            else group.begin_send(self.bits, self.numbers)
        )

    def begin_again(self, group: Group) -> Pending[Any]:
        """Of a group that was made again, with the returns that went with it."""
        for one in [*self.older, *(self.returns or ())]:
            group.tell_returns(*one)
        return self.begin(group)

    @property
    def nbytes(self) -> int:
        return self.worlds.nbytes + (0 if self.numbers is None else self.numbers.nbytes) + 16 * len(self.rows) + 128


def digest_of(pending: Pending[Any]) -> int:
    """Of a reply's bytes, but for what is no result: two equal replies have one."""
    return zlib.crc32(pending.view())


def digests_of(rows: Rows) -> dict[int, int]:
    """Of each world's row: who finished first may differ, what came of it may not."""
    found = {}
    for i, world in enumerate(rows.worlds.tolist()):
        text = (
            rows.observation[i].tobytes()
            + rows.extra[i].tobytes()
            + rows.terminated[i : i + 1].tobytes()
            + rows.truncated[i : i + 1].tobytes()
        )
        found[world] = zlib.crc32(text)
    return found
