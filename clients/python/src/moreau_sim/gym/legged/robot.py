# SPDX-License-Identifier: MIT
"""What LeggedLocomotion has to know of a robot, and a small one of primitives."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...importers import load

GROUND, ROBOT = 1, 2  # bits of collision groups: rays see the ground alone


@dataclass(frozen=True)
class Robot:
    """A robot on legs.

    model        a URDF or MJCF file, or a scene (as scene files have it) of the robot alone, whose shapes are in groups
                 from bit 1 on
    trunk        the body that nothing holds
    feet         bodies at the ends of the legs: front left, front right, hind left, hind right
    stance       [rad] of the joints as it stands; a joint's is the last one whose name is in the joint's
    lift         [rad] of the joints, as `stance` names them, with a foot at the top of a step; none: it learns to step
    stride       [rad/m] of the joints: what takes a foot ahead, so that trots are of some speed
    sway         [rad/m] likewise, to the left
    height       [m] of the trunk's origin over level ground as it stands
    stiffness    [N m/rad] of the drives, as `damping`, which take it to its targets
    damping      [N m s/rad]
    armature     [kg m^2] of what turns in the motors, geared
    corners_max  of each hull: fewer touch faster
    """

    model: str | os.PathLike[str] | Mapping[str, Any]
    trunk: str
    feet: Sequence[str]
    stance: Mapping[str, float]
    height: float
    lift: Mapping[str, float] = field(default_factory=dict)
    stride: Mapping[str, float] = field(default_factory=dict)
    sway: Mapping[str, float] = field(default_factory=dict)
    stiffness: float = 25.0
    damping: float = 0.6
    armature: float = 0.01
    corners_max: int = 32

    def but(self, **other: Any) -> Robot:
        """The same with other numbers."""
        return replace(self, **other)

    def scene(self) -> dict[str, Any]:
        """Of it alone, as it stands at the origin."""
        scene: dict[str, Any]
        if isinstance(self.model, Mapping):
            scene = json.loads(json.dumps(dict(self.model)))
        else:
            scene = load(self.model, free_base=True, collision_group=1).json
        names = [body.get("name") for body in scene["bodies"]]
        for body in (self.trunk, *self.feet):
            if body not in names:
                raise ValueError(f"{body}: the robot has no such body; it has {', '.join(map(str, names))}")
        _raise(scene, self.height - scene["bodies"][names.index(self.trunk)].get("position", [0.0, 0.0, 0.0])[2])
        scene["joints"] = [joint for joint in scene["joints"] if joint.get("kind") != "FREE"]  # the trunk's own
        for joint in scene["joints"]:
            stand = self.angle(joint["name"])
            joint |= {"position": [stand], "target": [stand], "armature": [self.armature]}
            joint |= {"drive_stiffness": [self.stiffness], "drive_damping": [self.damping]}
        for geometry in scene.get("geometries", []):
            if "hull" in geometry and not geometry["hull"].get("faces"):
                geometry["hull"]["vertices_max"] = min(self.corners_max, geometry["hull"].get("vertices_max", 256))
        return scene

    def angle(self, joint: str) -> float:
        """[rad] of it as the robot stands."""
        named = [angle for part, angle in self.stance.items() if part in joint]
        if not named:
            raise ValueError(f"stance: joint {joint} is named by none of {', '.join(self.stance)}")
        return named[-1]


def _raise(scene: dict[str, Any], by: float) -> None:
    """All of it [m]; what joints say in the world's axes, too."""
    for body in scene["bodies"]:
        x, y, z = body.get("position", [0.0, 0.0, 0.0])
        body["position"] = [x, y, z + by]
    for joint in scene["joints"]:
        for point in {"anchor", "anchor_b"} & joint.keys():
            x, y, z = joint[point]
            joint[point] = [x, y, z + by]


# ---- a small one

UPPER, LOWER, THICK = 0.16, 0.16, 0.018  # [m] of a leg's links
HIPS = {"FL": (0.16, 0.08), "FR": (0.16, -0.08), "RL": (-0.16, 0.08), "RR": (-0.16, -0.08)}  # [m]


def _link(name: str, at: Sequence[float], length: float, density: float) -> dict[str, Any]:
    half = length / 2
    shape = {"capsule": {"radius": THICK, "half_length": half}, "position": [0, 0, -half], "density": density}
    return {"name": name, "position": list(at), "shapes": [shape | {"material": "rubber", "group": ROBOT}]}


def _hinge(name: str, a: str, b: str, at: Sequence[float], axis: Sequence[float], **more: Any) -> dict[str, Any]:
    return {"name": name, "body_a": a, "body_b": b, "anchor": list(at), "axis": list(axis), **more}


def _leg(leg: str, x: float, y: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    out = 0.05 if y > 0 else -0.05
    hip, knee = [x, y + out, 0.0], [x, y + out, -UPPER]
    ball = {"sphere": {"radius": 0.03}, "density": 1200, "group": ROBOT, "mask": 0}
    bodies = [
        {"name": f"{leg} hip", "position": [x, y, 0.0], "shapes": [ball]},
        _link(f"{leg} thigh", hip, UPPER, 1500.0),
        _link(f"{leg} calf", knee, LOWER, 800.0),
    ]
    joints = [
        _hinge(f"{leg} hip", "trunk", f"{leg} hip", [x, y, 0], [1, 0, 0], low=[-0.8], high=[0.8], effort_max=[15]),
        _hinge(f"{leg} thigh", f"{leg} hip", f"{leg} thigh", hip, [0, 1, 0], low=[-0.7], high=[2.5], effort_max=[15]),
        _hinge(f"{leg} knee", f"{leg} thigh", f"{leg} calf", knee, [0, 1, 0], low=[-2.6], high=[-0.4], effort_max=[15]),
    ]
    return bodies, joints


def _pup() -> dict[str, Any]:
    box = {"box": {"half_extents": [0.2, 0.07, 0.04]}, "density": 900, "material": "rubber", "group": ROBOT}
    legs = [_leg(leg, x, y) for leg, (x, y) in HIPS.items()]
    return {
        "name": "pup",
        "materials": [{"name": "rubber", "friction": 1.0}],
        "bodies": [{"name": "trunk", "shapes": [box]}, *(body for bodies, _ in legs for body in bodies)],
        "joints": [joint for _, joints in legs for joint in joints],
    }


# 5 kg on four legs of three joints; its feet are the round ends of its calves
PUP = Robot(
    model=_pup(),
    trunk="trunk",
    feet=["FL calf", "FR calf", "RL calf", "RR calf"],
    stance={"hip": 0.0, "thigh": 0.8, "knee": -1.6},
    height=2 * 0.16 * 0.6967067 + THICK,  # cos 0.8
    lift={"thigh": 0.3, "knee": -0.6},
    stride={"thigh": -5.5},
    sway={"hip": 5.5},
    stiffness=100.0,
    damping=2.5,
)
