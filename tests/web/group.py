#!/usr/bin/python3
"""Records a group with a server: 100 worlds in which a cart pushes a ball along the ground, each as its own noise and actions have it,
and the ball is pushed at random moments.

    group.py ADDRESS

Prints what a client saw of one episode, as JSON: its id, world, turn, return, and where the cart was behind each of its steps.
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python/src"))
import moreau_sim  # noqa: E402
from moreau_sim import Client, Group, channel, uniform  # noqa: E402

WORLDS, STEPS, LIMIT = 100, 200, 40
WORLD, TURN = 70, 2  # of the second range, which has worlds 64 to 99

SCENE = {
    "settings": {"time_step": 0.01},
    "bodies": [
        {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}}]},
        {"name": "cart", "position": [0, 0, 0.3], "shapes": [{"box": {"half_extents": [0.2, 0.15, 0.1]}, "density": 400}]},
        {"name": "ball", "position": [0.6, 0, 0.15], "shapes": [{"sphere": {"radius": 0.15}, "density": 200}]}],
    "joints": [{"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]}],
}


def main(address):
    with Client(address) as client:
        seen = play(client)
        episodes = client.episode_list(recording=seen.pop("recording"), count=10000).episodes
        seen["episode"] = next(e.episode for e in episodes if (e.world_index, e.turn) == (WORLD, TURN))
        print(json.dumps(seen))


def play(client):
    with Group.create(
            client, SCENE, count=WORLDS, double=True, substeps=2, step_limit=LIMIT, autoreset="NEXT_STEP", record="pushed",
            action=[channel("JOINT_EFFORT", "rail", low=-40, high=40)], observation=[channel("JOINT_POSITION", "rail")],
            noise=[uniform("JOINT_POSITION", "rail", -0.1, 0.1)],
            pushes=[moreau_sim.push("ball", 0.1, force=(0, 5), steps=3)]) as group:
        rows = group.reset(seed=7)
        turn, length, earned, seen = np.zeros(WORLDS, int), np.zeros(WORLDS, int), np.zeros(WORLDS), [float(rows.observation[WORLD, 0])]
        seen_of = {0: seen}
        for k in range(STEPS):
            push = 20 * np.sin(0.05 * k + np.arange(WORLDS))[:, None]
            begins = length == LIMIT  # this call begins its next episode
            rows = group.step(push)
            turn, length = turn + begins, np.where(begins, 0, length + 1)
            earned = np.where(begins, 0, earned + rows.observation[:, 0])
            seen_of.setdefault(int(turn[WORLD]), []).append(float(rows.observation[WORLD, 0]))
            ended = np.flatnonzero(length == LIMIT)
            if len(ended):
                group.tell_returns(ended, earned[ended])
            if turn[WORLD] == TURN and length[WORLD] == LIMIT:
                total = float(earned[WORLD])
        return {"world": WORLD, "turn": TURN, "return": total, "cart": seen_of[TURN], "limit": LIMIT, "recording": group.recording}


main(*sys.argv[1:])
