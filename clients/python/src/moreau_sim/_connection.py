# SPDX-License-Identifier: MIT
"""A stream of frames to a server: four bytes of length, big-endian, and one message, both ways."""

from __future__ import annotations

import os
import selectors
import socket
import struct
import sys
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from .errors import ConnectionLost, ProtocolError

if TYPE_CHECKING:
    from ._tls import Secure

PORT = 7667
SCHEME = "tls://"
# no server has a larger frame limit
FRAME_BYTES_MAX = 1 << 30
CHUNK_BYTES = 65536  # that are read at once: a frame that is not longer comes whole with its head
HEAD = struct.Struct(">I")
# a flag of reads and writes that do not wait; where there is none, the socket is told
AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)


@dataclass(frozen=True)
class Trust:
    """What must be true of a server at tls://, and who we are to it: as of Client."""

    ca: str | os.PathLike[str] | None = None
    fingerprint: str | None = None
    cert: str | os.PathLike[str] | None = None
    key: str | os.PathLike[str] | None = None

    @classmethod
    def of_environment(cls) -> Trust:
        got = [os.environ.get(f"MOREAU_TLS_{name}") or None for name in ("CA", "FINGERPRINT", "CERT", "KEY")]
        return cls(*got)

    def __bool__(self) -> bool:
        return any(part is not None for part in (self.ca, self.fingerprint, self.cert, self.key))


def parse_address(address: str) -> tuple[str, int] | str:
    """HOST:PORT, [::1]:PORT or HOST, behind tls:// or not, as (host, port); unix:PATH as the path."""
    whole, address = address, address.removeprefix(SCHEME)
    if address.startswith("unix:"):
        return address.removeprefix("unix:")
    host, colon, port = address.rpartition(":")
    if not colon or (host.count(":") > 0 and not host.startswith("[")):
        host, port = address, str(PORT)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{whole!r} is no address: HOST:PORT, [::1]:PORT, tls://HOST:PORT or unix:PATH is asked for")
    return host, int(port)


def _limit_silence(connected: socket.socket, timeout_s: float | None) -> None:
    """From here on the system waits in reading and writing, at most so long. (As settimeout() has it, every read would
    first ask whether there is something to read.)"""
    if timeout_s is None or sys.platform == "win32":
        return
    connected.settimeout(None)
    seconds = int(timeout_s)
    # zero would be for ever
    limit = struct.pack("@ll", seconds, max(int((timeout_s - seconds) * 1e6), 0 if seconds else 1))
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


