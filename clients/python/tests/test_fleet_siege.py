# SPDX-License-Identifier: MIT
"""A learner on three servers, of which a random one is killed at random moments ($MOREAU_FLEET_KILLS times), and comes
back at once, later, or never; servers join and are drained meanwhile. What it sees is what nobody disturbed."""

import os
import random
import threading
import time

import numpy as np
from test_fleet import COUNT, LAYOUT, CART, same

import moreau_sim
from moreau_sim import Fleet, Group

KILLS = int(os.environ.get("MOREAU_FLEET_KILLS", "4"))
SERVERS = 3


class Siege:
    """Kills servers in a thread of its own. What it does follows from the seed; when it meets the learner does not."""

    def __init__(self, folder, seed):
        self.folder = folder
        self.random = random.Random(seed)
        self.made = 0
        self.running = {}
        self.lock = threading.Lock()
        self.done = 0
        for _ in range(SERVERS):
            self.start(self.new_address())

    def new_address(self):
        self.made += 1
        return f"unix:{self.folder}/server-{self.made}"

    def start(self, address):
        server = moreau_sim.launch(workers=1, options=["--listen", address])
        with self.lock:
            self.running[address] = server

    def addresses(self):
        with self.lock:
            return list(self.running)

    def run(self):
        while self.done < KILLS:
            time.sleep(self.random.uniform(0.0, 0.15))
            with self.lock:
                address = self.random.choice(sorted(self.running))
                server = self.running.pop(address)
            server.process.kill()
            server.process.wait()
            self.done += 1
            fate = self.random.choice(["at once", "later", "never"])
            if fate == "later":
                time.sleep(0.3 if KILLS < 50 else 2.0)
            self.start(self.new_address() if fate == "never" else address)
            server.stop()

    def stop(self):
        for server in self.running.values():
            server.stop()


def actions(call):
    return np.sin(np.arange(COUNT) * 0.7 + 0.1 * call)[:, None]


def test_kills_are_not_noticed(client, tmp_path):
    siege = Siege(tmp_path, seed=KILLS)
    killer = threading.Thread(target=siege.run, daemon=True)
    try:
        with Group.create(client, CART, count=COUNT, **LAYOUT) as group, Fleet(
            siege.addresses, CART, count=COUNT, shares=6, lost_after_s=5.0, **LAYOUT
        ) as fleet:
            same(fleet.reset(seed=7), group.reset(seed=7))
            killer.start()
            call = 0
            while killer.is_alive() or call < 50:
                if call % 97 == 50:
                    fleet.refresh()  # who came back gets a part
                elif call % 97 == 80 and len(fleet.servers.open_hosts()) > 1:
                    fleet.drain(fleet.servers.open_hosts()[0].address)
                elif call % 97 == 90:
                    fleet.servers.draining.clear()
                same(fleet.step(actions(call)), group.step(actions(call)))
                call += 1
            lost = [event.kind for event in fleet.events].count("lost")
            print(f"{siege.done} kills, {lost} noticed, {call} calls")
            assert siege.done == KILLS and lost >= KILLS // 4
    finally:
        killer.join()
        siege.stop()
