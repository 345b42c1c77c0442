# SPDX-License-Identifier: MIT
"""Fleets against real servers: the same bits as one group, on any number of servers, after moves, kills and cuts."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Fleet, Group, channel, errors, parameter, push, uniform

CART = {
    "settings": {"time_step": 0.02, "gravity": [0, 0, -9.81]},
    "bodies": [
        {"name": "cart", "mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]},
        {"name": "pole", "mass": 0.1, "inertia": [0.01, 0.01, 0.01, 0, 0, 0], "position": [0, 0, 0.5]},
    ],
    "joints": [
        {"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]},
        {"name": "hinge", "kind": "HINGE", "body_a": "cart", "body_b": "pole", "axis": [0, 1, 0]},
    ],
}
COUNT = 200
LAYOUT = {
    "action": [channel("JOINT_EFFORT", "rail", scale=10, low=-1, high=1)],
    "observation": [
        channel(kind, joint) for kind in ("JOINT_POSITION", "JOINT_VELOCITY") for joint in ("rail", "hinge")
    ],
    "extra": [channel("TIME")],
    "bounds": [channel("JOINT_POSITION", "hinge", low=-0.2, high=0.2)],
    "noise": [uniform("JOINT_POSITION", "hinge", -0.05, 0.05)],
    "parameters": [
        parameter("GRAVITY", None, np.tile([0.0, 0.0, -9.81], COUNT) + np.repeat(np.linspace(0, 1, COUNT), 3)),
        parameter("BODY_CENTER_OF_MASS", "pole", np.repeat(np.linspace(-0.1, 0.1, COUNT), 3)),
    ],
    "pushes": [push("pole", 0.05, force=(0, 2), steps=3, axes=[0, 1])],
    "step_limit": 30,
}


@pytest.fixture
def launched():
    """Starts servers, and stops those that still run."""
    running = []

    def start(**more):
        server = moreau_sim.launch(workers=1, **more)
        running.append(server)
        return server

    start.running = running
    yield start
    for server in running:
        server.stop()


def actions(call):
    return np.sin(np.arange(COUNT) * 0.7 + call)[:, None]


def same(one, other):
    for name in ("worlds", "observation", "extra", "terminated", "truncated", "unconverged"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("world", "observation", "episode", "seed", "length"):
        assert np.array_equal(getattr(one.final, name), getattr(other.final, name)), name


def straight(client, calls, **more):
    """What one group says."""
    with Group.create(client, CART, count=COUNT, **LAYOUT, **more) as group:
        rows = [group.reset(seed=7)]
        rows += [group.step(actions(call)) for call in range(calls)]
        mask = np.arange(COUNT) % 3 == 0
        rows += [group.reset(mask, seed=list(range(mask.sum()))), group.step(actions(0)[mask], mask), group.read()]
    return rows


def check_rest(fleet, rows):
    mask = np.arange(COUNT) % 3 == 0
    same(fleet.reset(mask, seed=list(range(mask.sum()))), rows[-3])
    same(fleet.step(actions(0)[mask], mask), rows[-2])
    same(fleet.read(), rows[-1])


@pytest.mark.parametrize("servers, shares", [(1, 1), (1, 3), (3, 7), (2, None)])
def test_the_same_bits_on_any_number_of_servers(client, launched, servers, shares):
    rows = straight(client, 50)
    with Fleet([launched().address for _ in range(servers)], CART, count=COUNT, shares=shares, **LAYOUT) as fleet:
        assert len(fleet.shares) == (shares or 3) and sum(share.count for share in fleet.shares) == COUNT
        same(fleet.reset(seed=7), rows[0])
        for call in range(50):
            same(fleet.step(actions(call)), rows[1 + call])
        check_rest(fleet, rows)


def test_a_killed_server_is_not_noticed_in_the_rows(client, launched):
    calls = 60
    rows = straight(client, calls)
    servers = [launched() for _ in range(3)]
    with Fleet([server.address for server in servers], CART, count=COUNT, shares=6, save_every=16, **LAYOUT) as fleet:
        same(fleet.reset(seed=7), rows[0])
        for call in range(calls):
            if call in (5, 40):  # before the first save, and behind one
                servers[call % 3].process.send_signal(signal.SIGKILL)
            same(fleet.step(actions(call)), rows[1 + call])
        check_rest(fleet, rows)
        kinds = [event.kind for event in fleet.events]
        assert kinds.count("lost") == 2 and kinds.count("restored") >= 4 and "saved" in kinds
        assert len({share.host.address for share in fleet.shares}) == 1


def test_growing_draining_and_moving_change_no_bit(client, launched):
    calls = 40
    rows = straight(client, calls)
    first, second, third = (launched() for _ in range(3))
    with Fleet([first.address], CART, count=COUNT, shares=5, **LAYOUT) as fleet:
        same(fleet.reset(seed=7), rows[0])
        for call in range(calls):
            if call == 5:
                fleet.add(second.address)
                assert sorted(len(host.shares) for host in fleet.servers.hosts) == [2, 3]
            elif call == 10:
                fleet.add(third.address)
                assert sorted(len(host.shares) for host in fleet.servers.hosts) == [1, 2, 2]
            elif call == 20:
                fleet.drain(first.address)
                with first.client() as looking:
                    assert not looking.group_list().groups
            elif call == 30:
                fleet.drain(third.address)
            same(fleet.step(actions(call)), rows[1 + call])
        check_rest(fleet, rows)
        with pytest.raises(ValueError, match="last server"):
            fleet.drain(second.address)


def by_world(rows, into):
    for i, world in enumerate(rows.worlds.tolist()):
        into.setdefault(world, []).append(
            (rows.observation[i].tobytes(), bool(rows.terminated[i]), bool(rows.truncated[i]))
        )


def test_sent_worlds_come_back_the_same_in_any_order(client, launched):
    """Each world is sent when it has come back, whoever was first; two servers are killed on the way."""
    rounds = 30
    wanted, seen = {}, {}
    with Group.create(client, CART, count=COUNT, **LAYOUT) as group:
        group.reset(seed=7)
        for turn in range(rounds):
            by_world(group.step(actions(turn)), wanted)
    servers = [launched() for _ in range(3)]
    with Fleet([server.address for server in servers], CART, count=COUNT, shares=6, save_every=40, **LAYOUT) as fleet:
        fleet.reset(seed=7)
        turns = np.zeros(COUNT, int)
        fleet.send(actions(0))
        received, away = 0, COUNT
        while away:
            rows = fleet.receive(min(37, away))
            by_world(rows, seen)
            received += len(rows.worlds)
            away -= len(rows.worlds)
            turns[rows.worlds] += 1
            mask = np.zeros(COUNT, bool)
            mask[rows.worlds] = turns[rows.worlds] < rounds
            away += int(mask.sum())
            if mask.any():
                fleet.send(np.sin(np.arange(COUNT) * 0.7 + turns)[mask, None], mask)
            if received // 37 == 30:
                servers[0].process.kill()
            if received // 37 == 90:
                servers[1].process.kill()
        assert [event.kind for event in fleet.events].count("lost") == 2
    assert seen == wanted


class Relay:
    """A way to a server that can be cut: all bytes of what goes through are lost, and nothing comes until it is
    mended; or halved: what the server says is lost, and who asks it is not told."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.pairs = []
        self.is_halved = False
        self.left = None  # of what the server says, bytes until it is cut
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.path)
            self.pairs += [near, far]
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(a, b, a is far), daemon=True).start()

    def _pump(self, a, b, is_said):
        with contextlib.suppress(OSError):
            while data := a.recv(4096):
                if is_said and self.left is not None:
                    data, self.left = data[: self.left], self.left - len(data)
                if not (is_said and self.is_halved):
                    b.sendall(data)
                if is_said and self.left is not None and self.left <= 0:
                    self.left = None
                    self.cut()
        for end in (a, b):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        pairs, self.pairs = self.pairs, []
        for end in pairs:
            with contextlib.suppress(OSError):  # it may be over by itself
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
        self.cut()


