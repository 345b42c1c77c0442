# SPDX-License-Identifier: MIT
"""A robot as URDF has it to a scene. Links that fixed joints hold are one body, called by the first of them; the others
have a joint each. A root stands fast in the world, or is free."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import protocol as p
from .._json import from_json
from ._actuators import Control
from ._bodies import Mass, scene_body, together
from ._findings import Findings, Weight
from ._imported import Imported, Place
from ._inertias import DENSITY, LEAST, is_thin, placed, solid
from ._joints import Numbers
from ._meshes import Meshes
from ._poses import HERE, Pose, from_z
from ._urdf import Collision, Link, Robot, UrdfJoint

# what a body weighs that has no mass and moves: this share of what hangs on it, or of the robot where nothing does
LIGHT, LIGHT_ALONE = 1e-6, 1e-4
LIGHT_RADIUS = 0.02  # [m] of gyration of such a body
SCENE_KIND = {"revolute": "HINGE", "continuous": "HINGE", "prismatic": "SLIDER", "planar": "GENERIC"}
SETTINGS = {"time_step": 0.002, "gravity": [0.0, 0.0, -9.81], "integrator": "SYMPLECTIC"}
NOTHING = Numbers("", 0, 0, 0)


class UrdfScene:
    """What the scene gets of a robot."""

    def __init__(
        self,
        robot: Robot,
        meshes: Meshes,
        findings: Findings,
        *,
        is_free: bool,
        touches_itself: bool,
        collision_group: int,
    ) -> None:
        self.robot = robot
        # of shapes: a robot's own group, which its mask leaves out
        own = 1 << collision_group
        self.own = {} if touches_itself else {"group": own, "mask": 0xFFFFFFFF - own}
        self.meshes = meshes
        self.findings = findings
        self.group: dict[str, str] = {}  # of each link: the first of those that are one body with it
        self.in_group: dict[str, Pose] = {}
        self.in_world: dict[str, Pose] = {}
        self.is_free = is_free
        self.below: dict[str, list[UrdfJoint]] = {}  # the joints of each group that move others
        self._stand()
        self.still = set() if is_free else set(robot.roots)
        self.members: dict[str, list[Link]] = {}
        for link in robot.links.values():
            self.members.setdefault(self.group[link.name], []).append(link)
        self._has()
        self.weight: dict[str, Mass] = {}
        self._weigh()
        self._materials: dict[tuple[float, float], str] = {}
        self.shapes = {name: self._shapes(name) for name in self.members}
        # the world's own body has no name where there is nothing to touch
        self.bodies = {name for name in self.members if name not in self.still or self.shapes[name]}
        self.joints: list[dict[str, Any]] = []
        self.numbers: dict[str, Numbers] = {}
        self.controls: list[Control] = []
        for joint in robot.joints:
            if joint.kind in SCENE_KIND:
                self._joint(joint)
        for joint in robot.joints:
            if joint.mimic is not None:
                self._follow(joint)
        self._base()

    # ---- bodies

    def _stand(self) -> None:
        for root in self.robot.roots:
            self.group[root], self.in_group[root], self.in_world[root] = root, HERE, HERE
        for joint in self.robot.joints:
            self.in_world[joint.child] = self.in_world[joint.parent].then(joint.origin)
            if joint.kind == "fixed":
                self.group[joint.child] = self.group[joint.parent]
                self.in_group[joint.child] = self.in_group[joint.parent].then(joint.origin)
            else:
                self.group[joint.child], self.in_group[joint.child] = joint.child, HERE
                self.below.setdefault(self.group[joint.parent], []).append(joint)

    def _has(self) -> None:
        for name, links in self.members.items():
            for link in links:
                if name not in self.still and link.weight is not None:
                    self.findings.has("mass", link.name, link.weight.mass)
                for k in range(len(link.collisions)):
                    self.findings.has("geometry", (link.name, k))

    def _weigh(self) -> None:
        """Bodies that hang on others first: what has no mass gets a share of theirs."""
        carried: dict[str, float] = {}
        roots = [root for root in self.robot.roots if root not in self.still]
        moving = [joint.child for joint in self.robot.joints if joint.kind != "fixed"]
        masses = [link.weight.mass for link in self.robot.links.values() if link.weight is not None]
        for name in reversed(roots + moving):
            above = sum(carried[joint.child] for joint in self.below.get(name, ()))
            self.weight[name] = self._body(name, above, sum(masses))
            carried[name] = above + self.weight[name].mass

    def _body(self, name: str, above: float, whole: float) -> Mass:
        parts = [placed(link.weight, self.in_group[link.name]) for link in self.members[name] if link.weight]
        weight = together(parts) if parts else Mass(0.0, np.zeros(3), np.zeros((3, 3)))
        if weight.mass == 0.0 and not parts:
            weight = self._solids(name) or weight
        if weight.mass == 0.0:
            mass = LIGHT * above or LIGHT_ALONE * whole or 1e-3
            self.findings.repair(f"{name}: moves and has no mass: {mass:.3g} kg")
            inertia = weight.inertia if np.any(weight.inertia) else mass * LIGHT_RADIUS**2 * np.eye(3)
            weight = Mass(mass, weight.center, inertia)
        if is_thin(weight):
            more = LEAST * weight.mass
            self.findings.repair(f"{name}: turns about an axis at no effort: {more:.3g} kg m^2 added")
            weight = Mass(weight.mass, weight.center, weight.inertia + more * np.eye(3))
        return weight

    def _solids(self, name: str) -> Mass | None:
        """Of the shapes of a body of which nothing says what it weighs."""
        parts = []
        for link in self.members[name]:
            for shape in link.collisions:
                weight = self._solid(shape)
                if weight is not None:
                    parts.append(placed(weight, self.in_group[link.name].then(shape.place)))
        if not parts:
            return None
        weight = together(parts)
        weighs = f"its shapes at 1000 kg/m^3 weigh {weight.mass:.3g} kg"
        self.findings.repair(f"{name}: moves and has no <inertial>: {weighs}")
        return weight

    def _solid(self, shape: Collision) -> Mass | None:
        if shape.form is not None:
            return solid(shape.form)
        made = self.meshes.find(shape.mesh, shape.scale) if shape.kind == "mesh" else None
        return Mass(DENSITY * made.volume, made.center, DENSITY * made.inertia) if made else None

    # ---- shapes

    def _shapes(self, name: str) -> list[dict[str, Any]]:
        shapes = []
        for link in self.members[name]:
            for k, shape in enumerate(link.collisions):
                of: list[Weight] = [("geometry", (link.name, k), 1.0)]
                place = self.in_group[link.name].then(shape.place)
                pose = {"position": place.position.tolist(), "orientation": place.orientation.tolist()}
                more = pose | {"material": self._material(link)} | self.own
                if shape.form is not None:
                    shapes.append(shape.form | more)
                elif shape.kind != "mesh":
                    self.findings.add(f"shapes that are a {shape.kind} touch nothing", link.name, of)
                elif (made := self.meshes.find(shape.mesh, shape.scale)) is not None:
                    shapes += made.shapes(**more)
                else:
                    self.meshes.miss(shape.mesh, shape.scale, link.name, of)
        return shapes

    def _material(self, link: Link) -> str:
        name = f"friction {link.friction:g}" + (f", restitution {link.restitution:g}" if link.restitution else "")
        return self._materials.setdefault((link.friction, link.restitution), name)

    def _base(self) -> None:
        if self.own and sum(map(len, self.shapes.values())) > 1:
            self.findings.note(
                "links of the robot do not touch each other, as in Gazebo and PyBullet (self_collisions=True, "
                "--self-collisions: all but neighbours do, as in MuJoCo)"
            )
        for root in self.robot.roots:
            weight = sum(link.weight.mass for link in self.members[root] if link.weight)
            if root in self.still and root != "world" and weight > 0.0:
                self.findings.note(
                    "a root stands fast in the world, as in MuJoCo (free_base=True, --free-base: it is free)",
                    f"{root} ({weight:.3g} kg)",
                )

    # ---- joints

    def _joint(self, joint: UrdfJoint) -> None:
        turned = Pose(np.zeros(3), from_z(joint.axis))
        parent = self.group[joint.parent]
        scene: dict[str, Any] = {"name": joint.name, "kind": SCENE_KIND[joint.kind], "body_b": joint.child}
        if parent in self.bodies:
            scene["body_a"] = parent
        frame = self.in_group[joint.parent].then(joint.origin).then(turned)
        scene |= {"frame_a": frame.numbers(), "frame_b": turned.numbers()}
        width = 1
        if joint.kind == "planar":
            scene["axes"] = ["MOVE_X", "MOVE_Y", "TURN_Z"]
            width = 3
        if joint.low > -np.inf or joint.high < np.inf:
            scene |= {"low": [max(joint.low, -1e18)], "high": [min(joint.high, 1e18)]}
            first = float(np.clip(0.0, joint.low, joint.high))
            if first != 0.0:
                scene["position"] = [first]
                self.findings.note("joints that begin where their limits do, since 0 is outside of them", joint.name)
        scene |= {name: [number] * width for name in ("damping", "friction") if (number := getattr(joint, name))}
        self.numbers[joint.name] = Numbers(joint.name, 0, 0, width)
        self.joints.append(scene)
        if width == 1 and joint.mimic is None:
            self._drive(joint, scene)

    def _drive(self, joint: UrdfJoint, scene: dict[str, Any]) -> None:
        if joint.effort < np.inf:
            scene["effort_max"] = [joint.effort]
        self.controls.append(
            Control(joint.name, joint.name, 0, "effort", 1.0, -joint.effort, joint.effort, joint.velocity)
        )
        self.findings.has("actuators", joint.name)
        if joint.velocity < np.inf:
            self.findings.add(
                "limits of velocity are not kept (a Control has them as velocity_max)", joint.name, physical=False
            )

    def _moved_by(self, joint: UrdfJoint) -> list[Weight]:
        """The mass of what hangs on a joint."""
        names, stack = [], [self.group[joint.child]]
        while stack:
            group = stack.pop()
            names += [link for link in self.members[group] if link.weight]
            stack += [below.child for below in self.below.get(group, ())]
        return [("mass", link.name, link.weight.mass) for link in names if link.weight]

    def _follow(self, joint: UrdfJoint) -> None:
        """A joint whose number is a multiple of another's, and something."""
        mimic = joint.mimic
        assert mimic is not None
        if joint.kind == "fixed":
            return self.findings.note("<mimic> of a joint that does not move", joint.name)
        kinds = {one.name: one.kind for one in self.robot.joints}
        if kinds.get(mimic.joint) == "fixed" and self.numbers.get(joint.name, NOTHING).width == 1:
            return self._lock(joint.name, mimic.offset)
        if mimic.joint not in kinds:
            sentence = f"<mimic> of {mimic.joint!r}, which is no joint of the robot"
            return self.findings.add(sentence, joint.name, self._moved_by(joint))
        if mimic.joint == joint.name or any(
            self.numbers.get(name, NOTHING).width != 1 for name in (mimic.joint, joint.name)
        ):
            sentence = "<mimic> where one of the joints has not one number"
            return self.findings.add(sentence, joint.name, self._moved_by(joint))
        name = f"{joint.name} follows {mimic.joint}"
        if mimic.offset == 0.0:
            gear = {"name": name, "kind": "GEAR", "joint_a": mimic.joint, "joint_b": joint.name}
            self.joints.append(gear | {"ratio": mimic.multiplier})
        else:  # what they come to together has one length
            tendon = {"name": name, "kind": "TENDON", "coupled": [joint.name, mimic.joint]}
            held = {"low": [mimic.offset], "high": [mimic.offset]}
            self.joints.append(tendon | {"coefficients": [1.0, -mimic.multiplier]} | held)
        scene = {one["name"]: one for one in self.joints}
        first = mimic.multiplier * scene[mimic.joint].get("position", [0.0])[0] + mimic.offset
        scene[joint.name].pop("position", None)
        if first != 0.0:
            scene[joint.name]["position"] = [first]
        return None

    def _lock(self, name: str, number: float) -> None:
        """A joint that follows one that does not move: its limits are one number."""
        scene = next(one for one in self.joints if one["name"] == name)
        scene |= {"low": [number], "high": [number], "position": [number]}

    # ---- all of it

    def imported(self) -> Imported:
        bodies = []
        for name in self.members:
            if name not in self.bodies:
                continue
            if name in self.still:
                body: dict[str, Any] = {"name": name, "kind": "STATIC"}
            else:
                body = scene_body(name, self.in_world[name], self.weight[name])
            bodies.append(body | {"shapes": self.shapes[name]})
        materials = [
            {"name": name, "friction": friction} | ({"restitution": restitution} if restitution else {})
            for (friction, restitution), name in self._materials.items()
        ]
        scene = {
            "name": self.robot.name,
            "settings": dict(SETTINGS),
            "materials": materials,
            **({"geometries": self.meshes.scene} if self.meshes.scene else {}),
            "bodies": bodies,
            "joints": self.joints,
        }
        places = {}
        for link in self.robot.links:
            owner = self.group[link]
            places[link] = Place(owner if owner in self.bodies else "world", self.in_group[link])
        return Imported(
            from_json(p.Scene, scene),
            scene,
            self.findings.sentences(),
            places,
            self.numbers,
            self.controls,
            self.findings.losses(),
            self.findings.verdict(),
            self.findings.notes(),
        )
