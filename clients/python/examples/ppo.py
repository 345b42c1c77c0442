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

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from moreau_sim.gym.sb3 import SB3Worlds


def learner_of(id: str, count: int, seed: int, rate: float, **place: str) -> PPO:
    torch.set_num_threads(1)  # small networks are slower on many
    return PPO(
        "MlpPolicy",
        VecNormalize(VecMonitor(SB3Worlds(id, count, **place))),
        n_steps=max(16, 4096 // count),
        batch_size=512,
        learning_rate=lambda left: rate * left,
        policy_kwargs={"log_std_init": -0.5},
        seed=seed,
        device="cpu",
    )


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("id", nargs="?", default="moreau_sim/CartPole-v0")
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200_000, help="of all worlds together")
    parser.add_argument("--rate", type=float, default=1e-3, help="of learning, at the beginning; it falls to zero")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--address", help="of a server; default: one is started")
    parser.add_argument("--record", help="keep every finished episode in the server's file, under this name")
    parser.add_argument("--save", help="a file for the policy, FILE.zip, and one for its scales")
    arguments = parser.parse_args(argv)
    place = {name: value for name in ("address", "record") if (value := getattr(arguments, name))}
    learner = learner_of(arguments.id, arguments.worlds, arguments.seed, arguments.rate, **place)
    worlds = learner.get_env()
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
    return float(returned)


if __name__ == "__main__":
    main()