def test_a_cut_is_mended_by_the_session(client, launched):
    calls = 40
    rows = straight(client, calls)
    relay = Relay(launched().address.removeprefix("unix:"))
    with Fleet([relay.address, launched().address], CART, count=COUNT, shares=4, **LAYOUT) as fleet:
        same(fleet.reset(seed=7), rows[0])
        for call in range(calls):
            if call % 8 == 3:
                relay.cut()
            same(fleet.step(actions(call)), rows[1 + call])
        check_rest(fleet, rows)
        assert "lost" not in [event.kind for event in fleet.events]
    relay.close()


def test_a_relay_that_cuts_halves_and_comes_back(client, launched):
    """Cut in the middle of a reply, the session mends it. Where only one half goes through for longer than lost_after_s
    the server is lost, though it lives and hears all; once the way is whole it is a stranger, and gets its part."""
    calls = 60
    rows = straight(client, calls)
    server = launched()
    relay = Relay(server.address.removeprefix("unix:"))
    with Fleet([relay.address, launched().address], CART, count=COUNT, shares=4, lost_after_s=6.0, **LAYOUT) as fleet:
        same(fleet.reset(seed=7), rows[0])
        for call in range(calls):
            if call in (5, 11, 17):
                relay.left = 1000 * call  # of this reply, or of one of the next
            elif call == 30:
                assert "lost" not in [event.kind for event in fleet.events]
                relay.is_halved = True
            elif call == 45:
                assert [event.kind for event in fleet.events].count("lost") == 1
                relay.is_halved = False
                relay.cut()
                fleet.refresh()
                assert sorted(len(host.shares) for host in fleet.servers.hosts) == [2, 2]
                with server.client() as looking:
                    assert len(looking.group_list().groups) == 2
            same(fleet.step(actions(call)), rows[1 + call])
        check_rest(fleet, rows)
    relay.close()


