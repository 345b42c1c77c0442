# SPDX-License-Identifier: MIT
"""An episode inside the viewer's page: recorded by a real server, written by the real program."""

import base64
import pathlib
import re
import shutil
import sqlite3

import pytest

import moreau_sim
from moreau_sim import Group, World, channel, errors

BALL = {
    "bodies": [
        {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}}]},
        {"name": "ball", "position": [0, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]},
    ]
}
# the page before the viewer's code is put in: it has the place that an episode takes
PAGE = pathlib.Path(__file__).parents[2] / "web/src/page.html"


@pytest.fixture
def program(server):
    beside = [server.binary.parent / "clients/moreau", server.binary.parent / "moreau"]
    found = [path for path in beside if path.exists()]
    if not found:
        pytest.skip("the program moreau is not built beside the server")
    return found[0]


@pytest.fixture
def recorded(tmp_path):
    db = tmp_path / "episodes.db"
    with moreau_sim.launch(db=db) as server, server.client() as client:
        world = World.create(client, BALL)
        with world.record(name="falls") as episode:
            world.step(20)
    return db, episode


def test_an_episode_is_opened_in_the_browser(program, recorded, tmp_path, monkeypatch):
    db, episode = recorded
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    path = moreau_sim.view("falls", db, step=7, page=PAGE, binary=program)
    assert opened == [path.as_uri() + "#step=7"]
    data = re.search(r'id="episode">([^<]*)</script>', path.read_text())[1]
    copy = tmp_path / "copy.db"
    copy.write_bytes(base64.b64decode(data))
    assert sqlite3.connect(copy).execute("SELECT episode, name, steps FROM episodes").fetchall() == [
        (episode, "falls", 20)
    ]
    monkeypatch.setenv("MOREAU_VIEWER", str(PAGE))
    monkeypatch.setenv("MOREAU_BIN", str(program))
    assert moreau_sim.view(episode[:8], db, out=tmp_path / "mine.html", show=False) == tmp_path / "mine.html"
    assert len(opened) == 1


def test_what_is_missing_is_said(program, recorded, tmp_path, monkeypatch):
    db, _ = recorded
    with pytest.raises(FileNotFoundError, match="nowhere.html is not there: .* name moreau-viewer.html"):
        moreau_sim.view("falls", db, page=tmp_path / "nowhere.html", binary=program)
    with pytest.raises(errors.MoreauError, match="nobody"):
        moreau_sim.view("nobody", db, page=PAGE, binary=program)
    with pytest.raises(errors.MoreauError, match="is not the viewer's page"):
        moreau_sim.view("falls", db, page=db, binary=program)
    with pytest.raises(FileNotFoundError, match="is no program that can be run"):
        moreau_sim.view("falls", db, binary=db)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MOREAU_BIN", raising=False)
    with pytest.raises(FileNotFoundError, match=r"There is no moreau, .*nor on PATH"):
        moreau_sim.view("falls", db)
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    with pytest.raises(errors.MoreauError, match="There is no browser"):
        moreau_sim.view("falls", db, page=PAGE, binary=program)


SLIDER = {
    "bodies": [{"name": "cart", "mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}],
    "joints": [{"name": "rail", "kind": "SLIDER", "body_b": "cart", "axis": [1, 0, 0]}],
}


def slides(client):
    return Group.create(
        client,
        SLIDER,
        count=20,
        action=[channel("JOINT_EFFORT", "rail")],
        observation=[channel("JOINT_POSITION", "rail")],
    )


def test_a_world_of_a_group_is_watched_in_the_browser(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    monkeypatch.setenv("MOREAU_VIEWER", str(PAGE))
    with moreau_sim.launch(http=True) as server, server.client() as client, slides(client) as group:
        http = client.welcome.http
        assert re.fullmatch(r"127\.0\.0\.1:\d+", http)
        assert moreau_sim.view(group, 17) == f"http://{http}/#live=ws://{http}/v1/live&group={group.id}&index=17"
        assert moreau_sim.view(group, http=http, token="a b", show=False).endswith("&index=0&token=a%20b")
        assert len(opened) == 1
        with pytest.raises(ValueError, match="the worlds 0 to 19, not 20"):
            moreau_sim.view(group, 20)
        with pytest.raises(errors.MoreauError, match="Nothing answers at http://127.0.0.1:1/"):
            moreau_sim.view(group, http="127.0.0.1:1")


def test_a_server_without_pages_says_how_to_get_them(client, tmp_path, monkeypatch):
    with (
        slides(client) as group,
        pytest.raises(errors.MoreauError, match=r"shows no pages: start it with --http .* launch\(http=True\)"),
    ):
        moreau_sim.view(group)
    alone = shutil.copy(moreau_sim.find_server()[0], tmp_path / "moreau-server")  # without the page that came with it
    with (
        moreau_sim.launch(alone, options=["--http", "127.0.0.1:0"]) as server,
        server.client() as bare,
        slides(bare) as group,
    ):
        with pytest.raises(errors.MoreauError, match="has not the viewer's page"):
            moreau_sim.view(group)
    with pytest.raises(TypeError, match="not int"):
        moreau_sim.view(17)
    with pytest.raises(TypeError, match="where is the file"):
        moreau_sim.view("falls")
    monkeypatch.setenv("MOREAU_VIEWER", str(tmp_path / "none.html"))
    with pytest.raises(FileNotFoundError, match="there is no moreau-viewer.html"):
        moreau_sim.launch(http=True)
