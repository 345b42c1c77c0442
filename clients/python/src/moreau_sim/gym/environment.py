# SPDX-License-Identifier: MIT
"""What an environment is: a scene, what goes into it, what is seen of it, how it begins and ends, what it pays.

    class Balance(Environment):
        name = "Balance"
        scene = {"bodies": […], "joints": […]}
        action = [channel("JOINT_EFFORT", "rail", scale=10, low=-1, high=1)]
        observation = [channel("JOINT_POSITION", "rail", low=-5, high=5), channel("JOINT_VELOCITY", "rail", low=-9,
        high=9)] noise = [uniform("JOINT_POSITION", "rail", -0.1, 0.1)] step_limit = 500

        def reward(self, moment):
            return 1.0 - np.abs(moment.observation[:, 0])

    moreau_sim.gym.register(Balance)
    worlds = gymnasium.make_vec("moreau_sim/Balance-v0", num_envs=4096)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .. import protocol as p
from ..group import Columns, Rows
from .render import Camera
from .starts import Starts

# what GroupChannel takes for unbounded
UNBOUNDED = 3.4e38


class Moment(NamedTuple):
    """One step of worlds, a row each: what rewards are made of. Of an episode that ended, `observation` and `extra`
    are its last, whatever the autoreset."""

    observation: NDArray[Any]  # as the server gives it, before observe()
    extra: NDArray[Any]
    before: NDArray[Any]  # the extra of the step before, or of the reset
    action: NDArray[Any]  # as the environment was given it
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    time_step: float  # [s] from one observation to the next


class _Plain:
    """Each episode as start() draws it."""

    is_memoryless = True

    def __init__(self, start: Callable[[np.random.Generator], Any]) -> None:
        self._start = start

    def watch(self, rows: Rows) -> None:
        pass

    def draw(self, world: int, episode: int, stream: np.random.Generator) -> Any:
        return self._start(stream)


class Environment:
    """A description; derive from it. Methods work on all worlds at once."""

    name: ClassVar[str]
    version: ClassVar[int] = 0
    scene: Mapping[str, Any]
    action: Sequence[p.GroupChannel]
    observation: Sequence[p.GroupChannel]  # with low and high: they become the space
    extra: Sequence[p.GroupChannel] = ()  # what rewards need beside the observation
    bounds: Sequence[p.GroupChannel] = ()  # leaving them ends an episode
    noise: Sequence[p.GroupNoise] = ()
    pushes: Sequence[p.GroupPush] = ()  # at random moments, where nobody says otherwise
    substeps: int = 1  # of the world per step
    step_limit: int  # after so many steps an episode is truncated
    double_precision: bool = False  # rows of doubles, where nobody says otherwise
    reward_threshold: float | None = None  # a return at which it counts as solved, if there is one
    camera: Camera = Camera()

    def action_space(self, columns: Columns) -> gymnasium.Space[Any]:
        return _box(columns, np.dtype(np.float32))

    def observation_space(self, columns: Columns, dtype: np.dtype[Any]) -> gymnasium.Space[Any]:
        return _box(columns, dtype)

    def act(self, action: NDArray[Any]) -> NDArray[Any]:
        """The action rows of actions."""
        return action

    def act_on(self, action: NDArray[Any], observation: NDArray[Any]) -> NDArray[Any]:
        """The same, where it depends on what was seen, as the server gives it."""
        return self.act(action)

    def observe(self, observation: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
        """What is seen, of the columns that the server gives: a row for each world, as observation_space() has it."""
        return observation

    def start(self, stream: np.random.Generator) -> Any:
        """How an episode begins that no noise can say: a number for each column of `noise`, drawn from the stream of
        that episode. Of a description that has it, worlds begin anew from here: a call more in steps in which episodes
        end."""
        raise NotImplementedError

    def starts(self, count: int) -> Starts | None:
        """What draws so for a number of worlds, and may go by what they have done; default: start(), where there is
        one."""
        return _Plain(self.start) if type(self).start is not Environment.start else None

    def begun(self, observation: NDArray[Any], extra: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """What is said of episodes that begin, as info() does of steps."""
        return {}

    def reward(self, moment: Moment) -> NDArray[np.float64]:
        """What a step pays."""
        raise NotImplementedError

    def info(self, moment: Moment) -> dict[str, NDArray[Any]]:
        """What else is said of a step: an array with a number for each world, by name."""
        return {}

    @property
    def time_step(self) -> float:
        """[s] from one observation to the next."""
        return float(self.scene.get("settings", {}).get("time_step", 1.0 / 240.0)) * self.substeps


def _box(columns: Columns, dtype: np.dtype[Any]) -> gymnasium.spaces.Box:
    low = np.where(columns.low <= -UNBOUNDED, -np.inf, columns.low).astype(dtype)
    high = np.where(columns.high >= UNBOUNDED, np.inf, columns.high).astype(dtype)
    return gymnasium.spaces.Box(low, high, dtype=dtype.type)
