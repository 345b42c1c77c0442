# SPDX-License-Identifier: MIT
"""Worlds of one group that stand on different terrains, over sockets: recorded, proven after a restart, forked, saved,
resumed, watched; each ball rests where its terrain is."""

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Group, World, channel, errors, parameter, uniform

RADIUS, DEPTHS, WORLDS, STEPS = 0.1, np.array([0.0, 0.25, 0.5]), 6, 60
# a direction that is no axis's: the ground's z
TURN = np.array([0.53, 0.21, -0.6, 0.4]) / np.linalg.norm([0.53, 0.21, -0.6, 0.4])


def up():
    w, x, y, z = TURN
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def flat(depth):
    corners = [[-9, -9], [9, -9], [9, 9], [-9, 9]]
    return {"points": [number for x, y in corners for number in (x, y, -depth)], "triangles": [0, 1, 2, 0, 2, 3]}


SCENE = {
    "settings": {"time_step": 0.01, "gravity": (-10.0 * up()).tolist()},
    "geometries": [{"name": f"level-{k}", "mesh": flat(depth)} for k, depth in enumerate(DEPTHS)],
    "bodies": [
        {
            "name": "ground",
            "kind": "STATIC",
            "orientation": TURN.tolist(),
            "shapes": [{"mesh": {"geometry": "level-0"}}],
        },
        {"name": "ball", "shapes": [{"sphere": {"radius": RADIUS}}], "position": ((RADIUS + 0.01) * up()).tolist()},
    ],
}
LAYOUT = {
    "action": [channel("BODY_FORCE", "ball")],
    "observation": [channel("BODY_GEOMETRY", "ground"), channel("BODY_POSITION", "ball")],
    "double": True,
}
CHANCE = {"noise": [uniform("BODY_GEOMETRY", "ground", 0, len(DEPTHS))]}
STILL = np.zeros((WORLDS, 3))


def make(client, **more):
    return Group.create(client, SCENE, count=WORLDS, **LAYOUT, **more)


def play(group, steps=STEPS):
    for _ in range(steps):
        rows = group.step(STILL)
    return rows


def expect_rest(observation):
    """With no rebound a ball stands on its ground but for rounding, of numbers of one metre."""
    expected = RADIUS - DEPTHS[observation[:, 0].astype(int) - 1]
    assert observation[:, 1:] @ up() == pytest.approx(expected, abs=1e-12)


def test_episodes_choose_their_terrain_and_are_proven(tmp_path):
    path = tmp_path / "episodes.db"
    with moreau_sim.launch(db=path) as server, server.client(timeout_s=60.0) as client:
        with make(client, record="hills", step_limit=STEPS, autoreset="DISABLED", seed=5, **CHANCE) as group:
            recording = group.recording
            worn, rest, saved = [], [], None
            for turn in range(3):
                chosen = np.arange(WORLDS)[:, None] % 3 if turn == 1 else None
                rows = group.reset(values=chosen) if turn else group.reset(seed=5)
                worn.append(rows.observation[:, 0].astype(int))
                play(group, 20)
                saved = group.save() if turn == 2 else None
                rest.append(play(group, STEPS - 20).observation)
                expect_rest(rest[-1])
            assert worn[1].tolist() == [1, 2, 3, 1, 2, 3] and len({*worn[0], *worn[2]}) == 3
            with Group.from_saved(client, saved) as again:
                assert np.array_equal(play(again, STEPS - 20).observation, rest[2])
    with moreau_sim.launch(db=path) as server, server.client(timeout_s=60.0) as client:
        for one in client.episode_list(recording=recording).episodes:
            assert client.episode_verify(episode=one.episode).result().verified
            world, turn = one.world_index or 0, one.turn or 0
            forked = client.episode_fork(episode=one.episode, step=30).world
            # of the scene that such a world is, the ground is the one that it stood on
            scene = client.world_scene(world=forked).scene
            assert scene.bodies[0].shapes[0].mesh.geometry == f"geometry-{worn[turn][world]}"
            client.world_step(worlds=[forked], steps=STEPS - 30)
            pose = np.asarray(client.world_get(world=forked).pose).reshape(-1, 7)
            assert np.array_equal(pose[1, :3], rest[turn][world, 1:])
        calls = 2 * (1 + STEPS) + 1 + 10  # a reset is one
        with Group.resume(client, recording, step=calls) as group:
            assert np.array_equal(play(group, STEPS - 10).observation, rest[2])


