# SPDX-License-Identifier: MIT
"""What a notebook and a terminal show of clients, servers, worlds, groups, episodes and states."""

import html
import re
import urllib.request

import pytest

import moreau_sim
from moreau_sim import Group, World, channel, errors

BALLS = {
    "bodies": [{"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}}]}]
    + [{"name": f"ball {i}", "position": [i, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]} for i in range(20)]
}
PUSH = {"action": [channel("BODY_FORCE", "ball 3", axes=[0])], "observation": [channel("BODY_POSITION", "ball 3")]}


def address_in(shown):
    return html.unescape(re.search(r"<iframe src='([^']*)'", shown)[1])


def test_reprs_say_what_it_is(client, server):
    world = World.create(client, BALLS, name="<b>&")
    assert repr(client).startswith(f"<Client of {server.address}, session ") and "solvers" in client._repr_html_()
    assert "running, pid" in repr(server)
    assert (
        "running" in server._repr_html_()
        and str(server.db) in server._repr_html_()
        and str(server.log_file) in server._repr_html_()
    )
    assert "&lt;b&gt;&amp;" in world._repr_html_() and "<b>&amp;" not in world._repr_html_()
    with Group.create(client, BALLS, count=3, **PUSH) as group:
        assert "of 3 worlds" in repr(group) and "ball 3.force.x" in group._repr_html_()
    closed = server.client()
    closed.close()
    assert "closed" in repr(closed)


def test_a_state_is_a_table(client):
    state = World.create(client, BALLS).state()
    lines = repr(state).splitlines()
    assert lines[0].split() == ["id", "x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"]
    assert len(lines) == 14 and lines[-1] == "… 9 more" and len({len(line) for line in lines[:-1]}) == 1
    assert lines[4].split()[:4] == ["4", "2", "0", "1"]
    assert state._repr_html_().count("<tr>") == 13 and "12 of 21" in state._repr_html_()


def test_a_server_with_pages_shows_them_in_a_frame(tmp_path):
    with moreau_sim.launch(http=True, workers=1) as server, server.client() as client:
        world = World.create(client, BALLS)
        where = address_in(world._repr_html_())
        assert where.endswith(f"&world={world.id}")
        page = urllib.request.urlopen(where.partition("#")[0], timeout=30.0)
        # a notebook of this machine may hold it in a frame
        assert "frame-ancestors http://localhost:* http://127.0.0.1:*" in page.headers["content-security-policy"]
        with Group.create(client, BALLS, count=2, **PUSH) as group:
            assert address_in(group._repr_html_()).endswith(f"&group={group.id}&index=0")


def test_an_episode_shows_itself_or_says_how(client):
    world = World.create(client, BALLS)
    with world.record("shown") as id:
        world.step(5)
    episode = moreau_sim.Episode(client, id)
    assert "5 steps" in repr(episode) and f"moreau view {id[:8]}" in episode._repr_html_()
    # of a file that is not there no page is made
    assert "<iframe" not in moreau_sim.Episode(client, id, db="/nowhere.db")._repr_html_()


def test_a_call_in_which_its_one_world_fails_raises(client):
    one, other = World.create(client, BALLS), World.create(client, BALLS)
    other.destroy()
    with pytest.raises(errors.NotFound) as raised:
        client.world_step(worlds=[other.id], steps=3)
    assert raised.value.result.failures
    reply = client.world_step(worlds=[one.id, other.id], steps=3)  # of several the reply says which
    assert len(reply.failures) == 1 and reply.failures[0].world == other.id


def test_calls_say_what_the_protocol_says():
    said = moreau_sim.Client.world_step.__doc__
    assert said.startswith("Steps one world or many.") and "at least one; none twice" in said
    for name in dir(moreau_sim.Client):
        if name.startswith(("world_", "group_", "snapshot_", "episode_")):
            assert getattr(moreau_sim.Client, name).__doc__