def test_a_server_that_stands_still_is_lost_and_a_stranger_afterwards(client, launched):
    calls = 30
    rows = straight(client, calls)
    servers = [launched(), launched()]
    with Fleet(
        [server.address for server in servers], CART, count=COUNT, shares=4, lost_after_s=2.0, **LAYOUT
    ) as fleet:
        same(fleet.reset(seed=7), rows[0])
        for call in range(calls):
            if call == 10:
                os.kill(servers[0].process.pid, signal.SIGSTOP)
            elif call == 20:
                os.kill(servers[0].process.pid, signal.SIGCONT)
                fleet.refresh()
                # what it held is gone, and it holds its part of what there is
                with servers[0].client() as looking:
                    assert len(looking.group_list().groups) == 2
            same(fleet.step(actions(call)), rows[1 + call])
        check_rest(fleet, rows)


def test_all_servers_restart(client, launched, tmp_path):
    """None is left for a moment; the file of addresses says where the new one is."""
    rows = straight(client, 20)
    first = launched()
    addresses = tmp_path / "servers"
    addresses.write_text(f"{first.address}  # the only one\n")
    with Fleet(addresses, CART, count=COUNT, shares=2, save_every=8, **LAYOUT) as fleet:
        same(fleet.reset(seed=7), rows[0])
        for call in range(20):
            if call == 13:
                first.process.kill()
                threading.Timer(0.5, lambda: addresses.write_text(launched().address + "\n")).start()
            same(fleet.step(actions(call)), rows[1 + call])
        check_rest(fleet, rows)


def test_what_is_kept_to_be_repeated_is_counted(launched):
    with Fleet([launched().address], CART, count=COUNT, shares=1, save_every=5, **LAYOUT) as fleet:
        (share,) = fleet.shares
        fleet.reset(seed=7)
        for call in range(12):
            fleet.step(actions(call))
            assert share.history_bytes == sum(one.nbytes for one in share.history)
        assert 0 < share.history_bytes < 5 * (COUNT * 16 + 256)


