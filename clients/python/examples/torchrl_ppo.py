# SPDX-License-Identifier: MIT
"""TorchRL's PPO, of what numbers steer: pip install 'moreau-sim[gym]' torchrl
python examples/torchrl_ppo.py [moreau_sim/Hopper-v5 [STEPS [WORLDS [SEED]]]]"""

import sys

import gymnasium
import torch
from tensordict.nn import NormalParamExtractor, TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import Compose, DoubleToFloat, GymWrapper, ObservationNorm, RewardSum, TransformedEnv
from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

ROLLOUT, EPOCHS, PARTS, RATE = 64, 10, 32, 3e-4


def network(inputs, *last):
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), *last)


def learn(id="moreau_sim/Hopper-v5", steps=1_000_000, count=64, seed=0, **place):
    """After each rollout: steps so far, and the mean return of the last hundred episodes."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # small networks are slower on many
    # TorchRL begins episodes itself, through options["reset_mask"]; NEXT_STEP, the default, it refuses
    worlds = gymnasium.make_vec(f"moreau_sim.gym:{id}", num_envs=count, autoreset_mode="Disabled", **place)
    inputs, space = worlds.single_observation_space.shape[0], worlds.single_action_space
    scaled = ObservationNorm(in_keys=["observation"], standard_normal=True)
    env = TransformedEnv(GymWrapper(worlds), Compose(DoubleToFloat(), scaled, RewardSum()))
    env.set_seed(seed)
    scaled.init_stats(ROLLOUT, reduce_dim=(0, 1), cat_dim=1)  # by chance's actions, and from then on fixed
    outputs = network(inputs, nn.Linear(64, 2 * space.shape[0]), NormalParamExtractor())
    actor = ProbabilisticActor(
        TensorDictModule(outputs, ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"],
        spec=env.full_action_spec_unbatched["action"],
        distribution_class=TanhNormal,
        distribution_kwargs={"low": torch.as_tensor(space.low), "high": torch.as_tensor(space.high)},
        return_log_prob=True,
    )
    critic = ValueOperator(network(inputs, nn.Linear(64, 1)), in_keys=["observation"])
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.0, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), lr=RATE, eps=1e-5)
    returns, each = [], ROLLOUT * count
    more = {"auto_register_policy_transforms": False}
    collector = Collector(env, actor, frames_per_batch=each, total_frames=steps // each * each, **more)
    for number, rows in enumerate(collector, 1):
        over = rows["next", "done"]
        returns = [*returns, *rows["next", "episode_reward"][over].tolist()][-100:]
        with torch.no_grad():
            rows = advantage(rows).reshape(-1)
        for part in (part for _ in range(EPOCHS) for part in torch.randperm(len(rows)).chunk(PARTS)):
            told = loss(rows[part])
            optimizer.zero_grad()
            (told["loss_objective"] + told["loss_critic"]).backward()
            optimizer.step()
        yield number * each, sum(returns) / max(len(returns), 1)
    collector.shutdown()


if __name__ == "__main__":
    for done, mean in learn(*sys.argv[1:2], *map(int, sys.argv[2:])):
        print(f"{done:,} steps: mean return {mean:.0f}", flush=True)
