#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drake's SAP as a peer of `moreau bench sap` (peer.h says what is read and written): contact as near-rigid as it takes it, without
dissipation, its convex approximation. It runs where `python3` finds the package drake: python3 -m venv bench && bench/bin/pip install
drake, and bench/bin first on the PATH."""
import struct
import sys
import time

NAME_BYTES, REFUSAL_BYTES = 32, 160
MAGIC = 0x32726565706F726D
SPHERE, BOX, PLANE = range(3)
STIFFNESS = 1e12  # [N/m] of each surface; what a step cannot tell from rigid it softens by itself


def greet(name, refusal=""):
    sys.stdout.buffer.write(struct.pack(f"={NAME_BYTES}s{REFUSAL_BYTES}s", name.encode(), refusal.encode()))
    sys.stdout.buffer.flush()


try:
    import numpy
    import pydrake.common
    from pydrake.geometry import Box, HalfSpace, ProximityProperties, Sphere, AddContactMaterial
    from pydrake.math import RigidTransform
    from pydrake.multibody.math import SpatialVelocity
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction
    from pydrake.multibody.plant import DiscreteContactApproximation
    from pydrake.multibody.tree import SpatialInertia
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder
    from pydrake.common.eigen_geometry import Quaternion
except ImportError as missing:
    greet("Drake", f"{missing}; PATH decides which python3 is asked")
    sys.exit(0)

BODY = numpy.dtype([("kind", "=u8"), ("size", "=f8", 3), ("mass", "=f8"), ("pose", "=f8", 7), ("velocity", "=f8", 6)])
JOINT_BYTES = 64


def transform(pose):
    q = pose[3:] / numpy.linalg.norm(pose[3:])
    return RigidTransform(Quaternion(wxyz=q), pose[:3])


class Engine:
    def __init__(self, gravity, step, friction, bodies):
        builder = DiagramBuilder()
        self.plant, scene_graph = AddMultibodyPlantSceneGraph(builder, step)
        self.plant.set_contact_model(ContactModel.kPoint)
        self.plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        self.plant.mutable_gravity_field().set_gravity_vector(gravity)
        surface = ProximityProperties()
        AddContactMaterial(point_stiffness=STIFFNESS, friction=CoulombFriction(friction, friction), properties=surface)
        surface.AddProperty("material", "relaxation_time", 0.0)
        self.start = [transform(body["pose"]) for body in bodies]
        self.body = [self.add(index, body, surface) for index, body in enumerate(bodies)]
        self.plant.Finalize()
        diagram = builder.Build()
        self.simulator = Simulator(diagram)
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for body, state, pose in zip(self.body, bodies, self.start):
            if body is not None:
                self.plant.SetFreeBodyPose(self.context, body, pose)
                velocity = SpatialVelocity(w=state["velocity"][3:], v=state["velocity"][:3])
                self.plant.SetFreeBodySpatialVelocity(self.context, body, velocity)
        self.simulator.Initialize()
        self.h, self.steps = step, 0

    def add(self, index, body, surface):
        name, size, mass = f"body{index}", body["size"], body["mass"]
        if body["kind"] == PLANE:
            self.plant.RegisterCollisionGeometry(self.plant.world_body(), self.start[index], HalfSpace(), name, surface)
            return None
        is_sphere = body["kind"] == SPHERE
        inertia = SpatialInertia.SolidSphereWithMass(mass, size[0]) if is_sphere else SpatialInertia.SolidBoxWithMass(mass, *(2.0 * size))
        rigid = self.plant.AddRigidBody(name, inertia)
        shape = Sphere(size[0]) if is_sphere else Box(*(2.0 * size))
        self.plant.RegisterCollisionGeometry(rigid, RigidTransform(), shape, name, surface)
        return rigid

    def step(self):
        self.steps += 1
        until = self.steps * self.h
        begun = time.process_time_ns()
        self.simulator.AdvanceTo(until)
        return time.process_time_ns() - begun

    def contact_count(self):
        return self.plant.get_contact_results_output_port().Eval(self.context).num_point_pair_contacts()

    def poses(self):
        poses = numpy.empty((len(self.body), 7))
        for row, body, start in zip(poses, self.body, self.start):
            at = start if body is None else self.plant.EvalBodyPoseInWorld(self.context, body)
            row[:3], row[3:] = at.translation(), at.rotation().ToQuaternion().wxyz()
        return poses


def main():
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    magic, count, joints = struct.unpack("=QQQ", source.read(24))
    if magic != MAGIC:
        sys.exit("moreau-bench-drake: this program is started by moreau-bench, which hands it a scene")
    numbers = struct.unpack("=5d", source.read(40))
    bodies = numpy.frombuffer(source.read(count * BODY.itemsize), dtype=BODY)
    if joints > 0:
        source.read(joints * JOINT_BYTES)
        greet("Drake SAP", "its program here makes no joints")
        return
    engine = Engine(numpy.array(numbers[:3]), numbers[3], numbers[4], bodies)
    greet("Drake SAP")
    while len(asked := source.read(4)) == 4:
        figures = numpy.empty((2, struct.unpack("=I", asked)[0]))
        for k in range(figures.shape[1]):
            figures[0, k] = engine.step()
            figures[1, k] = engine.contact_count()
        sink.write(figures.tobytes() + engine.poses().tobytes())
        sink.flush()


main()
