# SPDX-License-Identifier: MIT
"""Groups of worlds that begin alike and step together: arrays in, arrays out.

    group = moreau_sim.Group.create(client, "cart_pole.json", count=4096,
        action=[channel("JOINT_EFFORT", "rail", scale=10, low=-1, high=1)],
        observation=[channel("JOINT_POSITION", "rail"), channel("JOINT_POSITION", "hinge")],
        noise=[uniform("JOINT_POSITION", "hinge", -0.05, 0.05)], step_limit=500)
    rows = group.reset(seed=1)
    rows = group.step(np.ones((4096, 1)))
    rows.observation, rows.terminated, rows.final.observation
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import protocol as p
from ._asked import Returns, actions_for, named, returns_of, seeds_for, values_for
from ._json import from_json
from ._notebook import facts, frame
from ._pages import live_address, page_of
from ._wire import WireError, decode, encode, key_of, read_column, varint
from .client import Client, Pending, carried_through
from .errors import MoreauError, of_status
from .world import World, read_scene

# what the caller did wrong is raised; what went wrong in a world is in Rows.failures
_RAISED = (p.Status.Code.INVALID_ARGUMENT, p.Status.Code.FAILED_PRECONDITION)


# ---- layouts


def channel(
    kind: str,
    of: str | int | None = None,
    *,
    relative_to: str | int | None = None,
    axes: int | Iterable[int] | None = None,
    **more: Any,
) -> p.GroupChannel:
    """A channel: numbers that go into a world, or are read of it.

    kind          of protocol.GroupChannel.Kind, as "JOINT_EFFORT" or "BODY_POSITION"
    of            the joint or the body: its name, #2 for the second of the template, or its id
    relative_to   another body, in whose axes it is read
    axes          which of its numbers, as [0, 2], or as bits; default: all
    more          scale, offset, low, high; of RAYS: ray_way and ray_origin (n x 3), ray_heading, ray_mask; of
                  ACCELEROMETER and GYROSCOPE: mount, a pose in the body's axes (7); of what is observed:
                  noise_deviation, bias_deviation, bias_walk, delay, delay_max
    """
    for numbers in ("ray_way", "ray_origin", "mount"):
        if numbers in more:
            more[numbers] = np.asarray(more[numbers], dtype=np.float64).ravel().tolist()
    made = from_json(p.GroupChannel, {"kind": kind, **more})
    made.axes = axes if axes is None or isinstance(axes, int) else sum(1 << axis for axis in axes)
    if isinstance(of, int):
        setattr(made, "joint_id" if kind.startswith("JOINT") else "body_id", of)
    elif of is not None:
        setattr(made, "joint" if kind.startswith("JOINT") else "body", of)
    if isinstance(relative_to, int):
        made.relative_to_id = relative_to
    else:
        made.relative_to = relative_to
    return made


def uniform(
    kind: str, of: str | int, low: float, high: float, *, axes: int | Iterable[int] | None = None
) -> p.GroupNoise:
    """What a reset adds to each number of a channel: drawn from [low, high)."""
    return p.GroupNoise(channel=channel(kind, of, axes=axes), low=low, high=high)


def gaussian(
    kind: str, of: str | int, deviation: float, mean: float = 0.0, *, axes: int | Iterable[int] | None = None
) -> p.GroupNoise:
    """What a reset adds to each number of a channel: of a normal distribution."""
    distribution = p.GroupNoise.Distribution.GAUSSIAN
    return p.GroupNoise(channel=channel(kind, of, axes=axes), distribution=distribution, mean=mean, deviation=deviation)


def parameter(kind: str, of: str | int | None, values: ArrayLike) -> p.GroupParameter:
    """What worlds differ in: a kind of protocol.GroupParameter.Kind, of a body, joint or material, and its numbers for
    each world, world after world."""
    made = from_json(p.GroupParameter, {"kind": kind})
    made.values = np.asarray(values, dtype=float).ravel()
    if of is not None:
        what = kind.split("_")[0].lower()
        setattr(made, f"{what}_id" if isinstance(of, int) else what, of)
    return made


def push(
    of: str | int,
    probability: float,
    *,
    force: float | tuple[float, float] = 0.0,
    torque: float | tuple[float, float] = 0.0,
    steps: int = 1,
    axes: int | Iterable[int] = 7,
    impulse: bool = False,
) -> p.GroupPush:
    """Pushes on a body at random moments, of each world its own (protocol.GroupPush).

    of            a dynamic body: its name, #2 for the second of the template, or its id
    probability   that one begins, in each step of the group
    force         [N] its size, or from which to which it is drawn; its direction is drawn, too
    torque        [N m] likewise, with a direction of its own
    steps         of the group that it is held for
    axes          of the world, along which directions lie, as [0, 1] or as bits; default: all
    impulse       sizes are what all steps give together [N s], [N m s]
    """
    made = p.GroupPush(probability=probability, steps=steps, impulse=impulse)
    made.axes = axes if isinstance(axes, int) else sum(1 << axis for axis in axes)
    made.force_low, made.force_high = force if isinstance(force, tuple) else (force, force)
    made.torque_low, made.torque_high = torque if isinstance(torque, tuple) else (torque, torque)
    if isinstance(of, int):
        made.body_id = of
    else:
        made.body = of
    return made


def stream(seed: int, world: int, episode: int) -> np.random.Generator:
    """What noise of an episode is drawn from: one number of random() for each uniform column, two for each
    gaussian one, in their order (protocol.Group)."""
    return np.random.Generator(np.random.Philox(key=[seed, world], counter=[0, 0, episode, 0]))


def sensor_stream(seed: int, world: int, episode: int, row: int, *, extra: bool = False) -> np.random.Generator:
    """What noise, bias and delays of channels are drawn from in a row of an episode, the one that begins it is row 0
    (protocol.GroupChannel)."""
    return np.random.Generator(np.random.Philox(key=[seed, world], counter=[0, row, episode, 3 if extra else 2]))


def push_stream(seed: int, world: int, episode: int, step: int, index: int = 0) -> np.random.Generator:
    """What the push of this index in `pushes` is drawn from in a step of an episode, both counted from 0: it begins
    where the first number of random() is below the probability (protocol.GroupPush)."""
    return np.random.Generator(np.random.Philox(key=[seed, world], counter=[0, step, episode, 4 + index]))


def opinion_stream(seed: int, world: int, episode: int) -> np.random.Generator:
    """What chooses the steps of an episode that are solved again: the t-th, from 0, where the t-th number of random()
    is below the share, and of it substep floor(number / share * substeps) (protocol.GroupOpinion)."""
    return np.random.Generator(np.random.Philox(key=[seed, world], counter=[0, 0, episode, 1]))


# ---- what comes back

# of a GroupStepReply, as skim() has them
_Fields = dict[str, Any]
_NOTHING = memoryview(b"")
_FLAGS = {"terminated", "truncated", "doubtful", "gained"}  # a bit for each row


def _column(fields: _Fields, name: str) -> NDArray[Any]:
    return read_column(p.GroupStepReply, name, fields.get(name, _NOTHING))


@dataclass(frozen=True)
class Columns:
    """Columns of a layout: names, and within what they are said to be."""

    names: list[str]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.names)


class Final:
    """Episodes that ended in a call, a row each: what was seen last of them, whatever the autoreset."""

    def __init__(
        self, fields: _Fields, world: NDArray[np.uint32], observation: NDArray[Any], extra: NDArray[Any]
    ) -> None:
        self._fields = fields
        self.world = world
        self.observation = observation
        self.extra = extra

    def __len__(self) -> int:
        return len(self.world)

    @cached_property
    def episode(self) -> NDArray[np.uint64]:
        return _column(self._fields, "final_episode")

    @cached_property
    def seed(self) -> NDArray[np.uint64]:
        return _column(self._fields, "final_seed")

    @cached_property
    def length(self) -> NDArray[np.uint64]:
        return _column(self._fields, "final_length")


@dataclass(frozen=True)
class Opinions:
    """Second opinions on steps, an entry each: how far they were from exact Coulomb friction
    (protocol.GroupOpinion)."""

    world: NDArray[np.uint32]
    episode: NDArray[np.uint64]
    seed: NDArray[np.uint64]
    step: NDArray[np.uint64]  # of the group in the episode, counted from 1
    substep: NDArray[np.uint32]
    gap: NDArray[np.float64]  # the largest difference of velocities, over V
    e_ds: NDArray[np.float64]  # of the step's own certificate
    residual: NDArray[np.float64]  # of the exact answer: above the tolerance it was not found

    def __len__(self) -> int:
        return len(self.world)


@dataclass(slots=True)
class Rows:
    """What a call on worlds gives, a row for each of `worlds`. All arrays are C-contiguous and the caller's own."""

    worlds: NDArray[np.intp]
    observation: NDArray[Any]
    extra: NDArray[Any]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    final: Final
    unconverged: NDArray[np.uint32]
    failures: list[p.Status]
    doubtful: NDArray[np.bool_]  # of a group with an opinion: the step's certificates are bad
    opinions: Opinions  # on steps of an earlier call
    gained: NDArray[np.bool_]  # rows whose substeps gained energy that nothing gave


