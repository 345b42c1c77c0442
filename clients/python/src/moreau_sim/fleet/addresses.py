# SPDX-License-Identifier: MIT
"""Where the servers of a fleet are: a list, a file with one address a line, or all addresses of a DNS name (of a
headless service). Files and names are read again whenever a server is missed. A file's every line has an end: one
without is still being written, and a port that was cut short would be another server's."""

from __future__ import annotations

import os
import pathlib
import socket
from collections.abc import Callable, Sequence

from .._connection import parse_address

Source = Sequence[str] | str | os.PathLike[str] | Callable[[], Sequence[str]]


def _of_file(path: pathlib.Path) -> list[str]:
    """Lines that say nothing are passed over; one that is no address is named."""
    try:
        written = path.read_text()
    except OSError as error:
        raise ValueError(f"the file of addresses {str(path)!r} cannot be read: {error.strerror}") from None
    lines = written.splitlines()
    if written and not written.endswith("\n"):
        raise ValueError(
            f"{path}:{len(lines)}: the line has no end: the file is half written; write it under another name, and "
            f"rename it"
        )
    found = []
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if text:
            found.append(_checked(text, f"{path}:{number}: "))
    return found


def _of_name(name: str) -> list[str]:
    host, _, port = name.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"dns:{name}: dns:NAME:PORT is asked for")
    try:
        entries = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)
    except OSError as error:
        raise ValueError(f"dns:{name}: no address is known by that name: {error}") from None
    hosts = sorted({str(entry[4][0]) for entry in entries})
    return [f"[{one}]:{port}" if ":" in one else f"{one}:{port}" for one in hosts]


def _checked(address: str, where: str = "") -> str:
    try:
        parse_address(address)
    except ValueError as error:
        raise ValueError(f"{where}{error}") from None
    return address


def find(source: Source) -> list[str]:
    """The addresses that there are now, each once, in order.

    ["HOST:PORT", …]   a list
    "file:PATH"        a file with one a line, behind # nothing; or a path
    "dns:NAME:PORT"    all that a name stands for
    a function         that gives a list
    """
    if callable(source):
        found = [_checked(one) for one in source()]
    elif isinstance(source, os.PathLike):
        found = _of_file(pathlib.Path(source))
    elif isinstance(source, str):
        kind, colon, rest = source.partition(":")
        if kind == "file" and colon:
            found = _of_file(pathlib.Path(rest))
        elif kind == "dns" and colon:
            found = _of_name(rest)
        else:
            found = [_checked(one.strip()) for one in source.split(",")]
    else:
        found = [_checked(one) for one in source]
    return list(dict.fromkeys(found))