class Connection:
    """One connection; whoever uses it says which frames mean what."""

    _socket: socket.socket | Secure

    def __init__(self, address: str, timeout_s: float | None, trust: Trust | None = None) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._chunk = memoryview(bytearray(CHUNK_BYTES))
        self._begin = self._end = 0  # of what has come and was not taken, in the chunk
        self._long = bytearray()  # a frame that is longer than the chunk, as far as it …
        self._long_end = 0  # … has come
        self._early: deque[bytearray] = deque()  # frames that came while something was written
        target = parse_address(address)
        self._is_secure = address.startswith(SCHEME)
        if trust and not self._is_secure and not isinstance(target, str):
            raise ValueError(f"certificates are for TLS: write the address as {SCHEME}{address}")
        plain = self._connect(target, timeout_s)
        try:
            if self._is_secure:
                from ._tls import Secure  # which takes its time to load

                host = cast("tuple[str, int]", target)[0]
                self._socket = Secure(plain, address, host, trust or Trust.of_environment(), timeout_s)
            else:
                self._socket = plain
                _limit_silence(plain, timeout_s)
        except OSError as error:
            plain.close()
            raise ConnectionLost(f"no server answers at {address}: {error}") from None
        except BaseException:
            plain.close()
            raise

    def _connect(self, target: tuple[str, int] | str, timeout_s: float | None) -> socket.socket:
        try:
            if isinstance(target, str):
                plain = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                plain.settimeout(timeout_s)
                plain.connect(target)
            else:
                plain = socket.create_connection(target, timeout_s)
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise ConnectionLost(f"no server answers at {self.address}: {error}") from None
        return plain

    def close(self) -> None:
        self._socket.close()

    def fileno(self) -> int:
        """For who waits for several connections at once."""
        return self._socket.fileno()

    @property
    def has_frame(self) -> bool:
        """Whether receive() gives one without reading from the socket."""
        if self._is_secure and not self._early and cast("Secure", self._socket).pending():
            self._take_early()  # of which nobody else would be told
        if self._early:
            return True
        held = self._end - self._begin
        return (
            not self._long and held >= HEAD.size and held >= HEAD.size + HEAD.unpack_from(self._chunk, self._begin)[0]
        )

    def send(self, payload: bytes) -> None:
        frame = HEAD.pack(len(payload)) + payload
        try:
            sent = self._send_now(frame) if AT_ONCE else 0
            if sent < len(frame):
                self._send_rest(memoryview(frame)[sent:])
        except OSError as error:
            raise self._lost(error) from None

    def _send_now(self, part: bytes | memoryview) -> int:
        """How much of it the system has room for."""
        try:
            return self._socket.send(part, AT_ONCE)
        except BlockingIOError:
            return 0

    def _send_rest(self, rest: memoryview) -> None:
        """A server reads no more requests while its replies are not taken: so they are, while there is no room to
        write."""
        if not AT_ONCE:
            self._socket.setblocking(False)
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._socket, selectors.EVENT_READ | selectors.EVENT_WRITE)
                while rest:
                    ready = selector.select(self.timeout_s)
                    if not ready:
                        raise TimeoutError
                    events = ready[0][1]
                    if events & selectors.EVENT_READ:
                        self._take_early()
                    if events & selectors.EVENT_WRITE:
                        rest = rest[self._send_now(rest) :]
        finally:
            if not AT_ONCE:
                self._socket.settimeout(self.timeout_s)

    def _take_early(self) -> None:
        """One frame, if it has come whole."""
        try:
            self._early.append(self._take(AT_ONCE))
        except BlockingIOError:
            pass

    def _lost(self, error: OSError) -> ConnectionLost:
        if isinstance(error, (TimeoutError, BlockingIOError)):
            return ConnectionLost(f"the server at {self.address} has said nothing for {self.timeout_s} s")
        return ConnectionLost(f"the server at {self.address} is gone: {error}")

    def _receive_into(self, view: memoryview, flags: int) -> int:
        count = self._socket.recv_into(view, 0, flags)
        if count == 0:
            raise ConnectionLost(f"the server at {self.address} has closed the connection")
        return count

    def _fill(self, count: int, flags: int) -> int:
        """Reads until so many bytes, which the chunk has room for, are there, and returns where they begin."""
        if self._begin == self._end:
            self._begin = self._end = 0
        elif self._begin + count > CHUNK_BYTES:
            rest = bytes(self._chunk[self._begin : self._end])
            self._chunk[: len(rest)] = rest
            self._begin, self._end = 0, len(rest)
        while self._end - self._begin < count:
            self._end += self._receive_into(self._chunk[self._end :], flags)
        return self._begin

    def _take_long(self, flags: int) -> bytearray:
        """The rest of a long frame, straight to where it stays."""
        view = memoryview(self._long)
        while self._long_end < len(view):
            self._long_end += self._receive_into(view[self._long_end :], flags)
        taken, self._long = self._long, bytearray()
        return taken

    def _take(self, flags: int = 0) -> bytearray:
        """The next frame's message, in memory of its own. Whatever interrupts the waiting, the next call goes on
        there."""
        if self._long:
            return self._take_long(flags)
        begin = self._fill(HEAD.size, flags)
        (count,) = HEAD.unpack_from(self._chunk, begin)
        if count > FRAME_BYTES_MAX:
            raise ProtocolError(
                f"what answers at {self.address} announces a frame of {count} bytes: is it a Moreau server?"
            )
        whole = HEAD.size + count
        if whole <= CHUNK_BYTES:
            if whole > self._end - begin:
                begin = self._fill(whole, flags)
            self._begin = begin + whole
            return bytearray(self._chunk[begin + HEAD.size : begin + whole])
        self._long = bytearray(count)
        self._long_end = self._end - begin - HEAD.size
        self._long[: self._long_end] = self._chunk[begin + HEAD.size : self._end]
        self._begin = self._end
        return self._take_long(flags)

    def receive(self) -> bytearray:
        """The next frame's message."""
        if self._early:
            return self._early.popleft()
        try:
            return self._take()
        except OSError as error:
            raise self._lost(error) from None
