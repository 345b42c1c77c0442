#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a fleet costs: steps per second beside one server with as many lanes, delay on the network, saving, a loss.

    MOREAU_SERVER_BIN=build/release/moreau-server PYTHONPATH=clients/python/src python3 tests/bench/peers/fleet.py [beside] [delay] [save]

Wants numpy and gymnasium. All servers, the learner and the relay are on this machine, on Unix sockets: what is measured
is the work, not a network. `delay` puts a relay of ours in front of each server, which keeps every byte that goes to the
server for so long (as netem does on one side of a cable), so a round trip takes as much longer.

Of the times of calls the tenth part that is fastest is taken (its slowest one): what else the machine does is left out.
CPU time is that of the learner and of all servers.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np

import moreau_sim
from moreau_sim import Fleet, Group, channel
from moreau_sim.gym.ant import Ant
from moreau_sim.gym.cart_pole import CartPole

KEPT = 0.9  # of the throughput


def layout_of(kind):
    environment = kind()
    names = ("action", "observation", "extra", "bounds", "noise", "substeps", "step_limit")
    return environment.scene, {name: getattr(environment, name) for name in names}


def humanoid():
    """On stairs, with a motor in each hinge; it falls, and begins anew."""
    scene = json.loads((pathlib.Path(__file__).parents[2] / "scenes/joints/humanoid_stairs.json").read_text())
    hinges = [one["name"] for one in scene["joints"] if one.get("kind", "HINGE") == "HINGE"]
    seen = [channel(kind, name) for kind in ("JOINT_POSITION", "JOINT_VELOCITY") for name in hinges]
    action = [channel("JOINT_EFFORT", name, scale=20.0) for name in hinges]
    return scene, {"action": action, "observation": seen, "step_limit": 400, "autoreset": "SAME_STEP"}


def cpu_s():
    """Of this process and of its children, the servers."""
    used = time.process_time()
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as listed:
            for pid in listed.read().split():
                with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as stat:
                    numbers = stat.read().rsplit(")", 1)[1].split()
                    used += (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
    return used


class Pace:
    """Calls one after the other, random actions that are made before."""

    def __init__(self, group, count):
        self.group, self.count = group, count
        generator = np.random.default_rng(0)
        self.actions = [generator.uniform(-1, 1, (count, len(group.action))).astype(np.float32) for _ in range(8)]
        self.times, self.cpu = [], 0.0
        group.reset(seed=0)
        self.turn(0.2)
        self.times, self.cpu = [], 0.0

    def turn(self, seconds):
        cpu, ends = cpu_s(), time.monotonic() + seconds
        for calls in range(1 << 30):
            begun = time.monotonic()
            if begun > ends and calls >= 3:
                break
            self.group.step(self.actions[calls % len(self.actions)])
            self.times.append(time.monotonic() - begun)
        self.cpu += cpu_s() - cpu

    @property
    def call_s(self):
        return float(np.quantile(self.times, 0.1))

    @property
    def told(self):
        return f"{self.count / self.call_s:,.0f}/s ({1e6 * self.cpu / len(self.times) / self.count:.3g} us)"


@contextlib.contextmanager
def launched(*lanes):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(moreau_sim.launch(workers=each)) for each in lanes]


# ---- beside one server


def beside(seconds, rounds):
    """In turns, so that what else the machine does meets all of them alike."""
    print("| worlds | lanes | one server, a group | one server, a fleet | as many servers as lanes | of the group |\n| --- | --- | --- | --- | --- | --- |")
    for name, kind, count in (("cart-poles", CartPole, 4096), ("Ants", Ant, 512)):
        scene, layout = layout_of(kind)
        for lanes in (2, 3):
            with launched(lanes) as (one,), launched(lanes) as (alone,), launched(*[1] * lanes) as many, one.client(timeout_s=60) as client:
                with (
                    Group.create(client, scene, count=count, **layout) as group,
                    Fleet([alone.address], scene, count=count, **layout) as fleet_of_one,
                    Fleet([each.address for each in many], scene, count=count, **layout) as fleet,
                ):
                    paces = [Pace(each, count) for each in (group, fleet_of_one, fleet)]
                    for _ in range(rounds):
                        for pace in paces:
                            pace.turn(seconds)
            group, _, many = paces
            print(f"| {count:,} {name} | {lanes} | {' | '.join(pace.told for pace in paces)} | {group.call_s / many.call_s:.2f} |", flush=True)


# ---- delay


