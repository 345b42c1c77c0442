# SPDX-License-Identifier: MIT
"""Pictures of a scene, in NumPy alone: a ray for every pixel, and where it meets spheres, boxes, capsules, cylinders
and planes.

Some 20 ms a picture, and dependable: no display, no driver, the same picture everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FAR = 1e9  # [m] farther than anything
SKY = np.array([0.83, 0.89, 0.95])
COLOURS = np.array(
    [[0.85, 0.45, 0.25], [0.25, 0.5, 0.75], [0.4, 0.65, 0.35], [0.75, 0.6, 0.25], [0.55, 0.4, 0.7], [0.35, 0.65, 0.65]]
)
GROUND = (np.array([0.62, 0.64, 0.66]), np.array([0.54, 0.56, 0.58]))
LIGHT = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
SHADE = 0.45  # of a face that the light does not reach


@dataclass(frozen=True)
class Camera:
    """From where a scene is seen."""

    position: tuple[float, float, float] = (0.0, -4.0, 1.5)
    target: tuple[float, float, float] = (0.0, 0.0, 0.5)
    follows: str | None = None  # a body: position and target are then from where it is, along x and y
    width: int = 320
    height: int = 240
    angle: float = 0.8  # [rad] seen from the lower edge to the upper


def _rotation(q: Array) -> Array:
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


# ---- where rays o + t d meet a shape in its own axes: t (FAR: nowhere), and the normal there


def _ball(o: Array, d: Array, centre: Array, radius: float) -> Array:
    arm = o - centre
    half = np.sum(arm * d, axis=-1)
    root = half * half - (np.sum(arm * arm, axis=-1) - radius * radius)
    t = -half - np.sqrt(np.maximum(root, 0.0))
    return np.where((root > 0.0) & (t > 0.0), t, FAR)


def _sphere(size: Mapping[str, Any], o: Array, d: Array) -> tuple[Array, Array]:
    t = _ball(o, d, np.zeros(3), size["radius"])
    return t, o + t[..., None] * d


def _box(size: Mapping[str, Any], o: Array, d: Array) -> tuple[Array, Array]:
    half = np.asarray(size["half_extents"], dtype=float)
    away = np.where(np.abs(d) > 1e-12, d, 1e-12)
    first, second = (-half - o) / away, (half - o) / away
    entry, leave = np.minimum(first, second), np.maximum(first, second)
    t = entry.max(axis=-1)
    normal = np.zeros_like(d)
    axis = entry.argmax(axis=-1)
    np.put_along_axis(normal, axis[..., None], -np.sign(np.take_along_axis(away, axis[..., None], -1)), -1)
    return np.where((t < leave.min(axis=-1)) & (t > 0.0), t, FAR), normal


def _capsule(size: Mapping[str, Any], o: Array, d: Array) -> tuple[Array, Array]:
    radius, half = size["radius"], size["half_length"]
    a = d[..., 0] ** 2 + d[..., 1] ** 2
    b = o[..., 0] * d[..., 0] + o[..., 1] * d[..., 1]
    root = b * b - a * (o[..., 0] ** 2 + o[..., 1] ** 2 - radius * radius)
    t = (-b - np.sqrt(np.maximum(root, 0.0))) / np.maximum(a, 1e-12)
    t = np.where((root > 0.0) & (t > 0.0) & (np.abs(o[..., 2] + t * d[..., 2]) < half), t, FAR)
    for end in (-half, half):
        t = np.minimum(t, _ball(o, d, np.array([0.0, 0.0, end]), radius))
    at = o + t[..., None] * d
    axis = np.zeros_like(at)
    axis[..., 2] = np.clip(at[..., 2], -half, half)
    return t, at - axis


def _cylinder(size: Mapping[str, Any], o: Array, d: Array) -> tuple[Array, Array]:
    radius, half = size["radius"], size["half_length"]
    a = np.maximum(d[..., 0] ** 2 + d[..., 1] ** 2, 1e-24)
    b = o[..., 0] * d[..., 0] + o[..., 1] * d[..., 1]
    root = b * b - a * (o[..., 0] ** 2 + o[..., 1] ** 2 - radius * radius)
    wide = np.sqrt(np.maximum(root, 0.0))
    down = np.where(np.abs(d[..., 2]) > 1e-12, d[..., 2], 1e-12)
    low, high = (-half - o[..., 2]) / down, (half - o[..., 2]) / down
    side, cap = (-b - wide) / a, np.minimum(low, high)
    t = np.maximum(side, cap)
    leave = np.minimum((-b + wide) / a, np.maximum(low, high))
    normal = np.zeros_like(d)
    on_cap = cap > side
    at = o + t[..., None] * d
    normal[..., :2] = np.where(on_cap[..., None], 0.0, at[..., :2])
    normal[..., 2] = np.where(on_cap, -np.sign(down), 0.0)
    return np.where((root > 0.0) & (t < leave) & (t > 0.0), t, FAR), normal


def _plane(size: Mapping[str, Any], o: Array, d: Array) -> tuple[Array, Array]:
    normal = np.asarray(size.get("normal", [0, 0, 1]), dtype=float)
    normal = normal / np.linalg.norm(normal)
    down = d @ normal
    t = (size.get("offset", 0.0) - o @ normal) / np.where(np.abs(down) > 1e-12, down, 1e-12)
    return np.where((down < 0.0) & (t > 0.0), t, FAR), np.broadcast_to(normal, d.shape)


def _radius(kind: str, size: Mapping[str, Any]) -> float:
    """Of the ball about a shape."""
    if kind == "plane":
        return FAR
    if kind == "box":
        return float(np.linalg.norm(size["half_extents"]))
    return float(size["radius"] + size.get("half_length", 0.0))


_SHAPES = {"sphere": _sphere, "box": _box, "capsule": _capsule, "cylinder": _cylinder, "plane": _plane}


class Picture:
    """A scene (as scene files have it) that can be drawn. `names` are the bodies whose poses it wants."""

    def __init__(self, scene: Mapping[str, Any], camera: Camera) -> None:
        self.camera = camera
        bodies: Sequence[Mapping[str, Any]] = scene["bodies"]
        self.names = [
            body.get("name") or f"#{place}" for place, body in enumerate(bodies) if body.get("kind") != "STATIC"
        ]
        self._shapes: list[tuple[str | None, str, Mapping[str, Any], Array, Array, Array]] = []
        for place, body in enumerate(bodies):
            is_static = body.get("kind") == "STATIC"
            name = None if is_static else body.get("name") or f"#{place}"
            turn = _rotation(np.asarray(body.get("orientation", [1, 0, 0, 0]), dtype=float)) if is_static else np.eye(3)
            at = np.asarray(body.get("position", [0, 0, 0]), dtype=float) if is_static else np.zeros(3)
            for shape in body.get("shapes", ()):
                kind = next(kind for kind in _SHAPES if kind in shape)
                local = _rotation(np.asarray(shape.get("orientation", [1, 0, 0, 0]), dtype=float))
                where = at + turn @ np.asarray(shape.get("position", [0, 0, 0]), dtype=float)
                self._shapes.append((name, kind, shape[kind], where, turn @ local, COLOURS[place % len(COLOURS)]))

    def _rays(self, shift: Array) -> tuple[Array, Array]:
        c = self.camera
        eye, target = np.asarray(c.position) + shift, np.asarray(c.target) + shift
        ahead = (target - eye) / np.linalg.norm(target - eye)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        up = np.cross(right, ahead)
        scale = np.tan(c.angle / 2) / (c.height / 2)
        x = (np.arange(c.width) - (c.width - 1) / 2) * scale
        y = ((c.height - 1) / 2 - np.arange(c.height)) * scale
        d = ahead + x[None, :, None] * right + y[:, None, None] * up
        d = d.reshape(-1, 3)
        return eye, d / np.linalg.norm(d, axis=-1, keepdims=True)

    def draw(self, poses: NDArray[Any]) -> NDArray[np.uint8]:
        """height x width x 3; a pose (7 numbers) for each of `names`."""
        place = {name: np.asarray(pose, dtype=float) for name, pose in zip(self.names, poses)}
        shift = np.zeros(3)
        if self.camera.follows is not None:
            shift[:2] = place[self.camera.follows][:2]
        eye, d = self._rays(shift)
        nearest = np.full(len(d), FAR)
        image = np.broadcast_to(SKY, d.shape).copy()
        for name, kind, size, where, turn, colour in self._shapes:
            if name is not None:
                body = _rotation(place[name][3:])
                where, turn = place[name][:3] + body @ where, body @ turn
            # of the rays, those that come near enough
            arm = where - eye
            passing = arm @ arm - (d @ arm) ** 2
            near = np.flatnonzero(passing <= _radius(kind, size) ** 2)
            rays = d[near]
            t, normal = _SHAPES[kind](size, np.broadcast_to((eye - where) @ turn, rays.shape), rays @ turn)
            seen = t < nearest[near]
            near, rays, t, normal = near[seen], rays[seen], t[seen], normal[seen] @ turn.T
            nearest[near] = t
            normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
            paint = np.broadcast_to(colour, normal.shape)
            if kind == "plane":
                tile = np.floor((eye + t[:, None] * rays)[:, :2]).sum(axis=1) % 2 == 1
                paint = np.where(tile[:, None], GROUND[0], GROUND[1])
            image[near] = paint * (SHADE + (1.0 - SHADE) * np.maximum(normal @ LIGHT, 0.0))[:, None]
        image = np.clip(image, 0.0, 1.0).reshape(self.camera.height, self.camera.width, 3)
        return np.asarray(255.0 * image, np.uint8)
