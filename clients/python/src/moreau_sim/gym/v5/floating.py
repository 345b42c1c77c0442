# SPDX-License-Identifier: MIT
"""Ant and Humanoid: walkers that nothing holds, with the sizes, rewards, ends and starts of Gymnasium's v5."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...group import channel, uniform
from ..environment import Moment
from ..render import Camera
from .classic import Array, Classic, squares
from .links import Axis, Link, Model, Shape, ball, bar
from .spatial import Bodies, matrices

DEGREE = np.pi / 180
FREE = 7  # position numbers of the torso: place, and a quaternion w x y z


class Floating(Classic):
    """A torso that nothing holds, and what hangs on it. Columns of the observation are Gymnasium's qpos, then qvel: the
    torso's place and quaternion; the velocity of its origin, and its spin in its own axes."""

    bodies: Bodies
    start_scale = 0.1

    def __init__(self, frame_skip: int, reset_noise_scale: float, healthy_z_range: tuple[float, float]) -> None:
        super().__init__(frame_skip)
        count = len(self.axes)
        self.observation = [
            channel("BODY_POSITION", "torso"),
            channel("BODY_ROTATION", "torso"),
            *self.observation[:count],
            channel("BODY_VELOCITY", "torso"),
            channel("BODY_LOCAL_SPIN", "torso"),
            *self.observation[count:],
        ]
        self.extra = list(self.bodies.channels)
        self._scale, self._range = reset_noise_scale, healthy_z_range
        self._arm = self.model.links[0].weight()[1]  # of the torso's centre
        kinds = ("BODY_POSITION", "BODY_ROTATION", "BODY_VELOCITY", "BODY_SPIN")
        free = [uniform(kind, "torso", -reset_noise_scale, reset_noise_scale) for kind in kinds]
        hinges = [self.uniform(kind, reset_noise_scale) for kind in ("JOINT_POSITION", "JOINT_VELOCITY")]
        self.noise = [*free[:2], *hinges[0], *free[2:], *hinges[1]]

    def healthy_ends(self, ends: bool) -> None:
        """The torso's height ends an episode, or only what it earns."""
        self._ends = ends
        low, high = self._range
        if ends:
            self.bounds = [channel("BODY_POSITION", "torso", axes=[2], low=low, high=high)]

    def is_healthy(self, moment: Moment) -> NDArray[np.bool_]:
        height = moment.observation[:, 2]
        return ~moment.terminated if self._ends else (self._range[0] <= height) & (height <= self._range[1])

    def split(self, observation: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        count = FREE + len(self.axes)
        position, velocity = observation[:, :count], observation[:, count:].copy()
        # of the torso's origin, and not of its centre
        turned = matrices(position[:, 3:FREE])
        spin = np.einsum("wij,wj->wi", turned, velocity[:, 3:6])
        velocity[:, :3] -= np.cross(spin, np.einsum("wij,j->wi", turned, self._arm))
        return position, velocity

    def velocities(self, stream: np.random.Generator, count: int) -> Array:
        """What is drawn for qvel."""
        raise NotImplementedError

    def start(self, stream: np.random.Generator) -> Array:
        """Numbers are added to all of Gymnasium's qpos and qvel; values() makes the quaternion one again."""
        count = len(self.axes)
        off = stream.uniform(-self._scale, self._scale, FREE + count)
        return self.values(self.first + off, self.velocities(stream, 6 + count))

    @property
    def first(self) -> Array:
        upright = [*self.model.links[0].position, 1.0, 0.0, 0.0, 0.0]
        return np.concatenate([upright, super().first])

    def values(self, position: Array, velocity: Array) -> Array:
        off, velocity = np.asarray(position) - self.first, np.asarray(velocity)
        q = np.asarray(position, np.float64)[..., 3:FREE]
        q = q / np.linalg.norm(q, axis=-1, keepdims=True)
        sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
        angle = 2.0 * np.arctan2(sine, q[..., :1])
        turn = q[..., 1:] * np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0)
        turned = matrices(q)
        spin = np.einsum("...ij,...j->...i", turned, velocity[..., 3:6])
        center = velocity[..., :3] + np.cross(spin, turned @ self._arm)
        return np.concatenate([off[..., :3], turn, off[..., FREE:], center, spin, velocity[..., 6:]], axis=-1)

    def begun(self, observation: NDArray[Any], extra: NDArray[Any]) -> dict[str, NDArray[Any]]:
        place = observation[:, :2]
        return {
            "x_position": place[:, 0],
            "y_position": place[:, 1],
            "distance_from_origin": np.linalg.norm(place, axis=1),
        }

    def told(self, moment: Moment, velocity: NDArray[Any], terms: dict[str, Any]) -> dict[str, NDArray[Any]]:
        """What Gymnasium says of a step."""
        moved = {"x_velocity": velocity[:, 0], "y_velocity": velocity[:, 1]}
        return self.begun(moment.observation, moment.extra) | moved | terms


