# SPDX-License-Identifier: MIT
"""A learner for tests/slurm.sh: a fleet of this allocation beside one group on a server of its own, call by call.

  learner.py FOLDER CALLS      FOLDER/at: the call that it is at; FOLDER/same, with what happened: all had the same bits
"""

import pathlib
import sys
import time

import numpy as np

import moreau_sim
import moreau_sim.slurm
from moreau_sim import channel, uniform

CART = {
    "settings": {"time_step": 0.02, "gravity": [0, 0, -9.81]},
    "bodies": [{"name": "cart", "mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}, {"name": "pole", "mass": 0.1, "inertia": [0.01, 0.01, 0.01, 0, 0, 0], "position": [0, 0, 0.5]}],
    "joints": [
        {"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]},
        {"name": "hinge", "kind": "HINGE", "body_a": "cart", "body_b": "pole", "axis": [0, 1, 0]},
    ],
}
COUNT = 256
LAYOUT = {
    "action": [channel("JOINT_EFFORT", "rail", scale=10, low=-1, high=1)],
    "observation": [channel(kind, joint) for kind in ("JOINT_POSITION", "JOINT_VELOCITY") for joint in ("rail", "hinge")],
    "bounds": [channel("JOINT_POSITION", "hinge", low=-0.2, high=0.2)],
    "noise": [uniform("JOINT_POSITION", "hinge", -0.05, 0.05)],
    "step_limit": 30,
}


def same(one, other):
    for name in ("worlds", "observation", "terminated", "truncated"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def main(folder, calls):
    with moreau_sim.launch(workers=1) as server, server.client() as client:
        fleet = moreau_sim.slurm.Fleet(CART, count=COUNT, lost_after_s=3.0, **LAYOUT)
        with fleet, moreau_sim.Group.create(client, CART, count=COUNT, **LAYOUT) as group:
            same(fleet.reset(seed=3), group.reset(seed=3))
            for call in range(calls):
                actions = np.sin(np.arange(COUNT) * 0.7 + call)[:, None]
                same(fleet.step(actions), group.step(actions))
                (folder / "at").write_text(f"{call} {fleet.slurm.folder}\n")
                time.sleep(0.02)
            told = "".join(f"{event.kind}: {event.text}\n" for event in fleet.events)
    (folder / "same").write_text(f"{fleet.slurm.folder}\n{told}")


main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
