# SPDX-License-Identifier: MIT
"""Worlds as RSL-RL has them: needs rsl-rl-lib.

    from moreau_sim.gym.rsl_rl import RSLWorlds

    runner = rsl_rl.runners.OnPolicyRunner(RSLWorlds("moreau_sim/Ant-v5", 256), config)
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from rsl_rl.env import VecEnv
from tensordict import TensorDict


class RSLWorlds(VecEnv):  # type: ignore[misc, unused-ignore]  # the gate does without its types
    """A Gymnasium vector environment as RSL-RL has them: episodes begin anew in the step that they end in. Actions are
    cut to the space; what is seen is the group "policy"; episodes that only their time has ended are "time_outs".

    id      of an environment, or worlds that were made with autoreset_mode="SameStep"
    seed    of the first episodes
    place   as MoreauVectorEnv and the description have them: address, record, ctrl_cost_weight …

    What a step tells of each world (`told` has all of it) goes into the log as its mean, for the names in `logged`.
    """

    device = "cpu"

    def __init__(
        self,
        id: str | gymnasium.vector.VectorEnv[Any, Any, Any],
        worlds: int = 1,
        seed: int | None = None,
        logged: tuple[str, ...] = (),
        **place: Any,
    ) -> None:
        same = AutoresetMode.SAME_STEP
        self.env = gymnasium.make_vec(id, num_envs=worlds, autoreset_mode=same, **place) if isinstance(id, str) else id
        mode = self.env.metadata.get("autoreset_mode")
        if mode is not same:
            raise ValueError(f"RSL-RL takes worlds that were made with autoreset_mode {same}, not {mode}")
        space = self.env.single_action_space
        if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1:
            raise ValueError(f"RSL-RL steers by numbers; the actions of these worlds are {space}")
        self.num_envs, self.num_actions = self.env.num_envs, space.shape[0]
        self.logged = logged
        self.told: dict[str, Any] = {}
        self.max_episode_length = int(self.env.unwrapped.worlds.step_limit)  # type: ignore[attr-defined]
        self.cfg: dict[str, Any] = {}
        self._low, self._high = space.low, space.high
        self._steps = torch.zeros(self.num_envs, dtype=torch.long)
        self._seen = self._see(self.env.reset(seed=seed)[0])

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """The steps of each episode so far."""
        return self._steps

    @episode_length_buf.setter
    def episode_length_buf(self, steps: torch.Tensor) -> None:
        raise ValueError("init_at_random_ep_len: the server counts the steps of its episodes; leave it False")

    def _see(self, observation: Any) -> TensorDict:
        seen = torch.as_tensor(np.asarray(observation)).float()
        return TensorDict({"policy": seen}, batch_size=[self.num_envs], device=self.device)

    def get_observations(self) -> TensorDict:
        return self._seen

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        within = np.clip(actions.detach().numpy(), self._low, self._high)
        observation, reward, terminated, truncated, self.told = self.env.step(within)
        over = torch.as_tensor(terminated | truncated)
        self._steps = (self._steps + 1) * ~over
        self._seen = self._see(observation)
        means = {f"/{name}": float(np.mean(self.told[name])) for name in self.logged if name in self.told}
        extras = {"time_outs": torch.as_tensor(truncated & ~terminated), "log": means}
        return self._seen, torch.as_tensor(reward).float(), over.long(), extras

    def close(self) -> None:
        self.env.close()
