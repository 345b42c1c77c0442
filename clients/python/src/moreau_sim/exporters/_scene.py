# SPDX-License-Identifier: MIT
"""Bodies as Foxglove's messages: their shapes, which stay, and their frames, which move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import protocol as p
from ..episode import Episode
from ..world import World

if TYPE_CHECKING:
    from foxglove_schemas_protobuf.FrameTransforms_pb2 import FrameTransforms
    from foxglove_schemas_protobuf.Pose_pb2 import Pose
    from foxglove_schemas_protobuf.SceneEntity_pb2 import SceneEntity
    from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

NS = 1_000_000_000
# what does not move, is moved, and six for the others, told apart by colour-blind people (Okabe and Ito)
STATIC, KINEMATIC = (0.6, 0.6, 0.6), (0.4, 0.4, 0.4)
COLOURS = [
    (0.9, 0.62, 0.0),
    (0.34, 0.71, 0.91),
    (0.0, 0.62, 0.45),
    (0.0, 0.45, 0.7),
    (0.84, 0.37, 0.0),
    (0.8, 0.47, 0.65),
]
# a plane has no end, and a picture of it one
PLANE_M, PLANE_THICK_M = 100.0, 0.01


def _numbers(given: Any, default: list[float]) -> NDArray[np.float64]:
    return np.asarray(given if given is not None and len(given) else default, dtype=float)


def _unit(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quaternions of a scene are what becomes the world's own when it is normalised."""
    unit: NDArray[np.float64] = v / np.linalg.norm(v)
    return unit


