#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call on a group costs, layer by layer: bytes on a socket, Group.step, VectorEnv.step, gymnasium.make's step.

    MOREAU_SERVER_BIN=build/release/moreau-server PYTHONPATH=clients/python/src python3 tests/bench/peers/call.py [--workers 1 2] [--worlds 1 64 1024]

Wants numpy and gymnasium. All layers step cart-poles with random actions that begin anew when they fall, and take turns. Of
each it prints the time of a call (median) and the CPU time of both sides [us]. `moreau bench call` goes on below, in C:
the same bytes from a client in C, the physics alone, and a bare echo.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

import moreau_sim.gym
from moreau_sim import protocol as p
from moreau_sim._wire import decode, encode

ACTIONS = 32
BLOCK = 50  # calls before the next one's turn


def server_cpu_ns(pid: int) -> int:
    """Of all threads of another process."""
    return time.clock_gettime_ns((~pid << 3) | 2)


@dataclass
class Layer:
    name: str
    step: Callable[[int], object]
    close: Callable[[], object] = lambda: None
    times: list[float] = field(default_factory=list)  # [ns] of a call
    client_ns: int = 0
    server_ns: int = 0

    def turn(self, pid: int, calls: int) -> None:
        own, others = time.process_time_ns(), server_cpu_ns(pid)
        now = time.perf_counter_ns
        for number in range(calls):
            begun = now()
            self.step(number % ACTIONS)
            self.times.append(now() - begun)
        self.client_ns += time.process_time_ns() - own
        self.server_ns += server_cpu_ns(pid) - others

    def row(self) -> dict[str, Any]:
        calls = len(self.times)
        return {
            "layer": self.name,
            "p50_us": statistics.median(self.times) / 1e3,
            "client_us": self.client_ns / calls / 1e3,
            "server_us": self.server_ns / calls / 1e3,
        }


class Raw:
    """Frames that were made beforehand, and of replies the bytes."""

    def __init__(self, address: str) -> None:
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address.removeprefix("unix:"))
        else:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.view = memoryview(bytearray(1 << 20))
        self.exchange(frame(p.Request(id=1, hello=p.Hello(protocol_major=1))))

    def exchange(self, request: bytes) -> memoryview:
        self.socket.sendall(request)
        count = self.socket.recv_into(self.view)
        (bytes_of_body,) = struct.unpack_from(">I", self.view)
        while count < 4 + bytes_of_body:
            count += self.socket.recv_into(self.view[count:])
        return self.view[4:count]


def frame(request: p.Request) -> bytes:
    body = encode(request)
    return struct.pack(">I", len(body)) + body


def raw(name: str, address: str, worlds: int, call: Callable[[int, Any], p.Request]) -> Layer:
    """A group of its own over a connection of its own."""
    pole = moreau_sim.gym.CartPole()
    client = moreau_sim.Client(address)
    group = moreau_sim.Group.create(
        client, pole.scene, count=worlds, action=pole.action, observation=pole.observation, bounds=pole.bounds, noise=pole.noise,
        step_limit=500, autoreset="SAME_STEP",
    )
    group.reset(seed=0)
    rng = np.random.default_rng(0)
    frames = [frame(call(group.id, rng.integers(0, 2, worlds) * 2.0 - 1.0)) for _ in range(ACTIONS)]
    connection = Raw(address)
    last = decode(p.Reply, bytearray(connection.exchange(frames[0])))
    assert last.group_step and not last.group_step.failures, last
    return Layer(name, lambda number: connection.exchange(frames[number]), client.close)


def of_group(address: str, worlds: int) -> Layer:
    pole = moreau_sim.gym.CartPole()
    client = moreau_sim.Client(address)
    group = moreau_sim.Group.create(
        client, pole.scene, count=worlds, action=pole.action, observation=pole.observation, bounds=pole.bounds, noise=pole.noise,
        step_limit=500, autoreset="SAME_STEP",
    )
    group.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = [(rng.integers(0, 2, (worlds, 1)) * 2.0 - 1.0).astype(np.float32) for _ in range(ACTIONS)]
    return Layer("Group.step", lambda number: group.step(actions[number]), client.close)


def of_vector(address: str, worlds: int) -> Layer:
    env = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=worlds, address=address, autoreset_mode="SameStep")
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = [rng.integers(0, 2, worlds) for _ in range(ACTIONS)]
    return Layer("VectorEnv.step", lambda number: env.step(actions[number]), env.close)


def of_single(name: str, id: str, wraps: bool, **more: Any) -> Layer:
    env = gymnasium.make(id, **more)
    stepped = env if wraps else env.unwrapped
    stepped.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = [np.int64(action) for action in rng.integers(0, 2, ACTIONS)]

    def step(number: int) -> None:
        _, _, terminated, truncated, _ = stepped.step(actions[number])
        if terminated or truncated:
            stepped.reset()

    return Layer(name, step, env.close)


def layers(address: str, worlds: int) -> Iterator[Layer]:
    yield raw("bytes, GroupRead", address, worlds, lambda id, action: p.Request(id=2, group_read=p.GroupRead(group=id)))
    yield raw("bytes, GroupStep", address, worlds, lambda id, action: p.Request(id=2, group_step=p.GroupStep(group=id, action=action)))
    yield of_group(address, worlds)
    yield of_vector(address, worlds)
    if worlds == 1:
        yield of_single("env.step, bare", "moreau_sim/CartPole-v0", False, address=address)
        yield of_single("gymnasium.make's env.step", "moreau_sim/CartPole-v0", True, address=address)
        yield of_single("Gymnasium's own CartPole, bare", "CartPole-v1", False)
        yield of_single("Gymnasium's own CartPole, wrapped", "CartPole-v1", True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--worlds", nargs="+", type=int, default=[1, 64, 1024])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--port", type=int, default=17668)
    parser.add_argument("--seconds", type=float, default=4.0, help="of all layers of a row of the table")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    table = []
    for workers in arguments.workers:
        with moreau_sim.launch(workers=workers, options=["--listen", f"127.0.0.1:{arguments.port}"]) as server:
            for net, address in (("Unix", server.address), ("TCP", f"127.0.0.1:{arguments.port}")):
                for worlds in arguments.worlds:
                    all_of_them = list(layers(address, worlds))
                    for layer in all_of_them:
                        layer.turn(server.process.pid, BLOCK)  # warms up
                        layer.times, layer.client_ns, layer.server_ns = [], 0, 0
                    end = time.monotonic() + arguments.seconds
                    while time.monotonic() < end:
                        for layer in all_of_them:
                            layer.turn(server.process.pid, BLOCK)
                    for layer in all_of_them:
                        row = {"workers": workers, "net": net, "worlds": worlds, **layer.row()}
                        table.append(row)
                        if not arguments.json:
                            print("{workers} {net:4} {worlds:5}  {layer:34} {p50_us:8.1f} us  client {client_us:7.1f}  server {server_us:8.1f}".format(**row), flush=True)
                        layer.close()
    if arguments.json:
        json.dump(table, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