def received(fields: _Fields) -> NDArray[np.intp]:
    """The worlds of a GroupReceive's reply."""
    return _column(fields, "worlds").astype(np.intp)


def ended(fields: _Fields) -> NDArray[np.uint32]:
    """The worlds of which a reply says that an episode ended."""
    return _column(fields, "final_world")


def judged(rows: Rows) -> Rows:
    """Raises what the caller did wrong."""
    for failure in rows.failures:
        if failure.code in _RAISED:
            error = of_status(failure)
            error.result = rows
            raise error
    return rows


def _columns(columns: p.GroupColumns | None) -> Columns:
    if columns is None:
        return Columns([], np.empty(0), np.empty(0))
    return Columns(columns.name, columns.low, columns.high)


def joined(opinions: Sequence[Opinions]) -> Opinions:
    """One behind the other."""
    given = [one for one in opinions if len(one)]
    if len(given) < 2:
        return given[0] if given else _NO_OPINIONS
    return Opinions(*(np.concatenate([getattr(one, name) for one in given]) for name in Opinions.__dataclass_fields__))


def _opinions(of: p.GroupOpinionColumns) -> Opinions:
    return Opinions(of.world, of.episode, of.seed, of.step, of.substep, of.gap, of.e_ds, of.residual)


_NO_OPINIONS = _opinions(p.GroupOpinionColumns())


