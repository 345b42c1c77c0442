# SPDX-License-Identifier: MIT
"""A server of one's own: started on a Unix socket, stopped when it is not needed any more."""

from __future__ import annotations

import atexit
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO

from moreau_sim_programs import in_package, on_path

from ._notebook import facts
from .client import Client
from .errors import ConnectionLost

PROGRAM = "moreau-server"
FOLDER_PREFIX = "moreau-"
YOUNG_S = 60.0  # folders as new are left alone
STOP_S = 10.0  # how long the end of a program waits for a server


def find_server(binary: str | os.PathLike[str] | None = None) -> tuple[pathlib.Path, str]:
    """The server program, and where it was found: the argument, $MOREAU_SERVER_BIN, this package, or PATH."""
    candidates = [
        (binary, "the argument"),
        (os.environ.get("MOREAU_SERVER_BIN"), "$MOREAU_SERVER_BIN"),
        (in_package(PROGRAM), "this package"),
        (on_path(PROGRAM), "PATH"),
    ]
    for path, where in candidates:
        if path:
            found = pathlib.Path(path)
            if not os.access(found, os.X_OK):
                raise FileNotFoundError(f"{found} (from {where}) is no program that can be run")
            return found, where
    raise FileNotFoundError(
        f"There is no {PROGRAM}: neither an argument, nor $MOREAU_SERVER_BIN, nor in this package, nor on PATH. "
        "Install a wheel that brings it, or build it and say where it is."
    )


PAGE = "moreau-viewer.html"


def find_page(program: pathlib.Path) -> pathlib.Path:
    """The viewer's page: $MOREAU_VIEWER, or the one beside a program of ours, built or installed with it."""
    named = os.environ.get("MOREAU_VIEWER")
    places = (
        [pathlib.Path(named)]
        if named
        else [program.parent / folder / PAGE for folder in (".", "share/moreau", "../share/moreau")]
    )
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(
        f"{' and '.join(map(str, places))}: there is no {PAGE}, which $MOREAU_VIEWER may name; of the sources it is "
        f"clients/web/page/{PAGE}"
    )


# ends of pipes by which servers know that this process lives: a forked child must not hold them as well
_alive: set[int] = set()


def _forget_in_child() -> None:
    while _alive:
        with contextlib.suppress(OSError):
            os.close(_alive.pop())


if hasattr(os, "register_at_fork"):  # where there is a fork
    os.register_at_fork(after_in_child=_forget_in_child)


