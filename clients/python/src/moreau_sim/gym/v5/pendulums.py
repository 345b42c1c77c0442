# SPDX-License-Identifier: MIT
"""InvertedPendulum and InvertedDoublePendulum: poles on a cart, with the sizes, rewards, ends and starts of Gymnasium's
v5."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...group import channel
from ..environment import Moment
from ..render import Camera
from .classic import Array, Classic
from .links import Axis, Link, Model, bar

FAST = 10.0  # [m/s], [rad/s], [N] beyond which the double pendulum sees no more
RAIL = {
    "name": "rail",
    "kind": "STATIC",
    "orientation": [0.5**0.5, 0, 0.5**0.5, 0],
    "shapes": [{"capsule": {"radius": 0.02, "half_length": 1.0}, "group": 0, "mask": 0}],
}
NO_LIMIT = 1e-4  # [m] from the end of the rail: farther away it pushes at nothing


def _cart(damping: float, pole: Link) -> Link:
    slider = Axis("slider", (1, 0, 0), low=-1.0, high=1.0, damping=damping, slides=True)
    return Link("cart", (0, 0, 0), [bar((-0.1, 0, 0), (0.1, 0, 0), 0.1)], [slider], [pole])


class InvertedPendulum(Classic):
    name = "InvertedPendulum"
    reward_threshold = 950.0
    axes = ("slider", "hinge")
    motors = (("slider", 100.0),)
    control_max = 3.0
    camera = Camera(position=(0, -3, 0.7), target=(0, 0, 0.2))
    model = Model(
        "inverted-pendulum",
        {"time_step": 0.02, "integrator": "RK4"},
        [
            _cart(
                1.0,
                Link(
                    "pole",
                    (0, 0, 0),
                    [bar((0, 0, 0), (0.001, 0, 0.6), 0.049)],
                    [Axis("hinge", (0, 1, 0), low=-np.pi / 2, high=np.pi / 2, damping=1.0)],
                ),
            )
        ],
        [RAIL],
    )

    def __init__(self, frame_skip: int = 2, reset_noise_scale: float = 0.01) -> None:
        super().__init__(frame_skip)
        self.noise = [
            one for kind in ("JOINT_POSITION", "JOINT_VELOCITY") for one in self.uniform(kind, reset_noise_scale)
        ]
        self.bounds = self.at("JOINT_POSITION", "hinge", low=-0.2, high=0.2)

    def terms(self, moment: Moment) -> tuple[Array, dict[str, NDArray[Any]]]:
        survives = np.where(moment.terminated, 0, 1)
        return survives.astype(np.float64), {"reward_survive": survives}


class InvertedDoublePendulum(Classic):
    name = "InvertedDoublePendulum"
    reward_threshold = 9100.0
    axes = ("slider", "hinge", "hinge2")
    motors = (("slider", 500.0),)
    camera = Camera(position=(0, -4.5, 1.2), target=(0, 0, 0.5))
    damping = 0.05
    model = Model(
        "inverted-double-pendulum",
        {"time_step": 0.01, "integrator": "RK4", "gravity": [1e-5, 0, -9.81]},
        [
            _cart(
                0.05,
                Link(
                    "pole",
                    (0, 0, 0),
                    [bar((0, 0, 0), (0, 0, 0.6), 0.045)],
                    [Axis("hinge", (0, 1, 0), damping=0.05)],
                    [
                        Link(
                            "pole2",
                            (0, 0, 0.6),
                            [bar((0, 0, 0), (0, 0, 0.6), 0.045)],
                            [Axis("hinge2", (0, 1, 0), damping=0.05)],
                            origin=(0, 0, 0.6),  # the tip, which must stay up
                        )
                    ],
                ),
            )
        ],
        [RAIL],
    )

    def __init__(self, frame_skip: int = 5, healthy_reward: float = 10.0, reset_noise_scale: float = 0.1) -> None:
        super().__init__(frame_skip)
        self._healthy = healthy_reward
        self.noise = [
            *self.uniform("JOINT_POSITION", reset_noise_scale),
            *self.gaussian("JOINT_VELOCITY", reset_noise_scale),
        ]
        self.bounds = [channel("BODY_POSITION", "pole2", axes=[2], low=1.0)]
        self.extra = [
            channel("BODY_POSITION", "pole2", axes=[0, 2]),
            *self.at("JOINT_TORQUE", "slider"),
            *self.at("JOINT_EFFORT", "slider"),
        ]

    def observe(self, observation: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
        position, velocity = self.split(observation)
        # what is not the motor, nor the damper, is the end of the rail
        held = extra[:, 2] - extra[:, 3] + self.damping * velocity[:, 0]
        held = np.where(np.abs(position[:, 0]) > 1.0 - NO_LIMIT, held, 0.0)
        columns = (
            position[:, :1],
            np.sin(position[:, 1:]),
            np.cos(position[:, 1:]),
            np.clip(velocity, -FAST, FAST),
            np.clip(held, -FAST, FAST)[:, None],
        )
        return np.concatenate(columns, axis=1)

    def terms(self, moment: Moment) -> tuple[Array, dict[str, NDArray[Any]]]:
        x, y = moment.extra[:, 0], moment.extra[:, 1]
        velocity = self.split(moment.observation)[1]
        far = 0.01 * x**2 + (y - 2) ** 2
        fast = 1e-3 * velocity[:, 1] ** 2 + 5e-3 * velocity[:, 2] ** 2
        alive = self._healthy * ~moment.terminated
        told = {"reward_survive": alive, "distance_penalty": -far, "velocity_penalty": -fast}
        return np.asarray(alive - far - fast, np.float64), told