def relay(path, delay_s):
    """A process of its own: python3 fleet.py --relay PATH SECONDS. Says its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def hand_on(queue, ready, to):
        while True:
            ready.acquire()
            due, data = queue.popleft()
            wait = due - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            to.sendall(data)

    def pump(near, far, held):
        queue, ready = collections.deque(), threading.Semaphore(0)
        if held:  # also for no time at all: the relay costs the same with every delay
            threading.Thread(target=hand_on, args=(queue, ready, far), daemon=True).start()
        with contextlib.suppress(OSError):
            while data := near.recv(1 << 20):
                if held:
                    queue.append((time.monotonic() + delay_s, data))
                    ready.release()
                else:
                    far.sendall(data)

    while True:
        near = listener.accept()[0]
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        far = socket.socket(socket.AF_UNIX)
        far.connect(path)
        threading.Thread(target=pump, args=(near, far, True), daemon=True).start()
        threading.Thread(target=pump, args=(far, near, False), daemon=True).start()


@contextlib.contextmanager
def relayed(server, delay_s):
    process = subprocess.Popen([sys.executable, __file__, "--relay", server.address.removeprefix("unix:"), str(delay_s)], stdout=subprocess.PIPE, text=True)
    try:
        yield f"127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def calls(servers, delays, scene, layout, count, seconds, rounds):
    """Of each delay, in turns: the time of a call of a fleet on these servers."""
    with contextlib.ExitStack() as stack:
        paces = []
        for each in delays:
            addresses = [stack.enter_context(relayed(server, each)) for server in servers]
            fleet = stack.enter_context(Fleet(addresses, scene, count=count, save_every=1 << 30, **layout))
            paces.append(Pace(fleet, count))
        for _ in range(rounds):
            for pace in paces:
                pace.turn(seconds)
        return [pace.call_s for pace in paces]


def delay(seconds, rounds):
    """The model: a call that takes t takes t + d behind a delay of d, so t / (t + d) of the throughput is kept, and nine
    tenths where a call takes nine times the delay."""
    scene, layout = layout_of(CartPole)
    counts = [64, 256, 1024, 4096, 16384]
    delays = [0.0, 0.2e-3, 1e-3, 5e-3]
    own = []
    with launched(1, 1) as servers:
        print("| worlds | a call | " + " | ".join(f"{1e3 * d:g} ms: kept (model)" for d in delays[1:]) + " |\n| --- |" + " --- |" * len(delays))
        for count in counts:
            times = calls(servers, delays, scene, layout, count, seconds, rounds)
            own.append(times[0])
            cells = [f"{times[0] / late:.2f} ({times[0] / (times[0] + d):.2f})" for d, late in zip(delays[1:], times[1:])]
            print(f"| {count:,} | {1e3 * times[0]:.2f} ms | {' | '.join(cells)} |", flush=True)
        print("\n| delay | worlds for nine tenths, by the model | kept there |\n| --- | --- | --- |")
        slope = (own[-1] - own[-2]) / (counts[-1] - counts[-2])
        for d in delays[1:]:
            wanted = KEPT / (1 - KEPT) * d
            needed = counts[-1] + (wanted - own[-1]) / slope if wanted > own[-1] else np.interp(wanted, own, counts)
            count = int(min(max(needed, counts[0]), 1 << 16))
            prompt, late = calls(servers, [0.0, d], scene, layout, count, seconds, rounds)
            print(f"| {1e3 * d:g} ms | {count:,} | {prompt / late:.2f} |", flush=True)


# ---- saving, and a loss


def save(seconds, rounds):
    print("| worlds | bytes, of a world | saving | calls between two saves | its share | a call | the call in which a server is lost |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name, (scene, layout), count in (("cart-poles", layout_of(CartPole), 4096), ("Ants", layout_of(Ant), 512), ("humanoids", humanoid(), 256)):
        with launched(1, 1, 1) as servers, Fleet([one.address for one in servers], scene, count=count, **layout) as fleet:
            pace = Pace(fleet, count)
            pace.turn(seconds)
            took = []
            for _ in range(rounds):
                begun = time.monotonic()
                fleet.save()
                took.append(time.monotonic() - begun)
                pace.turn(0.2)
            size = sum(len(share.saved) for share in fleet.shares)
            call = pace.call_s
            every = fleet._schedule.every
            fleet.save()
            for calls in range(every // 2):
                fleet.step(pace.actions[calls % 8])
            os.kill(servers[0].process.pid, signal.SIGKILL)
            begun = time.monotonic()
            fleet.step(pace.actions[0])
            lost = time.monotonic() - begun
        saving = float(np.quantile(took, 0.1))
        print(
            f"| {count:,} {name} | {size:,}, {size / count:,.0f} | {1e3 * saving:.1f} ms | {every} | {saving / (saving + every * call):.1%} | {1e3 * call:.1f} ms | {1e3 * lost:.0f} ms |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="beside|delay|save")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a turn")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--relay", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.relay:
        relay(arguments.relay[0], float(arguments.relay[1]))
    for part in arguments.parts or ["beside", "delay", "save"]:
        print(f"{part}:\n")
        {"beside": beside, "delay": delay, "save": save}[part](arguments.seconds, arguments.rounds)
        print()


main()
