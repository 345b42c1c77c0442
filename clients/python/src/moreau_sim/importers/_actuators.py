# SPDX-License-Identifier: MIT
"""Actuators: forces fed forward along an axis, and drives towards targets, at once or behind a lag.

Of MuJoCo's affine law, force = gain control + constant + stiffness length + damping velocity, stiffness and damping are
those of a drive, and the control number moves its target or its rate where the gain is theirs; else it is fed forward
beside it. An activation of first order is a lag of the joint's commands. It acts as it was at the begin of the step,
unless the actuator is early, and so is behind a delay of one step.

What pulls along a fixed tendon acts on joints. Where that is one, or others are tied to it, it is an actuator of that
one, of another gear; else of the scene's tendon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._findings import Findings, Weight
from ._joints import Joints, Numbers
from ._tendons import Tendons

Target = tuple[str, int]  # "joint" or "tendon", and which of the model's
NOTHING: Target = ("", -1)


@dataclass
class Control:
    """What a control number of the model is here: `quantity` of an axis of a joint is scale times it, and offset."""

    name: str
    joint: str  # of the scene, or a tendon
    axis: int  # of that joint's, from 0
    quantity: str  # "effort", "target" or "target_velocity": a column of joints
    scale: float
    low: float  # of the control number; -inf, inf: not limited
    high: float
    velocity_max: float = float("inf")  # of the axis, as URDF says it; nothing here keeps to it
    offset: float = 0.0


class Actuators:
    def __init__(
        self, mujoco: Any, joints: Joints, tendons: Tendons, findings: Findings, ties: Mapping[int, tuple[int, float]]
    ) -> None:
        """`ties`: of joints that are held at multiples of others, those and the ratios."""
        self.mujoco = mujoco
        self.model = joints.model
        self.joints = joints
        self.tendons = tendons
        self.findings = findings
        self._on = [self._reach(actuator, ties) for actuator in range(len(self.model.actuator_trntype))]
        self.controls: list[Control] = []
        self._scene = {joint["name"]: joint for joint in joints.scene}
        self._ranges: dict[tuple[str, int, str], tuple[float, float]] = {}  # of forces: joint, axis, what they are of
        self._lag: dict[Target, tuple[float, bool]] = {}  # of all actuators of one, whether it is early
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
        self._keep_ranges()
        # what several drive together has one stiffness and one damping: each moves its targets by its share
        for control in self.controls:
            column = {"target": "drive_stiffness", "target_velocity": "drive_damping"}.get(control.quantity)
            if column is not None:
                control.scale /= self._scene[control.joint][column][control.axis]
        # what is there of a column beside control numbers goes with the first of them
        for control in reversed(self.controls):
            for other in self.controls:
                if (other.joint, other.axis, other.quantity) == (control.joint, control.axis, control.quantity):
                    other.offset = 0.0
            control.offset = self._scene[control.joint].get(control.quantity, self._none(control))[control.axis]
        # a number that is not told is 0, or what of its range is nearest to that
        for control in self.controls:
            first = min(max(0.0, control.low), control.high)
            self._add(Numbers(control.joint, 0, control.axis, 1), control.quantity, control.scale * first)

    def name(self, actuator: int) -> str:
        return self.model.actuator(actuator).name or f"actuator {actuator}"

    def _reach(self, actuator: int, ties: Mapping[int, tuple[int, float]]) -> tuple[Target, float]:
        """What it acts on, and the gear at which it does."""
        m, of = self.model, self.mujoco.mjtTrn
        kind, which = int(m.actuator_trntype[actuator]), int(m.actuator_trnid[actuator][0])
        gear = float(m.actuator_gear[actuator][0])
        if kind in (int(of.mjTRN_JOINT), int(of.mjTRN_JOINTINPARENT)):
            return ("joint", which), gear
        if kind != int(of.mjTRN_TENDON):
            return NOTHING, gear
        ends = self.tendons.ends(which)
        shares: dict[int, float] = {}
        for joint, share in ends or ():
            for _ in range(len(ties)):  # at most: of a circle of ties none would be the last
                if joint in ties:
                    joint, share = ties[joint][0], share * ties[joint][1]
            shares[joint] = shares.get(joint, 0.0) + share
        pulled = [(joint, share) for joint, share in shares.items() if share != 0.0]
        return (("joint", pulled[0][0]), gear * pulled[0][1]) if len(pulled) == 1 else (("tendon", which), gear)

    def _numbers(self, target: Target) -> Numbers:
        kind, which = target
        if kind == "joint":
            return self.joints.numbers[which]
        numbers = self.tendons.numbers(which)
        self._width[numbers.joint] = 1
        self._scene[numbers.joint] = next(one for one in self.tendons.scene if one["name"] == numbers.joint)
        return numbers

    def _unsupported(self, actuator: int) -> str:
        m, of = self.model, self.mujoco
        target = self._on[actuator][0]
        kind, which = target
        if target == NOTHING:
            return "on what is no joint"
        if kind == "tendon" and self.tendons.ends(which) is None:
            return "on tendons that are no sum of joints"
        if kind == "joint" and which not in self.joints.numbers:
            return "on free joints"
        if kind == "joint" and self.joints.numbers[which].width > 1:
            return {3: "on ball joints", 6: "on free joints"}[self.joints.numbers[which].width]
        first_order = (int(of.mjtDyn.mjDYN_FILTER), int(of.mjtDyn.mjDYN_FILTEREXACT))
        if int(m.actuator_dyntype[actuator]) not in (int(of.mjtDyn.mjDYN_NONE), *first_order):
            return "with a state of their own"
        biases = (int(of.mjtBias.mjBIAS_NONE), int(of.mjtBias.mjBIAS_AFFINE))
        if (
            int(m.actuator_gaintype[actuator]) != int(of.mjtGain.mjGAIN_FIXED)
            or int(m.actuator_biastype[actuator]) not in biases
        ):
            return "whose force is not linear"
        _, (_, stiffness, damping) = self._law(actuator)
        if stiffness > 0.0 or damping > 0.0:
            return "whose force grows with place or velocity"
        if self._lag.setdefault(target, self._activation(actuator)) != self._activation(actuator):
            return "that lag otherwise than another of their joint"
        return ""

    def _activation(self, actuator: int) -> tuple[float, bool]:
        """The time constant of its activation, 0: none, and whether that acts as it is at the end of the step."""
        has_none = int(self.model.actuator_dyntype[actuator]) == int(self.mujoco.mjtDyn.mjDYN_NONE)
        lag = 0.0 if has_none else float(self.model.actuator_dynprm[actuator][0])
        return (lag, lag > 0.0 and bool(self.model.actuator_actearly[actuator]))

    def _quantity(self, actuator: int) -> str:
        gain, (_, stiffness, damping) = self._law(actuator)
        if stiffness != 0.0 and gain in (0.0, -stiffness):
            return "target"
        return "target_velocity" if stiffness == 0.0 and damping != 0.0 and gain in (0.0, -damping) else "effort"

    def _law(self, actuator: int) -> tuple[float, tuple[float, float, float]]:
        """force = gain control + constant + stiffness length + damping velocity"""
        has_bias = int(self.model.actuator_biastype[actuator]) == int(self.mujoco.mjtBias.mjBIAS_AFFINE)
        bias = [float(number) if has_bias else 0.0 for number in self.model.actuator_biasprm[actuator][:3]]
        return float(self.model.actuator_gainprm[actuator][0]), (bias[0], bias[1], bias[2])

    def _take(self, actuator: int) -> None:
        m = self.model
        target, gear = self._on[actuator]
        numbers = self._numbers(target)
        gain, (constant, stiffness, damping) = self._law(actuator)
        if gear == 0.0:
            self.findings.add("actuators with gear 0 do nothing", self.name(actuator), physical=False)
            return
        self._add(numbers, "effort", gear * constant)
        # a drive's force is over lengths of gear times the joint's, and acts gear times on it
        self._add(numbers, "drive_stiffness", -stiffness * gear * gear)
        self._add(numbers, "drive_damping", -damping * gear * gear)
        self._follow(actuator, numbers)
        low, high = (float(bound) for bound in m.actuator_ctrlrange[actuator])
        if not m.actuator_ctrllimited[actuator]:
            low, high = float("-inf"), float("inf")
        quantity = self._quantity(actuator)
        if m.actuator_forcelimited[actuator]:
            least, most = (float(bound) for bound in m.actuator_forcerange[actuator])
            is_alone = len(self._of_joint(target)) == 1
            is_plain = stiffness == damping == 0.0 and not self._lag[target][0]
            bounds = gear * least, gear * most
            if quantity == "effort" and gain != 0.0 and (is_plain or not is_alone):
                told = sorted(((least - constant) / gain, (most - constant) / gain))
                low, high = max(low, told[0]), min(high, told[1])
                if not is_plain:
                    self._each_alone(target)
            elif is_alone and least < most and (quantity == "effort" or constant != 0.0) and target[0] == "joint":
                self._bound(numbers, *bounds, column="stall_effort")
            else:
                if target[0] == "tendon" and (quantity == "effort" or constant != 0.0):
                    sentence = "ranges of what is fed forward along tendons: the drive alone is bounded"
                    self.findings.add(sentence, self.name(actuator), _weight(actuator))
                self._bound(numbers, *bounds)
        self.controls.append(
            Control(self.name(actuator), numbers.joint, numbers.axis, quantity, gain * gear, low, high)
        )

    def _column(self, joint: str, column: str, default: float) -> list[float]:
        numbers: list[float] = self._scene[joint].setdefault(column, [default] * self._width[joint])
        return numbers

    def _add(self, numbers: Any, column: str, number: float) -> None:
        if number != 0.0:
            self._column(numbers.joint, column, 0.0)[numbers.axis] += number

    def _follow(self, actuator: int, numbers: Any) -> None:
        lag, is_early = self._lag[self._on[actuator][0]]
        if lag > 0.0:
            self._check_activation(actuator)
            self._column(numbers.joint, "lag_time", 0.0)[numbers.axis] = lag
            self._column(numbers.joint, "delay_steps", 0.0)[numbers.axis] = 0.0 if is_early else 1.0

    def _check_activation(self, actuator: int) -> None:
        """What follows a number within a range stays in it: then a range of what follows is none."""
        m = self.model
        if not m.actuator_actlimited[actuator]:
            return
        (least, most), (low, high) = m.actuator_actrange[actuator], m.actuator_ctrlrange[actuator]
        if not m.actuator_ctrllimited[actuator] or low < least or high > most:
            self.findings.add("ranges of activation", self.name(actuator), _weight(actuator))

    def _bound(self, numbers: Numbers, one: float, other: float, *, column: str = "effort_max") -> None:
        """By `stall_effort` all that acts, by `effort_max` the drive alone; after what bounded it before."""
        least, most = min(one, other), max(one, other)
        key = numbers.joint, numbers.axis, column
        low, high = self._ranges.get(key, (least, most))
        self._ranges[key] = min(max(low, least), most), min(max(high, least), most)

    def _keep_ranges(self) -> None:
        """Bounds are alike to both sides here. What is held between others, [c - e, c + e], is c and what is between
        -e and e of the rest: of a drive c is fed forward, and its target less by as much; of a motor it is a tendon's,
        which no motor bounds."""
        for (joint, axis, column), (low, high) in self._ranges.items():
            numbers = Numbers(joint, 0, axis, 1)
            middle, half = 0.5 * (low + high), 0.5 * (high - low)
            none = {"effort_max": 1e18, "stall_effort": 0.0}[column]
            self._column(joint, column, none)[axis] = half
            if middle == 0.0:
                continue
            if column == "stall_effort":
                self._add(numbers, "effort", -middle)
                self.tendons.push(joint, axis, middle)
                continue
            self._add(numbers, "effort", middle)
            for gain, shifted in (("drive_stiffness", "target"), ("drive_damping", "target_velocity")):
                number = self._scene[joint].get(gain, self._none(numbers))[axis]
                if number > 0.0:
                    self._add(numbers, shifted, -middle / number)
                    break

    def _none(self, of: Numbers | Control) -> list[float]:
        return [0.0] * self._width[of.joint]

    def _each_alone(self, target: Target) -> None:
        self.findings.add(
            "ranges of force of joints with several actuators: each is bounded alone",
            self._numbers(target).joint,
            [weight for actuator in self._of_joint(target) for weight in _weight(actuator)],
        )

    def _of_joint(self, target: Target) -> list[int]:
        return [actuator for actuator, (on, _) in enumerate(self._on) if on == target]

    def _limit_efforts(self) -> None:
        """Ranges of what all actuators of a joint do together: of one that is driven, the drive's."""
        for joint, numbers in self.joints.numbers.items():
            if not getattr(self.model, "jnt_actfrclimited", [False] * self.model.njnt)[joint]:
                continue
            least, most = (float(bound) for bound in self.model.jnt_actfrcrange[joint])
            scene = self._scene[numbers.joint]
            target = ("joint", joint)
            driving = self._of_joint(target)
            is_lagged = self._lag.get(target, (0.0, False))[0] > 0.0
            is_fed = any(self._quantity(actuator) == "effort" for actuator in driving)
            is_driven = "drive_stiffness" in scene or "drive_damping" in scene
            is_mixed = len(driving) > 1 or is_lagged or (is_fed and is_driven)
            if numbers.width == 1 and driving and least < most and is_mixed:
                self._bound(numbers, least, most, column="stall_effort")
                continue
            if numbers.width == 1 and ("drive_stiffness" in scene or "drive_damping" in scene):
                self._bound(numbers, least, most)
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
                self._each_alone(target)


def _weight(actuator: int) -> list[Weight]:
    return [("actuators", actuator, 1.0)]
