# SPDX-License-Identifier: MIT
"""One world as an object: made of a scene or of columns, stepped, looked at, recorded."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import protocol as p
from ._json import from_json
from ._notebook import ROWS_MAX, facts, frame, table, text_table
from ._pages import live_address, page_of
from .client import Client
from .progress import Progress

# what is asked for at once: far less than a frame
BODIES_AT_ONCE = 50_000
CONTACTS_AT_ONCE = 20_000
# calls of a step with progress take about this long [s]
SLICE_S = 0.2


class JointState(NamedTuple):
    """Joints of a world. The columns hold each joint's numbers one behind the other: of joint k they are
    `velocity[axis_first[k] : axis_first[k + 1]]`, and so of targets and efforts; of positions, of which three
    turns have four (a quaternion w x y z), `position[position_first[k] : position_first[k + 1]]`."""

    ids: NDArray[np.uint64]
    axes: NDArray[np.uint32]  # which each leaves free: a sum of 2^protocol.Joint.Axis
    axis_first: NDArray[np.int64]  # one more than joints
    position_first: NDArray[np.int64]
    position: NDArray[np.float64]  # [m], [rad], unit quaternions
    velocity: NDArray[np.float64]
    target: NDArray[np.float64]
    target_velocity: NDArray[np.float64]
    effort: NDArray[np.float64]
    # n x 6: force [N] and torque [N m] on b in the last step, at b's frame, world axes
    wrench: NDArray[np.float64] | None


def joint_starts(axes: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each joint's numbers begin in columns per axis, and in those of positions; and where the last ends."""
    bits = np.asarray(axes, dtype=np.int64)[:, np.newaxis] >> np.arange(6) & 1
    counts = bits.sum(axis=1)
    positions = counts + bits[:, 3:].all(axis=1)
    return np.concatenate([[0], np.cumsum(counts)]), np.concatenate([[0], np.cumsum(positions)])


def step_joints(reply: p.WorldStepReply, what: str) -> list[NDArray[Any]]:
    """A column of a step's reply, world by world: "position", "velocity" or "wrench" (n x 6); of whichever
    precision."""
    columns: dict[str, NDArray[Any]] = {
        "position": reply.joint_position_count,
        "velocity": reply.joint_axis_count,
        "wrench": 6 * reply.joint_count.astype(np.int64),
    }
    counts = columns[what]
    column = getattr(reply, f"joint_{what}")
    if not len(column) and what != "wrench":
        column = getattr(reply, f"joint_{what}_single")
    parts = np.split(column, np.cumsum(counts)[:-1]) if len(counts) else []
    return [part.reshape(-1, 6) if what == "wrench" else part for part in parts]


class RayHits(NamedTuple):
    """What rays meet, a row each."""

    body: NDArray[np.uint64]  # id; 0: nothing
    primitive: NDArray[np.uint32]  # its place in the body's shape
    fraction: NDArray[np.float64]  # of the ray's way; 1 of one that meets nothing
    point: NDArray[np.float64]  # n x 3 [m]; the ray's end where it meets nothing
    normal: NDArray[np.float64]  # n x 3, unit, out of the surface; 0 0 0 where it meets nothing


