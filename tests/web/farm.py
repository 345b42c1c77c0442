#!/usr/bin/python3
"""A learner's farm whose server is killed: 70 worlds in which a box on rough ground is pushed now and then, under a solver that lets what slides lift off, so
that steps in which it slides are doubtful. Key-frames lie in the midst of episodes.

    farm.py ADDRESS begin        91 calls, and the group stays
    farm.py ADDRESS on ID        goes on from the recording, to call 200, and ends the group

Prints, as JSON, what a client saw of two worlds, and what the server's own stepping gives of one episode.
"""
import json
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python/src"))
from moreau_sim import Client, Episode, Group, World, channel, protocol, uniform  # noqa: E402

WORLDS, LIMIT, KILLED, END = 70, 60, 91, 200
SEEN = 66  # of the last range
LOOKED = 12  # step of an episode

SCENE = {
    "settings": {"time_step": 0.01, "gravity": [0, 0, -9.81], "solver": "ccp"},
    "materials": [{"name": "rough", "friction": 0.5}],
    "bodies": [
        {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}, "material": "rough"}]},
        {"name": "box", "mass": 1.0, "position": [0, 0, 0.1], "shapes": [{"box": {"half_extents": [0.5, 0.4, 0.1]}, "material": "rough"}]},
    ],
}


def push(call):
    """More than the friction of 4.9 N can hold, in six calls of twenty; world by world a little later, and by more."""
    worlds = np.arange(WORLDS)
    return np.where((call + worlds) % 20 < 6, 6.0 + 0.05 * worlds, 1.0)[:, None]


class Learner:
    """It earns how far the box is, in each step."""

    def __init__(self, group, call, kept=None):
        self.group, self.call = group, call
        self.earned, self.doubtful = (np.array(kept[0]), np.array(kept[1])) if kept else (np.zeros(WORLDS), np.zeros(WORLDS))
        self.seen = []  # of the world: calls, x, whether doubtful, whether the episode ended

    def step(self):
        rows = self.group.step(push(self.call))
        self.call += 1
        final = rows.final.world
        x = np.array(rows.observation[:, 0])
        x[final] = rows.final.observation[:, 0]
        self.earned += x
        self.doubtful += np.where(rows.doubtful, x, 0)
        self.seen.append({"x": float(x[SEEN]), "doubtful": bool(rows.doubtful[SEEN]), "ended": bool(SEEN in final)})
        if len(final):
            self.group.tell_returns(final, self.earned[final], self.doubtful[final])
            self.earned[final] = self.doubtful[final] = 0


def replayed(client, episode):
    """One step as the server steps it, and the energy behind each, from the first on."""
    blocks = list(Episode(client, episode).frames(contacts=True, reports=True))
    energy = [float(e) for block in blocks for e in block.reports["energy_after"]][1:]
    for block in blocks:
        for k, step in enumerate(block.step):
            if step == LOOKED:
                rows = slice(int(block.contact_first[k]), int(block.contact_first[k + 1]))
                return {"step": LOOKED, "gap": block.contacts["gap"][rows].tolist(), "impulse": block.contacts["impulse"][rows].tolist(),
                        "e_own": float(block.reports["e_own"][k]), "e_ds": float(block.reports["e_ds"][k]), "pose": block.pose[k].tolist(), "energy": energy}
    raise AssertionError


def main(address, phase, recording=""):
    with Client(address) as client:
        if phase == "begin":
            group = Group.create(
                client, SCENE, count=WORLDS, double=True, substeps=3, step_limit=LIMIT, seed=11, autoreset="SAME_STEP", keep=True,
                record=protocol.GroupRecord(name="farm", returns=True, keyframe_steps=25), opinion=protocol.GroupOpinion(share=0.2, lag=2),
                action=[channel("BODY_FORCE", "box", axes=[0], low=-100, high=100)], observation=[channel("BODY_POSITION", "box", axes=[0])],
                noise=[uniform("BODY_POSITION", "box", -0.2, 0.2, axes=[0])])
            rows = group.reset(seed=11)
            learner = Learner(group, 0)
            start = float(rows.observation[SEEN, 0])
            while learner.call < KILLED - 1:  # the reset was a call as well
                learner.step()
            while len(client.episode_list(recording=group.recording).episodes) < WORLDS:  # rows are written now and then
                time.sleep(0.1)
            print(json.dumps({"recording": group.recording, "start": start, "seen": learner.seen, "kept": [learner.earned.tolist(), learner.doubtful.tolist()]}))
            return
        before = json.loads(sys.stdin.read())
        group = Group.resume(client, recording, record=protocol.GroupRecord(name="farm, gone on", returns=True, keyframe_steps=25))
        resumed = group.resumed.step
        learner = Learner(group, resumed - 1)
        x = float(group.read().observation[SEEN, 0])
        while learner.call < END - 1:
            learner.step()
        gone_on = group.recording
        group.close()
        world = World.create(client, SCENE)
        with world.record("resting", content=protocol.Episode.Content.FRAMES):
            world.step(3 * LIMIT)
        listed = client.episode_list(recording=recording).episodes
        first = next(one for one in listed if one.world_index == SEEN and one.turn == 0)
        print(json.dumps({"world": SEEN, "limit": LIMIT, "first": before, "call": resumed, "x": x, "then": learner.seen, "recording": gone_on,
                          "of": first.episode, "replayed": replayed(client, first.episode)}))


main(*sys.argv[1:])
