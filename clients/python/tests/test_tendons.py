# SPDX-License-Identifier: MIT
"""Tendons far from where they were made: in groups whose worlds begin again, in fleets that grow, lose a server and are
drained, in files that are merged, and in worlds that are forked from those."""

import subprocess

import numpy as np
import pytest
from test_fleet import launched  # noqa: F401
from test_fleet_company import TURN, same, turned

from moreau_sim import Fleet, Group, channel, parameter, uniform
from moreau_sim.world import World

COUNT, CALLS, LIMIT = 12, 50, 20
COEFFICIENTS = {"hinge": 0.8, "slider": -1.1, "wheel": 0.35}


def scene(solver, break_force):
    """A hinge and a wheel by coordinates and a slider of rows, anywhere; one tendon is pulled at, another is held."""

    def body(name, x):
        return {
            "name": name,
            "position": turned([x, 0.2 * x, 0.5]),
            "orientation": TURN.tolist(),
            "shapes": [{"box": {"half_extents": [0.1, 0.08, 0.06]}}],
        }

    def joint(name, kind, b, axis, **more):
        return {"name": name, "kind": kind, "body_b": b, "axis": turned(axis), **more}

    coupled = {"coupled": list(COEFFICIENTS), "coefficients": list(COEFFICIENTS.values())}
    return {
        "settings": {"time_step": 0.01, "gravity": turned([0, 0, -2.0]), "solver": solver},
        "bodies": [body("first", 0.0), body("second", 1.0), body("third", 2.0)],
        "joints": [
            joint("hinge", "HINGE", "first", [0, 1, 0.2], armature=[0.02]),
            joint("wheel", "HINGE", "third", [0.1, 0.2, 1], body_a="first", anchor=turned([1.5, 0.3, 0.5])),
            joint("slider", "SLIDER", "second", [1, 0.3, 0], body_a="third", as_rows=True, break_force=break_force),
            {
                "name": "cord",
                "kind": "TENDON",
                "stiffness": [20.0],
                "damping": [0.5],
                "friction": [0.1],
                "high": [0.3],
                "lag_time": [0.02],
                **coupled,
            },
            {
                "name": "belt",
                "kind": "TENDON",
                "coupled": ["hinge", "wheel"],
                "coefficients": [1.0, -0.5],
                "low": [0.0],
                "high": [0.0],
            },
        ],
    }


def layout(autoreset):
    rng = np.random.default_rng(5)
    return {
        "action": [channel("JOINT_EFFORT", "cord", scale=25.0)],
        "observation": [
            channel(kind, joint)
            for joint in ("cord", "belt", *COEFFICIENTS)
            for kind in ("JOINT_POSITION", "JOINT_VELOCITY")
        ],
        "noise": [uniform("JOINT_VELOCITY", "hinge", -0.01, 0.01)],
        "parameters": [
            parameter("JOINT_STIFFNESS", "cord", rng.uniform(5, 50, size=COUNT)),
            parameter("JOINT_DELAY_STEPS", "cord", rng.integers(0, 4, size=COUNT).astype(float)),
            parameter("JOINT_HIGH", "cord", rng.uniform(0.05, 0.3, size=COUNT)),
        ],
        "step_limit": LIMIT,
        "autoreset": autoreset,
        "double": True,
    }


def actions(call):
    return np.sin(np.arange(COUNT) * 0.7 + 0.3 * call)[:, None]


def expect_lengths(rows):
    """Where all of what it couples is, its length and rate are the sums; of how many worlds a joint has broken, and
    the tendon with it, while the other one goes on to be held."""
    position, velocity = rows.observation[:, 0::2], rows.observation[:, 1::2]
    is_whole = (rows.observation[:, [0, 1, 6, 7]] != 0.0).any(axis=1)
    of = is_whole[:, None] * np.array(list(COEFFICIENTS.values()))
    assert np.abs(position[:, 0] - (position[:, 2:] * of).sum(axis=1)).max(initial=0.0) < 1e-14
    assert np.abs(velocity[:, 0] - (velocity[:, 2:] * of).sum(axis=1)).max(initial=0.0) < 1e-14
    assert np.abs(position[:, 1] - position[:, 2] + 0.5 * position[:, 4]).max(initial=0.0) < 1e-14
    return np.count_nonzero(~is_whole & (velocity[:, 2] != 0.0))


def expect_forks(reader, one):
    """What is forked of it goes on, pulled at where its cord was or by what is left, and is proven in turn."""
    fork = reader.episode_fork(episode=one.episode, step=one.steps // 2)
    world = World(reader, fork.world, fork.name, None)
    joints = world.joints()
    with world.record() as episode:
        world.client.world_step(worlds=[world.id], steps=5, joints=joints.ids[-1:], joint_effort=[1.0])
    assert reader.episode_verify(episode=episode).result().verified


@pytest.mark.parametrize(
    "solver, autoreset, break_force",
    [("mdp", "NEXT_STEP", 30.0), ("sap", "SAME_STEP", 9.0), ("compliant", "NEXT_STEP", 9.0)],
)
def test_a_fleet_of_tendons(client, launched, tmp_path, solver, autoreset, break_force):  # noqa: F811
    files = [tmp_path / f"{i}.db" for i in range(3)]
    servers = [launched(db=file) for file in files]
    template, made = scene(solver, break_force), layout(autoreset)
    addresses = [server.address for server in servers[:2]]
    with Group.create(client, template, count=COUNT, **made) as group, Fleet(
        addresses, template, count=COUNT, shares=4, record="cord", save_every=7, **made
    ) as fleet:
        same(fleet.reset(seed=7), group.reset(seed=7))
        lost = 0
        for call in range(CALLS):
            if call == 9:
                fleet.add(servers[2].address)
            elif call == 18:
                servers[0].process.kill()
                servers[0].process.wait()
            elif call == 27:
                fleet.drain(servers[1].address)
            rows = fleet.step(actions(call))
            same(rows, group.step(actions(call)))
            assert not rows.failures
            expect_lengths(rows)
            lost += expect_lengths(rows.final)
        assert (lost > 2) == (break_force < 30.0)
    for server in servers:
        server.stop()
    merged = tmp_path / "all.db"
    told = subprocess.run([servers[0].binary, "--merge", merged, *files], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
    with launched(db=merged).client() as reader:
        episodes = reader.episode_list(count=10000).episodes
        assert len(episodes) >= 2 * COUNT
        for one in episodes[::9]:
            assert reader.episode_verify(episode=one.episode).result().verified
            expect_forks(reader, one)
