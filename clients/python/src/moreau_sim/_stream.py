# SPDX-License-Identifier: MIT
"""What a call that sends events is to its caller: something to iterate over, with a result at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from ._wire import Message

E = TypeVar("E", bound=Message)
R = TypeVar("R", bound=Message)


class Stream(Generic[E, R]):
    """Events as they come; `result()` is the reply that ends them."""

    def __init__(self, take: Callable[[], E | None], finish: Callable[[], R], stop: Callable[[], None]) -> None:
        self._take = take
        self._finish = finish
        self._stop = stop

    def __iter__(self) -> Iterator[E]:
        while (event := self._take()) is not None:
            yield event

    def result(self) -> R:
        """The reply; events that nobody took are dropped."""
        return self._finish()

    def close(self) -> None:
        """No more, please: the call is cancelled, unless it is done, and what is on its way is dropped."""
        self._stop()