def test_what_is_wrong_names_the_server(launched, tmp_path):
    server = launched()
    make = {"template": CART, "count": 8, **{name: value for name, value in LAYOUT.items() if name != "parameters"}}
    with pytest.raises(ValueError, match="two addresses of one server"):
        relay = Relay(server.address.removeprefix("unix:"))
        Fleet([server.address, relay.address], **make)
    relay.close()
    with pytest.raises(errors.ConnectionLost, match="unix:/nowhere"):
        Fleet([server.address, "unix:/nowhere"], **make)
    with pytest.raises(ValueError, match="list of addresses is empty"):
        Fleet([], **make)
    bad = tmp_path / "servers"
    bad.write_text("127.0.0.1:7667\nno address:x\n")
    with pytest.raises(ValueError, match="servers:2"):
        Fleet(bad, **make)
    bad.write_text("127.0.0.1:7667\n127.0.0.1:76")
    with pytest.raises(ValueError, match="servers:2.*half written"):
        Fleet(bad, **make)
    with pytest.raises(ValueError, match="shares"):
        Fleet([server.address], shares=9, **make)
    with pytest.raises(errors.InvalidArgument, match="nobody"):
        Fleet(
            [server.address],
            CART,
            count=8,
            action=[channel("JOINT_EFFORT", "nobody")],
            observation=LAYOUT["observation"],
        )
    with server.client() as client:
        assert not client.group_list().groups  # nothing half made
    with Fleet([server.address], shares=2, **make) as fleet:
        fleet.reset(seed=1)
        with pytest.raises(ValueError, match="8 x 1"):
            fleet.step(np.zeros((7, 1)))
        with pytest.raises(ValueError, match="sent"):
            fleet.receive(1)
        fleet.send(np.zeros((8, 1)))
        with pytest.raises(ValueError, match="receive it first"):
            fleet.send(np.zeros((8, 1)))
        assert sorted(fleet.receive().worlds.tolist()) == list(range(8))
        before = fleet.read().observation
        for bad in (np.nan, 1e39):
            for call in (fleet.step, fleet.send):
                with pytest.raises(ValueError, match="world 7 is not finite"):
                    call(np.array([[0.0]] * 7 + [[bad]]))
        with pytest.raises(ValueError, match="not -1"):
            fleet.reset(seed=[1] * 7 + [-1])
        with pytest.raises(ValueError, match="finite"):
            fleet.reset(values=[[0.0]] * 7 + [[np.nan]])
        with pytest.raises(ValueError, match="finite"):
            fleet.tell_returns([0, 7], [1.0, np.nan])
        # the shares before the wrong one have done nothing, either
        assert np.array_equal(fleet.read().observation, before)
    with server.client() as client:
        assert not client.group_list().groups


def test_a_server_that_is_full_is_named_and_nothing_is_half_moved(client, launched):
    rows = straight(client, 12)
    first, second = launched(), launched()
    full = launched(options=["--worlds-max", "60"])
    make = {"count": COUNT, "shares": 4, **LAYOUT}
    with pytest.raises(errors.ResourceExhausted, match=f"{full.address} refuses: .*--worlds-max"):
        Fleet([first.address, full.address], CART, **make)
    with first.client() as looking:
        assert not looking.group_list().groups
    addresses = [first.address]
    with Fleet(lambda: addresses, CART, **make) as fleet:
        same(fleet.reset(seed=7), rows[0])
        for call in range(12):
            if call == 3:  # it has room for one of the four, and not for two
                with pytest.raises(errors.ResourceExhausted, match=f"{full.address} refuses"):
                    fleet.add(full.address)
            elif call == 5:
                addresses.append(second.address)
                fleet.refresh()
            elif call == 7:  # the full one is asked first
                with pytest.raises(errors.ResourceExhausted, match=f"{full.address} refuses"):
                    fleet.drain(first.address)
                assert not fleet.servers.draining
            elif call == 9:
                fleet.drain(full.address)
                fleet.drain(first.address)
            there = [share.index for host in fleet.servers.hosts for share in host.shares]
            assert sorted(there) == [0, 1, 2, 3]
            for host in fleet.servers.hosts:
                groups = host.group_list().groups
                assert {group.group for group in groups} == {share.group.id for share in host.shares}
            same(fleet.step(actions(call)), rows[1 + call])
        check_rest(fleet, rows)


