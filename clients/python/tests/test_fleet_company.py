# SPDX-License-Identifier: MIT
"""Much at once, against real servers: a fleet of worlds on different terrains, in a fluid, with masses, inertias and
centres of mass of their own, whose motors have lags and delays, whose joints break and whose bodies sleep, grows, loses
a server and is drained; it is recorded and signed, into files whose names are as odd as names may be, and what all
servers have is one file in the end."""

import base64
import os
import subprocess

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Fleet, Group, channel, parameter, uniform

COUNT, CALLS = 48, 60
# a direction that is no axis's: the ground's z
TURN = np.array([0.47, -0.33, 0.61, 0.55]) / np.linalg.norm([0.47, -0.33, 0.61, 0.55])


def turned(vector):
    across = np.cross(TURN[1:], vector)
    return (np.asarray(vector) + 2 * (TURN[0] * across + np.cross(TURN[1:], across))).tolist()


def hills(depth, cells=6):
    x, y = (axis.ravel() for axis in np.meshgrid(*[np.linspace(-6.0, 6.0, cells + 1)] * 2, indexing="ij"))
    corner = [i * (cells + 1) + j for i in range(cells) for j in range(cells)]
    right, up, both = cells + 1, 1, cells + 2
    return {
        "points": np.stack([x, y, 0.05 * np.sin(2 * x + depth) * np.cos(y) - depth], axis=1).ravel().tolist(),
        "triangles": [i for a in corner for i in (a, a + right, a + up, a + up, a + right, a + both)],
    }


def scene(solver):
    def body(name, x, shape):
        return {"name": name, "position": turned([x, 0, 0.5]), "orientation": TURN.tolist(), "shapes": [shape]}

    hull = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1], [0.4, 0.9, -0.8]]
    return {
        "settings": {
            "time_step": 0.01,
            "gravity": turned([0, 0, -9.81]),
            "solver": solver,
            "sleep_speed": 0.05,
            "fluid_density": 20.0,
            "fluid_viscosity": 0.1,
        },
        "geometries": [{"name": f"hills-{k}", "mesh": hills(0.1 * k)} for k in range(3)],
        "bodies": [
            {
                "name": "ground",
                "kind": "STATIC",
                "orientation": TURN.tolist(),
                "shapes": [{"mesh": {"geometry": "hills-0"}}],
            },
            body("chassis", 0.0, {"hull": {"points": (0.15 * np.array(hull)).ravel().tolist()}}),
            body("arm", 0.5, {"capsule": {"radius": 0.05, "half_length": 0.15}}),
            body("wheel", -0.5, {"cylinder": {"radius": 0.15, "half_length": 0.05}}),
        ],
        "joints": [
            {
                "name": "elbow",
                "kind": "HINGE",
                "body_a": "chassis",
                "body_b": "arm",
                "axis": turned([0, 1, 0]),
                "anchor": turned([0.25, 0, 0.5]),
                "as_rows": True,
                "break_force": 20.0,
            },
            {
                "name": "axle",
                "kind": "HINGE",
                "body_a": "chassis",
                "body_b": "wheel",
                "axis": turned([0, 0.3, 1]),
                "anchor": turned([-0.4, 0, 0.5]),
            },
        ],
    }


def layout():
    rng = np.random.default_rng(3)
    mass = rng.uniform(0.5, 3.0, size=COUNT)
    inertia = mass[:, None] * np.array([0.01, 0.02, 0.015, 0.001, -0.002, 0.001])
    center = rng.uniform(-0.03, 0.03, size=(COUNT, 3))
    return {
        "action": [channel("JOINT_EFFORT", "axle", scale=2.0)],
        "observation": [
            channel("BODY_GEOMETRY", "ground"),
            channel("BODY_POSITION", "chassis"),
            channel("BODY_POSITION", "arm"),
            channel("JOINT_POSITION", "axle"),
            channel("RAYS", "chassis", ray_way=[[0, 0, -3.0], [1, 1, -2]]),
        ],
        "noise": [uniform("BODY_GEOMETRY", "ground", 0, 3), uniform("JOINT_VELOCITY", "axle", -1, 1)],
        "parameters": [
            parameter("JOINT_DELAY_STEPS", "axle", rng.integers(0, 9, size=COUNT).astype(float)),
            parameter("JOINT_LAG_TIME", "axle", rng.uniform(0, 0.1, size=COUNT)),
            parameter("BODY_MASS", "arm", mass),
            parameter("BODY_INERTIA", "arm", inertia.ravel()),
            parameter("BODY_CENTER_OF_MASS", "wheel", center.ravel()),
        ],
        "step_limit": 25,
        "double": True,
    }


def actions(call):
    return np.sin(np.arange(COUNT) * 0.7 + call)[:, None]


def same(one, other):
    for name in ("worlds", "observation", "terminated", "truncated", "unconverged"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("world", "observation", "episode", "seed", "length"):
        assert np.array_equal(getattr(one.final, name), getattr(other.final, name)), name


@pytest.mark.parametrize("solver, autoreset", [("mdp", "SAME_STEP"), ("sap", "NEXT_STEP")])
def test_a_fleet_of_all_at_once(client, tmp_path, solver, autoreset):
    made = {**layout(), "autoreset": autoreset}
    with Group.create(client, scene(solver), count=COUNT, **made) as group:
        rows = [group.reset(seed=7)] + [group.step(actions(call)) for call in range(CALLS)]
        assert len(np.unique(rows[0].observation[:, 0])) == 3  # each terrain is somewhere
    files = [tmp_path / name for name in ("a b?mode=ro#%41.db", "file:'\"1.db", os.fsdecode(b"new\nline \xff.db"))]
    binary, _ = moreau_sim.find_server()
    subprocess.run([binary, "--seal-new", tmp_path / "key"], check=True, capture_output=True)
    lines = (tmp_path / "key" / "seal.pub").read_text().splitlines()
    key = base64.b64decode("".join(line for line in lines if "-" not in line))[-32:]
    signing = ["--seal-key", str(tmp_path / "key" / "seal.key")]
    servers = [moreau_sim.launch(db=file, workers=1, options=signing) for file in files]
    try:
        first = [server.address for server in servers[:2]]
        with Fleet(first, scene(solver), count=COUNT, shares=4, record="all", save_every=10, **made) as fleet:
            same(fleet.reset(seed=7), rows[0])
            for call in range(CALLS):
                if call == 15:
                    fleet.add(servers[2].address)
                elif call == 30:
                    servers[0].process.kill()
                    servers[0].process.wait()
                elif call == 45:
                    fleet.drain(servers[1].address)
                same(fleet.step(actions(call)), rows[1 + call])
            assert {"lost", "restored", "moved", "drained"} <= {event.kind for event in fleet.events}
    finally:
        for server in servers:
            server.stop()
    moreau_sim.launch(db=files[0], options=signing).stop()  # signs what it finds
    told = subprocess.run([binary, "--merge", tmp_path / "all.db", *files], capture_output=True)
    assert told.returncode == 0, told.stdout + told.stderr
    with moreau_sim.launch(db=tmp_path / "all.db") as server, server.client(timeout_s=60.0) as reader:
        episodes = reader.episode_list(count=10000).episodes
        assert len(episodes) > 2 * COUNT
        for one in episodes[::5]:
            reply = reader.episode_verify(episode=one.episode, seal_public_key=key).result()
            # of what the lost server had written nothing, or as much as its next start found
            assert reply.verified and reply.signed.by.name in ("WHOLLY", "FOUND")
            assert reply.signed.by.name == "FOUND" or reply.signed.step == one.steps
