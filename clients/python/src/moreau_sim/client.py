# SPDX-License-Identifier: MIT
"""A client of one server: every call of the protocol as a method, pipelined calls, sessions that come back."""

from __future__ import annotations

import os
import pathlib
import time
from collections import deque
from typing import Any, Generic, TypeVar

from . import protocol as p
from ._connection import Connection
from ._stream import Stream
from ._wire import Message, WireError, decode, encode
from .calls import Calls
from .errors import ConnectionLost, ProtocolError, ServerError, of_status

PROTOCOL_MAJOR = 1
DEFAULT_ADDRESS = "127.0.0.1:7667"

R = TypeVar("R", bound=Message)
E = TypeVar("E", bound=Message)

_CALL_OF = {field.of: field.name for field in p.Request.FIELDS if field.of is not None}
# several calls may have replies of one kind
_RESULTS: dict[type | None, list[str]] = {}
for _field in p.Reply.FIELDS:
    if _field.of is not None and _field.name != "status":
        _RESULTS.setdefault(_field.of, []).append(_field.name)


def _result_of(reply: p.Reply, of: type[Message]) -> Any:
    return next((found for name in _RESULTS[of] if (found := getattr(reply, name)) is not None), None)


class Pending(Generic[R]):
    """A call that was sent. `result()` waits for its reply."""

    def __init__(self, client: "Client", id: int, result: type[R], has_events: bool) -> None:
        self._client = client
        self._id = id
        self._of = result
        self._has_events = has_events
        self._reply: p.Reply | None = None
        self._error: Exception | None = None
        self._events: deque[p.Reply] = deque()

    @property
    def id(self) -> int:
        """For Client.cancel."""
        return self._id

    @property
    def done(self) -> bool:
        """Whether the reply is there."""
        return self._reply is not None or self._error is not None

    def reply(self) -> p.Reply:
        """The reply whole, whatever its status."""
        while not self.done:
            self._client._receive()
        if self._error is not None:
            raise self._error
        assert self._reply is not None
        return self._reply

    def result(self) -> R:
        """What the call gives. Raises what it failed with: an exception for each status (errors.py); what was
        done before it failed is in the exception's `result`."""
        reply = self.reply()
        status = reply.status or p.Status()
        result = _result_of(reply, self._of)
        if status.code:
            error = of_status(status)
            error.result = result
            raise error
        if result is None:
            raise ProtocolError(f"the reply to request {self._id} has no {self._of.__name__}")
        return result  # type: ignore[no-any-return]


