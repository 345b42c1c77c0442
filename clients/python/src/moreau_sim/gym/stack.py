# SPDX-License-Identifier: MIT
"""Stack: take a box with two fingers, set it on another, and let go. Only what stands by itself at the end counts, so
nothing is won by pressing, throwing or wedging.
Whether they were won by a solver's mistake all the same, `opinion=0.01` of make_vec tells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..group import channel, uniform
from .environment import Environment, Moment
from .render import Camera

HALF = 0.03  # [m] of the boxes' edges
OPEN = 0.055  # [m] from the hand's middle to a finger's, when it is open
SHUT = 0.03  # [m] that a finger can move inwards
HIGH = 0.2  # [m] of the fingers' middle above the table, at the beginning
SPEED = 0.5  # [m/s] of the hand at an action of 1
GRIP = 10.0  # [N]
NEAR = 0.02  # [m] off the middle that count as stacked
SLOW = 0.01  # [m/s] at which it rests
WEIGHT = 0.5 * 9.81  # [N] of what hangs on the rail that goes up and down
UNTOUCHED = {"group": 0, "mask": 0}  # to be seen alone


def _carrier(name: str, height: float, mass: float, shape: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "position": [0, 0, height],
        "mass": mass,
        "inertia": [0.01, 0.01, 0.01, 0, 0, 0],
        "shapes": [shape],
    }


def _rail(name: str, a: str | None, b: str, axis: list[float], low: float, high: float, **more: Any) -> dict[str, Any]:
    made = {"name": name, "kind": "SLIDER", "body_b": b, "axis": axis, "low": [low], "high": [high], **more}
    return made if a is None else made | {"body_a": a}


def _finger(name: str, side: float) -> dict[str, Any]:
    shape = {"box": {"half_extents": [0.005, 0.02, 0.03]}, "material": "rubber"}
    return {
        "name": name,
        "position": [side * OPEN, 0, HIGH],
        "mass": 0.05,
        "inertia": [5e-5, 5e-5, 5e-5, 0, 0, 0],
        "shapes": [shape],
    }


def _box(name: str, x: float) -> dict[str, Any]:
    shape = {"box": {"half_extents": [HALF] * 3}, "density": 500, "material": "rubber"}
    return {"name": name, "position": [x, 0, HALF], "shapes": [shape]}


class Stack(Environment):
    name = "Stack"
    scene = {
        "name": "stack",
        "settings": {"time_step": 0.01},
        "materials": [{"name": "rubber", "friction": 0.8}],
        "bodies": [
            {"name": "table", "kind": "STATIC", "shapes": [{"plane": {}, "material": "rubber"}]},
            _carrier("bridge", 0.4, 1.0, {"box": {"half_extents": [0.03, 0.03, 0.01]}, **UNTOUCHED}),
            _carrier(
                "hand", HIGH, 0.4, {"box": {"half_extents": [0.06, 0.02, 0.01]}, "position": [0, 0, 0.06], **UNTOUCHED}
            ),
            _finger("left", -1),
            _finger("right", 1),
            _box("block", 0.0),
            _box("base", 0.25),
        ],
        "joints": [
            _rail("along", None, "bridge", [1, 0, 0], -0.2, 0.5, drive_damping=[1000.0]),
            # what hangs there weighs nothing for who moves it
            _rail("up", "bridge", "hand", [0, 0, 1], -HIGH + 0.032, 0.1, drive_damping=[1000.0], effort=[WEIGHT]),
            _rail("left", "hand", "left", [1, 0, 0], 0.0, SHUT, damping=[20.0]),
            _rail("right", "hand", "right", [-1, 0, 0], 0.0, SHUT, damping=[20.0]),
        ],
    }
    action = [
        channel("JOINT_TARGET_VELOCITY", "along", scale=SPEED, low=-1, high=1),
        channel("JOINT_TARGET_VELOCITY", "up", scale=SPEED, low=-1, high=1),
        channel("JOINT_EFFORT", "left", scale=GRIP, low=-1, high=1),
        channel("JOINT_EFFORT", "right", scale=GRIP, low=-1, high=1),
    ]
    observation = [
        *(channel("JOINT_POSITION", joint, low=-1, high=1) for joint in ("along", "up", "left", "right")),
        *(channel("JOINT_VELOCITY", joint, low=-100, high=100) for joint in ("along", "up", "left", "right")),
        channel("BODY_POSITION", "block", low=-100, high=100),
        channel("BODY_ROTATION", "block", low=-1, high=1),
        channel("BODY_VELOCITY", "block", low=-100, high=100),
        channel("BODY_POSITION", "base", low=-100, high=100),
        channel("BODY_VELOCITY", "base", low=-100, high=100),
    ]
    noise = [
        uniform("BODY_POSITION", "block", -0.03, 0.03, axes=[0]),
        uniform("BODY_POSITION", "base", -0.05, 0.05, axes=[0]),
    ]
    substeps = 4
    step_limit = 200
    camera = Camera(position=(0.15, -0.7, 0.35), target=(0.15, 0, 0.12))

    def _off(self, moment: Moment) -> NDArray[np.float64]:
        """From where the box belongs to where it is [m]."""
        return np.asarray(
            moment.observation[:, 8:11] - moment.observation[:, 18:21] - np.array([0, 0, 2 * HALF]), np.float64
        )

    def _is_stacked(self, moment: Moment) -> NDArray[np.bool_]:
        seen = moment.observation
        is_open = seen[:, 2:4].max(axis=1) < OPEN - HALF - 0.01  # a finger's half, and some air
        rests = np.abs(seen[:, 15:18]).max(axis=1) < SLOW
        return np.asarray(moment.truncated & is_open & rests & (np.abs(self._off(moment)).max(axis=1) < NEAR))

    def reward(self, moment: Moment) -> NDArray[np.float64]:
        # what is not yet there is paid for by how near the box is to where it belongs
        away = np.linalg.norm(self._off(moment), axis=1)
        return np.asarray(
            np.where(moment.truncated, 10.0 * self._is_stacked(moment), 0.0) - 0.01 * np.minimum(away, 1.0)
        )

    def info(self, moment: Moment) -> dict[str, NDArray[Any]]:
        return {"success": self._is_stacked(moment)}
