# SPDX-License-Identifier: MIT
"""Learns CartPole with PPO, in CleanRL's style, on servers of a cluster of Ray. A node that is lost, unless it is this
one, costs some seconds and changes no number.

    pip install 'moreau-sim[gym,ray]' torch
    python examples/ray_ppo.py [SERVERS [WORLDS]]
"""

import sys
from collections import deque

import gymnasium
import numpy as np
import ray
import torch
from torch import nn
from torch.distributions import Categorical

import moreau_sim.ray

GOAL, STEPS, EPOCHS, PARTS = 475, 128, 4, 16  # steps of a rollout; an update takes it so often, in so many parts
DISCOUNT, TRACE, CLIP, RATE = 0.99, 0.95, 0.2, 1e-3


def network(inputs, outputs, gain):
    last = nn.Linear(64, outputs)
    nn.init.orthogonal_(last.weight, gain)
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), last)


def learn(worlds, seed=0):
    """For ever: after each update, the mean return of the last hundred episodes."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # small networks are slower on many
    space = worlds.single_observation_space.shape[0]
    actor, critic = network(space, int(worlds.single_action_space.n), 0.01), network(space, 1, 1.0)
    weights = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(weights, lr=RATE, eps=1e-5)
    observation, running, returns = worlds.reset(seed=seed)[0], np.zeros(worlds.num_envs), deque(maxlen=100)
    while True:
        rows = []
        with torch.no_grad():
            for _ in range(STEPS):
                seen = torch.as_tensor(observation)
                policy = Categorical(logits=actor(seen))
                action = policy.sample()
                observation, reward, terminated, truncated, infos = worlds.step(action.numpy())
                over, running = terminated | truncated, running + reward
                returns.extend(running[over])
                running[over] = 0.0
                if truncated.any():  # what would have come counts
                    last = torch.as_tensor(np.stack(infos["final_obs"][truncated]))
                    reward[truncated] += DISCOUNT * critic(last).numpy()[:, 0]
                paid, goes_on = torch.as_tensor(reward).float(), torch.as_tensor(~over).float()
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
            nn.utils.clip_grad_norm_(weights, 0.5)
            optimizer.step()
        yield np.mean(returns) if returns else 0.0


def main(servers=3, count=64):
    ray.init("auto")
    with moreau_sim.ray.Servers(num_servers=servers) as found:
        where = {"fleet": found.addresses, "token": found.token}
        name = "moreau_sim.gym:moreau_sim/CartPole-v0"
        worlds = gymnasium.make_vec(name, num_envs=count, autoreset_mode="SameStep", **where)
        for update, mean in enumerate(learn(worlds), 1):
            print(f"{update * STEPS * count:,} steps: mean return {mean:.0f}", flush=True)
            if mean >= GOAL:
                break
            worlds.unwrapped.worlds.group.refresh()  # takes in who is new, or back
        worlds.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
