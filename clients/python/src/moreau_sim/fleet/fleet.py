# SPDX-License-Identifier: MIT
"""A fleet: calls over all shares, what becomes of them when a server is lost, and how they move."""

from __future__ import annotations

import dataclasses
import os
import secrets
import select
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import protocol as p
from .._asked import Named, Returns, actions_for, named, packed, returns_of, seeds_for, values_for
from .._owner import Owner, alone
from ..client import Pending
from ..errors import ConnectionLost, MoreauError, ResourceExhausted, ServerError
from ..group import Final, Group, Opinions, Rows, ended, joined, judged
from ..world import World
from .addresses import Source
from .anew import Anew
from .calls import Call, Kind, digests_of
from .host import LOOK_S, Host
from .rows import join, joined_final, moved_failure, moved_opinions, part
from .saving import SAVES_AT_ONCE, Saving, Schedule
from .servers import Servers, is_gone, named_refusal
from .share import Share
from .under_way import UnderWay

SHARES_PER_SERVER = 4
SHARE_WORLDS_MIN = 64
SETTLED_AT_ONCE = 2  # on one server: it has something to do while a reply is on its way


@dataclasses.dataclass(frozen=True)
class Event:
    """What happened to the fleet, in words."""

    time: float  # [s] since 1970
    kind: str  # joined, lost, restored, begun, superseded, moved, saved, drained, refused
    server: str  # its address
    text: str


@dataclasses.dataclass(slots=True)
class _Chosen:
    """What a mask names of a share."""

    share: Share
    bits: bytes | None  # as a mask has them; None: all
    worlds: NDArray[np.intp]  # of the share
    rows: slice  # where they stand among all that are named


def _cut(count: int, shares: int) -> list[tuple[int, int]]:
    """First world and number of worlds of each share: as equal as can be, the larger ones first."""
    each, more = divmod(count, shares)
    found, first = [], 0
    for index in range(shares):
        worlds = each + (index < more)
        found.append((first, worlds))
        first += worlds
    return found


def _part_of(parameter: p.GroupParameter, count: int, first: int, worlds: int) -> p.GroupParameter:
    values = np.asarray(parameter.values)
    if len(values) % count:
        raise ValueError(f"parameters: {len(values)} values are no whole number for each of {count} worlds")
    each = len(values) // count
    return dataclasses.replace(parameter, values=values[first * each : (first + worlds) * each])


