# SPDX-License-Identifier: MIT
"""The client against a real server."""

import os
import signal
import socket
import struct
import threading

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Group, World, errors, protocol
from moreau_sim._connection import Connection
from moreau_sim._wire import encode

BALL = {
    "bodies": [
        {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}}]},
        {"name": "ball", "position": [0, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]},
    ]
}


def test_a_ball_falls_as_the_closed_form_says(client):
    world = World.create(client, {"bodies": BALL["bodies"][1:]}, time_step=0.001)
    world.step(200)
    state = world.state()
    # symplectic Euler: h^2 g n (n + 1)/2, to rounding of 200 sums
    assert state.pose.shape == (1, 7)
    assert state.pose[0, 2] == pytest.approx(1.0 - 9.81 * 1e-6 * 200 * 201 / 2, abs=1e-12)
    assert state.velocity[0, 2] == pytest.approx(-9.81 * 0.2, abs=1e-12)


def test_a_step_in_substeps_falls_as_the_closed_form_of_substeps_says(client):
    world = World.create(client, {"bodies": BALL["bodies"][1:]}, time_step=0.004, substeps=4)
    world.step(50)
    assert world.state().pose[0, 2] == pytest.approx(1.0 - 9.81 * 1e-6 * 200 * 201 / 2, abs=1e-12)
    world.set(substeps=1)
    assert client.world_get(world=world.id).settings.substeps == 1
    with pytest.raises(errors.InvalidArgument, match="<= 16") as said:
        world.set(substeps=17)
    assert said.value.field == "settings.substeps"


@pytest.mark.parametrize("solver", ["mdp", "lcp", "ccp", "sap", "compliant"])
def test_every_solver_rests_a_ball(client, solver):
    world = World.create(client, BALL, solver=solver)
    reply = world.step(480, progress=True)
    assert reply.reports.converged.all()
    # the compliant ones sink in by m g / k: far below a tenth of a millimetre
    assert world.state().pose[1, 2] == pytest.approx(0.1, abs=1e-4)


def test_columns_come_as_arrays_that_may_be_kept(client):
    world = World.create(client)
    ids = client.world_add_bodies(
        world=world.id,
        pose=np.tile([0, 0, 5, 1, 0, 0, 0], (3, 1)),
        mass=[1, 2, 3],
        inertia=np.tile([1, 1, 1, 0, 0, 0], 3),
    ).ids
    first = world.step(1, poses=True).pose
    kept = first.copy()
    world.step(100, poses=True)
    assert np.array_equal(first, kept) and ids.tolist() == [1, 2, 3]
    world.step(1, wrenches={int(ids[1]): [0, 0, 2 * 9.81, 0, 0, 0]})
    assert world.state().velocity[1, 2] > world.state().velocity[0, 2]


