# SPDX-License-Identifier: MIT
"""What is done with a share in several calls, one behind the other, while others are dealt with on other servers."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, Generic, TypeVar

from ..client import Pending
from .host import Host
from .share import Share

T = TypeVar("T")


class UnderWay(Generic[T]):
    """`calls` gives each call when it is under way, and is gone on with when its reply is there; it returns
    `result`."""

    def __init__(self, share: Share, host: Host, calls: Generator[Pending[Any], None, T]) -> None:
        self.share = share
        self.host = host
        self.begun = time.monotonic()
        self.result: T
        self._calls = calls
        self._pending: Pending[Any] | None = None  # None: nothing is under way yet

    @property
    def is_ready(self) -> bool:
        return self._pending is None or self._pending.done

    def go_on(self) -> bool:
        """When it is ready; whether all is done now."""
        try:
            self._pending = next(self._calls)
        except StopIteration as end:
            self.result = end.value
            return True
        return False

    def close(self) -> None:
        """It is not gone on with."""
        self._calls.close()
