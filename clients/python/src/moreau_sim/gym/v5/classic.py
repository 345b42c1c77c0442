# SPDX-License-Identifier: MIT
"""What Gymnasium's MuJoCo environments have in common: numbers of all axes, in doubles, seen without bounds."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ...group import Columns, gaussian, uniform
from ...protocol import GroupChannel, GroupNoise
from ..environment import Environment, Moment
from .links import Model

Array = NDArray[np.float64]
EXTRA_MAX = 1024  # columns that no environment has more of


class Classic(Environment):
    """A model whose observation columns are the positions of all its axes, and then their velocities."""

    version = 5
    double_precision = True
    step_limit = 1000
    model: Model
    axes: tuple[str, ...]  # in the order of Gymnasium's qpos and qvel
    motors: tuple[tuple[str, float], ...]  # axes, and what an action of 1 does there [N], [N m]
    control_max = 1.0  # an action beyond it does no more

    def __init__(self, frame_skip: int) -> None:
        self.scene = self.model.scene
        self.substeps = frame_skip
        positions = self.model.channels("JOINT_POSITION", self.axes)
        self.observation = [*positions, *self.model.channels("JOINT_VELOCITY", self.axes)]
        self.action = [
            one
            for axis, scale in self.motors
            for one in self.model.channels(
                "JOINT_EFFORT", [axis], scale=scale, low=-self.control_max, high=self.control_max
            )
        ]

    def uniform(self, kind: str, size: float, axes: tuple[str, ...] | None = None) -> list[GroupNoise]:
        """What a reset adds to each axis."""
        places = [self.model.places[axis] for axis in axes or self.axes]
        return [uniform(kind, joint, -size, size, axes=[number]) for joint, number in places]

    def gaussian(self, kind: str, deviation: float) -> list[GroupNoise]:
        places = [self.model.places[axis] for axis in self.axes]
        return [gaussian(kind, joint, deviation, axes=[number]) for joint, number in places]

    def at(self, kind: str, axis: str, **more: Any) -> list[GroupChannel]:
        """A channel of one axis."""
        return self.model.channels(kind, [axis], **more)

    @property
    def first(self) -> Array:
        """The positions that the scene has."""
        return np.array([self.model.starts[axis] for axis in self.axes])

    def values(self, position: Array, velocity: Array) -> Array:
        """What begins an episode there: `env.reset(options={"values": env.unwrapped.environment.values(qpos, qvel)})`,
        with one state of Gymnasium's, or one for each world."""
        return np.concatenate([np.asarray(position) - self.first, velocity], axis=-1)

    def split(self, observation: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Positions and velocities."""
        return observation[:, : len(self.axes)], observation[:, len(self.axes) :]

    def observation_space(self, columns: Columns, dtype: np.dtype[Any]) -> gymnasium.Space[Any]:
        seen = self.observe(np.zeros((1, len(columns)), dtype), np.zeros((1, EXTRA_MAX), dtype))
        return gymnasium.spaces.Box(-np.inf, np.inf, seen.shape[1:], dtype.type)

    def terms(self, moment: Moment) -> tuple[Array, dict[str, NDArray[Any]]]:
        """What a step pays, and what Gymnasium's info says of it."""
        raise NotImplementedError

    def reward(self, moment: Moment) -> Array:
        return self.terms(moment)[0]

    def info(self, moment: Moment) -> dict[str, NDArray[Any]]:
        return self.terms(moment)[1]


def squares(numbers: NDArray[Any]) -> Array:
    """Their sum, of each world. Actions are floats, and so are Gymnasium's sums of their squares."""
    return np.asarray(np.square(numbers).sum(axis=1))
