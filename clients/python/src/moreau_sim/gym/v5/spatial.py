# SPDX-License-Identifier: MIT
"""What MuJoCo says of each body about the centre of mass of the whole, in world axes: its inertia (cinert), motion
(cvel) and the force of contacts (cfrc_ext). All arrays have a row for each world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...group import channel
from ...protocol import GroupChannel
from .links import Link

Array = NDArray[np.float64]
POSE, MOTION, CONTACT = 7, 6, 6  # columns of a body


def matrices(q: Array) -> Array:
    """Of quaternions, along the last axis."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


class Bodies:
    """The links of a tree, in their order; channels of them, and what those columns tell."""

    def __init__(self, links: Sequence[Link], *, moves: bool) -> None:
        """`moves`: whether their motion is read."""
        self.names = [link.name for link in links]
        weights = [link.weight() for link in links]
        self.mass = np.array([weight[0] for weight in weights])
        self._center = np.array([weight[1] for weight in weights])
        self._inertia = np.array([weight[2] for weight in weights])
        self._moves = moves
        kinds = ["BODY_POSITION", "BODY_ROTATION", "CONTACT_FORCE", *(["BODY_VELOCITY", "BODY_SPIN"] * moves)]
        self.channels: list[GroupChannel] = [channel(kind, name) for name in self.names for kind in kinds]
        self.width = len(self.names) * (POSE + CONTACT + MOTION * moves)

    def read(self, columns: NDArray[np.floating]) -> Spatial:
        return Spatial(self, np.asarray(columns, np.float64).reshape(len(columns), len(self.names), -1))

    def centers(self, rows: Array, turned: Array) -> Array:
        """Where the bodies' own centres are."""
        return np.asarray(rows[..., :3] + np.einsum("wbij,bj->wbi", turned, self._center))

    def inertias(self, turned: Array) -> Array:
        return np.asarray(np.einsum("wbij,bjk,wblk->wbil", turned, self._inertia, turned))


class Spatial:
    """Of one moment."""

    def __init__(self, bodies: Bodies, rows: Array) -> None:
        self._bodies, self._rows = bodies, rows
        self._turned = matrices(rows[..., 3:POSE])
        centers = bodies.centers(rows, self._turned)
        self.center = np.asarray(np.einsum("b,wbi->wi", bodies.mass, centers) / bodies.mass.sum())
        self._arm = centers - self.center[:, None]

    def inertia(self) -> Array:
        """10 numbers of each: xx yy zz xy xz yz, mass times place, mass."""
        mass, arm = self._bodies.mass[None, :, None, None], self._arm
        square = np.einsum("wbi,wbi->wb", arm, arm)[..., None, None] * np.eye(3)
        about = self._bodies.inertias(self._turned) + mass * (square - arm[..., :, None] * arm[..., None, :])
        numbers = about[..., (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
        masses = np.broadcast_to(self._bodies.mass[:, None], (*arm.shape[:2], 1))
        return np.concatenate([numbers, mass[..., 0] * arm, masses], axis=2)

    def motion(self) -> Array:
        """Spin, and the velocity of what of the body is where the whole has its centre."""
        velocity, spin = self._rows[..., 13:16], self._rows[..., 16:19]
        return np.concatenate([spin, velocity - np.cross(spin, self._arm)], axis=2)

    def contact(self) -> Array:
        """Torque about the centre of the whole, and force."""
        force, torque = self._rows[..., 7:10], self._rows[..., 10:13]
        return np.concatenate([torque + np.cross(self._arm, force), force], axis=2)
