# SPDX-License-Identifier: MIT
"""The learners of clients/python/examples: the first thousand steps of each run, repeat, and leave numbers. Run by
tests/learners.sh."""

import math

import clean_ppo
import clean_sac
import numpy as np
import ppo
import pytest
import torch
import walk

import moreau_sim

# few worlds, so that a thousand steps are several updates; Reacher's episodes are of 50 steps, and end within them
LEARNERS = {"PPO": (clean_ppo.learn, 8), "SAC": (clean_sac.learn, 8)}


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
