# SPDX-License-Identifier: MIT
"""A fleet on a cluster of Ray: one server for each bundle of a placement group (extra: moreau-sim[ray]).

    ray.init("auto")
    with moreau_sim.ray.Fleet("cart_pole.json", count=16384, num_servers=4, cpus_per_server=8, action=…, observation=…)
    as fleet:
        rows = fleet.reset(seed=1)

Each server belongs to an actor that only waits for its end. Where server, actor or node is lost Ray starts the actor
anew, elsewhere if it must, and the fleet, which has gone on with the others, takes the new server in.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from . import protocol as p
from .errors import ConnectionLost
from .fleet.engine import Engine, EngineFleet
from .group import Rows
from .launch import Server

POLL_S = 0.1
LOOK_S = 2.0  # between two questions whether a missed server is back
METRICS_FILE = "moreau_metrics_service_discovery.json"


def _session() -> pathlib.Path:
    """Ray's folder on this node."""
    node = ray._private.worker._global_node
    return pathlib.Path(node.get_session_dir_path() if node is not None else "/tmp/ray/session_latest")


class _Keeper:
    """The actor: it has a server, and ends with it, so that Ray starts both anew."""

    def __init__(self, rank: int, workers: int, token: str, options: Sequence[str]) -> None:
        host = ray.util.get_node_ip_address()
        if ":" in host:
            host = f"[{host}]"
        self._folder = tempfile.TemporaryDirectory(prefix="moreau-ray-")  # only its owner reads it
        secret = pathlib.Path(self._folder.name) / "token"
        secret.write_text(token + "\n")
        secret.chmod(0o600)
        node = ray.get_runtime_context().get_node_id()
        more = [word.replace("%n", str(rank)) for word in options]
        more += ["--workers", str(workers), "--token-file", str(secret), "--http", f"{host}:0"]
        if "--tls-cert" not in more:
            more.append("--insecure-plain")  # Ray's own traffic is plain on this network, unless it is told otherwise
        log = _session() / "logs" / f"moreau-server-{rank}-{node[:8]}-{os.getpid()}.log"
        self.server = Server(None, more, 60.0, listen=f"{host}:0", log=log)
        threading.Thread(target=self._end_with_it, daemon=True).start()

    def _end_with_it(self) -> None:
        self.server.process.wait()
        os._exit(1)

    def where(self) -> tuple[str, str]:
        """Of the server, and of its pages."""
        return self.server.address, self.server.http

    def node(self) -> str:
        return str(ray.get_runtime_context().get_node_id())


