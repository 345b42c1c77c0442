# SPDX-License-Identifier: MIT
"""What an importer gives back."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .. import protocol as p
from ._actuators import Control
from ._findings import Loss
from ._joints import Numbers
from ._poses import Pose
from ._sensors import Sensor
from ._starts import Start


class ImportFailed(ValueError):
    """The file is no model, or what reads it is not installed; it says which."""


class Place(NamedTuple):
    """Where a body of the model is: which of the scene's it belongs to, and its pose there."""

    body: str
    pose: Pose


@dataclass
class Imported:
    """A scene made of a model.

    scene        protocol.Scene, for World.create and groups
    json         the same, as scene files have it
    unsupported  sentences: what of the model the scene does not have; empty: all of it is there
    losses       the same, each with the share of the model that it is true of
    verdict      the same in one line: "usable: nothing physical is lost", or what is
    notes        sentences: what was repaired, and what was chosen where the model does not say
    bodies       every body of the model, by name
    joints       where the numbers of every joint of the model are, by name; free joints along which nothing acts are
                 bodies without joint
    controls     what the model's control numbers are here, in their order
    starts       the model's key-frames, by name: at() is the scene that begins so
    sensors      the model's sensors that a channel of groups is, in their order
    """

    scene: p.Scene
    json: dict[str, Any]
    unsupported: list[str]
    bodies: dict[str, Place]
    joints: dict[str, Numbers]
    controls: list[Control]
    losses: list[Loss] = field(default_factory=list)
    verdict: str = ""
    notes: list[str] = field(default_factory=list)
    starts: dict[str, Start] = field(default_factory=dict)
    sensors: list[Sensor] = field(default_factory=list)

    def at(self, name: str) -> dict[str, Any]:
        """The scene, as scene files have it, as it begins in a key-frame. KeyError names those that there are."""
        if name not in self.starts:
            raise KeyError(f"there is no key-frame {name}; there are: {', '.join(self.starts) or 'none'}")
        scene: dict[str, Any] = json.loads(json.dumps(self.json))
        self.starts[name].put(scene, self.controls)
        return scene

    def save(self, path: str | os.PathLike[str]) -> None:
        pathlib.Path(path).write_text(json.dumps(self.json, indent=1) + "\n")
