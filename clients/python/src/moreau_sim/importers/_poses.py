# SPDX-License-Identifier: MIT
"""Poses: where, and a unit quaternion w x y z."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def product(a: Vector, b: Vector) -> Vector:
    """Of two quaternions."""
    return np.array(
        [
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        ]
    )


def matrix(q: Vector) -> Vector:
    """Of a unit quaternion: its columns are the turned axes."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion(columns: Vector) -> Vector:
    """Of three orthonormal axes, right-handed: by the largest of its four numbers."""
    m = columns
    x, y, z = np.diag(m)
    squares = 1.0 + np.array([x + y + z, x - y - z, y - z - x, z - x - y])
    rows = np.array(
        [
            [squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], squares[1], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], squares[2], m[1, 2] + m[2, 1]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], squares[3]],
        ]
    )
    best = rows[int(np.argmax(squares))]
    return np.asarray(best / np.linalg.norm(best))


class Pose(NamedTuple):
    position: Vector
    orientation: Vector

    def then(self, inner: Pose) -> Pose:
        """The pose, from here, of what has that pose in this one."""
        turned = self.position + matrix(self.orientation) @ inner.position
        spun = product(self.orientation, inner.orientation)
        return Pose(turned, spun / np.linalg.norm(spun))

    def inverse(self) -> Pose:
        back = self.orientation * np.array([1.0, -1.0, -1.0, -1.0])
        return Pose(-(matrix(back) @ self.position), back)

    def numbers(self) -> list[float]:
        return [float(number) for number in (*self.position, *self.orientation)]


def pose(position: Any, orientation: Any) -> Pose:
    return Pose(np.array(position, dtype=float), np.array(orientation, dtype=float))


HERE = pose([0, 0, 0], [1, 0, 0, 0])


def turn(axis: Vector, angle: float) -> Vector:
    """The quaternion of a turn about a unit axis."""
    return np.concatenate(([np.cos(angle / 2)], np.sin(angle / 2) * axis))


def roll_pitch_yaw(angles: Vector) -> Vector:
    """The quaternion of turns about the x, y and z of where they began, in this order."""
    roll, pitch, yaw = (turn(axis, angle) for axis, angle in zip(np.eye(3), angles))
    return product(yaw, product(pitch, roll))


def from_z(axis: Vector) -> Vector:
    """The quaternion of the shortest turn that brings z to a unit axis."""
    across = np.cross([0.0, 0.0, 1.0], axis)
    sine = float(np.linalg.norm(across))
    if sine < 1e-12:
        return HERE.orientation if axis[2] > 0.0 else turn(np.array([1.0, 0.0, 0.0]), np.pi)
    return turn(across / sine, float(np.arctan2(sine, axis[2])))
