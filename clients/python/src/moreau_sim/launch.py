# SPDX-License-Identifier: MIT
"""A server of one's own: started on a Unix socket, stopped when it is not needed any more."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from moreau_sim_programs import in_package, on_path

from .client import Client
from .errors import ConnectionLost

PROGRAM = "moreau-server"


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
    places = [pathlib.Path(named)] if named else [program.parent / folder / PAGE for folder in (".", "share/moreau", "../share/moreau")]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(f"{' and '.join(map(str, places))}: there is no {PAGE}, which $MOREAU_VIEWER may name; of the sources it is clients/web/page/{PAGE}")


class Server:
    """A server process. `client()` connects to it; the context manager stops it."""

    def __init__(self, binary: str | os.PathLike[str] | None, options: list[str], timeout_s: float) -> None:
        self.binary, self.found_in = find_server(binary)
        self._folder = tempfile.TemporaryDirectory(prefix="moreau-")
        self.address = f"unix:{self._folder.name}/socket"
        self.log_file = pathlib.Path(self._folder.name) / "log"
        self._said = pathlib.Path(self._folder.name) / "said"
        read_end, write_end = os.pipe()
        try:
            with self._said.open("wb") as said:
                self.process = subprocess.Popen(
                    [self.binary, "--listen", self.address, "--ready-fd", str(write_end), "--log-file", str(self.log_file), *options],
                    pass_fds=(write_end,),
                    stdin=subprocess.DEVNULL,
                    stderr=said,
                )
        except BaseException:
            os.close(read_end)
            self._folder.cleanup()
            raise
        finally:
            os.close(write_end)
        self._wait(read_end, timeout_s)

    def _wait(self, read_end: int, timeout_s: float) -> None:
        # it writes its addresses when it is ready, and closes the pipe when it ends
        late = threading.Timer(timeout_s, self.process.kill)
        late.start()
        with os.fdopen(read_end) as ready:
            line = ready.readline()
        late.cancel()
        if not line:
            self.process.wait()
            said = self._said.read_text().strip()[-2000:]
            self.stop()
            raise ConnectionLost(f"{self.binary} did not start: {said or 'it said nothing'}")

    def client(self, **options: object) -> Client:
        """A client of it; options as Client's."""
        return Client(self.address, **options)  # type: ignore[arg-type]

    def stop(self, timeout_s: float = 30.0) -> int:
        """Asks it to finish what it does, and waits. Returns its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
        status = self.process.wait()
        self._folder.cleanup()
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
    http     True: it shows its pages on a port of this machine, so that `view()` can watch worlds in the browser; whoever is on
             this machine may then look, and change nothing
    quiet    False: says on standard error which program it takes
    """
    more = list(options or [])
    if db is not None:
        more += ["--db", os.fspath(db)]
    if workers is not None:
        more += ["--workers", str(workers)]
    if http:
        more += ["--http", "127.0.0.1:0", "--viewer", os.fspath(find_page(find_server(binary)[0]))]
    server = Server(binary, more, timeout_s)
    if not quiet:
        print(f"moreau_sim: {server.binary} (from {server.found_in}) at {server.address}", file=sys.stderr)
    return server
