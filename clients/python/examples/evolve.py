#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Learns an environment by an evolution strategy, in NumPy alone: every world of a group tries a policy of its own, and
the better half of them make the next generation.

    python examples/evolve.py [moreau_sim/CartPole-v0 [SEEDS [ADDRESS]]]

Each generation is one reset and one episode of all worlds. It is judged by the policy in their middle, on other
episodes. A run ends when that is solved (CartPole: a mean return of 475; BlockPush: 90 % on the mark).
"""

import sys
import time

import gymnasium
import numpy as np

import moreau_sim.gym  # noqa: F401  # its environments

TRIES, COST = 32, 0.05  # policies of a generation; of weights, per square: large ones switch where they should steer
# episodes that each policy is tried on, deviation of the first weights, and what is solved
RECIPES = {"moreau_sim/CartPole-v0": (4, 1.0, 475.0), "moreau_sim/BlockPush-v0": (16, 0.1, 0.9)}


def play(worlds, weights, scale, **begin):
    """One episode of every world, by a linear policy: what each returned, and, where it says so, whether it was one."""
    observation, playing = worlds.reset(**begin)[0], np.ones(worlds.num_envs, bool)
    returned, reached = np.zeros(worlds.num_envs), np.zeros(worlds.num_envs)
    layer = weights.reshape(worlds.num_envs, observation.shape[1] + 1, -1)
    while playing.any():
        signal = np.einsum("wi,wio->wo", (observation - scale[0]) / scale[1], layer[:, :-1]) + layer[:, -1]
        is_choice = isinstance(worlds.single_action_space, gymnasium.spaces.Discrete)
        action = (signal[:, 0] > 0.0).astype(int) if is_choice else np.tanh(signal).astype(np.float32)
        observation, reward, terminated, truncated, infos = worlds.step(action)
        returned += reward * playing
        reached = np.where(playing, infos.get("success", returned), reached)
        playing &= ~(terminated | truncated)
    return returned, reached


def learn(id, seed, address=None, generations=200):
    """One run: what was reached, the weights, and in how many generations. Covariance matrix adaptation (N. Hansen, The
    CMA Evolution Strategy: A Tutorial, arXiv 1604.00772), without the path of its covariance."""
    (episodes, spread, solved), rng = RECIPES[id], np.random.default_rng(seed)
    worlds, others = (gymnasium.make_vec(id, num_envs=n, address=address) for n in (TRIES * episodes, 100))
    worlds.action_space.seed(0)
    seen = np.concatenate([worlds.reset(seed=0)[0]] + [worlds.step(worlds.action_space.sample())[0] for _ in range(50)])
    scale = seen.mean(axis=0), np.maximum(seen.std(axis=0), 0.05)  # what hardly moves is not blown up
    size = (seen.shape[1] + 1) * int(np.prod(worlds.single_action_space.shape))
    share = np.log(TRIES / 2 + 0.5) - np.log(np.arange(1, TRIES // 2 + 1))
    share /= share.sum()
    mass = 1.0 / np.square(share).sum()
    rate, turn = (mass + 2) / (size + mass + 5), min(1.0, 2 * (mass - 2 + 1 / mass) / ((size + 2) ** 2 + mass))
    middle, covariance, path = np.zeros(size), np.eye(size), np.zeros(size)
    for generation in range(1, generations + 1):
        variances, axes = np.linalg.eigh(covariance)
        stretch = np.sqrt(np.maximum(variances, 1e-20))
        drawn = (rng.normal(size=(TRIES, size)) * stretch) @ axes.T
        tried, noise = middle + spread * drawn, worlds.unwrapped.noise
        # all are tried on the same beginnings, spread evenly over what a reset draws
        place = np.stack([rng.permutation(episodes) for _ in noise.names], axis=1) + rng.random((episodes, len(noise)))
        values = np.tile(noise.low + (noise.high - noise.low) * place / episodes, (TRIES, 1))
        returned, _ = play(worlds, np.repeat(tried, episodes, axis=0), scale, options={"values": values})
        earned = returned.reshape(TRIES, episodes).mean(axis=1) - COST * np.square(tried).sum(axis=1)
        best = drawn[np.argsort(-earned)[: len(share)]]
        middle = middle + spread * (share @ best)
        path = (1 - rate) * path + np.sqrt(rate * (2 - rate) * mass) * (axes @ ((share @ best @ axes) / stretch))
        covariance = (1 - turn) * covariance + turn * (best * share[:, None]).T @ best
        spread *= np.exp(rate / (1 + rate) * (np.linalg.norm(path) / np.sqrt(size) - 1))
        reached = play(others, np.tile(middle, (100, 1)), scale, seed=generation)[1].mean()
        if reached >= solved and play(others, np.tile(middle, (100, 1)), scale)[1].mean() >= solved:
            break  # on episodes that did not decide when to stop, too
    worlds.close()
    others.close()
    return reached, middle, generation


if __name__ == "__main__":
    id, seeds = (sys.argv[1:] + ["moreau_sim/CartPole-v0"])[0], int((sys.argv[2:] + [5])[0])
    for seed in range(seeds):
        begun, (reached, _, count) = time.monotonic(), learn(id, seed, *sys.argv[3:])
        print(f"seed {seed}: {reached:.3g} after {count} generations, {time.monotonic() - begun:.1f} s", flush=True)
