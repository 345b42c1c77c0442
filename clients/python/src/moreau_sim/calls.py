# SPDX-License-Identifier: MIT
# Made from proto/moreau.proto by clients/python/generate.py: change these.
"""Every call of the protocol as a method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from numpy.typing import ArrayLike

from . import protocol as p
from ._stream import Stream
from ._wire import Message

R = TypeVar("R", bound=Message)
E = TypeVar("E", bound=Message)


class Calls:
    """What Client can ask of a server. Arguments are the fields of the call's message."""

    def _call(self, message: Message, result: type[R], deadline_ms: int | None) -> R:
        raise NotImplementedError

    def _stream(self, message: Message, event: type[E], result: type[R], deadline_ms: int | None) -> Stream[E, R]:
        raise NotImplementedError

    def ping(self, *, payload: int | None = None, deadline_ms: int | None = None) -> p.Pong:
        """See protocol.Ping.

        payload  returned as it came
        """
        return self._call(p.Ping(payload=payload), p.Pong, deadline_ms)

    def stats(self, *, worlds: bool | None = None, deadline_ms: int | None = None) -> p.StatsReply:
        """See protocol.Stats.

        worlds  also one row per world; default false
        """
        return self._call(p.Stats(worlds=worlds), p.StatsReply, deadline_ms)

    def describe(
        self,
        *,
        first: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.DescribeReply:
        """What the server is able to: rows of one list, first all limits, then calls, solvers and fields.

        first  row; default 0
        count  default: all the rest, or as much as a frame holds
        """
        return self._call(p.Describe(first=first, count=count), p.DescribeReply, deadline_ms)

    def cancel(self, *, request: int | None = None, deadline_ms: int | None = None) -> p.CancelReply:
        """See protocol.Cancel.

        request  id of a request of this connection; it stops between two steps
        """
        return self._call(p.Cancel(request=request), p.CancelReply, deadline_ms)

    def world_create(
        self,
        *,
        name: str | None = None,
        lifetime: p.World.Lifetime | None = None,
        idle_timeout_s: float | None = None,
        settings: p.WorldSettings | None = None,
        scene: p.Scene | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldCreateReply:
        """Creates a world: from a scene, or empty with the given settings.

        name            unique among the server's worlds; default: the scene's name with a number, or world-N
        idle_timeout_s  [s] 1 … 1e9: destroyed when no call has named it for so long; default: never
        settings        wins over the scene's
        """
        return self._call(
            p.WorldCreate(name=name, lifetime=lifetime, idle_timeout_s=idle_timeout_s, settings=settings, scene=scene),
            p.WorldCreateReply,
            deadline_ms,
        )

    def world_destroy(
        self,
        *,
        world: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldDestroyReply:
        """See protocol.WorldDestroy."""
        return self._call(p.WorldDestroy(world=world), p.WorldDestroyReply, deadline_ms)

    def world_list(
        self,
        *,
        first: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldListReply:
        """See protocol.WorldList.

        first  skip so many; default 0
        count  at most so many rows, and never more than 65,536
        """
        return self._call(p.WorldList(first=first, count=count), p.WorldListReply, deadline_ms)

    def world_add_materials(
        self,
        *,
        world: int | None = None,
        materials: Sequence[p.Material] | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldAddReply:
        """See protocol.WorldAddMaterials.

        materials  a handful per world, so one by one; a world has at most 4,096
        """
        return self._call(p.WorldAddMaterials(world=world, materials=materials), p.WorldAddReply, deadline_ms)

    def world_add_shapes(
        self,
        *,
        world: int | None = None,
        primitive_count: ArrayLike | None = None,
        kind: ArrayLike | None = None,
        size: ArrayLike | None = None,
        pose: ArrayLike | None = None,
        material: ArrayLike | None = None,
        density: ArrayLike | None = None,
        foundation_face: ArrayLike | None = None,
        foundation_cells: ArrayLike | None = None,
        foundation_modulus: ArrayLike | None = None,
        foundation_depth: ArrayLike | None = None,
        foundation_damping: ArrayLike | None = None,
        group: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        geometry: ArrayLike | None = None,
        patch_material: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldAddReply:
        """Adds shapes. A shape is one or several primitives at local poses; bodies share shapes.

        primitive_count     per shape, 1 … 4096; its length is the number of shapes; default: one each
        kind                per primitive; its length is the number of primitives
        size                3 per primitive: see Primitive.Kind [m]
        pose                7 per primitive, in the body; default: identity
        material            per primitive: id; default, or 0: the built-in material
        density             per primitive [kg/m^3] > 0; default 1000
        foundation_face     per primitive: NONE, or the face of a box; those below are read where it has one
        foundation_cells    2 per primitive
        foundation_modulus  per primitive [Pa]
        foundation_depth    per primitive [m]
        foundation_damping  per primitive [N s/m]; default 0
        group               per primitive, 32 bits: see Primitive; default 1
        mask                per primitive, 32 bits: see Primitive; default 4294967295, all
        geometry            per primitive: id of what it wears; default, or 0: nothing
        patch_material      7 per primitive, of meshes and height fields: ids of the materials of patches 1 … 7
                            (see Mesh); default, or 0: that of the primitive, which is patch 0's too
        """
        return self._call(
            p.WorldAddShapes(world=world, primitive_count=primitive_count, kind=kind, size=size, pose=pose, material=material, density=density, foundation_face=foundation_face, foundation_cells=foundation_cells, foundation_modulus=foundation_modulus, foundation_depth=foundation_depth, foundation_damping=foundation_damping, group=group, mask=mask, geometry=geometry, patch_material=patch_material),
            p.WorldAddReply,
            deadline_ms,
        )

    def world_add_bodies(
        self,
        *,
        world: int | None = None,
        pose: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        kind: ArrayLike | None = None,
        shape: ArrayLike | None = None,
        mass: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        center_of_mass: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldAddReply:
        """Adds bodies as columns; all or none are added.

        pose            7 per body; its length gives the number of bodies; at least one
        velocity        6 per body; default 0
        kind            per body; default DYNAMIC
        shape           per body: shape id, or 0 for none; default none
        mass            per body [kg] > 0, at most 1e18; default: from the shapes' densities, which then make no
                        more either
        inertia         6 per body: xx yy zz xy xz yz [kg m^2], each within +-1e30; default: from the shapes,
                        then no more either
        center_of_mass  3 per body [m]; default: from the shapes, or 0 where inertia is given
        """
        return self._call(
            p.WorldAddBodies(world=world, pose=pose, velocity=velocity, kind=kind, shape=shape, mass=mass, inertia=inertia, center_of_mass=center_of_mass),
            p.WorldAddReply,
            deadline_ms,
        )

    def world_add_joints(
        self,
        *,
        world: int | None = None,
        kind: ArrayLike | None = None,
        body_a: ArrayLike | None = None,
        body_b: ArrayLike | None = None,
        axes: ArrayLike | None = None,
        frame_a: ArrayLike | None = None,
        frame_b: ArrayLike | None = None,
        as_rows: ArrayLike | None = None,
        collides: ArrayLike | None = None,
        joint_a: ArrayLike | None = None,
        joint_b: ArrayLike | None = None,
        ratio: ArrayLike | None = None,
        length: ArrayLike | None = None,
        break_force: ArrayLike | None = None,
        break_torque: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        armature: ArrayLike | None = None,
        drive_stiffness: ArrayLike | None = None,
        drive_damping: ArrayLike | None = None,
        effort_max: ArrayLike | None = None,
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        target: ArrayLike | None = None,
        target_velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        stall_effort: ArrayLike | None = None,
        no_load_speed: ArrayLike | None = None,
        lag_time: ArrayLike | None = None,
        delay_steps: ArrayLike | None = None,
        coupled_count: ArrayLike | None = None,
        coupled: ArrayLike | None = None,
        coupled_axes: ArrayLike | None = None,
        coefficients: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldAddReply:
        """Adds joints as columns; all or none are added. Columns "per axis" have a number for each axis that
        the joints leave free, joint after joint; "per position" likewise, with four numbers for three turns.
        FAILED_PRECONDITION, as of WorldSet: steps have brought bodies so far away, or made them so fast
        (beyond 4e9 m, m/s or rad/s), that a joint would take a pose or a velocity beyond 3.4e38, the largest
        float.

        kind           per joint; its length gives the number of joints; at least one
        body_a         per joint: id, 0: the world; default 0. 0 of a gear, a tendon
        body_b         per joint: id; 0 of a gear, a tendon
        axes           per joint, of GENERIC: a sum of 2^Joint.Axis; else 0; default 0
        frame_a        7 per joint: a pose, from the body's origin, in its axes; default: there
        frame_b        7 per joint
        as_rows        per joint; default false: coordinates
        collides       per joint; default false: the two bodies do not touch each other
        joint_a        per joint, of GEAR: id, also of one before it in this call; else 0; default 0
        ratio          per joint [1], of GEAR, -1e6 … 1e6; default 1
        length         per joint [m], of DISTANCE, > 0; default 1
        break_force    per joint [N] > 0, of rows: beyond it the joint is gone; default, or 1e18: never
        break_torque   per joint [N m] likewise
        names          per joint; "" for none; default none. Joints of one world may share a name: ids tell them
                       apart, a group's channel takes the first of them, and in the world's scene (WorldScene),
                       where names are unique, the others get new ones
        low            per axis, as in SceneJoint
        position       per position; default: as the bodies stand; of rows as in SceneJoint
        velocity       of rows it is measured; default: as the bodies move
        coupled_count  per joint, of TENDON: how many axes it couples; else 0; default 0. The three columns
                       below have so many of each
        coupled        ids, also of joints before it in this call
        coupled_axes   as in SceneJoint; default 0
        coefficients   as in SceneJoint; default 1
        """
        return self._call(
            p.WorldAddJoints(world=world, kind=kind, body_a=body_a, body_b=body_b, axes=axes, frame_a=frame_a, frame_b=frame_b, as_rows=as_rows, collides=collides, joint_a=joint_a, joint_b=joint_b, ratio=ratio, length=length, break_force=break_force, break_torque=break_torque, names=names, low=low, high=high, stiffness=stiffness, rest=rest, damping=damping, friction=friction, armature=armature, drive_stiffness=drive_stiffness, drive_damping=drive_damping, effort_max=effort_max, position=position, velocity=velocity, target=target, target_velocity=target_velocity, effort=effort, stall_effort=stall_effort, no_load_speed=no_load_speed, lag_time=lag_time, delay_steps=delay_steps, coupled_count=coupled_count, coupled=coupled, coupled_axes=coupled_axes, coefficients=coefficients),
            p.WorldAddReply,
            deadline_ms,
        )

    def world_remove(
        self,
        *,
        world: int | None = None,
        bodies: ArrayLike | None = None,
        joints: ArrayLike | None = None,
        shapes: ArrayLike | None = None,
        geometries: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldRemoveReply:
        """Removes things from a world, all or nothing. The bodies that stay keep their order, their state and
        the impulses between them; what rested on one that goes wakes. Ids are never given again. Where bodies
        go, a fault is cleared. NOT_FOUND: an id that names nothing; INVALID_ARGUMENT: one that stands twice,
        or none at all; FAILED_PRECONDITION: a shape that a body has which stays, a body that a joint holds, a
        geometry that a shape wears which stays.

        bodies      ids
        joints      ids; gears and tendons that couple one of them go with it. A body that a joint holds stays,
                    unless that goes too
        shapes      ids; of shapes that no body has, or only such as go with them
        geometries  ids; of geometries that no shape wears, or only such as go with them. Their memory goes with
                    the last world that has them
        """
        return self._call(
            p.WorldRemove(world=world, bodies=bodies, joints=joints, shapes=shapes, geometries=geometries),
            p.WorldRemoveReply,
            deadline_ms,
        )

    def world_get(
        self,
        *,
        world: int | None = None,
        first: int | None = None,
        count: int | None = None,
        bodies: bool | None = None,
        definition: bool | None = None,
        single: bool | None = None,
        joints: bool | None = None,
        joint_wrenches: bool | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldGetReply:
        """Reads a world: settings always, bodies by range.

        first           first body, counted from 0 in the order of creation; default 0
        count           how many; default: all the rest
        bodies          return pose and velocity columns; default true
        definition      also kind, shape, mass, inertia, centre of mass; default false
        single          poses and velocities as floats; default false
        joints          return all joints' numbers, and with `definition` what they are; default false
        joint_wrenches  with `joints`: also what they carried in the last step; default false
        """
        return self._call(
            p.WorldGet(world=world, first=first, count=count, bodies=bodies, definition=definition, single=single, joints=joints, joint_wrenches=joint_wrenches),
            p.WorldGetReply,
            deadline_ms,
        )

    def world_set(
        self,
        *,
        world: int | None = None,
        settings: p.WorldSettings | None = None,
        ids: ArrayLike | None = None,
        pose: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        joints: ArrayLike | None = None,
        joint_position: ArrayLike | None = None,
        joint_velocity: ArrayLike | None = None,
        joint_target: ArrayLike | None = None,
        joint_target_velocity: ArrayLike | None = None,
        joint_effort: ArrayLike | None = None,
        mass: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        materials: ArrayLike | None = None,
        material_friction: ArrayLike | None = None,
        material_restitution: ArrayLike | None = None,
        material_stiffness: ArrayLike | None = None,
        material_dissipation_time: ArrayLike | None = None,
        material_damping: ArrayLike | None = None,
        material_hertz_exponent: ArrayLike | None = None,
        shapes: ArrayLike | None = None,
        shape_material: ArrayLike | None = None,
        joint_low: ArrayLike | None = None,
        joint_high: ArrayLike | None = None,
        joint_stiffness: ArrayLike | None = None,
        joint_rest: ArrayLike | None = None,
        joint_damping: ArrayLike | None = None,
        joint_friction: ArrayLike | None = None,
        joint_armature: ArrayLike | None = None,
        joint_drive_stiffness: ArrayLike | None = None,
        joint_drive_damping: ArrayLike | None = None,
        joint_effort_max: ArrayLike | None = None,
        joint_stall_effort: ArrayLike | None = None,
        joint_no_load_speed: ArrayLike | None = None,
        joint_lag_time: ArrayLike | None = None,
        joint_delay_steps: ArrayLike | None = None,
        pair_a: ArrayLike | None = None,
        pair_b: ArrayLike | None = None,
        pair_friction: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldSetReply:
        """Changes a world: settings, state and masses of bodies, state and numbers of joints, materials. All
        or nothing: each column is empty (unchanged) or for all that its list names. Clears a fault when
        bodies, or positions or velocities of joints, are set. A body that hangs by a joint of coordinates is
        put elsewhere by that joint's numbers. Whom a change concerns wakes (all, where materials or settings
        change); the impulses that the next step starts from stay, but for those of bodies that were moved. A
        world goes on as one that was made with these numbers, to the bit.

        settings                   only what is present changes
        ids                        bodies to change; none twice, nor in any list of these
        pose                       7 per id
        velocity                   6 per id
        joints                     joints to change
        joint_position             per position, of coordinates: the bodies are put there
        joint_velocity             per axis, of coordinates
        joint_target               per axis, as the rest; they hold until they are changed
        mass                       per id [kg] > 0, of dynamic bodies; where `inertia` is empty each inertia is
                                   scaled with it
        inertia                    6 per id, of dynamic bodies: xx yy zz xy xz yz [kg m^2], about the centre of
                                   mass, which stays, in body axes
        materials                  materials to change: ids; not 0, the built-in one
        material_friction          per material [1], as in Material, as the rest
        material_restitution       [1]
        material_stiffness         [N/m] > 0; 0: infinite
        material_dissipation_time  [s]
        material_damping           [N s/m]
        material_hertz_exponent    [1]
        shapes                     shapes to change, of all the bodies that have them
        shape_material             per primitive of those shapes, shape after shape: id; 0: the built-in
                                   material
        joint_low                  [m], [rad]; -1e18: none
        joint_high                 [m], [rad]; 1e18: none
        joint_stiffness            [N/m], [N m/rad]
        joint_rest                 [m], [rad]
        joint_damping              [N s/m], [N m s/rad]
        joint_friction             [N], [N m]
        joint_armature             [kg], [kg m^2], of coordinates; of rows 0
        joint_drive_stiffness      [N/m], [N m/rad]
        joint_drive_damping        [N s/m], [N m s/rad]
        joint_effort_max           [N], [N m]; 1e18: unbounded
        joint_stall_effort         [N], [N m], of coordinates; 0: no motor
        joint_no_load_speed        [m/s], [rad/s]; 0: none
        joint_lag_time             [s]; as it changes, and the next, what is under way stays: of a shorter delay
                                   the youngest commands, of a longer one the oldest again before the others
        joint_delay_steps          [1] whole
        pair_a                     pairs of materials, by ids, 0 the built-in one, that have a friction of their
                                   own from here on, or another one; of one that is named twice the last counts.
                                   See MaterialPair
        pair_friction              per pair [1]
        """
        return self._call(
            p.WorldSet(world=world, settings=settings, ids=ids, pose=pose, velocity=velocity, joints=joints, joint_position=joint_position, joint_velocity=joint_velocity, joint_target=joint_target, joint_target_velocity=joint_target_velocity, joint_effort=joint_effort, mass=mass, inertia=inertia, materials=materials, material_friction=material_friction, material_restitution=material_restitution, material_stiffness=material_stiffness, material_dissipation_time=material_dissipation_time, material_damping=material_damping, material_hertz_exponent=material_hertz_exponent, shapes=shapes, shape_material=shape_material, joint_low=joint_low, joint_high=joint_high, joint_stiffness=joint_stiffness, joint_rest=joint_rest, joint_damping=joint_damping, joint_friction=joint_friction, joint_armature=joint_armature, joint_drive_stiffness=joint_drive_stiffness, joint_drive_damping=joint_drive_damping, joint_effort_max=joint_effort_max, joint_stall_effort=joint_stall_effort, joint_no_load_speed=joint_no_load_speed, joint_lag_time=joint_lag_time, joint_delay_steps=joint_delay_steps, pair_a=pair_a, pair_b=pair_b, pair_friction=pair_friction),
            p.WorldSetReply,
            deadline_ms,
        )

    def world_step(
        self,
        *,
        worlds: ArrayLike | None = None,
        steps: int | None = None,
        time_step: float | None = None,
        wrench_count: ArrayLike | None = None,
        wrench_body: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        poses: bool | None = None,
        velocities: bool | None = None,
        single: bool | None = None,
        reports: bool | None = None,
        hashes: bool | None = None,
        joint_count: ArrayLike | None = None,
        joint_axis_count: ArrayLike | None = None,
        joints: ArrayLike | None = None,
        joint_target: ArrayLike | None = None,
        joint_target_velocity: ArrayLike | None = None,
        joint_effort: ArrayLike | None = None,
        joint_positions: bool | None = None,
        joint_velocities: bool | None = None,
        joint_wrenches: bool | None = None,
        broken_joints: bool | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldStepReply:
        """Steps one world or many. Worlds run in parallel; one that fails is listed in `failures`, the others
        finish. It keeps the steps that it has done (`steps_done`: 0 of a world that could not begin, as it is
        unknown or faulted) and the state before its failing step. What is wrong with the call (a time step or
        a wrench out of range, a world listed twice, a reply that could be longer than a frame) is its status,
        and no world is stepped. A step that would end in a number that is not finite (of state or report), or
        in state that no float holds (beyond 3.4e38, so that `single` can always be asked for), has not
        happened: FAILED_PRECONDITION names step, body and quantity, and the world is faulted until WorldSet
        sets bodies, or WorldRemove removes some.

        worlds            at least one; none twice
        steps             1 … 10^12
        time_step         [s] 1e-9 … 10, for these steps only; default: the world's
        wrench_count      per world: how many of the wrenches below are its; default: all are the one world's
        wrench_body       per wrench: body id; those of one body add up
        wrench            6 per wrench: force [N] at the centre of mass, torque [N m], world axes; held for all
                          steps
        poses             return poses of all bodies; default false
        velocities        default false
        single            poses and velocities as floats; default false
        reports           certificates
        hashes            state hash after the last step; default false
        joint_count       per world: how many of the joints below are its; default: all are the one world's
        joint_axis_count  per world: how many free axes those have together; default: one each
        joints            ids
        joint_target      per axis [m], [rad]; empty: unchanged, as the next two
        joint_effort      [N], [N m]
        joint_positions   default false
        joint_velocities  default false
        joint_wrenches    of the last step, as WorldGetReply.joint_wrench; default false
        broken_joints     return the ids of joints that broke in this call; default false
        """
        return self._call(
            p.WorldStep(worlds=worlds, steps=steps, time_step=time_step, wrench_count=wrench_count, wrench_body=wrench_body, wrench=wrench, poses=poses, velocities=velocities, single=single, reports=reports, hashes=hashes, joint_count=joint_count, joint_axis_count=joint_axis_count, joints=joints, joint_target=joint_target, joint_target_velocity=joint_target_velocity, joint_effort=joint_effort, joint_positions=joint_positions, joint_velocities=joint_velocities, joint_wrenches=joint_wrenches, broken_joints=broken_joints),
            p.WorldStepReply,
            deadline_ms,
        )

    def world_contacts(
        self,
        *,
        world: int | None = None,
        first: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldContactsReply:
        """Contacts of a world's last step, by range: those that were solved, which those between sleepers are
        not. FAILED_PRECONDITION where there is none: since bodies were made or moved, or since a step was
        stopped half-way or failed.

        first  default 0
        count  default: all the rest
        """
        return self._call(
            p.WorldContacts(world=world, first=first, count=count),
            p.WorldContactsReply,
            deadline_ms,
        )

    def world_hash(
        self,
        *,
        worlds: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldHashReply:
        """State hashes of worlds. Worlds that fail, as unknown ones, are listed in `failures` as those of
        WorldStep are.

        worlds  at least one; none twice
        """
        return self._call(p.WorldHash(worlds=worlds), p.WorldHashReply, deadline_ms)

    def world_scene(self, *, world: int | None = None, deadline_ms: int | None = None) -> p.WorldSceneReply:
        """A world as a scene: what it is now, for people, other worlds and version control. WorldCreate makes
        of it a world with the same settings, materials, bodies, shapes, joints and targets, which moves on as
        this one would from here, to the bit, if this one forgot what a scene does not say: the impulses that
        a step starts from, who sleeps and for how long others were at rest, the solver's patience
        (MdpParameters.budget), a fault; steps and time (both begin at 0) and ids (they count from 1); which
        bodies share a shape, and shapes that no body has; the last bit of a coordinate, seldom: of a body
        whose centre of mass is not its origin, and of quaternions, which are normalised on receipt. Names
        stay; things that must be named and are not, or whose name is taken, get one. A world whose scene is
        longer than a frame is RESOURCE_EXHAUSTED: a snapshot (SnapshotTake, SnapshotRead) has all of a world
        of any size."""
        return self._call(p.WorldScene(world=world), p.WorldSceneReply, deadline_ms)

    def world_add_geometries(
        self,
        *,
        world: int | None = None,
        hulls: Sequence[p.Hull] | None = None,
        meshes: Sequence[p.Mesh] | None = None,
        height_fields: Sequence[p.HeightField] | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldAddReply:
        """Adds geometries, which primitives wear, as many as like. All or none are added; the reply's ids
        count from 1: first those of the hulls, then of the meshes, then of the height fields. The same
        geometry is held once, however many worlds have it, and called by the SHA-256 of its bytes in
        snapshots.

        hulls  at least one of any kind
        """
        return self._call(
            p.WorldAddGeometries(world=world, hulls=hulls, meshes=meshes, height_fields=height_fields),
            p.WorldAddReply,
            deadline_ms,
        )

    def world_ray_cast(
        self,
        *,
        worlds: ArrayLike | None = None,
        count: ArrayLike | None = None,
        origin: ArrayLike | None = None,
        way: ArrayLike | None = None,
        group: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldRayCastReply:
        """What rays meet first, in worlds as their bodies stand between steps. A ray goes from its origin by
        its way, and ends there. It meets surfaces from outside: a primitive that it begins in it does not
        see, so that a sensor may sit inside of the body that carries it. It meets what is in one of the
        groups of its mask, and which has one of the ray's groups in its own mask, as two primitives do (see
        Primitive). Nothing of a world changes, not a bit of its hash. Worlds that fail, as unknown ones, are
        listed in `failures` as those of WorldStep are.

        worlds  at least one; none twice
        count   rays of each world, in the order of the worlds; default: each world has as many, and there are
                that many times as many rays as worlds
        origin  3 per ray, world after world [m]; each within +-1e9
        way     3 per ray [m], not all zero; each within +-1e9
        group   32 bits each, none zero: per ray, or one for all; default 4294967295, all
        """
        return self._call(
            p.WorldRayCast(worlds=worlds, count=count, origin=origin, way=way, group=group, mask=mask),
            p.WorldRayCastReply,
            deadline_ms,
        )

    def snapshot_take(
        self,
        *,
        world: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.SnapshotTakeReply:
        """Takes a snapshot of a world as it is now."""
        return self._call(p.SnapshotTake(world=world), p.SnapshotTakeReply, deadline_ms)

    def snapshot_read(
        self,
        *,
        snapshot: int | None = None,
        first: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.SnapshotReadReply:
        """Reads a part of a snapshot's bytes, to keep them.

        first  first byte; default 0
        count  default: all the rest, or as much as a frame holds
        """
        return self._call(
            p.SnapshotRead(snapshot=snapshot, first=first, count=count),
            p.SnapshotReadReply,
            deadline_ms,
        )

    def snapshot_upload(
        self,
        *,
        snapshot: int | None = None,
        total: int | None = None,
        first: int | None = None,
        data: bytes | None = None,
        deadline_ms: int | None = None,
    ) -> p.SnapshotUploadReply:
        """Brings a snapshot back, in parts: the first without `snapshot`, the others with the id that the
        first returned, in order.

        snapshot  absent: a new one
        total     with the first part: bytes of the whole, 1 … the memory budget
        first     where this part begins: how many bytes were uploaded before; default 0
        """
        return self._call(
            p.SnapshotUpload(snapshot=snapshot, total=total, first=first, data=data),
            p.SnapshotUploadReply,
            deadline_ms,
        )

    def snapshot_restore(
        self,
        *,
        world: int | None = None,
        snapshot: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.SnapshotRestoreReply:
        """Makes a world what a snapshot says: bodies, settings, step count, everything but its name and
        lifetime. Recorded like any other input."""
        return self._call(
            p.SnapshotRestore(world=world, snapshot=snapshot),
            p.SnapshotRestoreReply,
            deadline_ms,
        )

    def snapshot_clone(
        self,
        *,
        snapshot: int | None = None,
        world: int | None = None,
        count: int | None = None,
        name: str | None = None,
        lifetime: p.World.Lifetime | None = None,
        idle_timeout_s: float | None = None,
        deadline_ms: int | None = None,
    ) -> p.SnapshotCloneReply:
        """Makes new worlds from a snapshot, or from a world as it is now.

        snapshot        one of the two
        count           1 … 65,536
        name            of the one clone; of several: with -1, -2 … behind it; default: world-N
        idle_timeout_s  as WorldCreate
        """
        return self._call(
            p.SnapshotClone(snapshot=snapshot, world=world, count=count, name=name, lifetime=lifetime, idle_timeout_s=idle_timeout_s),
            p.SnapshotCloneReply,
            deadline_ms,
        )

    def snapshot_drop(
        self,
        *,
        snapshot: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.SnapshotDropReply:
        """See protocol.SnapshotDrop."""
        return self._call(p.SnapshotDrop(snapshot=snapshot), p.SnapshotDropReply, deadline_ms)

    def group_create(
        self,
        *,
        name: str | None = None,
        lifetime: p.World.Lifetime | None = None,
        scene: p.Scene | None = None,
        world: int | None = None,
        count: int | None = None,
        seed: int | None = None,
        first_world: int | None = None,
        action: Sequence[p.GroupChannel] | None = None,
        observation: Sequence[p.GroupChannel] | None = None,
        extra: Sequence[p.GroupChannel] | None = None,
        bounds: Sequence[p.GroupChannel] | None = None,
        noise: Sequence[p.GroupNoise] | None = None,
        substeps: int | None = None,
        time_step: float | None = None,
        step_limit: int | None = None,
        autoreset: p.Group.Autoreset | None = None,
        double_precision: bool | None = None,
        parameters: Sequence[p.GroupParameter] | None = None,
        record: p.GroupRecord | None = None,
        opinion: p.GroupOpinion | None = None,
        recording: str | None = None,
        step: int | None = None,
        idle_timeout_s: float | None = None,
        saved: int | None = None,
        pushes: Sequence[p.GroupPush] | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupCreateReply:
        """Makes a group. Its worlds stand as the template does, and have not begun an episode: GroupReset
        begins one, or, with autoreset, the first GroupStep; or they go on from where those of a recorded
        group were.

        name              default: the scene's or the world's name; need not be unique
        lifetime          as of worlds
        scene             the template: one of the two
        world             a world as it is now, with all that its future depends on
        count             worlds, 1 … 65,536
        first_world       world i draws from the stream of first_world + i: so one world of a group can be
                          repeated alone
        action            at least one column
        observation       at least one column
        bounds            leaving one terminates; judged in doubles after each step of the group
        substeps          steps of the world per step of the group, 1 … 1e6; the action holds for all of them
        time_step         [s] 1e-9 … 10 of a substep; default: the template's
        step_limit        an episode is truncated after so many steps of the group; 0: never
        double_precision  rows of doubles
        record            default: it is not recorded. The server needs the option --db
        opinion           default: none, and no certificate is judged
        recording         Instead of a template: a recorded group, that goes on from where it was, on this
                          server or another start of it: an id that GroupCreateReply.recording gave, or that of
                          one of its episodes, an unmistakable beginning of one (at least 4 digits), or a name
                          that only one recording has. What it is, its worlds, seeds and layouts, comes from the
                          recording, so that beside these three only name, lifetime and record may be given. It
                          stands as it did behind the call `step`: each world in the middle of its episode;
                          GroupRead tells what it sees. What is done from then on gives the same bits as it
                          would have there.
        step              behind so many calls of the group (GroupReset, GroupStep, GroupSend; in the order they
                          came); default: the last that all ranges of its worlds have: nothing that was stored
                          of it is lost
        idle_timeout_s    [s] 1 … 1e9: destroyed when no call has named it for so long; default: never
        saved             Instead of a template or a recording: a group that was saved (GroupSave), here or on
                          another server of the same dynamics version, whose bytes SnapshotUpload has brought;
                          the id of that snapshot, which stays. Only name, lifetime, record and idle_timeout_s
                          may be given beside it. It stands as the other one did when it was saved, each world
                          in the middle of its episode (GroupRead tells what it sees), and goes on with the same
                          bits; second opinions come with the same call as there. Recorded, its recording's
                          parent is that of the saved group, if it had one.
        pushes            at most 64
        """
        return self._call(
            p.GroupCreate(name=name, lifetime=lifetime, scene=scene, world=world, count=count, seed=seed, first_world=first_world, action=action, observation=observation, extra=extra, bounds=bounds, noise=noise, substeps=substeps, time_step=time_step, step_limit=step_limit, autoreset=autoreset, double_precision=double_precision, parameters=parameters, record=record, opinion=opinion, recording=recording, step=step, idle_timeout_s=idle_timeout_s, saved=saved, pushes=pushes),
            p.GroupCreateReply,
            deadline_ms,
        )

    def group_reset(
        self,
        *,
        group: int | None = None,
        mask: bytes | None = None,
        seed: ArrayLike | None = None,
        values: ArrayLike | None = None,
        return_world: ArrayLike | None = None,
        return_sum: ArrayLike | None = None,
        return_doubtful: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupStepReply:
        """Begins episodes: the next one of each named world, or, with a seed, episode 0 of that seed. What
        was going on there ends untold, also of a world that fails, as its numbers are none that a world can
        have: no episode goes on there until another begins.

        seed             none: the episodes are counted on; one: of all named worlds; or one for each
        values           a number per noise column, world after world: added instead of what would be drawn
        return_world     as in GroupStep
        return_doubtful  as in GroupStep
        """
        return self._call(
            p.GroupReset(group=group, mask=mask, seed=seed, values=values, return_world=return_world, return_sum=return_sum, return_doubtful=return_doubtful),
            p.GroupStepReply,
            deadline_ms,
        )

    def group_step(
        self,
        *,
        group: int | None = None,
        mask: bytes | None = None,
        action: ArrayLike | None = None,
        action_double: ArrayLike | None = None,
        return_world: ArrayLike | None = None,
        return_sum: ArrayLike | None = None,
        return_doubtful: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupStepReply:
        """Steps worlds: actions are applied, `substeps` steps taken, rows read.

        action           A per named world, of either precision of the group; NaN and infinity are allowed here:
                         such a row is refused (INVALID_ARGUMENT), its world keeps its state, the others step
        action_double    instead of `action`
        return_world     of a group recorded with returns (of any other: FAILED_PRECONDITION), what the client
                         has counted of finished episodes: the world of each …
        return_sum       … and the return of the oldest episode of that world that replies have told of and that
                         has none yet
        return_doubtful  of a group with an opinion: what of each return_sum was earned in doubtful steps; none,
                         or one for each
        """
        return self._call(
            p.GroupStep(group=group, mask=mask, action=action, action_double=action_double, return_world=return_world, return_sum=return_sum, return_doubtful=return_doubtful),
            p.GroupStepReply,
            deadline_ms,
        )

    def group_send(
        self,
        *,
        group: int | None = None,
        mask: bytes | None = None,
        action: ArrayLike | None = None,
        action_double: ArrayLike | None = None,
        return_world: ArrayLike | None = None,
        return_sum: ArrayLike | None = None,
        return_doubtful: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupSendReply:
        """GroupStep in two parts: Send answers at once, and the worlds step meanwhile; Receive answers with
        those that finished first. A world that was sent takes no other call until it was received. Each
        world's sequence of rows repeats exactly; the order between worlds does not. While a Receive waits,
        GroupStep, GroupReset, GroupSend and GroupRead of its group that come after it wait for it, and other
        calls on the group wait behind those; so calls may be sent without waiting for replies.

        return_world     as in GroupStep
        return_doubtful  as in GroupStep
        """
        return self._call(
            p.GroupSend(group=group, mask=mask, action=action, action_double=action_double, return_world=return_world, return_sum=return_sum, return_doubtful=return_doubtful),
            p.GroupSendReply,
            deadline_ms,
        )

    def group_receive(
        self,
        *,
        group: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupStepReply:
        """See protocol.GroupReceive.

        count  the first so many that finish, once there are as many; at most as many as were sent and that no
               other Receive waits for, which is the default; none: FAILED_PRECONDITION. A deadline counts for
               GroupSend; Cancel ends the wait
        """
        return self._call(p.GroupReceive(group=group, count=count), p.GroupStepReply, deadline_ms)

    def group_destroy(
        self,
        *,
        group: int | None = None,
        return_world: ArrayLike | None = None,
        return_sum: ArrayLike | None = None,
        return_doubtful: ArrayLike | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupDestroyReply:
        """The group is gone for every call that follows; those under way are finished. Of one that is
        recorded it is answered when all of the recording is on the disk, synced.

        return_world     as in GroupStep
        return_doubtful  as in GroupStep
        """
        return self._call(
            p.GroupDestroy(group=group, return_world=return_world, return_sum=return_sum, return_doubtful=return_doubtful),
            p.GroupDestroyReply,
            deadline_ms,
        )

    def group_list(
        self,
        *,
        first: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupListReply:
        """See protocol.GroupList.

        first  default 0
        count  at most 1,000, which is the default
        """
        return self._call(p.GroupList(first=first, count=count), p.GroupListReply, deadline_ms)

    def group_opinions(
        self,
        *,
        group: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupOpinionsReply:
        """Waits until the steps of all calls before it that are to be solved again have been, and tells what
        no reply has told yet. Cancel ends the wait.

        count  at most so many, and never more than a frame holds, the oldest first; default: as many
        """
        return self._call(p.GroupOpinions(group=group, count=count), p.GroupOpinionsReply, deadline_ms)

    def group_read(
        self,
        *,
        group: int | None = None,
        mask: bytes | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupStepReply:
        """The rows of worlds as they stand, without stepping them: the reply of GroupStep with its first two
        columns."""
        return self._call(p.GroupRead(group=group, mask=mask), p.GroupStepReply, deadline_ms)

    def group_save(self, *, group: int | None = None, deadline_ms: int | None = None) -> p.GroupSaveReply:
        """Saves a group between the calls before it and those behind it, to be gone on with on this server or
        another (GroupCreate.saved): what it is, the state of all its worlds, the second opinions that no
        reply has told yet, with the call they are due at. Waits until the steps of all calls before it that
        are to be solved again have been; Cancel ends the wait. FAILED_PRECONDITION while a world that was
        sent (GroupSend) has not been received. It changes nothing. What was recorded stays, and is in the
        file, committed, when the reply comes, but for episodes that wait for their returns: those still to be
        told go to this group (GroupStep, GroupDestroy.return_sum)."""
        return self._call(p.GroupSave(group=group), p.GroupSaveReply, deadline_ms)

    def episode_start(
        self,
        *,
        world: int | None = None,
        name: str | None = None,
        labels: Sequence[str] | None = None,
        content: p.Episode.Content | None = None,
        stride: int | None = None,
        keyframe_steps: int | None = None,
        lossy: bool | None = None,
        seed: int | None = None,
        events: bool | None = None,
        deadline_ms: int | None = None,
    ) -> p.EpisodeStartReply:
        """Records a world from now on. Answered when the episode is on the disk.

        name            default: the world's, with a number
        labels          at most 64
        stride          steps between frames; 1 … 1,000,000
        keyframe_steps  steps between key-frames; 1 … 1,000,000: seeking costs at most so many steps
        lossy           true: when the disk cannot keep up, steps go unrecorded (and are counted) instead of
                        waiting
        seed            kept with the episode; not used
        events          also which bodies touch, from when to when, and how hard at most (EpisodeTouches); not
                        with `lossy`
        """
        return self._call(
            p.EpisodeStart(world=world, name=name, labels=labels, content=content, stride=stride, keyframe_steps=keyframe_steps, lossy=lossy, seed=seed, events=events),
            p.EpisodeStartReply,
            deadline_ms,
        )

    def episode_stop(
        self,
        *,
        world: int | None = None,
        episode: str | None = None,
        deadline_ms: int | None = None,
    ) -> p.EpisodeStopReply:
        """Ends a recording. Answered when all of it is on the disk, synced. It has its place among the calls
        on its world, also by the episode's id; what names the episode otherwise is looked up in the file
        first, and takes its place then.

        world  one of the two
        """
        return self._call(p.EpisodeStop(world=world, episode=episode), p.EpisodeStopReply, deadline_ms)

    def episode_list(
        self,
        *,
        name: str | None = None,
        label: str | None = None,
        solver: str | None = None,
        client: str | None = None,
        state: p.Episode.State | None = None,
        since: float | None = None,
        until: float | None = None,
        first: int | None = None,
        count: int | None = None,
        recording: str | None = None,
        touches: Sequence[p.EpisodeTouch] | None = None,
        highlights: ArrayLike | None = None,
        rank: p.Episode.Rank | None = None,
        deadline_ms: int | None = None,
    ) -> p.EpisodeListReply:
        """Which episodes there are.

        name        part of the name, in any case of letters
        label       one of its labels
        since       [s] since 1970: begun at this time or later
        until       [s] begun before
        first       skip so many; default 0
        count       at most so many, and never more than 65,536, or than a frame holds: go on behind those that
                    came
        recording   those of this recording: the id of any of them, 32 digits
        touches     each of these was among its touches; at most 8. Of episodes recorded without `events` nobody
                    knows: they are counted in `unknown`
        highlights  it has some of each of these kinds; at most 8
        """
        return self._call(
            p.EpisodeList(name=name, label=label, solver=solver, client=client, state=state, since=since, until=until, first=first, count=count, recording=recording, touches=touches, highlights=highlights, rank=rank),
            p.EpisodeListReply,
            deadline_ms,
        )

    def episode_describe(
        self,
        *,
        episode: str | None = None,
        names: bool | None = None,
        highlights: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.EpisodeDescribeReply:
        """See protocol.EpisodeDescribe.

        names       also the names that bodies have; default false
        highlights  also so many of each kind of highlights, the worst first; 0 … 10,000; default 0
        """
        return self._call(
            p.EpisodeDescribe(episode=episode, names=names, highlights=highlights),
            p.EpisodeDescribeReply,
            deadline_ms,
        )

    def episode_read(
        self,
        *,
        episode: str | None = None,
        first: int | None = None,
        count: int | None = None,
        stride: int | None = None,
        poses: bool | None = None,
        velocities: bool | None = None,
        contacts: bool | None = None,
        single: bool | None = None,
        again: bool | None = None,
        joints: bool | None = None,
        reports: bool | None = None,
        deadline_ms: int | None = None,
    ) -> p.EpisodeReadReply:
        """States and contacts of an episode, by range: the stored ones where there are some, others by
        stepping from the key-frame before.

        first     step; default 0
        count     how many frames; default: all the rest
        stride    steps from frame to frame
        contacts  default false
        single    poses and velocities as floats; default false; refused where no float holds one of them
        again     step again even where states are stored; default false
        joints    numbers of all joints; default false
        reports   certificates and energies of the frames' steps, which are stepped again for them; default
                  false
        """
        return self._call(
            p.EpisodeRead(episode=episode, first=first, count=count, stride=stride, poses=poses, velocities=velocities, contacts=contacts, single=single, again=again, joints=joints, reports=reports),
            p.EpisodeReadReply,
            deadline_ms,
        )

    def episode_replay(
        self,
        *,
        episode: str | None = None,
        first: int | None = None,
        last: int | None = None,
        stride: int | None = None,
        speed: float | None = None,
        poses: bool | None = None,
        velocities: bool | None = None,
        contacts: bool | None = None,
        single: bool | None = None,
        again: bool | None = None,
        joints: bool | None = None,
        backward: bool | None = None,
        reports: bool | None = None,
        deadline_ms: int | None = None,
    ) -> Stream[p.EpisodeFrames, p.EpisodeReplayReply]:
        """Streams an episode: events with `episode_frames`, then the reply. Cancel ends it. A client that
        reads slowly gets every frame, later.

        first     step; default 0
        last      default: the last
        stride    steps from frame to frame
        speed     times real time, by the world's clock; 0: as fast as it is read; 0 … 1e6
        again     as in EpisodeRead
        backward  From `last` down to `first`, in the same strides: last, last - stride, … . What is not stored
                  is stepped from the key-frame before, a block of frames at a time, which costs at most about
                  two steps for each; default false
        reports   as in EpisodeRead
        """
        return self._stream(
            p.EpisodeReplay(episode=episode, first=first, last=last, stride=stride, speed=speed, poses=poses, velocities=velocities, contacts=contacts, single=single, again=again, joints=joints, backward=backward, reports=reports),
            p.EpisodeFrames,
            p.EpisodeReplayReply,
            deadline_ms,
        )

    def episode_verify(
        self,
        *,
        episode: str | None = None,
        first: int | None = None,
        last: int | None = None,
        lanes: int | None = None,
        seal_public_key: bytes | None = None,
        deadline_ms: int | None = None,
    ) -> Stream[p.EpisodeProgress, p.EpisodeVerifyReply]:
        """Steps an episode again and compares every hash, frame, key-frame and figure; counts its chunks,
        follows them one by one and compares all that the file's rows say of it with what was sealed when it
        was recorded; frames and contacts that are gone are missed. Sends events with `episode_progress`. A
        difference is no error of the call: the reply says `verified = false`. FAILED_PRECONDITION when the
        episode is of another dynamics version.

        first            step; default 0
        last             default: the last
        lanes            at most so many at once; default: all
        seal_public_key  An Ed25519 key, 32 bytes, of a server's --seal-key: the reply's `signed` says what it
                         has signed. INVALID_ARGUMENT when it is none
        """
        return self._stream(
            p.EpisodeVerify(episode=episode, first=first, last=last, lanes=lanes, seal_public_key=seal_public_key),
            p.EpisodeProgress,
            p.EpisodeVerifyReply,
            deadline_ms,
        )

    def episode_delete(
        self,
        *,
        episode: str | None = None,
        deadline_ms: int | None = None,
    ) -> p.EpisodeDeleteReply:
        """Removes an episode from the file, and its recording with the last one. FAILED_PRECONDITION while it
        is being recorded, or pinned."""
        return self._call(p.EpisodeDelete(episode=episode), p.EpisodeDeleteReply, deadline_ms)

    def episode_fork(
        self,
        *,
        episode: str | None = None,
        step: int | None = None,
        name: str | None = None,
        lifetime: p.World.Lifetime | None = None,
        idle_timeout_s: float | None = None,
        deadline_ms: int | None = None,
    ) -> p.EpisodeForkReply:
        """Makes a live world that is what an episode's world was right behind a step, to go on from there
        otherwise. Episodes recorded of the new world name their parent and that step (EpisodeInfo.parent),
        until SnapshotRestore makes something else of it. Needs what EpisodeReplay needs: what was not stored
        is stepped again, and a recording that does not step to its own hashes is DATA_LOSS, naming the step.

        step            of the episode; default: its last
        name            of the world, unique among the server's; default: world-N
        idle_timeout_s  as WorldCreate
        """
        return self._call(
            p.EpisodeFork(episode=episode, step=step, name=name, lifetime=lifetime, idle_timeout_s=idle_timeout_s),
            p.EpisodeForkReply,
            deadline_ms,
        )

    def episode_compare(
        self,
        *,
        episode: str | None = None,
        first: int | None = None,
        last: int | None = None,
        stride: int | None = None,
        variants: Sequence[p.EpisodeVariant] | None = None,
        threshold: float | None = None,
        record: bool | None = None,
        labels: Sequence[str] | None = None,
        content: p.Episode.Content | None = None,
        deadline_ms: int | None = None,
    ) -> Stream[p.EpisodeProgress, p.EpisodeCompareReply]:
        """Takes the inputs of an episode again, from a step on, as they were and beside that under other
        settings, and tells how far the worlds come apart and how well each was solved. The recording's own
        run must step to its own hashes (else DATA_LOSS, naming the step), and every variant begins with its
        state at `first`, warm start included. Sends events with `compare_progress`. Nothing of a reply but
        its times depends on the number of lanes. FAILED_PRECONDITION when the episode is of another dynamics
        version. Every input comes at the time at which it was recorded. What a variant's settings give rules
        throughout: where the recording sets the same (a solver or its parameters: both), that part of the
        input is left out, and the rest of it is done. Bodies that have left a variant's bounds are passed
        over by wrenches; any other input that a variant cannot take ends it (EpisodeRun.ended) and none of
        the others, as does a step that fails. With another time_step a variant has a clock of its own, which
        begins with the recording's. 1000 of the recording's steps at most, and 1000 of the variant's, lie
        between two times at which steps of both end, else INVALID_ARGUMENT. A step's wrenches are those
        recorded for the time that it covers: where they change inside of it, their mean, so that what they
        add in momentum is the same. Whatever else changes a world (WorldSet, and with it the targets and
        efforts of drives, bodies that are added, …) must come where a step of the variant ends; where it does
        not, the variant ends there. Worlds are compared at the times at which steps of both end. An episode
        of a group is compared as one of a world: it begins with the template, the world's own parameters and
        what was drawn as they were recorded, and its inputs are its actions, as they were clipped. Steps are
        those of the group (GroupCreate.substeps of the world's each, `substeps` of the reply), behind which
        worlds are compared. A variant takes the recorded actions of all of them, whether or not the group's
        rules (bounds, bodies or joints that are lost) would have ended its episode before:
        EpisodeRun.terminated_step says where. With a time step of its own it needs one of which steps end
        where the group's do, if an action drives joints or kinematic bodies. An episode that a variant
        becomes is one of a single world, in which an action is what a client of that world would have sent: a
        WorldSet of the driven joints' efforts, targets and target velocities and of kinematic bodies'
        velocities, and then, for each substep, a WorldStep with the wrenches. Where worlds sleep (sleep_speed
        above 0) and an action drives joints, the hash may be another one although all bodies move alike:
        WorldSet rouses both bodies of such a joint, a group the one that it drives.

        first      step; default 0
        last       default: the last
        stride     steps of the recording from sample to sample, and of frames that are recorded; 1 … 1,000,000
        variants   1 … 16
        threshold  [m] 0 … 1e6: worlds are apart where a body is farther than this from where it was
        record     each variant becomes an episode, which knows its parent and step; default false
        labels     of those episodes; at most 64
        content    of those episodes
        """
        return self._stream(
            p.EpisodeCompare(episode=episode, first=first, last=last, stride=stride, variants=variants, threshold=threshold, record=record, labels=labels, content=content),
            p.EpisodeProgress,
            p.EpisodeCompareReply,
            deadline_ms,
        )

    def episode_touches(
        self,
        *,
        episode: str | None = None,
        where: p.EpisodeTouch | None = None,
        first: int | None = None,
        count: int | None = None,
        simulate: bool | None = None,
        deadline_ms: int | None = None,
    ) -> Stream[p.EpisodeProgress, p.EpisodeTouchesReply]:
        """Which bodies touched in an episode that is recorded with `events`, in order by where they began,
        then by the bodies. Two bodies *push* in a step whose contacts between them have normal impulses that,
        added up and divided by the reduced mass of the two, are more than 1e-4 |g| h (and more than 1e-9
        m/s). A touch begins in a step in which they push. It goes on where they push, where one of their
        contacts has a gap of at most 1e-4 |g| h^2, as the step began, and where both sleep, or one does and
        the other is not dynamic. It ends, with the last such step, where two steps in a row have none of it,
        or a body is gone. Bodies that touch as the recording begins begin in its first step. Of an episode
        that is being recorded the last second may not be told yet. Of an episode without events nobody has
        noted it: FAILED_PRECONDITION, unless `simulate` has all of it stepped again, each time it is asked
        for. That gives the same touches as a recording with events would have had, needs what EpisodeVerify
        needs, and sends events with `touches_progress`; where the recording is not what its steps give, or
        has lost some, it is DATA_LOSS, naming the step. An episode of a group never has events: of it the
        touches are those of all steps of its world, told in steps of the group; what a call did that was
        stopped within its substeps, and so ended the episode, is told of its last step. One whose beginning
        is in another recording begins with those who touch there.

        where     default: all
        first     skip so many; default 0
        count     at most so many, and never more than 65,536
        simulate  where none were recorded, as above
        """
        return self._stream(
            p.EpisodeTouches(episode=episode, where=where, first=first, count=count, simulate=simulate),
            p.EpisodeProgress,
            p.EpisodeTouchesReply,
            deadline_ms,
        )

    def episode_pin(
        self,
        *,
        episode: str | None = None,
        pinned: bool | None = None,
        deadline_ms: int | None = None,
    ) -> p.EpisodePinReply:
        """Pins an episode, or lets it go again, also while it is being recorded. Retention deletes no
        recording with a pinned episode in it, whatever the options --keep-days, --keep-bytes and
        --keep-episodes say, and EpisodeDelete refuses a pinned one. Answered when it is on the disk.

        pinned  false: not any more
        """
        return self._call(p.EpisodePin(episode=episode, pinned=pinned), p.EpisodePinReply, deadline_ms)

    def episode_backup(
        self,
        *,
        name: str | None = None,
        overwrite: bool | None = None,
        deadline_ms: int | None = None,
    ) -> Stream[p.BackupProgress, p.EpisodeBackupReply]:
        """Makes a sound copy of the server's file of episodes, while it serves and records: one SQLite file,
        in the folder of the option --backup-dir, that a server, or anything that reads SQLite, opens by
        itself. Whatever was committed before the call is in it; what is being recorded at its end is
        `interrupted` there. Sends events with `backup_progress`. The copy gets its name when it is whole and
        on the disk: a call that fails or is cancelled leaves nothing. ALREADY_EXISTS: there is such a file.
        FAILED_PRECONDITION: no --backup-dir, or a backup is being made already. RESOURCE_EXHAUSTED: the disk
        has not the room for it and for what the log itself needs.

        name       of the file: 1 … 200 bytes, no slash, no dot in front, not what SQLite calls its own (-wal,
                   -journal, -shm)
        overwrite  an ordinary file of that name that no server has open is replaced
        """
        return self._stream(
            p.EpisodeBackup(name=name, overwrite=overwrite),
            p.BackupProgress,
            p.EpisodeBackupReply,
            deadline_ms,
        )

    def subscribe(
        self,
        *,
        world: int | None = None,
        group: int | None = None,
        index: int | None = None,
        every: int | None = None,
        frames_per_second: float | None = None,
        scene: bool | None = None,
        poses: bool | None = None,
        velocities: bool | None = None,
        joints: bool | None = None,
        contacts: bool | None = None,
        reports: bool | None = None,
        single: bool | None = None,
        deadline_ms: int | None = None,
    ) -> Stream[p.LiveFrame, p.SubscribeReply]:
        """Watches a world while it runs, also in the middle of a long WorldStep: events with `live_frame`,
        the first at once, then whenever it has stepped or was changed. Changes nothing, and waits for no
        call. The latest state wins: a client that is slow to read misses those between, and is told how many;
        one that does not read at all holds up nobody (and is cut after --write-timeout-ms). What is there
        when the world rests is always shown in the end. Ends with CANCELLED (Cancel), NOT_FOUND (the world is
        gone), RESOURCE_EXHAUSTED (what it asks for does not fit into a frame) or with its connection. A
        subscription is a request under way; --subscriptions-max limits those of the server, and a connection
        may have one fewer than its --requests-max, so that Cancel is read: more are RESOURCE_EXHAUSTED. Of a
        world of a group, a frame is what a call left behind: the world after a GroupStep's row of it, or
        after a GroupReset. It does not keep its group from going by an idle timeout, and ends with NOT_FOUND,
        which says why, as soon as the group is destroyed or goes with its session.

        world              this, or group and index
        index              of the world in its group, 0 … count - 1; default 0
        every              steps (of a group: of that world, as the group counts them): at least so many from
                           one frame to the next, 1 … 10^12
        frames_per_second  [1/s] at most so many, by the clock of the server, 0 … 1e6; 0: as many as both sides
                           manage
        scene              what the bodies are: in the first frame, and whenever any were added
        joints             which joints there are, and their numbers
        reports            certificates
        single             poses, velocities and joints as floats
        """
        return self._stream(
            p.Subscribe(world=world, group=group, index=index, every=every, frames_per_second=frames_per_second, scene=scene, poses=poses, velocities=velocities, joints=joints, contacts=contacts, reports=reports, single=single),
            p.LiveFrame,
            p.SubscribeReply,
            deadline_ms,
        )

    def solve(
        self,
        *,
        problem: p.ContactProblem | None = None,
        solver: str | None = None,
        parameters: p.SolverParameters | None = None,
        history: bool | None = None,
        effort: p.Effort.Kind | None = None,
        deadline_ms: int | None = None,
    ) -> p.SolveReply:
        """Solves one contact problem. Nothing is stored. What ends it is the solver's `budget`, which is
        counted: the same on every machine. One that takes longer than the request's deadline is answered with
        the best that it has by then: its certificate is not converged, and its reason is TIME_LIMIT; so is,
        as a last resort, one that takes longer than the server lets a solve take (--work-timeout-ms), and its
        reason is WORK_TIMEOUT.

        solver      default mdp
        parameters  of that solver
        history     also return the residual after each iteration, at the cost of measuring it; default false
        effort      what it may cost; default EXACT
        """
        return self._call(
            p.Solve(problem=problem, solver=solver, parameters=parameters, history=history, effort=effort),
            p.SolveReply,
            deadline_ms,
        )

    def problem(self, *, world: int | None = None, deadline_ms: int | None = None) -> p.ProblemReply:
        """The problem of a world's last step, its bodies as bodies, each contact with the bias that its
        solver used, and the impulses that it started from: Solve of all that is in the reply gives the
        impulses of that step bit for bit. FAILED_PRECONDITION as in WorldContacts."""
        return self._call(p.Problem(world=world), p.ProblemReply, deadline_ms)
