# SPDX-License-Identifier: MIT
"""A trot that steps as the command has it, for a learner to begin with: what a policy adds to it is little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .robot import Robot

Array = NDArray[np.float64]
SLOW = 0.1  # [m/s], [rad/s] of a command: who is told less stands


def goes(command: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a command (x, y, turn) is to go."""
    return np.asarray(np.linalg.norm(command, axis=1) > SLOW)


class Trot:
    """Feet across from each other are on the ground for half of the time, the others for the other."""

    def __init__(self, robot: Robot, scene: Mapping[str, Any], frequency: float) -> None:
        """frequency: [Hz]; 0: nobody steps"""
        self.frequency = frequency
        self._offset = 0.5 * ~np.isin(np.arange(len(robot.feet)) % 4, (0, 3))  # [1] of a turn
        places = {body.get("name"): body.get("position", [0.0, 0.0, 0.0]) for body in scene["bodies"]}
        self._place = np.array([places[foot][:2] for foot in robot.feet])  # [m] from the trunk
        leg = [_leg(scene["joints"], foot) for foot in robot.feet]
        names = [joint["name"] for joint in scene["joints"]]
        # what a joint does of its foot's lift [rad], and per metre along x and y
        self._joints = np.zeros((3, len(robot.feet), len(names)))
        for row, part in enumerate((robot.lift, robot.stride, robot.sway)):
            for foot, own in enumerate(leg):
                for joint in own:
                    named = [number for name, number in part.items() if name in joint]
                    self._joints[row, foot, names.index(joint)] = named[-1] if named else 0.0

    def phase(self, time: Array) -> Array:
        """[1] of each foot: on the ground below 0.5."""
        return np.asarray((self.frequency * time[:, None] + self._offset) % 1.0, np.float64)

    def stands(self, time: Array, command: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each foot belongs on the ground."""
        return np.asarray((self.phase(time) < 0.5) | ~goes(command)[:, None])

    def angles(self, time: Array, command: NDArray[Any]) -> Array:
        """[rad] of each joint, beyond the stance."""
        if self.frequency == 0:
            return np.zeros((len(time), self._joints.shape[2]))
        phase = self.phase(time)
        # a foot on the ground goes back as the trunk goes ahead there, and comes forward again in the air
        place = np.where(phase < 0.5, 0.25 - phase, phase - 0.75) / self.frequency
        x, y, turn = np.moveaxis(np.asarray(command, np.float64), -1, 0)[..., None]
        ahead, aside = place * (x - turn * self._place[:, 1]), place * (y + turn * self._place[:, 0])
        lift = np.maximum(np.sin(2 * np.pi * (phase - 0.5)), 0.0)
        parts = np.stack([lift, ahead, aside]) * goes(command)[:, None]
        return np.asarray(np.einsum("kwf,kfj->wj", parts, self._joints), np.float64)


def _leg(joints: Sequence[Mapping[str, Any]], foot: str) -> list[str]:
    """The joints between a foot and the trunk."""
    above = {joint["body_b"]: joint for joint in joints}
    names, body = [], foot
    while body in above:
        names.append(above[body]["name"])
        body = above[body].get("body_a", "")
    return names
