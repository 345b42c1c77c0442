#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Learns an environment by an evolution strategy, in NumPy alone: every world of a group tries a policy of its own, and the
best of them make the next generation.

    python examples/evolve.py [moreau_sim/CartPole-v0] [--seeds 5] [--address 127.0.0.1:7667] [--save policy.npz]

Each generation is one reset and one episode of all worlds. It is judged by the policy in their middle, on other episodes. A run ends when that is solved (CartPole: a mean return of 475; BlockPush: 90 % on the mark).
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import gymnasium
import numpy as np

import moreau_sim.gym  # noqa: F401  # its environments


@dataclass
class Recipe:
    tries: int  # policies of a generation
    episodes: int  # that each is tried on
    kept: int  # policies that the next generation is drawn about
    spread: float  # standard deviation of the weights of the first generation
    generations: int  # after which a run gives up
    solved: float  # by what is looked at: the mean return, or the share of successes
    judged: int = 100  # episodes that it is judged by


RECIPES = {
    "moreau_sim/CartPole-v0": Recipe(tries=64, episodes=2, kept=8, spread=1.0, generations=50, solved=475.0),
    "moreau_sim/BlockPush-v0": Recipe(tries=64, episodes=8, kept=8, spread=0.5, generations=100, solved=0.9),
}


def look(env: gymnasium.vector.VectorEnv) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of what is observed under random actions; what hardly moves is not blown up."""
    env.action_space.seed(0)
    seen = [env.reset(seed=0)[0]] + [env.step(env.action_space.sample())[0] for _ in range(50)]
    everything = np.concatenate(seen).astype(float)
    return everything.mean(axis=0), np.maximum(everything.std(axis=0), 0.05)


class Policy:
    """Numbers to actions, linearly. Weights come as rows, one for each world. Observations are measured in what they
    deviate by when nothing is known yet."""

    def __init__(self, env: gymnasium.vector.VectorEnv) -> None:
        self.is_choice = isinstance(env.single_action_space, gymnasium.spaces.Discrete)
        self.outputs = 1 if self.is_choice else env.single_action_space.shape[0]
        self.middle, self.scale = look(env)
        self.size = self.outputs * (len(self.middle) + 1)

    def act(self, weights: np.ndarray, observation: np.ndarray) -> np.ndarray:
        layer = weights.reshape(len(observation), -1, self.outputs)
        signal = np.einsum("wi,wio->wo", (observation - self.middle) / self.scale, layer[:, :-1]) + layer[:, -1]
        return (signal[:, 0] > 0.0).astype(np.int64) if self.is_choice else np.tanh(signal).astype(np.float32)


def play(env: gymnasium.vector.VectorEnv, policy: Policy, weights: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    """One episode of every world: what each returned, and whether it was a success, where the environment says so."""
    observation, _ = env.reset(seed=seed)
    returned, success = np.zeros(env.num_envs), None
    playing = np.ones(env.num_envs, dtype=bool)
    while playing.any():
        observation, reward, terminated, truncated, infos = env.step(policy.act(weights, observation))
        returned[playing] += reward[playing]
        if "success" in infos:
            success = np.zeros(env.num_envs) if success is None else success
            success[playing] = infos["success"][playing]
        playing &= ~(terminated | truncated)
    return returned, success


def judge(env: gymnasium.vector.VectorEnv, policy: Policy, weights: np.ndarray, seed: int) -> float:
    """What a policy reaches on episodes of its own: the share of successes, or the mean return."""
    returned, success = play(env, policy, np.tile(weights, (env.num_envs, 1)), seed)
    return float(returned.mean() if success is None else success.mean())


def learn(id: str, seed: int, address: str | None) -> tuple[float, np.ndarray]:
    """One run: what was reached, and the weights. The cross-entropy method: weights are drawn from a normal
    distribution, and the best of them make the next one."""
    recipe = RECIPES[id]
    rng = np.random.default_rng(seed)
    worlds = gymnasium.make_vec(id, num_envs=recipe.tries * recipe.episodes, address=address)
    others = gymnasium.make_vec(id, num_envs=recipe.judged, address=address)
    policy = Policy(worlds)
    middle, spread = np.zeros(policy.size), np.full(policy.size, recipe.spread)
    reached, begun = 0.0, time.monotonic()
    for generation in range(1, recipe.generations + 1):
        tried = middle + spread * rng.normal(size=(recipe.tries, policy.size))
        returned, _ = play(worlds, policy, np.repeat(tried, recipe.episodes, axis=0), seed=int(rng.integers(2**62)))
        best = returned.reshape(recipe.tries, recipe.episodes).mean(axis=1).argsort()[-recipe.kept :]
        # a little is added, so that luck does not end the search too early
        middle, spread = tried[best].mean(axis=0), tried[best].std(axis=0) + 0.1 * recipe.spread / generation
        reached = judge(others, policy, middle, seed=int(rng.integers(2**62)))
        print(f"\r  generation {generation}: {reached:.3g} after {time.monotonic() - begun:.0f} s ", end="", file=sys.stderr, flush=True)
        # solved is what is solved on episodes that did not decide when to stop
        if reached >= recipe.solved:
            reached = judge(others, policy, middle, seed=int(rng.integers(2**62)))
            if reached >= recipe.solved:
                break
    worlds.close()
    others.close()
    return reached, middle


def chance(id: str, address: str | None) -> float:
    """What random actions reach."""
    env = gymnasium.make_vec(id, num_envs=200, address=address)
    env.action_space.seed(0)
    policy = Policy(env)
    policy.act = lambda weights, observation: env.action_space.sample()  # type: ignore[method-assign]
    reached = judge(env, policy, np.zeros(policy.size), seed=0)
    env.close()
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("id", nargs="?", default="moreau_sim/CartPole-v0", choices=list(RECIPES))
    parser.add_argument("--seeds", type=int, default=5, help="runs, each with another seed")
    parser.add_argument("--address", help="of a server; default: one is started")
    parser.add_argument("--save", help="a file for the weights of the last run")
    arguments = parser.parse_args()
    print(f"{arguments.id}: random actions reach {chance(arguments.id, arguments.address):.3g}")
    solved = 0
    for seed in range(arguments.seeds):
        begun = time.monotonic()
        reached, weights = learn(arguments.id, seed, arguments.address)
        is_solved = reached >= RECIPES[arguments.id].solved
        solved += is_solved
        print(f"\rseed {seed}: {reached:.4g}{'' if is_solved else ', not solved'} after {time.monotonic() - begun:.1f} s", flush=True)
    print(f"{arguments.id}: {solved} of {arguments.seeds} runs solved it")
    if arguments.save:
        np.savez(arguments.save, weights=weights)
    sys.exit(0 if solved == arguments.seeds else 1)


if __name__ == "__main__":
    main()
