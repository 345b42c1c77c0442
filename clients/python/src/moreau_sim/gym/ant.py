# SPDX-License-Identifier: MIT
"""Ant: run along x on four legs of two links. Sizes, masses, limits, and what stands where in actions and observations
are those of Gymnasium's Ant without contact forces (27 numbers), so that policies and hyperparameters carry over;
contact is exact Coulomb friction, and limits are rigid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..group import channel, gaussian, uniform
from .environment import Environment, Moment
from .render import Camera

THICK = 0.08  # [m] of legs
TORQUE = 150.0  # [N m] at an action of 1
SIDES = ((1, 1), (-1, 1), (-1, -1), (1, -1))  # where legs 1 to 4 point, along x and y
BEGIN = 1.0  # [rad] that an ankle is bent, when an episode begins
GROUND, ANT = 1, 2  # collision groups: legs do not touch each other
SPEED = 1e4  # [m/s], [rad/s] that nothing reaches


def _bar(along: list[float], density: float = 5.0) -> dict[str, Any]:
    """A capsule from a body's origin to a point at its height."""
    end = np.array(along)
    half = np.linalg.norm(end) / 2
    # the turn that takes z to where it points
    turn = np.array([1.0, -end[1] / (2 * half), end[0] / (2 * half), 0.0]) * 0.5**0.5
    return {
        "capsule": {"radius": THICK, "half_length": half},
        "position": (end / 2).tolist(),
        "orientation": turn.tolist(),
        "density": density,
        "material": "rubber",
        "group": ANT,
        "mask": GROUND,
    }


def _leg(number: int, x: float, y: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    knee = [0.4 * x, 0.4 * y, 0.75]
    # ankles turn about the level axis across the leg, feet downwards: positive on legs 1 and 4, negative on 2 and 3
    sign, axis = (
        (1, [-1, 1, 0])
        if number == 1
        else (-1, [-1, 1, 0])
        if number == 3
        else (-1, [1, 1, 0])
        if number == 2
        else (1, [1, 1, 0])
    )
    limits = sorted((sign * np.pi / 6, sign * 7 * np.pi / 18))
    bodies = [
        {"name": f"leg {number}", "position": [0.2 * x, 0.2 * y, 0.75], "shapes": [_bar([0.2 * x, 0.2 * y, 0])]},
        {"name": f"foot {number}", "position": knee, "shapes": [_bar([0.4 * x, 0.4 * y, 0])]},
    ]
    both = {"armature": [1.0], "damping": [1.0]}
    joints = [
        {
            "name": f"hip {number}",
            "body_a": "torso",
            "body_b": f"leg {number}",
            "axis": [0, 0, 1],
            "low": [-np.pi / 6],
            "high": [np.pi / 6],
            **both,
        },
        {
            "name": f"ankle {number}",
            "body_a": f"leg {number}",
            "body_b": f"foot {number}",
            "axis": axis,
            "low": limits[:1],
            "high": limits[1:],
            "position": [sign * BEGIN],
            **both,
        },
    ]
    return bodies, joints


def _scene() -> dict[str, Any]:
    ball = {"sphere": {"radius": 0.25}, "density": 5.0, "material": "rubber", "group": ANT, "mask": GROUND}
    stubs = [_bar([0.2 * x, 0.2 * y, 0]) for x, y in SIDES]
    legs = [_leg(number + 1, x, y) for number, (x, y) in enumerate(SIDES)]
    return {
        "name": "ant",
        "settings": {"time_step": 0.01},
        "materials": [{"name": "rubber", "friction": 1.0}],
        "bodies": [
            {
                "name": "ground",
                "kind": "STATIC",
                "shapes": [{"plane": {}, "material": "rubber", "group": GROUND, "mask": ANT}],
            },
            {"name": "torso", "position": [0, 0, 0.75], "shapes": [ball, *stubs]},
            *(body for bodies, _ in legs for body in bodies),
        ],
        "joints": [joint for _, joints in legs for joint in joints],
    }


JOINTS = [f"{name} {number}" for number in (1, 2, 3, 4) for name in ("hip", "ankle")]


class Ant(Environment):
    name = "Ant"
    scene = _scene()
    action = [
        channel("JOINT_EFFORT", f"{name} {number}", scale=TORQUE, low=-1, high=1)
        for number in (4, 1, 2, 3)
        for name in ("hip", "ankle")
    ]
    observation = [
        channel("BODY_POSITION", "torso", axes=[2], low=-100, high=100),
        channel("BODY_ROTATION", "torso", low=-1, high=1),
        *(channel("JOINT_POSITION", joint, low=-4, high=4) for joint in JOINTS),
        channel("BODY_VELOCITY", "torso", low=-SPEED, high=SPEED),
        channel("BODY_LOCAL_SPIN", "torso", low=-SPEED, high=SPEED),
        *(channel("JOINT_VELOCITY", joint, low=-SPEED, high=SPEED) for joint in JOINTS),
    ]
    extra = [channel("BODY_POSITION", "torso", axes=[0, 1])]
    bounds = [channel("BODY_POSITION", "torso", axes=[2], low=0.2, high=1.0)]
    noise = [
        uniform("BODY_POSITION", "torso", -0.1, 0.1),
        uniform("BODY_ROTATION", "torso", -0.1, 0.1),
        *(uniform("JOINT_POSITION", joint, -0.1, 0.1) for joint in JOINTS),
        gaussian("BODY_VELOCITY", "torso", 0.1),
        gaussian("BODY_SPIN", "torso", 0.1),
        *(gaussian("JOINT_VELOCITY", joint, 0.1) for joint in JOINTS),
    ]
    substeps = 5
    step_limit = 1000
    camera = Camera(position=(0, -4, 2), target=(0, 0, 0.4), follows="torso")

    def _velocity(self, moment: Moment) -> NDArray[np.float64]:
        return np.asarray((moment.extra[:, 0] - moment.before[:, 0]) / moment.time_step, np.float64)

    def reward(self, moment: Moment) -> NDArray[np.float64]:
        healthy = np.where(moment.terminated, 0.0, 1.0)
        effort: NDArray[np.float64] = 0.5 * np.square(np.clip(moment.action, -1, 1)).sum(axis=1)
        return healthy + self._velocity(moment) - effort

    def info(self, moment: Moment) -> dict[str, NDArray[Any]]:
        return {
            "x_position": moment.extra[:, 0],
            "y_position": moment.extra[:, 1],
            "x_velocity": self._velocity(moment),
        }
