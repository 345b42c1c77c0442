# SPDX-License-Identifier: MIT
"""CartPole: keep a pole upright by pushing the cart that it stands on. The numbers, the ends and the integrator are
those of Gymnasium's CartPole-v1, and so are the states, to rounding."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..group import Columns, channel, uniform
from .environment import Environment, Moment
from .render import Camera

RAIL = 2.4  # [m] to either side
TILT = 12 * np.pi / 180  # [rad] at which the pole has fallen
# nothing is faster than this before it has left the rail, or has fallen
SPEED = 20.0  # [m/s], [rad/s]
AXIS_Y = [0, 0, 0, 0.5**0.5, -(0.5**0.5), 0, 0]  # a frame whose z is y: the hinge turns about that


class CartPole(Environment):
    name = "CartPole"
    scene = {
        "name": "cart-pole",
        "settings": {"time_step": 0.02, "gravity": [0, 0, -9.8], "integrator": "EXPLICIT", "rotation": "EXPLICIT"},
        "bodies": [
            {
                "name": "cart",
                "mass": 1.0,
                "inertia": [0.01, 0.01, 0.01, 0, 0, 0],
                "shapes": [{"box": {"half_extents": [0.25, 0.15, 0.1]}, "group": 0, "mask": 0}],
            },
            {
                "name": "pole",
                "position": [0, 0, 0.5],
                "mass": 0.1,
                # of a rod of 1 m
                "inertia": [0.1 / 12, 0.1 / 12, 1e-5, 0, 0, 0],
                "shapes": [{"capsule": {"radius": 0.04, "half_length": 0.46}, "group": 0, "mask": 0}],
            },
            {
                "name": "rail",
                "kind": "STATIC",
                "position": [0, 0.2, 0],
                "shapes": [{"box": {"half_extents": [2.6, 0.03, 0.02]}, "group": 0, "mask": 0}],
            },
        ],
        "joints": [
            {"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]},
            {
                "name": "hinge",
                "body_a": "cart",
                "body_b": "pole",
                "frame_a": AXIS_Y,
                "frame_b": [0, 0, -0.5, *AXIS_Y[3:]],
            },
        ],
    }
    action = [channel("JOINT_EFFORT", "rail", scale=10, low=-1, high=1)]  # [N]
    observation = [
        channel("JOINT_POSITION", "rail", low=-2 * RAIL, high=2 * RAIL),
        channel("JOINT_VELOCITY", "rail", low=-SPEED, high=SPEED),
        channel("JOINT_POSITION", "hinge", low=-2 * TILT, high=2 * TILT),
        channel("JOINT_VELOCITY", "hinge", low=-SPEED, high=SPEED),
    ]
    bounds = [
        channel("JOINT_POSITION", "rail", low=-RAIL, high=RAIL),
        channel("JOINT_POSITION", "hinge", low=-TILT, high=TILT),
    ]
    noise = [
        uniform("JOINT_POSITION", "rail", -0.05, 0.05),
        uniform("JOINT_VELOCITY", "rail", -0.05, 0.05),
        uniform("JOINT_POSITION", "hinge", -0.05, 0.05),
        uniform("JOINT_VELOCITY", "hinge", -0.05, 0.05),
    ]
    step_limit = 500
    camera = Camera(position=(0, -4.5, 0.7), target=(0, 0, 0.4))

    def action_space(self, columns: Columns) -> gymnasium.Space[Any]:
        return gymnasium.spaces.Discrete(2)  # to the left, to the right

    def act(self, action: NDArray[Any]) -> NDArray[Any]:
        is_integer = action.dtype.kind in "iu"
        # a bit beyond the first is set where an integer is another
        if np.bitwise_or.reduce(action) not in (0, 1) if is_integer else ((action != 0) & (action != 1)).any():
            raise ValueError("actions are 0 (to the left) or 1 (to the right)")
        return 2.0 * action[:, None] - 1.0

    def reward(self, moment: Moment) -> NDArray[np.float64]:
        return np.ones(len(moment.observation))
