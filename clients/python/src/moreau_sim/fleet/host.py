# SPDX-License-Identifier: MIT
"""One server of a fleet: a connection that comes back where it was cut, and knows a dead server from a busy one."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING

from .. import protocol as p
from ..client import Client, Pending
from ..errors import ConnectionLost, MoreauError

if TYPE_CHECKING:
    from .share import Share

# of lost_after_s: for so long it may be silent before it is asked whether it lives
PATIENCE = 0.25
LOOK_S = 0.1  # so often the silent ones are looked after


class Host(Client):
    """A server that holds shares. Lost is who refuses the connection, was restarted, or leaves a Ping unanswered for
    lost_after_s: a Ping needs no lane, so a server that steps for long answers it."""

    def __init__(self, address: str, *, token: str | None, name: str, lost_after_s: float) -> None:
        self.shares: list[Share] = []
        self.lost_after_s = lost_after_s
        self._heard = time.monotonic()  # when something last came
        self._ping: Pending[p.Pong] | None = None
        self._asked = 0.0
        super().__init__(address, token=token, name=name, timeout_s=lost_after_s, resumable=True)
        self.instance = self.welcome.instance or 0
        self.lanes = self.welcome.lanes or 1

    def __repr__(self) -> str:
        return f"<Host {self.address} with {self.worlds} worlds in {len(self.shares)} shares>"

    @property
    def worlds(self) -> int:
        return sum(share.count for share in self.shares)

    def load_with(self, worlds: int) -> float:
        """Worlds for each of its lanes, if it had so many more."""
        return (self.worlds + worlds) / self.lanes

    # ---- whether it lives

    def fileno(self) -> int:
        return -1 if self._connection is None else self._connection.fileno()

    @property
    def has_frame(self) -> bool:
        return self._connection is not None and self._connection.has_frame

    def take(self) -> None:
        """Something has come."""
        self._heard = time.monotonic()
        super()._receive()
        self._heard = time.monotonic()

    def look(self) -> None:
        """Nothing has come. Raises ConnectionLost when that is so for too long."""
        now = time.monotonic()
        if self._ping is not None and self._ping.done:
            self._ping = None
        if self._ping is None and now - self._heard > PATIENCE * self.lost_after_s:
            self._ping, self._asked = self.send(p.Ping(), p.Pong), now
        elif self._ping is not None and now - max(self._asked, self._heard) > self.lost_after_s:
            raise self._give_up(f"left a Ping unanswered for {self.lost_after_s:g} s")

    def _receive(self) -> None:
        while not self.has_frame:
            if self._connection is None or select.select([self], [], [], LOOK_S)[0]:
                break
            self.look()
        self.take()

    def _give_up(self, why: str) -> ConnectionLost:
        error = ConnectionLost(f"the server at {self.address} {why}")
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._fail_all(error)
        return error

    def _come_back(self, error: ConnectionLost) -> None:
        """A cut is mended at once, by the session; a server that does not answer, or does not know it, is lost."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._hello.resume = self.welcome.session
        try:
            welcome = self._connect()
        except ConnectionLost as again:
            raise self._give_up(f"is gone: {again}") from None
        except MoreauError as refusal:
            raise self._give_up(f"was restarted: {refusal}") from None
        if (welcome.instance or 0) != self.instance:
            raise self._give_up("was restarted")
        for frame in list(self._frames.values()):
            self._send_frame(frame)
        self._heard = time.monotonic()
        self._ping = None
