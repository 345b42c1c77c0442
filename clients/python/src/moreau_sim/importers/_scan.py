# SPDX-License-Identifier: MIT
"""What of a model has no place in a scene: looked for by comparing with a model that says nothing of it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np

from ._bodies import is_off
from ._findings import Findings, Weight
from ._joints import Joints
from ._shapes import Shapes
from ._urdf import Robot

# arrays of which anything but the default is not taken, and what to say of it
_ARRAYS = {
    "geom_fluid": "fluid forces on geoms",
    "geom_adhesion": "adhesion of geoms",
    "geom_surfacevel": "surface velocities of geoms",
    "jnt_stiffnesspoly": "stiffness of joints that is not linear",
    "jnt_springyield": "springs of joints that yield",
    "jnt_actgravcomp": "gravity compensation by actuators",
    "dof_dampingpoly": "damping of joints that is not linear",
    "body_gravcomp": "gravity compensation",
    "actuator_armature": "armature of actuators",
    "actuator_damping": "damping of actuators",
    "actuator_dampingpoly": "damping of actuators",
    "actuator_delay": "delays of actuators",
    "actuator_cranklength": "cranks",
}
# likewise, of MuJoCo's way to make contacts and limits soft
_SCHEME = {
    "geom_solref": "solref of geoms: contacts are rigid (materials may have a stiffness)",
    "geom_solimp": "solimp of geoms: contacts are rigid (materials may have a stiffness)",
    "geom_margin": "margin of geoms",
    "geom_gap": "gap of geoms",
    "jnt_solref": "solref of joints: limits are rigid",
    "jnt_solimp": "solimp of joints: limits are rigid",
    "jnt_margin": "margin of joints",
}
_UNSEEN = {"nsite": "sites"}  # what moves nothing
_COUNTS = {"nflex": "flexible bodies", "nplugin": "plugins"}
# what a URDF file may have for other programs
_URDF = ("transmission", "gazebo", "ros2_control", "safety_controller", "calibration", "sensor", "mujoco")


def scan_model(
    mujoco: Any,
    joints: Joints,
    shapes: Shapes,
    findings: Findings,
    is_compensated: bool = False,
) -> None:
    model = joints.model
    scan = _Scan(mujoco, joints, shapes, findings)
    for body in range(1, model.nbody):
        if joints.bodies.root[body] != 0:
            findings.has("mass", body, float(model.body_mass[body]))
    scan.arrays({"body_gravcomp"} if is_compensated else set())
    scan.options()
    for words, counts, is_physical in ((_UNSEEN, model, False), (_COUNTS, model, True)):
        for count, sentence in words.items():
            if getattr(counts, count, 0):
                findings.add(f"{sentence} ({getattr(counts, count)})", physical=is_physical)
    if model.nmocap:
        findings.note(
            f"mocap bodies are kinematic here: they move by the velocities that are set, or are put somewhere "
            f"(world.move) ({model.nmocap})"
        )


class _Scan:
    def __init__(self, mujoco: Any, joints: Joints, shapes: Shapes, findings: Findings) -> None:
        self.mujoco = mujoco
        self.model = joints.model
        self.joints = joints
        self.shapes = shapes
        self.findings = findings
        self.plain = mujoco.MjModel.from_xml_string(
            '<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody><actuator><motor '
            'joint="j"/></actuator></mujoco>'
        )

    def arrays(self, taken: set[str]) -> None:
        for array, sentence in (_ARRAYS | _SCHEME).items():
            values = getattr(self.model, array, None)
            if values is None or len(values) == 0 or array in taken:
                continue
            default = getattr(self.plain, array)[-1]
            for row in range(len(values)):
                if not np.array_equal(values[row], default):
                    self._row(array.split("_")[0], row, sentence, array not in _SCHEME)

    def _row(self, kind: str, row: int, sentence: str, is_physical: bool) -> None:
        if kind == "dof":
            kind, row = "jnt", int(self.model.dof_jntid[row])
        of: list[Weight] = []
        if kind == "geom":
            of = self.shapes.weight(row)
            if not of:
                return  # nothing meets it
        elif kind == "jnt":
            of = self.joints.weights(row)
        elif kind == "body":
            of = [("mass", row, float(self.model.body_mass[row]))]
        elif kind == "actuator":
            of = [("actuators", row, 1.0)]
        name = getattr(self.model, kind)(row).name or f"{kind} {row}"
        self.findings.add(sentence, name, of, physical=is_physical)

    def options(self) -> None:
        m, findings = self.model, self.findings
        everything: list[Weight] = [("mass", body, float(m.body_mass[body])) for body in range(1, m.nbody)]
        self._fluid(everything)
        if is_off(self.mujoco, m, "ACTUATION"):
            findings.add("option flag actuation: what it disables works here", of=everything)
        if m.opt.enableflags & int(self.mujoco.mjtEnableBit.mjENBL_OVERRIDE):
            findings.add("option flag override", physical=False)
        integrator = self.mujoco.mjtIntegrator(int(m.opt.integrator)).name.removeprefix("mjINT_")
        if integrator not in ("EULER", "IMPLICIT", "IMPLICITFAST", "RK4"):
            findings.add(f"integrator {integrator}: SYMPLECTIC is taken", physical=False)


    def _fluid(self, everything: list[Weight]) -> None:
        """It drags at boxes of mass and inertia, as here; but here what is welded is one box."""
        m, bodies = self.model, self.joints.bodies
        if not (m.opt.density or m.opt.viscosity) or is_off(self.mujoco, m, "PASSIVE"):
            return
        if np.any(m.opt.wind):
            self.findings.add("option wind", of=everything)
        for root in bodies.roots[1:]:
            members = [body for body in bodies.members(root) if m.body_mass[body] > 0.0]
            if len(members) > 1:
                of: list[Weight] = [("mass", body, float(m.body_mass[body])) for body in members]
                self.findings.add("a fluid drags at what is welded as at one body", bodies.name(root), of)


def scan_urdf(root: ElementTree.Element, robot: Robot, findings: Findings) -> None:
    for tag in _URDF:
        for element in root.iter(tag):
            name = element.get("joint") or element.get("name") or element.get("reference") or ""
            findings.add(f"<{tag}> of URDF", name, physical=False)
    for element in root.findall("gazebo"):
        for joint in element.findall("joint"):
            findings.add("joints that only Gazebo sees, as of closed loops", joint.get("name") or "")
        link = robot.links.get(element.get("reference") or "")
        words = (element.findtext("turnGravityOff", "false"), element.findtext("gravity", "true"))
        is_off = words[0].strip() in ("true", "1") or words[1].strip() in ("false", "0")
        if is_off and link is not None and link.weight is not None and link.weight.mass > 0.0:
            of = [("mass", link.name, link.weight.mass)]
            findings.add("links that gravity leaves alone in Gazebo fall here", link.name, of)
