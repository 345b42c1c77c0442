# SPDX-License-Identifier: MIT
"""Learns CartPole with PPO, in CleanRL's style, on servers of a cluster of Ray. A node that is lost, unless it is this
one, costs some seconds and changes no number.

    pip install 'moreau-sim[gym,ray]' torch
    python examples/ray_ppo.py [SERVERS [WORLDS]]
"""

import sys

import gymnasium
import numpy as np
import ray
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from torch import nn
from torch.distributions import Categorical

import moreau_sim.ray

# steps of a rollout; an update takes it so often, in so many parts
GOAL, STEPS, EPOCHS, PARTS, DISCOUNT, TRACE, CLIP, RATE = 475, 128, 4, 16, 0.99, 0.95, 0.2, 1e-3


def network(inputs, outputs, gain):
    last = nn.Linear(64, outputs)
    nn.init.orthogonal_(last.weight, gain)
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), last)


def learn(worlds, seed=0):
    """For ever: after each update, the mean return of the last hundred episodes."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # small networks are slower on many
    inputs, worlds = worlds.single_observation_space.shape[0], RecordEpisodeStatistics(worlds)
    actor, critic = network(inputs, int(worlds.single_action_space.n), 0.01), network(inputs, 1, 1.0)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=RATE, eps=1e-5)
    observation = worlds.reset(seed=seed)[0]
    while True:
        rows = []
        with torch.no_grad():
            for _ in range(STEPS):
                policy = Categorical(logits=actor(seen := torch.as_tensor(observation)))
                action = policy.sample()
                observation, reward, terminated, truncated, infos = worlds.step(action.numpy())
                if truncated.any():  # what would have come counts
                    last = torch.as_tensor(np.stack(infos["final_obs"][truncated]))
                    reward[truncated] += DISCOUNT * critic(last).numpy()[:, 0]
                paid, goes_on = torch.as_tensor(reward).float(), torch.as_tensor(~(terminated | truncated)).float()
                rows.append((seen, action, policy.log_prob(action), critic(seen)[:, 0], paid, DISCOUNT * goes_on))
            gain, ahead, gains = 0.0, critic(torch.as_tensor(observation))[:, 0], []
            for _, _, _, value, paid, kept in reversed(rows):
                gain, ahead = paid + kept * ahead - value + TRACE * kept * gain, value
                gains.insert(0, gain)
        seen, action, likely, value, gain = map(torch.cat, [*list(zip(*rows))[:4], gains])
        for part in (part for _ in range(EPOCHS) for part in torch.randperm(len(seen)).chunk(PARTS)):
            policy = Categorical(logits=actor(seen[part]))
            ratio = (policy.log_prob(action[part]) - likely[part]).exp()
            better = (gain[part] - gain[part].mean()) / (gain[part].std() + 1e-8)
            won = torch.min(ratio * better, ratio.clamp(1 - CLIP, 1 + CLIP) * better).mean()
            wrong = (critic(seen[part])[:, 0] - value[part] - gain[part]).square().mean()
            optimizer.zero_grad()
            (0.5 * wrong - won - 0.01 * policy.entropy().mean()).backward()
            nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 0.5)
            optimizer.step()
        yield float(np.mean(worlds.return_queue or 0))


def main(servers=3, count=64):
    with ray.init("auto"), moreau_sim.ray.Servers(num_servers=servers) as found:
        where = {"fleet": found.addresses, "token": found.token, "num_envs": count, "autoreset_mode": "SameStep"}
        worlds = gymnasium.make_vec("moreau_sim.gym:moreau_sim/CartPole-v0", **where)
        for update, mean in enumerate(learn(worlds), 1):
            print(f"{update * STEPS * count:,} steps: mean return {mean:.0f}", flush=True)
            if mean >= GOAL:
                return worlds.close()
            worlds.unwrapped.worlds.group.refresh()  # takes in who is new, or back


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
