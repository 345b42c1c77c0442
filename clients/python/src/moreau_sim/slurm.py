# SPDX-License-Identifier: MIT
"""A fleet in an allocation of Slurm: one server for each task.

    #SBATCH --nodes=3 --ntasks-per-node=1 --no-kill             (deploy/slurm/moreau.sbatch)
    with moreau_sim.slurm.Fleet("cart_pole.json", count=16384, action=…, observation=…) as fleet:
        rows = fleet.reset(seed=1)

`srun` starts the tasks; each is `python -m moreau_sim.slurm FOLDER`, which starts a server, writes where it is into the
job's folder, and starts it anew where it ends. The folder is on a file system that all nodes have. A node that is lost
takes its server with it, and the fleet goes on with the others.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from . import protocol as p
from .errors import ConnectionLost, MoreauError
from .fleet.engine import Engine, EngineFleet
from .launch import Server

POLL_S = 0.1
STOP_S = 60.0  # for all servers to finish what they do
FAILURES_MAX = 3  # starts in a row that fail
PAUSE_S = 1.0  # before a server is started anew
SAID_BYTES = 2000  # of a log, in a sentence


class _Place:
    """What a task says in the job's folder. A file appears whole: it is written under another name, and renamed."""

    def __init__(self, folder: pathlib.Path, rank: int) -> None:
        self.folder = folder
        self.rank = rank
        self.log = self._file("log")

    def _file(self, kind: str) -> pathlib.Path:
        return self.folder / f"task-{self.rank:04}.{kind}"

    def say(self, kind: str, text: str) -> None:
        _write(self._file(kind), text + "\n")

    def unsay(self, kind: str) -> None:
        self._file(kind).unlink(missing_ok=True)

    def said(self, kind: str) -> str:
        """"": nothing."""
        with contextlib.suppress(OSError):
            return self._file(kind).read_text().strip()
        return ""


def _write(path: pathlib.Path, text: str, mode: int = 0o644) -> None:
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)
    new.rename(path)


def _last_words(path: pathlib.Path) -> str:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - SAID_BYTES))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""
    return ""


# ---- on the nodes


def _own_address() -> str:
    """The one by which the node that srun was started on is reached: the fleet reaches us by it, too."""
    there = os.environ.get("SLURM_LAUNCH_NODE_IPADDR")
    if there:
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_INET6 if ":" in there else socket.AF_INET, socket.SOCK_DGRAM) as probe,
        ):
            probe.connect((there, 9))  # sends nothing
            return str(probe.getsockname()[0])
    return socket.gethostbyname(os.environ.get("SLURMD_NODENAME") or socket.gethostname())


class _Ended(Exception):
    """Slurm has told the task to end."""


def _serve_once(place: _Place, options: Sequence[str]) -> None:
    host = _own_address()
    listen = f"[{host}]:0" if ":" in host else f"{host}:0"
    with Server(None, list(options), 30.0, listen=listen, log=place.log) as server:
        place.say("ready", server.address)
        try:
            server.process.wait()
        finally:
            place.unsay("ready")


