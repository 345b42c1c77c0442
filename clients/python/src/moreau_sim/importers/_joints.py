# SPDX-License-Identifier: MIT
"""Joints: those of one body as few joints of the scene as can be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._bodies import Bodies, is_off, scene_body
from ._findings import Findings, Weight
from ._poses import HERE, Pose, Vector, product, quaternion, turn

# of the mass of a body, for those that stand between its joints: accelerations change by about as much
LIGHT = 1e-9
# and how much smaller these are than it, where a fluid drags at boxes of mass and inertia
THIN = 1e-8
RIGHT_ANGLE = 1e-12  # cosines below it are rounding
AXES = ("MOVE_X", "MOVE_Y", "MOVE_Z", "TURN_X", "TURN_Y", "TURN_Z")


@dataclass
class Stage:
    """Joints of a body that are one joint here: moves, then turns."""

    joints: list[int]
    triad: Vector  # 3 x 3: the axes of its frame as columns, in the body's axes
    label: dict[int, int] = field(default_factory=dict)  # of each joint: which of AXES


@dataclass
class Numbers:
    """Where a joint of the model is in the scene: the first of its positions and of its axes there."""

    joint: str
    position: int
    axis: int
    width: int


class Joints:
    """Joints of the scene, and the bodies that stand between them."""

    def __init__(self, mujoco: Any, bodies: Bodies, findings: Findings) -> None:
        self.mujoco = mujoco
        self.model = bodies.model
        self.bodies = bodies
        self.findings = findings
        self.scene: list[dict[str, Any]] = []
        self.between: list[dict[str, Any]] = []  # light bodies
        self.adjacent: set[tuple[int, int]] = set()  # bodies with one joint between them
        self.numbers: dict[int, Numbers] = {}
        self.lightened: dict[int, float] = {}  # what the bodies between took of a body
        self.collides = bool(self.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
        self.off = {
            name: is_off(mujoco, self.model, *flags)
            for name, flags in {
                "limits": ("LIMIT", "CONSTRAINT"),
                "friction": ("FRICTIONLOSS", "CONSTRAINT"),
                "stiffness": ("SPRING", "PASSIVE"),
                "damping": ("DAMPER", "PASSIVE"),
            }.items()
        }
        for root in bodies.roots[1:]:
            if not bodies.is_mocap(root):
                self._of_body(root)

    def name(self, joint: int) -> str:
        return self.model.jnt(joint).name or f"joint {joint}"

    def weights(self, joint: int) -> list[Weight]:
        """The mass of what it moves."""
        return self.bodies.weights(int(self.model.jnt_bodyid[joint]))

    def _kind(self, joint: int) -> str:
        name: str = self.mujoco.mjtJoint(int(self.model.jnt_type[joint])).name
        return name.removeprefix("mjJNT_")

    # ---- one body's

    def _of_body(self, root: int) -> None:
        first, count = int(self.model.body_jntadr[root]), int(self.model.body_jntnum[root])
        joints = list(range(first, first + count))
        if self._kind(joints[0]) == "FREE":
            if self._is_felt(joints[0]):
                self._float(joints[0], root)
            return
        stages = self._stages(joints)
        last = self.bodies.name(root)
        name = "" if self.bodies.parent(root) == 0 else self.bodies.name(self.bodies.parent(root))
        # where the frame before is, from the body that the joint hangs on
        before = self.bodies.in_world[self.bodies.parent(root)].inverse().then(self.bodies.in_world[root])
        if self.bodies.parent(root) == 0:
            before = self.bodies.in_world[root]
        for place, stage in enumerate(stages):
            is_last = place == len(stages) - 1
            child = last if is_last else f"{last} before {self.name(stages[place + 1].joints[0])}"
            self._add(stage, name, child, before)
            if not is_last:
                light = self.bodies.mass(root).times(LIGHT)
                if self.model.opt.density or self.model.opt.viscosity:
                    light = light.smaller(THIN)
                self.lightened[root] = self.lightened.get(root, 0.0) + LIGHT
                self.between.append(scene_body(child, self.bodies.in_world[root], light))
            name, before = child, HERE
        # what stands still is a body of its own, which no joint holds
        if len(stages) == 1 and not self.collides and self.bodies.parent(root) != 0:
            self.adjacent.add(tuple(sorted((root, self.bodies.parent(root)))))  # type: ignore[arg-type]

    def _is_felt(self, joint: int) -> bool:
        """Whether anything acts along a free joint: if not, it is none here."""
        m, dof = self.model, int(self.model.jnt_dofadr[joint])
        acting = [m.dof_armature[dof : dof + 6]]
        acting += [] if self.off["friction"] else [m.dof_frictionloss[dof : dof + 6]]
        acting += [] if self.off["damping"] else [m.dof_damping[dof : dof + 6]]
        acting += [] if self.off["stiffness"] else [m.jnt_stiffness[joint]]
        return any(bool(np.any(numbers)) for numbers in acting)

    def _float(self, joint: int, root: int) -> None:
        """A free joint as one of coordinates: moves along the world's axes, turns about the body's own."""
        name, at = self.name(joint), int(self.model.jnt_qposadr[joint])
        place = self.bodies.in_world[root]
        scene: dict[str, Any] = {"name": name, "kind": "FREE", "body_b": self.bodies.name(root)}
        scene |= {"frame_a": HERE.numbers(), "frame_b": HERE.numbers(), "position": place.numbers()}
        self.numbers[joint] = Numbers(name, 0, 0, 6)
        columns = self._columns([joint])
        turned = self.model.qpos_spring[at + 3 : at + 7]
        if any(columns.get("stiffness", ())) and np.abs(turned[1:]).max() > 0.0:
            self.findings.add("springs of free joints that rest turned", name, self.weights(joint))
        self.scene.append(scene | columns)

    def _stages(self, joints: list[int]) -> list[Stage]:
        stages: list[Stage] = []
        for joint in joints:
            longer = self._fit([*stages[-1].joints, joint]) if stages else None
            if longer is not None:
                stages[-1] = longer
            else:
                alone = self._fit([joint])
                assert alone is not None
                stages.append(alone)
        return stages

    def _fit(self, joints: list[int]) -> Stage | None:
        """The joints as one, if they can be: moves along axes at right angles, then at most two turns about such
        axes through one point. The first of two turns is about the earlier axis."""
        kinds = [self._kind(joint) for joint in joints]
        if kinds == ["BALL"]:
            return Stage(joints, np.eye(3))
        turns = [joint for joint, kind in zip(joints, kinds) if kind == "HINGE"]
        if "BALL" in kinds or kinds != sorted(kinds, reverse=True) or len(turns) > 2 or len(joints) - len(turns) > 3:
            return None
        if len(turns) == 2 and np.any(
            np.abs(self.model.jnt_pos[turns[0]] - self.model.jnt_pos[turns[1]]) > RIGHT_ANGLE
        ):
            return None
        axes = {joint: self.model.jnt_axis[joint] / np.linalg.norm(self.model.jnt_axis[joint]) for joint in joints}
        return next(_triads(joints, axes, turns), None)

    def _add(self, stage: Stage, body_a: str, body_b: str, before: Pose) -> None:
        """One joint of the scene; `before` is where the body's frame stands in a's at the model's first positions."""
        m = self.model
        center = m.jnt_pos[stage.joints[-1]]
        frame_b = Pose(np.array(center, dtype=float), quaternion(stage.triad))
        order = sorted(stage.joints, key=lambda joint: stage.label.get(joint, 0))
        name = "+".join(self.name(joint) for joint in stage.joints)
        joint: dict[str, Any] = {"name": name, "body_b": body_b}
        if body_a:
            joint["body_a"] = body_a
        # the frame in a is where b's would be at positions 0
        frame_a = before.then(frame_b).then(self._displacement(stage, order).inverse())
        joint |= {"frame_a": frame_a.numbers(), "frame_b": frame_b.numbers()}
        if self.collides:
            joint["collides"] = True
        if self._kind(order[0]) == "BALL":
            joint["kind"] = "BALL"
            self.numbers[order[0]] = Numbers(name, 0, 0, 3)
        else:
            if len(order) == 1:
                joint["kind"] = {"HINGE": "HINGE", "SLIDE": "SLIDER"}[self._kind(order[0])]
            else:
                joint |= {"kind": "GENERIC", "axes": [AXES[stage.label[k]] for k in order]}
            for place, k in enumerate(order):
                self.numbers[k] = Numbers(name, place, place, 1)
            if any(self._first(k) for k in order):
                joint["position"] = [self._first(k) for k in order]
        joint |= self._columns(order)
        self.scene.append(joint)

    def _first(self, joint: int) -> float:
        return float(self.model.qpos0[self.model.jnt_qposadr[joint]])

    def _displacement(self, stage: Stage, order: list[int]) -> Pose:
        """b's frame against a's at the model's first positions."""
        moved, turned = np.zeros(3), HERE.orientation
        for joint in order:
            if not stage.label:
                continue
            axis = np.eye(3)[stage.label[joint] % 3]
            if stage.label[joint] < 3:
                moved += axis * self._first(joint)
            else:
                turned = product(turned, turn(axis, self._first(joint)))
        return Pose(moved, turned)

    # ---- what acts along the axes

    def _columns(self, order: list[int]) -> dict[str, Any]:
        m = self.model
        axes: list[dict[str, float]] = []
        for joint in order:
            dof, kind = int(m.jnt_dofadr[joint]), self._kind(joint)
            width = {"FREE": 6, "BALL": 3}.get(kind, 1)
            if kind == "BALL" and m.jnt_limited[joint] and not self.off["limits"]:
                self.findings.add("limits of ball joints", self.name(joint), self.weights(joint))
            is_limited = bool(m.jnt_limited[joint]) and width == 1 and not self.off["limits"]
            for k in range(width):
                is_turn = kind == "BALL" or k > 2  # one of three: a spring's rest is none
                axis = {
                    "low": float(m.jnt_range[joint][0]) if is_limited else -1e18,
                    "high": float(m.jnt_range[joint][1]) if is_limited else 1e18,
                    "stiffness": float(np.ravel(m.jnt_stiffness[joint])[0]),
                    "rest": 0.0 if is_turn else float(m.qpos_spring[m.jnt_qposadr[joint] + k]),
                    "damping": float(np.ravel(m.dof_damping[dof + k])[0]),
                    "friction": float(m.dof_frictionloss[dof + k]),
                    "armature": float(m.dof_armature[dof + k]),
                }
                axes.append({name: 0.0 if self.off.get(name) else number for name, number in axis.items()})
        default = {"low": -1e18, "high": 1e18}
        columns = {name: [axis[name] for axis in axes] for name in axes[0]}
        if not any(columns["stiffness"]):
            del columns["rest"]
        return {
            name: column
            for name, column in columns.items()
            if any(number != default.get(name, 0.0) for number in column)
        }


