# SPDX-License-Identifier: MIT
"""The servers of a fleet: who is there, who may join, and who holds what."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from ..errors import ConnectionLost, MoreauError, NotFound, ServerError, Unavailable
from .addresses import Source, find
from .host import Host

LIST_MAX = 1000  # groups that a server lists at once
PAUSE_S = 0.2  # before a server that is missed is asked for again


class Servers:
    """Addresses are asked for again whenever a server is missed: what is new there joins.

    prefix   of the names of this fleet's groups
    tell     is told, in words, who comes and goes
    """

    def __init__(
        self,
        source: Source,
        *,
        token: str | None,
        name: str,
        lost_after_s: float,
        prefix: str,
        tell: Callable[[str, str, str], None],
    ) -> None:
        self.source = source
        self.token = token
        self.name = name
        self.lost_after_s = lost_after_s
        self.prefix = prefix
        self.tell = tell
        self.hosts: list[Host] = []
        self.draining: set[str] = set()  # addresses that take no more shares
        self.dynamics_version: int | None = None

    # ---- coming

    def _admit(self, address: str) -> Host:
        """Connects, and judges whether the server fits in. What it holds of this fleet is older, and goes."""
        host = Host(address, token=self.token, name=self.name, lost_after_s=self.lost_after_s)
        try:
            self._judge(host)
            self._destroy_old(host)
        except BaseException:
            host.close()
            raise
        return host

    def _judge(self, host: Host) -> None:
        version = host.welcome.dynamics_version
        if self.dynamics_version is not None and version != self.dynamics_version:
            raise ValueError(
                f"the server at {host.address} is of dynamics version {version}, the fleet's of "
                f"{self.dynamics_version}: "
                "a fleet is of one version, as another computes other bits"
            )
        if host.welcome.golden is False:
            raise ValueError(
                f"the server at {host.address} is a build that computes other bits ({host.welcome.build}): take it "
                f"out of the fleet"
            )
        for other in self.hosts:
            if other.instance == host.instance:
                raise ValueError(f"{other.address} and {host.address} are two addresses of one server: name it once")

    def _destroy_old(self, host: Host) -> None:
        groups, first, total = [], 0, 1
        while first < total:
            reply = host.group_list(first=first, count=LIST_MAX)
            groups += reply.groups
            total, first = reply.total or 0, first + LIST_MAX
        for group in groups:
            if (group.name or "").startswith(self.prefix):
                with suppress(MoreauError):  # somebody else may have been quicker
                    host.group_destroy(group=group.group)

    def open(self) -> None:
        """All that are named, or none: a sentence says which is wrong, and why."""
        addresses = find(self.source)
        if not addresses:
            raise ValueError("a fleet needs a server: the list of addresses is empty")
        try:
            for address in addresses:
                try:
                    host = self._admit(address)
                except ServerError as refusal:
                    raise named_refusal(address, refusal) from None
                self.dynamics_version = host.welcome.dynamics_version
                self.hosts.append(host)
                self.tell("joined", address, f"{address} joins with {host.lanes} lanes")
        except BaseException:
            self.close()
            raise

    def look_again(self) -> list[Host]:
        """Those that are new, or back."""
        joined = []
        with suppress(ValueError):  # a file that is being written, a name that is not known for now
            known = {host.address for host in self.hosts} | self.draining
            for address in find(self.source):
                if address in known:
                    continue
                try:
                    host = self._admit(address)
                except ConnectionLost:
                    continue
                except (ValueError, MoreauError) as refusal:
                    self.tell("refused", address, str(refusal))
                    continue
                self.hosts.append(host)
                joined.append(host)
                self.tell("joined", address, f"{address} joins with {host.lanes} lanes")
        return joined

    def add(self, address: str) -> Host:
        """One that the source does not name."""
        if any(host.address == address for host in self.hosts):
            raise ValueError(f"{address} is in the fleet")
        self.draining.discard(address)
        host = self._admit(address)
        self.hosts.append(host)
        self.tell("joined", address, f"{address} joins with {host.lanes} lanes")
        return host

    # ---- going

    def drop(self, host: Host) -> None:
        if host in self.hosts:
            self.hosts.remove(host)
        host.close()

    def close(self) -> None:
        for host in self.hosts:
            host.close()
        self.hosts = []

    # ---- who takes a share

    def of(self, address: str) -> Host:
        for host in self.hosts:
            if host.address == address:
                return host
        there = ", ".join(host.address for host in self.hosts)
        raise ValueError(f"{address} is not in the fleet: there are {there}")

    def open_hosts(self) -> list[Host]:
        return [host for host in self.hosts if host.address not in self.draining]

    def choose(self, worlds: int, until: float) -> Host:
        """The one with the fewest worlds for each of its lanes; waits for one until then (time.monotonic)."""
        while True:
            candidates = self.open_hosts()
            if candidates:
                return min(candidates, key=lambda host: host.load_with(worlds))
            self.look_again()
            if not self.open_hosts():
                if time.monotonic() > until:
                    raise ConnectionLost("the fleet has no server left: none of its addresses answers")
                time.sleep(PAUSE_S)


def is_gone(error: Exception) -> bool:
    """Whether a share has to be made again elsewhere: its server, or its group there, is no more."""
    return isinstance(error, (ConnectionLost, Unavailable)) or (isinstance(error, NotFound) and error.field == "group")


def named_refusal(address: str, refusal: MoreauError) -> MoreauError:
    """The same, and who it is that refuses."""
    if isinstance(refusal, ServerError):
        refusal.args = (f"the server at {address} refuses: {refusal}",)
    return refusal
