# SPDX-License-Identifier: MIT
"""Hopper, Walker2d and HalfCheetah: runners in a plane, with the sizes, rewards, ends and starts of Gymnasium's v5."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..environment import Moment
from ..render import Camera
from .classic import Array, Classic, squares
from .links import Axis, Link, Model, Shape, bar, tilted

DEGREE = np.pi / 180
ROOT = ("rootx", "rootz", "rooty")
FAST = 10.0  # [m/s], [rad/s] beyond which Hopper and Walker2d see no more


def _root(height: float) -> list[Axis]:
    """Along x, up, and about y; the number of the second begins at `height`."""
    return [
        Axis("rootx", (1, 0, 0), slides=True),
        Axis("rootz", (0, 0, 1), slides=True, start=height),
        Axis("rooty", (0, 1, 0)),
    ]


class Planar(Classic):
    """What runs along x and is seen without its x."""

    camera = Camera(position=(0, -4, 1.5), target=(0, 0, 0.8), follows="torso")
    height = 0.0  # what the second number begins at
    sees_up_to = np.inf

    def __init__(
        self,
        frame_skip: int,
        forward_reward_weight: float,
        ctrl_cost_weight: float,
        exclude_current_positions_from_observation: bool,
    ) -> None:
        super().__init__(frame_skip)
        self.extra = self.at("JOINT_POSITION", "rootx")
        self._forward, self._control = forward_reward_weight, ctrl_cost_weight
        self._hides = exclude_current_positions_from_observation

    def observe(self, observation: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
        position, velocity = self.split(observation)
        first = position[:, 1:] if self._hides else position
        return np.concatenate([first, np.clip(velocity, -self.sees_up_to, self.sees_up_to)], axis=1)

    def terms(self, moment: Moment) -> tuple[Array, dict[str, NDArray[Any]]]:
        speed = (moment.extra[:, 0] - moment.before[:, 0]) / moment.time_step
        forward, cost = self._forward * speed, self._control * squares(moment.action)
        told = {"x_position": moment.extra[:, 0], "x_velocity": speed, "reward_forward": forward, "reward_ctrl": -cost}
        return np.asarray(forward - cost, np.float64), told

    def begun(self, observation: NDArray[Any], extra: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return {"x_position": extra[:, 0]}


class Upright(Planar):
    """One that ends where it is no longer healthy."""

    sees_up_to = FAST

    def __init__(
        self,
        frame_skip: int,
        forward_reward_weight: float,
        ctrl_cost_weight: float,
        healthy_reward: float,
        terminate_when_unhealthy: bool,
        ranges: dict[int, tuple[float, float]],
        reset_noise_scale: float,
        exclude_current_positions_from_observation: bool,
    ) -> None:
        """`ranges`: of which columns of the observation, and within what they are healthy."""
        super().__init__(
            frame_skip, forward_reward_weight, ctrl_cost_weight, exclude_current_positions_from_observation
        )
        self._healthy, self._ends = healthy_reward, terminate_when_unhealthy
        self._ranges = ranges
        kinds = ("JOINT_POSITION", "JOINT_VELOCITY")
        self.noise = [one for kind in kinds for one in self.uniform(kind, reset_noise_scale)]
        if terminate_when_unhealthy:
            self.bounds = [
                one
                for column, (low, high) in ranges.items()
                for one in self.at(
                    kinds[column >= len(self.axes)],
                    self.axes[column % len(self.axes)],
                    **{name: end for name, end in (("low", low), ("high", high)) if np.isfinite(end)},
                )
            ]

    def terms(self, moment: Moment) -> tuple[Array, dict[str, NDArray[Any]]]:
        paid, told = super().terms(moment)
        healthy = ~moment.terminated
        if not self._ends:
            for column, (low, high) in self._ranges.items():
                healthy = healthy & (low < moment.observation[:, column]) & (moment.observation[:, column] < high)
        survives = self._healthy * healthy
        told |= {"z_distance_from_origin": moment.observation[:, 1] - self.height, "reward_survive": survives}
        return paid + survives, told

    def begun(self, observation: NDArray[Any], extra: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return super().begun(observation, extra) | {"z_distance_from_origin": observation[:, 1] - self.height}


# ---- Hopper and Walker2d


def _legs(
    sides: list[str],
    toe: float,
    sole: tuple[float, float],
    grips: tuple[float, float],
    *,
    armature: float,
    damping: float,
) -> Link:
    """A trunk on thighs, legs and feet. `toe`: of a foot's origin from the ankle; `sole`: where its bar begins and ends
    from there; `grips`: friction of all but the feet, and of these."""

    def hinge(name: str, low: float, high: float, *at: float) -> Axis:
        return Axis(f"{name}_joint", (0, -1, 0), low * DEGREE, high * DEGREE, damping, armature, at=at)

    rest, feet = grips
    thighs = []
    for side in sides:
        foot = Link(
            f"foot{side}",
            (toe, 0, -0.35),
            [bar((sole[0], 0, 0.1), (sole[1], 0, 0.1), 0.06, friction=feet)],
            [hinge(f"foot{side}", -45, 45, -toe, 0, 0.1)],
        )
        leg = Link(
            f"leg{side}",
            (0, 0, -0.7),
            [bar((0, 0, -0.25), (0, 0, 0.25), 0.04, friction=rest)],
            [hinge(f"leg{side}", -150, 0, 0, 0, 0.25)],
            [foot],
        )
        bone = bar((0, 0, -0.45), (0, 0, 0), 0.05, friction=rest)
        thighs.append(Link(f"thigh{side}", (0, 0, -0.2), [bone], [hinge(f"thigh{side}", -150, 0, 0, 0, 0)], [leg]))
    return Link("torso", (0, 0, 0), [bar((0, 0, -0.2), (0, 0, 0.2), 0.05, friction=rest)], _root(1.25), thighs)


class Hopper(Upright):
    name = "Hopper"
    reward_threshold = 3800.0
    height = 1.25
    axes = (*ROOT, "thigh_joint", "leg_joint", "foot_joint")
    motors = tuple((axis, 200.0) for axis in axes[3:])
    model = Model(
        "hopper",
        {"time_step": 0.002, "integrator": "RK4"},
        [_legs([""], 0.13, (-0.26, 0.13), (1.0, 2.0), armature=1.0, damping=1.0)],
        ground=1.0,
        touches_itself=True,
    )

    def __init__(
        self,
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_state_range: tuple[float, float] = (-100.0, 100.0),
        healthy_z_range: tuple[float, float] = (0.7, np.inf),
        healthy_angle_range: tuple[float, float] = (-0.2, 0.2),
        reset_noise_scale: float = 5e-3,
        exclude_current_positions_from_observation: bool = True,
    ) -> None:
        ranges = dict.fromkeys(range(3, 2 * len(self.axes)), healthy_state_range)
        low, high = healthy_state_range
        ranges[1] = healthy_z_range
        ranges[2] = (max(low, healthy_angle_range[0]), min(high, healthy_angle_range[1]))
        super().__init__(
            frame_skip,
            forward_reward_weight,
            ctrl_cost_weight,
            healthy_reward,
            terminate_when_unhealthy,
            ranges,
            reset_noise_scale,
            exclude_current_positions_from_observation,
        )


class Walker2d(Upright):
    name = "Walker2d"
    height = 1.25
    axes = (*ROOT, *(f"{part}{side}_joint" for side in ("", "_left") for part in ("thigh", "leg", "foot")))
    motors = tuple((axis, 100.0) for axis in axes[3:])
    model = Model(
        "walker2d",
        {"time_step": 0.002, "integrator": "RK4"},
        [_legs(["", "_left"], 0.2, (-0.2, 0.0), (0.9, 1.9), armature=0.01, damping=0.1)],
        ground=0.7,
    )

    def __init__(
        self,
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (0.8, 2.0),
        healthy_angle_range: tuple[float, float] = (-1.0, 1.0),
        reset_noise_scale: float = 5e-3,
        exclude_current_positions_from_observation: bool = True,
    ) -> None:
        super().__init__(
            frame_skip,
            forward_reward_weight,
            ctrl_cost_weight,
            healthy_reward,
            terminate_when_unhealthy,
            {1: healthy_z_range, 2: healthy_angle_range},
            reset_noise_scale,
            exclude_current_positions_from_observation,
        )


# ---- HalfCheetah


# of each part: where it stands in the one before; its bar's middle, turn about y, and half length; its joint's limits,
# spring and damper
HIND = (
    ("bthigh", (-0.5, 0, 0), (0.1, 0, -0.13), -3.8, 0.145, (-0.52, 1.05), 240.0, 6.0),
    ("bshin", (0.16, 0, -0.25), (-0.14, 0, -0.07), -2.03, 0.15, (-0.785, 0.785), 180.0, 4.5),
    ("bfoot", (-0.28, 0, -0.14), (0.03, 0, -0.097), -0.27, 0.094, (-0.4, 0.785), 120.0, 3.0),
)
FORE = (
    ("fthigh", (0.5, 0, 0), (-0.07, 0, -0.12), 0.52, 0.133, (-1.0, 0.7), 180.0, 4.5),
    ("fshin", (-0.14, 0, -0.24), (0.065, 0, -0.09), -0.6, 0.106, (-1.2, 0.87), 120.0, 3.0),
    ("ffoot", (0.13, 0, -0.18), (0.045, 0, -0.07), -0.6, 0.07, (-0.5, 0.5), 60.0, 1.5),
)
MASS = 14.0  # [kg] of all of it


def _cheetah(density: float) -> Link:
    def bone(at: tuple[float, float, float], angle: float, half: float) -> Shape:
        return tilted(at, angle, half, 0.046, density=density, friction=0.4)

    legs = []
    for parts in (HIND, FORE):
        inner: list[Link] = []
        for name, position, middle, angle, half, (low, high), stiffness, damping in reversed(parts):
            joint = Axis(name, (0, 1, 0), low, high, damping, 0.1, stiffness)
            inner = [Link(name, position, [bone(middle, angle, half)], [joint], inner)]
        legs += inner
    trunk = bar((-0.5, 0, 0), (0.5, 0, 0), 0.046, density=density, friction=0.4)
    return Link("torso", (0, 0, 0.7), [trunk, bone((0.6, 0, 0.1), 0.87, 0.15)], _root(0.0), legs)


class HalfCheetah(Planar):
    name = "HalfCheetah"
    reward_threshold = 4800.0
    axes = (*ROOT, *(part[0] for part in (*HIND, *FORE)))
    motors = tuple(zip(axes[3:], (120.0, 90.0, 60.0, 120.0, 60.0, 30.0)))
    model = Model(
        "half-cheetah",
        {"time_step": 0.01},
        [_cheetah(1000.0 * MASS / sum(link.weight()[0] for link in _cheetah(1000.0).all()))],
        ground=0.4,
    )

    def __init__(
        self,
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ) -> None:
        super().__init__(
            frame_skip, forward_reward_weight, ctrl_cost_weight, exclude_current_positions_from_observation
        )
        self.noise = [
            *self.uniform("JOINT_POSITION", reset_noise_scale),
            *self.gaussian("JOINT_VELOCITY", reset_noise_scale),
        ]
