# SPDX-License-Identifier: MIT
"""BlockPush: shove a block so that it comes to rest on a mark. The pusher's rail ends long before the mark: on the
last stretch friction alone decides, v^2 / (2 mu g), so the speed has to be right when the block leaves.
What friction does decides all of it: `opinion=0.01` of make_vec tells how far the solver's friction was from exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..group import channel, uniform
from .environment import Environment, Moment
from .render import Camera

REACH = 0.3  # [m] that the pusher can move
HALF = 0.05  # [m] of the block's edge
NEAR = 0.05  # [m] from the mark, along the way, that count as on it
SLOW = 0.01  # [m/s] at which it rests
SPEED = 4.0  # [m/s] at an action of 1: the farthest mark needs 2.7
FORCE = 30.0  # [N] that the pusher is able to


class BlockPush(Environment):
    name = "BlockPush"
    scene = {
        "name": "block-push",
        "settings": {"time_step": 0.02},
        "materials": [{"name": "wood", "friction": 0.4}, {"name": "felt", "friction": 0.0}],
        "bodies": [
            {"name": "table", "kind": "STATIC", "shapes": [{"plane": {}, "material": "wood"}]},
            {
                "name": "pusher",
                "position": [-HALF - 0.02, 0, 0.05],
                "mass": 0.5,
                "inertia": [0.01, 0.01, 0.01, 0, 0, 0],
                "shapes": [{"box": {"half_extents": [0.02, 0.15, 0.03]}, "material": "felt"}],
            },
            {
                "name": "block",
                "position": [0.001, 0, HALF],
                "mass": 0.5,
                "shapes": [{"box": {"half_extents": [HALF] * 3}, "material": "wood"}],
            },
            # nothing touches it: it is only seen
            {
                "name": "mark",
                "kind": "KINEMATIC",
                "shapes": [{"box": {"half_extents": [NEAR, 0.2, 0.001]}, "group": 0, "mask": 0}],
            },
        ],
        "joints": [
            {
                "name": "rail",
                "kind": "SLIDER",
                "body_b": "pusher",
                "axis": [1, 0, 0],
                "low": [-0.1],
                "high": [REACH],
                "drive_damping": [100.0],
                "effort_max": [FORCE],
            },
        ],
    }
    action = [channel("JOINT_TARGET_VELOCITY", "rail", scale=SPEED, low=-1, high=1)]
    observation = [
        channel("JOINT_POSITION", "rail", low=-1, high=1),
        channel("JOINT_VELOCITY", "rail", low=-20, high=20),
        channel("BODY_POSITION", "block", axes=[0, 1], low=-20, high=20),
        channel("BODY_VELOCITY", "block", axes=[0, 1], low=-20, high=20),
        channel("BODY_POSITION", "mark", axes=[0], low=-20, high=20),
    ]
    noise = [
        uniform("BODY_POSITION", "mark", 0.6, 1.2, axes=[0]),
        uniform("BODY_POSITION", "block", -0.01, 0.01, axes=[1]),
    ]
    substeps = 2
    step_limit = 50
    camera = Camera(position=(0.6, -1.6, 1.0), target=(0.5, 0, 0))

    def _away(self, observation: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.abs(observation[:, 6] - observation[:, 2]))

    def _is_on_mark(self, moment: Moment) -> NDArray[np.bool_]:
        rests: NDArray[np.bool_] = np.abs(moment.observation[:, 4:6]).max(axis=1) < SLOW
        return np.asarray(moment.truncated & rests & (self._away(moment.observation) < NEAR))

    def reward(self, moment: Moment) -> NDArray[np.float64]:
        # only the end counts: how near, and whether it is there
        away = np.minimum(self._away(moment.observation), 1.0)
        return np.where(moment.truncated, self._is_on_mark(moment) + 1.0 - away, 0.0)

    def info(self, moment: Moment) -> dict[str, NDArray[Any]]:
        return {"success": self._is_on_mark(moment)}
