# SPDX-License-Identifier: MIT
"""Stored episodes as arrays."""

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Episode, World, errors, protocol

STACK = {
    "bodies": [
        {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}}]},
        {"name": "low", "position": [0, 0, 0.1], "shapes": [{"box": {"half_extents": [0.1, 0.1, 0.1]}}]},
        {"name": "high", "position": [0, 0, 0.3], "shapes": [{"box": {"half_extents": [0.1, 0.1, 0.1]}}]},
    ]
}
SWING = {
    "bodies": [
        {"name": "arm", "position": [1, 0, 0], "mass": 2, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        {"name": "weight", "position": [0, 5, 0], "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
    ],
    "joints": [
        {"kind": "BALL", "body_b": "arm", "anchor": [0, 0, 0]},
        {"kind": "SLIDER", "body_b": "weight", "anchor": [0, 5, 0], "axis": [0, 0, 1]},
    ],
}


def test_arrays_are_what_the_world_went_through(client):
    world = World.create(client, STACK)
    seen = [world.state()]
    with world.record("arrays") as id:
        for _ in range(20):
            world.step()
            seen.append(world.state())
    arrays = Episode(client, id).arrays(contacts=True)
    assert np.array_equal(arrays["pose"], np.array([state.pose for state in seen]))
    assert np.array_equal(arrays["velocity"], np.array([state.velocity for state in seen]))
    assert arrays["step"].tolist() == list(range(21)) and arrays["body_name"].tolist() == ["ground", "low", "high"]
    assert arrays["present"].all() and not arrays["stored"].any()
    # the last step's contacts are the world's own
    last = slice(int(arrays["contact_first"][-2]), int(arrays["contact_first"][-1]))
    [contacts] = world.contacts()
    assert np.array_equal(arrays["contact_impulse"][last].ravel(), contacts.impulse) and len(contacts.gap) == 8
    # they carry the weight of both: 16 kg over a step
    carried = arrays["contact_impulse"][last][arrays["contact_body_a"][last] == 1, 0].sum()
    assert carried == pytest.approx(16 * 9.81 / 240, rel=1e-6)


def test_what_comes_and_goes_is_nan_where_it_is_not(client):
    world = World.create(client, STACK)
    with world.record("come and go") as id:
        world.step(2)
        [new] = client.world_add_bodies(
            world=world.id, pose=[9, 9, 9, 1, 0, 0, 0], mass=[1], inertia=[1, 1, 1, 0, 0, 0]
        ).ids.tolist()
        world.step(2)
        client.world_remove(world=world.id, bodies=[int(world.ids[2])])
        world.step(2)
    episode = Episode(client, id)
    arrays = episode.arrays()
    assert arrays["body"].tolist() == [*world.ids.tolist(), new] and arrays["body_name"][3] == ""
    assert arrays["present"].astype(int).T.tolist() == [[1] * 7, [1] * 7, [1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1, 1]]
    assert np.array_equal(np.isnan(arrays["pose"]).any(axis=2), ~arrays["present"])
    assert np.array_equal(arrays["pose"][-1, arrays["present"][-1]], world.state().pose)
    assert episode.arrays(bodies=["high", new], velocities=False)["pose"].shape == (7, 2, 7)
    assert [len(block.step) for block in episode.frames()] == [3, 2, 2]
    for bodies, sentence in ((["nobody"], "nobody"), ([10**6], "1000000")):
        with pytest.raises(KeyError, match=sentence):
            episode.arrays(bodies=bodies)


def test_joints_have_their_numbers_and_axes(client):
    world = World.create(client, SWING, time_step=0.001)
    with world.record("joints") as id:
        world.step(50)
    arrays = Episode(client, id).arrays(poses=False, velocities=False, joints=True)
    assert "pose" not in arrays and "body" not in arrays
    joints = world.joints()
    assert arrays["joint"].tolist() == joints.ids.tolist() and arrays["joint_position_first"].tolist() == [0, 4, 5]
    for name in ("position", "velocity", "target", "target_velocity", "effort"):
        assert np.array_equal(arrays[f"joint_{name}"][-1], getattr(joints, name))
    # symplectic Euler: h^2 g n (n + 1)/2, to rounding of 50 sums
    n = np.arange(51)
    assert arrays["joint_position"][:, 4] == pytest.approx(-9.81e-6 * n * (n + 1) / 2, abs=1e-13)


def test_reports_are_those_that_the_steps_gave(client):
    world = World.create(client, STACK)
    given = []
    with world.record("reports", content=protocol.Episode.Content.CONTACTS, keyframe_steps=10) as id:
        for _ in range(30):
            given.append(world.step(reports=True).reports)
    arrays = Episode(client, id).arrays(reports=True)
    assert arrays["report_present"].tolist() == [False] + [True] * 30 and not arrays["stored"].any()
    assert np.isnan(arrays["report_e_own"][0]) and arrays["report_contacts"][0] == 0
    for name in (
        "contacts",
        "rows",
        "iterations",
        "converged",
        "tolerance",
        "worst_body_a",
        "worst_body_b",
        "recovery_contacts",
    ):
        assert arrays[f"report_{name}"][1:].tolist() == [getattr(one, name)[0] for one in given]
    for name in ("e_mom", "e_pen", "e_comp", "e_cone", "e_mdp", "e_ds", "e_own", "e_row", "penetration"):
        assert arrays[f"report_{name}"][1:].tolist() == [getattr(one.last, name)[0] for one in given]
    for name in ("before", "after", "contact", "row", "applied", "scheme", "unexplained"):
        assert arrays[f"report_energy_{name}"][1:].tolist() == [getattr(one.energy, name)[0] for one in given]
    # whatever the first step and the stride, a frame has the report of its own step
    for first, stride, steps in ((7, 11, [7, 18, 29]), (20, 10, [20, 30])):
        few = Episode(client, id).arrays(first=first, stride=stride, reports=True)
        assert few["step"].tolist() == steps and few["report_present"].all()
        assert few["report_energy_after"].tolist() == arrays["report_energy_after"][steps].tolist()
    assert (arrays["report_contacts"][1:] == 8).all() and arrays["report_converged"][1:].all()


def test_a_range_is_cut_and_a_stream_may_be_left(client):
    world = World.create(client, STACK)
    with world.record("range", content=protocol.Episode.Content.FRAMES) as id:
        world.step(2000)
    episode = Episode(client, id[:8])
    arrays = episode.arrays(first=100, last=500, stride=100)
    assert arrays["step"].tolist() == [100, 200, 300, 400, 500] and arrays["stored"].all()
    assert not episode.arrays(first=2000, again=True)["stored"].any()
    for block in episode.frames():
        assert block.step[0] == 0
        break
    client.ping()  # nothing of it is left behind
    stream = client.episode_replay(episode=id, speed=1e-6)
    next(iter(stream))
    stream.close()
    with pytest.raises(errors.Cancelled):
        stream.result()
    with pytest.raises(errors.OutOfRange):
        episode.arrays(first=2001)
    with pytest.raises(errors.NotFound):
        Episode(client, "none such")


def test_a_group_is_as_good(client):
    scene = {"bodies": [{"name": "ball", "position": [0, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]}]}
    layout = {
        "action": [moreau_sim.channel("BODY_FORCE", "ball")],
        "observation": [moreau_sim.channel("BODY_POSITION", "ball")],
    }
    with moreau_sim.Group.create(client, scene, count=2, step_limit=20, record="farm", **layout) as group:
        group.reset()
        seen = [group.step(np.full((2, 3), 0.5)).observation for _ in range(19)]
        group.step(np.zeros((2, 3)))
    found = client.episode_list(name="farm").episodes
    arrays = Episode(client, next(one.episode for one in found if not one.world_index)).arrays()
    assert np.array_equal(arrays["pose"][1:20, 0, :3].astype(np.float32), np.array(seen)[:, 0])
    # it falls freely but for the force: kinetic and potential energy of the last substep add up with its work
    reports = Episode(client, next(one.episode for one in found if not one.world_index)).arrays(reports=True)
    assert reports["report_present"].tolist() == [False] + [True] * 20
    mass = 1000 * 4 / 3 * np.pi * 0.1**3
    energy = mass * (9.81 * reports["pose"][:, 0, 2] + 0.5 * (reports["velocity"][:, 0, :3] ** 2).sum(axis=1))
    assert reports["report_energy_after"][1:] == pytest.approx(energy[1:], rel=1e-12)


def test_every_episode_of_a_group_is_what_its_learner_saw(client):
    # the cart is pushed out of the bounds, which takes it away with its rail: later episodes begin with it again
    scene = {
        "settings": {"time_step": 0.01, "bounds": {"lower": [-9, -9, -9], "upper": [0.25, 9, 9]}},
        "bodies": [
            {"name": "cart", "mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]},
            {"name": "ball", "position": [0, 5, 2], "shapes": [{"sphere": {"radius": 0.1}}]},
        ],
        "joints": [{"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]}],
    }
    layout = {
        "action": [moreau_sim.channel("JOINT_EFFORT", "rail")],
        "observation": [
            moreau_sim.channel("JOINT_POSITION", "rail"),
            moreau_sim.channel("BODY_POSITION", "ball", axes=[2]),
        ],
        "noise": [moreau_sim.uniform("JOINT_POSITION", "rail", -0.1, 0.1)],
    }
    seen, begun = {}, [[] for _ in range(3)]
    with moreau_sim.Group.create(
        client, scene, count=3, substeps=3, autoreset="SAME_STEP", double=True, record="leaves", **layout
    ) as group:
        rows = group.reset(seed=3)
        for _ in range(40):
            for world in range(3):
                begun[world].append(rows.observation[world])
            rows = group.step(np.array([[9.0], [10.0], [11.0]]))
            for world, turn in zip(rows.final.world, rows.final.episode):
                seen[(world, turn)] = np.array(begun[world])
                begun[world] = []
    found = client.episode_list(name="leaves", count=1000).episodes
    assert {(one.world_index, one.turn) for one in found} == set(seen) and max(one.turn for one in found) > 1
    for one in found:
        arrays = Episode(client, one.episode).arrays(joints=True)
        assert np.array_equal(arrays["joint_position"][:-1, 0], seen[(one.world_index, one.turn)][:, 0])
        assert np.array_equal(arrays["pose"][:-1, 1, 2], seen[(one.world_index, one.turn)][:, 1])
        assert arrays["present"].sum(axis=1).tolist() == [2] * one.steps + [1] and not arrays["joint_present"][-1].any()
