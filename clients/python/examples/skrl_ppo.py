# SPDX-License-Identifier: MIT
"""SKRL's PPO, of what numbers steer: pip install 'moreau-sim[gym]' 'skrl[torch]'
python examples/skrl_ppo.py [moreau_sim/Hopper-v5 [STEPS [WORLDS [SEED]]]]"""

import sys

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
from skrl.resources.preprocessors.torch import RunningStandardScaler
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed
from torch import nn

ROLLOUT, EPOCHS, PARTS, RATE = 64, 10, 32, 3e-4


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


class Actor(GaussianMixin, Model):
    def __init__(self, env):
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space)
        GaussianMixin.__init__(self, clip_actions=True)
        self.layers = network(self.num_observations, self.num_actions)
        self.spread = nn.Parameter(torch.full((self.num_actions,), -0.5))

    def compute(self, inputs, role):
        return self.layers(inputs["observations"]), {"log_std": self.spread}


class Critic(DeterministicMixin, Model):
    def __init__(self, env):
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space)
        DeterministicMixin.__init__(self)
        self.layers = network(self.num_observations, 1)

    def compute(self, inputs, role):
        return self.layers(inputs["observations"]), {}


def learn(id="moreau_sim/Hopper-v5", steps=1_000_000, count=64, seed=0, **place):
    """After each rollout: steps so far, and the mean return of the last hundred episodes."""
    set_seed(seed)
    torch.set_num_threads(1)  # small networks are slower on many
    # SKRL begins no episodes itself. What it sees after the last step of one is the first of the next
    worlds = gymnasium.make_vec(f"moreau_sim.gym:{id}", num_envs=count, autoreset_mode="SameStep", **place)
    env = wrap_env(watched := RecordEpisodeStatistics(worlds), wrapper="gymnasium", verbose=False)
    config = PPO_CFG(rollouts=ROLLOUT, learning_epochs=EPOCHS, mini_batches=PARTS, learning_rate=RATE)
    config.observation_preprocessor = config.value_preprocessor = RunningStandardScaler
    config.observation_preprocessor_kwargs = {"size": env.observation_space}
    config.value_preprocessor_kwargs = {"size": 1}
    config.experiment.write_interval = config.experiment.checkpoint_interval = 0
    models, memory = {"policy": Actor(env), "value": Critic(env)}, RandomMemory(memory_size=ROLLOUT, num_envs=count)
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    pace = {"timesteps": ROLLOUT, "disable_progressbar": True, "headless": True, "close_environment_at_exit": False}
    agent = PPO(models=models, memory=memory, cfg=config, **spaces)
    trainer = SequentialTrainer(env=env, agents=agent, cfg=pace)
    for done in range(ROLLOUT * count, steps + 1, ROLLOUT * count):
        trainer.train()  # goes on from where its worlds are
        yield done, float(np.mean(watched.return_queue or 0))
    env.close()


if __name__ == "__main__":
    for done, mean in learn(*sys.argv[1:2], *map(int, sys.argv[2:])):
        print(f"{done:,} steps: mean return {mean:.0f}", flush=True)
