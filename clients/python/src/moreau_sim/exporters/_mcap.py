# SPDX-License-Identifier: MIT
"""MCAP with Foxglove's messages: what is there, where it is, what touches."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..episode import Episode, Frames
from ._scene import Shapes, world_frame

NS = 1_000_000_000
STEP_SCHEMA = {
    "title": "moreau.Step",
    "type": "object",
    "properties": {
        "step": {"type": "integer", "description": "of the episode"},
        "world_step": {"type": "integer", "description": "the world's own count"},
        "time": {"type": "number", "description": "[s] the world's own"},
        "stored": {"type": "boolean", "description": "read from the disk, else stepped again"},
        "contacts": {"type": "integer"},
        "penetration": {"type": "number", "description": "[m] deepest overlap at the start of the step"},
        "impulse": {"type": "number", "description": "[N s] largest normal impulse of a contact"},
        "slip": {"type": "number", "description": "[m/s] fastest sliding of a contact that pushes"},
        "report": {
            "type": "object",
            "description": "how good the step was: its certificate, and its energies [J]",
            "additionalProperties": {"type": ["number", "boolean"]},
        },
        "bodies": {
            "type": "object",
            "description": "by name",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "velocity": {
                        "type": "array",
                        "items": {"type": "number"},
                        "description": "[m/s] of the centre of mass",
                    },
                    "spin": {"type": "array", "items": {"type": "number"}, "description": "[rad/s] world axes"},
                },
            },
        },
    },
}


class ExportFailed(Exception):
    """Why an episode could not be written."""


class Written(NamedTuple):
    """What a file holds."""

    frames: int
    bodies: int  # that there ever were
    undrawn: int  # shapes that Foxglove has nothing for


@contextlib.contextmanager
def _fresh(path: pathlib.Path) -> Iterator[IO[bytes]]:
    """A file that has its name once it is whole, and is gone otherwise."""
    fd, name = tempfile.mkstemp(prefix=".moreau-", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


class _Clock:
    """Times in the file [ns]: the world's, but that they never go back, as they do where a snapshot was put in."""

    def __init__(self) -> None:
        self._shift, self._last = 0, -1

    def __call__(self, time: float) -> int:
        now = round(time * NS) + self._shift
        if now <= self._last:
            self._shift += self._last + 1 - now
            now = self._last + 1
        self._last = now
        return now


class _File:
    """The channels of one file."""

    def __init__(self, file: IO[bytes], episode: Episode) -> None:
        from mcap.writer import Writer
        from mcap_protobuf.schema import register_schema

        self._register = register_schema
        self._writer = Writer(file)
        self._writer.start(profile="", library=f"moreau-sim {__version__}")
        info = episode.info
        said = {
            "episode": episode.id,
            "name": info.name or "",
            "world": info.world_name or "",
            "solver": info.solver or "",
        }
        self._writer.add_metadata("moreau", said | {"server": info.server_version or ""})
        self._channels: dict[str, int] = {}

    def write(self, topic: str, message: Any, now: int) -> None:
        if topic not in self._channels:
            schema = self._register(self._writer, type(message))
            self._channels[topic] = self._writer.register_channel(topic, "protobuf", schema)
        self._writer.add_message(
            self._channels[topic], log_time=now, publish_time=now, data=message.SerializeToString()
        )

    def write_json(self, topic: str, title: str, schema: dict[str, Any], message: dict[str, Any], now: int) -> None:
        if topic not in self._channels:
            id = self._writer.register_schema(title, "jsonschema", json.dumps(schema).encode())
            self._channels[topic] = self._writer.register_channel(topic, "json", id)
        data = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
        self._writer.add_message(self._channels[topic], log_time=now, publish_time=now, data=data)

    def finish(self) -> None:
        self._writer.finish()  # type: ignore[no-untyped-call]


def _touching(block: Frames, k: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The contacts of a frame, and what they come to."""
    if block.contact_first is None:
        return {}, {}
    rows = slice(int(block.contact_first[k]), int(block.contact_first[k + 1]))
    contacts = {name: column[rows] for name, column in block.contacts.items()}
    pushes = contacts["impulse"][:, 0] > 0
    slip = np.linalg.norm(contacts["velocity"][pushes, 1:], axis=1)
    return contacts, {
        "contacts": len(contacts["gap"]),
        "penetration": float(max(0.0, -contacts["gap"].min(initial=0.0))),
        "impulse": float(contacts["impulse"][:, 0].max(initial=0.0)),
        "slip": float(slip.max(initial=0.0)),
    }


def _report(block: Frames, k: int) -> dict[str, Any]:
    if not block.reports or not block.reports["present"][k]:
        return {}
    return {"report": {name: column[k].item() for name, column in block.reports.items() if name != "present"}}


def mcap(episode: Episode, path: str | os.PathLike[str], **what: Any) -> Written:
    """Writes an episode as MCAP, which Foxglove opens: https://foxglove.dev.

    /tf       foxglove.FrameTransforms: every body's frame, by its name, in the frame `world`
    /scene    foxglove.SceneUpdate: the bodies' shapes, each time that bodies come or go
    /contacts foxglove.SceneUpdate: arrows along the impulses, one metre long for the largest of the frame; with
    contacts=True /step     JSON: step, time, velocities of bodies; of contacts their number, overlap, impulse and slip;
    with reports=True how good
              the step was: for plots

    what   range and stride as Episode.frames() takes them; contacts, reports, again, progress likewise
    """
    try:
        import mcap.writer  # noqa: F401
        import mcap_protobuf.schema  # noqa: F401
        from foxglove_schemas_protobuf import SceneUpdate_pb2  # noqa: F401  # and the others
    except ImportError as error:
        raise ExportFailed(f"MCAP needs what comes with: pip install 'moreau-sim[mcap]' ({error})") from None
    shapes, clock, frames = Shapes(episode), _Clock(), 0
    with _fresh(pathlib.Path(path)) as file:
        out = _File(file, episode)
        for block in episode.frames(**what):
            assert block.pose is not None and block.velocity is not None
            times = [clock(time) for time in block.time.tolist()]
            if (update := shapes.update(int(block.step[0]), block.ids, times[0])) is not None:
                out.write("/scene", update, times[0])
            names = [shapes.name(id) for id in block.ids.tolist()]
            for k, now in enumerate(times):
                out.write("/tf", world_frame(names, block.pose[k], now), now)
                contacts, told = _touching(block, k)
                if contacts:
                    out.write("/contacts", shapes.arrows(contacts, now), now)
                velocity = block.velocity[k].tolist()
                step = {
                    "step": int(block.step[k]),
                    "world_step": int(block.world_step[k]),
                    "time": float(block.time[k]),
                }
                bodies = {name: {"velocity": v[:3], "spin": v[3:]} for name, v in zip(names, velocity, strict=True)}
                told |= {"stored": bool(block.stored[k])} | _report(block, k)
                out.write_json("/step", "moreau.Step", STEP_SCHEMA, step | told | {"bodies": bodies}, now)
            frames += len(times)
        out.finish()
    return Written(frames, len(shapes), shapes.undrawn)
