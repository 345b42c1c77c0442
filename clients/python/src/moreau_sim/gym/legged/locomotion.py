# SPDX-License-Identifier: MIT
"""LeggedLocomotion: a robot on legs, of a file or of one's own, that goes as it is told, over terrains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ... import protocol as p
from ...group import Columns, channel, uniform
from ..environment import Environment, Moment
from ..render import Camera
from .curriculum import Curriculum
from .gait import Trot, goes
from .robot import GROUND, PUP, Robot
from .terrain import Terrain

Array = NDArray[np.float64]
EYE = 1.0  # [m] above the trunk from where rays look down, so far and twice as far again
FAR = 1e4  # of any number that is seen, which nothing reaches
SHARP = 4.0  # [s^2/m^2], [s^2/rad^2]: of exp(-SHARP error^2), which is paid for going as told

# what a second pays, or costs, of:
WEIGHTS = {
    "velocity": 1.5,  # exp(-SHARP |asked - is|^2), along x and y of the trunk
    "turn": 0.75,  # the same of the turn about the trunk's z
    "gait": 0.5,  # the share of feet that are on the ground, or off it, as the gait has them
    "bounce": -1.0,  # velocity^2 along the trunk's z [m^2/s^2]
    "roll": -0.05,  # rates^2 about x and y [rad^2/s^2]
    "tilt": -2.0,  # sine^2 of how far it leans
    "effort": -0.2,  # mean over joints of (torque / largest)^2
    "jerk": -0.1,  # mean over joints of (target - the one before)^2, in reaches
    "posture": -0.2,  # mean over joints of (place - stance)^2 [rad^2]
}


class LeggedLocomotion(Environment):
    """A robot that is told, for each episode, how fast to go along x and y of its trunk and how fast to turn.

    robot        a Robot; default: a small one of primitives
    terrain      a Terrain, or several, of which each episode is on one that the server draws; default: a plane
    curriculum   terrains are from easy to hard, and each world begins on the first: who went as told is on the next in
                 its next episode, who fell on the one before (see Curriculum). Episodes then begin from the client
    commands     [m/s], [m/s], [rad/s]: from which they are drawn, along x, along y and of the turn
    reach        [rad] that an action of 1 takes a joint's target from the stance, or from the robot's own trot
    gait         [Hz] of a trot, whose phase is seen, and kept to when it goes; 0: none. Of a robot that has a `lift` an
                 action is added to that trot, so that who has learned nothing makes steps
    scan         [m] around the trunk, in its heading: x and y of where the ground's height is measured
    weights      instead of some of WEIGHTS: what a second pays
    turned       [rad] to either side that episodes begin with
    settings     of the world: time_step, solver, effort …
    substeps     of a time_step each, per action
    pushes       at random moments: [moreau_sim.push("trunk", 1 / 250, force=(0, 5), axes=[0, 1], impulse=True)]

    An action has a number for each joint, from -1 to 1. What is seen: velocity [m/s] and spin [rad/s] in the trunk's
    axes, specific force [g], which way is down (3), the command (3), cosine and sine of the gait's phase, and whether
    it goes, joints' angles from the stance [rad], a tenth of their rates [rad/s], the action before, feet on the ground
    (1 or 0), and heights of the ground [m], 0 where the feet of who stands are.

    An episode ends when the trunk touches anything, or leans by more than some 60 degrees.
    """

    name = "LeggedLocomotion"
    step_limit = 500

    def __init__(
        self,
        robot: Robot = PUP,
        terrain: Terrain | Sequence[Terrain] = (),
        *,
        curriculum: bool = False,
        commands: Sequence[tuple[float, float]] = ((-0.3, 0.8), (-0.3, 0.3), (-0.6, 0.6)),
        reach: float = 0.3,
        gait: float = 2.5,
        scan: tuple[Sequence[float], Sequence[float]] = ((-0.4, -0.2, 0.0, 0.2, 0.4), (-0.2, 0.0, 0.2)),
        weights: Mapping[str, float] | None = None,
        turned: float = np.pi,
        settings: Mapping[str, Any] | None = None,
        substeps: int = 2,
        pushes: Sequence[p.GroupPush] = (),
    ) -> None:
        if unknown := sorted((weights or {}).keys() - WEIGHTS.keys()):
            raise ValueError(f"weights: there is no {unknown[0]!r}, but {', '.join(WEIGHTS)}")
        self.robot, self.reach, self.substeps = robot, reach, substeps
        self.terrains = [terrain] if isinstance(terrain, Terrain) else list(terrain)
        self.weights = WEIGHTS | dict(weights or {})
        self.curriculum = curriculum and len(self.terrains) > 1
        self.scene = _scene(robot, self.terrains, settings or {})
        self.trot = Trot(robot, self.scene, gait)
        self.joints = [joint["name"] for joint in self.scene["joints"]]
        self.limits = np.array([joint.get("effort_max", [np.inf])[0] for joint in self.scene["joints"]])
        self.action = [
            channel("JOINT_TARGET", joint, scale=reach, offset=robot.angle(joint), low=-3, high=3)
            for joint in self.joints
        ]
        self.scan = np.array([(x, y, EYE) for x in scan[0] for y in scan[1]], np.float64).reshape(-1, 3)
        self.observation = self._seen()
        torques = [channel("JOINT_TORQUE", joint) for joint in self.joints]
        self.extra = [*torques, channel("ACTION"), channel("BODY_POSITION", robot.trunk)]
        if len(self.terrains) > 1:
            self.extra.append(channel("BODY_GEOMETRY", "ground"))
        self.bounds = [
            channel("CONTACT", robot.trunk, high=0.5),
            channel("BODY_ROTATION", robot.trunk, axes=[1, 2], low=-0.45, high=0.45),
        ]
        self.noise = self._drawn(commands, turned)
        self.pushes = list(pushes)
        self.camera = Camera(position=(0.8, -1.2, 0.5), target=(0, 0, 0.2), follows=robot.trunk)

    def _seen(self) -> list[p.GroupChannel]:
        """Channels of the server; `at` says where the numbers of each are."""
        trunk, ground = self.robot.trunk, self.robot.height
        down = [[0, 0, -3 * EYE]] * len(self.scan)
        rays: dict[str, Any] = {"ray_way": down, "ray_origin": self.scan, "ray_heading": True}
        parts: dict[str, tuple[int, list[p.GroupChannel]]] = {
            "velocity": (3, [channel("BODY_LOCAL_VELOCITY", trunk)]),
            "spin": (3, [channel("GYROSCOPE", trunk)]),
            "force": (3, [channel("ACCELEROMETER", trunk, scale=1 / 9.81)]),
            "rotation": (4, [channel("BODY_ROTATION", trunk)]),
            "command": (
                3,
                [channel("BODY_VELOCITY", "command", axes=[0, 1]), channel("BODY_SPIN", "command", axes=[2])],
            ),
            "time": (1, [channel("TIME")]),
            "joints": (
                len(self.joints),
                [channel("JOINT_POSITION", joint, offset=-self.robot.angle(joint)) for joint in self.joints],
            ),
            "rates": (len(self.joints), [channel("JOINT_VELOCITY", joint, scale=0.1) for joint in self.joints]),
            "before": (len(self.joints), [channel("ACTION")]),
            "feet": (len(self.robot.feet), [channel("CONTACT", foot) for foot in self.robot.feet]),
        }
        if len(self.scan):
            sight = channel("RAYS", trunk, scale=-3 * EYE, offset=EYE + ground, ray_mask=GROUND, **rays)
            parts["scan"] = (len(self.scan), [sight])
        self.at, end = {}, 0
        for name, (count, _) in parts.items():
            self.at[name] = slice(end, end + count)
            end += count
        return [one for _, channels in parts.values() for one in channels]

    def _drawn(self, commands: Sequence[tuple[float, float]], turned: float) -> list[p.GroupNoise]:
        (ahead, aside, turn), trunk = commands, self.robot.trunk
        noise = [
            uniform("BODY_VELOCITY", "command", *ahead, axes=[0]),
            uniform("BODY_VELOCITY", "command", *aside, axes=[1]),
            uniform("BODY_SPIN", "command", *turn, axes=[2]),
            uniform("BODY_ROTATION", trunk, -turned, turned, axes=[2]),
            *(uniform("JOINT_POSITION", joint, -0.1, 0.1) for joint in self.joints),
        ]
        if len(self.terrains) > 1:
            noise.insert(0, uniform("BODY_GEOMETRY", "ground", 0, len(self.terrains)))
        return noise

    def starts(self, count: int) -> Curriculum | None:
        if not self.curriculum:
            return None
        return Curriculum(count, len(self.terrains), self.noise, self.paid_for_velocity)

    def action_space(self, columns: Columns) -> gymnasium.Space[Any]:
        return gymnasium.spaces.Box(-1.0, 1.0, (len(columns),))

    def observation_space(self, columns: Columns, dtype: np.dtype[Any]) -> gymnasium.Space[Any]:
        count = len(columns) + 1  # a rotation of four is a direction of three, and a time a phase and whether it counts
        return gymnasium.spaces.Box(-FAR, FAR, (count,), dtype=dtype.type)

    # ---- what is seen and paid

    def act_on(self, action: NDArray[Any], observation: NDArray[Any]) -> NDArray[Any]:
        time, command = observation[:, self.at["time"]][:, 0], observation[:, self.at["command"]]
        steps = self.trot.angles(time.astype(np.float64), command) / self.reach
        return np.asarray(np.clip(action, -1.0, 1.0) + steps)

    def observe(self, observation: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
        at = self.at
        is_told = goes(observation[:, at["command"]])[:, None]
        phase = 2 * np.pi * self.trot.frequency * observation[:, at["time"]]
        down = _down(observation[:, at["rotation"]])
        steps = np.concatenate([is_told * np.cos(phase), is_told * np.sin(phase), is_told], axis=1)
        first, last = observation[:, : at["rotation"].start], observation[:, at["joints"].start :]
        return np.concatenate([first, down, observation[:, at["command"]], steps, last], axis=1)

    def paid_for_velocity(self, observation: NDArray[Any]) -> Array:
        """From 0 to 1: how well it goes as told."""
        off = observation[:, self.at["command"]][:, :2] - observation[:, self.at["velocity"]][:, :2]
        return np.asarray(np.exp(-SHARP * np.square(off).sum(axis=1)), np.float64)

    def terms(self, moment: Moment) -> dict[str, Array]:
        """What WEIGHTS weighs."""
        seen = {name: moment.observation[:, where].astype(np.float64) for name, where in self.at.items()}
        down = _down(seen["rotation"])
        count = len(self.joints)
        torque, action = moment.extra[:, :count] / self.limits, moment.extra[:, count : 2 * count]
        before = moment.before[:, count : 2 * count]
        turn = seen["command"][:, 2] - seen["spin"][:, 2]
        return {
            "velocity": self.paid_for_velocity(moment.observation),
            "turn": np.exp(-SHARP * np.square(turn)),
            "gait": (self.trot.stands(seen["time"][:, 0], seen["command"]) == (seen["feet"] > 0.5)).mean(axis=1),
            "bounce": np.square(seen["velocity"][:, 2]),
            "roll": np.square(seen["spin"][:, :2]).sum(axis=1),
            "tilt": np.square(down[:, :2]).sum(axis=1),
            "effort": np.square(torque).mean(axis=1),
            "jerk": np.square(action - before).mean(axis=1),
            "posture": np.square(seen["joints"]).mean(axis=1),
        }

    def reward(self, moment: Moment) -> Array:
        """What a second pays, times how long a step is; never less than nothing, so that no fall saves anything."""
        terms = self.terms(moment)
        paid = sum(self.weights[name] * term for name, term in terms.items())
        return np.asarray(moment.time_step * np.maximum(paid, 0.0), np.float64)

    def info(self, moment: Moment) -> dict[str, NDArray[Any]]:
        command, velocity = moment.observation[:, self.at["command"]], moment.observation[:, self.at["velocity"]]
        place = 2 * len(self.joints)
        info = {
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
            "turn_rate": moment.observation[:, self.at["spin"]][:, 2],
            "x_command": command[:, 0],
            "y_command": command[:, 1],
            "turn_command": command[:, 2],
            "x_position": moment.extra[:, place],
            "y_position": moment.extra[:, place + 1],
        }
        return info | ({"terrain": moment.extra[:, place + 3] - 1} if len(self.terrains) > 1 else {})


def _down(rotation: NDArray[Any]) -> Array:
    """Where the world's -z points, in the trunk's axes."""
    w, x, y, z = np.moveaxis(np.asarray(rotation, np.float64), -1, 0)
    return np.stack([2 * (w * y - x * z), -2 * (y * z + w * x), 2 * (x * x + y * y) - 1], axis=-1)


def _scene(robot: Robot, terrains: Sequence[Terrain], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The robot on its ground, and what holds the command: a body of no shape that moves as asked."""
    scene = robot.scene()
    shape: dict[str, Any] = {"plane": {}} if not terrains else {"height_field": {"geometry": "terrain 1"}}
    grounds = [one.geometry(f"terrain {number}") for number, one in enumerate(terrains, 1)]
    # worlds of a group choose theirs by number, of which the first geometries' are 1, 2, …
    scene["geometries"] = [*grounds, *scene.get("geometries", [])]
    scene["materials"] = [*scene.get("materials", []), {"name": "ground", "friction": 1.0}]
    shape |= {"material": "ground", "group": GROUND, "mask": 0xFFFFFFFF}
    scene["bodies"] += [
        {"name": "ground", "kind": "STATIC", "shapes": [shape]},
        {"name": "command", "kind": "KINEMATIC", "mass": 1.0, "inertia": [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]},
    ]
    scene["settings"] = {"time_step": 0.01, "effort": "FAST"} | dict(settings)
    return scene
