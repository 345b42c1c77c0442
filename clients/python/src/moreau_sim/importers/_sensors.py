# SPDX-License-Identifier: MIT
"""Sensors: those that a channel of groups is, to the number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._findings import Findings
from ._joints import Joints
from ._poses import Pose, matrix, pose
from ._tendons import Tendons

FAR = 100.0  # [m] that a ray goes, of a sensor that names no distance
SAME = 1e-12  # of places and turns, below which they are rounding


@dataclass
class Sensor:
    """A sensor of the model as a channel of groups: group.channel(kind, of, **more)."""

    name: str
    kind: str
    of: str | None  # a joint of the scene, or a body
    more: dict[str, Any] = field(default_factory=dict)


class Sensors:
    def __init__(self, mujoco: Any, joints: Joints, tendons: Tendons, findings: Findings) -> None:
        self.mujoco = mujoco
        self.model = joints.model
        self.joints = joints
        self.tendons = tendons
        self.found: list[Sensor] = []
        for sensor in range(self.model.nsensor):
            kind = mujoco.mjtSensor(int(self.model.sensor_type[sensor])).name.removeprefix("mjSENS_")
            name = self.model.sensor(sensor).name or f"sensor {sensor}"
            channel = self._channel(sensor, kind)
            if channel is None:
                findings.add(f"sensors that no channel is ({kind.lower()})", name, physical=False)
            else:
                what, of, more = channel
                self.found.append(Sensor(name, what, of, more))

    def _channel(self, sensor: int, kind: str) -> tuple[str, str | None, dict[str, Any]] | None:
        m, which = self.model, int(self.model.sensor_objid[sensor])
        far = float(m.sensor_cutoff[sensor])
        if kind == "CLOCK":
            return "TIME", None, {}
        if far > 0.0 and kind != "RANGEFINDER":
            return None
        if kind in ("JOINTPOS", "JOINTVEL", "BALLQUAT", "BALLANGVEL"):
            return self._of_joint(kind, which)
        if kind in ("TENDONPOS", "TENDONVEL"):
            what = {"TENDONPOS": "JOINT_POSITION", "TENDONVEL": "JOINT_VELOCITY"}[kind]
            return (what, self.tendons.numbers(which).joint, {}) if self.tendons.ends(which) else None
        return self._of_body(sensor, kind, far or FAR)

    def _of_joint(self, kind: str, joint: int) -> tuple[str, str | None, dict[str, Any]] | None:
        numbers = self.joints.numbers.get(joint)
        if numbers is None:
            return None
        if kind in ("JOINTPOS", "BALLQUAT"):
            count = numbers.width + (numbers.width == 3)
            return "JOINT_POSITION", numbers.joint, {"axes": list(range(numbers.position, numbers.position + count))}
        return "JOINT_VELOCITY", numbers.joint, {"axes": list(range(numbers.axis, numbers.axis + numbers.width))}

    def _of_body(self, sensor: int, kind: str, far: float) -> tuple[str, str | None, dict[str, Any]] | None:
        m, bodies = self.model, self.joints.bodies
        place = self._place(sensor)
        if place is None or int(m.sensor_refid[sensor]) >= 0:
            return None
        root, here = place
        body = bodies.name(root)
        is_straight = bool(np.abs(here.orientation[1:]).max() < SAME)
        is_at_center = bool(np.abs(here.position - bodies.mass(root).center).max() < SAME)
        if kind in ("ACCELEROMETER", "GYRO"):
            what = {"ACCELEROMETER": "ACCELEROMETER", "GYRO": "GYROSCOPE"}[kind]
            return what, body, {"mount": here.numbers()}
        if kind == "RANGEFINDER" and int(m.sensor_dim[sensor]) == 1:
            way = far * matrix(here.orientation)[:, 2]
            return "RAYS", body, {"ray_way": way.tolist(), "ray_origin": here.position.tolist(), "scale": far}
        if kind == "FRAMEANGVEL":
            return "BODY_SPIN", body, {}
        if kind == "FRAMEPOS" and np.abs(here.position).max() < SAME:
            return "BODY_POSITION", body, {}
        if kind == "FRAMEQUAT" and is_straight:
            return "BODY_ROTATION", body, {}
        if kind == "FRAMELINVEL" and is_at_center:
            return "BODY_VELOCITY", body, {}
        if kind == "VELOCIMETER" and is_at_center and is_straight:
            return "BODY_LOCAL_VELOCITY", body, {}
        return None

    def _place(self, sensor: int) -> tuple[int, Pose] | None:
        """The root of the body that it sits on, and where on that; None: on what is no body, or on the world."""
        m, of, bodies = self.model, self.mujoco.mjtObj, self.joints.bodies
        kind, which = int(m.sensor_objtype[sensor]), int(m.sensor_objid[sensor])
        places = {
            int(of.mjOBJ_SITE): ("site_bodyid", "site_pos", "site_quat"),
            int(of.mjOBJ_GEOM): ("geom_bodyid", "geom_pos", "geom_quat"),
            int(of.mjOBJ_BODY): (None, "body_ipos", "body_iquat"),
        }
        if kind == int(of.mjOBJ_XBODY):
            body, local = which, pose([0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0])
        elif kind in places:
            owner, position, turn = places[kind]
            body = which if owner is None else int(getattr(m, owner)[which])
            local = pose(getattr(m, position)[which], getattr(m, turn)[which])
        else:
            return None
        root = bodies.root[body]
        return None if root == 0 else (root, bodies.in_root[body].then(local))
