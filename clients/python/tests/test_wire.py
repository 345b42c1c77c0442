# SPDX-License-Identifier: MIT
"""Our wire format against protobuf's own, both ways, and against bytes that are no message."""

import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest

from moreau_sim import WireError, protocol
from moreau_sim._wire import Kind, Message, decode, encode, read_column, read_varint, skim

HERE = pathlib.Path(__file__).resolve().parent
PROTO = HERE.parents[2] / "proto"
MESSAGES = [of for of in vars(protocol).values() if isinstance(of, type) and issubclass(of, Message) and of.FIELDS]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    pytest.importorskip("google.protobuf")
    folder = tmp_path_factory.mktemp("pb")
    subprocess.run(
        ["protoc", f"--proto_path={PROTO}", f"--python_out={folder}", str(PROTO / "moreau.proto")], check=True
    )
    sys.path.insert(0, str(folder))
    import moreau_pb2

    return moreau_pb2


def some_value(field, draw, depth):
    if field.kind is Kind.MESSAGE:
        return some_message(field.of, draw, depth + 1)
    if field.kind is Kind.ENUM:
        return draw.choice(list(field.of))
    if field.kind is Kind.BOOL:
        return draw.random() < 0.5
    if field.kind is Kind.STRING:
        return draw.choice(["", "a", "Δt is 0.01 s", "x" * 200])
    if field.kind is Kind.BYTES:
        return draw.randbytes(draw.choice([0, 3, 300]))
    if field.kind in (Kind.DOUBLE, Kind.FLOAT):
        return draw.choice([0.0, -0.0, 1.5, -2.0**100, 2.0**-120])
    bits = draw.choice([0, 1, 7, 8, 14, 31] + ([] if field.kind is Kind.UINT32 else [32, 62]))
    return draw.getrandbits(bits) if bits else 0


def some_message(of, draw, depth=0):
    message = of()
    in_oneof = {
        "Request": ("id", "deadline_ms"),
        "Reply": ("id", "status", "server_ns", "event"),
        "ScenePrimitive": ("position", "density"),
    }
    chosen = None
    if of.__name__ in in_oneof:
        chosen = draw.choice(
            [f.name for f in of.FIELDS if f.name not in in_oneof[of.__name__] and f.kind is Kind.MESSAGE]
        )
    for field in of.FIELDS:
        if of.__name__ in in_oneof and field.kind is Kind.MESSAGE and field.name not in (chosen, "status"):
            continue
        if (depth > 3 and field.kind is Kind.MESSAGE) or draw.random() < 0.3:
            continue
        count = draw.choice([1, 2, 9])
        value = (
            [some_value(field, draw, depth) for _ in range(count)]
            if field.is_repeated
            else some_value(field, draw, depth)
        )
        setattr(message, field.name, value)
    return message


def same(ours, theirs):
    for field in ours.FIELDS:
        mine, their_name = getattr(ours, field.name), field.name.rstrip("_")
        other = getattr(theirs, their_name)
        if not field.is_repeated:
            if mine is None:
                assert not theirs.HasField(their_name), field.name
            elif field.kind is Kind.MESSAGE:
                same(mine, other)
            else:
                assert theirs.HasField(their_name) and mine == other, field.name
            continue
        mine = [] if mine is None else mine
        assert len(mine) == len(other), field.name
        for one, two in zip(mine, other):
            same(one, two) if field.kind is Kind.MESSAGE else None
            assert field.kind is Kind.MESSAGE or one == two, field.name


@pytest.mark.parametrize("of", MESSAGES, ids=lambda of: of.__name__)
def test_protobuf_reads_what_we_write_and_we_what_it_writes(of, theirs):
    draw = random.Random(of.__name__)
    for _ in range(20):
        message = some_message(of, draw)
        other = getattr(theirs, of.__name__).FromString(encode(message))
        same(message, other)
        same(decode(of, other.SerializeToString()), other)


def test_columns_are_arrays_of_their_own():
    numbers = np.linspace(0.0, 1.0, 70)
    data = bytearray(
        encode(
            protocol.WorldStepReply(
                pose=numbers, step=np.arange(7, dtype=np.uint64), pose_single=numbers.astype(np.float32)
            )
        )
    )
    reply = decode(protocol.WorldStepReply, data)
    for column, kind in ((reply.pose, np.float64), (reply.pose_single, np.float32), (reply.step, np.uint64)):
        assert column.dtype == kind and column.flags.c_contiguous and column.flags.aligned and column.flags.writeable
    assert np.array_equal(reply.pose, numbers)
    reply.pose[0] = 5.0  # may be kept, and changed


def test_integers_of_every_length():
    values = np.array([0, 1, 127, 128, 2**14 - 1, 2**14, 2**35, 2**63, 2**64 - 1], np.uint64)
    again = decode(protocol.WorldHash, encode(protocol.WorldHash(worlds=values))).worlds
    assert np.array_equal(again, values)


def test_integers_of_two_kinds_keep_their_digits():
    ids = [np.uint64(2**63 + 5), 7, np.int8(3)]  # of which NumPy makes floats
    again = decode(protocol.WorldHash, encode(protocol.WorldHash(worlds=ids))).worlds
    assert again.tolist() == [2**63 + 5, 7, 3]


