# SPDX-License-Identifier: MIT
"""Several files and servers as one list: what a lost server recorded, and another recorded again, stands there once."""

import collections
import time

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Fleet, Group, Run, Runs, errors
from moreau_sim import protocol as p
from moreau_sim.runs import supersede
from test_fleet import CART, COUNT, LAYOUT, actions, launched  # noqa: F401

STORED_S = 4.0  # after so long a server has on the disk what it recorded
SHORT = {**LAYOUT, "step_limit": 12}
P, Q, R = "a" * 24, "b" * 24, "c" * 24


def run(
    recording,
    number,
    turn,
    steps=10,
    *,
    seed=7,
    world=0,
    parent=None,
    before=None,
    name="group",
    returned=None,
    cut=False,
):
    info = p.EpisodeInfo(
        episode=f"{recording}{number:08x}",
        seed=seed,
        turn=turn,
        steps=steps,
        world_index=world,
        world_name=name,
        parent=None if parent is None else parent + "0" * 8,
        parent_step=before,
        return_sum=returned,
        state=p.Episode.State.WORLD_DESTROYED if cut else p.Episode.State.COMPLETE,
        begun=float(number),
    )
    return Run(info, "x.db", returned)


def marked(*runs):
    supersede(runs)
    return [run.superseded_by[:1] for run in runs]


# ---- which are superseded


def test_what_is_behind_the_step_from_which_another_goes_on_is_superseded():
    old = [run(P, k, k) for k in range(4)]
    new = [run(Q, 0, 2, 3, parent=P, before=7), run(Q, 1, 3), run(Q, 2, 4)]
    assert marked(*old, *new) == ["", "", "b", "b", "", "", ""]
    assert new[0].length == 10 and old[0].length == 10
    # also where other actions followed, and in whichever order they are listed
    new = [run(Q, 1, 3, 4), run(Q, 0, 2, 1, parent=P, before=7)]
    assert marked(*new, *(run(P, k, k) for k in range(4))) == ["", "", "", "", "b", "b"]
    # what the lost server had not stored is nowhere twice
    assert marked(run(P, 0, 0), run(P, 1, 1), run(Q, 0, 2, 3, parent=P, before=7)) == ["", "", ""]
    # of other worlds nothing is said
    assert marked(run(P, 0, 2, world=1), run(Q, 0, 2, 3, parent=P, before=7)) == ["", ""]


def test_a_piece_that_was_cut_where_a_share_moved_is_superseded():
    assert marked(run(P, 0, 0), run(P, 1, 1, 4, cut=True), run(Q, 0, 1, 6, parent=P, before=4)) == ["", "b", ""]


def test_recordings_of_a_share_supersede_each_other_in_order():
    # begun anew, before anything was saved
    assert marked(run(P, 0, 0, name="f.0123abcd.2.1"), run(Q, 0, 0, name="f.0123abcd.2.2")) == ["b", ""]
    # the second was lost before it was saved: the third goes on from the first, too
    first = [run(P, k, k, name="f.0123abcd.2.1") for k in range(3)]
    second = [
        run(
            Q,
            k,
            k + 1,
            10 - 5 * (k == 0),
            parent=P if k == 0 else None,
            before=5 if k == 0 else None,
            name="f.0123abcd.2.2",
        )
        for k in range(2)
    ]
    third = [
        run(
            R,
            k,
            k + 1,
            10 - 5 * (k == 0),
            parent=P if k == 0 else None,
            before=5 if k == 0 else None,
            name="f.0123abcd.2.10",
        )
        for k in range(3)
    ]
    assert marked(*first, *second, *third) == ["", "b", "b", "c", "c", "", "", ""]
    # another share, and another fleet, are others
    assert (
        marked(
            run(P, 0, 0, name="f.0123abcd.1.1"),
            run(Q, 0, 0, name="f.0123abcd.2.2"),
            run(R, 0, 0, name="f.0123abce.2.3"),
        )
        == [""] * 3
    )


def test_the_same_seed_again_and_again_is_told_by_what_became_of_it():
    old = [run(P, k, 0, 10 + k) for k in range(4)]
    new = [run(Q, 0, 0, 5, parent=P, before=7), run(Q, 1, 0, 13), run(Q, 2, 0, 9)]
    assert marked(*old, *new) == ["", "", "b", "b", "", "", ""]
    old = [run(P, k, 0, returned=float(k)) for k in range(3)]
    assert marked(*old, run(Q, 0, 0, 3, parent=P, before=7, returned=1.0), run(Q, 1, 0, returned=2.0)) == [
        "",
        "b",
        "b",
        "",
        "",
    ]


def test_a_return_that_was_told_once_is_kept():
    old, new = run(P, 0, 0, returned=4.5), run(Q, 0, 0, 3, parent=P, before=7)
    assert marked(old, new) == ["b", ""] and new.return_sum == 4.5 and new.info.return_sum is None


def test_forks_of_worlds_supersede_nothing():
    fork = run(Q, 0, None, 5, parent=P, before=3)
    assert marked(run(P, 0, None), fork) == ["", ""] and fork.length == 5


