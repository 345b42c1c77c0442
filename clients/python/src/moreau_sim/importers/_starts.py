# SPDX-License-Identifier: MIT
"""Key-frames: where everything is, how it moves and what it is told, under a name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ._poses import Pose, matrix, pose

if TYPE_CHECKING:
    from ._actuators import Control
    from ._joints import Joints


@dataclass
class Start:
    """Numbers to begin with. Bodies that hang on joints are where those put them."""

    poses: dict[str, Pose] = field(default_factory=dict)  # of bodies that are free, or moved by a program
    # m/s of their centres of mass, rad/s in world axes
    velocities: dict[str, list[float]] = field(default_factory=dict)
    joint_positions: dict[str, list[float]] = field(default_factory=dict)  # of joints of the scene
    joint_velocities: dict[str, list[float]] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)

    def put(self, scene: dict[str, Any], controls: list[Control]) -> None:
        """The scene begins so."""
        for body in scene["bodies"]:
            place = self.poses.get(body.get("name", ""))
            if place is not None:
                body |= {"position": place.position.tolist(), "orientation": place.orientation.tolist()}
            if body.get("name") in self.velocities:
                velocity = self.velocities[body["name"]]
                body |= {"linear_velocity": velocity[:3], "angular_velocity": velocity[3:]}
        joints = {joint["name"]: joint for joint in scene["joints"]}
        for name, positions in self.joint_positions.items():
            joints[name] |= {"position": list(positions), "velocity": list(self.joint_velocities[name])}
        for control in controls:
            if control.name in self.controls:
                # beside what the scene has, of a number that is not told
                told, first = np.clip([self.controls[control.name], 0.0], control.low, control.high)
                number = control.scale * float(told - first)
                column = joints[control.joint].setdefault(
                    control.quantity, [0.0] * len(self.joint_velocities.get(control.joint, [0.0]))
                )
                column[control.axis] += number


def read_starts(joints: Joints, controls: list[Control], centers: dict[int, Any]) -> dict[str, Start]:
    """Of a model with key-frames; `centers` of mass of free bodies, by their joints."""
    starts: dict[str, Start] = {}
    for key in range(joints.model.nkey):
        starts[joints.model.key(key).name or f"key {key}"] = _start(joints, controls, centers, key)
    return starts


def _positions(width: int) -> int:
    """How many numbers say where a joint of so many axes is: three turns have four."""
    return width + (width in (3, 6))


def _start(joints: Joints, controls: list[Control], centers: dict[int, Any], key: int) -> Start:
    model, start = joints.model, Start()
    for numbers in joints.numbers.values():
        start.joint_positions.setdefault(numbers.joint, []).extend([0.0] * _positions(numbers.width))
        start.joint_velocities.setdefault(numbers.joint, []).extend([0.0] * numbers.width)
    for joint in range(model.njnt):
        q = model.key_qpos[key][int(model.jnt_qposadr[joint]) :]
        v = model.key_qvel[key][int(model.jnt_dofadr[joint]) :]
        if joint not in joints.numbers:
            name = joints.bodies.name(int(model.jnt_bodyid[joint]))
            start.poses[name] = pose(q[:3], q[3:7] / np.linalg.norm(q[3:7]))
            turned = matrix(start.poses[name].orientation)
            spin = turned @ v[3:6]
            start.velocities[name] = [*(v[:3] + np.cross(spin, turned @ centers[joint])).tolist(), *spin.tolist()]
            continue
        numbers = joints.numbers[joint]
        count = _positions(numbers.width)
        start.joint_positions[numbers.joint][numbers.position : numbers.position + count] = q[:count].tolist()
        start.joint_velocities[numbers.joint][numbers.axis : numbers.axis + numbers.width] = v[: numbers.width].tolist()
    for body in range(model.nbody):
        mocap = int(model.body_mocapid[body])
        if mocap >= 0:
            place = pose(model.key_mpos[key][3 * mocap :][:3], model.key_mquat[key][4 * mocap :][:4])
            start.poses[joints.bodies.name(body)] = place
    told = {model.actuator(k).name or f"actuator {k}": float(model.key_ctrl[key][k]) for k in range(model.nu)}
    start.controls = {control.name: told[control.name] for control in controls}
    return start
