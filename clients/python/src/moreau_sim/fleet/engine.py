# SPDX-License-Identifier: MIT
"""What fleets on Ray and on Slurm share: servers that an engine starts for this process, and that end with it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import Any, TypeVar

from .. import protocol as p
from .fleet import Fleet

_E = TypeVar("_E", bound="Engine")


class Engine:
    """Servers of an engine: `addresses` is a function that a Fleet takes, and `token` what it shows."""

    def __init__(self) -> None:
        self.pid = os.getpid()  # who may stop them
        self.token = secrets.token_hex(16)

    def addresses(self) -> list[str]:
        """Of those that are there now."""
        raise NotImplementedError

    def stop(self) -> None:
        """Ends the servers. A second time, or in a fork, it does nothing."""
        if os.getpid() == self.pid:
            self._stop()

    def _stop(self) -> None:
        raise NotImplementedError

    def __enter__(self: _E) -> _E:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class EngineFleet(Fleet):
    """A fleet on servers of its own, which end with it."""

    def __init__(
        self,
        engine: Engine,
        template: str | os.PathLike[str] | Mapping[str, Any] | p.Scene,
        *,
        count: int,
        **more: Any,
    ) -> None:
        self._engine = engine
        try:
            super().__init__(engine.addresses, template, count=count, token=engine.token, **more)
        except BaseException:
            engine.stop()
            raise

    def close(self) -> None:
        super().close()
        self._engine.stop()