# ---- Ant


def _ant() -> Model:
    """Legs 1 to 4 point along (1, 1), (-1, 1), (-1, -1), (1, -1); ankles bend downwards."""

    def bone(size: float, x: int, y: int) -> Shape:
        return bar((0, 0, 0), (size * x, size * y, 0), 0.08, density=5.0)

    legs = []
    for number, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)), 1):
        knee = (0.2 * x, 0.2 * y, 0)
        axis = (-1, 1, 0) if x == y else (1, 1, 0)
        low, high = (30, 70) if x > 0 else (-70, -30)
        bend = Axis(f"ankle_{number}", axis, low * DEGREE, high * DEGREE, 1.0, 1.0)
        swing = Axis(f"hip_{number}", (0, 0, 1), -30 * DEGREE, 30 * DEGREE, 1.0, 1.0)
        foot = Link(f"foot_{number}", knee, [bone(0.4, x, y)], [bend])
        thigh = Link(f"aux_{number}", knee, [bone(0.2, x, y)], [swing], [foot])
        legs.append(Link(f"leg_{number}", (0, 0, 0), [bone(0.2, x, y)], [], [thigh]))
    torso = Link("torso", (0, 0, 0.75), [ball((0, 0, 0), 0.25, density=5.0)], [], legs, is_free=True)
    return Model("ant-v5", {"time_step": 0.01, "integrator": "RK4"}, [torso], ground=1.0)


