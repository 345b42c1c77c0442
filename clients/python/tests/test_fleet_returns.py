# SPDX-License-Identifier: MIT
"""Recorded fleets whose servers are killed, drained and saved at any moment: each episode that a learner saw end, and
whose return it told, is in some server's file, with that return."""

import random
import subprocess

import numpy as np
import pytest
from test_fleet import CART, LAYOUT, launched  # noqa: F401

from moreau_sim import Fleet, Group, Runs

COUNT, CALLS, SHARES, EPISODE = 20, 40, 5, 7
QUIET = {name: value for name, value in LAYOUT.items() if name not in ("bounds", "parameters")}
QUIET["step_limit"] = EPISODE


def earned(world, turn):
    """No other episode's."""
    return 1000.0 * turn + world


class Learner:
    """Tells the return of each episode so many calls after it has seen its end."""

    def __init__(self, launched, folder, late=0):  # noqa: F811
        self.launch = lambda: launched(db=folder / f"{len(launched.running)}.db")
        self.folder, self.launched, self.late = folder, launched, late
        addresses = [self.launch().address for _ in range(2)]
        self.fleet = Fleet(addresses, CART, count=COUNT, shares=SHARES, record="r", save_every=10**6, **QUIET)
        self.fleet.reset(seed=7)
        self.call, self.ended, self.waiting = 0, {}, []

    def actions(self):
        return np.sin(np.arange(COUNT) * 0.7 + self.call)[:, None]

    def see(self, rows):
        for world, turn in zip(rows.final.world.tolist(), rows.final.episode.tolist()):
            self.ended[world, turn] = self.call
            self.waiting.append((self.call + self.late, world, turn))

    def tell(self):
        now = [one for one in self.waiting if one[0] <= self.call]
        self.waiting = [one for one in self.waiting if one[0] > self.call]
        if now:
            self.fleet.tell_returns([world for _, world, _ in now], [earned(*one[1:]) for one in now])
        self.call += 1

    def step(self, save=False):
        self.see(self.fleet.step(self.actions()))
        if save:
            self.fleet.save()
        self.tell()

    def kill(self, share=0):
        """The server of this share, and another one joins."""
        self.kill_at(self.fleet.shares[share].host.address)
        self.fleet.servers.add(self.launch().address)

    def kill_at(self, address):
        (server,) = (one for one in self.launched.running if one.address == address)
        server.process.kill()
        server.process.wait()

    def expect_all(self):
        """In the files of all servers together."""
        self.call += self.late
        self.tell()
        self.fleet.close()
        for server in self.launched.running:
            server.stop()
        merged, files = self.folder / "all.db", sorted(self.folder.glob("?.db")) + sorted(self.folder.glob("??.db"))
        told = subprocess.run([self.launched.running[0].binary, "--merge", merged, *files], capture_output=True)
        assert told.returncode == 0, told.stdout + told.stderr
        with Runs([str(merged)]) as runs:
            found = {}
            for one in runs:
                share = self.fleet.shares[int(one.info.world_name.split(".")[2])]
                found[share.first + (one.info.world_index or 0), one.info.turn or 0] = one.return_sum
        assert len(self.ended) >= CALLS // (EPISODE + 1) * COUNT
        assert {one: found.get(one) for one in self.ended} == {one: earned(*one) for one in self.ended}
# which saves there are before the server is lost: behind the call that ends an episode, before its return is told;
# twice behind that; behind the next call
@pytest.mark.parametrize("saves", ["e", "ettn"])
def test_what_was_saved_before_a_server_was_lost_is_in_its_file(launched, tmp_path, saves):  # noqa: F811
    learner = Learner(launched, tmp_path)
    while learner.call < CALLS:
        ends = learner.call % (EPISODE + 1) == EPISODE - 1  # the step behind the last begins the next
        learner.step(save=ends and "e" in saves)
        for _ in range(saves.count("t") if ends else 0):
            learner.fleet.save()
        if "n" in saves and learner.call % (EPISODE + 1) == 1:
            learner.fleet.save()
        if learner.call in (CALLS // 2, CALLS // 2 + EPISODE):
            learner.kill()
    if "n" in saves:
        learner.kill()
    learner.expect_all()


# by how many calls returns are late
@pytest.mark.parametrize("seed, late", [(1, 0), (3, 2)])
def test_nothing_is_lost_at_any_moment(launched, tmp_path, seed, late):  # noqa: F811
    learner = Learner(launched, tmp_path, late)
    dice = random.Random(seed)
    fleet = learner.fleet
    while learner.call < CALLS:
        if dice.random() < 0.3:
            fleet.send(learner.actions())
            away = COUNT
            while away:
                rows = fleet.receive(min(away, dice.choice([3, 8, COUNT])))
                away -= len(rows.worlds)
                learner.see(rows)
                if dice.random() < 0.03:
                    learner.kill(dice.randrange(SHARES))
                if dice.random() < 0.1:
                    fleet.save()
            learner.tell()
        else:
            learner.step(save=dice.random() < 0.2)
        for _ in range(dice.choice([0, 0, 0, 0, 1, 2])):
            fleet.save()
        if dice.random() < 0.08:
            learner.kill(dice.randrange(SHARES))
        if dice.random() < 0.08:
            fleet.add(learner.launch().address)
            fleet.drain(fleet.servers.hosts[0].address)
    assert {"lost", "moved", "drained", "saved"} <= {event.kind for event in fleet.events}
    learner.expect_all()


def test_a_server_that_is_lost_while_it_is_drained_takes_no_episode_along(launched, tmp_path, monkeypatch):  # noqa: F811
    """Right behind the save that its shares move by, when it has no returns of what has just ended."""
    learner = Learner(launched, tmp_path)
    while len(learner.ended) < COUNT:
        learner.step()
    save, lost = Group.save, learner.fleet.shares[0].host.address

    def save_last(group):
        saved = save(group)
        learner.kill_at(lost)
        return saved

    monkeypatch.setattr(Group, "save", save_last)
    learner.fleet.drain(lost)
    monkeypatch.undo()
    assert [event.kind for event in learner.fleet.events].count("lost") == 1
    while learner.call < CALLS:
        learner.step()
    learner.expect_all()
