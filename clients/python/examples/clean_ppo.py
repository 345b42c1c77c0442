# SPDX-License-Identifier: MIT
"""PPO in CleanRL's style, of what numbers steer: pip install 'moreau-sim[gym]' torch
python examples/clean_ppo.py [moreau_sim/Hopper-v5 [STEPS [WORLDS [SEED]]]]"""

import sys

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from torch import nn
from torch.distributions import Normal

from moreau_sim.gym import seen_last

ROLLOUT, EPOCHS, PARTS, DISCOUNT, TRACE, CLIP, RATE = 64, 10, 32, 0.99, 0.95, 0.2, 3e-4


def network(inputs, outputs, gain):  # what is seen is scaled by how it has been spread
    last = nn.Linear(64, outputs)
    nn.init.orthogonal_(last.weight, gain)
    scale = nn.BatchNorm1d(inputs, affine=False, momentum=None)
    return nn.Sequential(scale, nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), last).eval()


def learn(id="moreau_sim/Hopper-v5", steps=1_000_000, count=64, seed=0, actor=None, **place):
    """After each rollout: steps so far, and the mean return of the last hundred episodes. `id` may be worlds, too."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # small networks are slower on many
    options = {"num_envs": count, "autoreset_mode": "SameStep", **place}
    worlds = RecordEpisodeStatistics(gymnasium.make_vec(id, **options) if isinstance(id, str) else id)
    inputs, high = worlds.single_observation_space.shape[0], worlds.single_action_space.high
    actor, critic = actor or network(inputs, len(high), 0.01), network(inputs, 1, 1.0)
    spread = nn.Parameter(torch.full((len(high),), -0.5))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters(), spread], lr=RATE, eps=1e-5)
    seen = torch.as_tensor(worlds.reset(seed=seed)[0]).float()
    for done in range(ROLLOUT * count, steps + 1, ROLLOUT * count):
        rows, gains = [], [torch.zeros(count)]
        with torch.no_grad():
            for _ in range(ROLLOUT):
                policy = Normal(actor(seen), spread.exp())
                action = policy.sample()
                after, *told, infos = worlds.step(np.clip(action.numpy(), -1, 1) * high)
                told = map(torch.as_tensor, (seen_last(after, infos), *told))
                rows.append((seen, action, policy.log_prob(action).sum(1), *told))
                seen = torch.as_tensor(after).float()
            states, actions, likely, last, paid, ended, cut = map(torch.cat, zip(*rows))
            values = critic(states)[:, 0]  # what would have come counts, unless that was the end
            more = paid.float() + DISCOUNT * ~ended * critic(last.float())[:, 0] - values
            for gain, goes_on in zip(reversed(more.split(count)), reversed((~(ended | cut)).split(count))):
                gains.insert(0, gain + DISCOUNT * TRACE * goes_on * gains[0])
            gained = torch.cat(gains[:-1])
        for part in (part for _ in range(EPOCHS) for part in torch.randperm(len(states)).chunk(PARTS)):
            ratio = (Normal(actor(states[part]), spread.exp()).log_prob(actions[part]).sum(1) - likely[part]).exp()
            better = (gained[part] - gained[part].mean()) / (gained[part].std() + 1e-8)
            won = torch.min(ratio * better, ratio.clamp(1 - CLIP, 1 + CLIP) * better).mean()
            wrong = (critic(states[part])[:, 0] - values[part] - gained[part]).square().mean()
            optimizer.zero_grad()
            (0.5 * wrong - won).backward()
            optimizer.step()
        for network_ in (actor, critic):
            network_[0].train()(states)
            network_.eval()
        yield done, float(np.mean(worlds.return_queue or 0))
    worlds.close()


if __name__ == "__main__":
    for done, mean in learn(*sys.argv[1:2], *map(int, sys.argv[2:])):
        print(f"{done:,} steps: mean return {mean:.0f}", flush=True)