@pytest.mark.parametrize("count", [1, 12, 13, 14, 100])
def test_columns_of_few_and_of_many_integers_are_read_alike(count):
    values = np.array([2**63 + 5] * count, np.uint64)  # of ten bytes each
    assert np.array_equal(decode(protocol.WorldHash, encode(protocol.WorldHash(worlds=values))).worlds, values)
    for end in (b"\x80", b"\xff" * 10 + b"\x01"):
        with pytest.raises(WireError):
            column = encode(protocol.WorldHash(worlds=values))[-10 * count :] + end
            read_column(protocol.WorldHash, "worlds", memoryview(column))


@pytest.mark.parametrize(
    "message, path",
    [
        (protocol.WorldStep(worlds=[-1]), "worlds"),
        (protocol.WorldStep(worlds=[1.5]), "worlds"),
        (protocol.WorldStep(worlds=["one"]), "worlds"),
        (protocol.WorldStep(worlds=[2**64]), "worlds"),
        (protocol.WorldStep(steps=-1), "steps"),
        (protocol.WorldStep(steps="many"), "steps"),
        (protocol.WorldStep(time_step="short"), "time_step"),
        (protocol.WorldStep(wrench=["a"]), "wrench"),
        (protocol.WorldCreate(name=3), "name"),
        (protocol.WorldCreate(scene=protocol.Bounds()), "scene"),
    ],
)
def test_what_no_message_carries_is_named(message, path):
    with pytest.raises(WireError, match=path):
        encode(message)


def test_any_bytes_are_a_message_or_an_error():
    draw = random.Random(1)
    seeds = [
        encode(some_message(of, draw))
        for of in (protocol.Reply, protocol.WorldStepReply, protocol.Welcome)
        for _ in range(30)
    ]
    for seed in seeds:
        for _ in range(60):
            data = bytearray(seed)
            for _ in range(draw.choice([1, 2, 8])):
                if data:
                    data[draw.randrange(len(data))] = draw.getrandbits(8)
            data = data[: draw.randrange(len(data) + 1)] if draw.random() < 0.3 else data
            try:
                decode(draw.choice(MESSAGES), data)
            except WireError:
                pass


def same_as_skimmed(found, message):
    """What was skimmed, read to the end, is the message."""
    for field in message.FIELDS:
        mine, view = getattr(message, field.name), found.pop(field.name, None)
        if view is None:
            assert mine is None or len(mine) == 0, field.name
        elif field.is_repeated and field.kind >= Kind.STRING:
            assert len(view) == len(mine)
        elif field.is_repeated:
            assert np.array_equal(
                read_column(type(message), field.name, view), mine, equal_nan=field.kind <= Kind.FLOAT
            ), field.name
        elif field.kind is Kind.MESSAGE:
            same_as_skimmed(skim(field.of, view), mine)
        elif field.kind in (Kind.UINT64, Kind.ENUM):
            assert read_varint(view, 0)[0] == mine
        elif field.kind in (Kind.BYTES, Kind.STRING):
            assert bytes(view) == (mine if isinstance(mine, bytes) else mine.encode()), field.name
    assert not found


def test_any_bytes_are_skimmed_as_they_are_decoded():
    draw = random.Random(2)
    agreed = 0
    for of in (protocol.Reply, protocol.GroupStepReply, protocol.Status):
        for _ in range(300):
            data = bytearray(encode(some_message(of, draw)))
            if draw.random() < 0.7:
                for _ in range(draw.choice([1, 2, 8])):
                    if data:
                        data[draw.randrange(len(data))] = draw.getrandbits(8)
            data = data[: draw.randrange(len(data) + 1)] if draw.random() < 0.3 else data
            try:
                message = decode(of, data)
            except WireError:
                try:
                    skim(of, data)  # reads less, and so may pass
                except WireError:
                    pass
                continue
            same_as_skimmed(skim(of, data), message)
            agreed += 1
    assert agreed > 300


@pytest.mark.parametrize(
    "data", [b"\x12\x05\x08", b"\x12", b"\x08", b"\x12\x80\x01\x08", b"\xe2\x05\x02\x08", b"\x10\x01", b"\x0b"]
)
def test_what_no_message_is_is_not_skimmed(data):
    with pytest.raises(WireError):
        skim(protocol.Reply, bytearray(data))


def test_a_column_in_pieces_is_skimmed_whole():
    pieces = encode(protocol.GroupStepReply(observation=[1.0])) + encode(
        protocol.GroupStepReply(observation=[2.0, 3.0])
    )
    whole = read_column(
        protocol.GroupStepReply, "observation", skim(protocol.GroupStepReply, bytearray(pieces))["observation"]
    )
    assert whole.tolist() == [1.0, 2.0, 3.0]


def test_unknown_fields_are_passed_over():
    assert decode(protocol.Pong, encode(protocol.Reply(id=7, server_ns=9))).payload == 7


def test_protocol_is_what_the_proto_gives():
    pytest.importorskip("google.protobuf")
    subprocess.run([sys.executable, str(HERE.parent / "generate.py"), "--check"], check=True)