SWING = {
    "bodies": [
        {"name": "arm", "position": [1, 0, 0], "mass": 2, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        {"name": "hand", "position": [2, 0, 0], "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
    ],
    "joints": [
        {"kind": "FIXED", "body_b": "arm", "anchor": [0, 0, 0]},
        {"kind": "BALL", "body_a": "arm", "body_b": "hand", "anchor": [2, 0, 0]},
    ],
}


def test_columns_of_joints_are_cut_joint_by_joint_and_world_by_world(client):
    worlds = [World.create(client, SWING) for _ in range(3)]
    reply = client.world_step(
        worlds=[world.id for world in worlds], joint_positions=True, joint_velocities=True, joint_wrenches=True
    )
    for world, position, wrench in zip(
        worlds, moreau_sim.step_joints(reply, "position"), moreau_sim.step_joints(reply, "wrench"), strict=True
    ):
        joints = world.joints(wrenches=True)
        assert np.array_equal(joints.position, position) and np.array_equal(joints.wrench, wrench)
        assert joints.axis_first.tolist() == [0, 0, 3] and joints.position_first.tolist() == [0, 0, 4]
        assert joints.position[joints.position_first[1] : joints.position_first[2]].shape == (4,)
        # the arm carries both weights, and their moments about the wall
        assert wrench[0] == pytest.approx([0, 0, 3 * 9.81, 0, -(2 * 1 + 1 * 2) * 9.81, 0], abs=1e-9)
    single = client.world_step(worlds=[worlds[0].id], joint_velocities=True, single=True)
    assert moreau_sim.step_joints(single, "velocity")[0].dtype == np.float32


def test_pipelined_calls_are_answered_each(client):
    world = World.create(client, BALL)
    sent = [client.send(protocol.WorldStep(worlds=[world.id]), protocol.WorldStepReply) for _ in range(50)]
    assert [int(one.result().step[0]) for one in reversed(sent)] == list(range(50, 0, -1))


def test_long_calls_are_pipelined_without_end():
    """Long requests with long replies: a server takes no more of them while its replies are not taken."""
    bodies, steps = 2000, 200
    with (
        moreau_sim.launch(workers=2, options=["--unsent-bytes-max", "64K", "--write-timeout-ms", "5000"]) as server,
        server.client() as client,
    ):
        world = World.create(client, gravity=[0, 0, 0], time_step=0.01)
        pose = np.tile([0.0, 0, 0, 1, 0, 0, 0], (bodies, 1))
        pose[:, 0] = 3.0 * np.arange(bodies)
        ids = client.world_add_bodies(
            world=world.id, pose=pose, mass=np.ones(bodies), inertia=np.tile([1.0, 1, 1, 0, 0, 0], bodies)
        ).ids
        call = protocol.WorldStep(
            worlds=[world.id],
            wrench_count=[bodies],
            wrench_body=ids,
            wrench=np.tile([0.0, 0, 1, 0, 0, 0], bodies),
            poses=True,
            reports=False,
        )
        sent = [client.send(call, protocol.WorldStepReply) for _ in range(steps)]
        for step, one in enumerate(sent, 1):
            reply = one.result()
            assert reply.step.tolist() == [step]
            # symplectic Euler: h^2 (F/m) n (n + 1)/2, to rounding of 200 sums
            assert np.abs(reply.pose.reshape(-1, 7)[:, 2] - 1e-4 * step * (step + 1) / 2).max() < 1e-12


def test_an_episode_is_recorded_replayed_and_verified(client):
    world = World.create(client, BALL)
    with world.record("fall", content=protocol.Episode.Content.FRAMES) as episode:
        world.step(50)
        world.set(solver="sap")
        world.step(50)
    frames = list(client.episode_replay(episode=episode, speed=0.0, stride=10))
    assert sum(len(event.step) for event in frames) == 11
    assert np.array_equal(frames[-1].pose[-7:], world.state().pose[-1])
    verify = client.episode_verify(episode=episode)
    assert all(event.steps_total == 100 for event in verify)
    assert verify.result().verified


def test_a_pinned_episode_is_deleted_by_nobody(client):
    world = World.create(client, BALL)
    with world.record("kept") as episode:
        world.step(5)
    client.episode_pin(episode=episode)
    assert client.episode_describe(episode=episode).episode.pinned
    with pytest.raises(errors.FailedPrecondition, match="pinned"):
        client.episode_delete(episode=episode)
    client.episode_pin(episode=episode, pinned=False)
    client.episode_delete(episode=episode)


def test_a_backup_needs_a_folder(client):
    with pytest.raises(errors.FailedPrecondition, match="--backup-dir"):
        client.episode_backup(name="copy.db").result()


def test_an_episode_is_compared_with_what_other_settings_make_of_it(client):
    world = World.create(client, BALL)
    with world.record("fall again") as episode:
        world.step(40)
    variants = [
        protocol.EpisodeVariant(),
        protocol.EpisodeVariant(settings=protocol.WorldSettings(time_step=1 / 480), name="finer"),
    ]
    compare = client.episode_compare(episode=episode, stride=10, variants=variants, record=True, labels=["again"])
    list(compare)
    recorded, same, finer = compare.result().runs
    assert np.array_equal(recorded.sample_step, [0, 10, 20, 30, 40])
    assert same.hash_step is None and not same.sample_distance.any()
    assert finer.steps == 80 and finer.sample_distance[1] > 0
    child = client.episode_describe(episode=finer.episode).episode
    assert (child.name, child.parent, child.parent_step, child.labels) == ("finer", episode, 0, ["again"])


def test_touches_that_nobody_noted_are_found_by_stepping_again(client):
    world = World.create(client, BALL)
    with world.record("fall once more") as episode:
        world.step(200)
    with pytest.raises(errors.FailedPrecondition, match="simulate"):
        client.episode_touches(episode=episode).result()
    touches = client.episode_touches(episode=episode, simulate=True)
    list(touches)
    rows = touches.result()
    assert rows.simulated and rows.total == len(rows.body) == 1
    assert (
        list(rows.body) == [1] and list(rows.other_body) == [2] and rows.hardest_impulse[0] >= rows.first_impulse[0] > 0
    )


def test_a_world_is_watched_while_it_runs(server, client):
    world = World.create(client, BALL)
    with server.client(timeout_s=60.0) as viewer:
        live = viewer.subscribe(world=world.id, every=10, frames_per_second=0.0, velocities=True)
        frames = iter(live)
        first = next(frames)
        assert [body.kind for body in first.scene.bodies][0] == protocol.Body.Kind.STATIC
        assert list(first.frames.ids) == [1, 2]
        world.step(10)
        second = next(frames)
        state = world.state()
        assert list(second.frames.step) == [10] and second.skipped == 0 and second.scene is None
        assert np.array_equal(second.frames.pose.reshape(-1, 7), state.pose)
        assert np.array_equal(second.frames.velocity.reshape(-1, 6), state.velocity)
        live.close()
        assert list(frames) == []
        with pytest.raises(errors.Cancelled) as ended:
            live.result()
        assert ended.value.result.frames == 2
        live = viewer.subscribe(world=world.id)
        next(iter(live))
        world.destroy()
        with pytest.raises(errors.NotFound):
            live.result()


def test_a_problem_is_solved_from_arrays(client):
    # a point mass on the ground, pushed along it by 0.3 of its weight: it sticks at friction 0.5, and slides at 0.2
    free = np.array([0.01 * 9.81 * 0.3, 0.0, -0.01 * 9.81])
    to_contact = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    for friction, left in ((0.5, 0.0), (0.2, 0.1)):
        problem = moreau_sim.dense_problem(np.eye(3), free, to_contact, friction, time_step=0.01)
        reply = moreau_sim.solve(client, problem, parameters={"tolerance": 1e-12})
        assert reply.certificate.converged
        assert reply.v == pytest.approx([0.01 * 9.81 * left, 0.0, 0.0], abs=1e-11)


@pytest.mark.parametrize(
    "error, field, call",
    [
        (errors.InvalidArgument, "settings.time_step", lambda c: World.create(c, time_step=-1.0)),
        (errors.InvalidArgument, "time_step", lambda c: World.create(c, BALL).step(time_step=float("nan"))),
        (
            errors.NotFound,
            "worlds",
            lambda c: c.world_step(worlds=[10**9]).failures and World(c, 10**9, "", None).step(),
        ),
        (errors.NotFound, "episode", lambda c: c.episode_describe(episode="none such")),
        (ValueError, "bodies[0].kind", lambda c: World.create(c, {"bodies": [{"kind": "FLYING"}]})),
        (ValueError, "bodies[0].colour", lambda c: World.create(c, {"bodies": [{"colour": 1}]})),
    ],
)
def test_errors_say_what_was_wrong(client, error, field, call):
    with pytest.raises(error) as raised:
        call(client)
    assert field in str(raised.value)
    client.ping()  # and the connection stays usable


def test_addresses_that_are_none():
    for address in ("host:", "host:99999", ":1", "unix"):
        with pytest.raises((ValueError, errors.ConnectionLost)):
            moreau_sim.Client(address, timeout_s=1.0)
    with pytest.raises(errors.ConnectionLost, match="unix:/nowhere"):
        moreau_sim.Client("unix:/nowhere")


def listen(answer):
    """A listener of our own, that answers each connection so; its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return listener, f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    "said, error",
    [
        (b"", errors.ConnectionLost),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", errors.ProtocolError),
        (struct.pack(">I", 3) + b"\xff\xff\xff", errors.ProtocolError),
        (struct.pack(">I", 0), errors.ProtocolError),
    ],
)
def test_what_is_no_server_is_told_from_one(said, error):
    def answer(connection):
        connection.recv(1000)
        connection.sendall(said)
        connection.close()

    listener, address = listen(answer)
    with listener, pytest.raises(error, match="127.0.0.1"):
        moreau_sim.Client(address, timeout_s=10.0)


def test_a_silent_server_is_not_waited_for_without_end():
    listener, address = listen(lambda connection: connection.recv(1000))
    with listener, pytest.raises(errors.ConnectionLost, match="said nothing for 0.2 s"):
        moreau_sim.Client(address, timeout_s=0.2)


LENGTHS = [1, 100, 65531, 65532, 65533, 200000]  # some about as long as what is read at once


@pytest.mark.parametrize(
    "bytes_of_body, piece", [(1, 1), (100, 3), *((length, piece) for length in LENGTHS for piece in (5000, 10**6))]
)
def test_frames_come_whole_however_they_are_cut(bytes_of_body, piece):
    bodies = [bytes([number]) * (bytes_of_body - number % 2) for number in range(5)]
    stream = b"".join(struct.pack(">I", len(body)) + body for body in bodies)

    def answer(connection):
        for at in range(0, len(stream), piece):
            connection.sendall(stream[at : at + piece])

    listener, address = listen(answer)
    with listener:
        connection = Connection(address, 10.0)
        taken = [connection.receive() for _ in bodies]
        connection.close()
    assert taken == bodies


def test_what_comes_while_a_frame_is_written_is_kept_in_order():
    """A server that reads nothing while what it says is not taken, which is more than sockets hold."""
    said = [bytes([number]) * (number * 7919 % 200000) for number in range(60)]
    heard = []

    def answer(connection):
        for body in said[:50]:
            connection.sendall(struct.pack(">I", len(body)) + body)
        with connection.makefile("rb") as stream:
            for _ in range(2):
                heard.append(stream.read(struct.unpack(">I", stream.read(4))[0]))
        for body in said[50:]:
            connection.sendall(struct.pack(">I", len(body)) + body)

    listener, address = listen(answer)
    with listener:
        connection = Connection(address, 10.0)
        asked = [b"a" * (16 << 20), b"b" * 100]
        for body in asked:
            connection.send(body)
        taken = [connection.receive() for _ in said]
        connection.close()
    assert taken == said and heard == asked


def test_a_server_that_takes_nothing_and_says_nothing_is_an_error():
    over = threading.Event()
    listener, address = listen(lambda _: over.wait(60.0))
    with listener:
        connection = Connection(address, 0.2)
        with pytest.raises(errors.ConnectionLost, match="said nothing for 0.2 s"):
            connection.send(bytes(16 << 20))
        over.set()
        connection.close()


TWO_ROWS = encode(protocol.GroupStepReply(observation=[0.0] * 8))


@pytest.mark.parametrize(
    "rows",
    [
        encode(protocol.GroupStepReply(observation=[0.0] * 7)),
        TWO_ROWS + encode(protocol.GroupStepReply(final_world=[1], final_observation=[0.0] * 3)),
        TWO_ROWS + b"\xd2\x02\x01\xff",  # opinions that are no message
        TWO_ROWS + b"\x42\x01\x80",  # the world of a row that ended, cut off
        b"\xff",
    ],
)
def test_rows_that_are_none_end_the_connection(rows):
    def answer(connection):
        for reply in (protocol.Reply(id=1, welcome=protocol.Welcome()), protocol.Reply(id=2)):
            connection.recv(1000)
            whole = encode(reply) + (bytes([0xE2, 0x05, len(rows)]) + rows if reply.id == 2 else b"")
            connection.sendall(struct.pack(">I", len(whole)) + whole)

    listener, address = listen(answer)
    columns = protocol.GroupColumns(name=["a", "b", "c", "d"], low=[0.0] * 4, high=[1.0] * 4)
    with listener, moreau_sim.Client(address, timeout_s=10.0) as client:
        group = Group(client, protocol.GroupCreateReply(group=1, count=2, observation=columns), double=False)
        with pytest.raises(errors.ProtocolError, match="sends no replies"):
            group.step(np.zeros((2, 0)))
        with pytest.raises(errors.ConnectionLost):
            client.ping()


class Interrupted(Exception):
    """As Ctrl-C, or a timer of the caller's."""


def interrupt(*_):
    raise Interrupted


@pytest.mark.parametrize("bytes_of_body", [100, 200000])
def test_waiting_that_is_interrupted_goes_on_where_it_was(bytes_of_body):
    body = bytes(range(100)) * (bytes_of_body // 100)
    stream = struct.pack(">I", len(body)) + body
    go_on = threading.Event()

    def answer(connection):
        connection.sendall(stream[: len(stream) // 2])
        go_on.wait(10.0)
        connection.sendall(stream[len(stream) // 2 :])

    listener, address = listen(answer)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with listener:
            connection = Connection(address, 10.0)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(Interrupted):
                connection.receive()
            go_on.set()
            assert connection.receive() == body
            connection.close()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_server_that_dies_in_mid_step_is_one_clear_error():
    with moreau_sim.launch() as server, server.client() as client:
        world = World.create(client, BALL)
        pending = client.send(protocol.WorldStep(worlds=[world.id], steps=10**9), protocol.WorldStepReply)
        threading.Timer(0.2, os.kill, (server.process.pid, signal.SIGKILL)).start()
        with pytest.raises(errors.ConnectionLost):
            pending.result()
        with pytest.raises(errors.ConnectionLost):
            client.ping()


def proxy_to(target):
    """A way to the server that can be cut: the listener, its address, and a function that cuts all that is open."""
    open_ones = []

    def carry(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def answer(connection):
        there = socket.socket(socket.AF_UNIX)
        there.connect(target.removeprefix("unix:"))
        open_ones.extend((connection, there))
        threading.Thread(target=carry, args=(there, connection), daemon=True).start()
        carry(connection, there)

    def cut():
        while open_ones:
            try:
                open_ones.pop().shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    listener, address = listen(answer)
    return listener, address, cut


def test_a_lost_connection_is_taken_up_again_and_nothing_is_done_twice(server):
    listener, address, cut = proxy_to(server.address)
    with listener, moreau_sim.Client(address, resumable=True, timeout_s=60.0) as client:
        world = World.create(client, BALL)
        for round in range(1, 9):
            sent = [
                client.send(protocol.WorldStep(worlds=[world.id], steps=3), protocol.WorldStepReply) for _ in range(5)
            ]
            cut()
            steps = [int(one.result().step[0]) for one in sent]
            assert steps == [15 * (round - 1) + 3 * k for k in range(1, 6)]


def test_a_connection_that_does_not_come_back_is_an_error(server):
    listener, address, cut = proxy_to(server.address)
    with listener, moreau_sim.Client(address, timeout_s=60.0) as client:
        pending = client.send(
            protocol.WorldStep(worlds=[World.create(client, BALL).id], steps=10**9), protocol.WorldStepReply
        )
        cut()
        with pytest.raises(errors.ConnectionLost):
            pending.result()


def test_a_server_program_that_is_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="argument"):
        moreau_sim.launch(tmp_path / "nothing")
    with pytest.raises(errors.ConnectionLost, match="no-such-option"):
        moreau_sim.launch(options=["--no-such-option"])


def test_rays_meet_the_first_surface_and_change_nothing(client):
    world = World.create(
        client,
        {
            "bodies": [
                {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}}]},
                {"name": "tin", "position": [0, 0, 2], "shapes": [{"cylinder": {"radius": 0.5, "half_length": 1}}]},
                {"name": "ghost", "position": [3, 0, 2], "shapes": [{"sphere": {"radius": 1}, "group": 2}]},
            ]
        },
    )
    before = world.hash()
    origin = [[0.1, 0.2, 10], [2, 2, 10], [-4, 0, 2], [3, 0, 10], [0, 0, 2]]
    way = [[0, 0, -10], [0, 0, -5], [8, 0, 0], [0, 0, -10], [0, 0, -4]]
    ground, tin, ghost = world.state().ids.tolist()
    met = world.ray_cast(origin, way)
    assert met.body.tolist() == [tin, 0, tin, ghost, ground]  # the last begins in the tin, which it does not see
    assert np.allclose(met.fraction, [0.7, 1, 3.5 / 8, 0.7, 0.5])
    assert np.allclose(met.point, np.add(origin, met.fraction[:, None] * np.array(way)))
    assert np.allclose(met.normal, [[0, 0, 1], [0, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, 1]])
    assert world.ray_cast(origin[3], way[3], mask=1).body.tolist() == [ground]
    assert world.ray_cast([0, 0, 9], [[0, 0, -1], [0, 0, -9]]).body.tolist() == [0, tin]
    assert world.hash() == before
    with pytest.raises(errors.InvalidArgument, match=r"way\[3\]"):
        world.ray_cast([[0, 0, 1]] * 2, [[0, 0, 1], [0, 0, 0]])
