# SPDX-License-Identifier: MIT
"""A share of a fleet: some worlds, one behind the other, that are one group for ever, on one server after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._asked import Returns
from ..client import Pending, carried_through
from ..errors import MoreauError
from ..group import Group, Rows, received
from .anew import Anew, Parted, bits_of
from .calls import Call, Kind, digest_of, digests_of
from .host import Host
from .rows import part

PATIENCE_SAVES = 4  # that a save waits for returns at most, in which what it was before is kept, and what came since

# repeated calls under way at once: fewer than any server allows
WINDOW = 16


class Differs(MoreauError):
    """A server answered a repeated call with other bits."""


class Moved(NamedTuple):
    """What a share was before it was saved to be moved."""

    saved: bytes | None
    history: list[Call]
    owed: NDArray[Any]
    owed_before: NDArray[Any]
    told: list[Returns]
    told_older: list[Returns]


def _chosen(returns: Returns, chosen: NDArray[np.bool_]) -> Returns:
    doubtful = None if returns.doubtful is None else returns.doubtful[chosen]
    return Returns(returns.world[chosen], returns.earned[chosen], doubtful)


class Share:
    """`count` worlds from `first` on. `create` makes their group on a server, by the name and the number of losses
    that it is given: those that begin anew draw from another seed. `anew`: nothing is repeated."""

    def __init__(
        self, index: int, first: int, count: int, create: Callable[[Host, str, int], Group], anew: Anew | None = None
    ) -> None:
        self.index = index
        self.first = first
        self.count = count
        self.create = create
        self.anew = anew
        self.name = ""  # of the fleet, and its own
        self.record: Any = None
        self.epoch = 0  # of its group: a server that comes back has an older one
        self.host: Host | None = None
        self._group: Group | None = None
        self.saved: bytes | None = None
        self.history: list[Call] = []  # since it was saved; a save begins another list
        self._counted: tuple[list[Call], int, int] = (self.history, 0, 0)  # of which so many calls have so many bytes
        self.current: Call | None = None  # a call whose reply nobody has had
        self.pending: Pending[Any] | Parted | None = None
        self.parted: Parted | None = None  # the last call was, and its rows are to be put together
        self.sent: list[Pending[Any]] = []  # GroupSends whose replies nobody has looked at
        self.out: set[int] = set()  # worlds that were sent and did not come back
        self.early: list[Rows] = []  # that came back while the share was made again, and nobody has had
        # episodes of each world whose returns nobody has told: of calls since it was saved, and of those before, which
        # no recording of a group that is made again has
        self._owed = np.zeros(count, np.intp)
        self._owed_before = np.zeros(count, np.intp)
        # of calls since it was saved, not sent yet; and of those, of what ended before a save that is still to count
        self._told: list[Returns] = []
        self._told_older: list[Returns] = []
        self.absent = np.zeros(count, np.intp)  # of these, the oldest, which its group's recording does not have
        # a save that is still to count: its bytes, how much of the history it has, and of how many episodes of each
        # world before it nobody has told the returns
        self._next: tuple[bytes, int, NDArray[Any]] | None = None
        # saves, each behind a call, until it counts in any case, as a learner need not tell all returns; and behind how
        # many calls the last one was
        self._patience = self._saved_behind = 0

    def __repr__(self) -> str:
        return f"<Share {self.index} of worlds {self.first} to {self.first + self.count - 1} on {self.host!r}>"

    @property
    def group(self) -> Group:
        assert self._group is not None
        return self._group

    @property
    def history_bytes(self) -> int:
        """Each call is counted once: this is asked for after every one, and thousands may be kept."""
        history, counted, size = self._counted
        if history is not self.history:
            counted, size = 0, 0
        size += sum(call.nbytes for call in self.history[counted:])
        self._counted = (self.history, len(self.history), size)
        return size

    def received(self, fields: dict[str, Any]) -> Rows:
        """Rows of a GroupReceive."""
        return self.group.made(fields, received(fields))

    # ---- where it is

    def leave(self) -> None:
        """Its server is lost."""
        if self.host is not None and self in self.host.shares:
            self.host.shares.remove(self)
        self.host = self._group = self.pending = self._next = None
        self.sent = []

    def stay(self, host: Host, group: Group, absent: NDArray[Any]) -> None:
        """It was to move, and found no place: its group there has gone through nothing since."""
        self.host, self._group, self.absent = host, group, absent
        host.shares.append(self)

    def lose(self) -> None:
        """Likewise; without repeating, what was under way there is over, and its returns are nobody's."""
        if self.anew is not None:
            self.anew.lose()
            self.saved, self._told, self._told_older = None, [], []
            self._owed_before += self._owed
            self._owed[:] = 0
        self.leave()

    def settle(self, host: Host) -> None:
        """As begin_settling(), until all is done."""
        carried_through(self.begin_settling(host))

    def begin_settling(self, host: Host) -> Generator[Pending[Any], None, None]:
        """Makes the group on a server, and brings it to where it was: from what was saved, by the calls since; the call
        whose reply nobody has had is under way again. Raises Differs where the server computes other bits. The share is
        the server's from now on; each call is given when it is under way, and is to be gone on with when its reply is
        there."""
        self.epoch += 1
        self.host = host
        host.shares.append(self)
        return self._settling(host, f"{self.name}.{self.index}.{self.epoch}")

    def _settling(self, host: Host, name: str) -> Generator[Pending[Any], None, None]:
        if self.saved is None:
            group = self.create(host, name, self.anew.losses if self.anew else 0)
        else:
            group = yield from Group.begin_from_saved(host, self.saved, name=name, record=self.record)
        self._group = group
        self.absent = self._owed_before.copy()
        if self.anew is not None:
            yield from self._begin_anew(self.anew)
            return
        yield from self._repeat()
        if self.current is not None and self.current.returns is not None:
            self.pending = self.current.begin_again(group)
        for one in self._told_older + self._told:
            group.tell_returns(*one)
        if self.current is not None and self.pending is None:
            self.begin(self.current)

    def _begin_anew(self, anew: Anew) -> Generator[Pending[Any], None, None]:
        """What was sent and did not come back: the ends of episodes come instead, and who was to begin one does."""
        away = np.array(sorted(self.out), np.intp)
        ends, begins = away[anew.is_untold[away]], away[~anew.is_untold[away]]
        first = None
        if len(ends) and anew.same_step:
            resetting = self.group.begin_reset(bits_of(ends, self.count), None, None)
            yield resetting
            first = self.group.made(resetting.fields(), ends)
        if len(begins):  # the action of a step that begins an episode counts for nothing
            numbers = np.zeros((len(begins), len(self.group.action)), self.group.dtype)
            sending = self.group.begin_send(bits_of(begins, self.count), numbers)
            yield sending
            sending.result()
        self.out = set(begins.tolist())
        if len(ends):
            self.early.append(anew.ends(self.group, ends, first))
        if self.current is not None:
            self.begin(self.current)

    def _repeat(self) -> Generator[Pending[Any], None, None]:
        self.out, self.early = set(), []
        window: list[tuple[Call, Pending[Any]]] = []
        untold: dict[int, tuple[int, Rows, int]] = {}  # worlds that came back, and that no call has had yet
        for call in self.history:
            if call.kind is Kind.RECEIVE:
                yield from self._check(window)
                yield from self._receive_again(call, untold)
                continue
            window.append((call, call.begin_again(self.group)))
            if call.kind is Kind.SEND:
                self.out |= set(call.worlds.tolist())
            if len(window) >= WINDOW:
                yield from self._check(window)
        yield from self._check(window)
        for _, rows, at in untold.values():
            self.early.append(part(rows, np.array([at])))

    def _check(self, window: list[tuple[Call, Pending[Any]]]) -> Generator[Pending[Any], None, None]:
        for call, pending in window:
            yield pending
            if call.kind is Kind.SEND:
                pending.result()
            elif digest_of(pending) != call.digest:
                raise self._differs()
        window.clear()

    def _receive_again(
        self, call: Call, untold: dict[int, tuple[int, Rows, int]]
    ) -> Generator[Pending[Any], None, None]:
        while missing := [world for world in call.rows if world not in untold]:
            receiving = self.group.begin_receive(len(missing))
            yield receiving
            rows = self.received(receiving.fields())
            digests = digests_of(rows)
            for at, world in enumerate(rows.worlds.tolist()):
                untold[world] = digests[world], rows, at
                self.out.discard(world)
        for world, digest in call.rows.items():
            if untold.pop(world)[0] != digest:
                raise self._differs()

    def _differs(self) -> Differs:
        address = self.host.address if self.host else "?"
        return Differs(
            f"the server at {address} answered a call on worlds {self.first} to {self.first + self.count - 1} with "
            f"other bits than "
            "were given before: it is another build, or what reads its memory is wrong; take it out of the fleet"
        )

    # ---- returns: in a recording that repeats some calls, they belong to the episodes that end in those

    def keep(self, saved: bytes) -> None:
        """It was saved, and what was recorded before is in the server's file, but for episodes that wait for their
        returns there. Where some do, it counts when the share is saved again and these have gone along with a call:
        until then they are repeated where the server is lost, by what was saved before."""
        if self._next is not None and self._waits(self._next[2], self._told_older):
            self._patience -= self._saved_behind < len(self.history)
            self._saved_behind = len(self.history)
            if self._patience > 0:
                return
        self.count_saved()
        self._next = saved, len(self.history), self._owed.copy()
        self._saved_behind, self._patience = len(self.history), PATIENCE_SAVES
        self._told_older, self._told = self._told, []
        if not self._waits(self._owed, self._told_older):
            self.count_saved()

    def _waits(self, owed: NDArray[Any], told: list[Returns]) -> bool:
        keeps_returns = self.record is not None and getattr(self.record, "returns", True)
        return bool(keeps_returns and self.anew is None and (owed.any() or told))

    @property
    def is_owed_returns(self) -> bool:
        """Of episodes that a group made of what is saved now would not know; of a learner that has told all others."""
        return self._waits(self._owed, []) and not self._owed_before.any()

    def keep_to_move(self, saved: bytes) -> Moved:
        """As keep(), and it counts at once: the group there ends, and takes the returns along. What it was before is
        for go_back()."""
        was = Moved(
            self.saved,
            self.history,
            self._owed.copy(),
            self._owed_before.copy(),
            list(self._told),
            list(self._told_older),
        )
        self._next, self._told = (saved, len(self.history), self._owed.copy()), []
        self.count_saved()
        return was

    def go_back(self, was: Moved | None) -> bool:
        """That group did not take them. False: there were none."""
        if was is None or not self._waits(was.owed, was.told + was.told_older):
            return False
        self.saved, self.history, self._owed, self._owed_before, self._told, self._told_older = was
        return True

    def count_saved(self) -> None:
        """Calls and returns from there on are those to be repeated."""
        if self._next is None:
            return
        saved, calls, untold = self._next
        self.saved, self.history, self._next = saved, self.history[calls:], None
        for call in self.history:
            call.older = []
        self._told_older = []
        self._owed_before += untold
        self._owed -= untold

    def count_ended(self, worlds: NDArray[Any], lost: NDArray[Any] | None = None) -> None:
        """Of a reply that is given: whoever is told their returns next is told of these. `lost`: no recording has
        these of them."""
        if lost is not None and len(lost):
            self._owed_before[lost] += 1
            self.absent[lost] += 1
            worlds = worlds[~np.isin(worlds, lost)]
        if len(worlds):
            np.add.at(self._owed, worlds, 1)

    def tell_returns(self, returns: Returns) -> None:
        """Of worlds of the share. What ended before it was saved is of an older recording than that of a group that was
        made again since."""
        is_here, is_new, is_older = np.ones((3, len(returns.world)), np.bool_)
        for i, world in enumerate(returns.world.tolist()):
            owed = self._owed_before if self._owed_before[world] > 0 else self._owed
            is_new[i] = owed is self._owed
            owed[world] = max(owed[world] - 1, 0)
            is_older[i] = is_new[i] and self._next is not None and self._next[2][world] > 0
            if is_older[i] and self._next is not None:
                self._next[2][world] -= 1
            is_here[i] = self.absent[world] == 0
            self.absent[world] -= not is_here[i]
        for told, chosen in ((self._told_older, is_older), (self._told, is_new & ~is_older)):
            if chosen.any():
                told.append(_chosen(returns, chosen))
        if is_here.any():
            self.group.tell_returns(*_chosen(returns, is_here))

    # ---- calls

    def begin(self, call: Call) -> None:
        """The call is under way; the share has left when its server is lost."""
        self.current = call
        if call.kind is not Kind.READ:  # which takes no returns along
            call.older, self._told_older = self._told_older, []
            call.returns, self._told = self._told, []
        parted = self.anew.part(self.group, call) if self.anew is not None else None
        self.pending = parted or call.begin(self.group)

    def finish(self) -> dict[str, Any]:
        """What the reply says, which is there; it is given from now on. (count_ended() is the caller's.)"""
        assert self.pending is not None and self.current is not None
        fields = self.pending.fields()
        if self.anew is not None:
            self._finish_anew(self.anew, self.current, self.pending)
        elif self.current.kind is not Kind.READ:
            assert isinstance(self.pending, Pending)
            self.current.digest = digest_of(self.pending)
            self.history.append(self.current)
        self.pending = self.current = None
        return fields

    def _finish_anew(self, anew: Anew, call: Call, pending: Pending[Any] | Parted) -> None:
        self.parted = pending if isinstance(pending, Parted) else None
        if call.kind is Kind.SEND:
            parted, self.parted = self.parted, None
            self.out |= set((call.worlds if parted is None else parted.others).tolist())
            if parted is not None:
                self.early.append(anew.ends(self.group, parted.told, parted.first_rows(self.group)))