def test_who_watches_sees_the_ground_that_is_there(server, client):
    with make(client, parameters=[parameter("BODY_GEOMETRY", "ground", [1, 2, 3, 1, 2, 3])], **CHANCE) as group:
        with pytest.raises(errors.InvalidArgument, match="values"):
            group.reset(values=np.full((WORLDS, 1), 3.0))
        group.reset(values=np.zeros((WORLDS, 1)))
        with server.client(timeout_s=60.0) as viewer:
            frames = iter(viewer.subscribe(group=group.id, index=1))
            assert next(frames).scene.bodies[0].shapes[0].mesh.geometry == "geometry-2"
            group.reset(values=np.zeros((WORLDS, 1)))
            assert next(frames).scene is None
            rows = group.reset(values=[[0], [1], [0], [0], [0], [0]])
            assert rows.observation[1, 0] == 3
            assert next(frames).scene.bodies[0].shapes[0].mesh.geometry == "geometry-3"
        expect_rest(play(group).observation)


def test_what_cannot_be_worn_is_said(client):
    for body, values, said in (
        ("ground", [1, 2, 3, 4, 1, 1], r"parameters\[0\].values\[3\].*no id of a geometry"),
        ("ground", [1, 2.5, 3, 3, 1, 1], r"parameters\[0\].values\[1\].*no id of a geometry"),
        ("ball", [1] * WORLDS, r"parameters\[0\].body.*hull, a mesh or a height field"),
    ):
        with pytest.raises(errors.ServerError, match=said):
            make(client, parameters=[parameter("BODY_GEOMETRY", body, values)])
    with pytest.raises(errors.InvalidArgument, match=r"observation\[0\].body"):
        Group.create(client, SCENE, count=1, **LAYOUT | {"observation": [channel("BODY_GEOMETRY", "ball")]})
    with pytest.raises(errors.InvalidArgument, match=r"cannot be acted on"):
        Group.create(client, SCENE, count=1, **LAYOUT | {"action": [channel("BODY_GEOMETRY", "ground")]})


def test_geometries_that_nothing_wears_are_given_up(tmp_path):
    """A world that sheds its terrains while it is recorded: proven after a restart, forked, and of its scene."""
    path = tmp_path / "episodes.db"
    with moreau_sim.launch(db=path) as server, server.client(timeout_s=60.0) as client:
        world = World.create(client, SCENE)
        episode = client.episode_start(world=world.id, name="shed").episode
        client.world_step(worlds=[world.id], steps=10)
        with pytest.raises(errors.FailedPrecondition, match=r"geometries\[1\].*wears this geometry"):
            client.world_remove(world=world.id, geometries=[2, 1])
        with pytest.raises(errors.NotFound, match=r"geometries\[0\]"):
            client.world_remove(world=world.id, geometries=[4])
        client.world_remove(world=world.id, geometries=[2])
        with pytest.raises(errors.NotFound, match="was removed"):
            client.world_remove(world=world.id, geometries=[2])
        assert [one.name for one in client.world_scene(world=world.id).scene.geometries] == ["geometry-1", "geometry-2"]
        client.world_step(worlds=[world.id], steps=50)
        with Group.create(client, world, count=2, **LAYOUT, noise=[uniform("BODY_GEOMETRY", "#1", 0, 3)]) as group:
            # what was removed has left its id to nobody
            with pytest.raises(errors.InvalidArgument, match="2 is no id of a geometry"):
                group.reset(values=[[1.0], [0.0]])
            assert group.reset(values=[[2.0], [0.0]]).observation[:, 0].tolist() == [3.0, 1.0]
        client.episode_stop(world=world.id)
        hashed = client.world_hash(worlds=[world.id]).hash
    with moreau_sim.launch(db=path) as server, server.client(timeout_s=60.0) as client:
        assert client.episode_verify(episode=episode).result().verified
        forked = client.episode_fork(episode=episode, step=30).world
        client.world_step(worlds=[forked], steps=30)
        assert np.array_equal(client.world_hash(worlds=[forked]).hash, hashed)
