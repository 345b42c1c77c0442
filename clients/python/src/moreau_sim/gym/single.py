# SPDX-License-Identifier: MIT
"""One world of an environment, as Gymnasium's environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ..group import Columns
from .environment import Environment
from .worlds import Worlds


class MoreauEnv(gymnasium.Env[Any, Any]):
    """One world of a description on a server; arguments as MoreauVectorEnv's."""

    def __init__(
        self,
        environment: Environment,
        *,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        **place: Any,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode {render_mode!r}: there is 'rgb_array'")
        self.environment = environment
        self.render_mode = render_mode
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(1.0 / environment.time_step)}
        self.worlds = Worlds(
            environment, 1, "DISABLED", is_drawn=render_mode is not None, step_limit=max_episode_steps, **place
        )
        group = self.worlds.group
        self.action_space = environment.action_space(group.action)
        self.observation_space = environment.observation_space(group.observation, group.dtype)
        self._shape = np.shape(np.asarray(self.action_space.sample()))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode: the next one, or episode 0 of a seed.

        options["values"] is what is added to the scene instead of what would be drawn: a number for each column of
        `noise`.
        """
        super().reset(seed=seed)
        if seed is None:
            # unlike worlds of a vector, a single one draws from its generator, as Gymnasium has it
            seed = int(self.np_random.integers(2**63))
        values = (options or {}).get("values")
        observation, told = self.worlds.reset(None, seed, None if values is None else np.asarray(values)[None])
        return observation[0], {name: numbers[0] for name, numbers in told.items()}

    @property
    def noise(self) -> Columns:
        """What a reset draws: the names of the numbers, and within what they are."""
        noise: Columns = self.worlds.group.noise
        return noise

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step. An action that is not finite, or not of the space's shape, is a ValueError."""
        numbers = np.asarray(action)
        if numbers.shape != self._shape:
            raise ValueError(f"action: an array of shape {self._shape} is asked for, not {numbers.shape}")
        outcome = self.worlds.step(numbers[None])
        info = {name: values[0] for name, values in outcome.info.items()}
        if outcome.failures:
            info["failure"] = outcome.failures[0]
        return (
            outcome.observation[0],
            float(outcome.reward[0]),
            bool(outcome.terminated[0]),
            bool(outcome.truncated[0]),
            info,
        )

    def render(self) -> NDArray[np.uint8] | None:
        """A picture of the world, as it was last seen."""
        return None if self.render_mode is None else self.worlds.draw(0)

    def close(self) -> None:
        """Ends the world."""
        self.worlds.close()

    def __del__(self) -> None:
        if hasattr(self, "worlds"):
            self.close()
