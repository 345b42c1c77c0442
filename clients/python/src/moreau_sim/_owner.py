# SPDX-License-Identifier: MIT
"""Whose a connection, a fleet or an environment is: the process's that made it, and one thread's at a time. Who else
comes is told so at once, before anything is sent; the one that is there goes on as if nobody had come."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from threading import get_ident
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from .errors import InUse


# this process; asking the system in every call would take a tenth of a small one
_here = os.getpid()


def _moved() -> None:
    global _here
    _here = os.getpid()


if hasattr(os, "register_at_fork"):  # where there is a fork
    os.register_at_fork(after_in_child=_moved)


class Owner:
    """A context manager around a use of a thing, which the same thread may enter again.

    what    it is, for the sentence
    """

    __slots__ = ("what", "process", "_lock", "_thread")

    def __init__(self, what: str) -> None:
        self.what = what
        self.process = _here
        self._lock = threading.RLock()
        self._thread = 0  # that came last

    @property
    def is_here(self) -> bool:
        """Whether this is the process, and no fork of it."""
        return _here == self.process

    def __enter__(self) -> None:
        # a fork may hold a copy of the lock that nobody will release
        if _here != self.process:
            raise InUse(
                f"this {self.what} belongs to process {self.process}, which made it; process {_here} is a fork of "
                f"it, and makes "
                "its own (of SubprocVecEnv or AsyncVectorEnv: inside of the function that it is given)"
            )
        if not self._lock.acquire(False):
            names = [one.name for one in threading.enumerate() if one.ident == self._thread]
            raise InUse(
                f"this {self.what} is in a call of thread {names[0] if names else self._thread!r}, and thread "
                f"{threading.current_thread().name!r} "
                "comes in between: it belongs to one thread at a time; make one for each"
            )
        self._thread = get_ident()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class _Owned(Protocol):
    _owner: Owner


_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S", bound=_Owned)


def alone(method: Callable[Concatenate[_S, _P], _R]) -> Callable[Concatenate[_S, _P], _R]:
    """A method during which no other thread may call one."""

    @functools.wraps(method)
    def guarded(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self._owner:
            return method(self, *args, **kwargs)

    return guarded
