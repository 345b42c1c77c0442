# SPDX-License-Identifier: MIT
"""The commands `moreau` and `moreau-server` that pip installs: each becomes the program of its name that the wheel
brings.

A module of its own, as the package `moreau_sim` imports NumPy and all of the protocol: a quarter of a second, which a
command in a script has not.

The wheel of the client alone has the commands and not the programs. It must not hide what was installed otherwise, so
there they go on to the next one on PATH.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sys
from contextlib import suppress
from typing import NoReturn

NOT_FOUND, NOT_RUNNABLE = 127, 126  # exit status, as the shell has it
HEAD_BYTES = 4096  # of a command, within which pip, uv and pipx name what it imports


def in_package(name: str) -> pathlib.Path | None:
    """The program in the wheel; None in that of the client alone."""
    path = pathlib.Path(__file__).parent / "moreau_sim" / "bin" / name
    return path if path.exists() else None


def on_path(name: str) -> str | None:
    """The first of that name on PATH that is not a command of this module, of whatever environment: such a one has no
    program, or `in_package` has been asked before."""
    for folder in os.get_exec_path():
        found = shutil.which(name, path=folder)
        if found and not _is_command(found):
            return found
    return None


def _is_command(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
        return head.startswith(b"#!") and b"moreau_sim_programs" in head
    return False


def _become(name: str) -> NoReturn:
    program = in_package(name) or on_path(name)
    if program is None:
        print(
            f"{name}: this moreau-sim is the client alone, without the program {name}, and there is no other on PATH: "
            "install the wheel with the server, which deploy/wheel makes for Linux, or build Moreau.",
            file=sys.stderr,
        )
        sys.exit(NOT_FOUND)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and by what it becomes if nobody says otherwise
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execv(program, [os.fspath(program), *sys.argv[1:]])
    except OSError as error:
        print(f"{name}: {program} cannot be run: {error.strerror}", file=sys.stderr)
        sys.exit(NOT_RUNNABLE)


def moreau() -> NoReturn:
    """The command line."""
    _become("moreau")


def moreau_server() -> NoReturn:
    """The server."""
    _become("moreau-server")
