# SPDX-License-Identifier: MIT
"""Which server an environment's worlds are on: one that runs, or one of this process, started for the first
environment and stopped with the last."""

from __future__ import annotations

import os
import threading

from ..client import Client
from ..launch import Server, launch


class _Own:
    """The server of this process. A fork begins without one: its environments start another."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.server: Server | None = None
        self.users = 0
        self.process = os.getpid()

    def take(self, workers: int | None) -> str:
        with self.lock:
            if self.server is None:
                self.server = launch(workers=workers)
            self.users += 1
            return self.server.address

    def give_back(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0 and self.server is not None:
                server, self.server = self.server, None
                server.stop()


_own = _Own()


def _own_of_process() -> _Own:
    global _own
    if _own.process != os.getpid():
        _own = _Own()
    return _own


class Place:
    """A connection to the server that was asked for: `address`, $MOREAU_SERVER, or one of this process."""

    def __init__(self, address: str | None, token: str | None, workers: int | None, timeout_s: float) -> None:
        self._borrowed: _Own | None = None
        address = address or os.environ.get("MOREAU_SERVER")
        if address is None:
            # another number of workers needs another server
            self._borrowed = _own_of_process() if workers is None else _Own()
            address = self._borrowed.take(workers)
        try:
            self.client = Client(address, token=token, name="moreau_sim.gym", timeout_s=timeout_s)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the connection, and stops the server if nobody else of this process uses it."""
        if hasattr(self, "client"):
            self.client.close()
        borrowed, self._borrowed = self._borrowed, None
        if borrowed is not None and borrowed.process == os.getpid():
            borrowed.give_back()
