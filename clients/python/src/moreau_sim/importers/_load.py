# SPDX-License-Identifier: MIT
"""A file to a scene."""

from __future__ import annotations

import json
import os
import pathlib
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import protocol as p
from .._json import from_json
from ._actuators import Actuators, Control
from ._bodies import Bodies, moved_body, scene_body
from ._findings import Findings
from ._joints import Joints, Numbers
from ._poses import Pose
from ._scan import scan_model, scan_urdf
from ._shapes import Shapes


class ImportFailed(ValueError):
    """The file is none that MuJoCo's parser reads, or the parser is not installed; it says which."""


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
    bodies       every body of the model, by name
    joints       where the numbers of every joint of the model are, by name; free joints are bodies without joint
    controls     what the model's control numbers are here, in their order
    """

    scene: p.Scene
    json: dict[str, Any]
    unsupported: list[str]
    bodies: dict[str, Place]
    joints: dict[str, Numbers]
    controls: list[Control]

    def save(self, path: str | os.PathLike[str]) -> None:
        pathlib.Path(path).write_text(json.dumps(self.json, indent=1) + "\n")


def _parser() -> Any:
    try:
        import mujoco  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise ImportFailed(f"MJCF and URDF need MuJoCo's parser: pip install 'moreau-sim[import]' ({error})") from None
    return mujoco


def load(path: str | os.PathLike[str]) -> Imported:
    """Reads an MJCF or a URDF file. ImportFailed says why it cannot."""
    mujoco = _parser()
    findings = Findings()
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise ImportFailed(f"{os.fspath(path)}: {error}") from None
    if root.tag == "robot":
        scan_urdf(root, findings)
    elif root.tag not in ("mujoco", "mujocoinclude"):
        raise ImportFailed(f"{os.fspath(path)}: <{root.tag}> is neither MJCF (<mujoco>) nor URDF (<robot>)")
    try:
        model = mujoco.MjModel.from_xml_path(os.fspath(path))
    except ValueError as error:
        raise ImportFailed(f"{os.fspath(path)}: {error}") from None
    return read_model(mujoco, model, pathlib.Path(path).stem, findings)


def _settings(mujoco: Any, model: Any) -> dict[str, Any]:
    implicit = (int(mujoco.mjtIntegrator.mjINT_IMPLICIT), int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST))
    has_gravity = not model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return {
        "time_step": float(model.opt.timestep),
        "gravity": model.opt.gravity.tolist() if has_gravity else [0.0, 0.0, 0.0],
        "integrator": "IMPLICIT" if int(model.opt.integrator) in implicit else "SYMPLECTIC",
    }


def read_model(mujoco: Any, model: Any, name: str, findings: Findings) -> Imported:
    """A compiled model, as mujoco.MjModel has it."""
    bodies = Bodies(model)
    shapes = Shapes(mujoco, bodies, findings)
    joints = Joints(mujoco, bodies, findings)
    shapes.assign_groups(joints.adjacent, not joints.collides)
    actuators = Actuators(mujoco, joints, findings)
    scan_model(mujoco, model, findings)
    scene_bodies = []
    for root in bodies.roots[1:]:
        if bodies.is_mocap(root):
            scene_bodies.append(moved_body(bodies.name(root), bodies.in_world[root]) | {"shapes": shapes.of(root)})
            continue
        weight = bodies.mass(root).times(1.0 - joints.lightened.get(root, 0.0))
        scene_bodies.append(scene_body(bodies.name(root), bodies.in_world[root], weight) | {"shapes": shapes.of(root)})
    scene_bodies += joints.between
    if shapes.of(0):
        scene_bodies.append({"name": "world", "kind": "STATIC", "shapes": shapes.of(0)})
    scene = {
        "name": name,
        "settings": _settings(mujoco, model),
        "materials": shapes.materials(),
        "bodies": scene_bodies,
        "joints": joints.scene,
    }
    places = {bodies.name(b): Place(bodies.name(bodies.root[b]), bodies.in_root[b]) for b in range(1, model.nbody)}
    for body in range(1, model.nbody):
        if bodies.root[body] == 0:
            places[bodies.name(body)] = Place("world", bodies.in_world[body])
    numbers = {joints.name(joint): place for joint, place in joints.numbers.items()}
    return Imported(from_json(p.Scene, scene), scene, findings.sentences(), places, numbers, actuators.controls)
