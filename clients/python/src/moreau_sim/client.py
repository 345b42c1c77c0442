# SPDX-License-Identifier: MIT
"""A client of one server: every call of the protocol as a method, pipelined calls, sessions that come back."""

from __future__ import annotations

import os
import pathlib
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

from . import protocol as p
from ._connection import Connection, Trust
from ._notebook import facts
from ._owner import Owner
from ._stream import Stream
from ._wire import Message, WireError, decode, encode, key_of, read_varint, skim, varint
from .calls import Calls
from .errors import ConnectionLost, ProtocolError, ServerError, of_status

PROTOCOL_MAJOR = 1
DEFAULT_ADDRESS = "127.0.0.1:7667"

R = TypeVar("R", bound=Message)
E = TypeVar("E", bound=Message)
M = TypeVar("M", bound=Message)
T = TypeVar("T")

_ID = key_of(p.Request, "id")
_CALLS = {field.of: key_of(p.Request, field.name) for field in p.Request.FIELDS if field.of is not None}
# several calls may have replies of one kind
_RESULTS: dict[type | None, list[str]] = {}
for _field in p.Reply.FIELDS:
    if _field.of is not None and _field.name != "status":
        _RESULTS.setdefault(_field.of, []).append(_field.name)
_OK = encode(p.Status(code=p.Status.Code.OK))

# a reply of which only the head was read, as skim() has it
_Head = dict[str, memoryview]


def _result_in(head: _Head, of: type[Message]) -> memoryview | None:
    for name in _RESULTS[of]:
        if name in head:
            return head[name]
    return None


class Pending(Generic[R]):
    """A call that was sent. `result()` waits for its reply."""

    __slots__ = ("_client", "_id", "_of", "_frame", "_head", "_result", "_error", "_events")

    def __init__(self, client: Client, id: int, result: type[R], has_events: bool) -> None:
        self._client = client
        self._id = id
        self._of: type[R] = result
        self._frame = bytearray()  # of the reply …
        self._head: _Head | None = None  # … and what is in it
        self._result: R | None = None
        self._error: Exception | None = None
        self._events: deque[_Head] | None = deque() if has_events else None

    @property
    def id(self) -> int:
        """For Client.cancel."""
        return self._id

    @property
    def done(self) -> bool:
        """Whether the reply is there."""
        return self._head is not None or self._error is not None

    def _wait(self) -> _Head:
        if self._head is None:
            with self._client._owner:
                while self._head is None:
                    if self._error is not None:
                        raise self._error
                    self._client._receive()
        return self._head

    def reply(self) -> p.Reply:
        """The reply whole, whatever its status."""
        self._wait()
        return self._client._read(decode, p.Reply, self._frame)

    def _raise(self, status: p.Status, view: memoryview | None) -> None:
        error = of_status(status)
        error.result = None if view is None else self._client._read(decode, self._of, view)
        raise error

    def view(self) -> memoryview:
        """The bytes of what the call gives."""
        head = self._wait()
        view = _result_in(head, self._of)
        if head.get("status", _OK) != _OK:
            status = self._client._read(decode, p.Status, head["status"])
            if status.code:
                self._raise(status, view)
        if view is None:
            raise ProtocolError(f"the reply to request {self._id} has no {self._of.__name__}")
        return view

    def result(self) -> R:
        """What the call gives. Raises what it failed with: an exception for each status (errors.py); what was
        done before it failed is in the exception's `result`."""
        if self._result is None:
            self._result = self._client._read(decode, self._of, self.view())
        return self._result

    def fields(self) -> dict[str, Any]:
        """Likewise, as skim() has it: for what many small calls need of it."""
        return self._client._read(skim, self._of, self.view())


def carried_through(calls: Generator[Pending[Any], None, T]) -> T:
    """What calls give that are each to be gone on with when the reply is there."""
    while True:
        try:
            next(calls)
        except StopIteration as end:
            given: T = end.value
            return given