class AntV5(Floating):
    name = "Ant"
    reward_threshold = 6000.0
    axes = tuple(f"{joint}_{number}" for number in (1, 2, 3, 4) for joint in ("hip", "ankle"))
    motors = tuple((f"{joint}_{number}", 150.0) for number in (4, 1, 2, 3) for joint in ("hip", "ankle"))
    camera = Camera(position=(0, -4, 2), target=(0, 0, 0.4), follows="torso")
    model = _ant()
    bodies = Bodies(model.all(), moves=False)

    def __init__(
        self,
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 5e-4,
        healthy_reward: float = 1.0,
        main_body: int | str = 1,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (0.2, 1.0),
        contact_force_range: tuple[float, float] = (-1.0, 1.0),
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ) -> None:
        super().__init__(frame_skip, reset_noise_scale, healthy_z_range)
        self.healthy_ends(terminate_when_unhealthy)
        self._forward, self._control, self._contact = forward_reward_weight, ctrl_cost_weight, contact_cost_weight
        self._healthy, self._force_range = healthy_reward, contact_force_range
        self._hides, self._feels = exclude_current_positions_from_observation, include_cfrc_ext_in_observation
        # a body by its name, or by its number in Gymnasium's model, of which the torso is the first
        main = self.bodies.names.index(main_body) if isinstance(main_body, str) else main_body - 1
        self._main = main * (self.bodies.width // len(self.bodies.names))

    def velocities(self, stream: np.random.Generator, count: int) -> Array:
        return self._scale * stream.standard_normal(count)

    def _forces(self, extra: NDArray[Any]) -> Array:
        felt = self.bodies.read(extra).contact()
        return np.clip(felt, *self._force_range).reshape(len(extra), -1)

    def observe(self, observation: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
        position, velocity = self.split(observation)
        seen = [position[:, 2:] if self._hides else position, velocity]
        if self._feels:
            seen.append(self._forces(extra[:, : self.bodies.width]))
        return np.concatenate(seen, axis=1)

    def terms(self, moment: Moment) -> tuple[Array, dict[str, NDArray[Any]]]:
        place = slice(self._main, self._main + 2)
        velocity = (moment.extra[:, place] - moment.before[:, place]) / moment.time_step
        forward, healthy = self._forward * velocity[:, 0], self._healthy * self.is_healthy(moment)
        control = self._control * squares(moment.action)
        contact = self._contact * squares(self._forces(moment.extra))
        told = self.told(
            moment,
            velocity,
            {
                "reward_forward": forward,
                "reward_ctrl": -control,
                "reward_contact": -contact,
                "reward_survive": healthy,
            },
        )
        return np.asarray(forward + healthy - control - contact, np.float64), told


# ---- Humanoid


TENDONS = (("left_hip_y", "left_knee"), ("right_hip_y", "right_knee"))  # each the second less the first


def _leg(side: str, out: int) -> Link:
    """`out`: 1 to the left, -1 to the right; hips turn outwards alike."""

    def hip(letter: str, way: tuple[int, int, int], low: float, high: float, stiff: float, armature: float) -> Axis:
        return Axis(f"{side}_hip_{letter}", way, low * DEGREE, high * DEGREE, 5.0, armature, stiff)

    stiff = 1.0 if side == "left" else 0.0
    knee = Axis(f"{side}_knee", (0, -1, 0), -160 * DEGREE, -2 * DEGREE, 1.0, 0.006, stiff, (0, 0, 0.02))
    foot = Link(f"{side}_foot", (0, 0, -0.45), [ball((0, 0, 0.1), 0.075)])
    shin = Link(f"{side}_shin", (0, -0.01 * out, -0.403), [bar((0, 0, 0), (0, 0, -0.3), 0.049)], [knee], [foot])
    hips = [
        hip("x", (-out, 0, 0), -25, 5, 10.0, 0.01),
        hip("z", (0, 0, -out), -60, 35, 10.0, 0.01),
        hip("y", (0, 1, 0), -110, 20, 20.0, 0.01 if side == "left" else 0.008),
    ]
    return Link(
        f"{side}_thigh", (0, 0.1 * out, -0.04), [bar((0, 0, 0), (0, -0.01 * out, -0.34), 0.06)], hips, [shin]
    )


def _arm(side: str, out: int) -> Link:
    low, high = (-60, 85) if side == "left" else (-85, 60)
    ways = ((2, -out, 1), (0, out, 1))
    shoulder = [
        Axis(f"{side}_shoulder{number}", way, low * DEGREE, high * DEGREE, 1.0, armature, 1.0)
        for number, way, armature in ((1, ways[0], 0.0068), (2, ways[1], 0.0051))
    ]
    elbow = Axis(f"{side}_elbow", (0, -1, -out), -90 * DEGREE, 50 * DEGREE, 1.0, 0.0028)
    lower = Link(
        f"{side}_lower_arm",
        (0.18, 0.18 * out, -0.18),
        [bar((0.01, -0.01 * out, 0.01), (0.17, -0.17 * out, 0.17), 0.031), ball((0.18, -0.18 * out, 0.18), 0.04)],
        [elbow],
    )
    return Link(
        f"{side}_upper_arm",
        (0, 0.17 * out, 0.06),
        [bar((0, 0, 0), (0.16, 0.16 * out, -0.16), 0.04)],
        shoulder,
        [lower],
    )


def _humanoid() -> Model:
    tilt = np.array([1.0, 0.0, -0.002, 0.0])
    tilt /= np.linalg.norm(tilt)

    def waist(letter: str, way: tuple[int, int, int], low: float, high: float, stiff: float, at: float) -> Axis:
        return Axis(f"abdomen_{letter}", way, low * DEGREE, high * DEGREE, 5.0, 0.02, stiff, (0, 0, at))

    def across(x: float, half: float, z: float, radius: float) -> Shape:
        return bar((x, -half, z), (x, half, z), radius)

    pelvis = Link(
        "pelvis",
        (0, 0, -0.165),
        [across(-0.02, 0.07, 0, 0.09)],
        [waist("x", (1, 0, 0), -35, 35, 10.0, 0.1)],
        [_leg("right", -1), _leg("left", 1)],
        turned=tilt.tolist(),
    )
    middle = Link(
        "lwaist",
        (-0.01, 0, -0.26),
        [across(0, 0.06, 0, 0.06)],
        [waist("z", (0, 0, 1), -45, 45, 20.0, 0.065), waist("y", (0, 1, 0), -75, 30, 10.0, 0.065)],
        [pelvis],
        turned=tilt.tolist(),
    )
    trunk = [across(0, 0.07, 0, 0.07), ball((0, 0, 0.19), 0.09), across(-0.01, 0.06, -0.12, 0.06)]
    torso = Link("torso", (0, 0, 1.4), trunk, [], [middle, _arm("right", -1), _arm("left", 1)], is_free=True)
    settings = {"time_step": 0.003, "integrator": "RK4"}
    return Model("humanoid", settings, [torso], ground=1.0, touches_itself=True)


HIPS = ("hip_x", "hip_z", "hip_y", "knee")
ARMS = ("shoulder1", "shoulder2", "elbow")


class Humanoid(Floating):
    name = "Humanoid"
    axes = (
        *("abdomen_z", "abdomen_y", "abdomen_x"),
        *(f"{side}_{joint}" for joints in (HIPS, ARMS) for side in ("right", "left") for joint in joints),
    )
    motors = (
        *((f"abdomen_{letter}", 100.0) for letter in "yzx"),
        *((f"{side}_{j}", f) for side in ("right", "left") for j, f in zip(HIPS, (100.0, 100.0, 300.0, 200.0))),
        *((f"{side}_{joint}", 25.0) for side in ("right", "left") for joint in ARMS),
    )
    control_max = 0.4
    camera = Camera(position=(0, -4.5, 1.8), target=(0, 0, 1.0), follows="torso")
    model = _humanoid()
    bodies = Bodies(model.all(), moves=True)

    def __init__(
        self,
        frame_skip: int = 5,
        forward_reward_weight: float = 1.25,
        ctrl_cost_weight: float = 0.1,
        contact_cost_weight: float = 5e-7,
        contact_cost_range: tuple[float, float] = (-np.inf, 10.0),
        healthy_reward: float = 5.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (1.0, 2.0),
        reset_noise_scale: float = 1e-2,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ) -> None:
        super().__init__(frame_skip, reset_noise_scale, healthy_z_range)
        self.healthy_ends(terminate_when_unhealthy)
        self.extra = [*self.extra, *self.model.channels("JOINT_EFFORT", self.axes)]
        self._forward, self._control, self._contact = forward_reward_weight, ctrl_cost_weight, contact_cost_weight
        self._cost_range, self._healthy = contact_cost_range, healthy_reward
        self._hides = exclude_current_positions_from_observation
        self._sees = (include_cinert_in_observation, include_cvel_in_observation)
        self._feels = (include_qfrc_actuator_in_observation, include_cfrc_ext_in_observation)

    def velocities(self, stream: np.random.Generator, count: int) -> Array:
        return stream.uniform(-self._scale, self._scale, count)

    def observe(self, observation: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
        position, velocity = self.split(observation)
        width = self.bodies.width
        moment = self.bodies.read(extra[:, :width])
        seen = [position[:, 2:] if self._hides else position, velocity]
        for told, is_seen in zip((moment.inertia, moment.motion), self._sees):
            if is_seen:
                seen.append(told().reshape(len(extra), -1))
        if self._feels[0]:
            seen.append(extra[:, width : width + len(self.axes)])
        if self._feels[1]:
            seen.append(moment.contact().reshape(len(extra), -1))
        return np.concatenate(seen, axis=1)

    def _tendons(self, numbers: NDArray[Any]) -> NDArray[Any]:
        at = {axis: number for number, axis in enumerate(self.axes)}
        return np.stack([numbers[:, at[knee]] - numbers[:, at[hip]] for hip, knee in TENDONS], axis=1)

    def begun(self, observation: NDArray[Any], extra: NDArray[Any]) -> dict[str, NDArray[Any]]:
        position, velocity = self.split(observation)
        lengths, rates = self._tendons(position[:, FREE:]), self._tendons(velocity[:, 6:])
        return super().begun(observation, extra) | {"tendon_length": lengths, "tendon_velocity": rates}

    def terms(self, moment: Moment) -> tuple[Array, dict[str, NDArray[Any]]]:
        width = self.bodies.width
        now, before = self.bodies.read(moment.extra[:, :width]), self.bodies.read(moment.before[:, :width])
        velocity = (now.center - before.center)[:, :2] / moment.time_step
        forward, healthy = self._forward * velocity[:, 0], self._healthy * self.is_healthy(moment)
        control = self._control * squares(np.asarray(moment.action, np.float64))
        force = now.contact().reshape(len(moment.extra), -1)
        contact = np.clip(self._contact * squares(force), *self._cost_range)
        told = self.told(
            moment,
            velocity,
            {
                "reward_survive": healthy,
                "reward_forward": forward,
                "reward_ctrl": -control,
                "reward_contact": -contact,
            },
        )
        return np.asarray(forward + healthy - control - contact, np.float64), told
