# SPDX-License-Identifier: MIT
"""An environment of a robot's file, without a class of one's own.

    def upright(moment):
        return moment.observation[:, 0] - 0.01 * np.square(moment.action).sum(axis=1)

    env = moreau_sim.gym.from_file("my_robot.xml", reward=upright,
        terminate=[channel("BODY_POSITION", "torso", axes=[2], low=0.2)], num_envs=1024)
"""

from __future__ import annotations

import json
import os
import pathlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .. import protocol as p
from ..group import channel
from ..importers import Control, Imported, load
from .environment import Environment, Moment
from .render import Camera
from .single import MoreauEnv
from .vector import MoreauVectorEnv

PERIOD = 0.02  # [s] of a step, where nobody says how many substeps it has
KINDS = {"effort": "JOINT_EFFORT", "target": "JOINT_TARGET", "target_velocity": "JOINT_TARGET_VELOCITY"}
# of joints that have no number of their own
STIFF = {"FIXED", "DISTANCE", "GEAR", "TENDON"}
FREE = "FREE"  # a joint that holds nothing
GROUND = {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}, "group": 0xFFFFFFFF}]}

Reward = Callable[[Moment], NDArray[np.float64]]


class FileEnvironment(Environment):
    """The description that from_file() makes.

    imported   what the importer says of the file: its losses, controls, key-frames; None of a scene's file
    """

    name = "FromFile"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        reward: Reward,
        action: Sequence[p.GroupChannel] | None = None,
        observation: Sequence[p.GroupChannel] | str | None = None,
        terminate: Sequence[p.GroupChannel] = (),
        extra: Sequence[p.GroupChannel] = (),
        noise: Sequence[p.GroupNoise] = (),
        step_limit: int = 1000,
        substeps: int | None = None,
        start: str | None = None,
        ground: bool = False,
        settings: Mapping[str, Any] | None = None,
        normalized: bool = True,
        camera: Camera | None = None,
        **how: Any,
    ) -> None:
        if callable(terminate) or not callable(reward):
            raise TypeError(
                "reward is a function of a Moment, for all worlds at once; terminate a list of channels with low and "
                "high, which the server judges in each step: it ends what leaves one"
            )
        path = pathlib.Path(path)
        self.imported = None if path.suffix == ".json" else load(path, **how)
        self.scene = _scene(path, self.imported, start, ground, settings or {})
        self.action = list(action) if action is not None else _actions(path, self.imported, normalized)
        self.observation = _observed(path, self.imported, self.scene, observation)
        self.bounds, self.extra, self.noise = list(terminate), list(extra), list(noise)
        self.step_limit = step_limit
        self.substeps = substeps or max(1, round(PERIOD / self.time_step))
        self.camera = camera or self.camera
        self._reward = reward

    def reward(self, moment: Moment) -> NDArray[np.float64]:
        return self._reward(moment)


def _scene(
    path: pathlib.Path, imported: Imported | None, start: str | None, ground: bool, settings: Mapping[str, Any]
) -> dict[str, Any]:
    scene: dict[str, Any]
    if imported is None:
        scene = json.loads(path.read_text())
    else:
        scene = json.loads(json.dumps(imported.json)) if start is None else imported.at(start)
        if not imported.verdict.startswith("usable: nothing physical"):
            warnings.warn(f"{path.name}: {imported.verdict}", stacklevel=4)
    scene["settings"] = scene.get("settings", {}) | dict(settings)
    if ground:
        scene["bodies"] = [*scene.get("bodies", []), GROUND]
    return scene


def _action(control: Control, is_normalized: bool) -> p.GroupChannel:
    bounds = {name: number for name in ("low", "high") if np.isfinite(number := getattr(control, name))}
    scale, offset = control.scale, control.offset
    if is_normalized and len(bounds) == 2:
        half, middle = 0.5 * (control.high - control.low), 0.5 * (control.high + control.low)
        scale, offset = control.scale * half, offset + control.scale * middle
        bounds = {"low": -1.0, "high": 1.0}
    kind = KINDS[control.quantity]
    return channel(kind, control.joint, axes=[control.axis], scale=scale, offset=offset, **bounds)


