#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Learns an environment by an evolution strategy, in NumPy alone: every world of a group tries a policy of its own, and
the best of them make the next generation.

    python examples/evolve.py [moreau_sim/CartPole-v0] [--seeds 5] [--address 127.0.0.1:7667] [--save policy.npz]

Each generation is one reset and one episode of all worlds. It is judged by the policy in their middle, on other
episodes. A run ends when that is solved (CartPole: a mean return of 475; BlockPush: 90 % on the mark).
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

import moreau_sim.gym  # noqa: F401  # its environments


@dataclass
class Recipe:
    tries: int  # policies of a generation
    episodes: int  # that each is tried on
    spread: float  # standard deviation of the weights of the first generation
    generations: int  # after which a run gives up
    solved: float  # by what is looked at: the mean return, or the share of successes
    judged: int = 100  # episodes that it is judged by


RECIPES = {
    "moreau_sim/CartPole-v0": Recipe(tries=32, episodes=4, spread=1.0, generations=100, solved=475.0),
    "moreau_sim/BlockPush-v0": Recipe(tries=32, episodes=16, spread=0.1, generations=200, solved=0.9),
}
COST = 0.05  # of weights, per square of them


class Strategy:
    """Covariance matrix adaptation: tries are drawn from a normal distribution, and the better half of them moves its
    middle, turns and stretches it (N. Hansen, The CMA Evolution Strategy: A Tutorial, arXiv 1604.00772, table 1)."""

    def __init__(self, size: int, tries: int, spread: float, rng: np.random.Generator) -> None:
        self.rng, self.tries, self.spread = rng, tries, spread
        weights = np.log(tries / 2 + 0.5) - np.log(np.arange(1, tries // 2 + 1))
        self.weights = weights / weights.sum()
        self.mass = mass = 1.0 / np.square(self.weights).sum()
        self.step_rate = (mass + 2) / (size + mass + 5)
        self.damping = 1 + 2 * max(0.0, np.sqrt((mass - 1) / (size + 1)) - 1) + self.step_rate
        self.path_rate = (4 + mass / size) / (size + 4 + 2 * mass / size)
        self.one_rate = 2 / ((size + 1.3) ** 2 + mass)
        self.many_rate = min(1 - self.one_rate, 2 * (mass - 2 + 1 / mass) / ((size + 2) ** 2 + mass))
        self.length = np.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size**2))  # of what is drawn, on average
        self.middle, self.covariance = np.zeros(size), np.eye(size)
        self.step_path, self.path = np.zeros(size), np.zeros(size)

    def ask(self) -> np.ndarray:
        variances, self.axes = np.linalg.eigh(self.covariance)
        self.stretch = np.sqrt(np.maximum(variances, 1e-20))
        self.drawn = (self.rng.normal(size=(self.tries, len(self.middle))) * self.stretch) @ self.axes.T
        return self.middle + self.spread * self.drawn

    def tell(self, earned: np.ndarray) -> None:
        best = self.drawn[np.argsort(-earned)[: len(self.weights)]]
        move = self.weights @ best
        self.middle = self.middle + self.spread * move
        straight = self.axes @ ((move @ self.axes) / self.stretch)
        self.step_path = (1 - self.step_rate) * self.step_path + np.sqrt(
            self.step_rate * (2 - self.step_rate) * self.mass
        ) * straight
        self.path = (1 - self.path_rate) * self.path + np.sqrt(self.path_rate * (2 - self.path_rate) * self.mass) * move
        many = (best * self.weights[:, None]).T @ best
        old = (1 - self.one_rate - self.many_rate) * self.covariance
        self.covariance = old + self.one_rate * np.outer(self.path, self.path) + self.many_rate * many
        self.spread *= np.exp(self.step_rate / self.damping * (np.linalg.norm(self.step_path) / self.length - 1))


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


def alike(env: gymnasium.vector.VectorEnv, episodes: int, rng: np.random.Generator) -> np.ndarray:
    """Beginnings that every policy is tried on: spread evenly over what a reset draws. With the same ones for all, what
    differs is the policies'."""
    noise = env.unwrapped.noise
    place = np.stack([rng.permutation(episodes) for _ in noise.names], axis=1) + rng.random((episodes, len(noise)))
    values = noise.low + (noise.high - noise.low) * place / episodes
    return np.tile(values, (env.num_envs // episodes, 1))


def play(
    env: gymnasium.vector.VectorEnv, policy: Policy, weights: np.ndarray, **begin: Any
) -> tuple[np.ndarray, np.ndarray | None]:
    """One episode of every world: what each returned, and whether it was a success, where the environment says so."""
    observation, _ = env.reset(**begin)
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
    returned, success = play(env, policy, np.tile(weights, (env.num_envs, 1)), seed=seed)
    return float(returned.mean() if success is None else success.mean())


def learn(id: str, seed: int, address: str | None) -> tuple[float, np.ndarray]:
    """One run: what was reached, and the weights."""
    recipe = RECIPES[id]
    rng = np.random.default_rng(seed)
    worlds = gymnasium.make_vec(id, num_envs=recipe.tries * recipe.episodes, address=address)
    others = gymnasium.make_vec(id, num_envs=recipe.judged, address=address)
    policy = Policy(worlds)
    strategy = Strategy(policy.size, recipe.tries, recipe.spread, rng)
    reached, begun = 0.0, time.monotonic()
    for generation in range(1, recipe.generations + 1):
        tried = np.repeat(strategy.ask(), recipe.episodes, axis=0)
        returned, _ = play(worlds, policy, tried, options={"values": alike(worlds, recipe.episodes, rng)})
        # large weights cost a little: they switch where they should steer, and nothing leads on from there
        cost = COST * np.square(tried[:: recipe.episodes]).sum(axis=1)
        strategy.tell(returned.reshape(recipe.tries, recipe.episodes).mean(axis=1) - cost)
        reached = judge(others, policy, strategy.middle, seed=int(rng.integers(2**62)))
        print(
            f"\r  generation {generation}: {reached:.3g} after {time.monotonic() - begun:.0f} s ",
            end="",
            file=sys.stderr,
            flush=True,
        )
        # solved is what is solved on episodes that did not decide when to stop
        if reached >= recipe.solved:
            reached = judge(others, policy, strategy.middle, seed=int(rng.integers(2**62)))
            if reached >= recipe.solved:
                break
    worlds.close()
    others.close()
    return reached, strategy.middle


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
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--address", help="of a server; default: one is started")
    parser.add_argument("--save", help="a file for the weights of the last run")
    arguments = parser.parse_args()
    print(f"{arguments.id}: random actions reach {chance(arguments.id, arguments.address):.3g}")
    solved = 0
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        begun = time.monotonic()
        reached, weights = learn(arguments.id, seed, arguments.address)
        is_solved = reached >= RECIPES[arguments.id].solved
        solved += is_solved
        print(
            f"\rseed {seed}: {reached:.4g}{'' if is_solved else ', not solved'} after {time.monotonic() - begun:.1f} s",
            flush=True,
        )
    print(f"{arguments.id}: {solved} of {arguments.seeds} runs solved it")
    if arguments.save:
        np.savez(arguments.save, weights=weights)
    sys.exit(0 if solved == arguments.seeds else 1)


if __name__ == "__main__":
    main()
