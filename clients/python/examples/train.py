# SPDX-License-Identifier: MIT
# Learns to balance a pole on a server elsewhere: python train.py HOST:PORT
import sys, gymnasium, numpy as np, moreau_sim.gym  # fmt: skip

worlds = gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=1024, address=sys.argv[1])
rng, mean, spread = np.random.default_rng(0), np.zeros(4), np.ones(4)
for generation in range(8):
    weights = mean + spread * rng.normal(size=(1024, 4))  # every world tries a policy of its own
    observation, alive, returns = worlds.reset(seed=generation)[0], np.ones(1024, bool), np.zeros(1024)
    while alive.any():
        observation, reward, terminated, truncated, _ = worlds.step((observation * weights).sum(1) > 0)
        returns, alive = returns + reward * alive, alive & ~(terminated | truncated)
    best = weights[np.argsort(returns)[-64:]]
    mean, spread = best.mean(0), best.std(0)
    print(f"generation {generation}: mean return {returns.mean():.0f}")
