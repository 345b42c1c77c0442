#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Environment steps per second of learners' worlds, ours through a socket and its rivals in process, in turns.

    MOREAU_SERVER_BIN=build/release/moreau-server PYTHONPATH=clients/python/src python3 tests/bench/peers/farm.py [cartpole] [ant] [--worlds 64 1024]

Wants numpy, gymnasium[mujoco] and mujoco 4, and takes EnvPool where it is installed. Every contestant acts at random and begins its
episodes anew. CPU time is that of this process and of all that it started. A contestant of more than one process or thread
has --threads of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import mujoco
import mujoco.batch
import numpy as np

import moreau_sim.gym

PORT = 17667
TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
POLE = """<mujoco><option timestep="0.02" integrator="Euler" gravity="0 0 -9.8"/><worldbody><body name="cart"><joint name="rail" type="slide"
axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><body pos="0 0 0"><joint name="hinge" type="hinge" axis="0 1 0"/>
<inertial pos="0 0 0.5" mass="0.1" diaginertia="0.00833333 0.00833333 1e-5"/></body></body></worldbody>
<actuator><motor joint="rail" gear="10"/></actuator></mujoco>"""


def cpu_s() -> float:
    """Of this process and of everything below it."""
    own = time.process_time()
    children, seen = [os.getpid()], 0.0
    while children:
        pid = children.pop()
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as listed:
                    children += [int(child) for child in listed.read().split()]
            if pid != os.getpid():
                with open(f"/proc/{pid}/stat") as stat:
                    numbers = stat.read().rsplit(")", 1)[1].split()
                seen += (int(numbers[11]) + int(numbers[12])) * TICK_S
        except OSError:
            continue
    return own + seen


@dataclass
class Contestant:
    name: str
    step: Callable[[], None]
    close: Callable[[], None]
    rates: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)  # [s] of CPU per environment step

    def turn(self, worlds: int, seconds: float) -> None:
        cpu, begun, calls = cpu_s(), time.monotonic(), 0
        while time.monotonic() - begun < seconds:
            for _ in range(10):
                self.step()
            calls += 10
        steps = calls * worlds
        self.rates.append(steps / (time.monotonic() - begun))
        self.costs.append((cpu_s() - cpu) / steps)


def vector(name: str, make: Callable[[], gymnasium.vector.VectorEnv]) -> Contestant:
    env = make()
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(16)]
    turn = iter(range(1 << 62))
    return Contestant(name, lambda: env.step(actions[next(turn) % 16]), env.close)


def mujoco_batch(name: str, model: mujoco.MjModel, worlds: int, threads: int, substeps: int, healthy: Any, act: Any) -> Contestant:
    worlds_of = mujoco.batch.Batch(model, nsim=worlds, nthread=threads)
    qpos, qvel, ctrl = worlds_of.bind("qpos"), worlds_of.bind("qvel"), worlds_of.bind("ctrl")
    first = qpos.copy()
    rng = np.random.default_rng(0)
    actions = [act(rng, ctrl.shape) for _ in range(16)]
    turn = iter(range(1 << 62))

    def step() -> None:
        ctrl[:] = actions[next(turn) % 16]
        worlds_of.step(nstep=substeps)
        over = ~healthy(qpos)
        if over.any():
            qpos[over] = first[over] + rng.uniform(-0.05, 0.05, first[over].shape)
            qvel[over] = 0.0

    return Contestant(name, step, getattr(worlds_of, "close", lambda: None))


def envpool_of(id: str, worlds: int, threads: int, act: Any) -> Contestant | None:
    try:
        import envpool
    except ImportError:
        return None
    env = envpool.make_gymnasium(id, num_envs=worlds, num_threads=threads)
    env.reset()
    rng = np.random.default_rng(0)
    actions = [act(rng, worlds) for _ in range(16)]
    turn = iter(range(1 << 62))
    return Contestant("EnvPool", lambda: env.step(actions[next(turn) % 16]), env.close)