class Client(Calls):
    """A connection to a server. It belongs to one thread at a time, and to the process that made it: who else comes
    gets errors.InUse, and nothing is sent.

    address      HOST:PORT, [::1]:PORT, either behind tls:// where the server speaks TLS, or unix:PATH; default:
                 $MOREAU_SERVER, or 127.0.0.1:7667
    token        the server's token; token_file: a file that holds it
    name         of this program, for the server's logs and episodes
    timeout_s    how long the server may be silent while an answer is waited for; default: for ever
    tls_ca       at tls://: a file in PEM with an authority that has signed the server's certificate; default: those
                 that this machine trusts
    tls_fingerprint  instead, "sha256:…": of the certificate itself, whatever its name and dates are
    tls_cert, tls_key  files in PEM: our own certificate, where the server wants one
                 (none of the four: $MOREAU_TLS_CA, _FINGERPRINT, _CERT and _KEY, in whatever makes clients)
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
        tls_ca: str | os.PathLike[str] | None = None,
        tls_fingerprint: str | None = None,
        tls_cert: str | os.PathLike[str] | None = None,
        tls_key: str | os.PathLike[str] | None = None,
        resumable: bool = False,
    ) -> None:
        self._trust = Trust(tls_ca, tls_fingerprint, tls_cert, tls_key)
        self.address = address or os.environ.get("MOREAU_SERVER") or DEFAULT_ADDRESS
        if token_file is not None:
            token = pathlib.Path(token_file).read_text().strip()
        self._owner = Owner(f"connection to {self.address}")
        self._hello = p.Hello(protocol_major=PROTOCOL_MAJOR, client=name, token=token, resumable=resumable or None)
        self._timeout_s = timeout_s
        self._resumable = resumable
        self._next_id = 1
        self._pending: dict[int, Pending[Any]] = {}
        self._frames: dict[int, bytes] = {}  # of requests without a reply, to repeat
        self._connection: Connection | None = None
        self.welcome = self._connect()

    def __repr__(self) -> str:
        state = f"session {(self.welcome.session or '')[:8]}" if self._connection is not None else "closed"
        return f"<Client of {self.address}, {state}, server {self.welcome.server_version}>"

    def _repr_html_(self) -> str:
        welcome = self.welcome
        rows = [
            ("server", f"{welcome.server_version} ({welcome.build})"),
            ("dynamics version", welcome.dynamics_version),
            ("lanes", welcome.lanes),
            ("solvers", ", ".join(one.name or "" for one in welcome.solvers)),
            ("pages", welcome.http or "none: moreau-server --http ADDRESS"),
        ]
        return facts(f"Moreau at {self.address}", rows)

    # ---- life

    def _connect(self) -> p.Welcome:
        connection = Connection(self.address, self._timeout_s, self._trust)
        try:
            id, self._next_id = self._next_id, self._next_id + 1
            connection.send(encode(p.Request(id=id, hello=self._hello)))
            reply = self._read(decode, p.Reply, connection.receive())
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

    @property
    def is_ours(self) -> bool:
        """Whether this process made it, and not one that this is a fork of: what such a one made, a fork neither ends
        nor clears up."""
        return self._owner.is_here

    def close(self) -> None:
        """Ends the connection. Worlds of the session go when its grace time is over. In a fork it only forgets it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._fail_all(ConnectionLost(f"the connection to {self.address} was closed"))

    def __enter__(self) -> Client:
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
        for id in [id for id, pending in self._pending.items() if pending._events is not None]:
            self._pending.pop(id)._error = error  # calls with events end with their connection
            self._frames.pop(id, None)
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

    def _read(self, how: Callable[[type[M], Any], T], of: type[M], data: bytearray | memoryview) -> T:
        """`how` of bytes that the server sent."""
        try:
            return how(of, data)
        except WireError as error:
            raise self.no_server(error) from None

    def no_server(self, error: ValueError) -> ProtocolError:
        """What came is no reply: there is nothing more to say to whoever sent it."""
        self.close()
        return ProtocolError(f"what answers at {self.address} sends no replies: {error}")

    def _send_frame(self, frame: bytes) -> None:
        if self._connection is None:
            raise ConnectionLost(f"the connection to {self.address} was closed")
        self._connection.send(frame)

    def send(
        self, message: Message, result: type[R], deadline_ms: int | None = None, *, events: bool = False
    ) -> Pending[R]:
        """Sends a call and does not wait: requests may be pipelined. Calls on one world are carried out in the
        order sent. Raises WireError, a ValueError, for what no frame can carry, before anything is sent."""
        return self.send_encoded(type(message), encode(message), result, deadline_ms, events=events)

    def send_encoded(
        self, call: type[Message], body: bytes, result: type[R], deadline_ms: int | None = None, *, events: bool = False
    ) -> Pending[R]:
        """Likewise, of a message that is bytes already (encode, key_of)."""
        with self._owner:
            return self._send_call(call, body, result, deadline_ms, events)

    def ask_encoded(self, call: type[Message], body: bytes, result: type[R]) -> dict[str, Any]:
        """Sends it, waits for the reply, and gives its fields(): what send_encoded() does, for half a microsecond
        less."""
        with self._owner:
            pending = self._send_call(call, body, result, None, False)
            while pending._head is None and pending._error is None:
                self._receive()
        return pending.fields()

    def _send_call(
        self, call: type[Message], body: bytes, result: type[R], deadline_ms: int | None, events: bool
    ) -> Pending[R]:
        id = self._next_id
        head = _ID + varint(id) if deadline_ms is None else encode(p.Request(id=id, deadline_ms=deadline_ms))
        frame = b"".join((head, _CALLS[call], varint(len(body)), body))
        if self._connection is None:
            raise ConnectionLost(f"the connection to {self.address} was closed")
        pending = Pending(self, id, result, events)
        self._next_id = id + 1
        self._pending[id] = pending
        if self._resumable:
            self._frames[id] = frame
        try:
            self._connection.send(frame)
        except ConnectionLost as error:
            self._come_back(error)
        return pending

    def _receive(self) -> None:
        """Takes one frame, for whomever it is."""
        try:
            if self._connection is None:
                raise ConnectionLost(f"the connection to {self.address} was closed")
            frame = self._connection.receive()
        except ConnectionLost as error:
            self._come_back(error)
            return
        except ProtocolError as error:
            self.close()
            raise error
        head = self._read(skim, p.Reply, frame)
        id = read_varint(head["id"], 0)[0] if "id" in head else 0
        if id == 0:
            # the server could not read so far: it says why and hangs up
            self._fail_all(of_status(self._read(decode, p.Status, head.get("status", b""))))
            self.close()
            return
        pending = self._pending.get(id)
        if pending is None:
            return
        if "event" not in head or head["event"] == b"\0":
            pending._frame, pending._head = frame, head
            del self._pending[id]
            self._frames.pop(id, None)
        elif pending._events is not None:
            pending._events.append(head)

    # ---- calls

    def _call(self, message: Message, result: type[R], deadline_ms: int | None) -> R:
        reply = self.send(message, result, deadline_ms).result()
        # of many worlds those that failed are told in the reply; of a single one that is how the call went
        failures = getattr(reply, "failures", None)
        worlds = getattr(message, "worlds", None)
        if failures and worlds is not None and len(worlds) == 1:
            error = of_status(failures[0])
            error.result = reply
            raise error
        return reply

    def _stream(self, message: Message, event: type[E], result: type[R], deadline_ms: int | None) -> Stream[E, R]:
        pending = self.send(message, result, deadline_ms, events=True)
        events = pending._events
        assert events is not None

        def take() -> E | None:
            with self._owner:
                while not events:
                    if pending.done:
                        return None
                    self._receive()
            view = _result_in(events.popleft(), event)
            return None if view is None else self._read(decode, event, view)

        def stop() -> None:
            if not pending.done and self._connection is not None and self.is_ours:
                self.cancel(request=pending.id)
                pending.reply()
            events.clear()

        return Stream(take, pending.result, stop)
