# SPDX-License-Identifier: MIT
"""The learners of clients/python/examples: the first thousand steps of each run, repeat, and leave numbers. Run by
tests/learners.sh."""

import math
import pathlib

import clean_ppo
import clean_sac
import compare
import exploit
import gymnasium
import numpy as np
import ppo
import pytest
import rsl_ppo
import skrl_ppo
import torch
import torchrl_ppo
import walk

import moreau_sim
from moreau_sim.protocol import Episode
from moreau_sim.gym.rsl_rl import RSLWorlds
from moreau_sim.gym.sb3 import SB3Worlds

# few worlds, so that a thousand steps are several updates; Reacher's episodes are of 50 steps, and end within them
LEARNERS = {
    "PPO": (clean_ppo.learn, 8),
    "SAC": (clean_sac.learn, 8),
    "RSL-RL": (rsl_ppo.learn, 8),
    "SKRL": (skrl_ppo.learn, 8),
    "TorchRL": (torchrl_ppo.learn, 8),
}
LINES_MAX = 60  # of an example, without empty ones


@pytest.fixture(scope="module")
def address():
    with moreau_sim.launch(workers=1) as server:
        yield server.address


@pytest.mark.parametrize("name", LEARNERS)
def test_a_thousand_steps_run_and_repeat(address, name):
    learn, count = LEARNERS[name]
    said = [list(learn("moreau_sim/Reacher-v5", 1024, count, 3, address=address)) for _ in range(2)]
    assert said[0] == said[1]
    steps, means = zip(*said[0])
    assert steps[-1] == 1024 and len(steps) > 1
    # between what nobody does worse than and none: no reward is above 0
    assert all(math.isfinite(mean) and -500.0 < mean <= 0.0 for mean in means) and means[-1] < 0.0


@pytest.mark.parametrize("module", [clean_ppo, clean_sac, exploit, ppo, rsl_ppo, skrl_ppo, torchrl_ppo, walk])
def test_an_example_is_short(module):
    assert sum(map(bool, pathlib.Path(module.__file__).read_text().split("\n"))) <= LINES_MAX


def test_torchrl_refuses_what_its_example_leaves_out(address):
    worlds = gymnasium.make_vec("moreau_sim/Reacher-v5", num_envs=2, address=address)  # NEXT_STEP, as Gymnasium has it
    with pytest.raises(RuntimeError, match="SAME_STEP or DISABLED"):
        torchrl_ppo.GymWrapper(worlds)
    worlds.close()


def test_worlds_of_rsl_rl_are_those_of_gymnasium(address):
    """Each number of two episodes, told apart where they ended; actions beyond the space are cut to it."""
    given = {"num_envs": 3, "autoreset_mode": "SameStep", "address": address}
    ours, theirs = (gymnasium.make_vec("moreau_sim/Reacher-v5", **given) for _ in range(2))
    ours.reset(seed=4)
    worlds, stream = RSLWorlds(theirs, seed=4, logged=("reward_dist",)), np.random.default_rng(1)
    assert (worlds.num_envs, worlds.num_actions, worlds.max_episode_length) == (3, 2, 50)
    for step in range(1, 101):
        action = stream.uniform(-2.0, 2.0, (3, 2)).astype(np.float32)
        seen, reward, terminated, truncated, told = ours.step(np.clip(action, -1.0, 1.0))
        rows, paid, over, extras = worlds.step(torch.as_tensor(action))
        assert np.array_equal(rows["policy"], seen.astype(np.float32)) and rows is worlds.get_observations()
        assert np.array_equal(paid, reward.astype(np.float32)) and np.array_equal(over, terminated | truncated)
        assert extras["time_outs"].all() == (step % 50 == 0) and over.all() == (step % 50 == 0)
        assert extras["log"] == {"/reward_dist": pytest.approx(told["reward_dist"].mean())}
        assert (worlds.episode_length_buf == step % 50).all()
    with pytest.raises(ValueError, match="init_at_random_ep_len"):
        worlds.episode_length_buf = torch.zeros(3)
    worlds.close()
    ours.close()


@pytest.mark.parametrize("kind", [RSLWorlds, SB3Worlds])
def test_worlds_that_begin_anew_in_another_step_are_refused(address, kind):
    worlds = gymnasium.make_vec("moreau_sim/Reacher-v5", num_envs=2, address=address)
    with pytest.raises(ValueError, match="SAME_STEP"):
        kind(worlds)
    worlds.close()


