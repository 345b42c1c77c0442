#!/usr/bin/python3
"""Records a group of many short episodes: 1,000 worlds with a slider, whose episodes are two steps long.

    many.py ADDRESS COUNT

Prints as JSON the five highest returns, and how many returns are at least 0.9.
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python/src"))
from moreau_sim import Client, Group, channel  # noqa: E402

WORLDS, LIMIT = 1000, 2

SCENE = {
    "settings": {"time_step": 0.01},
    "bodies": [{"name": "cart", "position": [0, 0, 0.3], "shapes": [{"box": {"half_extents": [0.2, 0.15, 0.1]}, "density": 400}]}],
    "joints": [{"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]}],
}


def main(address, count):
    random, returns = np.random.default_rng(3), []
    with Client(address) as client, Group.create(
            client, SCENE, count=WORLDS, step_limit=LIMIT, autoreset="SAME_STEP", record="many",
            action=[channel("JOINT_EFFORT", "rail", low=-40, high=40)], observation=[channel("JOINT_POSITION", "rail")]) as group:
        group.reset(seed=1)
        for _ in range(int(count) // WORLDS):
            for _ in range(LIMIT):
                rows = group.step(random.uniform(-40, 40, (WORLDS, 1)))
            returns.append(random.random(WORLDS))
            group.tell_returns(rows.final.world, returns[-1])
    told = np.sort(np.concatenate(returns))
    print(json.dumps({"episodes": int(told.size), "highest": told[:-6:-1].tolist(), "above": int((told >= 0.9).sum())}))


main(*sys.argv[1:])