def test_who_has_no_room_is_told_of_when_addresses_are_asked_for_again(launched):
    first, full = launched(), launched(options=["--worlds-max", "10"])
    addresses = [first.address]
    with Fleet(lambda: addresses, CART, count=COUNT, shares=4, **LAYOUT) as fleet:
        fleet.reset(seed=7)
        addresses.append(full.address)
        fleet.refresh()
        assert fleet.events[-1].kind == "refused" and full.address in fleet.events[-1].text
        assert len(fleet.servers.hosts[0].shares) == 4
        fleet.step(actions(0))


def test_a_server_without_our_token_or_of_another_version_is_named(launched, tmp_path, monkeypatch):
    from moreau_sim.fleet.host import Host

    first, second = launched(), launched()
    token = tmp_path / "token"
    token.write_text("0123456789abcdef0123456789abcdef")
    token.chmod(0o600)
    closed = launched(options=["--token-file", str(token)])
    make = {"count": COUNT, **LAYOUT}
    with pytest.raises(errors.Unauthenticated, match=f"{closed.address} refuses"):
        Fleet([first.address, closed.address], CART, **make)
    begin = Host.__init__

    def other(host, address, **more):
        begin(host, address, **more)
        if address == second.address:
            host.welcome.dynamics_version += 1

    monkeypatch.setattr(Host, "__init__", other)
    with pytest.raises(ValueError, match=f"{second.address} is of dynamics version"):
        Fleet([first.address, second.address], CART, **make)
    with first.client() as looking:
        assert not looking.group_list().groups


def test_saving_stays_below_its_share_of_the_time(launched):
    from moreau_sim.fleet.saving import Schedule

    schedule = Schedule(None)
    for _ in range(100):
        schedule.called(0.001)
    schedule.saved(0.03)
    assert schedule.every == 1000 and not schedule.is_due(0)
    for _ in range(1000):
        schedule.called(0.001)
    assert schedule.is_due(0) and Schedule(1).every == 1
    with pytest.raises(ValueError):
        Schedule(0)


def test_a_save_is_under_way_on_all_servers_at_once(launched, monkeypatch):
    """What is waited for is the slowest server, and not one behind the other."""
    from moreau_sim.fleet.host import Host

    sent = []
    send = Host.send_encoded

    def told(host, call, *more, **options):
        sent.append((call.__name__, host.address))
        return send(host, call, *more, **options)

    with Fleet([launched().address for _ in range(3)], CART, count=COUNT, shares=6, save_every=1000, **LAYOUT) as fleet:
        fleet.reset(seed=7)
        monkeypatch.setattr(Host, "send_encoded", told)
        fleet.save()
        saves = [address for name, address in sent if name == "GroupSave"]
        assert len(saves) == 6 and len(set(saves)) == 3
        begun = [name for name, _ in sent]
        assert len({address for _, address in sent[: begun.index("SnapshotRead")]}) == 3
        # nothing of it stays on the servers
        assert begun.count("SnapshotDrop") == 6
        rows = fleet.step(actions(0))
        monkeypatch.undo()
    with Group.create(launched().client(), CART, count=COUNT, **LAYOUT) as group:
        group.reset(seed=7)
        same(rows, group.step(actions(0)))


def test_a_save_that_is_refused_leaves_nothing_on_the_servers(launched, monkeypatch):
    from moreau_sim.fleet.host import Host
    from moreau_sim.fleet.saving import Saving

    servers = [launched() for _ in range(2)]
    with Fleet([server.address for server in servers], CART, count=COUNT, shares=6, save_every=1000, **LAYOUT) as fleet:
        fleet.reset(seed=7)
        fleet.save()
        send, dropped = Host.send_encoded, []

        def refused(host, call, body, *more, **options):
            if call.__name__ == "SnapshotRead" and host is fleet.servers.hosts[1]:
                body = b"\x08\xff\xff\x03"  # a snapshot that is none
            if call.__name__ == "SnapshotDrop":
                dropped.append(host)
            return send(host, call, body, *more, **options)

        def is_ready(one):  # whichever server is the faster one: the other's replies are taken when it is over
            return one._pending is None or (one._pending.done and one.host is fleet.servers.hosts[1])

        monkeypatch.setattr(Host, "send_encoded", refused)
        monkeypatch.setattr(Saving, "is_ready", property(is_ready))
        with pytest.raises(errors.NotFound):
            fleet.save()
        assert len(dropped) == 4  # two of each were under way, and nothing more was begun
        monkeypatch.undo()
        fleet.step(actions(0))
        fleet.save()