def contestants(game: str, worlds: int, threads: int, unix: str) -> Iterator[Contestant | None]:
    ours, theirs = ("moreau_sim/CartPole-v0", "CartPole-v1") if game == "cartpole" else ("moreau_sim/Ant-v0", "Ant-v5")
    for name, address in (("Moreau, Unix socket", unix), ("Moreau, TCP", f"127.0.0.1:{PORT}")):
        yield vector(name, lambda: gymnasium.make_vec(ours, num_envs=worlds, address=address, autoreset_mode="SameStep"))
    if game == "cartpole":
        pole = mujoco.MjModel.from_xml_string(POLE)
        yield mujoco_batch(
            "MuJoCo batch, Euler",
            pole,
            worlds,
            threads,
            1,
            lambda q: (abs(q[:, 0]) < 2.4) & (abs(q[:, 1]) < 0.2094),
            lambda rng, shape: rng.integers(0, 2, shape) * 2.0 - 1.0,
        )
        yield envpool_of("CartPole-v1", worlds, threads, lambda rng, n: rng.integers(0, 2, n).astype(np.int32))
        yield vector("Gymnasium, NumPy", lambda: gymnasium.make_vec(theirs, num_envs=worlds, vectorization_mode="vector_entry_point"))
    else:
        path = os.path.join(os.path.dirname(gymnasium.__file__), "envs/mujoco/assets/ant.xml")
        for name, integrator in (("RK4", mujoco.mjtIntegrator.mjINT_RK4), ("Euler", mujoco.mjtIntegrator.mjINT_EULER)):
            ant = mujoco.MjModel.from_xml_path(path)
            ant.opt.integrator = integrator
            yield mujoco_batch(
                f"MuJoCo batch, {name}",
                ant,
                worlds,
                threads,
                5,
                lambda q: (q[:, 2] > 0.2) & (q[:, 2] < 1.0),
                lambda rng, shape: rng.uniform(-1, 1, shape),
            )
        yield envpool_of("Ant-v4", worlds, threads, lambda rng, n: rng.uniform(-1, 1, (n, 8)))
    yield vector("Gymnasium, Sync", lambda: gymnasium.make_vec(theirs, num_envs=worlds, vectorization_mode="sync"))
    if worlds <= 64:
        yield vector("Gymnasium, Async", lambda: gymnasium.make_vec(theirs, num_envs=worlds, vectorization_mode="async"))


def contest(game: str, worlds: int, arguments: argparse.Namespace, unix: str) -> list[dict[str, Any]]:
    all_of_them = [one for one in contestants(game, worlds, arguments.threads, unix) if one]
    for one in all_of_them:
        one.turn(worlds, 0.2)
        one.rates.clear(), one.costs.clear()
    for number in range(arguments.rounds):
        print(f"\r{game}, {worlds} worlds: round {number + 1} of {arguments.rounds} ", end="", file=sys.stderr, flush=True)
        for one in all_of_them:
            one.turn(worlds, arguments.seconds)
    print("\r", end="", file=sys.stderr)
    table = []
    base = statistics.median(all_of_them[0].rates)
    for one in all_of_them:
        rate, cost = statistics.median(one.rates), statistics.median(one.costs)
        table.append({"game": game, "worlds": worlds, "name": one.name, "steps_per_s": rate, "cpu_us": 1e6 * cost})
        if not arguments.json:
            print(f"{game:9} {worlds:5}  {one.name:20} {rate:12,.0f} steps/s  {1e6 * cost:9.2f} us of CPU a step  {base / rate:6.2f}x", flush=True)
        one.close()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("games", nargs="*", metavar="cartpole|ant")
    parser.add_argument("--worlds", nargs="+", type=int, default=[1, 64, 1024, 4096])
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a turn")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    table = []
    with moreau_sim.launch(workers=arguments.threads, options=["--listen", f"127.0.0.1:{PORT}"]) as server:
        for game in arguments.games or ["cartpole", "ant"]:
            for worlds in arguments.worlds:
                table += contest(game, worlds, arguments, server.address)
    if arguments.json:
        json.dump(table, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