UPLOAD_BYTES = 1 << 20  # a part of what is brought: a frame of any server but the smallest holds it


def _bits(mask: bytes | memoryview | None, count: int) -> NDArray[np.bool_]:
    if not mask:
        return np.zeros(count, np.bool_)
    return np.unpackbits(np.frombuffer(mask, np.uint8), count=count, bitorder="little").view(np.bool_)


def _record(record: str | p.GroupRecord | None) -> p.GroupRecord | None:
    return p.GroupRecord(name=record, returns=True) if isinstance(record, str) else record


def _upload(client: Client, saved: bytes) -> Generator[Pending[Any], None, int]:
    part = UPLOAD_BYTES
    begin = client.send(p.SnapshotUpload(total=len(saved), data=saved[:part]), p.SnapshotUploadReply)
    yield begin
    snapshot = begin.result().snapshot
    assert snapshot is not None
    for first in range(part, len(saved), part):
        data = saved[first : first + part]
        more = client.send(p.SnapshotUpload(snapshot=snapshot, first=first, data=data), p.SnapshotUploadReply)
        yield more
        more.result()
    return snapshot


class Group:
    """`count` worlds on a server. Made by create(); gone with close(), or with the client's session.

    action, observation, extra, noise   columns of the rows
    dtype                               of rows: float32, or float64
    recording                           id of its recording's first episode; "": it is not recorded
    resumed                             of one that goes on from a recording: from where, and what is lost
    """

    def __init__(self, client: Client, reply: p.GroupCreateReply, double: bool) -> None:
        self.client = client
        self.id = reply.group or 0
        self.name = reply.name or ""
        self.count = reply.count or 0
        self.action = _columns(reply.action)
        self.observation = _columns(reply.observation)
        self.extra = _columns(reply.extra)
        self.noise = _columns(reply.noise)
        self.template_hash = reply.template_hash
        self.time_step = reply.time_step or 0.0
        self.dtype: np.dtype[Any] = np.dtype("<f8" if double else "<f4")
        self.recording = reply.recording or ""
        self.resumed = reply.resumed
        self._is_closed = self._has_warned = False
        suffix = "_double" if double else ""
        self._names = ["observation" + suffix, "extra" + suffix, "final_observation" + suffix, "final_extra" + suffix]
        # of GroupStep and GroupSend, which are alike
        self._head = encode(p.GroupStep(group=self.id)) + key_of(p.GroupStep, "action" + suffix)
        self._no_final = self._final({})
        self._returns: list[Returns] = []
        self._sent: list[Pending[p.GroupSendReply]] = []

    def __repr__(self) -> str:
        return f"<Group {self.id} {self.name!r} of {self.count} worlds at {self.client.address}>"

    def _repr_html_(self) -> str:
        """The page on its first world, live, where its server shows pages; else what it is."""
        where = page_of(self.client)
        if where is not None:
            return frame(live_address(where, f"group={self.id}&index=0"))
        rows = [
            ("worlds", self.count),
            ("action", ", ".join(self.action.names)),
            ("observation", ", ".join(self.observation.names)),
            ("recording", self.recording or "none"),
            ("to see it", "launch(http=True), or moreau-server --http ADDRESS"),
        ]
        return facts(f"Group {self.id} {self.name!r} at {self.client.address}", rows)

    @classmethod
    def create(
        cls,
        client: Client,
        template: World | str | os.PathLike[str] | Mapping[str, Any] | p.Scene,
        *,
        count: int,
        action: Sequence[p.GroupChannel],
        observation: Sequence[p.GroupChannel],
        extra: Sequence[p.GroupChannel] = (),
        bounds: Sequence[p.GroupChannel] = (),
        noise: Sequence[p.GroupNoise] = (),
        parameters: Sequence[p.GroupParameter] = (),
        pushes: Sequence[p.GroupPush] = (),
        seed: int = 0,
        autoreset: str = "NEXT_STEP",
        double: bool = False,
        keep: bool = False,
        record: str | p.GroupRecord | None = None,
        opinion: float | p.GroupOpinion | None = None,
        **more: Any,
    ) -> Group:
        """Makes a group of clones of a scene, or of a world as it stands.

        action, observation, extra   channels, whose numbers are the columns of a row
        bounds                       channels whose low and high end an episode
        noise                        what a reset adds (uniform, gaussian)
        parameters                   what the worlds differ in (parameter)
        pushes                       what happens to them at random moments (push)
        autoreset                    NEXT_STEP, SAME_STEP or DISABLED (protocol.Group.Autoreset)
        double                       rows of doubles instead of floats
        keep                         it stays when this client is gone
        record                       keeps every finished episode in the server's file (--db), under this name, with the
                                     return that tell_returns() gives; or as protocol.GroupRecord says
        opinion                      a second opinion on this share of the steps (Rows.opinions, opinions()), and on all
                                     certificates (Rows.doubtful); or as protocol.GroupOpinion says
        more                         name, first_world, substeps, time_step, step_limit, idle_timeout_s: as
                                     protocol.GroupCreate says
        """
        reply = client.group_create(
            lifetime=p.World.Lifetime.SERVER if keep else None,
            scene=None if isinstance(template, World) else read_scene(template),
            world=template.id if isinstance(template, World) else None,
            count=count,
            seed=seed,
            action=list(action),
            observation=list(observation),
            extra=list(extra),
            bounds=list(bounds),
            noise=list(noise),
            parameters=list(parameters),
            pushes=list(pushes),
            autoreset=p.Group.Autoreset[autoreset],
            double_precision=double,
            record=_record(record),
            opinion=opinion
            if opinion is None or isinstance(opinion, p.GroupOpinion)
            else p.GroupOpinion(share=float(opinion)),
            **more,
        )
        return cls(client, reply, double)

    @classmethod
    def resume(
        cls,
        client: Client,
        recording: str,
        *,
        step: int | None = None,
        keep: bool = False,
        record: str | p.GroupRecord | None = None,
        **more: Any,
    ) -> Group:
        """A recorded group that goes on from where it was, also when its server was killed: read() tells what its
        worlds see, and `resumed` what is lost.

        recording   id of the recording (Group.recording), or of one of its episodes, or a name that only one has
        step        behind so many calls (reset, step, send); default: the last that all worlds have
        keep        it stays when this client is gone
        record      as of create(): a recording of its own, whose parent this one is
        more        name, idle_timeout_s: protocol.GroupCreate
        """
        lifetime = p.World.Lifetime.SERVER if keep else None
        reply = client.group_create(recording=recording, step=step, lifetime=lifetime, record=_record(record), **more)
        assert reply.resumed is not None
        return cls(client, reply, bool(reply.resumed.double_precision))

    def save(self) -> bytes:
        """The group as bytes, between the calls before and those behind: what it is, its worlds, and the second
        opinions still to be told. from_saved() goes on with them, on any server of the same dynamics version, with the
        same bits. What was sent must have been received. Returns that were told are this group's: close() sends
        them."""
        return carried_through(self.begin_save())

    @classmethod
    def from_saved(
        cls, client: Client, saved: bytes, *, keep: bool = False, record: str | p.GroupRecord | None = None, **more: Any
    ) -> Group:
        """Goes on with a group that was saved, here or elsewhere; read() tells what its worlds see, `resumed` where it
        stands.

        saved    bytes of save()
        keep     it stays when this client is gone
        record   as of create(): a recording of its own, whose parent is that of the saved group, if it was recorded
        more     name, idle_timeout_s: protocol.GroupCreate
        """
        return carried_through(cls.begin_from_saved(client, saved, keep=keep, record=record, **more))

    @classmethod
    def begin_from_saved(
        cls, client: Client, saved: bytes, *, keep: bool = False, record: str | p.GroupRecord | None = None, **more: Any
    ) -> Generator[Pending[Any], None, Group]:
        """The calls of from_saved(): each is under way when it is given, and to be gone on with when its reply is
        there."""
        snapshot = yield from _upload(client, saved)
        lifetime = p.World.Lifetime.SERVER if keep else None
        create = p.GroupCreate(saved=snapshot, lifetime=lifetime, record=_record(record), **more)
        try:
            creating = client.send(create, p.GroupCreateReply)
            try:
                yield creating
            except GeneratorExit:  # nobody wants it any more
                with suppress(MoreauError):
                    client.group_destroy(group=creating.result().group)
                raise
            reply = creating.result()
        finally:
            with suppress(MoreauError):  # what is on a server that is gone is gone with it; no reply is waited for
                client.send(p.SnapshotDrop(snapshot=snapshot), p.SnapshotDropReply)
        assert reply.resumed is not None
        return cls(client, reply, bool(reply.resumed.double_precision))

    def close(self) -> None:
        """Destroys the group's worlds. A recording is on the disk when it returns. A second time, or in a fork, it does
        nothing."""
        if not self._is_closed and self.client.is_ours:
            self.client.group_destroy(group=self.id, **self._told_returns())
            self._is_closed = True

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- calls

    def tell_returns(self, worlds: ArrayLike, returns: ArrayLike, doubtful: ArrayLike | None = None) -> None:
        """What finished episodes of these worlds (Rows.final) earned, for the recording: of each world the oldest that
        has no return yet. It goes with the next call. `doubtful`: the part that was earned in doubtful steps
        (Rows.doubtful)."""
        told = returns_of(worlds, returns, doubtful)
        if self._returns and (self._returns[-1].doubtful is None) != (told.doubtful is None):
            raise ValueError("doubtful: give it with all returns, or with none")
        self._returns.append(told)

    def _told_returns(self) -> dict[str, Any]:
        told, self._returns = self._returns, []
        if not told:
            return {}
        doubtful = [one.doubtful for one in told if one.doubtful is not None]
        return {
            "return_world": np.concatenate([one.world for one in told]),
            "return_sum": np.concatenate([one.earned for one in told]),
            "return_doubtful": np.concatenate(doubtful) if doubtful else None,
        }

    def _actions(self, actions: ArrayLike, worlds: NDArray[np.intp]) -> NDArray[Any]:
        return actions_for(worlds, actions, len(self.action), self.dtype)

    def reset(
        self, mask: ArrayLike | None = None, *, seed: int | Sequence[int] | None = None, values: ArrayLike | None = None
    ) -> Rows:
        """Begins episodes: of all worlds, or of those of the mask.

        seed     begins with episode 0 of that seed, one for all or one for each; default: the next episode
        values   a row for each world, with a number for each noise column, added instead of what would be drawn
        """
        chosen = named(mask, self.count)
        rows = len(chosen.worlds)
        seeds, numbers = seeds_for(rows, seed), values_for(rows, values, len(self.noise))
        return self._rows(self.begin_reset(chosen.bits, seeds, numbers).fields(), chosen.worlds)

    def step(self, actions: ArrayLike, mask: ArrayLike | None = None) -> Rows:
        """Steps all worlds, or those of the mask, with a row of actions for each. An action that is not finite, as a
        number of `dtype`, is a ValueError, and no world has stepped. A world whose episode is over is raised when the
        others have stepped: the exception's `result` has the rows."""
        chosen = named(mask, self.count)
        body = self._body(p.GroupStep, chosen.bits, self._actions(actions, chosen.worlds))
        return self._rows(self.client.ask_encoded(p.GroupStep, body, p.GroupStepReply), chosen.worlds)

    def read(self, mask: ArrayLike | None = None) -> Rows:
        """The rows of all worlds, or of those of the mask, as they stand: nothing is stepped."""
        chosen = named(mask, self.count)
        return self._rows(self.begin_read(chosen.bits).fields(), chosen.worlds)

    def over(self) -> NDArray[np.bool_]:
        """Of a group that has just gone on from a recording: the worlds of which no episode goes on."""
        return _bits(self.resumed.over if self.resumed else None, self.count)

    def send(self, actions: ArrayLike, mask: ArrayLike | None = None) -> None:
        """The first half of step(): the worlds step while the caller does something else."""
        chosen = named(mask, self.count)
        self._sent.append(self.begin_send(chosen.bits, self._actions(actions, chosen.worlds)))

    def receive(self, count: int | None = None) -> Rows:
        """The second half: rows of the `count` worlds that finished first, or of all that were sent; `worlds` says
        which they are."""
        pending = self.client.send(p.GroupReceive(group=self.id, count=count), p.GroupStepReply)
        sent, self._sent = self._sent, []
        for one in sent:
            one.result()
        fields = pending.fields()
        return self._rows(fields, received(fields))

    def opinions(self) -> Opinions:
        """Waits until all steps so far that are to be solved again have been, and gives what no Rows has had."""
        told: list[Opinions] = []
        left = 1
        while left:
            reply = self.client.group_opinions(group=self.id)
            told.append(_opinions(reply.opinions) if reply.opinions else _NO_OPINIONS)
            left = reply.left or 0
        return joined(told)

    # ---- calls whose replies are waited for elsewhere (fleet): masks and numbers as the wire has them

    def begin_reset(self, bits: bytes | None, seeds: Any, values: NDArray[Any] | None) -> Pending[p.GroupStepReply]:
        reset = p.GroupReset(group=self.id, mask=bits, seed=seeds, values=values, **self._told_returns())
        return self.client.send(reset, p.GroupStepReply)

    def begin_step(self, bits: bytes | None, actions: NDArray[Any]) -> Pending[p.GroupStepReply]:
        return self.client.send_encoded(p.GroupStep, self._body(p.GroupStep, bits, actions), p.GroupStepReply)

    def begin_read(self, bits: bytes | None) -> Pending[p.GroupStepReply]:
        return self.client.send(p.GroupRead(group=self.id, mask=bits), p.GroupStepReply)

    def begin_send(self, bits: bytes | None, actions: NDArray[Any]) -> Pending[p.GroupSendReply]:
        return self.client.send_encoded(p.GroupSend, self._body(p.GroupSend, bits, actions), p.GroupSendReply)

    def begin_receive(self, count: int) -> Pending[p.GroupStepReply]:
        return self.client.send(p.GroupReceive(group=self.id, count=count), p.GroupStepReply)

    def begin_save(self) -> Generator[Pending[Any], None, bytes]:
        """The calls of save(): each is under way when it is given, and to be gone on with when its reply is there."""
        saving = self.client.send(p.GroupSave(group=self.id), p.GroupSaveReply)
        yield saving
        reply = saving.result()
        parts: list[bytes] = []
        size = 0
        try:
            while size < (reply.bytes or 0):
                reading = self.client.send(p.SnapshotRead(snapshot=reply.snapshot, first=size), p.SnapshotReadReply)
                yield reading
                parts.append(bytes(reading.result().data or b""))
                size += len(parts[-1])
        finally:
            with suppress(MoreauError):  # what is on a server that is gone is gone with it; no reply is waited for
                self.client.send(p.SnapshotDrop(snapshot=reply.snapshot), p.SnapshotDropReply)
        return b"".join(parts)

    def _body(self, of: type[p.GroupStep] | type[p.GroupSend], bits: bytes | None, actions: NDArray[Any]) -> bytes:
        """A call that steps worlds, put together of what is the same in each."""
        column = actions.tobytes()
        body = b"".join((self._head, varint(len(column)), column))
        return body + encode(of(mask=bits, **self._told_returns())) if bits is not None or self._returns else body

    def _numbers(self, fields: _Fields, name: str, columns: Columns, count: int) -> NDArray[Any]:
        seen = self._seen(fields, name, columns, count)
        return seen.copy() if columns.names else seen

    def _seen(self, fields: _Fields, name: str, columns: Columns, count: int) -> NDArray[Any]:
        """As they lie in the reply."""
        view, width = fields.get(name, _NOTHING), len(columns.names)
        if len(view) != count * width * self.dtype.itemsize:
            raise WireError(f"{name}: {len(view)} bytes are no {count} rows")
        return np.ndarray((count, width), self.dtype, view) if width else np.empty((count, 0), self.dtype)

    def _final(self, fields: _Fields) -> Final:
        _, _, observation, extra = self._names
        world = _column(fields, "final_world")
        count = len(world)
        return Final(
            fields,
            world,
            self._numbers(fields, observation, self.observation, count),
            self._numbers(fields, extra, self.extra, count),
        )

    def blank(self, worlds: NDArray[np.intp]) -> Rows:
        """Rows of which nothing was said yet."""
        count = len(worlds)
        return Rows(
            worlds,
            np.empty((count, len(self.observation.names)), self.dtype),
            np.empty((count, len(self.extra.names)), self.dtype),
            np.zeros(count, np.bool_),
            np.zeros(count, np.bool_),
            self._no_final,
            np.zeros(count, np.uint32),
            [],
            np.zeros(count, np.bool_),
            _NO_OPINIONS,
            np.zeros(count, np.bool_),
        )

    def fill(self, fields: _Fields, rows: Rows, at: slice) -> tuple[Final, list[p.Status], Opinions]:
        """Puts what a reply says into rows of a larger whole; what it says beside them."""
        count = at.stop - at.start
        observation, extra, _, _ = self._names
        rows.observation[at] = self._seen(fields, observation, self.observation, count)
        if self.extra.names:
            rows.extra[at] = self._seen(fields, extra, self.extra, count)
        for name in _FLAGS & fields.keys():
            getattr(rows, name)[at] = _bits(fields[name], count)
        if "unconverged" in fields:
            rows.unconverged[at] = _column(fields, "unconverged")
        return (
            self._final(fields) if "final_world" in fields else self._no_final,
            [decode(p.Status, failure) for failure in fields.get("failures", ())],
            _opinions(decode(p.GroupOpinionColumns, fields["opinions"])) if "opinions" in fields else _NO_OPINIONS,
        )

    def made(self, fields: _Fields, worlds: NDArray[np.intp]) -> Rows:
        """Rows of a reply: what fill() puts into blank() ones, for half a microsecond less, a twentieth of a small
        step."""
        count = len(worlds)
        observation, extra, _, _ = self._names
        return Rows(
            worlds,
            self._numbers(fields, observation, self.observation, count),
            self._numbers(fields, extra, self.extra, count),
            _bits(fields.get("terminated"), count),
            _bits(fields.get("truncated"), count),
            self._final(fields) if "final_world" in fields else self._no_final,
            _column(fields, "unconverged") if "unconverged" in fields else np.zeros(count, np.uint32),
            [decode(p.Status, failure) for failure in fields.get("failures", ())],
            _bits(fields.get("doubtful"), count),
            _opinions(decode(p.GroupOpinionColumns, fields["opinions"])) if "opinions" in fields else _NO_OPINIONS,
            _bits(fields.get("gained"), count),
        )

    def _rows(self, fields: _Fields, worlds: NDArray[np.intp]) -> Rows:
        try:
            made = self.made(fields, worlds)
        except ValueError as nonsense:
            raise self.client.no_server(nonsense) from None
        if "recording_ended" in fields and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{self!r} is not recorded any more: {str(fields['recording_ended'], 'utf-8', 'replace')}",
                RuntimeWarning,
                stacklevel=3,
            )
        return judged(made)