@pytest.mark.parametrize("when", ["GroupSave", "SnapshotRead", "SnapshotDrop"])
def test_a_server_that_is_lost_while_it_is_saved_is_not_noticed_in_the_rows(client, launched, monkeypatch, when):
    from moreau_sim.fleet.host import Host

    calls = 30
    rows = straight(client, calls)
    servers = {server.address: server for server in (launched() for _ in range(3))}
    killed = []
    send = Host.send_encoded

    def kill(host, call, *more, **options):
        if call.__name__ == when and len(killed) < 2 and host.address not in killed and count[0] in (12, 20):
            killed.append(host.address)
            servers[host.address].process.kill()
            servers[host.address].process.wait()
            count[0] += 1
        return send(host, call, *more, **options)

    count = [0]
    monkeypatch.setattr(Host, "send_encoded", kill)
    with Fleet(list(servers), CART, count=COUNT, shares=6, save_every=4, **LAYOUT) as fleet:
        same(fleet.reset(seed=7), rows[0])
        for call in range(calls):
            count[0] = call
            same(fleet.step(actions(call)), rows[1 + call])
            if call in (12, 20):
                count[0] = call
                fleet.save()
        check_rest(fleet, rows)
    assert len(killed) == 2


def housed(fleet):
    """Each share is on one server, and its group is all that is there of it."""
    assert sorted(share.index for host in fleet.servers.hosts for share in host.shares) == list(range(6))
    for host in fleet.servers.hosts:
        there = {group.group for group in host.group_list().groups if group.name.startswith(fleet.servers.prefix)}
        assert there == {share.group.id for share in host.shares}


def test_a_lost_server_s_shares_are_made_again_on_all_others_at_once(client, launched, monkeypatch):
    begin, begun, most = Group.begin_from_saved.__func__, [], [0]

    def counted(of, host, *more, **options):
        begun.append(host)
        most[0] = max(most[0], len(set(begun)))
        group = yield from begin(of, host, *more, **options)
        begun.remove(host)
        return group

    monkeypatch.setattr(Group, "begin_from_saved", classmethod(counted))
    rows = straight(client, 6)
    servers = {server.address: server for server in (launched() for _ in range(3))}
    with Fleet(list(servers), CART, count=COUNT, shares=6, save_every=1000, **LAYOUT) as fleet:
        same(fleet.reset(seed=7), rows[0])
        fleet.save()
        for call in range(6):
            if call == 3:
                lost = servers[fleet.servers.hosts[0].address].process
                lost.kill()
                lost.wait()
            same(fleet.step(actions(call)), rows[1 + call])
        assert most == [2]
        housed(fleet)


@pytest.mark.parametrize("when", ["SnapshotUpload", "GroupCreate", "SnapshotDrop", "GroupStep"])
def test_a_server_that_is_lost_while_it_makes_shares_again_is_not_noticed_in_the_rows(
    client, launched, monkeypatch, when
):
    from moreau_sim.fleet.host import Host

    rows = straight(client, 8)
    servers = {server.address: server for server in (launched() for _ in range(4))}
    send, killed, is_lost = Host.send_encoded, [], []

    def kill(host):
        servers[host.address].process.kill()
        servers[host.address].process.wait()
        killed.append(host.address)

    def watched(host, call, *more, **options):
        if is_lost and call.__name__ == when and len(killed) == 1 and host.address not in killed:
            kill(host)
        return send(host, call, *more, **options)

    monkeypatch.setattr(Host, "send_encoded", watched)
    with Fleet(list(servers), CART, count=COUNT, shares=6, save_every=1000, **LAYOUT) as fleet:
        same(fleet.reset(seed=7), rows[0])
        fleet.save()
        for call in range(8):
            if call == 4:
                kill(fleet.servers.hosts[0])
                is_lost.append(True)
            same(fleet.step(actions(call)), rows[1 + call])
        assert len(killed) == 2
        housed(fleet)
        check_rest(fleet, rows)


