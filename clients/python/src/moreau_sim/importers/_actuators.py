# SPDX-License-Identifier: MIT
"""Actuators: forces fed forward along an axis, and drives towards targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._findings import Findings, Weight
from ._joints import Joints


@dataclass
class Control:
    """What a control number of the model is here: `quantity` of an axis of a joint is scale times it."""

    name: str
    joint: str  # of the scene
    axis: int  # of that joint's, from 0
    quantity: str  # "effort", "target" or "target_velocity": a column of joints
    scale: float
    low: float  # of the control number; -inf, inf: not limited
    high: float
    velocity_max: float = float("inf")  # of the axis, as URDF says it; nothing here keeps to it


class Actuators:
    def __init__(self, mujoco: Any, joints: Joints, findings: Findings) -> None:
        self.mujoco = mujoco
        self.model = joints.model
        self.joints = joints
        self.findings = findings
        self.controls: list[Control] = []
        self._scene = {joint["name"]: joint for joint in joints.scene}
        self._width = {numbers.joint: 0 for numbers in joints.numbers.values()}
        for numbers in joints.numbers.values():
            self._width[numbers.joint] += numbers.width
        for actuator in range(len(self.model.actuator_trntype)):
            findings.has("actuators", actuator)
            reason = self._unsupported(actuator)
            if reason:
                findings.add(f"actuators {reason} do nothing", self.name(actuator), _weight(actuator))
            else:
                self._take(actuator)
        self._limit_efforts()
        # what several drive together has one stiffness and one damping: each moves its targets by its share
        for control in self.controls:
            column = {"target": "drive_stiffness", "target_velocity": "drive_damping"}.get(control.quantity)
            if column is not None:
                control.scale /= self._scene[control.joint][column][control.axis]

    def name(self, actuator: int) -> str:
        return self.model.actuator(actuator).name or f"actuator {actuator}"

    def _unsupported(self, actuator: int) -> str:
        m, of = self.model, self.mujoco
        target = int(m.actuator_trnid[actuator][0])
        if int(m.actuator_trntype[actuator]) not in (int(of.mjtTrn.mjTRN_JOINT), int(of.mjtTrn.mjTRN_JOINTINPARENT)):
            return "on what is no joint"
        if target not in self.joints.numbers:
            return "on free joints"
        if self.joints.numbers[target].width > 1:
            return "on ball joints"
        if int(m.actuator_dyntype[actuator]) != int(of.mjtDyn.mjDYN_NONE):
            return "with a state of their own"
        biases = (int(of.mjtBias.mjBIAS_NONE), int(of.mjtBias.mjBIAS_AFFINE))
        if (
            int(m.actuator_gaintype[actuator]) != int(of.mjtGain.mjGAIN_FIXED)
            or int(m.actuator_biastype[actuator]) not in biases
        ):
            return "whose force is not linear"
        gain, (_, stiffness, damping) = self._law(actuator)
        if stiffness > 0.0 or damping > 0.0 or (gain != 0.0 and stiffness != 0.0 and gain != -stiffness):
            return "that are neither a force, a position nor a velocity"
        if gain != 0.0 and stiffness == 0.0 and damping != 0.0 and gain != -damping:
            return "that are neither a force, a position nor a velocity"
        return ""

    def _law(self, actuator: int) -> tuple[float, tuple[float, float, float]]:
        """force = gain control + constant + stiffness length + damping velocity"""
        has_bias = int(self.model.actuator_biastype[actuator]) == int(self.mujoco.mjtBias.mjBIAS_AFFINE)
        bias = [float(number) if has_bias else 0.0 for number in self.model.actuator_biasprm[actuator][:3]]
        return float(self.model.actuator_gainprm[actuator][0]), (bias[0], bias[1], bias[2])

    def _take(self, actuator: int) -> None:
        m = self.model
        numbers = self.joints.numbers[int(m.actuator_trnid[actuator][0])]
        gear = float(m.actuator_gear[actuator][0])
        gain, (constant, stiffness, damping) = self._law(actuator)
        if gear == 0.0:
            self.findings.add("actuators with gear 0 do nothing", self.name(actuator), physical=False)
            return
        self._add(numbers, "effort", gear * constant)
        # a drive's force is over lengths of gear times the joint's, and acts gear times on it
        self._add(numbers, "drive_stiffness", -stiffness * gear * gear)
        self._add(numbers, "drive_damping", -damping * gear * gear)
        low, high = (float(bound) for bound in m.actuator_ctrlrange[actuator])
        if not m.actuator_ctrllimited[actuator]:
            low, high = float("-inf"), float("inf")
        quantity = "target" if stiffness != 0.0 else "target_velocity" if damping != 0.0 else "effort"
        if m.actuator_forcelimited[actuator]:
            least, most = (float(bound) for bound in m.actuator_forcerange[actuator])
            if quantity == "effort" and gain != 0.0:
                bounds = sorted(((least - constant) / gain, (most - constant) / gain))
                low, high = max(low, bounds[0]), min(high, bounds[1])
            else:
                self._bound(numbers, abs(gear) * max(abs(least), abs(most)), least == -most, actuator)
        self.controls.append(
            Control(self.name(actuator), numbers.joint, numbers.axis, quantity, gain * gear, low, high)
        )

    def _column(self, joint: str, column: str, default: float) -> list[float]:
        numbers: list[float] = self._scene[joint].setdefault(column, [default] * self._width[joint])
        return numbers

    def _add(self, numbers: Any, column: str, number: float) -> None:
        if number != 0.0:
            self._column(numbers.joint, column, 0.0)[numbers.axis] += number

    def _bound(self, numbers: Any, most: float, is_symmetric: bool, actuator: int) -> None:
        if not is_symmetric:
            sentence = "ranges of force that are not symmetric: the larger bound is taken for both"
            self.findings.add(sentence, self.name(actuator), _weight(actuator))
        column = self._column(numbers.joint, "effort_max", 1e18)
        column[numbers.axis] = min(column[numbers.axis], most)

    def _of_joint(self, joint: int) -> list[int]:
        on_joints = (int(self.mujoco.mjtTrn.mjTRN_JOINT), int(self.mujoco.mjtTrn.mjTRN_JOINTINPARENT))
        return [
            actuator
            for actuator, (kind, target) in enumerate(zip(self.model.actuator_trntype, self.model.actuator_trnid))
            if int(kind) in on_joints and int(target[0]) == joint
        ]

    def _limit_efforts(self) -> None:
        """Ranges of what all actuators of a joint do together: of one that is driven, the drive's."""
        for joint, numbers in self.joints.numbers.items():
            if not getattr(self.model, "jnt_actfrclimited", [False] * self.model.njnt)[joint]:
                continue
            least, most = (float(bound) for bound in self.model.jnt_actfrcrange[joint])
            scene = self._scene[numbers.joint]
            if numbers.width == 1 and ("drive_stiffness" in scene or "drive_damping" in scene):
                for actuator in self._of_joint(joint):
                    self._bound(numbers, max(abs(least), abs(most)), least == -most, actuator)
            moving = [
                c
                for c in self.controls
                if c.joint == numbers.joint and c.axis == numbers.axis and c.quantity == "effort"
            ]
            for control in moving:
                bounds = (
                    sorted((least / control.scale, most / control.scale))
                    if control.scale
                    else [control.low, control.high]
                )
                control.low, control.high = max(control.low, bounds[0]), min(control.high, bounds[1])
            if len(moving) > 1:
                self.findings.add(
                    "ranges of force of joints with several actuators: each is bounded alone",
                    self.joints.name(joint),
                    [weight for actuator in self._of_joint(joint) for weight in _weight(actuator)],
                )


def _weight(actuator: int) -> list[Weight]:
    return [("actuators", actuator, 1.0)]
