# SPDX-License-Identifier: MIT
"""A stream of frames to a server: four bytes of length, big-endian, and one message, both ways."""

from __future__ import annotations

import socket
import struct
import sys

from .errors import ConnectionLost, ProtocolError

PORT = 7667
# no server has a larger frame limit
FRAME_BYTES_MAX = 1 << 30
CHUNK_BYTES = 65536  # that are read at once: a frame that is not longer comes whole with its head
HEAD = struct.Struct(">I")


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
    """From here on the system waits in reading and writing, at most so long. (As settimeout() has it, every read would first
    ask whether there is something to read.)"""
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

    def send(self, payload: bytes) -> None:
        try:
            self._socket.sendall(HEAD.pack(len(payload)) + payload)
        except OSError as error:
            raise self._lost(error) from None

    def _lost(self, error: OSError) -> ConnectionLost:
        if isinstance(error, (TimeoutError, BlockingIOError)):
            return ConnectionLost(f"the server at {self.address} has said nothing for {self.timeout_s} s")
        return ConnectionLost(f"the server at {self.address} is gone: {error}")

    def _receive_into(self, view: memoryview) -> int:
        try:
            count = self._socket.recv_into(view)
        except OSError as error:
            raise self._lost(error) from None
        if count == 0:
            raise ConnectionLost(f"the server at {self.address} has closed the connection")
        return count

    def _fill(self, count: int) -> int:
        """Reads until so many bytes, which the chunk has room for, are there, and returns where they begin."""
        if self._begin == self._end:
            self._begin = self._end = 0
        elif self._begin + count > CHUNK_BYTES:
            rest = bytes(self._chunk[self._begin : self._end])
            self._chunk[: len(rest)] = rest
            self._begin, self._end = 0, len(rest)
        while self._end - self._begin < count:
            self._end += self._receive_into(self._chunk[self._end :])
        return self._begin

    def _take_long(self) -> bytearray:
        """The rest of a long frame, straight to where it stays."""
        view = memoryview(self._long)
        while self._long_end < len(view):
            self._long_end += self._receive_into(view[self._long_end :])
        taken, self._long = self._long, bytearray()
        return taken

    def receive(self) -> bytearray:
        """The next frame's message, in memory of its own. Whatever interrupts the waiting, the next call goes on there."""
        if self._long:
            return self._take_long()
        begin = self._fill(HEAD.size)
        (count,) = HEAD.unpack_from(self._chunk, begin)
        if count > FRAME_BYTES_MAX:
            raise ProtocolError(f"what answers at {self.address} announces a frame of {count} bytes: is it a Moreau server?")
        whole = HEAD.size + count
        if whole <= CHUNK_BYTES:
            if whole > self._end - begin:
                begin = self._fill(whole)
            self._begin = begin + whole
            return bytearray(self._chunk[begin + HEAD.size : begin + whole])
        self._long = bytearray(count)
        self._long_end = self._end - begin - HEAD.size
        self._long[: self._long_end] = self._chunk[begin + HEAD.size : self._end]
        self._begin = self._end
        return self._take_long()
