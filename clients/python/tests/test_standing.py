# SPDX-License-Identifier: MIT
"""Robots that people have stand on level ground for 2 s where MuJoCo's do, and each step converges: those of the
packages of test_robots.py that have one base which is free, with springs and dampers that hold them in their first
key-frame, or in the pose that the file has. Wheels, arms on a base that floats, and what falls over in MuJoCo within
twice as long, are not asked for."""

import numpy as np
import pytest
from moreau_sim import World
from moreau_sim.importers._findings import Findings
from moreau_sim.importers._load import read_model
from test_robots import PACKAGES, folders, models

SECONDS = 2.0
# kg make N m/rad, and these N m s/rad: a leg of 0.3 m under a quarter of the weight bends by less than 0.1 rad
STIFF, DAMPED = 15.0, 0.4
LOWER, TILTED = 0.2, 0.5  # who stands has not sunk by this share of its height, nor tipped by so many radians


@pytest.fixture(scope="module")
def mujoco():
    return pytest.importorskip("mujoco", reason="robots stand beside MuJoCo's (pip install mujoco)")


def standing(mujoco, path):
    """The model on a plane, without actuators, held by springs; None: it is no robot on legs."""
    spec = mujoco.MjSpec.from_file(str(path))
    first = spec.compile()
    free = [joint for joint in range(first.njnt) if first.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE]
    hinges = np.sum(first.jnt_type == mujoco.mjtJoint.mjJNT_HINGE)
    trunk = int(first.jnt_bodyid[free[0]]) if len(free) == 1 else 0
    if not trunk or hinges < 8 or first.body_subtreemass[trunk] < 0.9 * first.body_subtreemass[0]:
        return None
    q = first.key_qpos[0].copy() if first.nkey else first.qpos0.copy()
    for joint in np.flatnonzero(first.jnt_limited):  # which MuJoCo's springs may hold beyond its limits
        if first.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE:
            q[first.jnt_qposadr[joint]] = np.clip(q[first.jnt_qposadr[joint]], *first.jnt_range[joint])
    for part in [*spec.keys, *spec.actuators, *spec.sensors]:
        spec.delete(part)
    for geom in [geom for geom in spec.worldbody.geoms if geom.type == mujoco.mjtGeom.mjGEOM_PLANE]:
        spec.delete(geom)
    spec.worldbody.add_geom(name="level", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[9, 9, 1], contype=1, conaffinity=-1)
    at = int(first.jnt_qposadr[free[0]])
    q[at + 2] -= lowest(mujoco, spec.compile(), q)
    spec.add_key(name="stand", qpos=q)
    model = spec.compile()
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER  # under RK4 it takes dampers explicitly, and flies apart
    weight = float(model.body_subtreemass[trunk])
    for joint in range(model.njnt):
        if joint == model.body_jntadr[trunk]:
            continue
        model.jnt_stiffness[joint] = np.resize([STIFF * weight, 0, 0], model.jnt_stiffness[joint].shape)
        model.dof_damping[model.jnt_dofadr[joint]] += DAMPED * weight
        model.qpos_spring[model.jnt_qposadr[joint]] = q[model.jnt_qposadr[joint]]
    return model, trunk


def lowest(mujoco, model, q):
    """How far above the plane what touches it is."""
    data, plane = mujoco.MjData(model), model.geom("level").id
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    gaps = [
        mujoco.mj_geomDistance(model, data, plane, geom, 10.0, None)
        for geom in range(model.ngeom)
        if geom != plane and (model.geom_contype[geom] or model.geom_conaffinity[geom])
    ]
    return min(gaps)


def stands(before, after):
    """Of poses, z and the body's up: whether the trunk is where it was."""
    (height, up), (later, turned) = before, after
    return bool(later > (1.0 - LOWER) * height and np.arccos(np.clip(up @ turned, -1, 1)) < TILTED)


def up_of(quaternion):
    w, x, y, z = quaternion
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


def theirs(mujoco, model, trunk):
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    before = data.xpos[trunk][2], up_of(data.xquat[trunk])
    after = []
    for _ in range(2):  # what balances on points, and is about to fall, does not stand
        for _ in range(round(SECONDS / model.opt.timestep)):
            mujoco.mj_step(model, data)
        after.append((data.xpos[trunk][2], up_of(data.xquat[trunk])))
    is_whole = data.time > 1.9 * SECONDS  # it begins anew where it flies apart
    return is_whole and all(stands(before, one) for one in after), after[0]


def ours(mujoco, client, model, trunk):
    imported = read_model(mujoco, model, "standing", Findings())
    place = imported.bodies[model.body(trunk).name or f"body {trunk}"]
    names = [body["name"] for body in imported.json["bodies"]]
    world = World.create(client, imported.at("stand"), effort="EXACT")
    pose = world.state().pose[names.index(place.body)]
    before = pose[2], up_of(pose[3:])
    steps = round(SECONDS / model.opt.timestep)
    unconverged = 0
    for _ in range(0, steps, 50):
        unconverged += int(world.step(50).reports.unconverged_steps[0])
    pose = world.state().pose[names.index(place.body)]
    client.world_destroy(world=world.id)
    return stands(before, (pose[2], up_of(pose[3:]))), (pose[2], up_of(pose[3:])), unconverged


@pytest.mark.parametrize("package", PACKAGES)
def test_robots_stand_where_mujocos_stand(mujoco, server, package):
    if package not in folders():
        pytest.skip(f"{package} is not here")
    said = []
    for path in models(mujoco, folders()[package]):
        made = standing(mujoco, path)
        if made is None:
            continue
        stood, ended = theirs(mujoco, *made)
        if not stood:
            print(f"{path}: falls in MuJoCo")
            continue
        with server.client(timeout_s=120.0) as client:
            stands_here, here, unconverged = ours(mujoco, client, *made)
        print(f"{path}: {ended[0]:.3f} m there, {here[0]:.3f} m here, {unconverged} steps unconverged")
        if not stands_here or unconverged:
            said.append(f"{path}: {'stands' if stands_here else 'falls'}, {unconverged} steps unconverged")
    assert not said, "\n".join(said)
