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
        """See protocol.Ping."""
        return self._call(p.Ping(payload=payload), p.Pong, deadline_ms)

    def stats(self, *, worlds: bool | None = None, deadline_ms: int | None = None) -> p.StatsReply:
        """See protocol.Stats."""
        return self._call(p.Stats(worlds=worlds), p.StatsReply, deadline_ms)

    def describe(
        self,
        *,
        first: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.DescribeReply:
        """See protocol.Describe."""
        return self._call(p.Describe(first=first, count=count), p.DescribeReply, deadline_ms)

    def cancel(self, *, request: int | None = None, deadline_ms: int | None = None) -> p.CancelReply:
        """See protocol.Cancel."""
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
        """See protocol.WorldCreate."""
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
        """See protocol.WorldList."""
        return self._call(p.WorldList(first=first, count=count), p.WorldListReply, deadline_ms)

    def world_add_materials(
        self,
        *,
        world: int | None = None,
        materials: Sequence[p.Material] | None = None,
        deadline_ms: int | None = None,
    ) -> p.WorldAddReply:
        """See protocol.WorldAddMaterials."""
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
        deadline_ms: int | None = None,
    ) -> p.WorldAddReply:
        """See protocol.WorldAddShapes."""
        return self._call(
            p.WorldAddShapes(world=world, primitive_count=primitive_count, kind=kind, size=size, pose=pose, material=material, density=density, foundation_face=foundation_face, foundation_cells=foundation_cells, foundation_modulus=foundation_modulus, foundation_depth=foundation_depth, foundation_damping=foundation_damping, group=group, mask=mask),
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
        """See protocol.WorldAddBodies."""
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
        deadline_ms: int | None = None,
    ) -> p.WorldAddReply:
        """See protocol.WorldAddJoints."""
        return self._call(
            p.WorldAddJoints(world=world, kind=kind, body_a=body_a, body_b=body_b, axes=axes, frame_a=frame_a, frame_b=frame_b, as_rows=as_rows, collides=collides, joint_a=joint_a, joint_b=joint_b, ratio=ratio, length=length, break_force=break_force, break_torque=break_torque, names=names, low=low, high=high, stiffness=stiffness, rest=rest, damping=damping, friction=friction, armature=armature, drive_stiffness=drive_stiffness, drive_damping=drive_damping, effort_max=effort_max, position=position, velocity=velocity, target=target, target_velocity=target_velocity, effort=effort),
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
        deadline_ms: int | None = None,
    ) -> p.WorldRemoveReply:
        """See protocol.WorldRemove."""
        return self._call(
            p.WorldRemove(world=world, bodies=bodies, joints=joints, shapes=shapes),
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
        """See protocol.WorldGet."""
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
        deadline_ms: int | None = None,
    ) -> p.WorldSetReply:
        """See protocol.WorldSet."""
        return self._call(
            p.WorldSet(world=world, settings=settings, ids=ids, pose=pose, velocity=velocity, joints=joints, joint_position=joint_position, joint_velocity=joint_velocity, joint_target=joint_target, joint_target_velocity=joint_target_velocity, joint_effort=joint_effort, mass=mass, inertia=inertia, materials=materials, material_friction=material_friction, material_restitution=material_restitution, material_stiffness=material_stiffness, material_dissipation_time=material_dissipation_time, material_damping=material_damping, material_hertz_exponent=material_hertz_exponent, shapes=shapes, shape_material=shape_material, joint_low=joint_low, joint_high=joint_high, joint_stiffness=joint_stiffness, joint_rest=joint_rest, joint_damping=joint_damping, joint_friction=joint_friction, joint_armature=joint_armature, joint_drive_stiffness=joint_drive_stiffness, joint_drive_damping=joint_drive_damping, joint_effort_max=joint_effort_max),
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
        """See protocol.WorldStep."""
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
        """See protocol.WorldContacts."""
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
        """See protocol.WorldHash."""
        return self._call(p.WorldHash(worlds=worlds), p.WorldHashReply, deadline_ms)

    def world_scene(self, *, world: int | None = None, deadline_ms: int | None = None) -> p.WorldSceneReply:
        """See protocol.WorldScene."""
        return self._call(p.WorldScene(world=world), p.WorldSceneReply, deadline_ms)

    def snapshot_take(
        self,
        *,
        world: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.SnapshotTakeReply:
        """See protocol.SnapshotTake."""
        return self._call(p.SnapshotTake(world=world), p.SnapshotTakeReply, deadline_ms)

    def snapshot_read(
        self,
        *,
        snapshot: int | None = None,
        first: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.SnapshotReadReply:
        """See protocol.SnapshotRead."""
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
        """See protocol.SnapshotUpload."""
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
        """See protocol.SnapshotRestore."""
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
        """See protocol.SnapshotClone."""
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
        deadline_ms: int | None = None,
    ) -> p.GroupCreateReply:
        """See protocol.GroupCreate."""
        return self._call(
            p.GroupCreate(name=name, lifetime=lifetime, scene=scene, world=world, count=count, seed=seed, first_world=first_world, action=action, observation=observation, extra=extra, bounds=bounds, noise=noise, substeps=substeps, time_step=time_step, step_limit=step_limit, autoreset=autoreset, double_precision=double_precision, parameters=parameters, record=record, opinion=opinion, recording=recording, step=step, idle_timeout_s=idle_timeout_s, saved=saved),
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
        """See protocol.GroupReset."""
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
        """See protocol.GroupStep."""
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
        """See protocol.GroupSend."""
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
        """See protocol.GroupReceive."""
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
        """See protocol.GroupDestroy."""
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
        """See protocol.GroupList."""
        return self._call(p.GroupList(first=first, count=count), p.GroupListReply, deadline_ms)

    def group_opinions(
        self,
        *,
        group: int | None = None,
        count: int | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupOpinionsReply:
        """See protocol.GroupOpinions."""
        return self._call(p.GroupOpinions(group=group, count=count), p.GroupOpinionsReply, deadline_ms)

    def group_read(
        self,
        *,
        group: int | None = None,
        mask: bytes | None = None,
        deadline_ms: int | None = None,
    ) -> p.GroupStepReply:
        """See protocol.GroupRead."""
        return self._call(p.GroupRead(group=group, mask=mask), p.GroupStepReply, deadline_ms)

    def group_save(self, *, group: int | None = None, deadline_ms: int | None = None) -> p.GroupSaveReply:
        """See protocol.GroupSave."""
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
        """See protocol.EpisodeStart."""
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
        """See protocol.EpisodeStop."""
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
        """See protocol.EpisodeList."""
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
        """See protocol.EpisodeDescribe."""
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
        """See protocol.EpisodeRead."""
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
        """See protocol.EpisodeReplay."""
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
        deadline_ms: int | None = None,
    ) -> Stream[p.EpisodeProgress, p.EpisodeVerifyReply]:
        """See protocol.EpisodeVerify."""
        return self._stream(
            p.EpisodeVerify(episode=episode, first=first, last=last, lanes=lanes),
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
        """See protocol.EpisodeDelete."""
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
        """See protocol.EpisodeFork."""
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
        """See protocol.EpisodeCompare."""
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
        """See protocol.EpisodeTouches."""
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
        """See protocol.EpisodePin."""
        return self._call(p.EpisodePin(episode=episode, pinned=pinned), p.EpisodePinReply, deadline_ms)

    def episode_backup(
        self,
        *,
        name: str | None = None,
        overwrite: bool | None = None,
        deadline_ms: int | None = None,
    ) -> Stream[p.BackupProgress, p.EpisodeBackupReply]:
        """See protocol.EpisodeBackup."""
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
        """See protocol.Subscribe."""
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
        deadline_ms: int | None = None,
    ) -> p.SolveReply:
        """See protocol.Solve."""
        return self._call(
            p.Solve(problem=problem, solver=solver, parameters=parameters, history=history),
            p.SolveReply,
            deadline_ms,
        )

    def problem(self, *, world: int | None = None, deadline_ms: int | None = None) -> p.ProblemReply:
        """See protocol.Problem."""
        return self._call(p.Problem(world=world), p.ProblemReply, deadline_ms)
