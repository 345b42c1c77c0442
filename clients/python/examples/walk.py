# SPDX-License-Identifier: MIT
"""Unitree's Go2, with its meshes, learns to go as it is told over hills: pip install 'moreau-sim[gym,mesh]' torch
example-robot-data; python examples/walk.py [STEPS WORLDS SEED]. Its episodes are in walk.db, the policy in walk.pt."""

import importlib.metadata
import sys
import time

import numpy as np
import torch
from clean_ppo import learn, network

import moreau_sim
from moreau_sim.gym import LeggedLocomotion, MoreauVectorEnv
from moreau_sim.gym.legged import Robot, Terrain

RATES = (("x", "velocity"), ("y", "velocity"), ("turn", "rate"))


def go2():
    files = importlib.metadata.files("example-robot-data")
    return Robot(
        next(file for file in files if file.name == "go2.urdf").locate(),
        trunk="base",
        feet=["FL_calf", "FR_calf", "RL_calf", "RR_calf"],
        stance={"hip": 0.0, "thigh": 0.8, "calf": -1.5},
        height=0.335,
        # how legs of two links of 0.213 m step; a policy adds to it
        lift={"thigh": 0.375, "calf": -0.75},
        stride={"thigh": -4.2},
        sway={"hip": 4.2},
        stiffness=100.0,
        damping=2.5,
        corners_max=16,
    )


def make(count, effort="FAST", **place):
    hills = [Terrain.hills(0.04 * level) + Terrain.rough(0.008 * level) for level in range(5)]
    commands = ((0.0, 0.8), (-0.2, 0.2), (-0.5, 0.5))
    walker = LeggedLocomotion(go2(), hills, curriculum=True, commands=commands, settings={"effort": effort})
    return MoreauVectorEnv(walker, count, autoreset_mode="SameStep", **place)


def judge(actor, worlds, seed=1):
    """An episode of each world on a terrain of its own, without noise: errors of velocity and turn, and falls."""
    count, noise = worlds.num_envs, worlds.noise
    values = np.random.default_rng(seed).uniform(noise.low, noise.high, (count, len(noise)))
    seen, off, falls = worlds.reset(seed=seed, options={"values": values})[0], [], 0
    for _ in range(500):
        with torch.no_grad():
            action = actor(torch.as_tensor(seen).float()).numpy()
        seen, _, terminated, _, info = worlds.step(np.clip(action, -1, 1))
        off.append([info[f"{what}_command"] - info[f"{what}_{rate}"] for what, rate in RATES])
        falls += terminated.sum()
    return np.abs(np.mean(off[50:], axis=0)).mean(axis=1), falls  # of a stride's mean, in which the trunk swings


if __name__ == "__main__":
    steps, count, seed = map(int, sys.argv[1:4] or (1_000_000, 256, 0))
    torch.manual_seed(seed)
    actor, begun = network(73, 12, 0.01), time.monotonic()
    with moreau_sim.launch(db="walk.db") as server:
        for done, mean in learn(make(count, address=server.address), steps, count, seed, actor):
            print(f"{done:,} steps, {(time.monotonic() - begun) / 60:.1f} min: mean return {mean:.2f}", flush=True)
            torch.save(actor.state_dict(), "walk.pt")
        # learned with steps that are cheap, and judged by steps that are certified
        off, falls = judge(actor, make(16, "EXACT", address=server.address, record="walk", opinion=0.05))
    print(f"off what was asked: {off[0]:.2f} and {off[1]:.2f} m/s, {off[2]:.2f} rad/s; {falls} falls of 16")