def serve(folder: pathlib.Path, options: Sequence[str]) -> int:
    """What a task does, until Slurm ends it. Its exit status: 1 where no server can be started."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise _Ended

    signal.signal(signal.SIGTERM, end)
    place = _Place(folder, int(os.environ["SLURM_PROCID"]))
    place.say("begun", os.environ.get("SLURMD_NODENAME") or socket.gethostname())
    workers = os.environ.get("SLURM_CPUS_PER_TASK")
    if workers and "--workers" not in options:
        options = ["--workers", workers, *options]
    failures, reason = 0, ""
    try:
        while failures < FAILURES_MAX:
            try:
                plain = [] if "--tls-cert" in options else ["--insecure-plain"]  # inside the cluster's network
                _serve_once(place, ["--token-file", str(folder / "token"), *plain, *options])
                failures = 0
            except (OSError, MoreauError) as why:
                failures += 1
                reason = str(why)
            if failures < FAILURES_MAX:
                time.sleep(PAUSE_S)
        place.say("failed", reason.rstrip("."))
        return 1
    except _Ended:
        return 0


# ---- where the learner is


class Servers(Engine):
    """The servers of an allocation, from `srun` to their end, for who wants them without a fleet: `addresses` is a
    function that a Fleet takes, and `token` what it shows.

    tasks     how many servers; default: as many as the job has tasks (--ntasks, --ntasks-per-node), or nodes
    least     with how many it begins where not all are there in time; default: all of them
    ready_s   how long they are waited for
    folder    which all nodes have; default: moreau-JOB.RESTART in the folder that the job was submitted from. Addresses
              and logs are there, and in `servers` the addresses of all, for `moreau top --fleet`
    options   of each server, as `moreau-server --help` has them; "%t" is the task's number: ["--db", "run-%t.db"]
    srun      more options of srun
    """

    def __init__(
        self,
        *,
        tasks: int | None = None,
        least: int | None = None,
        ready_s: float = 120.0,
        folder: str | os.PathLike[str] | None = None,
        options: Sequence[str] = (),
        srun: Sequence[str] = (),
    ) -> None:
        job = os.environ.get("SLURM_JOB_ID")
        if not job:
            raise RuntimeError(
                "there is no allocation of Slurm here (SLURM_JOB_ID is not set): start this by sbatch, or in salloc"
            )
        self.tasks = tasks or int(os.environ.get("SLURM_NTASKS") or os.environ.get("SLURM_NNODES") or 1)
        self.least = self.tasks if least is None else least
        if not 1 <= self.least <= self.tasks:
            raise ValueError(f"least: of {self.tasks} servers, 1 to {self.tasks} can be asked for, not {self.least}")
        restart = os.environ.get("SLURM_RESTART_COUNT", "0")
        self.folder = pathlib.Path(
            folder or pathlib.Path(os.environ.get("SLURM_SUBMIT_DIR", ".")) / f"moreau-{job}.{restart}"
        ).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob("task-*.*"):  # by an earlier fleet of this job; what it logged stays
            if left.suffix != ".log":
                left.unlink(missing_ok=True)
        super().__init__()
        _write(self.folder / "token", self.token + "\n", 0o600)
        self._places = [_Place(self.folder, rank) for rank in range(self.tasks)]
        self._step = self._start(options, srun)
        try:
            self._wait(time.monotonic() + ready_s, ready_s)
        except BaseException:
            self.stop()
            raise

    def _start(self, options: Sequence[str], srun: Sequence[str]) -> subprocess.Popen[bytes]:
        cpus = os.environ.get("SLURM_CPUS_PER_TASK")
        command = [
            "srun",
            f"--ntasks={self.tasks}",
            "--kill-on-bad-exit=0",
            "--no-kill",
            "--wait=0",
            "--overlap",
            "--mpi=none",
        ]
        command += [f"--cpus-per-task={cpus}"] if cpus else []
        command += [*srun, sys.executable, "-m", "moreau_sim.slurm", str(self.folder), *options]
        source = str(pathlib.Path(__file__).parents[1])
        inherited = os.environ.get("PYTHONPATH")
        environment = dict(os.environ, PYTHONPATH=f"{source}:{inherited}" if inherited else source)
        with open(self.folder / "srun.log", "ab") as log:
            try:
                return subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
                )
            except FileNotFoundError:
                raise RuntimeError("srun is not on PATH: Slurm's commands are needed where the learner runs") from None

    def _wait(self, until: float, ready_s: float) -> None:
        while True:
            has_ended = self._step.poll() is not None
            failed = sum(bool(place.said("failed")) for place in self._places)
            ready = len(self.addresses())
            if ready == self.tasks:
                return
            may_come = not has_ended and ready + failed < self.tasks  # also who is ready since it was asked
            if not may_come or time.monotonic() > until:
                break
            time.sleep(POLL_S)
        if ready >= self.least and not has_ended:
            return
        why = (
            f"srun has ended with {self._step.returncode}"
            if has_ended
            else f"after {ready_s:g} s"
            if may_come
            else "no more will come"
        )
        words = _last_words(self.folder / "srun.log")
        raise ConnectionLost(
            f"of {self.tasks} servers {ready} are ready ({why}): "
            f"{'; '.join(self.missing())}{f'. srun says: {words}' if words else ''}. Logs are in {self.folder}"
        )

    def missing(self) -> list[str]:
        """Of each task whose server is not there, a sentence that says why."""
        sentences = []
        for place in self._places:
            if place.said("ready"):
                continue
            node, failed = place.said("begun"), place.said("failed")
            if failed:
                sentences.append(f"task {place.rank} on {node} cannot start its server: {failed}")
            elif node:
                words = _last_words(place.log)
                sentences.append(
                    f"task {place.rank} on {node} has begun, and its server is not ready{f': {words}' if words else ''}"
                )
            else:
                sentences.append(
                    f"task {place.rank} has not begun (nodes of the job: "
                    f"{os.environ.get('SLURM_JOB_NODELIST', 'not told')})"
                )
        return sentences

    def addresses(self) -> list[str]:
        """Of those that are ready now."""
        found = [address for place in self._places if (address := place.said("ready"))]
        _write(self.folder / "servers", "".join(f"{address}\n" for address in found))
        return found

    def _stop(self) -> None:  # they finish what they do
        if self._step.poll() is None:
            self._step.terminate()  # srun hands it on to the tasks
            try:
                self._step.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._step.kill()
                self._step.wait()
        for place in self._places:
            place.unsay("ready")
        (self.folder / "token").unlink(missing_ok=True)
        (self.folder / "servers").unlink(missing_ok=True)


class Fleet(EngineFleet):
    """A fleet on servers of its own in this allocation, which end with it.

    tasks, least, ready_s, folder, options, srun   as of Servers
    all others                                     as of moreau_sim.Fleet
    """

    def __init__(
        self,
        template: str | os.PathLike[str] | Mapping[str, Any] | p.Scene,
        *,
        count: int,
        tasks: int | None = None,
        least: int | None = None,
        ready_s: float = 120.0,
        folder: str | os.PathLike[str] | None = None,
        options: Sequence[str] = (),
        srun: Sequence[str] = (),
        **more: Any,
    ) -> None:
        self.slurm = Servers(tasks=tasks, least=least, ready_s=ready_s, folder=folder, options=options, srun=srun)
        super().__init__(self.slurm, template, count=count, **more)


if __name__ == "__main__":
    rank = os.environ["SLURM_PROCID"]
    sys.exit(serve(pathlib.Path(sys.argv[1]), [word.replace("%t", rank) for word in sys.argv[2:]]))
