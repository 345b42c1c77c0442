# SPDX-License-Identifier: MIT
"""What the learners of these tests step: a small cart-pole, and whether two groups of them said the same."""

import numpy as np

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


def actions(call):
    return np.sin(np.arange(COUNT) * 0.7 + call)[:, None]
