# SPDX-License-Identifier: MIT
"""Worlds as Stable-Baselines3 has them: needs stable-baselines3.

    from moreau_sim.gym.sb3 import SB3Worlds

    learner = stable_baselines3.PPO("MlpPolicy", SB3Worlds("moreau_sim/Hopper-v5", 64))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv


class SB3Worlds(VecEnv):  # type: ignore[misc, unused-ignore]  # the gate does without its types
    """A Gymnasium vector environment as Stable-Baselines3 has them: episodes begin anew in the step that they end in,
    and what was seen last is in the info of that step.

    id      of an environment, or worlds that were made with autoreset_mode="SameStep"
    place   as MoreauVectorEnv and the description have them: address, record, ctrl_cost_weight …

    `told` is what the last step said of all worlds at once: opinions, and what rewards are made of.
    """

    def __init__(self, id: str | gymnasium.vector.VectorEnv[Any, Any, Any], worlds: int = 1, **place: Any) -> None:
        same = AutoresetMode.SAME_STEP
        self.env = gymnasium.make_vec(id, num_envs=worlds, autoreset_mode=same, **place) if isinstance(id, str) else id
        mode = self.env.metadata.get("autoreset_mode")
        if mode is not same:
            raise ValueError(f"Stable-Baselines3 takes worlds that were made with autoreset_mode {same}, not {mode}")
        self.told: dict[str, Any] = {}
        super().__init__(self.env.num_envs, self.env.single_observation_space, self.env.single_action_space)

    def reset(self) -> NDArray[Any]:
        seed = None if self._seeds[0] is None else int(self._seeds[0])
        self._reset_seeds()
        return np.asarray(self.env.reset(seed=seed)[0])

    def step_async(self, actions: NDArray[Any]) -> None:
        self.actions = actions

    def step_wait(self) -> tuple[Any, NDArray[Any], NDArray[Any], list[dict[str, Any]]]:
        observations, rewards, terminated, truncated, infos = self.env.step(self.actions)
        self.told = infos
        ended = terminated | truncated
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for world in np.flatnonzero(ended):
            each[world] = {
                "terminal_observation": infos["final_obs"][world],
                "TimeLimit.truncated": bool(truncated[world] and not terminated[world]),
            }
        return observations, rewards.astype(np.float32), ended, each

    def close(self) -> None:
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.env, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError("worlds of a group have no attributes of their own")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        return [getattr(self.env, method_name)(*args, **kwargs)] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))

    def get_images(self) -> Sequence[NDArray[Any] | None]:
        pictures: Any = self.env.render() if self.env.render_mode else [None] * self.num_envs
        return list(pictures)
