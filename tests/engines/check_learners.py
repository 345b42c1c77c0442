# SPDX-License-Identifier: MIT
"""The learners of clients/python/examples that go with Ray learn CartPole on three nodes, of which one that is not the
head is killed meanwhile. Run by tests/ray.sh; says (-s) what each iteration came to and took."""

import itertools
import time

import gymnasium
import ray_ppo
import ray_rllib

import moreau_sim
import moreau_sim.gym  # its environments
import moreau_sim.ray
import ray_servers

KILLED_BEHIND = 3


def cart_poles(**where):
    return gymnasium.make_vec("moreau_sim/CartPole-v0", num_envs=64, autoreset_mode="SameStep", **where)


def learned(means, on_iteration=lambda number: None):
    """Of each iteration, the mean return."""
    found, begun = [], time.monotonic()
    for number, mean in enumerate(itertools.islice(means, 150), 1):
        found.append(mean)
        print(f"{number}: {mean:.1f} after {time.monotonic() - begun:.1f} s", flush=True)
        if mean >= 475:
            return found
        on_iteration(number)
    raise AssertionError(f"475 is not reached: {found}")


def test_ppo_learns_and_a_loss_changes_no_number(cluster):
    with moreau_sim.launch(workers=1) as server:
        alone = cart_poles(address=server.address)
        undisturbed = learned(ray_ppo.learn(alone))
        alone.close()
    with moreau_sim.ray.Servers(num_servers=3) as servers:
        worlds = cart_poles(fleet=servers.addresses, token=servers.token, lost_after_s=3.0, shares=6)
        fleet = worlds.unwrapped.worlds.group
        assert len(fleet.servers.hosts) == 3

        def disturb(number):
            if number == KILLED_BEHIND:
                ray_servers.lose_node(cluster)

        means = learned(ray_ppo.learn(worlds), disturb)
        kinds = [event.kind for event in fleet.events]
        worlds.close()
    assert kinds.count("lost") == 1 and "restored" in kinds
    assert means == undisturbed


def test_rllib_learns(cluster):
    learner = ray_rllib.algorithm(runners=3, worlds=16)
    runners = []

    def disturb(number):
        runners.append(learner.env_runner_group.num_healthy_remote_workers())
        if number == KILLED_BEHIND:
            cluster.remove_node(cluster.others[0], allow_graceful=False)

    try:
        learned(ray_rllib.learn(learner), disturb)
    finally:
        learner.stop()
    assert (runners[0], runners[-1]) == (3, 2)
