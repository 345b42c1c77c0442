# SPDX-License-Identifier: MIT
"""Motors, lags and delays of joints against a real server: in groups, saved, recorded, proven and forked."""

import numpy as np
import pytest

from moreau_sim import Group, World, channel, errors, parameter

STEP, MASS = 0.01, 2.0
RAIL = {
    "settings": {"time_step": STEP, "gravity": [0, 0, 0]},
    "bodies": [{"name": "cart", "mass": MASS, "inertia": [1, 1, 1, 0, 0, 0]}],
    "joints": [{"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]}],
}
PUSHED = {
    "action": [channel("JOINT_EFFORT", "rail")],
    "observation": [channel("JOINT_POSITION", "rail"), channel("JOINT_VELOCITY", "rail")],
    "double": True,
}


def pushes(count):
    return np.random.default_rng(9).normal(size=(count, 1))


def test_each_row_has_a_delay_of_its_own_which_is_saved_and_proven(client):
    delays = np.array([0.0, 1.0, 5.0, 8.0])
    options = {**PUSHED, "parameters": [parameter("JOINT_DELAY_STEPS", "rail", delays)], "record": "late"}
    with Group.create(client, RAIL, count=4, step_limit=40, autoreset="SAME_STEP", **options) as group:
        recording, given = group.recording, pushes(80)
        group.reset(seed=1)
        seen = []
        for step in range(80):
            rows = group.step(np.tile(given[step % 40], (4, 1)))
            seen.append(rows.observation.copy() if not len(rows.final) else rows.final.observation.copy())
            if step == 47:  # in the middle of the second episode, and of every delay
                with Group.from_saved(client, group.save()) as other:
                    ahead = [other.step(np.tile(given[next_ % 40], (4, 1))).observation for next_ in range(48, 68)]
        for late, now in zip(ahead, seen[48:68], strict=True):
            assert np.array_equal(late, now)
        for row, delay in enumerate(delays.astype(int)):  # the first is the same, later
            assert not any(one[row].any() for one in seen[:delay])
            for step in range(delay, 40):
                assert np.array_equal(seen[step][row], seen[step - delay][0])
        assert np.array_equal(seen[:40], seen[40:])  # nothing of an episode is under way in the next one
    listed = client.episode_list(recording=recording).episodes
    assert len(listed) == 8
    for one in listed:
        assert client.episode_verify(episode=one.episode).result().verified


def test_lags_and_motors_of_rows_are_their_closed_forms(client):
    lags, stalls = np.array([0.0, 0.02, 0.5]), np.array([0.0, 3.0, 100.0])
    parameters = [
        parameter("JOINT_LAG_TIME", "rail", lags),
        parameter("JOINT_STALL_EFFORT", "rail", stalls),
    ]
    with Group.create(client, RAIL, count=3, parameters=parameters, **PUSHED) as group:
        group.reset(seed=1)
        speed = np.zeros(3)
        for step in range(1, 60):
            rows = group.step(np.full((3, 1), 4.0))
            force = 4.0 * np.array([1.0, *-np.expm1(-step * STEP / lags[1:])])
            speed += STEP * np.minimum(force, np.where(stalls > 0, stalls, np.inf)) / MASS
            assert rows.observation[:, 1] == pytest.approx(speed, rel=1e-12)
    with pytest.raises(errors.InvalidArgument, match=r"parameters\[0\].values\[1\]"):
        halves = [parameter("JOINT_DELAY_STEPS", "rail", [1.0, 1.5, 2.0])]
        Group.create(client, RAIL, count=3, parameters=halves, **PUSHED)


def test_a_recorded_world_is_proven_and_forked_with_what_is_under_way(client):
    scene = {**RAIL, "joints": [{**RAIL["joints"][0], "drive_stiffness": [30.0], "drive_damping": [2.0]}]}
    scene["joints"][0] |= {"stall_effort": [6.0], "no_load_speed": [2.0], "lag_time": [0.05], "delay_steps": [12]}
    world = World.create(client, scene)
    said = client.world_scene(world=world.id).scene.joints[0]
    assert (said.stall_effort, said.no_load_speed, said.lag_time, said.delay_steps) == ([6.0], [2.0], [0.05], [12.0])
    episode = client.episode_start(world=world.id, keyframe_steps=7).episode
    seen = []
    for step in range(40):
        target = [float(np.sin(0.3 * step))] if step < 20 else [0.5]
        client.world_set(world=world.id, joints=[1], joint_target=target)
        world.step(1)
        numbers = client.world_get(world=world.id, joints=True)
        seen.append((numbers.joint_position[0], numbers.joint_velocity[0]))
    client.episode_stop(episode=episode)
    assert client.episode_verify(episode=episode).result().verified
    forked = client.episode_fork(episode=episode, step=20).world
    client.world_set(world=forked, joints=[1], joint_target=[0.5])
    for step in range(20, 40):
        client.world_step(worlds=[forked])
        numbers = client.world_get(world=forked, joints=True)
        assert (numbers.joint_position[0], numbers.joint_velocity[0]) == seen[step]
    assert seen[20] != seen[39]
