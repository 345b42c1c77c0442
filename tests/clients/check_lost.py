# SPDX-License-Identifier: MIT
"""What a server of a fleet recorded before it was lost: its file is merged with those of the others, and an episode of it
that looks odd is looked into elsewhere, on a server that was not there: verified, stepped again to the numbers that the
learner saw, proven by the page, and opened by a link.

What looks at pages is left out where there is no Chromium."""

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
import time

import numpy as np
import pytest

import moreau_sim
from check_view import browse, needs_chromium, run
from moreau_sim import Fleet, channel, uniform

COUNT, CALLS, LOST_CALL = 96, 70, 45
SHARES = 4
PATIENCE_S = 100.0  # on a busy machine, until a server has written what it recorded; a second or two on any other
FRAME_S = 0.02
# a pole on a cart; what the learner sees of it is where the pole is
CART = {
    "name": "cart",
    "settings": {"time_step": FRAME_S, "gravity": [0, 0, -9.81]},
    "bodies": [
        {"name": "cart", "shapes": [{"box": {"half_extents": [0.2, 0.1, 0.1]}, "density": 100}]},
        {"name": "pole", "position": [0, 0, 0.5], "shapes": [{"box": {"half_extents": [0.02, 0.02, 0.5]}, "density": 100}]},
    ],
    "joints": [
        {"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]},
        {"name": "hinge", "kind": "HINGE", "body_a": "cart", "body_b": "pole", "anchor": [0, 0, 0], "axis": [0, 1, 0]},
    ],
}
LAYOUT = {
    "action": [channel("JOINT_EFFORT", "rail", scale=10, low=-1, high=1)],
    "observation": [channel("BODY_POSITION", "pole")],
    "bounds": [channel("JOINT_POSITION", "hinge", low=-0.2, high=0.2)],
    "noise": [uniform("JOINT_POSITION", "hinge", -0.15, 0.15)],
    "step_limit": 30,
}


def actions(call):
    return np.sin(np.arange(COUNT) * 0.7 + call)[:, None]


class Learner:
    """Steps a fleet, and keeps what it saw of each episode."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.at = [[row] for row in fleet.reset(seed=7).observation.copy()]
        self.seen = {}  # by world and number of the episode
        self.sent = []  # of these, whose returns the servers have

    def step(self, call):
        self.sent = list(self.seen)
        rows = self.fleet.step(actions(call))
        final = rows.final
        for k, world in enumerate(final.world.tolist()):
            self.seen[world, int(final.episode[k])] = np.array([*self.at[world], final.observation[k]])
            self.at[world] = []
        # a row waits for its return, which goes with the next call: how far the pole has come
        self.fleet.tell_returns(final.world, final.observation[:, 0])
        for world, row in zip(rows.worlds.tolist(), rows.observation.copy(), strict=True):
            self.at[world].append(row)


def await_rows(server, learner):
    """Until the file of a server has all episodes that ended on it and have a return: rows are written in batches."""
    shares = [share for share in learner.fleet.shares if share.host.address == server.address]
    ended = sum(any(share.first <= world < share.first + share.count for share in shares) for world, _ in learner.sent)
    until = time.monotonic() + PATIENCE_S
    with server.client() as client:
        while len(client.episode_list(count=10000).episodes) < ended and time.monotonic() < until:
            time.sleep(0.1)


def merge_all(binary, out, files):
    told = subprocess.run([binary, "--merge", out, *files], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr


class Lost:
    """The merged file, on another server in another folder; and of the recordings in it which the lost server's are."""

    def __init__(self, server, db, learner, first, lost_db):
        self.server, self.db, self.learner, self.first = server, db, learner, first
        with contextlib.closing(sqlite3.connect(f"file:{lost_db}?mode=ro", uri=True)) as file:
            self.of_lost = {episode for (episode,) in file.execute("SELECT episode FROM episodes")}

    def seen(self, one):
        """What the learner saw of an episode."""
        world = self.first[int(one.info.world_name.split(".")[2])] + (one.info.world_index or 0)
        return self.learner.seen[world, one.info.turn or 0]


@pytest.fixture(scope="module")
def lost(tmp_path_factory):
    here, elsewhere = tmp_path_factory.mktemp("fleet"), tmp_path_factory.mktemp("elsewhere")
    files = [here / f"{i}.db" for i in range(3)]
    with contextlib.ExitStack() as stack:
        servers = [moreau_sim.launch(db=file, workers=1) for file in files]
        for server in servers:
            stack.callback(server.stop)
        addresses = [server.address for server in servers]
        with Fleet(addresses, CART, count=COUNT, shares=SHARES, record="walks", save_every=10, **LAYOUT) as fleet:
            learner = Learner(fleet)
            for call in range(CALLS):
                if call == LOST_CALL:
                    await_rows(servers[0], learner)
                    servers[0].process.kill()
                    servers[0].process.wait()
                learner.step(call)
            assert "lost" in [event.kind for event in fleet.events]
            first = [share.first for share in fleet.shares]
        for server in servers:
            server.stop()
        lost_db = shutil.copytree(here, elsewhere / "as-it-was") / "0.db"
        merged = elsewhere / "all.db"
        merge_all(servers[0].binary, merged, files)
    shutil.rmtree(here)  # nothing of the fleet is there any more
    with moreau_sim.launch(db=merged, workers=2) as server:
        yield Lost(server, merged, learner, first, lost_db)


@pytest.fixture(scope="module")
def suspicious(lost):
    """Of the episodes that the lost server ended, and that count, the longest: somebody balances rather well."""
    with moreau_sim.Runs([lost.server.address]) as runs:
        assert runs.superseded and not runs.damaged
        of_lost = [one for one in runs if one.id in lost.of_lost and one.info.steps == one.length]
        assert of_lost
        return max(of_lost, key=lambda one: one.length)


def test_every_episode_of_the_lost_server_verifies_elsewhere(lost):
    with lost.server.client() as client:
        there = {one.episode: one for one in client.episode_list(count=10000).episodes}
        assert lost.of_lost <= set(there) and len(there) > len(lost.of_lost)
        for episode in sorted(lost.of_lost):
            assert client.episode_verify(episode=episode).result().verified, there[episode]


def content(db):
    """What a file says of its recordings, and their chunks."""
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as file:
        recordings = file.execute("SELECT uid, state, content, name, world_name, begun_ns FROM recording ORDER BY uid").fetchall()
        chunks = file.execute("SELECT uid, first_world, kind, sequence, first_step, bytes FROM chunk JOIN recording "
                              "ON recording = recording.id ORDER BY 1, 2, 3, 4, 5").fetchall()
        episodes = file.execute("SELECT episode, seed, turn, steps, return_sum FROM episodes ORDER BY episode").fetchall()
    return recordings, chunks, episodes


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_merge_that_is_ended_anywhere_is_finished_by_the_next(lost, tmp_path, end):
    """No lock and no half of a file stands in the way of it, and what comes of both is what comes of one."""
    binary = moreau_sim.find_server()[0]
    files = sorted((lost.db.parent / "as-it-was").glob("?.db"))
    begun = time.monotonic()
    merge_all(binary, tmp_path / "whole.db", files)
    takes_s = time.monotonic() - begun
    whole, ended_early = content(tmp_path / "whole.db"), 0
    assert len(whole[0]) > len(files) and len(whole[1]) > len(whole[0]) and len(whole[2]) > COUNT
    for i in range(8):
        out = tmp_path / f"{i}.db"
        tool = subprocess.Popen([binary, "--merge", out, *files], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(takes_s * i / 8)
        tool.send_signal(end)
        ended_early += tool.wait() == -end
        merge_all(binary, out, files)
        assert content(out) == whole
    assert ended_early > 0


def test_it_is_replayed_to_the_bits_that_the_learner_saw(lost, suspicious):
    said = json.loads(run(lost.server, "verify", suspicious.id, "--json").stdout)
    assert said["verified"] is True
    lines = run(lost.server, "replay", suspicious.id, "--json", "--again", "--body", "pole").stdout.splitlines()
    frames = [json.loads(line) for line in lines]
    replayed = np.array([frame["bodies"][0]["pose"][:3] for frame in frames])
    seen = lost.seen(suspicious)
    assert len(frames) == suspicious.length + 1 and seen.dtype == np.float32  # as learners are told
    assert np.array_equal(replayed.astype(np.float32), seen)


@needs_chromium
def test_the_page_proves_it(lost, suspicious, tmp_path):
    picture, page = tmp_path / "odd.png", tmp_path / "odd.html"
    said = run(None, "shot", suspicious.id, "--db", lost.db, "--step", "5", "--prove", "--tab", "plots", "--json",
               "-o", picture)
    assert json.loads(said.stdout)["proof"] == "proven against the file itself" and picture.stat().st_size > 1000
    # the page that is given away proves it, too, with nothing of Moreau on that machine but the file
    run(None, "export", suspicious.id, "--db", lost.db, "--html", page)
    asked = "(() => { const p = window.moreau?.prover; if (p?.proving === 'none') p.prove(); return p?.proving === 'done' && " \
            "[moreau.facts().episode, document.querySelector('#badge').textContent].join(' '); })()"
    assert browse(page.as_uri(), asked) == f"{suspicious.id} proven against the file itself"


@needs_chromium
def test_a_link_opens_it_at_its_step(lost, suspicious, tmp_path):
    said = run(None, "view", lost.db, suspicious.id, "--step", "7", "--no-window", XDG_CACHE_HOME=tmp_path)
    shown = "(() => { const f = window.moreau?.facts(); return f?.isShown && [f.episode, f.step].join(' '); })()"
    assert said.stdout.strip().endswith("#step=7")
    assert browse(said.stdout.strip(), shown) == f"{suspicious.id} 7"
