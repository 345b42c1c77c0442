# SPDX-License-Identifier: MIT
"""A stored episode as arrays: what was not stored, the server steps again."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import protocol as p
from ._notebook import facts, frame_of
from .client import Client
from .errors import MoreauError
from .progress import Progress
from .view import view
from .world import joint_starts

# columns of contacts, and how many numbers each has
CONTACT_COLUMNS = {
    "body_a": 1,
    "body_b": 1,
    "part_a": 1,
    "part_b": 1,
    "feature": 1,
    "point": 3,
    "frame": 9,
    "gap": 1,
    "impulse": 3,
    "velocity": 3,
    "friction": 1,
}
REPORT_COLUMNS = (
    "contacts",
    "rows",
    "iterations",
    "converged",
    "tolerance",
    "worst_body_a",
    "worst_body_b",
    "recovery_contacts",
    "asleep",
)
CERTIFICATE_COLUMNS = ("e_mom", "e_pen", "e_comp", "e_cone", "e_mdp", "e_ds", "e_own", "e_row", "penetration")
ENERGY_COLUMNS = ("before", "after", "contact", "row", "applied", "scheme", "unexplained", "drive", "swing")
JOINT_COLUMNS = ("position", "velocity", "target", "target_velocity", "effort")


class Frames(NamedTuple):
    """T frames, one behind the other, that have the same n bodies and the same joints."""

    step: NDArray[np.uint64]  # T, of the episode
    world_step: NDArray[np.uint64]  # T, the world's own count
    time: NDArray[np.float64]  # T [s]
    stored: NDArray[np.bool_]  # T: read from the disk; else stepped again
    ids: NDArray[np.uint64]  # n
    pose: NDArray[np.float64] | None  # T x n x 7; None: not asked for, as below
    velocity: NDArray[np.float64] | None  # T x n x 6
    joints: NDArray[np.uint64]  # ids
    joint_axes: NDArray[np.uint32]
    joint_numbers: dict[str, NDArray[np.float64]]  # "position", "velocity" …: T x how many numbers the joints have
    contact_first: NDArray[np.int64] | None  # T + 1: where each frame's begin in the columns
    contacts: dict[str, NDArray[Any]]  # "body_a", "gap", "impulse" (x 3) …
    # "present", "converged", "e_own", "energy_after" …: T; NaN and 0 where no step led to the frame
    reports: dict[str, NDArray[Any]]


def _reports(event: p.EpisodeFrames) -> dict[str, NDArray[Any]]:
    """How good the steps were that led to the frames of an event."""
    told = event.reports
    if told is None or told.last is None or told.energy is None:
        return {}
    made: dict[str, NDArray[Any]] = {"present": event.has_report}
    made |= {name: getattr(told, name) for name in REPORT_COLUMNS}
    made |= {name: getattr(told.last, name) for name in CERTIFICATE_COLUMNS}
    made |= {f"energy_{name}": getattr(told.energy, name) for name in ENERGY_COLUMNS}
    return {
        name: np.where(event.has_report, column, np.nan) if column.dtype == np.float64 else column
        for name, column in made.items()
    }


def _cut(event: p.EpisodeFrames, poses: bool, velocities: bool) -> Iterator[Frames]:
    """The frames of an event, cut where bodies or joints change."""
    count = len(event.step)
    has_joints, has_contacts = len(event.joint_count) == count > 0, len(event.contact_count) == count > 0
    body_first = np.concatenate([[0], np.cumsum(event.body_count, dtype=np.int64)])
    changes = event.ids_count > 0
    changes[1:] |= (event.body_count[1:] == 0) & (event.body_count[:-1] > 0)
    if has_joints:
        changes |= event.joints_count > 0
        axis_first = np.concatenate([[0], np.cumsum(event.joint_axis_count, dtype=np.int64)])
        position_first = np.concatenate([[0], np.cumsum(event.joint_position_count, dtype=np.int64)])
    if has_contacts:
        contact_first = np.concatenate([[0], np.cumsum(event.contact_count, dtype=np.int64)])
    reports = _reports(event)
    starts = sorted({0, *np.flatnonzero(changes).tolist()}) if count else []
    ids_at = joints_at = 0
    ids, joints, axes = np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.uint32)
    for k, first in enumerate(starts):
        last = starts[k + 1] if k + 1 < len(starts) else count
        if listed := int(event.ids_count[first]):
            ids, ids_at = event.ids[ids_at : ids_at + listed], ids_at + listed
        if has_joints and (listed := int(event.joints_count[first])):
            joints, axes = (
                event.joints[joints_at : joints_at + listed],
                event.joint_axes[joints_at : joints_at + listed],
            )
            joints_at += listed
        n, frames = int(event.body_count[first]), last - first
        of = slice(int(body_first[first]), int(body_first[last]))
        numbers: dict[str, NDArray[np.float64]] = {}
        if has_joints:
            here = int(event.joint_count[first])
            joints, axes = joints[:here], axes[:here]
            for name in JOINT_COLUMNS:
                starts_of = position_first if name == "position" else axis_first
                numbers[name] = getattr(event, f"joint_{name}")[int(starts_of[first]) : int(starts_of[last])].reshape(
                    frames, -1 if here else 0
                )
        touching: dict[str, NDArray[Any]] = {}
        if has_contacts and event.contacts is not None:
            rows = slice(int(contact_first[first]), int(contact_first[last]))
            for name, width in CONTACT_COLUMNS.items():
                column = getattr(event.contacts, name)
                touching[name] = column.reshape(-1, width)[rows] if width > 1 else column[rows]
        yield Frames(
            event.step[first:last],
            event.world_step[first:last],
            event.time[first:last],
            event.stored[first:last],
            ids[:n],
            event.pose.reshape(-1, 7)[of].reshape(frames, n, 7) if poses else None,
            event.velocity.reshape(-1, 6)[of].reshape(frames, n, 6) if velocities else None,
            joints,
            axes,
            numbers,
            contact_first[first : last + 1] - contact_first[first] if has_contacts else None,
            touching,
            {name: column[first:last] for name, column in reports.items()},
        )


def _spread(
    blocks: list[Frames], places: list[NDArray[np.intp]], values: list[NDArray[Any]], width: int, empty: Any
) -> NDArray[Any]:
    """Numbers of things that come and go, each at its own place; `empty` where it is not there."""
    made = np.full(
        (sum(len(block.step) for block in blocks), width, *values[0].shape[2:]), empty, dtype=values[0].dtype
    )
    at = 0
    for block, place, value in zip(blocks, places, values, strict=True):
        made[at : at + len(block.step), place] = value
        at += len(block.step)
    return made


class Episode:
    """An episode of a server, by id, the first digits of one, or a name that only one has. A notebook shows it in the
    page where it knows the server's file: `db`."""

    def __init__(self, client: Client, episode: str, *, db: str | os.PathLike[str] | None = None) -> None:
        self.client = client
        self.db = db
        described = client.episode_describe(episode=episode, names=True)
        self.info = described.episode or p.EpisodeInfo()
        self.id = self.info.episode or ""
        self.names = {int(id): name for id, name in zip(described.ids, described.names, strict=True)}

    def __repr__(self) -> str:
        return f"<Episode {self.id[:8]} {self.info.name!r}, {self.info.steps} steps, at {self.client.address}>"

    def _repr_html_(self) -> str:
        if self.db is not None:
            with contextlib.suppress(MoreauError, OSError), tempfile.TemporaryDirectory() as folder:
                page = view(self.id, self.db, out=pathlib.Path(folder) / "episode.html", show=False)
                return frame_of(pathlib.Path(page).read_text())
        info = self.info
        rows = [
            ("id", self.id),
            ("steps", info.steps),
            ("world", info.world_name),
            ("unconverged steps", info.unconverged_steps),
            ("to see it", f"moreau view {self.id[:8]}, or Episode(client, {self.id[:8]!r}, db=FILE)"),
        ]
        return facts(f"Episode {info.name!r}", rows)

    def frames(
        self,
        *,
        first: int | None = None,
        last: int | None = None,
        stride: int = 1,
        poses: bool = True,
        velocities: bool = True,
        joints: bool = False,
        contacts: bool = False,
        reports: bool = False,
        again: bool = False,
        progress: bool = False,
    ) -> Iterator[Frames]:
        """Frames of a range of steps, some at a time, as they come.

        first, last, stride   steps; default: all of the episode
        poses … reports       what they have; for reports all is stepped again
        again                 step again even what is stored
        progress              shows a bar on standard error
        """
        begin = first or 0
        bar = Progress(
            (self.info.steps or 0 if last is None else last) - begin, "steps", shown=None if progress else False
        )
        stream = self.client.episode_replay(
            episode=self.id,
            first=first,
            last=last,
            stride=stride,
            speed=0.0,
            poses=poses,
            velocities=velocities,
            joints=joints,
            contacts=contacts,
            reports=reports,
            again=again,
        )
        try:
            for event in stream:
                for block in _cut(event, poses, velocities):
                    bar.update(int(block.step[-1]) - begin)
                    yield block
            stream.result()
        finally:
            bar.end()
            stream.close()

    def arrays(self, *, bodies: Iterable[int | str] | None = None, **what: Any) -> dict[str, NDArray[Any]]:
        """All frames as arrays of which the first extent is the frames: those that `moreau export --npz` writes, which
        its help lists. What is not there in a frame is NaN; `present` says what is.

        bodies   only these, by id or name
        what     as frames() takes it
        """
        wanted = None if bodies is None else np.array([self._find(body) for body in bodies], dtype=np.uint64)
        blocks = list(self.frames(**what))
        if not blocks:
            raise ValueError("the recording has lost all steps of the range")
        made: dict[str, NDArray[Any]] = {"episode": np.array(self.id), "name": np.array(self.info.name or "")}
        for name in ("step", "world_step", "time", "stored"):
            made[name] = np.concatenate([getattr(block, name) for block in blocks])
        if what.get("contacts"):
            made.update(self._contact_arrays(blocks, wanted))
        if what.get("poses", True) or what.get("velocities", True):
            made.update(self._body_arrays(blocks, wanted))
        if what.get("joints"):
            made.update(_joint_arrays(blocks))
        if what.get("reports"):
            made.update(
                {
                    f"report_{name}": np.concatenate([block.reports[name] for block in blocks])
                    for name in blocks[0].reports
                }
            )
        return made

    def _find(self, body: int | str) -> int:
        if not isinstance(body, str):
            return int(body)
        for id, name in self.names.items():
            if name == body:
                return id
        raise KeyError(f"no body of the episode has the name {body!r}")

    def _body_arrays(self, blocks: list[Frames], wanted: NDArray[np.uint64] | None) -> dict[str, NDArray[Any]]:
        kept = [
            np.flatnonzero(np.isin(block.ids, wanted)) if wanted is not None else np.arange(len(block.ids))
            for block in blocks
        ]
        ids = np.unique(np.concatenate([block.ids[keep] for block, keep in zip(blocks, kept, strict=True)]))
        if wanted is not None and len(missing := np.setdiff1d(wanted, ids)):
            raise KeyError(f"none of the frames has body {missing[0]}")
        places = [np.searchsorted(ids, block.ids[keep]) for block, keep in zip(blocks, kept, strict=True)]
        there = [
            np.ones((len(block.step), len(keep)), dtype=np.bool_) for block, keep in zip(blocks, kept, strict=True)
        ]
        made: dict[str, NDArray[Any]] = {
            "body": ids,
            "body_name": np.array([self.names.get(int(id), "") for id in ids], dtype=np.str_),
            "present": _spread(blocks, places, there, len(ids), False),
        }
        for name in ("pose", "velocity"):
            if getattr(blocks[0], name) is not None:
                values = [getattr(block, name)[:, keep] for block, keep in zip(blocks, kept, strict=True)]
                made[name] = _spread(blocks, places, values, len(ids), np.nan)
        return made

    def _contact_arrays(self, blocks: list[Frames], wanted: NDArray[np.uint64] | None) -> dict[str, NDArray[Any]]:
        made = {name: np.concatenate([block.contacts[name] for block in blocks]) for name in CONTACT_COLUMNS}
        counts = np.concatenate([np.diff(block.contact_first) for block in blocks if block.contact_first is not None])
        if wanted is not None:
            keep = np.isin(made["body_a"], wanted) | np.isin(made["body_b"], wanted)
            frame = np.repeat(np.arange(len(counts)), counts)
            counts = np.bincount(frame[keep], minlength=len(counts))
            made = {name: column[keep] for name, column in made.items()}
        made["frame"] = made["frame"].reshape(-1, 3, 3)
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        return {"contact_first": first} | {f"contact_{name}": column for name, column in made.items()}