class Servers(Engine):
    """The servers of a placement group, for who wants them without a fleet: `addresses` is a function that a Fleet
    takes, and `token` what it shows.

    num_servers       one for each bundle
    cpus_per_server   of a bundle, and lanes of its server
    strategy          of the placement group: SPREAD, as far apart as there are nodes; STRICT_SPREAD: never two on one
    ready_s           how long all of them are waited for
    options           of each server, as `moreau-server --help` has them; "%n" is its number:
                      ["--db", "/data/run-%n.db"]
    metrics_file      for Prometheus (file_sd_configs), says where the servers' metrics are; default:
                      moreau_metrics_service_discovery.json beside Ray's own, in its folder on this node. The token that
                      they demand (authorization: credentials_file) is beside it, with .token behind the name; who has
                      it may do everything
    """

    def __init__(
        self,
        *,
        num_servers: int,
        cpus_per_server: int = 1,
        strategy: str = "SPREAD",
        ready_s: float = 120.0,
        options: Sequence[str] = (),
        metrics_file: str | os.PathLike[str] | None = None,
    ) -> None:
        if num_servers < 1 or cpus_per_server < 1:
            raise ValueError(
                f"num_servers, cpus_per_server: each is 1 at least, not {num_servers} and {cpus_per_server}"
            )
        if not ray.is_initialized():
            ray.init()
        super().__init__()
        self.metrics_file = pathlib.Path(metrics_file or _session() / METRICS_FILE)
        self.token_file = self.metrics_file.with_name(self.metrics_file.name + ".token")
        self._written: list[str] | None = None
        self._actors: list[Any] = []
        self._asked: dict[int, Any] = {}  # who has not answered yet
        with open(os.open(self.token_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(self.token + "\n")
        self._group = placement_group([{"CPU": cpus_per_server}] * num_servers, strategy=strategy)
        try:
            self._await_group(ready_s, num_servers, cpus_per_server)
            kind = ray.remote(_Keeper)
            for rank in range(num_servers):
                place = PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=rank)
                actor = kind.options(
                    num_cpus=cpus_per_server, max_restarts=-1, max_task_retries=0, scheduling_strategy=place
                )
                self._actors.append(actor.remote(rank, cpus_per_server, self.token, list(options)))
            self._await_servers(time.monotonic() + ready_s, ready_s)
        except BaseException:
            self.stop()
            raise

    def _await_group(self, ready_s: float, servers: int, cpus: int) -> None:
        if not self._group.wait(ready_s):
            there = ray.cluster_resources().get("CPU", 0)
            raise ConnectionLost(
                f"the cluster has no room for {servers} servers of {cpus} CPUs after {ready_s:g} s: it has {there:g} "
                f"CPUs, of which {ray.available_resources().get('CPU', 0):g} are free"
            )

    def _await_servers(self, until: float, ready_s: float) -> None:
        while True:
            found = self._ask(POLL_S)
            missing = [rank for rank in range(len(self._actors)) if rank not in found]
            if not missing:
                return
            for rank in missing:
                if (why := self._why_dead(rank)) is not None:
                    raise ConnectionLost(f"server {rank} cannot be started: {why}")
            if time.monotonic() > until:
                raise ConnectionLost(
                    f"servers {', '.join(map(str, missing))} of {len(self._actors)} are not ready after {ready_s:g} "
                    f"s: logs are in {_session() / 'logs'}"
                )

    def _why_dead(self, rank: int) -> str | None:
        """What its actor's beginning said; None: it may come yet."""
        asked = self._asked.get(rank)
        if asked is None or not ray.wait([asked], timeout=0)[0]:
            return None
        try:
            ray.get(asked)
        except ray.exceptions.ActorDiedError as why:
            return str(why).strip().splitlines()[-1]
        except ray.exceptions.RayError:
            return None
        return None

    def _ask(self, wait_s: float) -> dict[int, tuple[str, str]]:
        """Where each server is, of those whose actors live."""
        for rank, actor in enumerate(self._actors):
            if rank not in self._asked:
                self._asked[rank] = actor.where.remote()
        if self._asked:
            ray.wait(list(self._asked.values()), num_returns=len(self._asked), timeout=wait_s)
        found = {}
        for rank, asked in list(self._asked.items()):
            if ray.wait([asked], timeout=0)[0]:
                try:
                    found[rank] = ray.get(asked)
                except ray.exceptions.ActorUnavailableError:
                    pass  # is being started anew
                except ray.exceptions.RayError:
                    continue  # _why_dead knows
                del self._asked[rank]
        return found

    def addresses(self) -> list[str]:
        """Of those that are there now."""
        found = self._ask(1.0)
        self._tell_prometheus([pages for _, pages in found.values()])
        return [address for address, _ in found.values()]

    def _tell_prometheus(self, targets: list[str]) -> None:
        if targets != self._written:
            new = self.metrics_file.with_name(f"{self.metrics_file.name}.{os.getpid()}.new")
            new.write_text(json.dumps([{"labels": {"job": "moreau"}, "targets": targets}]))
            new.rename(self.metrics_file)  # Prometheus never sees half of it
            self._written = targets

    def _stop(self) -> None:
        for actor in self._actors:
            with contextlib.suppress(ray.exceptions.RayError):
                ray.kill(actor)
        self._actors, self._asked = [], {}
        with contextlib.suppress(ray.exceptions.RayError):
            remove_placement_group(self._group)
        for path in (self.metrics_file, self.token_file):
            path.unlink(missing_ok=True)


class Fleet(EngineFleet):
    """A fleet on servers of its own in this cluster, which end with it. Who is started anew is taken in between two
    calls of step() and reset(); who uses send() and receive() asks for that with refresh().

    num_servers, cpus_per_server, strategy, ready_s, options, metrics_file   as of Servers
    all others                                                               as of moreau_sim.Fleet
    """

    def __init__(
        self,
        template: str | os.PathLike[str] | Mapping[str, Any] | p.Scene,
        *,
        count: int,
        num_servers: int,
        cpus_per_server: int = 1,
        strategy: str = "SPREAD",
        ready_s: float = 120.0,
        options: Sequence[str] = (),
        metrics_file: str | os.PathLike[str] | None = None,
        **more: Any,
    ) -> None:
        self.num_servers = num_servers
        self._looked = time.monotonic()
        self.ray = Servers(
            num_servers=num_servers,
            cpus_per_server=cpus_per_server,
            strategy=strategy,
            ready_s=ready_s,
            options=options,
            metrics_file=metrics_file,
        )
        super().__init__(self.ray, template, count=count, **more)

    def _take_in(self) -> None:
        if len(self.servers.hosts) < self.num_servers and time.monotonic() - self._looked > LOOK_S:
            self.refresh()
            self._looked = time.monotonic()

    def step(self, *arguments: Any, **more: Any) -> Rows:
        self._take_in()
        return super().step(*arguments, **more)

    def reset(self, *arguments: Any, **more: Any) -> Rows:
        self._take_in()
        return super().reset(*arguments, **more)
