# SPDX-License-Identifier: MIT
"""Equality constraints: joints of rows between bodies, and gears and tendons that are held between joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bodies import is_off
from ._findings import Findings, Weight
from ._joints import Joints
from ._poses import HERE, Pose, pose
from ._tendons import Ends, Tendons


class Equalities:
    """What holds in the model beside its joints. They are rigid here."""

    def __init__(self, mujoco: Any, joints: Joints, tendons: Tendons, findings: Findings) -> None:
        self.mujoco = mujoco
        self.model = joints.model
        self.joints = joints
        self.tendons = tendons
        self.bodies = joints.bodies
        self.findings = findings
        self.scene: list[dict[str, Any]] = []
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
        """first - first at rest = c0 + c1 (second - second at rest) + …, if that is linear."""
        m = self.model
        first, second = int(m.eq_obj1id[row]), int(m.eq_obj2id[row])
        offset, ratio = (float(number) for number in m.eq_data[row][:2])
        if second < 0:
            return self._lock(first, offset)
        if np.any(m.eq_data[row][2:5]) or not (self.tendons.is_single(first) and self.tendons.is_single(second)):
            return False
        self._equate(row, [(first, 1.0), (second, -ratio)], offset)
        return True

    def _tie(self, row: int) -> bool:
        """The same of tendons: of one, its length less that at rest = c0."""
        m = self.model
        first, second = int(m.eq_obj1id[row]), int(m.eq_obj2id[row])
        ends, offset = self.tendons.ends(first), float(m.eq_data[row][0])
        if second >= 0:
            others, ratio = self.tendons.ends(second), float(m.eq_data[row][1])
            if ends is None or others is None or np.any(m.eq_data[row][2:5]):
                return False
            self.tendons.used |= {first, second}
            ends = ends + [(joint, -ratio * share) for joint, share in others]
        if ends is None:
            return False
        self._equate(row, ends[::-1], offset)
        if second < 0:
            self.tendons.held.add(first)
        return True

    def _equate(self, row: int, ends: Ends, offset: float) -> None:
        """sum of share (joint - joint at rest) = offset: a gear, if that is a multiple."""
        shares: dict[int, float] = {}
        for joint, share in ends:
            shares[joint] = shares.get(joint, 0.0) + share
        ends = [(joint, share) for joint, share in shares.items() if share != 0.0]
        length = offset + self.tendons.length(ends)
        if len(ends) == 2 and all(self._is_alone(joint) for joint, _ in ends):
            (first, a), (second, b) = ends
            if abs(length / a) <= 1e-12:
                names = [self.joints.numbers[joint].joint for joint in (first, second)]
                gear = {"kind": "GEAR", "joint_a": names[1], "joint_b": names[0], "ratio": -b / a}
                self._add(row, gear)
                self.ties.setdefault(first, (second, -b / a))
                return
        if ends:
            self.tendons.hold(self.name(row), ends, length)

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