def _sweep() -> None:
    """Folders of servers that were killed together with whoever started them."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        path = folder / "socket"
        try:
            found = folder.stat()
            # one that is starting refuses as well, for a moment
            if found.st_uid != os.getuid() or time.time() - found.st_mtime < YOUNG_S or not path.is_socket():
                continue
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(str(path))
        except ConnectionRefusedError:
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


# servers of this process that nobody has stopped yet
_running: set[Server] = set()


def _stop_all() -> None:
    """At the interpreter's end. By the pipe alone they would end as well, but a moment later than this process: whoever
    waits for it and then reads a file of episodes would find it still written to."""
    for server in list(_running):
        with contextlib.suppress(Exception):
            server.stop(STOP_S)


atexit.register(_stop_all)


class Server:
    """A server process, on a Unix socket of its own, or on `listen`. `client()` connects to it; the context manager
    stops it. However this process ends, the server ends with it: normally, by an exception, a signal, os._exit(), or
    exec. A forked child may use it; to stop it is the part of who started it."""

    def __init__(
        self,
        binary: str | os.PathLike[str] | None,
        options: list[str],
        timeout_s: float,
        *,
        listen: str | None = None,
        db: str = "",
        log: str | os.PathLike[str] | None = None,
    ) -> None:
        self.binary, self.found_in = find_server(binary)
        self.db = db  # the file that it records to; "": none
        self.pid = os.getpid()  # who may stop it
        _sweep()
        self._folder = tempfile.mkdtemp(prefix=FOLDER_PREFIX)
        self.address = listen or f"unix:{self._folder}/socket"
        self.http = ""  # where its pages are, if it has any
        if log is None:
            self.log_file = pathlib.Path(self._folder) / "log"
            self._said: IO[bytes] = tempfile.TemporaryFile()  # has no name that could be left
            options = ["--log-file", str(self.log_file), *options]
        else:  # is kept: it goes on where an earlier server's ended
            self.log_file = pathlib.Path(log)
            self._said = open(log, "a+b")
        self._begin = self._said.seek(0, os.SEEK_END)
        ready_end, write_end = os.pipe()
        parent_end, self._alive_end = os.pipe()
        _alive.add(self._alive_end)
        try:
            self.process = subprocess.Popen(
                [
                    self.binary,
                    *("--listen", self.address, "--ready-fd", str(write_end), "--parent-fd", str(parent_end)),
                    *options,
                ],
                pass_fds=(write_end, parent_end),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,  # Ctrl-C is for this process, which then decides
            )
        except BaseException:
            os.close(ready_end)
            self._let_go()
            raise
        finally:
            os.close(write_end)
            os.close(parent_end)
        _running.add(self)
        self._wait(ready_end, timeout_s, options)

    def __repr__(self) -> str:
        state = "running" if self.process.poll() is None else f"ended with {self.process.returncode}"
        return f"<Server {self.address} {state}, pid {self.process.pid}>"

    def _repr_html_(self) -> str:
        ended = self.process.poll()
        rows = [
            ("state", "running" if ended is None else f"ended with {ended}"),
            ("pid", self.process.pid),
            ("program", f"{self.binary} (from {self.found_in})"),
            ("episodes", self.db or "none are recorded: launch(db=FILE)"),
            ("log", self.log_file),
        ]
        return facts(f"Moreau server at {self.address}", rows)

    def _let_go(self) -> None:
        _running.discard(self)
        if self._alive_end in _alive:
            _alive.remove(self._alive_end)
            os.close(self._alive_end)
        self._said.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _wait(self, ready_end: int, timeout_s: float, options: list[str]) -> None:
        # it writes its addresses when it is ready, and closes the pipe when it ends
        late = threading.Timer(timeout_s, self.process.kill)
        late.start()
        with os.fdopen(ready_end) as ready:
            lines = ready.read().split()
        late.cancel()
        if not lines:
            self.process.wait()
            self._said.seek(self._begin)
            said = self._said.read().decode("utf-8", "replace").strip()[-2000:]
            self.stop()
            raise ConnectionLost(f"{self.binary} did not start: {said or 'it said nothing'}")
        self.address = lines[0]
        self.http = lines[-1] if "--http" in options else ""

    def client(self, **options: object) -> Client:
        """A client of it; options as Client's."""
        return Client(self.address, **options)  # type: ignore[arg-type]

    def stop(self, timeout_s: float = 30.0) -> int:
        """Asks it to finish what it does, and waits. Returns its exit status. In a forked child it does nothing."""
        if os.getpid() != self.pid:
            return 0
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
        status = self.process.wait()
        self._let_go()
        return status

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def launch(
    binary: str | os.PathLike[str] | None = None,
    *,
    db: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    options: list[str] | None = None,
    http: bool = False,
    timeout_s: float = 30.0,
    quiet: bool = True,
) -> Server:
    """Starts a server on a Unix socket of its own.

    binary   the program; default: $MOREAU_SERVER_BIN, the one in this package, or the one on PATH
    db       file that episodes are recorded to; default: none are
    workers  threads that step worlds; default: as many as there are cores
    options  more options, as `moreau-server --help` has them
    http     True: it shows its pages on a port of this machine, so that `view()` can watch worlds in the browser;
             whoever is on this machine may then look, and change nothing
    quiet    False: says on standard error which program it takes
    """
    more = list(options or [])
    if db is not None:
        more += ["--db", os.fspath(db)]
    if workers is not None:
        more += ["--workers", str(workers)]
    if http:
        more += ["--http", "127.0.0.1:0", "--viewer", os.fspath(find_page(find_server(binary)[0]))]
    server = Server(binary, more, timeout_s, db=os.fspath(db) if db is not None else "")
    if not quiet:
        print(f"moreau_sim: {server.binary} (from {server.found_in}) at {server.address}", file=sys.stderr)
    return server
