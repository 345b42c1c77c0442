# SPDX-License-Identifier: MIT
"""URDF as it is written: links and joints, with numbers in the place of text, and inertias that bodies can have."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._bodies import Mass
from ._findings import Findings
from ._imported import ImportFailed
from ._inertias import physical, placed
from ._poses import HERE, Pose, Vector, roll_pitch_yaw

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
FRICTION = 1.0  # of shapes that say nothing: that of MuJoCo's geoms
FRICTION_MAX = 1e6  # of a scene
LIMIT_MAX = 1e9  # of a scene; beyond it a joint is not limited


@dataclass
class Collision:
    """A shape of a link: a form of the scene, or a mesh, or what nobody knows."""

    place: Pose
    form: dict[str, Any] | None
    kind: str
    mesh: str = ""  # its URI
    scale: Vector = field(default_factory=lambda: np.ones(3))


@dataclass
class Link:
    name: str
    weight: Mass | None  # None: it has no <inertial>
    collisions: list[Collision]
    friction: float = FRICTION
    restitution: float = 0.0


@dataclass
class Mimic:
    joint: str
    multiplier: float
    offset: float


@dataclass
class UrdfJoint:
    name: str
    kind: str
    parent: str
    child: str
    origin: Pose  # of the child's frame in the parent's, where the joint is at 0
    axis: Vector  # unit, in the child's frame
    low: float  # -inf, inf: not limited
    high: float
    effort: float
    velocity: float
    damping: float
    friction: float
    mimic: Mimic | None


@dataclass
class Robot:
    """Links, and joints that each stand behind the one that moves their parent."""

    name: str
    links: dict[str, Link]
    joints: list[UrdfJoint] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)


def read_robot(root: ElementTree.Element, findings: Findings) -> Robot:
    """ImportFailed says what no robot has."""
    rubbing = _of_gazebo(root)
    robot = Robot(root.get("name") or "robot", {})
    for element in root.findall("link"):
        link = _link(element, findings, rubbing)
        if link.name in robot.links:
            raise ImportFailed(f"two links are called {link.name}")
        robot.links[link.name] = link
    if not robot.links:
        raise ImportFailed("the robot has no links")
    _sort(robot, [_joint(element, findings) for element in root.findall("joint")])
    return robot


# ---- numbers


def _numbers(element: ElementTree.Element | None, attribute: str, default: list[float], where: str) -> Vector:
    text = None if element is None else element.get(attribute)
    if element is None or text is None:
        return np.array(default)
    try:
        numbers = np.array([float(word) for word in text.split()])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != len(default) or not np.all(np.isfinite(numbers)):
        wanted = "a number" if len(default) == 1 else f"{len(default)} numbers"
        raise ImportFailed(f"{where}: <{element.tag} {attribute}={text!r}> is not {wanted}")
    return numbers


def _number(element: ElementTree.Element | None, attribute: str, default: float, where: str) -> float:
    return float(_numbers(element, attribute, [default], where)[0])


def _place(element: ElementTree.Element | None, where: str) -> Pose:
    if element is None:
        return HERE
    angles = _numbers(element, "rpy", [0.0, 0.0, 0.0], where)
    return Pose(_numbers(element, "xyz", [0.0, 0.0, 0.0], where), roll_pitch_yaw(angles))


# ---- links


def _link(element: ElementTree.Element, findings: Findings, rubbing: dict[str, float]) -> Link:
    name = element.get("name") or ""
    if not name:
        raise ImportFailed("a link has no name")
    weight = _weight(element.find("inertial"), name, findings)
    collisions = [_collision(one, name) for one in element.findall("collision")]
    contact = element.find("contact")
    friction, restitution = rubbing.get(name, FRICTION), 0.0
    if contact is not None:
        friction = _number(contact.find("lateral_friction"), "value", friction, name)
        restitution = _number(contact.find("restitution"), "value", 0.0, name)
    return Link(
        name, weight, collisions, min(max(friction, 0.0), FRICTION_MAX), min(max(restitution, 0.0), 1.0)
    )


def _weight(element: ElementTree.Element | None, link: str, findings: Findings) -> Mass | None:
    if element is None:
        return None
    mass = _number(element.find("mass"), "value", 0.0, link)
    tensor = element.find("inertia")
    i = {name: _number(tensor, name, 0.0, link) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
    inertia = np.array(
        [[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]]
    )
    if mass < 0.0:
        findings.repair(f"{link}: mass {mass:g} made 0")
        mass = 0.0
    inertia, wrong = physical(inertia, mass)
    if wrong:
        findings.repair(f"{link}: inertia {wrong}")
    return placed(Mass(mass, np.zeros(3), inertia), _place(element.find("origin"), link))


def _collision(element: ElementTree.Element, link: str) -> Collision:
    geometry = element.find("geometry")
    form, kind, mesh, scale = None, "nothing", "", np.ones(3)
    for shape in geometry if geometry is not None else ():
        kind = shape.tag
        if kind == "box":
            form = {"box": {"half_extents": (_numbers(shape, "size", [0.0] * 3, link) / 2.0).tolist()}}
        elif kind == "sphere":
            form = {"sphere": {"radius": _number(shape, "radius", 0.0, link)}}
        elif kind in ("cylinder", "capsule"):
            half_length = _number(shape, "length", 0.0, link) / 2.0
            form = {kind: {"radius": _number(shape, "radius", 0.0, link), "half_length": half_length}}
        elif kind == "mesh":
            mesh = shape.get("filename") or ""
            scale = _numbers(shape, "scale", [1.0] * 3, link)
    if form is not None and not all(size > 0.0 for size in np.ravel([*next(iter(form.values())).values()])):
        form, kind = None, f"{kind} of no size"
    return Collision(_place(element.find("origin"), link), form, kind, mesh, scale)


def _of_gazebo(root: ElementTree.Element) -> dict[str, float]:
    """Frictions of links that are written for Gazebo: of its two directions the first."""
    frictions = {}
    for element in root.findall("gazebo"):
        friction = element.find("mu1")
        link = element.get("reference")
        if link and friction is not None:
            try:
                frictions[link] = float(friction.get("value") or friction.text or "")
            except ValueError:
                raise ImportFailed(f"{link}: <mu1> is not a number") from None
    return frictions


# ---- joints


def _joint(element: ElementTree.Element, findings: Findings) -> UrdfJoint:
    name, kind = element.get("name") or "", element.get("type") or ""
    if not name:
        raise ImportFailed("a joint has no name")
    if kind not in KINDS:
        raise ImportFailed(f"joint {name}: a joint of type {kind!r} is none of {', '.join(KINDS)}")
    ends = [element.find(tag) for tag in ("parent", "child")]
    parent, child = ("" if end is None else end.get("link") or "" for end in ends)
    axis = _numbers(element.find("axis"), "xyz", [1.0, 0.0, 0.0], name)
    if not np.any(axis):
        if kind not in ("fixed", "floating"):  # of others nobody asks
            findings.repair(f"{name}: axis 0 0 0 made 1 0 0")
        axis = np.array([1.0, 0.0, 0.0])
    low, high = _range(element.find("limit"), name, kind, findings)
    limit, dynamics = element.find("limit"), element.find("dynamics")
    # 0 is what is written where nobody knows: an axis that nothing drives needs no bound
    effort, velocity = (_number(limit, attribute, 0.0, name) or np.inf for attribute in ("effort", "velocity"))
    losses = {attribute: _number(dynamics, attribute, 0.0, name) for attribute in ("damping", "friction")}
    for attribute, number in losses.items():
        if number < 0.0:
            findings.repair(f"{name}: {attribute} {number:g} made 0")
            losses[attribute] = 0.0
    return UrdfJoint(
        name,
        kind,
        parent,
        child,
        _place(element.find("origin"), name),
        axis / np.linalg.norm(axis),
        low,
        high,
        abs(effort),
        abs(velocity),
        losses["damping"],
        losses["friction"],
        _mimic(element.find("mimic"), name),
    )


def _range(element: ElementTree.Element | None, name: str, kind: str, findings: Findings) -> tuple[float, float]:
    free = -np.inf, np.inf
    if kind not in ("revolute", "prismatic"):
        return free
    low, high = (_number(element, attribute, 0.0, name) for attribute in ("lower", "upper"))
    low, high = (bound if abs(bound) <= LIMIT_MAX else np.copysign(np.inf, bound) for bound in (low, high))
    if low == high:
        findings.note("joints whose lower limit is their upper one have none here, as in MuJoCo", name)
        return free
    if low > high:
        findings.repair(f"{name}: limits {low:g} … {high:g} made {high:g} … {low:g}")
    return min(low, high), max(low, high)


def _mimic(element: ElementTree.Element | None, name: str) -> Mimic | None:
    if element is None:
        return None
    return Mimic(
        element.get("joint") or "", _number(element, "multiplier", 1.0, name), _number(element, "offset", 0.0, name)
    )


def _sort(robot: Robot, joints: list[UrdfJoint]) -> None:
    """Every joint behind that of its parent, and the links that hang on none."""
    holds: dict[str, UrdfJoint] = {}  # by child
    names = set()
    for joint in joints:
        for link in (joint.parent, joint.child):
            if link not in robot.links:
                raise ImportFailed(f"joint {joint.name} is of a link {link!r} that the robot does not have")
        if joint.child in holds:
            raise ImportFailed(f"link {joint.child} hangs on two joints, {holds[joint.child].name} and {joint.name}")
        if joint.name in names:
            raise ImportFailed(f"two joints are called {joint.name}")
        names.add(joint.name)
        holds[joint.child] = joint
    robot.roots = [name for name in robot.links if name not in holds]
    below: dict[str, list[UrdfJoint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    stack = [joint for root in reversed(robot.roots) for joint in reversed(below.get(root, []))]
    while stack:
        joint = stack.pop()
        robot.joints.append(joint)
        stack += reversed(below.get(joint.child, []))
    if len(robot.joints) < len(joints):
        around = sorted({joint.name for joint in joints} - {joint.name for joint in robot.joints})
        raise ImportFailed(f"joints hang on each other in a circle: {', '.join(around[:6])}")
