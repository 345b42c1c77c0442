# SPDX-License-Identifier: MIT
"""Models as trees of links, the way robots are drawn up: each stands somewhere in the one before, moves along or about
axes, and is made of balls, bars and cans. Scene and channels come of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import protocol as p
from ...group import channel
from ...importers._poses import HERE, Pose, from_z, matrix, pose, quaternion

Vector = NDArray[np.float64]
# of the mass of a link, for what stands between two of its axes: accelerations change by about as much
LIGHT = 1e-9
GROUND, ROBOT, FIRST_LINK = 1, 2, 4  # collision groups: a link has one of its own, for what touches itself
Point = Sequence[float]


@dataclass(frozen=True)
class Shape:
    """What is within `radius` of a segment: a ball where both ends are one, a bar with round ends, or a can with flat
    ones."""

    begin: Point
    end: Point
    radius: float
    density: float = 1000.0  # [kg/m^3]
    friction: float = 1.0  # of the pair with the ground
    is_flat: bool = False
    is_solid: bool = True  # else nothing touches it
    meets_ground: bool = True

    @property
    def kind(self) -> str:
        return "cylinder" if self.is_flat else "capsule" if self.length > 0.0 else "sphere"

    @property
    def length(self) -> float:
        return float(np.linalg.norm(np.subtract(self.end, self.begin)))

    @property
    def center(self) -> Vector:
        return np.asarray(np.add(self.begin, self.end), float) / 2

    @property
    def turn(self) -> Vector:
        """The quaternion that takes z to where it points."""
        along = np.subtract(self.end, self.begin)
        return HERE.orientation if self.length == 0.0 else from_z(along / self.length)

    def weight(self) -> tuple[float, Vector]:
        """Mass, and inertia about its centre in the link's axes."""
        r, length = self.radius, self.length
        rod = self.density * np.pi * r**2 * length
        ball = 0.0 if self.is_flat else self.density * 4 / 3 * np.pi * r**3
        along = rod * r**2 / 2 + ball * 2 / 5 * r**2
        across = rod * (length**2 / 12 + r**2 / 4) + ball * (2 / 5 * r**2 + length**2 / 4 + 3 / 8 * length * r)
        axes = matrix(self.turn)
        return rod + ball, axes @ np.diag([across, across, along]) @ axes.T


def ball(at: Point, radius: float, **more: Any) -> Shape:
    return Shape(at, at, radius, **more)


def bar(begin: Point, end: Point, radius: float, **more: Any) -> Shape:
    return Shape(begin, end, radius, **more)


def tilted(at: Point, angle: float, half: float, radius: float, **more: Any) -> Shape:
    """A bar about `at`, upright but for a turn about y."""
    way = half * np.array([np.sin(angle), 0.0, np.cos(angle)])
    return Shape((np.asarray(at) - way).tolist(), (np.asarray(at) + way).tolist(), radius, **more)


@dataclass(frozen=True)
class Axis:
    """What a link moves along, or turns about."""

    name: str
    way: Point
    low: float = -1e18
    high: float = 1e18
    damping: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    at: Point = (0.0, 0.0, 0.0)  # where it turns, in the link
    slides: bool = False
    start: float = 0.0  # the number that it begins at


@dataclass(frozen=True)
class Link:
    name: str
    position: Point  # in the link before
    shapes: Sequence[Shape]
    axes: Sequence[Axis] = ()  # none: it is fixed to the link before
    links: Sequence[Link] = ()
    is_free: bool = False  # nothing holds it
    turned: Point = (1.0, 0.0, 0.0, 0.0)
    origin: Point = (0.0, 0.0, 0.0)  # where its body has its origin, in the link

    def weight(self) -> tuple[float, Vector, Vector]:
        """Mass, centre in the link, and inertia about it in the link's axes."""
        parts = [(*shape.weight(), shape.center) for shape in self.shapes]
        mass = sum(part[0] for part in parts)
        center = sum((part[0] * part[2] for part in parts), np.zeros(3)) / mass
        inertia = np.zeros((3, 3))
        for weight, own, where in parts:
            arm = where - center
            inertia += own + weight * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return mass, center, inertia

    def all(self) -> Iterator[Link]:
        yield self
        for link in self.links:
            yield from link.all()


