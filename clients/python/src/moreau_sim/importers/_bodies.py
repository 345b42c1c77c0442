# SPDX-License-Identifier: MIT
"""Bodies: what is welded together in the model is one body of the scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._findings import Weight
from ._poses import HERE, Pose, Vector, matrix, pose


@dataclass
class Mass:
    """What a body weighs, about a point of its own."""

    mass: float
    center: Vector  # [m]
    inertia: Vector  # 3 x 3 [kg m^2] about the centre

    def times(self, share: float) -> Mass:
        return Mass(self.mass * share, self.center, self.inertia * share)

    def smaller(self, scale: float) -> Mass:
        """As heavy, of another size."""
        return Mass(self.mass, self.center, self.inertia * scale * scale)


def _spread(mass: float, arm: Vector) -> Vector:
    """The inertia of a point mass about the origin."""
    return np.asarray(mass * (arm @ arm * np.eye(3) - np.outer(arm, arm)))


def together(parts: list[Mass]) -> Mass:
    """What several weigh, all given in the same axes."""
    if len(parts) == 1:
        return parts[0]
    total = sum(part.mass for part in parts)
    center = sum((part.mass * part.center for part in parts), np.zeros(3)) / (total or 1.0)
    return Mass(
        total,
        center,
        sum((part.inertia + _spread(part.mass, part.center - center) for part in parts), np.zeros((3, 3))),
    )


def is_off(mujoco: Any, model: Any, *flags: str) -> bool:
    """Whether the options of a model disable one of these."""
    bits = sum(int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0)) for flag in flags)
    return bool(int(model.opt.disableflags) & bits)


class Bodies:
    """The model's bodies, by the group that moves as one: its first body is its root."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.root = [0]
        for body in range(1, model.nbody):
            moves = model.body_jntnum[body] > 0 or self.is_mocap(body)
            self.root.append(body if moves else self.root[int(model.body_parentid[body])])
        self.roots = sorted(set(self.root))
        self.in_root: list[Pose] = []  # of each body, from its root
        self.in_world: list[Pose] = []  # at the positions that the model begins with
        for body in range(model.nbody):
            parent = int(model.body_parentid[body])
            local = pose(model.body_pos[body], model.body_quat[body])
            is_root = self.root[body] == body
            self.in_root.append(HERE if is_root else self.in_root[parent].then(local))
            self.in_world.append(HERE if body == 0 else self.in_world[parent].then(local))

    def is_mocap(self, body: int) -> bool:
        """Whether it has no joints, and is put wherever a program says."""
        return bool(self.model.body_mocapid[body] >= 0)

    def parent(self, root: int) -> int:
        """The root of what a root hangs on."""
        return self.root[int(self.model.body_parentid[root])]

    def name(self, body: int) -> str:
        if body == 0:
            return "world"
        return self.model.body(body).name or f"body {body}"

    def members(self, root: int) -> list[int]:
        return [body for body in range(self.model.nbody) if self.root[body] == root]

    def weights(self, body: int) -> list[Weight]:
        """The mass of a body and of all that hangs on it: what is lost, or other, where it moves otherwise."""
        hangs = [False] * self.model.nbody
        for other in range(body, self.model.nbody):  # parents stand before children
            hangs[other] = other == body or hangs[int(self.model.body_parentid[other])]
        return [("mass", other, float(self.model.body_mass[other])) for other, is_below in enumerate(hangs) if is_below]

    def mass(self, root: int) -> Mass:
        """Of all that is welded to a root, in its axes."""
        parts = []
        for body in self.members(root):
            local = self.in_root[body].then(pose(self.model.body_ipos[body], self.model.body_iquat[body]))
            axes = matrix(local.orientation)
            inertia = axes @ np.diag(self.model.body_inertia[body]) @ axes.T
            parts.append(Mass(float(self.model.body_mass[body]), local.position, inertia))
        return together(parts)


def scene_body(name: str, place: Pose, weight: Mass) -> dict[str, Any]:
    tensor = weight.inertia
    return {
        "name": name,
        "position": place.position.tolist(),
        "orientation": place.orientation.tolist(),
        "mass": weight.mass,
        "inertia": [float(tensor[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
        "center_of_mass": weight.center.tolist(),
    }


def moved_body(name: str, place: Pose) -> dict[str, Any]:
    """One that moves as it is told."""
    return {
        "name": name,
        "kind": "KINEMATIC",
        "position": place.position.tolist(),
        "orientation": place.orientation.tolist(),
    }