def _triads(joints: list[int], axes: dict[int, Vector], turns: list[int]) -> Iterator[Stage]:
    """Frames whose axes are those of the joints, each with the labels that the joints get. A joint alone has z."""
    directions: list[Vector] = []
    for axis in axes.values():
        if not any(np.abs(axis - known).max() <= RIGHT_ANGLE for known in directions):
            directions.append(axis)
    if any(abs(a @ b) > RIGHT_ANGLE for a, b in itertools.combinations(directions, 2)) or len(directions) > 3:
        return
    while len(directions) < 3:
        if len(directions) == 2:
            directions.append(np.cross(directions[0], directions[1]))
        else:
            other = np.eye(3)[int(np.argmin(np.abs(directions[0])))]
            cross = np.cross(directions[0], other)
            directions.append(cross / np.linalg.norm(cross))
    for columns in itertools.permutations(directions):
        triad = np.column_stack(columns)
        if np.linalg.det(triad) < 0.0:
            continue
        label = {}
        for joint, axis in axes.items():
            place = next(k for k in range(3) if np.abs(triad[:, k] - axis).max() <= RIGHT_ANGLE)
            label[joint] = place + 3 * (joint in turns)
        in_order = [label[joint] for joint in turns] == sorted(label[joint] for joint in turns)
        if in_order and len(set(label.values())) == len(joints) and (len(joints) > 1 or label[joints[0]] % 3 == 2):
            yield Stage(joints, triad, label)