@dataclass
class Model:
    """A scene of links that hang on the world, and where each axis is in it."""

    name: str
    settings: Mapping[str, Any]
    links: Sequence[Link]
    beside: Sequence[Mapping[str, Any]] = ()  # bodies that stand still
    ground: float | None = None  # the friction number of a plane at `ground_height`; None: there is none
    ground_height: float = 0.0  # [m]
    touches_itself: bool = False  # links that no axis joins touch, without friction
    scene: dict[str, Any] = field(init=False)
    places: dict[str, tuple[str, int]] = field(init=False)  # of each axis: its joint, and which of its numbers
    starts: dict[str, float] = field(init=False)  # and the number that it begins at

    def __post_init__(self) -> None:
        self.places, self.starts = {}, {}
        self._bodies: list[dict[str, Any]] = []
        self._joints: list[dict[str, Any]] = []
        self._materials = {"smooth": 0.0}
        self._bits = {link.name: FIRST_LINK << k for k, link in enumerate(self.all())} if self.touches_itself else {}
        self._masks = self._neighbours()
        for link in self.links:
            self._add(link, None, HERE)
        bodies = [*self._bodies, *(dict(body) for body in self.beside)]
        if self.ground is not None:
            self._materials["ground"] = self.ground
            plane = {"plane": {}, "material": "ground", "group": GROUND, "mask": ROBOT}
            place = {"position": [0.0, 0.0, self.ground_height]}
            bodies.append({"name": "ground", "kind": "STATIC", **place, "shapes": [plane]})
        self.scene = {
            "name": self.name,
            "settings": dict(self.settings),
            "materials": [{"name": name, "friction": number} for name, number in self._materials.items()],
            "bodies": bodies,
            "joints": self._joints,
        }

    def all(self) -> list[Link]:
        return [link for root in self.links for link in root.all()]

    def channels(self, kind: str, axes: Iterable[str], **more: Any) -> list[p.GroupChannel]:
        """A channel for each axis."""
        return [channel(kind, self.places[axis][0], axes=[self.places[axis][1]], **more) for axis in axes]

    def _neighbours(self) -> dict[str, int]:
        """Of each link the groups of those that it touches: not itself, nor what one axis alone parts from it."""
        if not self.touches_itself:
            return {}
        # of each link: the first of those that it is fixed to, and what that hangs on
        base: dict[str, str] = {}
        before: dict[str, str] = {}

        def walk(link: Link, parent: str) -> None:
            is_fixed = bool(parent) and not link.axes
            base[link.name] = base[parent] if is_fixed else link.name
            before[link.name] = before[parent] if is_fixed else base.get(parent, "")
            for child in link.links:
                walk(child, link.name)

        for root in self.links:
            walk(root, "")
        return {
            one: sum(
                self._bits[other]
                for other in base
                if base[one] != base[other] and before[one] != base[other] and before[other] != base[one]
            )
            for one in base
        }

    # ---- bodies

    def _shapes(self, link: Link) -> list[dict[str, Any]]:
        shapes = []
        for shape in link.shapes:
            size: dict[str, Any] = {"radius": shape.radius}
            if shape.length > 0.0:
                size["half_length"] = shape.length / 2
            told = {
                shape.kind: size,
                "position": (shape.center - link.origin).tolist(),
                "orientation": shape.turn.tolist(),
            }
            if shape.is_solid and shape.meets_ground and self.ground is not None:
                rubs = f"friction {shape.friction:g}"
                # of two shapes it is the root of the product of their numbers
                self._materials[rubs] = shape.friction**2 / self.ground if self.ground > 0.0 else 0.0
                shapes.append({**told, "material": rubs, "group": ROBOT, "mask": GROUND})
            else:
                shapes.append({**told, "group": 0, "mask": 0})
            if shape.is_solid and self._masks.get(link.name):
                own = {"group": self._bits[link.name], "mask": self._masks[link.name]}
                shapes.append({**told, "material": "smooth", **own})
        return shapes

    def _body(self, name: str, place: Pose, link: Link, share: float) -> dict[str, Any]:
        mass, center, inertia = link.weight()
        at = place.then(pose(link.origin, HERE.orientation))
        return {
            "name": name,
            "position": at.position.tolist(),
            "orientation": at.orientation.tolist(),
            "mass": mass * share,
            "center_of_mass": (center - link.origin).tolist(),
            "inertia": (share * inertia[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]).tolist(),
        }

    def _add(self, link: Link, parent: Link | None, before: Pose) -> None:
        local = pose(link.position, link.turned)
        place = before.then(local)
        groups = _joints(link.axes)
        # from what the first joint hangs on, and from the body that stands before each other one
        name = parent.name if parent else None
        from_body = pose(np.negative(parent.origin) if parent else np.zeros(3), HERE.orientation).then(local)
        for number, axes in enumerate(groups):
            is_last = number == len(groups) - 1
            child = link.name if is_last else f"{link.name} before {groups[number + 1][0].name}"
            if not is_last:
                self._bodies.append({**self._body(child, place, link, LIGHT), "shapes": []})
            self._join(axes, name, child, from_body, np.asarray(link.origin, float))
            name, from_body = child, pose(np.negative(link.origin), HERE.orientation)
        if not groups and not link.is_free:
            back = pose(np.negative(link.origin), HERE.orientation)
            told = {"kind": "FIXED", "frame_a": from_body.numbers(), "frame_b": back.numbers()}
            hangs = {"body_a": name} if name else {}
            self._joints.append({"name": f"{link.name} fixed", "body_b": link.name, **hangs, **told})
        self._bodies.append({**self._body(link.name, place, link, 1.0), "shapes": self._shapes(link)})
        for inner in link.links:
            self._add(inner, link, place)

    def _join(self, axes: Sequence[Axis], body_a: str | None, body_b: str, from_body: Pose, origin: Vector) -> None:
        ways = [np.asarray(axis.way, float) / np.linalg.norm(axis.way) for axis in axes]
        frame = Pose(np.asarray(axes[-1].at, float), _frame(axes, ways))
        inner = Pose(frame.position - origin, frame.orientation)
        name = "+".join(axis.name for axis in axes)
        joint: dict[str, Any] = {"name": name, "body_b": body_b}
        if body_a:
            joint["body_a"] = body_a
        joint |= {"frame_a": from_body.then(frame).numbers(), "frame_b": inner.numbers()}
        if len(axes) == 1:
            joint["kind"] = "SLIDER" if axes[0].slides else "HINGE"
        elif len(axes) == 2:
            joint["kind"] = "UNIVERSAL"
        else:
            joint |= {"kind": "GENERIC", "axes": ["MOVE_X", "MOVE_Z", "TURN_Y"]}
        for column, default in (
            ("low", -1e18),
            ("high", 1e18),
            ("damping", 0.0),
            ("armature", 0.0),
            ("stiffness", 0.0),
        ):
            numbers = [float(getattr(axis, column)) for axis in axes]
            if any(number != default for number in numbers):
                joint[column] = numbers
        if any(axis.start for axis in axes):
            joint["position"] = [axis.start for axis in axes]
        for number, axis in enumerate(axes):
            self.places[axis.name], self.starts[axis.name] = (name, number), axis.start
        self._joints.append(joint)


def _joints(axes: Sequence[Axis]) -> list[list[Axis]]:
    """Axes of a link as joints of a scene: moves along x and z and a turn about y are one, and so are two turns at a
    right angle about one point."""
    if len(axes) == 3 and [axis.slides for axis in axes] == [True, True, False]:
        return [list(axes)]
    joints: list[list[Axis]] = []
    for axis in axes:
        last = joints[-1] if joints else []
        if len(last) == 1 and not last[0].slides and not axis.slides:
            is_square = abs(float(np.dot(last[0].way, axis.way))) < 1e-12
            if is_square and tuple(last[0].at) == tuple(axis.at):
                last.append(axis)
                continue
        joints.append([axis])
    return joints


def _frame(axes: Sequence[Axis], ways: Sequence[Vector]) -> Vector:
    """The quaternion of a joint's frames in the link: z is the axis of one that has one, x and y those of two turns;
    of the planar joint they are the link's."""
    if len(axes) == 3:
        return HERE.orientation
    if len(axes) == 2:
        return quaternion(np.column_stack([ways[0], ways[1], np.cross(ways[0], ways[1])]))
    return from_z(ways[0])