def test_a_share_that_cannot_be_made_again_leaves_nothing_of_others(launched):
    from moreau_sim.fleet.share import Differs

    servers = {server.address: server for server in (launched() for _ in range(3))}
    with Fleet(list(servers), CART, count=COUNT, shares=6, save_every=1000, **LAYOUT) as fleet:
        fleet.reset(seed=7)
        fleet.save()
        fleet.step(actions(0))
        host = fleet.servers.hosts[0]
        host.shares[0].history[-1].digest ^= 1
        digest = host.shares[0].history[-1]
        servers[host.address].process.kill()
        servers[host.address].process.wait()
        with pytest.raises(Differs):
            fleet.step(actions(1))
        for host in fleet.servers.hosts:
            there = {group.group for group in host.group_list().groups}
            assert there == {share.group.id for share in host.shares}
        digest.digest ^= 1  # as it was
        fleet.read()
        housed(fleet)


def test_time_is_told_in_events(launched):
    told = []
    with Fleet([launched().address], CART, count=COUNT, shares=2, on_event=told.append, **LAYOUT) as fleet:
        fleet.reset(seed=1)
        fleet.save()
        assert fleet.events == told and [event.kind for event in told] == ["joined", "saved"]
        assert abs(told[-1].time - time.time()) < 60.0
        assert "Fleet of 200 worlds in 2 shares" in repr(fleet)


def test_recordings_of_all_servers_verify_in_one_file(launched, tmp_path):
    """A fleet that moves and loses a server: what each file has is merged, and every episode is proven elsewhere."""
    files = [tmp_path / f"{i}.db" for i in range(3)]
    servers = [launched(db=file) for file in files[:2]]
    with Fleet(
        [server.address for server in servers], CART, count=COUNT, shares=4, record="fleet", save_every=10, **LAYOUT
    ) as fleet:
        fleet.reset(seed=7)
        for call in range(60):
            if call == 25:
                servers[0].process.kill()
                servers[0].process.wait()
            elif call == 40:
                fleet.add(launched(db=files[2]).address)
            fleet.step(actions(call))
        assert [event.kind for event in fleet.events].count("superseded") == 2
    for server in launched.running:
        server.stop()
    merged = tmp_path / "all.db"
    told = subprocess.run([servers[0].binary, "--merge", merged, *files], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
    with launched(db=merged).client() as client:
        episodes = client.episode_list(count=10000).episodes
        recordings = {one.episode[:24] for one in episodes}  # the rest is the number in it
        assert len(episodes) > COUNT and len(recordings) >= 6 and any(one.parent for one in episodes)
        for one in episodes[:: len(episodes) // 40]:
            assert client.episode_verify(episode=one.episode).result().verified


def test_what_came_back_early_comes_once_though_the_server_is_lost_again(client, launched, monkeypatch):
    """Repeating a receive may bring worlds that nobody had: they are given, and not again when that is repeated."""
    from moreau_sim.fleet.share import Share

    repeat, begin_receive, is_repeating = Share._repeat, Group.begin_receive, []

    def all_at_once(share):
        is_repeating.append(share)
        try:
            yield from repeat(share)
        finally:
            is_repeating.remove(share)

    def greedy(group, count):
        of = [share for share in is_repeating if share.group is group]
        return begin_receive(group, len(of[0].out) if of else count)

    monkeypatch.setattr(Share, "_repeat", all_at_once)
    monkeypatch.setattr(Group, "begin_receive", greedy)
    rows = straight(client, 2)
    servers = {server.address: server for server in (launched() for _ in range(3))}
    with Fleet(list(servers), CART, count=COUNT, shares=3, save_every=1000, **LAYOUT) as fleet:
        fleet.reset(seed=7)
        fleet.send(actions(0))
        seen = fleet.receive(30).worlds.tolist()
        for _ in range(2):
            server = servers[fleet.shares[0].host.address]
            server.process.kill()
            server.process.wait()
            while fleet.shares[0].host is None or fleet.shares[0].host.address == server.address:
                seen += fleet.receive(10).worlds.tolist()
        seen += fleet.receive().worlds.tolist()
        assert sorted(seen) == list(range(COUNT))
        same(fleet.step(actions(1)), rows[2])
