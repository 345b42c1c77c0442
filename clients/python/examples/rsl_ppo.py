# SPDX-License-Identifier: MIT
"""RSL-RL's PPO, of what numbers steer: pip install 'moreau-sim[gym]' rsl-rl-lib
python examples/rsl_ppo.py [moreau_sim/Hopper-v5 [STEPS [WORLDS [SEED]]]]"""

import sys

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from rsl_rl.runners import OnPolicyRunner

from moreau_sim.gym.rsl_rl import RSLWorlds

ROLLOUT, EPOCHS, PARTS, RATE = 64, 10, 32, 3e-4


def settings():
    network = {"class_name": "MLPModel", "hidden_dims": [64, 64], "activation": "tanh", "obs_normalization": True}
    spread = {"class_name": "GaussianDistribution", "init_std": 0.6, "std_type": "log"}
    learner = {"class_name": "PPO", "num_learning_epochs": EPOCHS, "num_mini_batches": PARTS, "learning_rate": RATE}
    return {
        "num_steps_per_env": ROLLOUT,
        "save_interval": 100,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**network, "distribution_cfg": spread},
        "critic": network,
        "algorithm": {**learner, "schedule": "fixed", "entropy_coef": 0.0, "gamma": 0.99, "lam": 0.95},
    }


def learn(id="moreau_sim/Hopper-v5", steps=1_000_000, count=64, seed=0, **place):
    """After each rollout: steps so far, and the mean return of the last hundred episodes."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # small networks are slower on many
    # RSL-RL begins no episodes itself; what is only cut off counts as what had been expected before
    worlds = gymnasium.make_vec(id, num_envs=count, autoreset_mode="SameStep", **place)
    runner = OnPolicyRunner(RSLWorlds(watched := RecordEpisodeStatistics(worlds), seed=seed), settings())
    for done in range(ROLLOUT * count, steps + 1, ROLLOUT * count):
        runner.learn(1)
        yield done, float(np.mean(watched.return_queue or 0))
    worlds.close()


if __name__ == "__main__":
    for done, mean in learn(*sys.argv[1:2], *map(int, sys.argv[2:])):
        print(f"{done:,} steps: mean return {mean:.0f}", flush=True)
