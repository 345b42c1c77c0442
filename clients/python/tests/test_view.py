# SPDX-License-Identifier: MIT
"""An episode inside the viewer's page: recorded by a real server, written by the real program."""

import base64
import pathlib
import re
import sqlite3

import pytest

import moreau_sim
from moreau_sim import World, errors

BALL = {"bodies": [{"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}}]}, {"name": "ball", "position": [0, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]}]}
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
    assert sqlite3.connect(copy).execute("SELECT episode, name, steps FROM episodes").fetchall() == [(episode, "falls", 20)]
    monkeypatch.setenv("MOREAU_VIEWER", str(PAGE))
    monkeypatch.setenv("MOREAU_BIN", str(program))
    assert moreau_sim.view(episode[:8], db, out=tmp_path / "mine.html", show=False) == tmp_path / "mine.html"
    assert len(opened) == 1


def test_what_is_missing_is_said(program, recorded, tmp_path, monkeypatch):
    db, _ = recorded
    with pytest.raises(FileNotFoundError, match="nowhere.html is not there: deploy/web builds moreau-viewer.html"):
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