def _product(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of quaternions w x y z."""
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.concatenate([[w], v])


def _turn(q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    t = 2 * np.cross(q[1:], v)
    turned: NDArray[np.float64] = v + q[0] * t + np.cross(q[1:], t)
    return turned


def _from_z(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shortest turn from z to a direction."""
    n = _unit(normal)
    if 1 + n[2] < 1e-14:
        return np.array([0.0, 1.0, 0.0, 0.0])
    return _unit(np.array([1 + n[2], -n[1], n[0], 0.0]))


def _from_x(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shortest turns from x to directions, a row each."""
    x, y, z = directions.T
    turns = np.stack([1 + x, np.zeros_like(x), -z, y], axis=1)
    turns[1 + x < 1e-14] = [0, 0, 1, 0]
    made: NDArray[np.float64] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    return made


def world_frame(names: list[str], pose: NDArray[np.float64], now: int) -> FrameTransforms:
    """Where each body is."""
    from foxglove_schemas_protobuf.FrameTransforms_pb2 import FrameTransforms

    message = FrameTransforms()
    for name, (x, y, z, qw, qx, qy, qz) in zip(names, pose.tolist(), strict=True):
        transform = message.transforms.add(parent_frame_id="world", child_frame_id=name)
        transform.timestamp.seconds, transform.timestamp.nanos = divmod(now, NS)
        transform.translation.x, transform.translation.y, transform.translation.z = x, y, z
        transform.rotation.w, transform.rotation.x, transform.rotation.y, transform.rotation.z = qw, qx, qy, qz
    return message


def _place(pose: Pose, position: NDArray[np.float64], turn: NDArray[np.float64]) -> None:
    pose.position.x, pose.position.y, pose.position.z = position.tolist()
    pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z = turn.tolist()


def _size(size: Any, x: float, y: float, z: float) -> None:
    size.x, size.y, size.z = x, y, z


def _colour(colour: Any, rgb: tuple[float, float, float], alpha: float = 1.0) -> None:
    colour.r, colour.g, colour.b, colour.a = *rgb, alpha


class Shapes:
    """What there is in an episode, and what it looks like. A fork of the episode tells, where something new has
    come."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._bodies: dict[int, p.SceneBody] = {}
        self._shown: list[int] | None = None
        self.undrawn = 0

    def __len__(self) -> int:
        return len(self._bodies)

    def name(self, id: int) -> str:
        return self._episode.names.get(id) or f"body {id}"

    def _look(self, step: int) -> None:
        client = self._episode.client
        fork = client.episode_fork(episode=self._episode.id, step=step)
        world = World(client, fork.world or 0, fork.name or "", np.empty(0, np.uint64))
        try:
            scene = client.world_scene(world=world.id).scene or p.Scene()
            for id, body in zip(world.state().ids.tolist(), scene.bodies or [], strict=True):
                self._bodies.setdefault(id, body)
        finally:
            world.destroy()

    def update(self, step: int, ids: NDArray[np.uint64], now: int) -> SceneUpdate | None:
        """All that there is from this step on, where that has changed. It says all of it, as who jumps to a later
        moment is shown the last message before it."""
        from foxglove_schemas_protobuf.SceneEntityDeletion_pb2 import SceneEntityDeletion
        from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

        there: list[int] = ids.tolist()
        if there == self._shown:
            return None
        if any(id not in self._bodies for id in there):
            self._look(step)
        self._shown = there
        message = SceneUpdate()
        deletion = message.deletions.add(type=SceneEntityDeletion.ALL)
        deletion.timestamp.seconds, deletion.timestamp.nanos = divmod(now, NS)
        self.undrawn = 0
        for id in there:
            entity = message.entities.add(id=self.name(id), frame_id=self.name(id), frame_locked=True)
            entity.timestamp.seconds, entity.timestamp.nanos = divmod(now, NS)
            self._draw(entity, id)
        return message

    def _draw(self, entity: SceneEntity, id: int) -> None:
        body = self._bodies[id]
        kinds = {p.Body.Kind.STATIC: STATIC, p.Body.Kind.KINEMATIC: KINEMATIC}
        rgb = kinds.get(body.kind or p.Body.Kind.DYNAMIC, COLOURS[id % len(COLOURS)])
        for shape in body.shapes or []:
            at = _numbers(shape.position, [0, 0, 0])
            turn = _unit(_numbers(shape.orientation, [1, 0, 0, 0]))
            if shape.sphere is not None:
                self._ball(entity, at, turn, shape.sphere.radius or 0.0, rgb)
            elif shape.box is not None:
                cube = entity.cubes.add()
                _place(cube.pose, at, turn)
                _size(cube.size, *(2 * _numbers(shape.box.half_extents, [0, 0, 0])).tolist())
                _colour(cube.color, rgb)
            elif (long := shape.capsule or shape.cylinder) is not None:
                radius, half = long.radius or 0.0, long.half_length or 0.0
                cylinder = entity.cylinders.add(bottom_scale=1.0, top_scale=1.0)
                _place(cylinder.pose, at, turn)
                _size(cylinder.size, 2 * radius, 2 * radius, 2 * half)
                _colour(cylinder.color, rgb)
                for end in (-half, half) if shape.capsule is not None else ():
                    self._ball(entity, at + _turn(turn, np.array([0.0, 0.0, end])), turn, radius, rgb)
            elif shape.plane is not None:
                normal = _numbers(shape.plane.normal, [0, 0, 1])
                tilt = _product(turn, _from_z(normal))
                cube = entity.cubes.add()
                below = (shape.plane.offset or 0.0) - PLANE_THICK_M / 2
                _place(cube.pose, at + _turn(tilt, np.array([0.0, 0.0, below])), tilt)
                _size(cube.size, PLANE_M, PLANE_M, PLANE_THICK_M)
                _colour(cube.color, rgb, 0.5)
            else:
                self.undrawn += 1

    @staticmethod
    def _ball(
        entity: SceneEntity,
        at: NDArray[np.float64],
        turn: NDArray[np.float64],
        radius: float,
        rgb: tuple[float, float, float],
    ) -> None:
        ball = entity.spheres.add()
        _place(ball.pose, at, turn)
        _size(ball.size, 2 * radius, 2 * radius, 2 * radius)
        _colour(ball.color, rgb)

    @staticmethod
    def arrows(contacts: dict[str, NDArray[Any]], now: int) -> SceneUpdate:
        """An arrow at each contact, along what it does to b."""
        from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

        message = SceneUpdate()
        entity = message.entities.add(id="contacts", frame_id="world")
        entity.timestamp.seconds, entity.timestamp.nanos = divmod(now, NS)
        impulse = np.einsum("ni,nij->nj", contacts["impulse"], contacts["frame"].reshape(-1, 3, 3))
        sizes = np.linalg.norm(impulse, axis=1)
        pushes = np.flatnonzero(sizes > 0)
        if not len(pushes):
            return message
        turns = _from_x(impulse[pushes] / sizes[pushes, np.newaxis]).tolist()
        points, lengths = contacts["point"][pushes].tolist(), (sizes[pushes] / sizes.max()).tolist()
        for (x, y, z), (qw, qx, qy, qz), length in zip(points, turns, lengths, strict=True):
            arrow = entity.arrows.add(
                shaft_length=0.8 * length, shaft_diameter=0.02, head_length=0.2 * length, head_diameter=0.04
            )
            arrow.pose.position.x, arrow.pose.position.y, arrow.pose.position.z = x, y, z
            arrow.pose.orientation.w, arrow.pose.orientation.x, arrow.pose.orientation.y, arrow.pose.orientation.z = (
                qw,
                qx,
                qy,
                qz,
            )
            _colour(arrow.color, (0.8, 0.0, 0.0))
        return message
