# SPDX-License-Identifier: MIT
"""Reacher and Pusher: arms that reach for a place, and push a can to one, with the sizes, rewards and starts of
Gymnasium's v5."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...group import channel
from ..environment import Moment
from ..render import Camera
from .classic import Array, Classic, squares
from .links import Axis, Link, Model, Shape, ball, bar

SLOW = 0.005  # [rad/s] of joints as an episode begins, to either side
ROUND = 0.2  # [m] within which Reacher's target is
WALLS = ((-0.3, -0.3, 0.3, -0.3), (0.3, -0.3, 0.3, 0.3), (-0.3, 0.3, 0.3, 0.3), (-0.3, -0.3, -0.3, 0.3))


class Arm(Classic):
    """One whose episodes end by time alone, and begin with joints that hardly move."""

    def __init__(self, frame_skip: int, arm: int) -> None:
        """`arm`: how many of the axes are the arm's, the first of them."""
        super().__init__(frame_skip)
        self._arm = arm
        self.noise = [
            *self.uniform("JOINT_POSITION", 1.0),
            *self.uniform("JOINT_VELOCITY", SLOW, self.axes[:arm]),
            *self.uniform("JOINT_VELOCITY", 0.0, self.axes[arm:]),
        ]

    def place(self, stream: np.random.Generator) -> Array:
        """The positions of all axes."""
        raise NotImplementedError

    def start(self, stream: np.random.Generator) -> Array:
        position, velocity = self.place(stream), np.zeros(len(self.axes))
        velocity[: self._arm] = stream.uniform(-SLOW, SLOW, self._arm)
        return self.values(position, velocity)


# ---- Reacher


def _wall(number: int, ends: tuple[float, float, float, float]) -> dict[str, Any]:
    shape = bar((*ends[:2], 0.01), (*ends[2:], 0.01), 0.02)
    size = {"radius": shape.radius, "half_length": shape.length / 2}
    told = {"capsule": size, "position": shape.center.tolist(), "orientation": shape.turn.tolist()}
    return {"name": f"side {number}", "kind": "STATIC", "shapes": [{**told, "group": 0, "mask": 0}]}


def _reacher() -> Model:
    tip = Link("fingertip", (0.11, 0, 0), [ball((0, 0, 0), 0.01)])
    joints = [Axis(name, (0, 0, 1), damping=1.0, armature=1.0) for name in ("joint0", "joint1")]
    joints[1] = Axis("joint1", (0, 0, 1), -3.0, 3.0, 1.0, 1.0)
    bone = bar((0, 0, 0), (0.1, 0, 0), 0.01)
    fore = Link("body1", (0.1, 0, 0), [bone], joints[1:], [tip])
    ways = (("target_x", (1, 0, 0), 0.1), ("target_y", (0, 1, 0), -0.1))
    slides = [Axis(name, way, -0.27, 0.27, slides=True, start=start) for name, way, start in ways]
    target = Link("target", (0, 0, 0.01), [ball((0, 0, 0), 0.009)], slides)
    settings = {"time_step": 0.01, "integrator": "RK4"}
    walls = [_wall(number, ends) for number, ends in enumerate(WALLS, 1)]
    return Model("reacher", settings, [Link("body0", (0, 0, 0.01), [bone], joints[:1], [fore]), target], walls)


