# SPDX-License-Identifier: MIT
"""Learns CartPole with RLlib's PPO (its new API stack) on a cluster of Ray: each EnvRunner steps worlds on a server of
its own, on its node. Without a node that is lost, unless it is this one, it goes on; where there is room RLlib starts
its EnvRunner anew, with another server.

    pip install 'moreau-sim[gym]' 'ray[rllib]' torch
    python examples/ray_rllib.py [RUNNERS [WORLDS]]

Each of them on all servers: servers = moreau_sim.ray.Servers(num_servers=…), and env_config={"fleet":
servers.addresses(), "token": servers.token} instead of {"workers": 1}.
"""

import sys

import ray
from ray.rllib.algorithms.ppo import PPOConfig

GOAL, STEPS = 475, 4096  # steps of an iteration, at least


def algorithm(runners=3, worlds=16, seed=None):
    config = PPOConfig()
    config.environment("moreau_sim.gym:moreau_sim/CartPole-v0", env_config={"workers": 1})
    config.env_runners(
        num_env_runners=runners,
        num_envs_per_env_runner=worlds,
        gym_env_vectorize_mode="vector_entry_point",
        sample_timeout_s=10.0,  # so long, instead of 60 s, an iteration waits for a node that is lost
    )
    config.fault_tolerance(restart_failed_env_runners=True, env_runner_health_probe_timeout_s=2.0)
    config.rl_module(model_config={"fcnet_hiddens": [64, 64], "fcnet_activation": "tanh", "vf_share_layers": False})
    config.training(lr=1e-3, lambda_=0.95, entropy_coeff=0.01, grad_clip=0.5, vf_clip_param=1e4, use_kl_loss=False)
    config.training(train_batch_size_per_learner=STEPS, minibatch_size=256, num_epochs=6)
    config.debugging(seed=seed)
    return config.build_algo()


def learn(learner):
    """For ever: after each iteration, the mean return of the latest episodes."""
    while True:
        yield learner.train().get("env_runners", {}).get("episode_return_mean", 0.0)  # without: none has come in time


def main(*sizes):
    ray.init("auto")
    learner = algorithm(*sizes)
    for iteration, mean in enumerate(learn(learner), 1):
        print(f"iteration {iteration}: mean return {mean:.0f}", flush=True)
        if mean >= GOAL:
            break
    learner.stop()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
