# SPDX-License-Identifier: MIT
"""Episodes of several servers and files as one list, in which what was recorded twice stands once.

    with moreau_sim.Runs(["10.0.0.1:7667", "lost.db"]) as runs:
        for one in runs:
            print(one.id, one.length, one.return_sum, one.source)
        arrays = runs.open(runs[0]).arrays()

Where a fleet loses a server, or a group goes on from a recording, the new recording repeats, or replaces, what the old
one has behind the step from which it goes on: such episodes are *superseded*.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from . import protocol as p
from .client import Client
from .episode import Episode
from .errors import ConnectionLost
from .launch import launch

LIST_MAX = 10_000  # episodes that are asked for at once
RECORDING_DIGITS = 24  # with which ids of one recording begin
# of a share of a fleet: its name in all its recordings, and which of them it is
_SHARE = re.compile(r"(.*\.[0-9a-f]{8}\.\d+)\.(\d+)")


@dataclass(eq=False)
class Run:
    """An episode, and where it is."""

    info: p.EpisodeInfo
    source: str  # as it was named
    return_sum: float | None  # also of the episode that this one repeats
    superseded_by: str = ""  # id of the episode from which on another recording has what this one's has; "": it counts

    @property
    def id(self) -> str:
        return self.info.episode or ""

    @property
    def length(self) -> int:
        """Steps from where it began, in whichever recording."""
        before = (self.info.parent_step or 0) if self.info.turn is not None else 0
        return before + (self.info.steps or 0)

    def __repr__(self) -> str:
        state = f", superseded by {self.superseded_by[:8]}" if self.superseded_by else ""
        return f"<Run {self.id[:8]} {self.info.name!r}, {self.length} steps, in {self.source}{state}>"


class _Recording:
    """Of a group: which episodes each of its worlds had, in order, and what it goes on from."""

    def __init__(self, runs: list[Run]) -> None:
        self.id = runs[0].id[:RECORDING_DIGITS]
        self.begun = min(run.info.begun or 0.0 for run in runs)
        self.parent = next((run.info.parent[:RECORDING_DIGITS] for run in runs if run.info.parent), "")
        share = _SHARE.fullmatch(runs[0].info.world_name or "")
        self.share, self.epoch = (share[1], int(share[2])) if share else ("", 0)
        self.worlds: dict[int, list[Run]] = {}
        for run in sorted(runs, key=lambda run: run.id):
            self.worlds.setdefault(run.info.world_index or 0, []).append(run)

    def repeats(self, other: _Recording) -> bool:
        """Whether it goes on from the other, or both go on from the same."""
        is_share_again = self.share != "" and self.share == other.share and other.epoch < self.epoch
        return other is not self and (other.id == self.parent or (is_share_again and other.parent == self.parent))


def _key(run: Run) -> tuple[int, int]:
    return run.info.seed or 0, run.info.turn or 0


def _is_same(one: Run, other: Run) -> bool:
    """Whether both may be recordings of one episode, the first as far as it goes."""
    is_cut = one.info.state != p.Episode.State.COMPLETE
    returns = (one.info.return_sum, other.info.return_sum)
    return (
        _key(one) == _key(other)
        and (one.length == other.length or (is_cut and one.length < other.length))
        and (None in returns or returns[0] == returns[1])
    )


def _overlap(old: list[Run], new: list[Run]) -> int:
    """Where, in a world's episodes, those begin that the new recording has again. Seeds and turns tell, and where the
    same come again and again, what became of them."""
    at = [i for i, run in enumerate(old) if _key(run) == _key(new[0]) and run.length >= (new[0].info.parent_step or 0)]
    alike = [i for i in at if all(map(_is_same, old[i:], new))]
    return (alike or at or [len(old)])[-1]


def supersede(runs: Iterable[Run]) -> None:
    """Marks the episodes that another recording has again."""
    parts: dict[str, list[Run]] = {}
    for run in runs:
        if run.info.turn is not None:  # of a group
            parts.setdefault(run.id[:RECORDING_DIGITS], []).append(run)
    recordings = sorted(map(_Recording, parts.values()), key=lambda one: (one.epoch, one.begun))
    for new in recordings:
        for old in (one for one in recordings if new.repeats(one)):
            for world, again in new.worlds.items():
                before = old.worlds.get(world, [])
                first = _overlap(before, again)
                for k, run in enumerate(before[first:]):
                    run.superseded_by = run.superseded_by or again[0].id
                    if k < len(again) and _is_same(run, again[k]) and again[k].return_sum is None:
                        again[k].return_sum = run.return_sum  # the client told it once


def _is_file(source: str | os.PathLike[str]) -> bool:
    if not isinstance(source, str):
        return True
    if source.startswith("unix:"):
        return False
    return pathlib.Path(source).is_file() or source.endswith(".db") or os.sep in source


class Runs(Sequence[Run]):
    """Episodes of several servers and files, oldest first: those that count. An episode that several have is listed
    once.

    sources      addresses of servers (HOST:PORT, unix:PATH), paths of their files, or clients. A file is opened by a
                 server of this process, as the next start would open it; one that a server uses is read by its address
    name         part of the episodes' name; default: all
    token        of the servers

    superseded   those that another recording has again, each of which says by which
    damaged      sentences on what cannot be read
    """

    def __init__(
        self, sources: Iterable[str | os.PathLike[str] | Client], *, name: str | None = None, token: str | None = None
    ) -> None:
        self._open = contextlib.ExitStack()
        self._runs: list[Run] = []
        self.superseded: list[Run] = []
        self._clients: dict[str, Client] = {}
        self.damaged: list[str] = []
        every: dict[str, Run] = {}
        try:
            for source in sources:
                where = source.address if isinstance(source, Client) else os.fspath(source)
                if where in self._clients:
                    continue
                client = self._clients[where] = (
                    source if isinstance(source, Client) else self._reach(where, _is_file(source), token)
                )
                for info in _listed(client, name):
                    if info.damage:
                        self.damaged.append(f"{where}: {info.damage}")
                    elif info.episode:
                        every.setdefault(info.episode, Run(info, where, info.return_sum))
        except BaseException:
            self.close()
            raise
        supersede(every.values())
        ordered = sorted(every.values(), key=lambda run: (run.info.begun or 0.0, run.id))
        self._runs = [run for run in ordered if not run.superseded_by]
        self.superseded = [run for run in ordered if run.superseded_by]

    def _reach(self, where: str, is_file: bool, token: str | None) -> Client:
        if not is_file:
            return self._open.enter_context(Client(where, token=token, name="moreau_sim.Runs"))
        if not pathlib.Path(where).is_file():
            raise FileNotFoundError(f"{where}: there is no such file of episodes")
        try:
            server = self._open.enter_context(launch(db=where, workers=1))
        except ConnectionLost as error:
            raise ConnectionLost(f"{where} cannot be opened (if a server uses it, name its address): {error}") from None
        return self._open.enter_context(server.client(name="moreau_sim.Runs"))

    def open(self, run: Run) -> Episode:
        """Its numbers; while the Runs are open."""
        client = self._clients[run.source]
        return Episode(client, run.id, db=run.source if os.path.isfile(run.source) else None)

    def close(self) -> None:
        """Ends the connections and servers that were opened for it; the list stays."""
        self._open.close()

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Runs: {len(self._runs)} episodes in {', '.join(self._clients)}, {len(self.superseded)} superseded>"

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        return self._runs[index]


def _listed(client: Client, name: str | None) -> Iterator[p.EpisodeInfo]:
    first, total = 0, 1
    while first < total:
        reply = client.episode_list(name=name, first=first, count=LIST_MAX)
        yield from reply.episodes
        # newest first: what is recorded meanwhile moves the rest back, and a few come twice
        total, first = reply.total or 0, first + max(len(reply.episodes), 1)