class Reacher(Arm):
    name = "Reacher"
    reward_threshold = -3.75
    step_limit = 50
    axes = ("joint0", "joint1", "target_x", "target_y")
    motors = (("joint0", 200.0), ("joint1", 200.0))
    camera = Camera(position=(0, -0.5, 0.8), target=(0, 0, 0))
    model = _reacher()

    def __init__(
        self, frame_skip: int = 2, reward_dist_weight: float = 1.0, reward_control_weight: float = 1.0
    ) -> None:
        super().__init__(frame_skip, 2)
        self._dist, self._control = reward_dist_weight, reward_control_weight
        self.extra = [channel("BODY_POSITION", "fingertip"), channel("BODY_POSITION", "target")]

    def place(self, stream: np.random.Generator) -> Array:
        joints = stream.uniform(-0.1, 0.1, 2)
        while True:
            target = stream.uniform(-ROUND, ROUND, 2)
            if np.linalg.norm(target) < ROUND:
                return np.concatenate([joints, target])

    def observe(self, observation: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
        position, velocity = self.split(observation)
        turned, away = position[:, :2], extra[:, 0:2] - extra[:, 3:5]
        return np.concatenate([np.cos(turned), np.sin(turned), position[:, 2:], velocity[:, :2], away], axis=1)

    def terms(self, moment: Moment) -> tuple[Array, dict[str, NDArray[Any]]]:
        far = -np.linalg.norm(moment.extra[:, :3] - moment.extra[:, 3:6], axis=1) * self._dist
        control = -squares(moment.action) * self._control
        return np.asarray(far + control, np.float64), {"reward_dist": far, "reward_ctrl": control}


# ---- Pusher


CLEAR = 0.17  # [m] that the can is away from the goal, as an episode begins


def _stiff(begin: tuple[float, ...], end: tuple[float, ...], radius: float, is_solid: bool = False) -> Shape:
    return bar(begin, end, radius, density=300.0, is_solid=is_solid)


def _turns(name: str, way: tuple[int, int, int], low: float, high: float, damping: float = 0.1) -> list[Axis]:
    return [Axis(f"r_{name}_joint", way, low, high, damping, 0.04)]


def _can(name: str, height: float, radius: float, half: float, density: float, is_solid: bool) -> Link:
    """What slides on the table."""
    shape = Shape((0, 0, -half), (0, 0, half), radius, density, is_flat=True, is_solid=is_solid, meets_ground=False)
    ways = (("y", (0, 1, 0)), ("x", (1, 0, 0)))
    short = "obj" if name == "object" else name
    slides = [Axis(f"{short}_slide{letter}", way, -10.3213, 10.3, 0.5, 0.04, slides=True) for letter, way in ways]
    return Link(name, (0.45, -0.05, height), [shape], slides)


def _pusher() -> Model:
    """From the hand back to the shoulder."""
    fingers = [ball((0.1, y, 0), 0.01, density=300.0, is_solid=False) for y in (-0.1, 0.1)]
    palm = [
        _stiff((0, -0.1, 0), (0, 0.1, 0), 0.02, True),
        *(_stiff((0, y, 0), (0.1, y, 0), 0.02, True) for y in (-0.1, 0.1)),
    ]
    here = (0.0, 0.0, 0.0)
    tips = Link("tips_arm", here, fingers)
    hand = Link("r_wrist_roll_link", here, palm, _turns("wrist_roll", (1, 0, 0), -1.5, 1.5), [tips])
    bend = _turns("wrist_flex", (0, 1, 0), -1.094, 0)
    wrist = Link("r_wrist_flex_link", (0.321, 0, 0), [_stiff((0, -0.02, 0), (0, 0.02, 0), 0.01)], bend, [hand])
    forearm = Link("r_forearm_link", here, [_stiff(here, (0.291, 0, 0), 0.05)], [], [wrist])
    roll = _turns("forearm_roll", (1, 0, 0), -1.5, 1.5)
    fore = Link("r_forearm_roll_link", here, [_stiff((-0.1, 0, 0), (0.1, 0, 0), 0.02)], roll, [forearm])
    flex = _turns("elbow_flex", (0, 1, 0), -2.3213, 0)
    elbow = Link("r_elbow_flex_link", (0.4, 0, 0), [_stiff((0, -0.02, 0), (0, 0.02, 0), 0.06)], flex, [fore])
    upper = Link("r_upper_arm_link", here, [_stiff(here, (0.4, 0, 0), 0.06)], [], [elbow])
    twist = _turns("upper_arm_roll", (1, 0, 0), -1.5, 1.7)
    arm = Link("r_upper_arm_roll_link", here, [_stiff((-0.1, 0, 0), (0.1, 0, 0), 0.02)], twist, [upper])
    lift = _turns("shoulder_lift", (0, 1, 0), -0.5236, 1.3963, 1.0)
    raised = Link("r_shoulder_lift_link", (0.1, 0, 0), [_stiff((0, -0.1, 0), (0, 0.1, 0), 0.1)], lift, [arm])
    eyes = [
        ball((x, y, 0.2), radius, density=300.0, is_solid=False)
        for x in (-0.06, 0.06)
        for y, radius in ((0.05, 0.05), (0.09, 0.03))
    ]
    pan = _turns("shoulder_pan", (0, 0, 1), -2.2854, 1.714602, 1.0)
    trunk = [*eyes, _stiff((0, 0, -0.4), (0, 0, 0.2), 0.1)]
    shoulder = Link("r_shoulder_pan_link", (0, -0.6, 0), trunk, pan, [raised])
    cans = [
        _can("object", -0.275, 0.05, 0.05, 0.01, True),
        _can("goal", -0.323, 0.08, 0.001, 0.00001, False),
    ]
    settings = {"time_step": 0.01, "gravity": [0, 0, 0], "rotation": "EXPLICIT"}
    return Model(
        "pusher", settings, [shoulder, *cans], ground=0.0, ground_height=-0.325, touches_itself=True
    )


class Pusher(Arm):
    name = "Pusher"
    reward_threshold = 0.0
    step_limit = 100
    axes = (
        *("r_shoulder_pan_joint", "r_shoulder_lift_joint", "r_upper_arm_roll_joint", "r_elbow_flex_joint"),
        *("r_forearm_roll_joint", "r_wrist_flex_joint", "r_wrist_roll_joint"),
        *("obj_slidey", "obj_slidex", "goal_slidey", "goal_slidex"),
    )
    motors = tuple((axis, 1.0) for axis in axes[:7])
    control_max = 2.0
    camera = Camera(position=(1.6, -1.8, 0.8), target=(0.3, -0.2, -0.2))
    model = _pusher()

    def __init__(
        self,
        frame_skip: int = 5,
        reward_near_weight: float = 0.5,
        reward_dist_weight: float = 1.0,
        reward_control_weight: float = 0.1,
    ) -> None:
        super().__init__(frame_skip, 7)
        self._near, self._dist, self._control = reward_near_weight, reward_dist_weight, reward_control_weight
        self.extra = [channel("BODY_POSITION", name) for name in ("tips_arm", "object", "goal")]

    def place(self, stream: np.random.Generator) -> Array:
        while True:
            can = stream.uniform((-0.3, -0.2), (0.0, 0.2))
            if np.linalg.norm(can) > CLEAR:
                return np.concatenate([np.zeros(7), can, np.zeros(2)])

    def observe(self, observation: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
        position, velocity = self.split(observation)
        return np.concatenate([position[:, :7], velocity[:, :7], extra[:, :9]], axis=1)

    def terms(self, moment: Moment) -> tuple[Array, dict[str, NDArray[Any]]]:
        tips, can, goal = moment.extra[:, 0:3], moment.extra[:, 3:6], moment.extra[:, 6:9]
        near = -np.linalg.norm(can - tips, axis=1) * self._near
        far = -np.linalg.norm(can - goal, axis=1) * self._dist
        control = -squares(moment.action) * self._control
        told = {"reward_dist": far, "reward_ctrl": control, "reward_near": near}
        return np.asarray(far + control + near, np.float64), told