def test_worlds_of_stable_baselines_tell_opinions(address):
    worlds = SB3Worlds("moreau_sim/Hopper-v5", 4, address=address, opinion=1.0)
    worlds.seed(1)
    worlds.reset()
    for _ in range(20):
        worlds.step(np.zeros((4, 3), np.float32))
    assert worlds.told["doubtful"].shape == (4,) and "x_position" in worlds.told
    worlds.close()


def test_a_thousand_steps_of_stable_baselines_run(address):
    returned = ppo.main(["moreau_sim/Reacher-v5", "--worlds", "8", "--steps", "1000", "--address", address])
    assert -500.0 < returned < 0.0


def test_ppo_learns_to_balance(address):
    """A pole that falls earns some ten; what stays up for two hundred steps has been learned."""
    means = [mean for _, mean in clean_ppo.learn("moreau_sim/InvertedPendulum-v5", 120_000, 32, 1, address=address)]
    assert means[0] < 60.0 and max(means) > 200.0


def test_a_quadruped_begins_to_learn_and_is_judged_with_certificates(tmp_path):
    """With its meshes, on hills: some thousand steps run and repeat, and what is judged is recorded and verifies."""
    torch.manual_seed(1)
    actor = walk.network(73, 12, 0.01)
    with moreau_sim.launch(db=tmp_path / "walk.db") as server:
        worlds = walk.make(16, address=server.address)
        means = [mean for _, mean in walk.learn(worlds, 4096, 16, 1, actor)]
        assert len(means) == 4 and np.isfinite(means).all()
        off, falls = walk.judge(actor, walk.make(4, "EXACT", address=server.address, record="walk"))
        # the trot alone goes about as it is told: nothing like the 0.4 m/s that commands are in the mean
        assert off[0] < 0.4 and falls <= 4
        with server.client(timeout_s=120.0) as client:
            episodes = client.episode_list(count=100).episodes
            assert len(episodes) >= 4
            for one in episodes[:4]:
                reply = client.episode_verify(episode=one.episode).result()
                assert reply.verified and not reply.unconverged_steps


def test_who_lives_from_eight_sweeps_is_found(tmp_path):
    """The left end of the rail is worth at most 0.1 m for a second; more than that is nobody's by mechanics."""
    with moreau_sim.launch(db=tmp_path / "exploit.db") as server:
        earned = {}
        for effort in ("FAST", "EXACT"):
            policy = exploit.learn(effort, address=server.address, record=effort, opinion=0.05)
            earned[effort] = [exploit.judge(policy, other, address=server.address) for other in ("FAST", "EXACT")]
        assert earned["FAST"][0] > 0.1 and earned["FAST"][1] < 0.06
        assert all(0.09 < paid < 0.1 for paid in earned["EXACT"])
        with server.client(timeout_s=120.0) as client:
            ranked = client.episode_list(rank=Episode.Rank.DOUBTFUL, count=1000).episodes
    # first who earned most of it in doubtful steps: those of FAST; under EXACT no step is one
    assert ranked[0].name == "FAST" and ranked[0].return_doubtful > 0.9 * ranked[0].return_sum > 0.09
    assert all(one.return_doubtful == 0.0 for one in ranked if one.name == "EXACT")
    # nor is one of who went left, also under FAST: what is doubtful is how a return was earned
    honest = [one for one in ranked if one.name == "FAST" and one.return_doubtful == 0.0 and one.return_sum > 0.09]
    assert honest


def test_learning_is_compared(tmp_path):
    """A thousand steps on either side, kept and drawn."""
    for side in compare.SIDES:
        told = compare.run("CartPole", side, 0, 1024)
        assert len([paid for paid in told["curve"] if paid is not None]) > 5
        assert all(len(told["judged"][other]) == compare.JUDGED for other in compare.SIDES)
        assert (side == "ours") == ("opinion" in told)
        (tmp_path / f"{side}.json").write_text(compare.json.dumps(told))
    compare.keep(tmp_path, tmp_path / "kept")
    compare.draw(tmp_path / "kept", tmp_path / "learning.svg")
    picture = (tmp_path / "learning.svg").read_text()
    assert picture.count("<path fill=") == 4 and "nan" not in picture and "1,024 steps" in picture
