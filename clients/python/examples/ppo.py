#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Learns an environment with Stable-Baselines3's PPO, whose VecEnv a group of worlds becomes.

    pip install 'moreau-sim[gym]' stable-baselines3
    python examples/ppo.py [moreau_sim/CartPole-v0] [--worlds 64] [--steps 200000] [--address 127.0.0.1:7667] [--record
    NAME]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize

import moreau_sim.gym  # noqa: F401  # its environments


class SB3Worlds(VecEnv):
    """A Gymnasium vector environment as Stable-Baselines3 has them: episodes begin anew in the step that they end in,
    and what was seen last is in the info of that step."""

    def __init__(self, id: str, worlds: int, **place: Any) -> None:
        self.env = gymnasium.make_vec(id, num_envs=worlds, autoreset_mode="SameStep", **place)
        super().__init__(worlds, self.env.single_observation_space, self.env.single_action_space)

    def reset(self) -> np.ndarray:
        seed = None if self._seeds[0] is None else int(self._seeds[0])
        self._reset_seeds()
        return np.asarray(self.env.reset(seed=seed)[0])

    def step_async(self, actions: np.ndarray) -> None:
        self.actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        observations, rewards, terminated, truncated, infos = self.env.step(self.actions)
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

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper], indices: Any = None) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))

    def get_images(self) -> Sequence[np.ndarray | None]:
        return list(self.env.render()) if self.env.render_mode else [None] * self.num_envs


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("id", nargs="?", default="moreau_sim/CartPole-v0")
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200_000, help="of all worlds together")
    parser.add_argument("--rate", type=float, default=1e-3, help="of learning, at the beginning; it falls to zero")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--address", help="of a server; default: one is started")
    parser.add_argument("--record", help="keep every finished episode in the server's file, under this name")
    parser.add_argument("--save", help="a file for the policy, FILE.zip, and one for its scales")
    arguments = parser.parse_args()
    place = {"address": arguments.address} if arguments.address else {}

    torch.set_num_threads(1)  # small networks are slower on many
    record = {"record": arguments.record} if arguments.record else {}
    worlds = VecNormalize(VecMonitor(SB3Worlds(arguments.id, arguments.worlds, **place, **record)))
    learner = PPO(
        "MlpPolicy",
        worlds,
        n_steps=max(16, 4096 // arguments.worlds),
        batch_size=512,
        learning_rate=lambda left: arguments.rate * left,
        policy_kwargs={"log_std_init": -0.5},
        seed=arguments.seed,
        device="cpu",
    )
    begun = time.monotonic()
    learner.learn(arguments.steps)
    took = time.monotonic() - begun
    worlds.training = worlds.norm_reward = False
    returned, spread = evaluate_policy(learner, worlds, 100)
    print(
        f"mean return {returned:.4g} +- {spread:.3g} after {arguments.steps:,} steps in {took:.0f} s "
        f"({arguments.steps / took:,.0f} steps/s)"
    )
    if arguments.save:
        learner.save(arguments.save)
        worlds.save(arguments.save + ".scales")  # what observations are divided by
    worlds.close()


if __name__ == "__main__":
    main()
