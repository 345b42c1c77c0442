# SPDX-License-Identifier: MIT
"""A model in MuJoCo and in a world of the server, to be compared."""

import json

import numpy as np

from moreau_sim import World, importers
from moreau_sim.importers import _poses

PARTS = ("TX", "TY", "RZ")


class Twin:
    """A model in MuJoCo, and what was imported of it in a world of the server: nothing touches, nothing is limited."""

    def __init__(self, mujoco, client, path, *, model=None, **options):
        """`model`: what MuJoCo is to have, where it does not read the file as it is."""
        self.mujoco, self.client = mujoco, client
        self.imported = importers.load(path, **options)
        self.model = mujoco.MjModel.from_xml_path(str(path)) if model is None else model
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.data = mujoco.MjData(self.model)
        scene = json.loads(json.dumps(self.imported.json))
        scene.pop("geometries", None)
        for body in scene["bodies"]:
            body.pop("shapes", None)
        scene["bodies"] = [body for body in scene["bodies"] if body["name"] != "world"]
        # MuJoCo's constraints are off, and so are these; rows that leave everything free push, and stand last
        rows = [joint for joint in scene["joints"] if joint.get("as_rows") and joint["kind"] == "FREE"]
        held = [joint for joint in scene["joints"] if joint["kind"] != "GEAR" and not joint.get("as_rows")]
        scene["joints"] = held + rows
        for joint in held:
            if joint.get("body_a") == "world":
                del joint["body_a"]
            for column in ("low", "high", "friction"):
                joint.pop(column, None)
        self.scene = scene
        # of a step this short a velocity changes by the acceleration to 1e-8 of it, and rounding is as small
        self.h = 1e-7
        self.world = World.create(client, scene, integrator="EXPLICIT", rotation="EXPLICIT", time_step=self.h)
        self.names = [body["name"] for body in scene["bodies"]]
        self.at = {}
        self.positions = self.axes = 0
        for joint in held:
            if joint["kind"] == "TENDON":  # behind all that have numbers of their own
                continue
            self.at[joint["name"]] = (self.positions, self.axes)
            axes = {"HINGE": 1, "SLIDER": 1, "BALL": 3, "FREE": 6}.get(joint["kind"]) or len(joint["axes"])
            self.positions += axes + (joint["kind"] in ("BALL", "FREE"))
            self.axes += axes

    def draw(self, rng):
        m, d = self.model, self.data
        for j in range(m.njnt):
            at, kind = m.jnt_qposadr[j], m.jnt_type[j]
            if kind >= 2:
                low, high = np.clip(m.jnt_range[j], -10.0, 10.0) if m.jnt_limited[j] else (-1.0, 1.0)
                d.qpos[at] = rng.uniform(low, high)
                continue
            if kind == 0:
                d.qpos[at : at + 3] = rng.normal(size=3)
                at += 3
            d.qpos[at : at + 4] = rng.normal(size=4)
            d.qpos[at : at + 4] /= np.linalg.norm(d.qpos[at : at + 4])
        d.qvel[:] = rng.normal(size=m.nv)
        self.mujoco.mj_forward(m, d)
        self.write()

    def numbers(self, j):
        """Where a joint's positions and axes are among the world's, or the body that it frees."""
        m = self.model
        if m.jnt_type[j] == 0 and m.jnt(j).name not in self.imported.joints:
            return None, self.names.index(m.body(m.jnt_bodyid[j]).name)
        # of a planar joint of URDF it makes three
        name, _, part = m.jnt(j).name.rpartition("_")
        name, part = (name, PARTS.index(part)) if part in PARTS else (m.jnt(j).name, 0)
        numbers = self.imported.joints[name]
        position, axis = self.at[numbers.joint]
        return position + numbers.position + part, axis + numbers.axis + part

    def write(self):
        m, d = self.model, self.data
        position, velocity = np.zeros(self.positions), np.zeros(self.axes)
        for j in range(m.njnt):
            q, v = m.jnt_qposadr[j], m.jnt_dofadr[j]
            at, axis = self.numbers(j)
            if at is None:
                turn = _poses.matrix(d.qpos[q + 3 : q + 7])
                spin = turn @ d.qvel[v + 3 : v + 6]
                arm = turn @ self.scene["bodies"][axis]["center_of_mass"]
                motion = np.concatenate([d.qvel[v : v + 3] + np.cross(spin, arm), spin])
                self.world.move([self.world.ids[axis]], pose=d.qpos[q : q + 7], velocity=motion)
            else:
                count = {0: (7, 6), 1: (4, 3)}.get(int(m.jnt_type[j]), (1, 1))
                position[at : at + count[0]] = d.qpos[q : q + count[0]]
                velocity[axis : axis + count[1]] = d.qvel[v : v + count[1]]
        if self.axes:
            joints = np.arange(1, len(self.at) + 1, dtype=np.uint64)
            self.client.world_set(world=self.world.id, joints=joints, joint_position=position, joint_velocity=velocity)

    def pose_error(self):
        state, worst = self.world.state(), 0.0
        for name, place in self.imported.bodies.items():
            body = self.mujoco.mj_name2id(self.model, self.mujoco.mjtObj.mjOBJ_BODY, name)
            if body < 0 and name.startswith("body "):
                body = int(name[5:])
            if body < 0:
                continue  # its parser made it a part of another
            here = place.pose
            if place.body in self.names:
                base = self.names.index(place.body)
                here = _poses.pose(state.pose[base, :3], state.pose[base, 3:]).then(place.pose)
            turned = min(np.abs(here.orientation - sign * self.data.xquat[body]).max() for sign in (1, -1))
            worst = max(worst, np.abs(here.position - self.data.xpos[body]).max(), turned)
        return worst

    def acceleration_error(self):
        """The largest difference of accelerations, and the largest acceleration."""
        m, d = self.model, self.data
        before = self.client.world_get(world=self.world.id, joints=True)
        self.world.step(1)
        after = self.client.world_get(world=self.world.id, joints=True)
        axes = (after.joint_velocity - before.joint_velocity) / self.h
        bodies = (after.velocity - before.velocity).reshape(-1, 6) / self.h
        worst = 0.0
        for j in range(m.njnt):
            v = m.jnt_dofadr[j]
            at, axis = self.numbers(j)
            if at is None:
                turn = d.xmat[m.jnt_bodyid[j]].reshape(3, 3)
                spun, spin = turn @ d.qacc[v + 3 : v + 6], turn @ d.qvel[v + 3 : v + 6]
                arm = turn @ self.scene["bodies"][axis]["center_of_mass"]
                moved = d.qacc[v : v + 3] + np.cross(spun, arm) + np.cross(spin, np.cross(spin, arm))
                worst = max(worst, np.abs(np.concatenate([moved, spun]) - bodies[axis]).max())
            else:
                count = {0: 6, 1: 3}.get(int(m.jnt_type[j]), 1)
                worst = max(worst, np.abs(axes[axis : axis + count] - d.qacc[v : v + count]).max())
        return worst, np.abs(d.qacc).max()
