# SPDX-License-Identifier: MIT
"""Equality constraints: joints of rows between bodies, and gears between joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bodies import is_off
from ._findings import Findings, Weight
from ._joints import Joints
from ._poses import HERE, Pose, pose


class Equalities:
    """What holds in the model beside its joints. They are rigid here."""

    def __init__(self, mujoco: Any, joints: Joints, findings: Findings) -> None:
        self.mujoco = mujoco
        self.model = joints.model
        self.joints = joints
        self.bodies = joints.bodies
        self.findings = findings
        self.scene: list[dict[str, Any]] = []
        self.held: set[int] = set()  # tendons whose length does not change: nothing that acts along them does anything
        self.ties: dict[int, tuple[int, float]] = {}  # of a joint: another one, and its position over that one's
        self._names = {joint["name"] for joint in joints.scene}
        for row in range(0 if is_off(mujoco, self.model, "EQUALITY", "CONSTRAINT") else self.model.neq):
            kind = mujoco.mjtEq(int(self.model.eq_type[row])).name.removeprefix("mjEQ_")
            if not self.model.eq_active0[row]:
                findings.add("equality constraints that begin inactive", self.name(row), physical=False)
            elif not self._take(row, kind):
                findings.add(f"equality constraints ({kind.lower()})", self.name(row), self._weights(row, kind))

    def _take(self, row: int, kind: str) -> bool:
        """false: a scene cannot say it."""
        if kind == "JOINT":
            return self._couple(row)
        if kind == "TENDON":
            return self._tie(row)
        return kind in ("CONNECT", "WELD") and self._hold(row, kind)

    def name(self, row: int) -> str:
        return self.model.equality(row).name or f"equality {row}"

    def _add(self, row: int, joint: dict[str, Any]) -> None:
        name = self.name(row)
        while name in self._names:
            name += " held"
        self._names.add(name)
        self.scene.append({"name": name} | joint)

    # ---- between bodies

    def _hold(self, row: int, kind: str) -> bool:
        ends = [self._end(row, kind, side) for side in (0, 1)]
        if ends[0][0] == ends[1][0]:
            return True  # they are one body, or both stand still
        if ends[1][0] == 0:
            ends.reverse()
        joint: dict[str, Any] = {"kind": {"CONNECT": "BALL", "WELD": "FIXED"}[kind], "as_rows": True, "collides": True}
        if ends[0][0] != 0:
            joint["body_a"] = self.bodies.name(ends[0][0])
        joint |= {"body_b": self.bodies.name(ends[1][0])}
        joint |= {"frame_a": ends[0][1].numbers(), "frame_b": ends[1][1].numbers()}
        self._add(row, joint)
        return True

    def _end(self, row: int, kind: str, side: int) -> tuple[int, Pose]:
        """The root of the first or the second thing that it holds, and the frame there."""
        m = self.model
        which, data = int((m.eq_obj1id, m.eq_obj2id)[side][row]), m.eq_data[row]
        if int(m.eq_objtype[row]) == int(self.mujoco.mjtObj.mjOBJ_SITE):
            body, local = int(m.site_bodyid[which]), pose(m.site_pos[which], m.site_quat[which])
        elif kind == "CONNECT":
            body, local = which, pose(data[3 * side : 3 * side + 3], HERE.orientation)
        else:  # of a weld the pose of the second in the first, and the anchor in the second
            turned = data[6:10] / np.linalg.norm(data[6:10])
            body, local = which, (pose(data[3:6], turned), pose(data[0:3], HERE.orientation))[side]
        root = self.bodies.root[body]
        return root, (self.bodies.in_world if root == 0 else self.bodies.in_root)[body].then(local)

    # ---- between joints

    def _couple(self, row: int) -> bool:
        """first - first at rest = c0 + c1 (second - second at rest) + …, if that is a multiple."""
        m = self.model
        first, second = int(m.eq_obj1id[row]), int(m.eq_obj2id[row])
        coefficients = m.eq_data[row][:5]
        if second < 0:
            return self._lock(first, float(coefficients[0]))
        if np.any(coefficients[2:]) or not (self._is_alone(first) and self._is_alone(second)):
            return False
        rest = [float(m.qpos0[m.jnt_qposadr[joint]]) for joint in (first, second)]
        if abs(coefficients[0] + rest[0] - coefficients[1] * rest[1]) > 1e-12:
            return False
        names = [self.joints.numbers[joint].joint for joint in (first, second)]
        self._add(row, {"kind": "GEAR", "joint_a": names[1], "joint_b": names[0], "ratio": float(coefficients[1])})
        self.ties.setdefault(first, (second, float(coefficients[1])))
        return True

    def _tie(self, row: int) -> bool:
        """A tendon of two joints, a (first - first at rest) + b (second - second at rest) = c0: a multiple again."""
        m = self.model
        tendon = int(m.eq_obj1id[row])
        wraps = range(int(m.tendon_adr[tendon]), int(m.tendon_adr[tendon] + m.tendon_num[tendon]))
        is_fixed = all(int(m.wrap_type[wrap]) == int(self.mujoco.mjtWrap.mjWRAP_JOINT) for wrap in wraps)
        if int(m.eq_obj2id[row]) >= 0 or len(wraps) != 2 or not is_fixed:
            return False
        first, second = (int(m.wrap_objid[wrap]) for wrap in wraps)
        a, b = (float(m.wrap_prm[wrap]) for wrap in wraps)
        if a == 0.0 or b == 0.0 or not (self._is_alone(first) and self._is_alone(second)):
            return False
        rest = [float(m.qpos0[m.jnt_qposadr[joint]]) for joint in (first, second)]
        if abs(rest[1] + float(m.eq_data[row][0]) / b + a / b * rest[0]) > 1e-12:
            return False
        names = [self.joints.numbers[joint].joint for joint in (first, second)]
        self._add(row, {"kind": "GEAR", "joint_a": names[0], "joint_b": names[1], "ratio": -a / b})
        self.held.add(tendon)
        self.ties.setdefault(second, (first, -a / b))
        return True

    def _lock(self, joint: int, number: float) -> bool:
        """It begins and stays where it is to be: its limits are one number."""
        numbers = self.joints.numbers.get(joint)
        if numbers is None or numbers.width > 1:
            return False
        number += float(self.model.qpos0[self.model.jnt_qposadr[joint]])
        scene = next(one for one in self.joints.scene if one["name"] == numbers.joint)
        count = sum(other.joint == numbers.joint for other in self.joints.numbers.values())
        for column, free in (("low", -1e18), ("high", 1e18), ("position", 0.0)):
            scene.setdefault(column, [free] * count)[numbers.axis] = number
        return True

    def _is_alone(self, joint: int) -> bool:
        """Whether the scene's joint has this axis only."""
        numbers = self.joints.numbers.get(joint)
        same = [other for other in self.joints.numbers.values() if numbers and other.joint == numbers.joint]
        return len(same) == 1 and same[0].width == 1

    # ---- what is lost

    def _weights(self, row: int, kind: str) -> list[Weight]:
        m = self.model
        of: list[Weight] = []
        for which in (int(m.eq_obj1id[row]), int(m.eq_obj2id[row])):
            if which >= 0 and kind == "JOINT":
                of += self.joints.weights(which)
        return of
