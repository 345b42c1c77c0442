# SPDX-License-Identifier: MIT
"""A stream of frames to a server: four bytes of length, big-endian, and one message, both ways."""

from __future__ import annotations

import socket
import struct

from .errors import ConnectionLost, ProtocolError

PORT = 7667
# no server has a larger frame limit
FRAME_BYTES_MAX = 1 << 30
CHUNK_BYTES = 4096  # that a frame's head is read with


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


class Connection:
    """One connection; whoever uses it says which frames mean what."""

    def __init__(self, address: str, timeout_s: float | None) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self._chunk = memoryview(bytearray(CHUNK_BYTES))
        self._ahead = bytearray()  # what came with the frame before
        target = parse_address(address)
        try:
            if isinstance(target, str):
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                self._socket.settimeout(timeout_s)
                self._socket.connect(target)
            else:
                self._socket = socket.create_connection(target, timeout_s)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise ConnectionLost(f"no server answers at {address}: {error}") from None

    def close(self) -> None:
        self._socket.close()

    def send(self, payload: bytes) -> None:
        try:
            self._socket.sendall(struct.pack(">I", len(payload)) + payload)
        except OSError as error:
            raise self._lost(error) from None

    def _lost(self, error: OSError) -> ConnectionLost:
        if isinstance(error, TimeoutError):
            return ConnectionLost(f"the server at {self.address} has said nothing for {self.timeout_s} s")
        return ConnectionLost(f"the server at {self.address} is gone: {error}")

    def _take(self, count: int) -> bytearray:
        """The next bytes of the stream, in memory of their own."""
        taken = self._ahead[:count]
        del self._ahead[:count]
        if len(taken) < count:
            filled = len(taken)
            taken += bytes(count - filled)
            view = memoryview(taken)
            while filled < count:
                filled += self._receive_into(view[filled:])
        return taken

    def _receive_into(self, view: memoryview) -> int:
        try:
            count = self._socket.recv_into(view)
        except OSError as error:
            raise self._lost(error) from None
        if count == 0:
            raise ConnectionLost(f"the server at {self.address} has closed the connection")
        return count

    def receive(self) -> bytearray:
        """The next frame's message, in memory of its own."""
        while len(self._ahead) < 4:
            # a small frame comes whole with its head
            count = self._receive_into(self._chunk)
            self._ahead += self._chunk[:count]
        (count,) = struct.unpack_from(">I", self._ahead)
        if count > FRAME_BYTES_MAX:
            raise ProtocolError(f"what answers at {self.address} announces a frame of {count} bytes: is it a Moreau server?")
        del self._ahead[:4]
        return self._take(count)