class Fleet:
    """`count` worlds on several servers, with the calls of a Group. Its process owns it: where that ends, it ends. It
    belongs to one thread at a time, as a Client.

    addresses      HOST:PORT of each server, as a list; "file:PATH", "dns:NAME:PORT", or a function that gives a list.
                   Files, names and functions are asked again whenever a server is missed, and by refresh()
    template       a scene, as for Group.create
    shares         into how many groups the worlds are cut; default: four for each server, of 64 worlds at least
    seed, first_world, and action … opinion   as for Group.create, of all worlds
    record         keeps every episode, of each share in the file of the server that it is on
    lost_after_s   a server that leaves a Ping unanswered for so long is lost, as one that refuses or was restarted
    patience_s     how long a server is waited for when none is left
    save_every     calls between two saves; default: as many as keep saving below 3 % of the time
    on_loss        "REPEAT": as if nothing had happened, below. "TRUNCATE": nothing is saved nor kept; what a lost
                   server had under way is over, its worlds begin anew elsewhere, and each tells so with its next row:
                   truncated, and its end (Rows.final) is what was seen last of it
    on_event       is told what happens (Event); so is the list `events`

    A lost server's shares are made again on others, from the last save, and the calls since are repeated: the caller
    sees the same bits as if nothing had happened.
    """

    def __init__(
        self,
        addresses: Source,
        template: str | os.PathLike[str] | Mapping[str, Any] | p.Scene,
        *,
        count: int,
        shares: int | None = None,
        seed: int = 0,
        first_world: int = 0,
        parameters: Sequence[p.GroupParameter] = (),
        record: str | p.GroupRecord | None = None,
        name: str = "fleet",
        token: str | None = None,
        lost_after_s: float = 10.0,
        patience_s: float = 120.0,
        save_every: int | None = None,
        on_loss: str = "REPEAT",
        on_event: Callable[[Event], None] | None = None,
        **layout: Any,
    ) -> None:
        if isinstance(template, World):
            raise ValueError("template: a fleet's servers know no world of another; give its scene (World.scene)")
        if on_loss not in ("REPEAT", "TRUNCATE"):
            raise ValueError(f'on_loss: "REPEAT" or "TRUNCATE", not {on_loss!r}')
        if on_loss == "TRUNCATE" and save_every is not None:
            raise ValueError('save_every: with on_loss="TRUNCATE" nothing is saved, as nothing is repeated')
        self._owner = Owner("fleet")
        self.count = count
        self.events: list[Event] = []
        self.patience_s = patience_s
        self._on_event = on_event
        self._shares: list[Share] = []
        self._homeless: list[Share] = []
        self._schedule = Schedule(save_every)
        self._buffer: list[Rows] = []  # that came back, and nobody has received; worlds of the fleet
        self._receiving: dict[Share, Pending[Any]] = {}
        self._is_closed = False
        prefix = f"{name}.{secrets.token_hex(4)}"  # two fleets of one name are two
        self.servers = Servers(
            addresses, token=token, name=name, lost_after_s=lost_after_s, prefix=prefix + ".", tell=self._tell
        )
        self.servers.open()
        try:
            if count < 1:
                raise ValueError(f"count: a fleet has at least one world, not {count}")
            for index, (first, worlds) in enumerate(_cut(count, self._share_count(shares))):
                create = self._creator(template, first, worlds, first_world, seed, parameters, record, layout)
                anew = Anew(worlds, layout.get("autoreset") == "SAME_STEP") if on_loss == "TRUNCATE" else None
                share = Share(index, first, worlds, create, anew)
                share.name, share.record = prefix, record
                self._shares.append(share)
            self._homeless = list(self._shares)
            self._house()
        except BaseException:
            self.close()
            raise
        group = self._shares[0].group
        self.action, self.observation, self.extra, self.noise = (
            group.action,
            group.observation,
            group.extra,
            group.noise,
        )
        self.template_hash, self.time_step, self.dtype, self.name = (
            group.template_hash,
            group.time_step,
            group.dtype,
            name,
        )
        self.resumed = None

    def _share_count(self, shares: int | None) -> int:
        if shares is None:
            return max(1, min(SHARES_PER_SERVER * len(self.servers.hosts), self.count // SHARE_WORLDS_MIN))
        if not 1 <= shares <= self.count:
            raise ValueError(f"shares: {self.count} worlds are cut into 1 to {self.count} shares, not {shares}")
        return shares

    def _creator(
        self,
        template: Any,
        first: int,
        worlds: int,
        first_world: int,
        seed: int,
        parameters: Sequence[p.GroupParameter],
        record: Any,
        layout: dict[str, Any],
    ) -> Callable[[Host, str, int], Group]:
        of_share = [_part_of(one, self.count, first, worlds) for one in parameters]

        def create(host: Host, name: str, losses: int) -> Group:
            # who begins anew draws what was not drawn before
            sequence = np.random.SeedSequence([seed, losses]) if losses else None
            return Group.create(
                host,
                template,
                count=worlds,
                first_world=first_world + first,
                seed=seed if sequence is None else int(sequence.generate_state(1, np.uint64)[0]),
                parameters=of_share,
                record=record,
                name=name,
                **layout,
            )

        return create

    def __repr__(self) -> str:
        servers = ", ".join(f"{host.address} ({host.worlds})" for host in self.servers.hosts)
        return f"<Fleet of {self.count} worlds in {len(self._shares)} shares on {servers}>"

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Destroys all groups. Recordings are on their disks when it returns. A second time, or in a fork, it does
        nothing."""
        if not self._is_closed and self._owner.is_here:
            self._close()

    @alone
    def _close(self) -> None:
        self._is_closed = True
        try:
            self._close_groups()
        finally:
            self.servers.close()

    def _close_groups(self) -> None:
        """A server that turns out to be gone has ended its own; what is recorded is made again on the others, so that
        their files have it."""
        self.patience_s = 0.0  # where none is left, nobody is waited for
        todo = list(self._shares)
        while todo:
            share = todo.pop()
            host = share.host
            if share._group is None or host is None:
                continue
            try:
                share.group.close()
                host.shares.remove(share)
            except MoreauError as why:
                is_kept = share.record is not None and share.anew is None
                if not is_kept or not is_gone(why) or self.servers.hosts == [host]:
                    continue
                with suppress(MoreauError):
                    self._lose(host, why)
                    self._house()
                    todo.append(share)

    @property
    def recordings(self) -> list[str]:
        """Of each share, the id of the recording that it is in now."""
        return [share.group.recording for share in self._shares]

    @property
    def recording(self) -> str:
        """Of the first share; "": the fleet is not recorded."""
        return self._shares[0].group.recording

    @property
    def shares(self) -> list[Share]:
        return list(self._shares)

    def _tell(self, kind: str, server: str, text: str) -> None:
        event = Event(time.time(), kind, server, text)
        self.events.append(event)
        if self._on_event is not None:
            self._on_event(event)

    # ---- losing and restoring

    def _lose(self, host: Host, why: Exception) -> None:
        """All that it held is without a home."""
        self.servers.drop(host)
        lost = list(host.shares)
        for share in lost:
            if share.anew is not None and share._group is not None and share.group.recording:
                self._tell(
                    "superseded",
                    host.address,
                    f"recording {share.group.recording} on {host.address} ends there: episodes that were under way, "
                    "and returns that were not sent yet, are lost with it",
                )
            elif share._group is not None and share.group.recording:
                behind = 0 if share.saved is None else len(share.history)
                self._tell(
                    "superseded",
                    host.address,
                    f"recording {share.group.recording} on {host.address} goes on elsewhere: its last {behind} calls "
                    f"are repeated, "
                    "with their returns, in another recording; returns of earlier episodes that were not sent yet "
                    "are lost with it",
                )
            share.lose()
            self._receiving.pop(share, None)
        self._homeless += lost
        worlds = sum(share.count for share in lost)
        what = "begin anew" if any(share.anew for share in lost) else "move"
        self._tell("lost", host.address, f"{why}; {len(lost)} shares of {worlds} worlds {what}")

    def _house(self) -> None:
        """Every share has a server again. Each server makes some of them, while others make others."""
        until = time.monotonic() + self.patience_s
        under_way: list[UnderWay[None]] = []
        try:
            while self._homeless or under_way:
                self._begin_settling(under_way, until)
                if not self._go_on_settling(under_way):
                    self._wait_any(list(dict.fromkeys(one.host for one in under_way)))
                self._forget_lost(under_way)
        except BaseException:
            for one in under_way:
                one.close()
                self._abandon(one.share)
            raise

    def _begin_settling(self, under_way: list[UnderWay[None]], until: float) -> None:
        while self._homeless:
            share = self._homeless[0]
            host = self.servers.choose(share.count, until)
            if sum(one.host is host for one in under_way) >= SETTLED_AT_ONCE:
                return
            del self._homeless[0]
            under_way.append(UnderWay(share, host, share.begin_settling(host)))

    def _go_on_settling(self, under_way: list[UnderWay[None]]) -> bool:
        """With those whose replies have come; whether there were any."""
        ready = [one for one in under_way if one.is_ready]
        for one in ready:
            if one.host not in self.servers.hosts:  # lost with one before
                continue
            try:
                if one.go_on():
                    under_way.remove(one)
                    self._settled(one)
            except MoreauError as why:
                if not is_gone(why):
                    raise named_refusal(one.host.address, why) from None
                if one.host in self.servers.hosts:
                    self._lose(one.host, why)
        return bool(ready)

    def _forget_lost(self, under_way: list[UnderWay[None]]) -> None:
        """What was under way on a server that was lost: _lose() has made its shares homeless."""
        for one in list(under_way):
            if one.host not in self.servers.hosts:
                one.close()
                under_way.remove(one)

    def _settled(self, one: UnderWay[None]) -> None:
        share = one.share
        self._take_early(share)
        if share.epoch > 1:
            worlds = f"worlds {share.first} to {share.first + share.count - 1}"
            how, kind = ("go on", "restored") if share.anew is None or share.saved else ("begin anew", "begun")
            text = f"{worlds} {how} at {one.host.address}, after {time.monotonic() - one.begun:.2f} s"
            self._tell(kind, one.host.address, text)

    def _take_early(self, share: Share) -> None:
        early, share.early = share.early, []
        for rows in early:
            self._came_back(share, rows)

    def _abandon(self, share: Share) -> None:
        """It found no place there, and nothing of it stays."""
        if share._group is not None:
            with suppress(MoreauError):
                share.group.close()
        share.leave()
        if share not in self._homeless:
            self._homeless.append(share)

    def _wait_any(self, hosts: Sequence[Host]) -> None:
        """Takes what has come from any of them, and looks after those that are silent."""
        ready = [host for host in hosts if host.has_frame]
        if not ready:
            ready = select.select([host for host in hosts if host.fileno() >= 0], [], [], LOOK_S)[0]
        for host in hosts:
            try:
                if host in ready or host.fileno() < 0:
                    host.take()
                else:
                    host.look()
            except ConnectionLost as why:
                self._lose(host, why)

    # ---- calls on all shares

    def _carry_out(self, calls: Sequence[tuple[Share, Call]]) -> dict[Share, dict[str, Any]]:
        """What the replies say. Each share's call is done exactly once, whatever becomes of its server."""
        told: dict[Share, dict[str, Any]] = {}
        refusals: list[ServerError] = []
        for share, call in calls:
            share.current = call
        for share, call in calls:
            if share.host is not None and share.pending is None:
                self._begin(share, call)
        waiting = [share for share, _ in calls]
        while waiting:
            self._house()
            for share in list(waiting):
                if share.pending is not None and share.pending.done and self._finish(share, told, refusals):
                    waiting.remove(share)
            if waiting and not self._homeless:
                self._wait_any(list(dict.fromkeys(share.host for share in waiting if share.host is not None)))
        if refusals:
            for share, fields in told.items():  # nobody has these rows
                share.count_ended(ended(fields))
            raise refusals[0]
        return told

    def _begin(self, share: Share, call: Call) -> None:
        host = share.host
        assert host is not None
        try:
            share.begin(call)
        except ConnectionLost as why:
            self._lose(host, why)

    def _finish(self, share: Share, told: dict[Share, dict[str, Any]], refusals: list[ServerError]) -> bool:
        host = share.host
        assert host is not None
        try:
            told[share] = share.finish()
        except MoreauError as why:
            if is_gone(why):
                self._lose(host, why)
                return False
            if not isinstance(why, ServerError):
                raise
            share.current = share.pending = None
            refusals.append(why)
        return True

    def _choose(self, asked: Named) -> list[_Chosen]:
        """Of each share that has some."""
        if asked.mask is None:
            return [
                _Chosen(one, None, np.arange(one.count), slice(one.first, one.first + one.count))
                for one in self._shares
            ]
        chosen: list[_Chosen] = []
        row = 0
        for share in self._shares:
            own = asked.mask[share.first : share.first + share.count]
            worlds = np.flatnonzero(own)
            if len(worlds):
                chosen.append(_Chosen(share, packed(own), worlds, slice(row, row + len(worlds))))
                row += len(worlds)
        return chosen

    def _on_rows(self, asked: Named, chosen: Sequence[_Chosen], calls: Sequence[Call]) -> Rows:
        begun = time.monotonic()
        told = self._carry_out([(one.share, call) for one, call in zip(chosen, calls)])
        rows = self._filled(asked, chosen, told, calls[0].kind is not Kind.READ)
        if calls[0].kind is not Kind.READ:
            self._schedule.called(time.monotonic() - begun)
            self._save_if_due()
        return judged(rows)

    def _filled(
        self, asked: Named, chosen: Sequence[_Chosen], told: Mapping[Share, dict[str, Any]], is_seen: bool
    ) -> Rows:
        """The replies of the shares, each where it belongs."""
        rows = self._shares[0].group.blank(asked.worlds)
        finals: list[tuple[int, Final]] = []
        opinions: list[Opinions] = []
        for one in chosen:
            share, first = one.share, one.share.first
            parted, share.parted = share.parted, None
            if share.anew is not None and parted is not None:
                final, failures, doubts = share.anew.fill(share.group, parted, told[share], rows, one.rows)
            else:
                final, failures, doubts = share.group.fill(told[share], rows, one.rows)
            share.count_ended(final.world, None if parted is None else parted.told)
            if share.anew is not None and is_seen:
                seen = rows.observation[one.rows], rows.extra[one.rows]
                share.anew.see(one.worlds, *seen, final, failures)
            finals.append((first, final))
            rows.failures += [moved_failure(failure, first) for failure in failures]
            opinions.append(moved_opinions(doubts, first))
        rows.final, rows.opinions = joined_final(finals), joined(opinions)
        return rows

    def _actions(self, actions: ArrayLike, worlds: NDArray[np.intp]) -> NDArray[Any]:
        # kept until the next save
        return actions_for(worlds, actions, len(self.action), self.dtype, copy=True)

    @alone
    def reset(
        self, mask: ArrayLike | None = None, *, seed: int | Sequence[int] | None = None, values: ArrayLike | None = None
    ) -> Rows:
        """As Group.reset: the seeds are of the fleet's worlds, so they give the same on any number of servers."""
        asked = named(mask, self.count)
        rows = len(asked.worlds)
        seeds, numbers = seeds_for(rows, seed), values_for(rows, values, len(self.noise))
        chosen = self._choose(asked)
        calls = [
            Call(
                Kind.RESET,
                one.worlds,
                one.bits,
                None if numbers is None else numbers[one.rows],
                seeds if seeds is None or len(seeds) == 1 else seeds[one.rows],
            )
            for one in chosen
        ]
        return self._on_rows(asked, chosen, calls)

    @alone
    def step(self, actions: ArrayLike, mask: ArrayLike | None = None) -> Rows:
        """As Group.step, on all servers at the same time."""
        asked = named(mask, self.count)
        numbers, chosen = self._actions(actions, asked.worlds), self._choose(asked)
        calls = [Call(Kind.STEP, one.worlds, one.bits, numbers[one.rows]) for one in chosen]
        return self._on_rows(asked, chosen, calls)

    @alone
    def read(self, mask: ArrayLike | None = None) -> Rows:
        """As Group.read."""
        asked = named(mask, self.count)
        chosen = self._choose(asked)
        return self._on_rows(asked, chosen, [Call(Kind.READ, one.worlds, one.bits) for one in chosen])

    def over(self) -> NDArray[np.bool_]:
        return np.zeros(self.count, np.bool_)

    @alone
    def tell_returns(self, worlds: ArrayLike, returns: ArrayLike, doubtful: ArrayLike | None = None) -> None:
        """As Group.tell_returns."""
        world, earned, bad = returns_of(worlds, returns, doubtful)
        for share in self._shares:
            at = np.flatnonzero((world >= share.first) & (world < share.first + share.count))
            if len(at):
                share.tell_returns(Returns(world[at] - share.first, earned[at], None if bad is None else bad[at]))

    @alone
    def opinions(self) -> Opinions:
        """As Group.opinions, of all shares. Those of a server that is lost come again with later rows."""
        return joined([moved_opinions(share.group.opinions(), share.first) for share in self._shares])

    # ---- sending and receiving

    @staticmethod
    def _moved(share: Share, rows: Rows) -> Rows:
        return join([(share.first, rows)])

    @alone
    def send(self, actions: ArrayLike, mask: ArrayLike | None = None) -> None:
        """As Group.send: the worlds step, on their servers, while the caller does something else."""
        asked = named(mask, self.count)
        numbers, chosen = self._actions(actions, asked.worlds), self._choose(asked)
        for one in chosen:
            away = one.share.out.intersection(one.worlds.tolist())
            if away:
                raise ValueError(f"mask: world {one.share.first + min(away)} was sent: receive it first")
        self._carry_out([(one.share, Call(Kind.SEND, one.worlds, one.bits, numbers[one.rows])) for one in chosen])
        for one in chosen:
            if one.share.anew is None:
                one.share.out |= set(one.worlds.tolist())
            else:
                self._take_early(one.share)

    @alone
    def receive(self, count: int | None = None) -> Rows:
        """As Group.receive: rows of the `count` worlds that finished first, on whichever server, or of all that were
        sent."""
        begun = time.monotonic()
        there = sum(len(rows.worlds) for rows in self._buffer)
        total = there + sum(len(share.out) for share in self._shares)
        count = total if count is None else count
        if not 1 <= count <= total:
            raise ValueError(f"count: {total} worlds were sent and not received, not {count}")
        while there < count:
            there += self._receive_some(count - there)
        taken = self._take(count)
        self._schedule.called(time.monotonic() - begun)
        self._save_if_due()
        return judged(taken)

    def _take(self, count: int) -> Rows:
        parts: list[tuple[int, Rows]] = []
        while count > 0:
            rows = self._buffer.pop(0)
            have = len(rows.worlds)
            if have > count:
                self._buffer.insert(0, part(rows, np.arange(count, have)))
                rows = part(rows, np.arange(count))
            parts.append((0, rows))
            count -= len(rows.worlds)
        return join(parts)

    def _receive_some(self, wanted: int) -> int:
        """Asks every share that has worlds under way for a part of them, and takes what comes first."""
        away = [share for share in self._shares if share.out]
        for share in away:
            if share not in self._receiving and share.host is not None:
                asked = min(len(share.out), -(-wanted // len(away)))
                try:
                    self._receiving[share] = share.group.begin_receive(asked)
                except ConnectionLost as why:
                    self._lose(share.host, why)
        self._house()
        count = self._collect()
        if count == 0:
            hosts = [share.host for share in self._receiving if share.host is not None]
            if hosts:
                self._wait_any(list(dict.fromkeys(hosts)))
            count = self._collect()
        return count

    def _collect(self) -> int:
        """Rows of the receives that are answered, and those that came while a share was made again."""
        count = 0
        for share, pending in list(self._receiving.items()):
            host = share.host
            if not pending.done or host is None:
                continue
            del self._receiving[share]
            try:
                rows = share.received(pending.fields())
            except MoreauError as why:
                if not is_gone(why):
                    raise
                self._lose(host, why)
                continue
            self._came_back(share, rows)
            count += len(rows.worlds)
        return count

    def _came_back(self, share: Share, rows: Rows) -> None:
        """Rows that came back, for whoever receives next; made again, the share gives them no second time."""
        lost = None
        if share.anew is None:
            share.history.append(Call(Kind.RECEIVE, rows.worlds, rows=digests_of(rows)))
        else:
            lost = rows.worlds[share.anew.is_untold[rows.worlds]]
            share.anew.see(rows.worlds, rows.observation, rows.extra, rows.final, rows.failures)
        share.out -= set(rows.worlds.tolist())
        share.count_ended(rows.final.world, lost)
        self._buffer.append(self._moved(share, rows))

    # ---- saving and moving

    def _bring_home(self) -> None:
        """What was sent is received, and waits here."""
        while any(share.out for share in self._shares) or self._homeless:
            self._receive_some(sum(len(share.out) for share in self._shares))

    def _save_if_due(self) -> None:
        if self._shares[0].anew is None and self._schedule.is_due(max(share.history_bytes for share in self._shares)):
            self.save()

    @alone
    def save(self) -> None:
        """Saves every share: what is lost from now on begins here. It is done by itself, now and then."""
        begun = time.monotonic()
        self._bring_home()
        todo = list(self._shares)
        under_way: list[Saving] = []
        try:
            while todo or under_way:
                self._house()
                self._begin_saves(todo, under_way)
                if not self._go_on_saving(todo, under_way):
                    self._wait_any(list(dict.fromkeys(one.host for one in under_way)))
        finally:
            for one in under_way:
                one.close()
        seconds = time.monotonic() - begun
        self._schedule.saved(seconds)
        size = sum(len(share.saved or b"") for share in self._shares)
        self._tell(
            "saved",
            "",
            f"{len(self._shares)} shares saved, {size} bytes in {seconds:.3f} s; the next in {self._schedule.every} "
            f"calls",
        )

    @staticmethod
    def _begin_saves(todo: list[Share], under_way: list[Saving]) -> None:
        """As many at once as each server is asked for."""
        for share in list(todo):
            host = share.host
            if host is not None and sum(one.host is host for one in under_way) < SAVES_AT_ONCE:
                under_way.append(Saving(share, host))
                todo.remove(share)

    def _go_on_saving(self, todo: list[Share], under_way: list[Saving]) -> bool:
        """With those whose replies have come; whether there were any. Whose server was lost is to be saved again."""
        ready = [one for one in under_way if one.is_ready]
        for one in ready:
            try:
                if one.go_on():
                    under_way.remove(one)
            except MoreauError as why:
                under_way.remove(one)
                if not is_gone(why):
                    raise
                todo.append(one.share)
                if one.share.host is one.host:
                    self._lose(one.host, why)
        return bool(ready)

    def _move(self, share: Share, host: Host) -> None:
        """Between two calls: saved where it is, made again there, destroyed here; or made again of what was saved
        before and by the calls since, as long as it is owed returns. Where it finds no place there, it stays; where one
        of the two is lost, the others have its shares."""
        before, old, absent = share.host, share.group, share.absent
        assert before is not None
        try:
            was = None if share.is_owed_returns else share.keep_to_move(old.save())
        except MoreauError as why:
            if not is_gone(why):
                raise
            self._lose(before, why)
            self._house()
            return
        share.leave()
        try:
            share.settle(host)
        except BaseException as why:
            self._stay(share, before, old, absent)
            share.go_back(was)
            if not isinstance(why, MoreauError):
                raise
            if not is_gone(why):
                raise named_refusal(host.address, why) from None
            self._lose(host, why)
            self._house()
            return
        self._tell(
            "moved",
            host.address,
            f"worlds {share.first} to {share.first + share.count - 1} move from {before.address} to {host.address}",
        )
        try:
            old.close()  # with its returns
        except MoreauError as why:
            if not is_gone(why):
                return
            if share.go_back(was):  # nothing of the group that was made stays
                self._abandon(share)
            if before in self.servers.hosts:
                self._lose(before, why)
            self._house()

    def _stay(self, share: Share, before: Host, old: Group, absent: NDArray[Any]) -> None:
        self._abandon(share)
        self._homeless.remove(share)
        share.stay(before, old, absent)

    @alone
    def rebalance(self) -> None:
        """Shares move from servers with many worlds for each lane to those with few."""
        self._bring_home()
        while True:
            hosts = self.servers.open_hosts()
            full = max(hosts, key=lambda host: host.load_with(0))
            if not full.shares:
                return
            share = min(full.shares, key=lambda one: one.count)
            empty = min(hosts, key=lambda host: host.load_with(share.count))
            if empty is full or empty.load_with(share.count) >= full.load_with(0):
                return
            self._move(share, empty)

    @alone
    def add(self, address: str) -> None:
        """A server joins, and gets its part of the shares."""
        self.servers.add(address)
        self.rebalance()

    @alone
    def drain(self, address: str) -> None:
        """All shares of a server move to the others; it leaves the fleet."""
        host = self.servers.of(address)
        if len(self.servers.open_hosts()) < 2:
            raise ValueError(f"{address} is the last server of the fleet: add another one first")
        self._bring_home()
        self.servers.draining.add(address)
        try:
            while host.shares:
                share = host.shares[0]
                self._move(share, self.servers.choose(share.count, time.monotonic()))
        except BaseException:  # it keeps what found no place
            self.servers.draining.discard(address)
            raise
        self.servers.drop(host)
        self._tell("drained", address, f"{address} is drained and has left the fleet")

    @alone
    def refresh(self) -> None:
        """Asks for the addresses again: who is new joins, and gets its part. Who has no room for it is told of
        (`events`), and all stays as it is."""
        if self.servers.look_again():
            try:
                self.rebalance()
            except ResourceExhausted as full:
                self._tell("refused", "", str(full))
