# SPDX-License-Identifier: MIT
"""Fixed tendons, and what else couples joints: a sum of coefficients times positions, that has limits, a spring, a
damper and dry friction, that actuators pull at, or that is held."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._findings import Findings, Weight
from ._joints import Joints, Numbers

Ends = list[tuple[int, float]]  # joints of the model, and what a unit of each lengthens the tendon by

# what of a tendon a scene cannot say, where it is not as by default: 0
_ARRAYS = {
    "armature": "armature of tendons",
    "actfrclimited": "ranges of what actuators do along tendons",
    "stiffnesspoly": "stiffness of tendons that is not linear",
    "dampingpoly": "damping of tendons that is not linear",
    "springyield": "springs of tendons that yield",
}


class Tendons:
    """Joints of kind TENDON. `scene` has those that something acts along, or that somebody asked for."""

    def __init__(self, mujoco: Any, joints: Joints, findings: Findings) -> None:
        self.mujoco = mujoco
        self.model = joints.model
        self.joints = joints
        self.findings = findings
        self.scene: list[dict[str, Any]] = []
        self._names = {joint["name"] for joint in joints.scene}
        self._of: dict[int, Numbers] = {}
        self.used: set[int] = set()  # by what holds several together
        self.held: set[int] = set()  # at one length: what constrains it does nothing

    def name(self, tendon: int) -> str:
        return self.model.tendon(tendon).name or f"tendon {tendon}"

    def ends(self, tendon: int) -> Ends | None:
        """None: it is no sum of positions here."""
        m = self.model
        ends: Ends = []
        for wrap in range(int(m.tendon_adr[tendon]), int(m.tendon_adr[tendon] + m.tendon_num[tendon])):
            joint = int(m.wrap_objid[wrap])
            if int(m.wrap_type[wrap]) != int(self.mujoco.mjtWrap.mjWRAP_JOINT) or not self.is_single(joint):
                return None
            ends.append((joint, float(m.wrap_prm[wrap])))
        return ends

    def is_single(self, joint: int) -> bool:
        """Whether it has one number here."""
        numbers = self.joints.numbers.get(joint)
        return numbers is not None and numbers.width == 1

    def length(self, ends: Ends) -> float:
        """Where the model begins."""
        return sum(share * float(self.model.qpos0[self.model.jnt_qposadr[joint]]) for joint, share in ends)

    def hold(self, name: str, ends: Ends, length: float) -> None:
        """It has one length."""
        self._add(name, ends, {"low": [length], "high": [length]})

    def push(self, joint: str, axis: int, effort: float) -> None:
        """Along an axis of a joint of the scene, for ever, whatever else acts there."""
        name = f"{joint} pushed"
        while name in self._names:
            name += " tendon"
        self._names.add(name)
        self.scene.append(
            {"name": name, "kind": "TENDON", "coupled": [joint], "coupled_axes": [axis], "effort": [effort]}
        )

    def numbers(self, tendon: int) -> Numbers:
        """Where its length is in the scene, which then has it."""
        if tendon not in self._of:
            ends = self.ends(tendon)
            assert ends is not None
            columns = self._columns(tendon, tendon in self.held)
            self._of[tendon] = Numbers(self._add(self.name(tendon), ends, columns), 0, 0, 1)
        return self._of[tendon]

    def take(self) -> None:
        """Those that something acts along by itself. Where they are held that is what acts without constraints, too."""
        passive, constraining = ("stiffness", "damping"), ("frictionloss", "limited")
        for tendon in range(self.model.ntendon):
            names = passive if tendon in self.held else passive + constraining
            acting = any(self._has(tendon, name) for name in names)
            if tendon in self.held and not acting:
                continue
            if self.ends(tendon) is None:
                sentence = "tendons" if acting else "tendons that nothing acts along"
                self.findings.add(sentence, self.name(tendon), self.weights(tendon), physical=acting)
                continue
            if acting:
                self.numbers(tendon)
            elif tendon not in self._of and tendon not in self.used:
                self.findings.add("tendons that nothing acts along", self.name(tendon), physical=False)
            for name, sentence in _ARRAYS.items():
                if self._has(tendon, name):
                    self.findings.add(sentence, self.name(tendon), self.weights(tendon))

    def weights(self, tendon: int) -> list[Weight]:
        """The mass of what it pulls at."""
        m, of = self.model, self.mujoco.mjtWrap
        weights: list[Weight] = []
        for wrap in range(int(m.tendon_adr[tendon]), int(m.tendon_adr[tendon] + m.tendon_num[tendon])):
            kind, which = int(m.wrap_type[wrap]), int(m.wrap_objid[wrap])
            if kind == int(of.mjWRAP_JOINT):
                weights += self.joints.weights(which)
            elif kind == int(of.mjWRAP_SITE) and m.site_bodyid[which]:
                weights += self.joints.bodies.weights(int(m.site_bodyid[which]))
        return weights

    def _has(self, tendon: int, name: str) -> bool:
        return bool(np.any(getattr(self.model, f"tendon_{name}", np.zeros(self.model.ntendon))[tendon]))

    def _columns(self, tendon: int, is_held: bool) -> dict[str, list[float]]:
        m, off = self.model, self.joints.off
        low, high = (float(bound) for bound in m.tendon_range[tendon])
        short, long = (float(bound) for bound in m.tendon_lengthspring[tendon])
        columns: dict[str, float] = {}
        if m.tendon_limited[tendon] and not off["limits"] and not is_held:
            columns |= {"low": low, "high": high}
        stiffness = 0.0 if off["stiffness"] else float(np.ravel(m.tendon_stiffness[tendon])[0])
        if stiffness > 0.0:
            columns |= {"stiffness": stiffness, "rest": 0.5 * (short + long)}
            if short != long:
                sentence = "springs of tendons that are slack in a range: they are slack in the middle of it"
                self.findings.add(sentence, self.name(tendon), self.weights(tendon))
        damping = 0.0 if off["damping"] else float(np.ravel(m.tendon_damping[tendon])[0])
        friction = 0.0 if off["friction"] or is_held else float(m.tendon_frictionloss[tendon])
        columns |= {"damping": damping, "friction": friction}
        return {name: [number] for name, number in columns.items() if number != 0.0}

    def _add(self, name: str, ends: Ends, columns: dict[str, list[float]]) -> str:
        while name in self._names:
            name += " tendon"
        self._names.add(name)
        places = [self.joints.numbers[joint] for joint, _ in ends]
        tendon: dict[str, Any] = {"name": name, "kind": "TENDON", "coupled": [place.joint for place in places]}
        if any(place.axis for place in places):
            tendon["coupled_axes"] = [place.axis for place in places]
        self.scene.append(tendon | {"coefficients": [share for _, share in ends]} | columns)
        return name
