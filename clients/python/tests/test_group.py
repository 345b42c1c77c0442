# SPDX-License-Identifier: MIT
"""Groups of worlds against a real server: layouts, masks, ends, noise, and what is refused."""

import contextlib
import os
import re
import resource
import signal
import time
import threading
import warnings

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Group, World, channel, errors, gaussian, noise_stream, parameter, push_stream, uniform
from moreau_sim.group import judged

SLIDER = {
    "settings": {"time_step": 0.01, "gravity": [0, 0, 0]},
    "bodies": [
        {"name": "cart", "mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]},
        {"name": "ball", "shapes": [{"sphere": {"radius": 0.1}}], "position": [0, 5, 0]},
    ],
    "joints": [{"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]}],
}
PUSHED = {
    "action": [channel("JOINT_EFFORT", "rail", low=-8, high=8)],
    "observation": [channel("JOINT_POSITION", "rail"), channel("JOINT_VELOCITY", "rail")],
}


def make(client, count=4, **more):
    return Group.create(client, SLIDER, count=count, **{**PUSHED, **more})


def test_worlds_do_what_the_closed_form_says(client):
    pushes = np.array([[0.0], [1.0], [-2.0], [100.0]])
    with make(
        client,
        double=True,
        substeps=3,
        extra=[channel("TIME"), channel("BODY_POSITION", "cart", relative_to="ball", axes=[1])],
    ) as group:
        assert group.observation.names == ["rail.position", "rail.velocity"] and len(group.extra) == 2
        assert group.dtype == np.float64
        group.reset(seed=1)
        for _ in range(10):
            rows = group.step(pushes)
    # symplectic Euler: v = n h F/m, x = h^2 F/m n (n + 1)/2; the last push is clipped to 8 N
    steps, push = 30, np.minimum(pushes[:, 0], 8.0) / 2.0
    assert rows.observation == pytest.approx(
        np.stack([1e-4 * push * steps * (steps + 1) / 2, 0.01 * steps * push], axis=1), abs=1e-13
    )
    assert rows.extra == pytest.approx(np.tile([0.3, -5.0], (4, 1)), abs=1e-13)


def test_arrays_may_be_kept_and_written_to(client):
    with make(client) as group:
        kept = [group.reset(seed=1)]
        for push in range(5):
            kept.append(group.step(np.full((4, 1), float(push))))
            assert kept[-1].observation.flags.c_contiguous and kept[-1].observation.flags.writeable
            kept[-1].observation[:] = 9.0
        assert all(np.all(rows.observation == 9.0) for rows in kept[1:])
        assert not np.any(group.step(np.zeros((4, 1))).observation == 9.0)


def test_noise_columns_are_named_by_what_is_added(client):
    # a rotation is read as a quaternion, and added to as a rotation vector
    noise = [uniform("BODY_ROTATION", "ball", -1, 1), gaussian("BODY_SPIN", "ball", 1.0, axes=[2])]
    with make(client, noise=noise, observation=[channel("BODY_ROTATION", "ball")]) as group:
        assert group.observation.names == [f"ball.rotation.{letter}" for letter in "wxyz"]
        assert group.noise.names == ["ball.rotation.x", "ball.rotation.y", "ball.rotation.z", "ball.spin.z"]


def test_noise_is_what_numpy_draws(client):
    noise = [
        uniform("JOINT_POSITION", "rail", -1, 3),
        gaussian("JOINT_VELOCITY", "rail", 0.5, 2.0),
        uniform("BODY_POSITION", "ball", 0, 1, axes=[0, 2]),
    ]
    with make(
        client,
        noise=noise,
        double=True,
        first_world=10,
        observation=[*PUSHED["observation"], channel("BODY_POSITION", "ball")],
    ) as group:
        for episode, rows in enumerate((group.reset(seed=77), group.reset())):
            for world in range(4):
                draw = noise_stream(77, 10 + world, episode).random(5)
                speed = 2.0 + 0.5 * np.sqrt(-2.0 * np.log1p(-draw[1])) * np.cos(2 * np.pi * draw[2])
                expected = [-1 + 4 * draw[0], speed, draw[3], 5.0, draw[4]]
                assert rows.observation[world] == pytest.approx(expected, abs=1e-14)
        values = np.arange(16.0).reshape(4, 4)
        rows = group.reset(values=values)
        assert np.array_equal(rows.observation[:, [0, 1, 2, 4]], values)


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP", "DISABLED"])
def test_the_last_observation_is_there_in_every_mode(client, mode):
    bounds = [channel("JOINT_POSITION", "rail", low=-1, high=0.02)]
    noise = [uniform("JOINT_VELOCITY", "rail", 0, 1)]
    with make(client, bounds=bounds, noise=noise, step_limit=6, autoreset=mode, double=True) as group:
        before = group.reset(seed=5).observation
        ended = set()
        for step in range(1, 7):
            over = np.zeros(4, bool) if mode != "DISABLED" else np.array([world in ended for world in range(4)])
            if over.all():
                break
            rows = group.step(np.zeros((int((~over).sum()), 1)), None if not over.any() else ~over)
            first = {world for world in range(4) if world not in ended}
            for place, world in enumerate(rows.final.world):
                if world in first:
                    # nothing pushes: the cart is where its first velocity took it
                    assert rows.final.observation[place] == pytest.approx(
                        [before[world, 1] * 0.01 * step, before[world, 1]], abs=1e-14
                    )
                    row = int(np.flatnonzero(rows.worlds == world)[0])
                    assert rows.terminated[row] == (rows.final.observation[place, 0] > 0.02) and rows.truncated[
                        row
                    ] == (step == 6)
                    assert (rows.final.length[place], rows.final.episode[place], rows.final.seed[place]) == (step, 0, 5)
                    again = noise_stream(5, world, 1).random()
                    shown = again if mode == "SAME_STEP" else before[world, 1]
                    assert rows.observation[row, 1] == pytest.approx(shown, abs=1e-14)
                    ended.add(int(world))
        assert ended == {0, 1, 2, 3}


def test_a_mask_names_worlds(client):
    with make(client, count=11, double=True) as group:
        group.reset(seed=1)
        mask = np.zeros(11, bool)
        mask[[0, 8, 10]] = True
        rows = group.step([[2.0]] * 3, mask)
        assert rows.worlds.tolist() == [0, 8, 10] and rows.observation.shape == (3, 2)
        moved = group.step(np.zeros((11, 1))).observation[:, 1]
        assert np.array_equal(moved != 0.0, mask)
        assert np.all(group.reset(mask).observation == 0.0)


def test_a_world_may_be_the_template(client):
    world = World.create(client, SLIDER)
    world.step(7, joints=[1], joint_effort=[3.0])
    with Group.create(
        client,
        world,
        count=2,
        action=[channel("JOINT_EFFORT", 1)],
        observation=[channel("JOINT_VELOCITY", "rail")],
        double=True,
    ) as group:
        assert group.reset(seed=0).observation == pytest.approx(np.full((2, 1), 0.01 * 7 * 1.5), abs=1e-15)


@pytest.mark.parametrize(
    "words, call",
    [
        ("4 x 1 numbers", lambda g: g.step(np.zeros(4))),
        ("4 x 1 numbers", lambda g: g.step(np.zeros((4, 2)))),
        ("4 x 1 numbers", lambda g: g.step([["push"]] * 4)),
        ("1 x 1 numbers", lambda g: g.step(np.zeros((4, 1)), [True, False, False, False])),
        ("4 booleans", lambda g: g.reset([True] * 5)),
        ("4 booleans", lambda g: g.reset(np.ones(4, int))),
        ("names no world", lambda g: g.reset([False] * 4)),
        ("seed", lambda g: g.reset(seed=[1, 2])),
        ("seed", lambda g: g.reset(seed=-1)),
        ("seed", lambda g: g.reset(seed=2**64)),
        ("seed", lambda g: g.reset(seed=1.5)),
        ("values", lambda g: g.reset(values=np.zeros((4, 1)))),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_done(client, words, call):
    with make(client, double=True) as group:
        group.reset(seed=1)
        with pytest.raises(ValueError, match=words):
            call(group)
        assert group.step(np.ones((4, 1))).observation[:, 1] == pytest.approx(np.full(4, 0.005), abs=1e-16)


@pytest.mark.parametrize(
    "field, options",
    [
        ("action[0].joint", {"action": [channel("JOINT_EFFORT", "nowhere")]}),
        ("observation[1]", {"observation": [channel("JOINT_POSITION", "rail"), channel("BODY_POSITION", "nobody")]}),
        ("noise[0]", {"noise": [uniform("JOINT_POSITION", "rail", 2, 1)]}),
        ("count", {"count": 0}),
    ],
)
def test_a_layout_that_is_none_is_refused(client, field, options):
    with pytest.raises(errors.InvalidArgument) as refused:
        make(client, **options)
    assert refused.value.field.startswith(field)


def test_a_world_with_a_bad_action_is_refused_by_the_server_and_the_others_step(client):
    """As the protocol has it; step() itself lets no such row through."""
    with make(client, double=True) as group:
        worlds = group.reset(seed=1).worlds
        fields = group.begin_step(None, np.array([[1.0], [np.nan], [1.0], [np.inf]])).fields()
        rows = group.made(fields, worlds)
        with pytest.raises(errors.InvalidArgument) as refused:
            judged(rows)
        assert refused.value.world == 1 and refused.value.result is rows
        assert rows.observation[:, 1] == pytest.approx([0.005, 0.0, 0.005, 0.0], abs=1e-16)
        assert [failure.world for failure in rows.failures] == [1, 3]


@pytest.mark.parametrize(
    "bad, why",
    [
        (np.nan, "not finite"),
        (-np.inf, "not finite"),
        (1e39, "not finite as float32"),
        (-1.7e308, "not finite as float32"),
    ],
)
def test_an_action_that_is_not_finite_is_refused_before_anything_steps(client, bad, why):
    actions = np.array([[1.0], [1.0], [bad], [1.0]])
    some = np.array([True, False, True, False])
    with make(client) as group, make(client) as fresh:
        group.reset(seed=1)
        fresh.reset(seed=1)
        for call in (group.step, group.send):
            with pytest.raises(ValueError, match=f"world 2 is {re.escape(why)} .*; no world has stepped"):
                call(actions)
            with pytest.raises(ValueError, match="world 2 is not finite"):
                call(actions[1:3], some)
        with pytest.raises(errors.FailedPrecondition):
            group.receive()  # nothing was sent
        assert np.array_equal(group.step(np.ones((4, 1))).observation, fresh.step(np.ones((4, 1))).observation)


def test_a_group_that_is_gone_is_not_found(client):
    group = make(client)
    group.close()
    with pytest.raises(errors.NotFound):
        group.step(np.zeros((4, 1)))


def test_a_server_that_dies_in_mid_step_is_one_clear_error():
    with moreau_sim.launch() as server, server.client(timeout_s=60.0) as client:
        group = make(client, count=64, substeps=1_000_000)
        group.reset(seed=1)
        threading.Timer(0.3, os.kill, (server.process.pid, signal.SIGKILL)).start()
        with pytest.raises(errors.ConnectionLost):
            group.step(np.zeros((64, 1)))
        with pytest.raises(errors.ConnectionLost):
            group.step(np.zeros((64, 1)))


def test_the_same_for_any_number_of_workers():
    seen = []
    for workers in (1, 3):
        with moreau_sim.launch(workers=workers) as server, server.client() as client:
            with make(client, count=50, noise=[uniform("JOINT_VELOCITY", "rail", -1, 1)], step_limit=7) as group:
                rows = [group.reset(seed=3).observation]
                rows += [group.step(np.linspace(-1, 1, 50)[:, None]).observation for _ in range(20)]
        seen.append(np.concatenate(rows))
    assert np.array_equal(*seen)


def test_worlds_are_received_as_they_finish(client):
    with make(client, count=6, double=True) as whole, make(client, count=6, double=True) as parts:
        whole.reset(seed=1)
        parts.reset(seed=1)
        for push in np.linspace(-2, 2, 4):
            actions = push * np.arange(6.0)[:, None]
            expected = whole.step(actions)
            mask = np.array([True, False] * 3)
            parts.send(actions[mask], mask)
            parts.send(actions[~mask], ~mask)
            rows = [parts.receive(2), parts.receive(1), parts.receive()]
            worlds = np.concatenate([row.worlds for row in rows])
            assert sorted(worlds) == list(range(6))
            assert np.array_equal(np.concatenate([row.observation for row in rows]), expected.observation[worlds])
        with pytest.raises(errors.FailedPrecondition):
            parts.receive()
        # the connection and the group stay usable
        assert len(parts.step(actions).worlds) == 6


def test_parameters_make_worlds_differ(client):
    masses = np.array([1.0, 2.0, 4.0, 8.0])
    with make(client, parameters=[parameter("BODY_MASS", "cart", masses)], double=True) as group:
        group.reset(seed=1)
        assert group.step(np.ones((4, 1))).observation[:, 1] == pytest.approx(0.01 / masses, rel=1e-13)
    with pytest.raises(errors.InvalidArgument):
        make(client, parameters=[parameter("BODY_MASS", "cart", -masses)])


TOP = {
    "settings": {"time_step": 0.01, "gravity": [0, 0, 0]},
    "bodies": [{"name": "arm", "mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}],
    "joints": [{"name": "axle", "body_b": "arm", "axis": [0, 0, 1]}],
}


def test_inertias_differ_from_world_to_world_and_are_proven(client):
    moments = np.array([1.0, 2.0, 4.0])
    tensors = np.zeros((3, 6))
    tensors[:, :3] = moments[:, None]
    tensors[:, 3] = 0.25 * moments  # which the axle does not feel
    options = {"action": [channel("JOINT_EFFORT", "axle")], "observation": [channel("JOINT_VELOCITY", "axle")]}
    options |= {"double": True, "step_limit": 10, "autoreset": "SAME_STEP", "record": "tops"}
    both = [parameter("BODY_MASS", "arm", [2.0, 2.0, 2.0]), parameter("BODY_INERTIA", "arm", tensors.ravel())]
    with Group.create(client, TOP, count=3, parameters=both, **options) as group:
        recording = group.recording
        group.reset(seed=1)
        assert group.step(np.full((3, 1), 5.0)).observation[:, 0] == pytest.approx(0.05 / moments, rel=1e-12)
        with Group.from_saved(client, group.save()) as other:
            assert np.array_equal(other.step(np.ones((3, 1))).observation, group.step(np.ones((3, 1))).observation)
        for _ in range(8):
            group.step(np.ones((3, 1)))
    for one in client.episode_list(recording=recording).episodes:
        assert client.episode_verify(episode=one.episode).result().verified
    tensors[1, :3] = [1.0, 1.0, 9.0]
    with pytest.raises(errors.InvalidArgument, match=r"parameters\[0\].values\[6\]"):
        Group.create(client, TOP, count=3, parameters=[parameter("BODY_INERTIA", "arm", tensors.ravel())], **options)


LEAN = {
    "settings": {"time_step": 0.001, "gravity": [0, -9.81, 0]},
    "bodies": [
        {"name": "bob", "mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "orientation": [0.8, 0, 0, 0.6]},
        {"name": "top", "mass": 2.0, "inertia": [0.3, 0.3, 0.3, 0, 0, 0], "position": [3, 0, 0]},
    ],
    "joints": [{"name": "axle", "body_b": "bob", "axis": [0, 0, 1]}],
}


def test_centres_of_mass_differ_from_world_to_world_and_are_proven(client):
    depth = np.array([0.1, 0.5, 2.0])
    centres = np.stack([np.zeros(3), -depth, np.zeros(3)], axis=1)
    places = [parameter("BODY_CENTER_OF_MASS", name, centres.ravel()) for name in ("bob", "top")]
    options = {"action": [channel("JOINT_EFFORT", "axle")], "double": True, "step_limit": 10, "record": "leaning"}
    options |= {
        "observation": [channel("JOINT_VELOCITY", "axle"), channel("BODY_POSITION", "top")],
        "noise": [uniform("BODY_POSITION", "top", low=-0.5, high=0.5)],
        "autoreset": "SAME_STEP",
    }
    with Group.create(client, LEAN, count=3, parameters=places, **options) as group:
        recording = group.recording
        start = group.reset(seed=1).observation
        assert (np.abs(start[:, 1:] - [3, 0, 0]) <= 0.5).all()  # wherever its mass is
        assert len(np.unique(start[:, 1])) == 3
        rows = group.step(np.zeros((3, 1))).observation
        # the bob stands askew: 2 asin(0.6) = acos(0.28) from where it would hang
        turned = -0.001 * 9.81 * depth * 0.96 / (0.1 + depth**2)
        assert rows[:, 0] == pytest.approx(turned, rel=1e-12)
        assert rows[:, 1:] == pytest.approx(start[:, 1:] - [0, 9.81e-6, 0], abs=1e-15)
        with Group.from_saved(client, group.save()) as other:
            assert np.array_equal(other.step(np.ones((3, 1))).observation, group.step(np.ones((3, 1))).observation)
        for _ in range(20):
            group.step(np.ones((3, 1)))
    for one in client.episode_list(recording=recording).episodes:
        assert client.episode_verify(episode=one.episode).result().verified
        forked = client.world_get(world=client.episode_fork(episode=one.episode, step=5).world, definition=True)
        assert np.array_equal(np.reshape(forked.center_of_mass, (2, 3)), np.tile(centres[one.world_index], (2, 1)))
    centres[1, 2] = 1e10
    with pytest.raises(errors.InvalidArgument, match=r"parameters\[0\].values\[3\]"):
        wrong = [parameter("BODY_CENTER_OF_MASS", "bob", centres)]
        Group.create(client, LEAN, count=3, **options | {"parameters": wrong})


FREE = {
    "settings": {"time_step": 0.005, "gravity": [0, 0, 0]},
    "bodies": [{"name": "puck", "mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0], "orientation": [0.5, 0.1, -0.7, 0.5]}],
}


def drawn_pushes(seed, world, episode, steps):
    """What pushes of (2 … 5) N, for 3 steps with probability 0.2, hold in each of these steps."""
    force = np.zeros((steps + 3, 3))
    for step in range(steps):
        stream = push_stream(seed, world, episode, step)
        if stream.random() < 0.2:
            size, z, turn = 2 + 3 * stream.random(), 2 * stream.random() - 1, 2 * np.pi * stream.random()
            along = [np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z]
            force[step : step + 3] += size * np.array(along)
    return force[:steps]


def test_pushes_come_as_numpy_draws_them_and_are_proven(client):
    options = {"action": [channel("BODY_TORQUE", "puck")], "observation": [channel("BODY_VELOCITY", "puck")]}
    options |= {"pushes": [moreau_sim.push("puck", 0.2, force=(2, 5), steps=3)], "substeps": 2, "step_limit": 12}
    options |= {"autoreset": "SAME_STEP", "double": True, "first_world": 4}
    idle = np.zeros((3, 3))
    with Group.create(client, FREE, count=3, record="pushed at random", **options) as group:
        recording = group.recording
        group.reset(seed=9)
        for episode in range(2):
            forces = np.stack([drawn_pushes(9, 4 + world, episode, 12) for world in range(3)], axis=1)
            assert np.any(forces) and not np.array_equal(forces[:, 0], forces[:, 1])
            for step in range(12):
                rows = group.step(idle)
                seen = rows.observation if step < 11 else rows.final.observation
                assert seen == pytest.approx(forces[: step + 1].sum(axis=0) * 2 * 0.005 / 2.0, abs=1e-13)
        for _ in range(5):
            group.step(idle)
        with Group.from_saved(client, group.save()) as other:
            for _ in range(20):  # with what is under way, and over the end of an episode
                assert np.array_equal(other.step(idle).observation, group.step(idle).observation)
    with Group.resume(client, recording, step=30) as group, Group.create(client, FREE, count=3, **options) as again:
        again.reset(seed=9)
        for _ in range(29):
            rows = again.step(idle)
        assert list(group.resumed.seed) == [9] * 3 and list(group.resumed.episode) == [2] * 3
        assert group.resumed.first_world == 4
        assert np.array_equal(group.read().observation, rows.observation)
        for _ in range(9):
            assert np.array_equal(group.step(idle).observation, again.step(idle).observation)
    episodes = client.episode_list(recording=recording).episodes
    assert len(episodes) >= 6
    for one in episodes:
        assert client.episode_verify(episode=one.episode).result().verified
        force = drawn_pushes(9, 4 + one.world_index, one.turn, 12)
        forked = client.world_get(world=client.episode_fork(episode=one.episode, step=10).world)
        assert forked.velocity[:3] == pytest.approx(force[:10].sum(axis=0) * 2 * 0.005 / 2.0, abs=1e-13)
    with pytest.raises(errors.InvalidArgument, match=r"pushes\[0\].probability"):
        wrong = [moreau_sim.push("puck", 2.0, force=1.0)]
        Group.create(client, FREE, count=3, **options | {"pushes": wrong})
    with pytest.raises(errors.InvalidArgument, match="pushes"):
        client.group_create(recording=recording, pushes=[moreau_sim.push("puck", 0.2, force=1.0)])


def test_finished_episodes_are_recorded_with_what_they_earned(client):
    with make(client, step_limit=5, autoreset="SAME_STEP", record="pushed") as group:
        assert len(group.recording) == 32
        group.reset(seed=3)
        earned = np.zeros(4)
        for _ in range(10):
            rows = group.step(np.full((4, 1), 1.0))
            earned += [1.0, 2.0, 3.0, 4.0]
            if len(rows.final):
                group.tell_returns(rows.final.world, earned[rows.final.world])
                earned[rows.final.world] = 0.0
        with pytest.raises(ValueError):
            group.tell_returns([0], [np.nan])
    listed = client.episode_list(recording=group.recording).episodes
    assert sorted((one.world_index or 0, one.turn or 0, one.steps, one.return_sum) for one in listed) == [
        (world, turn, 5, 5.0 * (world + 1)) for world in range(4) for turn in range(2)
    ]
    verified = client.episode_verify(episode=listed[0].episode).result()
    assert verified.verified and verified.steps == 5


def test_rows_are_read_as_they_stand(client):
    with make(client) as group:
        assert not group.read().observation.any()
        rows = group.step(np.ones((4, 1))) if group.reset(seed=1) else None
        assert np.array_equal(group.read().observation, rows.observation)
        mask = np.array([False, True, False, True])
        assert np.array_equal(group.read(mask).observation, rows.observation[mask]) and group.read(
            mask
        ).worlds.tolist() == [1, 3]


def test_a_learner_is_warned_once_that_its_group_is_not_recorded_any_more(tmp_path):
    path = tmp_path / "episodes.db"
    with moreau_sim.launch(db=path) as server, server.client(timeout_s=60.0) as client:
        group = make(client, record="pushed")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            group.step(np.ones((4, 1)))
        # what is written next is more than a file may have
        hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, hard))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            while not client.group_list().groups[0].recording_ended:
                group.step(np.ones((4, 1)))
            for _ in range(3):
                group.step(np.ones((4, 1)))
        assert [one.category for one in told] == [RuntimeWarning], told
        said = str(told[0].message)
        assert "is not recorded any more" in said and client.group_list().groups[0].recording_ended in said
        assert told[0].filename == __file__
        with pytest.raises(errors.ResourceExhausted):
            group.close()
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (hard, hard))


def test_a_group_goes_on_after_its_server_was_killed(tmp_path):
    pushes = np.random.default_rng(1).uniform(-8, 8, (60, 4, 1))
    noise = [uniform("JOINT_POSITION", "rail", -1, 1)]

    def begin(client):
        return make(
            client,
            double=True,
            noise=noise,
            step_limit=9,
            seed=3,
            record=moreau_sim.protocol.GroupRecord(name="pushed", keyframe_steps=10),
        )

    server = moreau_sim.launch(db=tmp_path / "episodes.db")
    client = server.client()
    straight, killed = begin(client), begin(client)
    expected = [straight.step(push).observation for push in pushes]
    for push in pushes[:40]:
        killed.step(push)
    viewer = server.client()
    frames = iter(viewer.subscribe(group=killed.id, index=1))
    # the first of ten calls begins an episode of nine steps
    assert next(frames).episode_step == 9
    # what is in the file when it is killed; what waits for more to share a transaction is lost
    until = time.monotonic() + 20
    stored = 0
    while stored <= 5 and time.monotonic() < until:
        # its row comes with the rest
        with contextlib.suppress(errors.NotFound), Group.resume(client, killed.recording) as look:
            stored = look.resumed.step
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    with pytest.raises(errors.ConnectionLost):
        client.ping()
    with pytest.raises(errors.ConnectionLost):
        next(frames)
    with moreau_sim.launch(db=tmp_path / "episodes.db") as server, server.client() as client:
        with pytest.raises(errors.InvalidArgument):
            Group.resume(client, "pushed")  # two have the name
        with Group.resume(client, killed.recording, record="again") as group:
            step = group.resumed.step
            assert stored <= step <= 40 and group.dtype == np.float64 and group.recording != killed.recording
            assert group.resumed.recording == killed.recording and not group.resumed.damage
            assert np.array_equal(group.read().observation, expected[step - 1])
            with server.client() as viewer:
                seen = next(iter(viewer.subscribe(group=group.id, index=1)))
                assert (seen.episode, seen.episode_step, seen.episode_over) == (
                    (step - 1) // 10,
                    (step - 1) % 10,
                    step % 10 == 0,
                )
            for push, observation in zip(pushes[step:], expected[step:]):
                assert np.array_equal(group.step(push).observation, observation)
        with Group.resume(client, killed.recording, step=5) as group:
            assert np.array_equal(group.step(pushes[5]).observation, expected[5])
        with pytest.raises(errors.OutOfRange) as raised:
            Group.resume(client, killed.recording, step=41)
        assert raised.value.field == "step"


def test_a_world_is_watched_while_it_learns(client, server):
    group = make(client, step_limit=3, autoreset="SAME_STEP")
    with server.client(timeout_s=60.0) as viewer:
        live = viewer.subscribe(group=group.id, index=2, frames_per_second=0.0, velocities=True)
        frames = iter(live)
        first = next(frames)
        assert first.episode is None and len(first.scene.bodies) == 2
        group.reset(seed=1)
        seen = [next(frames)]
        for _ in range(4):
            rows = group.step(np.full((4, 1), 2.0))
            seen.append(next(frames))
            assert np.float32(seen[-1].frames.pose[0]) == rows.observation[2, 0]
        assert [(frame.episode, frame.episode_step) for frame in seen] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
        with pytest.raises(errors.InvalidArgument) as refused:
            judged(
                group.made(
                    group.begin_step(None, np.array([[0.0], [0.0], [np.nan], [0.0]], np.float32)).fields(), np.arange(4)
                )
            )
        failed = next(frames)
        assert failed.failure.message in str(refused.value) and failed.episode_step == 1
        with pytest.raises(errors.InvalidArgument, match="The group has the worlds 0 to 3, not 4"):
            viewer.subscribe(group=group.id, index=4).result()
        group.close()
        with pytest.raises(errors.NotFound, match=f"Group {group.id} is gone: it was destroyed"):
            live.result()


def test_a_saved_group_goes_on_with_the_same_bits(client):
    noise = [uniform("JOINT_POSITION", "rail", -1, 1)]
    pushes = np.arange(4.0)[:, None]
    with make(client, noise=noise, step_limit=7, autoreset="SAME_STEP") as group:
        group.reset(seed=3)
        for _ in range(5):
            group.step(pushes)
        saved = group.save()
        with Group.from_saved(client, saved) as other:
            assert (other.count, other.dtype, other.action.names) == (group.count, group.dtype, group.action.names)
            assert other.resumed.step == 6 and np.array_equal(other.read().observation, group.read().observation)
            for _ in range(20):
                one, two = group.step(pushes), other.step(pushes)
                assert np.array_equal(one.observation, two.observation)
                assert np.array_equal(one.truncated, two.truncated)
            assert other.save() == group.save()
    assert client.stats().world_bytes is not None


def test_what_is_no_saved_group_is_refused(client):
    with make(client) as group:
        saved = bytearray(group.save())
        saved[200] ^= 1
        with pytest.raises(errors.DataLoss):
            Group.from_saved(client, bytes(saved))
        with pytest.raises(errors.InvalidArgument, match="no snapshot"):
            Group.from_saved(client, b"nothing of the kind")
        group.reset()
        group.send(np.zeros((4, 1)))
        with pytest.raises(errors.FailedPrecondition, match="receive"):
            group.save()
        group.receive(4)


STAIRS = {
    "settings": {"time_step": 0.01, "gravity": [0, 0, 0]},
    "bodies": [
        {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}}]},
        {
            "name": "stair",
            "kind": "STATIC",
            "position": [2, 0, 0.25],
            "shapes": [{"box": {"half_extents": [1, 5, 0.25]}}],
        },
        {
            "name": "hidden",
            "kind": "STATIC",
            "position": [0, 0, 0.1],
            "shapes": [{"sphere": {"radius": 0.3}, "group": 2}],
        },
        {
            "name": "dog",
            "position": [0, 0, 1],
            "orientation": [np.sqrt(0.5), 0, np.sqrt(0.5), 0],  # its x points down, its z along x
            "shapes": [
                {"box": {"half_extents": [0.2, 0.1, 0.1]}},
                {"sphere": {"radius": 0.1}, "position": [0.25, 0, 0]},
            ],
        },
    ],
}


def test_rays_go_with_a_body_which_they_do_not_see(client):
    down = [[0, 0, -4.0]] * 3
    around = [[0, 0, 0], [1.5, 0, 0], [0, 3, 0]]
    scan = channel("RAYS", "dog", ray_heading=True, ray_origin=around, ray_way=down, ray_mask=1)
    nose = channel("RAYS", "dog", ray_way=[[4, 0, 0], [0, 0, 4]], scale=4.0, axes=[0, 1])
    turned = channel("RAYS", "dog", ray_way=[[1, 0, 0]], ray_mask=1)
    push = channel("BODY_FORCE", "dog")
    options = {"action": [push], "observation": [scan, nose, turned], "double": True}
    options |= {"record": "scanned", "step_limit": 1}
    with Group.create(client, STAIRS, count=3, **options) as group:
        recording = group.recording
        assert group.observation.names[:3] == ["dog.ray.0", "dog.ray.1", "dog.ray.2"]
        assert group.observation.low.tolist() == [0] * 6 and group.observation.high.tolist() == [1, 1, 1, 4, 4, 1]
        rows = group.reset(seed=1)
        # looking down it has no heading; the scan is along the world's x and y. The nose sees the hidden ball, and the
        # stair is too low for it
        seen = [0.25, 0.125, 0.25, 0.6, 4.0, 1.0]
        assert rows.observation == pytest.approx(np.tile(seen, (3, 1)), abs=1e-12)
        saved = group.save()
        group.step(np.zeros((3, 3)))
    [first, *_] = client.episode_list(recording=recording).episodes
    assert client.episode_verify(episode=first.episode).result().verified
    with Group.from_saved(client, saved) as again:
        assert again.read().observation == pytest.approx(np.tile(seen, (3, 1)), abs=1e-12)
    for words, wrong in {
        "ray_way": {"ray_way": [[0, 0, 0]]},
        "ray_origin": {"ray_way": down, "ray_origin": [[0, 0, 0]] * 2},
        "ray_mask": {"ray_way": down, "ray_mask": 0},
    }.items():
        with pytest.raises(errors.InvalidArgument, match=rf"observation\[0\].{words}"):
            Group.create(client, STAIRS, count=1, action=[push], observation=[channel("RAYS", "dog", **wrong)])
    with pytest.raises(errors.InvalidArgument, match="no rays"):
        Group.create(client, STAIRS, count=1, action=[push], observation=[channel("TIME", ray_way=down)])


ARM = {
    "settings": {"time_step": 0.005, "gravity": [0, 0, -9.81]},
    "bodies": [
        {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}}]},
        {"name": "foot", "position": [3, 0, 0.1], "mass": 2, "shapes": [{"sphere": {"radius": 0.1}}]},
        {"name": "arm", "position": [0.5, 0, 2], "mass": 3, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
    ],
    "joints": [{"name": "bolt", "kind": "FIXED", "body_b": "arm", "anchor": [0, 0, 2]}],
}


def test_sensors_feel_what_happened_in_the_last_step(client):
    turned = [0.1, 0, 0, np.sqrt(0.5), 0, np.sqrt(0.5), 0]  # its x points down
    observation = [
        channel("ACCELEROMETER", "foot", mount=turned),
        channel("GYROSCOPE", "foot", mount=turned),
        channel("JOINT_WRENCH", "bolt"),
        channel("CONTACT", "foot"),
        channel("CONTACT", "foot", relative_to="arm"),
        channel("CONTACT_FORCE", "foot", axes=[2], relative_to="ground"),
    ]
    options = {"action": [channel("BODY_FORCE", "foot")], "observation": observation, "double": True}
    with Group.create(client, ARM, count=2, record="felt", step_limit=5, autoreset="SAME_STEP", **options) as group:
        recording = group.recording
        names = group.observation.names
        assert names[0] == "foot.accelerometer.x" and names[6] == "bolt.wrench_force.x"
        assert names[12:] == ["foot.contact", "foot.contact-arm", "foot.contact_force.z-ground"]
        assert not group.reset(seed=1).observation.any()
        for _ in range(3):
            rows = group.step(np.zeros((2, 3)))
        g = 9.81
        felt = [-g, 0, 0, 0, 0, 0, 0, 0, 3 * g, 0, -0.5 * 3 * g, 0, 1, 0, 2 * g]
        assert rows.observation == pytest.approx(np.tile(felt, (2, 1)), abs=1e-5)
        with Group.from_saved(client, group.save()) as again:
            assert np.array_equal(again.read().observation, rows.observation)
        for _ in range(2):
            rows = group.step(np.zeros((2, 3)))
        assert rows.final.observation == pytest.approx(np.tile(felt, (2, 1)), abs=1e-5)
        assert not rows.observation.any()  # of the next episode
    [first, *_] = client.episode_list(recording=recording).episodes
    assert client.episode_verify(episode=first.episode).result().verified
    with pytest.raises(errors.InvalidArgument, match=r"observation\[0\].mount"):
        options["observation"] = [channel("CONTACT", "foot", mount=[1])]
        Group.create(client, ARM, count=1, **options)


def test_a_sensor_says_what_numpy_draws(client):
    seen = channel("BODY_POSITION", "dog", scale=2.0, noise_deviation=0.1, bias_deviation=1.0, bias_walk=0.5)
    late = channel("TIME", delay=1, delay_max=4)
    options = {"action": [channel("BODY_FORCE", "dog")], "observation": [seen, late], "double": True, "seed": 3}
    options |= {"extra": [channel("TIME", noise_deviation=1.0)], "record": "sensed", "step_limit": 8}

    def normal(stream):
        u, v = stream.random(2)
        return np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)

    with Group.create(client, STAIRS, count=2, **options) as group:
        recording = group.recording
        rows = group.reset()
        bias = np.zeros((2, 3))
        delay = np.zeros(2)
        for row in range(9):
            for i in range(2):
                stream = moreau_sim.sensor_stream(3, i, 0, row)
                for axis in range(3):
                    bias[i, axis] += (1.0 if row == 0 else 0.5 * np.sqrt(0.01)) * normal(stream)
                    told = 2 * ([0, 0, 1][axis] + bias[i, axis] + 0.1 * normal(stream))
                    assert rows.observation[i, axis] == pytest.approx(told, abs=1e-12)
                if row == 0:
                    delay[i] = 1 + np.floor(4 * stream.random())
                assert rows.observation[i, 3] == pytest.approx(0.01 * max(0, row - delay[i]), abs=1e-12)
                beside = 0.01 * row + normal(moreau_sim.sensor_stream(3, i, 0, row, extra=True))
                assert rows.extra[i, 0] == pytest.approx(beside, abs=1e-12)
            if row == 5:
                saved = group.save()
                with Group.from_saved(client, saved) as again:
                    assert np.array_equal(again.read().observation, rows.observation)
                    next_row = again.step(np.zeros((2, 3))).observation
            rows = group.step(np.zeros((2, 3)))
            if row == 5:
                assert np.array_equal(rows.observation, next_row)
    [first, *_] = client.episode_list(recording=recording).episodes
    assert client.episode_verify(episode=first.episode).result().verified
    with pytest.raises(errors.InvalidArgument, match=r"bounds\[0\].*judges"):
        Group.create(client, STAIRS, count=1, bounds=[channel("TIME", delay=2, high=1.0)], **options)
