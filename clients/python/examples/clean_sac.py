# SPDX-License-Identifier: MIT
"""SAC in CleanRL's style, of what numbers steer: pip install 'moreau-sim[gym]' torch
python examples/clean_sac.py [moreau_sim/Hopper-v5 [STEPS [WORLDS [SEED]]]]"""

import copy
import sys

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from torch import nn

from moreau_sim.gym import seen_last

KEPT, BATCH, BEGIN, DISCOUNT, FOLLOW, RATE = 1_000_000, 256, 512, 0.99, 0.005, 3e-4


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, outputs))


def chosen(actor, seen):  # actions from -1 to 1, and the logarithm of how likely they were
    middle, spread = actor(seen).chunk(2, 1)
    policy = torch.distributions.Normal(middle, spread.clamp(-5, 2).exp())
    raw = policy.rsample()
    slope = 2 * (np.log(2) - raw - nn.functional.softplus(-2 * raw))  # log of that of tanh
    return raw.tanh(), (policy.log_prob(raw) - slope).sum(1, keepdim=True)


def worth(critics, state, action):
    return torch.cat([critic(torch.cat([state, action], 1)) for critic in critics], 1)


def learn(id="moreau_sim/Hopper-v5", steps=200_000, count=16, seed=0, **place):
    """After every 16 steps of all worlds: steps so far, and the mean return of the last hundred episodes."""
    torch.manual_seed(seed)
    worlds = RecordEpisodeStatistics(gymnasium.make_vec(id, num_envs=count, autoreset_mode="SameStep", **place))
    inputs, high = worlds.single_observation_space.shape[0], worlds.single_action_space.high
    sizes = [inputs, len(high), inputs, 1, 1]  # of what is kept: seen, action, what came, paid, whether it went on
    actor, critics = network(inputs, 2 * len(high)), nn.ModuleList(network(sum(sizes[:2]), 1) for _ in range(2))
    targets, heat, kept = copy.deepcopy(critics), torch.zeros(1, requires_grad=True), torch.zeros(KEPT, sum(sizes))
    optimizer = torch.optim.Adam([*actor.parameters(), *critics.parameters(), heat], lr=RATE)
    seen = torch.as_tensor(worlds.reset(seed=seed)[0]).float()
    for done in range(count, steps + 1, count):
        with torch.no_grad():
            action = 2 * torch.rand(count, len(high)) - 1 if done <= BEGIN else chosen(actor, seen)[0]
        after, reward, terminated, _, infos = worlds.step(action.numpy() * high)
        came = np.concatenate([seen_last(after, infos), reward[:, None], ~terminated[:, None]], axis=1)
        kept[torch.arange(done - count, done) % KEPT] = torch.cat([seen, action, torch.as_tensor(came).float()], 1)
        seen = torch.as_tensor(after).float()
        for _ in range(count if done > BEGIN else 0):
            state, action, then, paid, goes_on = kept[torch.randint(min(done, KEPT), (BATCH,))].split(sizes, 1)
            with torch.no_grad():
                next_action, likely = chosen(actor, then)
                ahead = worth(targets, then, next_action).amin(1, keepdim=True) - heat.exp() * likely
            wrong = (worth(critics, state, action) - paid - DISCOUNT * goes_on * ahead).square().sum(1).mean()
            action, likely = chosen(actor, state)
            value = worth(critics.requires_grad_(False), state, action).amin(1, keepdim=True)
            lost = (heat.exp().detach() * likely - value).mean() - (heat.exp() * (likely.detach() - len(high))).mean()
            critics.requires_grad_(True)
            optimizer.zero_grad()
            (wrong + lost).backward()
            optimizer.step()
            for old, new in zip(targets.parameters(), critics.parameters()):
                old.data.lerp_(new.data, FOLLOW)
        if done % (16 * count) == 0:
            yield done, float(np.mean(worlds.return_queue or 0))
    worlds.close()


if __name__ == "__main__":
    for done, mean in learn(*sys.argv[1:2], *map(int, sys.argv[2:])):
        print(f"{done:,} steps: mean return {mean:.0f}", flush=True)