def _joint_arrays(blocks: list[Frames]) -> dict[str, NDArray[Any]]:
    # an id that comes back with other axes is another joint
    keys = [
        np.array(list(zip(block.joints.tolist(), block.joint_axes.tolist(), strict=True)), dtype=np.uint64).reshape(
            -1, 2
        )
        for block in blocks
    ]
    every = np.unique(np.concatenate(keys), axis=0)
    order = {tuple(key): k for k, key in enumerate(every.tolist())}
    places = [np.array([order[tuple(key)] for key in of.tolist()], dtype=np.intp) for of in keys]
    axes = every[:, 1].astype(np.uint32)
    axis_first, position_first = joint_starts(axes)
    there = [
        np.ones((len(block.step), len(place)), dtype=np.bool_) for block, place in zip(blocks, places, strict=True)
    ]
    made: dict[str, NDArray[Any]] = {
        "joint": every[:, 0].copy(),
        "joint_axes": axes,
        "joint_axis_first": axis_first.astype(np.uint64),
        "joint_position_first": position_first.astype(np.uint64),
        "joint_present": _spread(blocks, places, there, len(every), False),
    }
    for name in JOINT_COLUMNS:
        first = position_first if name == "position" else axis_first
        numbers = [
            np.concatenate([[], *(np.arange(first[k], first[k + 1]) for k in place)]).astype(np.intp)
            for place in places
        ]
        values = [block.joint_numbers.get(name, np.empty((len(block.step), 0))) for block in blocks]
        made[f"joint_{name}"] = _spread(blocks, numbers, values, int(first[-1]), np.nan)
    return made
