# SPDX-License-Identifier: MIT
"""Fleets that repeat nothing (on_loss="TRUNCATE"): the worlds of a lost server tell once that their episode is over,
and begin another one; the others see nothing of it."""

import numpy as np
import pytest
from test_fleet import CART, COUNT, LAYOUT, actions, launched, same  # noqa: F401

from moreau_sim import Fleet, Group, errors

SHARES = 4  # of 50 worlds, on two servers
QUIET = {name: value for name, value in LAYOUT.items() if name != "bounds"} | {"step_limit": 20}


def fleet_of(servers, **more):
    addresses = [server.address for server in servers]
    return Fleet(addresses, CART, count=COUNT, shares=SHARES, on_loss="TRUNCATE", **QUIET | more)


def kill(servers, fleet, index):
    """Which worlds it had."""
    host = fleet.servers.hosts[index]
    (server,) = (one for one in servers if one.address == host.address)
    server.process.kill()
    server.process.wait()
    had = np.zeros(COUNT, bool)
    for share in host.shares:
        had[share.first : share.first + share.count] = True
    return had


def check_ends(rows, last, lost):
    """Each of the lost worlds tells once that it is over, and what was seen last of it is its end."""
    assert np.array_equal(rows.truncated, lost) and not rows.terminated.any()
    assert np.array_equal(np.sort(rows.final.world), np.flatnonzero(lost))
    assert np.array_equal(rows.final.observation, last.observation[rows.final.world])
    assert np.array_equal(rows.final.extra, last.extra[rows.final.world])
    assert not rows.final.length.any() and not rows.failures


def check_undisturbed(rows, wanted, lost):
    for name in ("observation", "extra", "terminated", "truncated"):
        assert np.array_equal(getattr(rows, name)[~lost], getattr(wanted, name)[~lost]), name


def test_worlds_of_a_lost_server_are_truncated_and_begin_with_the_next_step(client, launched):  # noqa: F811
    servers = [launched(), launched()]
    with Group.create(client, CART, count=COUNT, **QUIET) as group, fleet_of(servers) as fleet:
        same(fleet.reset(seed=7), group.reset(seed=7))
        for call in range(4):
            last, wanted = fleet.step(actions(call)), group.step(actions(call))
            same(last, wanted)
        lost = kill(servers, fleet, 0)
        rows = fleet.step(actions(4))
        check_ends(rows, last, lost)
        assert np.array_equal(rows.observation[lost], last.observation[lost])
        check_undisturbed(rows, group.step(actions(4)), lost)
        rows = fleet.step(actions(5))  # which begins them
        check_undisturbed(rows, group.step(actions(5)), lost)
        assert not rows.truncated.any() and (rows.extra[lost] == 0.0).all()
        # from another start than the first time: what is drawn is not drawn again
        hinge = fleet.observation.names.index("hinge.position")
        assert (np.abs(rows.observation[lost, hinge]) <= 0.05).all()
        assert len(np.unique(rows.observation[lost, hinge])) > lost.sum() // 2
        ended = np.zeros(COUNT, int)
        for call in range(6, 26):
            rows, wanted = fleet.step(actions(call)), group.step(actions(call))
            check_undisturbed(rows, wanted, lost)
            ended[rows.final.world] += 1
        assert (ended == 1).all() and set(rows.final.length) == {20}
        kinds = [event.kind for event in fleet.events]
        assert kinds.count("lost") == 1 and kinds.count("begun") == 2 and "saved" not in kinds
        assert "begin anew" in next(event.text for event in fleet.events if event.kind == "lost")


def test_with_same_step_the_row_is_the_beginning(launched):  # noqa: F811
    servers = [launched(), launched()]
    with fleet_of(servers, autoreset="SAME_STEP") as fleet:
        fleet.reset(seed=7)
        last = fleet.step(actions(0))
        lost = kill(servers, fleet, 1)
        rows = fleet.step(actions(1))
        check_ends(rows, last, lost)
        assert (rows.extra[lost] == 0.0).all() and (last.extra[lost] > 0.0).all()
        first = rows.observation
        rows = fleet.step(actions(2))
        assert not rows.truncated.any() and (rows.extra[lost] > 0.0).all() and not len(rows.final)
        assert not np.array_equal(rows.observation[lost], first[lost])


def test_without_autoreset_the_caller_begins_them(launched):  # noqa: F811
    servers = [launched(), launched()]
    with fleet_of(servers, autoreset="DISABLED") as fleet:
        fleet.reset(seed=7)
        last = fleet.step(actions(0))
        lost = kill(servers, fleet, 0)
        check_ends(fleet.step(actions(1)), last, lost)
        with pytest.raises(errors.FailedPrecondition) as over:
            fleet.step(actions(2))
        assert sorted(one.world for one in over.value.result.failures) == np.flatnonzero(lost).tolist()
        fleet.reset(lost)
        assert not fleet.step(actions(3)).truncated.any()