STATE_COLUMNS = ("id", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")


class State(NamedTuple):
    """Bodies of a world, a row each."""

    ids: NDArray[np.uint64]
    pose: NDArray[np.float64]  # n x 7: x y z of the origin [m], quaternion w x y z
    velocity: NDArray[np.float64]  # n x 6: of the centre of mass [m/s], spin [rad/s], world axes

    def _rows(self) -> list[list[str]]:
        numbers = np.concatenate([self.pose, self.velocity], axis=1)[:ROWS_MAX]
        return [[str(id), *(f"{number:.4g}" for number in row)] for id, row in zip(self.ids.tolist(), numbers)]

    def __repr__(self) -> str:
        """The first bodies, as a table."""
        return text_table(STATE_COLUMNS, self._rows(), len(self.ids))

    def _repr_html_(self) -> str:
        return table(STATE_COLUMNS, self._rows(), len(self.ids))


def read_scene(scene: str | os.PathLike[str] | Mapping[str, Any] | p.Scene) -> p.Scene:
    """A scene: a message, a mapping as scene files have it, or the path of such a file."""
    if isinstance(scene, p.Scene):
        return scene
    if not isinstance(scene, Mapping):
        scene = json.loads(pathlib.Path(scene).read_text())
    return from_json(p.Scene, scene)


def read_settings(solver: str | None, parameters: Mapping[str, Any] | None, more: Mapping[str, Any]) -> p.WorldSettings:
    """World settings of keyword arguments; `parameters` are the solver's."""
    settings = from_json(p.WorldSettings, more)
    settings.solver = solver
    if parameters is not None:
        settings.parameters = read_parameters(solver or "mdp", parameters)
    return settings


def read_parameters(solver: str, parameters: Mapping[str, Any]) -> p.SolverParameters:
    """Parameters of a solver, as its message of the protocol has them; choices by name."""
    return from_json(p.SolverParameters, {solver: parameters})


class World:
    """A world on a server. `id` is its number there, `ids` are the bodies that it began with."""

    def __init__(self, client: Client, id: int, name: str, ids: NDArray[np.uint64]) -> None:
        self.client = client
        self.id = id
        self.name = name
        self.ids = ids

    def __repr__(self) -> str:
        return f"<World {self.id} {self.name!r} at {self.client.address}>"

    def _repr_html_(self) -> str:
        """The page on it, live, where its server shows pages; else what it is."""
        where = page_of(self.client)
        if where is not None:
            return frame(live_address(where, f"world={self.id}"))
        got = self.client.world_get(world=self.id, first=0, count=0)
        rows = [
            ("bodies", got.total),
            ("steps", got.step),
            ("time [s]", got.time),
            ("to see it", f"moreau view {self.id}"),
        ]
        return facts(f"World {self.id} {self.name!r} at {self.client.address}", rows)

    @classmethod
    def create(
        cls,
        client: Client,
        scene: str | os.PathLike[str] | Mapping[str, Any] | p.Scene | None = None,
        *,
        name: str | None = None,
        keep: bool = False,
        solver: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> World:
        """Makes a world: of a scene, or empty.

        keep                  it stays when this client is gone, until it is destroyed
        solver, parameters    contact solver by name, and what it takes
        settings              fields of protocol.WorldSettings, as time_step or gravity; they win over the scene's
        """
        reply = client.world_create(
            name=name,
            lifetime=p.World.Lifetime.SERVER if keep else None,
            settings=read_settings(solver, parameters, settings),
            scene=None if scene is None else read_scene(scene),
        )
        return cls(client, reply.world or 0, reply.name or "", reply.ids)

    def destroy(self) -> None:
        self.client.world_destroy(world=self.id)

    def set(self, *, solver: str | None = None, parameters: Mapping[str, Any] | None = None, **settings: Any) -> None:
        """Changes settings, also in mid-episode; arguments as create()'s."""
        self.client.world_set(world=self.id, settings=read_settings(solver, parameters, settings))

    def move(self, ids: ArrayLike, *, pose: ArrayLike | None = None, velocity: ArrayLike | None = None) -> None:
        """Sets poses (7 each) and velocities (6 each) of bodies."""
        self.client.world_set(world=self.id, ids=np.atleast_1d(ids), pose=pose, velocity=velocity)

    def step(
        self,
        steps: int = 1,
        *,
        time_step: float | None = None,
        wrenches: Mapping[int, ArrayLike] | None = None,
        progress: bool = False,
        **returned: bool,
    ) -> p.WorldStepReply:
        """Steps the world.

        wrenches   force [N] at the centre of mass and torque [N m], 6 numbers in world axes, by body; held for all
                   steps
        progress   shows a bar on standard error
        returned   poses, velocities, single, reports, hashes, joint_positions, joint_velocities, joint_wrenches,
                   broken_joints: what the reply has (protocol.WorldStep); step_joints() cuts columns of joints
        """
        what: dict[str, Any] = dict(returned, time_step=time_step)
        if wrenches:
            what["wrench_body"] = list(wrenches)
            what["wrench"] = np.concatenate([np.asarray(wrench, dtype=float).ravel() for wrench in wrenches.values()])
        if not progress:
            return self._step(steps, what)
        bar, done, at_once = Progress(steps, "steps"), 0, 1
        try:
            while True:
                begun = time.monotonic()
                reply = self._step(min(at_once, steps - done), what)
                done += min(at_once, steps - done)
                bar.update(done)
                if done >= steps:
                    return reply
                took = max(time.monotonic() - begun, 1e-6)
                at_once = max(1, min(2 * at_once, int(at_once * SLICE_S / took)))
        finally:
            bar.end()

    def _step(self, steps: int, what: Mapping[str, Any]) -> p.WorldStepReply:
        return self.client.world_step(worlds=[self.id], steps=steps, **what)

    def state(self) -> State:
        """Where all bodies are, and how they move."""
        parts = [self.client.world_get(world=self.id, first=0, count=BODIES_AT_ONCE)]
        total = parts[0].total or 0
        for first in range(BODIES_AT_ONCE, total, BODIES_AT_ONCE):
            parts.append(self.client.world_get(world=self.id, first=first, count=BODIES_AT_ONCE))
        return State(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.pose for part in parts]).reshape(-1, 7),
            np.concatenate([part.velocity for part in parts]).reshape(-1, 6),
        )

    def joints(self, *, wrenches: bool = False) -> JointState:
        """Numbers of all joints; with `wrenches` also what they carried in the step that was the last thing to
        happen."""
        got = self.client.world_get(world=self.id, bodies=False, joints=True, joint_wrenches=wrenches)
        axis_first, position_first = joint_starts(got.joint_axes)
        return JointState(
            got.joints,
            got.joint_axes,
            axis_first,
            position_first,
            got.joint_position,
            got.joint_velocity,
            got.joint_target,
            got.joint_target_velocity,
            got.joint_effort,
            got.joint_wrench.reshape(-1, 6) if wrenches else None,
        )

    def contacts(self) -> list[p.WorldContactsReply]:
        """Contacts of the last step, some thousands in each reply."""
        parts = [self.client.world_contacts(world=self.id, first=0, count=CONTACTS_AT_ONCE)]
        for first in range(CONTACTS_AT_ONCE, parts[0].total or 0, CONTACTS_AT_ONCE):
            parts.append(self.client.world_contacts(world=self.id, first=first, count=CONTACTS_AT_ONCE))
        return parts

    def ray_cast(
        self,
        origin: ArrayLike,
        way: ArrayLike,
        *,
        group: ArrayLike | None = None,
        mask: ArrayLike | None = None,
    ) -> RayHits:
        """What rays meet first, as the bodies stand now: each goes from its origin by its way (n x 3, in m), and ends
        there. A primitive that a ray begins in it does not see. `group` and `mask` are 32 bits, one number for all or
        one per ray, as those of shapes; default all.
        """
        origins, ways = (np.asarray(rays, dtype=np.float64).reshape(-1, 3) for rays in (origin, way))
        origins, ways = np.broadcast_arrays(origins, ways)
        bits = [None if of is None else np.atleast_1d(of) for of in (group, mask)]
        met = self.client.world_ray_cast(
            worlds=[self.id], origin=origins.ravel(), way=ways.ravel(), group=bits[0], mask=bits[1]
        )
        return RayHits(
            np.asarray(met.body),
            np.asarray(met.primitive),
            np.asarray(met.fraction),
            np.asarray(met.point).reshape(-1, 3),
            np.asarray(met.normal).reshape(-1, 3),
        )

    def hash(self) -> int:
        """The state hash: equal of equal states, everywhere."""
        return int(self.client.world_hash(worlds=[self.id]).hash[0])

    @contextlib.contextmanager
    def record(self, name: str | None = None, **options: Any) -> Iterator[str]:
        """Records what happens within. Gives the episode's id; options are the fields of protocol.EpisodeStart."""
        started = self.client.episode_start(world=self.id, name=name, **options)
        try:
            yield started.episode or ""
        finally:
            if self.client.is_ours:  # a fork that leaves, too, ends nothing
                self.client.episode_stop(episode=started.episode)
