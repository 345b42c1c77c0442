# SPDX-License-Identifier: MIT
"""A file to a scene."""

from __future__ import annotations

import os
import pathlib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from typing import Any

from .. import protocol as p
from .._json import from_json
from ._actuators import Actuators
from ._bodies import Bodies, is_off, moved_body, scene_body
from ._equalities import Equalities
from ._findings import Findings
from ._gravity import Gravity
from ._imported import Imported, ImportFailed, Place
from ._joints import Joints
from ._meshes import Meshes
from ._packages import Packages
from ._scan import scan_model, scan_urdf
from ._sensors import Sensors
from ._shapes import GROUPS_MAX, Shapes
from ._starts import read_starts
from ._tendons import Tendons
from ._urdf import read_robot
from ._urdf_scene import UrdfScene
from ._xacro import expand, has_macros


def _parser() -> Any:
    try:
        import mujoco  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise ImportFailed(f"MJCF needs MuJoCo's parser: pip install 'moreau-sim[import]' ({error})") from None
    return mujoco


def load(
    path: str | os.PathLike[str],
    *,
    package_path: Iterable[str | os.PathLike[str]] = (),
    free_base: bool = False,
    self_collisions: bool = False,
    strict: bool = False,
    decompose: bool = False,
    collision_group: int | None = None,
    arguments: Mapping[str, str] | None = None,
) -> Imported:
    """Reads an MJCF or a URDF file. ImportFailed says why it cannot.

    package_path  of URDF: folders of packages, beside $ROS_PACKAGE_PATH and those around the file
    free_base     of URDF: the root is free, and does not stand fast in the world
    self_collisions  of URDF: links touch each other, but those that a joint connects
    strict        of URDF: refuses numbers that no body has, in the place of repairing them
    decompose     of URDF: meshes are several hulls each, by CoACD, and not one
    collision_group  0 … 31, default 1 of URDF, 0 of MJCF: the first of the groups of shapes that it takes, of URDF the
                  only one. Robots that come into one scene touch each other where each has groups of its own
    arguments     of xacro: what `$(arg NAME)` is
    """
    if collision_group is not None and not 0 <= collision_group < GROUPS_MAX:
        raise ValueError(f"collision_group is 0 to {GROUPS_MAX - 1}, not {collision_group}")
    path = pathlib.Path(path)
    try:
        root = ElementTree.parse(path).getroot()
        if root.tag != "robot":
            return _load_mjcf(path, root.tag, collision_group)
        packages, findings = Packages(path, package_path), Findings()
        if has_macros(root):
            root = expand(path, packages, arguments or {})
        robot = read_robot(root, findings)
        scan_urdf(root, robot, findings)
        meshes = Meshes(packages, findings, decompose=decompose)
        scene = UrdfScene(robot, meshes, findings, is_free=free_base, touches_itself=self_collisions,
            collision_group=1 if collision_group is None else collision_group)
        if strict and findings.repairs:
            raise ImportFailed("; ".join(findings.repairs))
        return scene.imported()
    except (OSError, ElementTree.ParseError) as error:
        raise ImportFailed(f"{path}: {error}") from None
    except ImportFailed as error:
        raise ImportFailed(f"{path}: {error}") from None


def _load_mjcf(path: pathlib.Path, tag: str, collision_group: int | None) -> Imported:
    if tag not in ("mujoco", "mujocoinclude"):
        raise ImportFailed(f"<{tag}> is neither MJCF (<mujoco>) nor URDF (<robot>)")
    mujoco = _parser()
    try:
        model = mujoco.MjModel.from_xml_path(os.fspath(path))
    except ValueError as error:
        raise ImportFailed(str(error)) from None
    return read_model(mujoco, model, path.stem, Findings(), collision_group)


def _settings(mujoco: Any, model: Any, compensated: float) -> dict[str, Any]:
    kind = mujoco.mjtIntegrator
    # what is pushed goes by SYMPLECTIC under RK4, too
    integrators = {
        int(kind.mjINT_IMPLICIT): "IMPLICIT",
        int(kind.mjINT_IMPLICITFAST): "IMPLICIT",
        int(kind.mjINT_RK4): "RK4",
    }
    has_gravity = not model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return {
        "time_step": float(model.opt.timestep),
        "gravity": (model.opt.gravity * (1.0 - compensated)).tolist() if has_gravity else [0.0, 0.0, 0.0],
        "integrator": integrators.get(int(model.opt.integrator), "SYMPLECTIC"),
        "friction_rule": "MAXIMUM",
        **_fluid(mujoco, model),
    }


def _fluid(mujoco: Any, model: Any) -> dict[str, float]:
    """What fills the model's world."""
    of = {"fluid_density": float(model.opt.density), "fluid_viscosity": float(model.opt.viscosity)}
    return {} if is_off(mujoco, model, "PASSIVE") else {name: number for name, number in of.items() if number}


def read_model(
    mujoco: Any, model: Any, name: str, findings: Findings, collision_group: int | None = None
) -> Imported:
    """A compiled model, as mujoco.MjModel has it."""
    bodies = Bodies(model)
    shapes = Shapes(mujoco, bodies, findings)
    joints = Joints(mujoco, bodies, findings)
    shapes.assign_groups(joints.adjacent, not joints.collides, collision_group)
    tendons = Tendons(mujoco, joints, findings)
    equalities = Equalities(mujoco, joints, tendons, findings)
    actuators = Actuators(mujoco, joints, tendons, findings, equalities.ties)
    sensors = Sensors(mujoco, joints, tendons, findings)
    tendons.take()
    gravity = Gravity(mujoco, joints)
    if gravity.share != 0.0:
        findings.note(f"gravity compensation of all that moves: gravity is {gravity.share:.4g} of it less")
    if gravity.held:
        findings.note(
            f"gravity compensation that differs: joints that leave everything free push at bodies ({len(gravity.held)})"
        )
    scan_model(mujoco, joints, shapes, findings, gravity.is_said)
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
        "settings": _settings(mujoco, model, gravity.share),
        "materials": shapes.materials,
        **({"material_pairs": shapes.pairs} if shapes.pairs else {}),
        **({"geometries": shapes.assets.scene} if shapes.assets.scene else {}),
        "bodies": scene_bodies,
        "joints": joints.scene + equalities.scene + tendons.scene + gravity.scene(),
    }
    places = {bodies.name(b): Place(bodies.name(bodies.root[b]), bodies.in_root[b]) for b in range(1, model.nbody)}
    for body in range(1, model.nbody):
        if bodies.root[body] == 0:
            places[bodies.name(body)] = Place("world", bodies.in_world[body])
    numbers = {joints.name(joint): place for joint, place in joints.numbers.items()}
    free = [joint for joint in range(model.njnt) if joint not in joints.numbers]
    centers = {joint: bodies.mass(int(model.jnt_bodyid[joint])).center for joint in free}
    return Imported(
        from_json(p.Scene, scene),
        scene,
        findings.sentences(),
        places,
        numbers,
        actuators.controls,
        findings.losses(),
        findings.verdict(),
        findings.notes(),
        read_starts(joints, actuators.controls, centers),
        sensors.found,
    )