class Client(Calls):
    """A connection to a server. It belongs to one thread at a time.

    address      HOST:PORT, [::1]:PORT or unix:PATH; default: $MOREAU_SERVER, or 127.0.0.1:7667
    token        the server's token; token_file: a file that holds it
    name         of this program, for the server's logs and episodes
    timeout_s    how long the server may be silent while an answer is waited for; default: for ever
    resumable    come back after a lost connection, and repeat what is unanswered: nothing is done twice
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        name: str = "moreau_sim",
        timeout_s: float | None = None,
        resumable: bool = False,
    ) -> None:
        self.address = address or os.environ.get("MOREAU_SERVER") or DEFAULT_ADDRESS
        if token_file is not None:
            token = pathlib.Path(token_file).read_text().strip()
        self._hello = p.Hello(protocol_major=PROTOCOL_MAJOR, client=name, token=token, resumable=resumable or None)
        self._timeout_s = timeout_s
        self._resumable = resumable
        self._next_id = 1
        self._pending: dict[int, Pending[Any]] = {}
        self._frames: dict[int, bytes] = {}  # of requests without a reply, to repeat
        self._connection: Connection | None = None
        self.welcome = self._connect()

    # ---- life

    def _connect(self) -> p.Welcome:
        connection = Connection(self.address, self._timeout_s)
        try:
            id, self._next_id = self._next_id, self._next_id + 1
            connection.send(encode(p.Request(id=id, hello=self._hello)))
            reply = self._decode(connection.receive())
            status = reply.status or p.Status()
            if status.code:
                raise of_status(status)
            if reply.welcome is None:
                raise ProtocolError(f"what answers at {self.address} does not say welcome: is it a Moreau server?")
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return reply.welcome

    def close(self) -> None:
        """Ends the connection. Worlds of the session go when its grace time is over."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._fail_all(ConnectionLost(f"the connection to {self.address} was closed"))

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def grace_s(self) -> float:
        """How long a session waits for its client [s]."""
        for limit in self.welcome.limits:
            if limit.name == "session-grace-ms":
                return (limit.value or 0) / 1000.0
        return 30.0

    def _fail_all(self, error: Exception) -> None:
        for pending in self._pending.values():
            pending._error = error
        self._pending.clear()
        self._frames.clear()

    def _come_back(self, error: ConnectionLost) -> None:
        """Takes the session up again on a new connection, or fails all that waits for it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        until = time.monotonic() + self.grace_s
        self._hello.resume = self.welcome.session
        for id in [id for id, pending in self._pending.items() if pending._has_events]:
            self._pending.pop(id)._error = error  # calls with events end with their connection
            self._frames.pop(id)
        while self._resumable and self._connection is None and time.monotonic() < until:
            try:
                self._connect()
                for frame in self._frames.values():
                    self._send_frame(frame)
                return
            except ConnectionLost as again:
                error = again
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None
                time.sleep(0.1)
            except ServerError as refusal:
                self._fail_all(refusal)
                raise
        self._fail_all(error)
        raise error

    # ---- frames

    def _decode(self, payload: bytearray) -> p.Reply:
        try:
            return decode(p.Reply, payload)
        except WireError as error:
            raise ProtocolError(f"what answers at {self.address} sends no replies: {error}") from None

    def _send_frame(self, frame: bytes) -> None:
        if self._connection is None:
            raise ConnectionLost(f"the connection to {self.address} was closed")
        self._connection.send(frame)

    def send(self, message: Message, result: type[R], deadline_ms: int | None = None, *, events: bool = False) -> Pending[R]:
        """Sends a call and does not wait: requests may be pipelined. Calls on one world are carried out in the
        order sent. Raises WireError, a ValueError, for what no frame can carry, before anything is sent."""
        request = p.Request(id=self._next_id, deadline_ms=deadline_ms)
        setattr(request, _CALL_OF[type(message)], message)
        frame = encode(request)
        if self._connection is None:
            raise ConnectionLost(f"the connection to {self.address} was closed")
        pending = Pending(self, self._next_id, result, events)
        self._next_id += 1
        self._pending[pending.id] = pending
        self._frames[pending.id] = frame if self._resumable else b""
        try:
            self._send_frame(frame)
        except ConnectionLost as error:
            self._come_back(error)
        return pending

    def _receive(self) -> None:
        """Takes one frame, for whomever it is."""
        try:
            if self._connection is None:
                raise ConnectionLost(f"the connection to {self.address} was closed")
            reply = self._decode(self._connection.receive())
        except ConnectionLost as error:
            self._come_back(error)
            return
        except ProtocolError as error:
            self.close()
            raise error
        if not reply.id:
            # the server could not read so far: it says why and hangs up
            self._fail_all(of_status(reply.status or p.Status()))
            self.close()
            return
        pending = self._pending.get(reply.id)
        if pending is None:
            return
        if reply.event:
            pending._events.append(reply)
            return
        pending._reply = reply
        del self._pending[reply.id], self._frames[reply.id]

    # ---- calls

    def _call(self, message: Message, result: type[R], deadline_ms: int | None) -> R:
        return self.send(message, result, deadline_ms).result()

    def _stream(self, message: Message, event: type[E], result: type[R], deadline_ms: int | None) -> Stream[E, R]:
        pending = self.send(message, result, deadline_ms, events=True)

        def take() -> E | None:
            while not pending._events:
                if pending.done:
                    return None
                self._receive()
            return _result_of(pending._events.popleft(), event)  # type: ignore[no-any-return]

        def stop() -> None:
            if not pending.done and self._connection is not None:
                self.cancel(request=pending.id)
                pending.reply()
            pending._events.clear()

        return Stream(take, pending.result, stop)
