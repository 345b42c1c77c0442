# SPDX-License-Identifier: MIT
"""What of a model has no place in a scene: looked for by comparing with a model that says nothing of it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np

from ._findings import Findings
from ._urdf import Robot

# arrays of which anything but the default is not taken, and what to say of it
_ARRAYS = {
    "geom_solref": "solref of geoms: contacts are rigid (materials may have a stiffness)",
    "geom_solimp": "solimp of geoms: contacts are rigid (materials may have a stiffness)",
    "geom_margin": "margin of geoms",
    "geom_gap": "gap of geoms",
    "geom_priority": "priority of geoms",
    "geom_fluid": "fluid forces on geoms",
    "geom_adhesion": "adhesion of geoms",
    "geom_surfacevel": "surface velocities of geoms",
    "jnt_solref": "solref of joints: limits are rigid",
    "jnt_solimp": "solimp of joints: limits are rigid",
    "jnt_margin": "margin of joints",
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
_COUNTS = {
    "ntendon": "tendons",
    "neq": "equality constraints",
    "nsensor": "sensors",
    "nflex": "flexible bodies",
    "nkey": "key-frames",
    "nsite": "sites",
    "nmocap": "mocap bodies are kinematic here: they move by the velocities that are set, or are put somewhere "
              "(world.move)",
    "nplugin": "plugins",
}
_OPTIONS = ("density", "viscosity", "wind")
# what a URDF file may have for other programs
_URDF = ("transmission", "gazebo", "ros2_control", "safety_controller", "calibration", "sensor", "mujoco")


def _names(model: Any, array: str, rows: Any) -> list[str]:
    kind = array.split("_")[0]
    if kind == "dof":
        kind, rows = "jnt", [model.dof_jntid[row] for row in rows]
    accessor = getattr(model, kind)
    return [accessor(int(row)).name or f"{kind} {int(row)}" for row in rows]


def scan_model(mujoco: Any, model: Any, findings: Findings) -> None:
    plain = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody><actuator><motor '
        'joint="j"/></actuator></mujoco>'
    )
    for array, sentence in _ARRAYS.items():
        values = getattr(model, array, None)
        if values is None or len(values) == 0:
            continue
        default = getattr(plain, array)[-1]
        rows = [row for row in range(len(values)) if not np.array_equal(values[row], default)]
        for name in _names(model, array, rows):
            findings.add(sentence, name)
    for count, sentence in _COUNTS.items():
        if getattr(model, count, 0):
            findings.add(f"{sentence} ({getattr(model, count)})")
    _scan_options(mujoco, model, plain, findings)


def _scan_options(mujoco: Any, model: Any, plain: Any, findings: Findings) -> None:
    for option in _OPTIONS:
        if not np.array_equal(getattr(model.opt, option), getattr(plain.opt, option)):
            findings.add(f"option {option}")
    for bit in (
        "CONTACT",
        "LIMIT",
        "CONSTRAINT",
        "SPRING",
        "DAMPER",
        "PASSIVE",
        "FRICTIONLOSS",
        "EQUALITY",
        "ACTUATION",
    ):
        flag = getattr(mujoco.mjtDisableBit, f"mjDSBL_{bit}", 0)
        if model.opt.disableflags & int(flag):
            findings.add(f"option flag {bit.lower()}: what it disables works here")
    if model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE):
        findings.add("option flag override")
    integrator = mujoco.mjtIntegrator(int(model.opt.integrator)).name.removeprefix("mjINT_")
    if integrator not in ("EULER", "IMPLICIT", "IMPLICITFAST"):
        findings.add(f"integrator {integrator}: SYMPLECTIC is taken; RK4 is of fourth order")


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