def test_who_is_not_asked_tells_it_when_he_is(client, launched):  # noqa: F811
    """Calls on some worlds alone; two losses, of which a world has an episode under way at the first only."""
    servers = [launched(), launched(), launched()]
    half = np.arange(COUNT) % 2 == 0
    with Group.create(client, CART, count=COUNT, **QUIET) as group, fleet_of(servers) as fleet:
        same(fleet.reset(seed=7), group.reset(seed=7))
        last, wanted = fleet.step(actions(0)), group.step(actions(0))
        lost = kill(servers, fleet, 0)
        rows, wanted = fleet.step(actions(1)[half], half), group.step(actions(1)[half], half)
        assert np.array_equal(rows.worlds, np.flatnonzero(half)) and np.array_equal(rows.truncated, lost[half])
        assert np.array_equal(rows.observation[lost[half]], last.observation[lost & half])
        check_undisturbed(rows, wanted, lost[half])
        again = kill(servers, fleet, 0)
        # of the first server's the even worlds have told, and none has begun again
        rows, wanted = fleet.step(actions(2)), group.step(actions(2))
        told = (lost & ~half) | (again & ~lost)
        assert np.array_equal(rows.truncated, told)
        assert np.array_equal(np.sort(rows.final.world), np.flatnonzero(told))
        check_undisturbed(rows, wanted, lost | again)
        begun = lost & half
        assert (rows.extra[begun] == 0.0).all()  # by this step


@pytest.mark.parametrize("autoreset", ["NEXT_STEP", "SAME_STEP"])
def test_what_was_sent_comes_back_once(launched, autoreset):  # noqa: F811
    servers = [launched(), launched()]
    with fleet_of(servers, autoreset=autoreset) as fleet:
        fleet.reset(seed=7)
        last = fleet.step(actions(0))
        fleet.send(actions(1))
        rows = fleet.receive(40)
        seen = [rows]
        lost = kill(servers, fleet, 0)
        while (there := sum(len(one.worlds) for one in seen)) < COUNT:
            seen.append(fleet.receive(min(30, COUNT - there)))
        worlds = np.concatenate([one.worlds for one in seen])
        assert sorted(worlds.tolist()) == list(range(COUNT))
        truncated = np.concatenate([one.truncated for one in seen])
        assert truncated.any() and not truncated[~lost[worlds]].any()
        for one in seen:
            at = np.isin(one.final.world, one.worlds[one.truncated])
            assert at.all() and np.array_equal(one.final.observation, last.observation[one.final.world])
        # those that came back before the loss tell it with the next row: of step() and of send()
        early = lost.copy()
        early[worlds[truncated]] = False
        some = early & (np.arange(COUNT) % 2 == 0)
        fleet.send(actions(2)[some | ~lost], some | ~lost)
        rows = fleet.receive()
        assert np.array_equal(np.sort(rows.worlds[rows.truncated]), np.flatnonzero(some))
        rows = fleet.step(actions(3))
        assert np.array_equal(rows.truncated, early & ~some)
        with pytest.raises(ValueError, match="0 worlds were sent"):
            fleet.receive(1)


def test_returns_of_lost_episodes_go_with_their_server(launched, tmp_path):  # noqa: F811
    """Those of the episodes that began anew are told of these."""
    servers = [launched(db=tmp_path / f"{i}.db") for i in range(2)]
    with fleet_of(servers, record="anew") as fleet:
        fleet.reset(seed=7)
        fleet.step(actions(0))
        lost = kill(servers, fleet, 0)
        for call in range(1, 23):
            rows = fleet.step(actions(call))
            if len(rows.final):
                fleet.tell_returns(rows.final.world, np.where(rows.final.length > 0, 3.0, -1.0))
        fleet.step(actions(0))
        assert any("ends there" in event.text for event in fleet.events if event.kind == "superseded")
    (server,) = (one for one in servers if one.process.poll() is None)
    with server.client() as client:
        episodes = client.episode_list(count=1000).episodes
        assert len(episodes) == COUNT and {one.return_sum for one in episodes} == {3.0}
        assert lost.sum() == COUNT // 2


def test_what_contradicts_itself_is_refused(launched):  # noqa: F811
    with pytest.raises(ValueError, match="REPEAT.*'IGNORE'"):
        Fleet([launched().address], CART, count=COUNT, on_loss="IGNORE", **QUIET)
    with pytest.raises(ValueError, match="nothing is saved"):
        Fleet([launched().address], CART, count=COUNT, on_loss="TRUNCATE", save_every=8, **QUIET)


# also of a fleet that is recorded, and whose returns nobody has told yet
@pytest.mark.parametrize("record", [None, "moved"])
def test_moving_ends_nothing(client, launched, tmp_path, record):  # noqa: F811
    first, second = launched(db=tmp_path / "1.db"), launched(db=tmp_path / "2.db")
    with Group.create(client, CART, count=COUNT, **QUIET) as group, fleet_of([first], record=record) as fleet:
        same(fleet.reset(seed=7), group.reset(seed=7))
        for call in range(32):
            if call == 4:
                fleet.add(second.address)
            elif call == 24:
                fleet.drain(first.address)
            same(fleet.step(actions(call)), group.step(actions(call)))