def _actions(path: pathlib.Path, imported: Imported | None, is_normalized: bool) -> list[p.GroupChannel]:
    """The model's control numbers, in their order."""
    if imported is None or not imported.controls:
        raise ValueError(f"{path.name} has no actuators: say what an action does, action=[channel(…)]")
    return [_action(control, is_normalized) for control in imported.controls]


def _observed(
    path: pathlib.Path,
    imported: Imported | None,
    scene: Mapping[str, Any],
    wanted: Sequence[p.GroupChannel] | str | None,
) -> list[p.GroupChannel]:
    if wanted is None:
        return _observations(scene)
    if not isinstance(wanted, str):
        return list(wanted)
    if wanted != "sensors":
        raise ValueError(f'observation is a list of channels, or "sensors", not {wanted!r}')
    if imported is None or not imported.sensors:
        raise ValueError(f"{path.name} has no sensors that are channels: say what is seen, observation=[channel(…)]")
    return [channel(sensor.kind, sensor.of, **sensor.more) for sensor in imported.sensors]


def _observations(scene: Mapping[str, Any]) -> list[p.GroupChannel]:
    """Of bodies that are free height, rotation and rates in their own axes; then places and rates of joints."""
    joints = [one for one in scene.get("joints", []) if one.get("kind", "HINGE") not in {*STIFF, FREE}]
    held = {one.get("body_b") for one in scene.get("joints", []) if one.get("kind") != FREE}
    free = [
        body["name"]
        for body in scene.get("bodies", [])
        if body.get("kind", "DYNAMIC") == "DYNAMIC" and body["name"] not in held
    ]
    seen = []
    for body in free:
        seen.append(channel("BODY_POSITION", body, axes=[2]))
        seen += [channel(kind, body) for kind in ("BODY_ROTATION", "BODY_LOCAL_VELOCITY", "BODY_LOCAL_SPIN")]
    for kind in ("JOINT_POSITION", "JOINT_VELOCITY"):
        seen += [channel(kind, joint["name"]) for joint in joints]
    return seen


_OF_DESCRIPTION = {
    "reward", "action", "observation", "terminate", "extra", "noise", "step_limit", "substeps", "start", "ground",
    "settings", "camera", "normalized", "package_path", "free_base", "self_collisions", "strict", "arguments",
    "collision_group",
}  # fmt: skip


@overload
def from_file(path: str | os.PathLike[str], *, num_envs: None = None, **options: Any) -> MoreauEnv: ...
@overload
def from_file(path: str | os.PathLike[str], *, num_envs: int, **options: Any) -> MoreauVectorEnv: ...
def from_file(
    path: str | os.PathLike[str], *, num_envs: int | None = None, **options: Any
) -> MoreauEnv | MoreauVectorEnv:
    """An environment of an MJCF or URDF file, or a scene's (.json): of one world, or, with num_envs, of so many.

    reward        a function of a Moment, which has all worlds, to an array of a number each
    observation   channels; default: of each body that nothing holds its height, rotation, and velocity and spin in its
                  own axes; then positions of all joints, and then their rates
                  "sensors": the file's, in their order, as far as they are channels
    action        channels; default: the model's control numbers, in their order, each from -1 to 1 for its range;
                  normalized=False: as the model has them
    terminate     channels with low and high: leaving them ends an episode
    extra, noise  channels that the Moment has beside the observation; what a reset draws
    step_limit    of an episode; default 1,000
    substeps      steps of the world per step; default: as many as come nearest to 1/50 s
    start         a key-frame of the file, to begin in
    ground        a plane at z = 0 is added, which everything touches
    settings      settings of the world, instead of the file's: {"time_step": 0.005}
    camera        of what render() draws
    package_path, free_base, self_collisions, strict, arguments, collision_group   as importers.load() has them

    All else is as MoreauVectorEnv and MoreauEnv have it: address, workers, autoreset_mode, render_mode, record …
    What the file has and a scene cannot say is a warning, if it is physical; env.environment.imported says all of it.
    """
    of_description = {name: options.pop(name) for name in list(options) if name in _OF_DESCRIPTION}
    if "reward" not in of_description:
        raise TypeError("reward: say what a step pays, a function of a Moment to an array")
    description = FileEnvironment(path, **of_description)
    if num_envs is None:
        return MoreauEnv(description, **options)
    return MoreauVectorEnv(description, num_envs, **options)