# ---- from files and servers


def played(fleet, calls, disturb):
    fleet.reset(seed=7)
    for call in range(calls):
        disturb(fleet, call)
        fleet.step(actions(call))


def sequences(runs):
    """What each world of each share did, in the order of its episodes."""
    found = collections.defaultdict(list)
    for one in runs:
        share = one.info.world_name.split(".")[2]
        found[share, one.info.world_index or 0].append((one.info.seed, one.info.turn or 0, one.length))
    return {world: sorted(episodes) for world, episodes in found.items()}


def test_a_fleet_that_lost_servers_is_listed_as_if_it_had_lost_none(launched, tmp_path):  # noqa: F811
    record = p.GroupRecord(name="walks")
    layout = {"count": COUNT, "shares": 4, "record": record, "save_every": 10, **SHORT}
    whole = tmp_path / "whole.db"
    with launched(db=whole) as server, Fleet([server.address], CART, **layout) as fleet:
        played(fleet, 90, lambda fleet, call: None)
    files = [tmp_path / f"{i}.db" for i in range(4)]
    servers = [launched(db=file) for file in files]

    def lose(fleet, call):
        if call in (28, 49):
            time.sleep(STORED_S)
            servers[call // 40].process.kill()
            servers[call // 40].process.wait()
        elif call == 65:
            fleet.drain(servers[3].address)

    with Fleet([server.address for server in servers], CART, **layout) as fleet:
        played(fleet, 90, lose)
    servers[3].stop()
    with Runs([whole]) as straight, Runs([*files[:2], servers[2].address, files[3]]) as runs:
        assert not straight.superseded and len(runs.superseded) > 40 and not runs.damaged
        assert sequences(runs) == sequences(straight)
        assert len(runs) == len(straight) and "superseded" in repr(runs)
        assert [one.info.begun for one in runs] == sorted(one.info.begun for one in runs)
        assert {one.source for one in runs} == {str(file) for file in (*files[:2], files[3])} | {servers[2].address}
        superseded = runs.superseded[0]
        assert any(one.id == superseded.superseded_by for one in [*runs, *runs.superseded])
        seen = runs.open(runs[0]).arrays()["pose"]
        assert len(seen) == runs[0].info.steps + 1 and np.isfinite(seen).all()


def test_what_several_have_is_listed_once(launched, tmp_path):  # noqa: F811
    file = tmp_path / "one.db"
    with launched(db=file) as server, server.client() as client:
        with Group.create(client, CART, count=COUNT, record=p.GroupRecord(name="walks"), **SHORT) as group:
            group.reset(seed=1)
            for call in range(30):
                group.step(actions(call))
        with Runs([client]) as runs, Runs([server.address, client]) as twice:
            assert len(runs) == len(twice) > COUNT
        with Runs([client], name="nothing of that name") as none:
            assert len(none) == 0 and not none.superseded
        assert client.ping() is not None  # it is the caller's
        with pytest.raises(errors.ConnectionLost, match="name its address"):
            Runs([file])
    with Runs([file, str(file)]) as again:
        assert (
            len(again) == len(runs)
            and again[-1].id == runs[-1].id
            and [one.id for one in again[:2]] == [one.id for one in runs[:2]]
        )


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file of episodes"):
        Runs([tmp_path / "nothing.db"])
    with pytest.raises(errors.ConnectionLost, match="unix:/nowhere"):
        Runs(["unix:/nowhere"])
    assert not list(tmp_path.iterdir()) and moreau_sim.Runs is Runs


def test_returns_are_told_of_the_episodes_that_earned_them(launched, tmp_path):  # noqa: F811
    """Also where the calls that finished them are repeated elsewhere, and where a share moves before they are sent."""
    files = [tmp_path / f"{i}.db" for i in range(3)]
    servers = [launched(db=file) for file in files]
    with Fleet(
        [server.address for server in servers[:2]], CART, count=COUNT, shares=4, record="walks", save_every=10, **SHORT
    ) as fleet:
        fleet.reset(seed=7)
        told = collections.Counter()
        for call in range(90):
            if call in (28, 50):
                # behind a save, where what was told just before is not sent yet, and some calls later
                if call == 50:
                    fleet.save()
                time.sleep(STORED_S)
                servers[call // 40].process.kill()
                servers[call // 40].process.wait()
                if call == 28:
                    fleet.add(servers[2].address)
            elif call == 66:
                fleet.rebalance()
            rows = fleet.step(actions(call))
            final = rows.final
            told += collections.Counter(final.world.tolist())
            if len(final):
                fleet.tell_returns(final.world, final.world + 1000.0 * final.episode)
    with Runs([*files[:2], servers[2].address]) as runs:
        wrong, known = [], collections.Counter()
        for one in runs:
            share = int(one.info.world_name.split(".")[2])
            world = fleet.shares[share].first + (one.info.world_index or 0)
            if one.return_sum is not None:
                known[world] += 1
                if one.return_sum != world + 1000.0 * (one.info.turn or 0):
                    wrong.append((one, world, one.info.turn, one.return_sum))
        assert not wrong
        assert known == told
