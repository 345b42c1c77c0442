# SPDX-License-Identifier: MIT
"""A stream of frames to a server: four bytes of length, big-endian, and one message, both ways."""

from __future__ import annotations

import selectors
import socket
import struct
import sys
from collections import deque

from .errors import ConnectionLost, ProtocolError

PORT = 7667
# no server has a larger frame limit
FRAME_BYTES_MAX = 1 << 30
CHUNK_BYTES = 65536  # that are read at once: a frame that is not longer comes whole with its head
HEAD = struct.Struct(">I")
# a flag of reads and writes that do not wait; where there is none, the socket is told
AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)


def parse_address(address: str) -> tuple[str, int] | str:
    """HOST:PORT, [::1]:PORT or HOST as (host, port); unix:PATH as the path."""
    if address.startswith("unix:"):
        return address.removeprefix("unix:")
    host, colon, port = address.rpartition(":")
    if not colon or (host.count(":") > 0 and not host.startswith("[")):
        host, port = address, str(PORT)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{address!r} is no address: HOST:PORT, [::1]:PORT or unix:PATH is asked for")
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

    def __init__(self, address: str, timeout_s: float | None) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._chunk = memoryview(bytearray(CHUNK_BYTES))
        self._begin = self._end = 0  # of what has come and was not taken, in the chunk
        self._long = bytearray()  # a frame that is longer than the chunk, as far as it …
        self._long_end = 0  # … has come
        self._early: deque[bytearray] = deque()  # frames that came while something was written
        target = parse_address(address)
        try:
            if isinstance(target, str):
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                self._socket.settimeout(timeout_s)
                self._socket.connect(target)
            else:
                self._socket = socket.create_connection(target, timeout_s)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _limit_silence(self._socket, timeout_s)
        except OSError as error:
            raise ConnectionLost(f"no server answers at {address}: {error}") from None

    def close(self) -> None:
        self._socket.close()

    def fileno(self) -> int:
        """For who waits for several connections at once."""
        return self._socket.fileno()

    @property
    def has_frame(self) -> bool:
        """Whether receive() gives one without reading from the socket."""
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
