# SPDX-License-Identifier: MIT
"""What `moreau` prints fits the terminal, at 40, 80 and 200 columns: no line is wider but for one word that cannot be
broken. Columns are counted as a terminal does."""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios
import unicodedata

import pytest

import moreau_sim

TOOL = os.environ["MOREAU_BIN"]
SERVER = os.environ["MOREAU_SERVER_BIN"]
SCENES = pathlib.Path(__file__).parent.parent / "scenes"
PROBLEM = SCENES.parent / "problems/column-20.json"
WIDTHS = [40, 80, 200]
# wide characters, an accent of its own, and an emoji made of three
LONG_NAME = "a name as long as they get: 積み木の塔 cafe\u0301 \N{MAN}\u200d\N{ROCKET} and all that follows it"
HELP = subprocess.run([TOOL, "--help"], capture_output=True, text=True, check=True).stdout
COMMANDS = sorted(set(re.findall(r"^  moreau ([a-z]+)", HELP, flags=re.M)))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with moreau_sim.launch(db=tmp_path_factory.mktemp("widths") / "episodes.db", workers=1) as server:
        for words in (["stack10.json", "--steps", "40", "--record", "--episode-name", LONG_NAME, "--label", "night",
                       "--label", "a-label-that-is-long"],
                      ["incline.json", "--steps", "30", "--record", "--episode-name", "slope", "--events"],
                      ["heap-12.json", "--steps", "20", "--solver", "mdp", "--param", "max_iterations=1", "--record",
                       "--episode-name", "open"],
                      ["stack10.json", "--steps", "5", "--keep", "--name", LONG_NAME]):
            show(server, 200, "run", SCENES / words[0], *words[1:])
        with server.client() as client:
            push, turn = moreau_sim.channel("JOINT_EFFORT", "elbow"), moreau_sim.channel("JOINT_POSITION", "elbow")
            with moreau_sim.Group.create(client, SCENES / "reacher.json", count=2, action=[push], observation=[turn]):
                yield server


def width_of(text):
    """In columns, as wcwidth has it; what is joined to a character is none."""
    width, joins = 0, False
    for character in text:
        is_none = joins or unicodedata.combining(character) or character == "\u200d"
        width += 0 if is_none else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        joins = character == "\u200d"
    return width


def show(server, columns, *words, tool=TOOL):
    """The lines of a command on a terminal so wide, without colours."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    tool = subprocess.Popen([tool, *map(str, words)], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                            env=dict(os.environ, MOREAU_SERVER=server.address if server else "127.0.0.1:1"))
    os.close(follower)
    said = b""
    try:
        while piece := os.read(leader, 65536):
            said += piece
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    assert tool.wait() in (0, 5), said.decode()
    # a bar that is drawn again in its place ends in \r
    return [re.sub(r"\033\[[0-9;]*[A-Za-z]", "", line).rstrip("\r").split("\r")[-1]
            for line in said.decode().splitlines()]


def assert_fits(lines, columns):
    wide = [line for line in lines if width_of(line) > columns and len(line.split()) > 1]
    assert not wide, "\n".join(["0123456789" * (columns // 10), *wide])


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("words", [
    ["episodes"], ["episodes", "slope"], ["episodes", "open"], ["episodes", "slope", "--touches"], ["worlds"],
    ["top", "--once", "--interval", "0.1"], ["replay", "slope", "--to", "2", "--speed", "0", "--contacts", "--reports"],
    ["solve", PROBLEM, "--history"], ["solve", PROBLEM, "--solver", "compliant", "--param", "max_iterations=1"],
    ["snapshot", "take", LONG_NAME, "kept"], ["snapshot", "clone", LONG_NAME], ["verify", "slope"], ["compare", "open", "--solver", "all", "--to", "5"],
    ["run", SCENES / "stack10.json", "--steps", "9"],
    ["run", SCENES / "heap-12.json", "--steps", "9", "--solver", "mdp", "--param", "max_iterations=1"],
    ["run", SCENES / "stack10.json", "--steps", "9", "--solver", "all"]], ids=lambda words: "-".join(map(str, words[:2])))
def test_what_is_shown_fits(server, words, columns, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = show(server, columns, *words)
    assert lines
    assert_fits(lines, columns)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_fits_and_leaves_no_word_out(command, columns):
    lines = show(None, columns, *([command] if command else []), "--help")
    assert_fits(lines, columns)
    piped = subprocess.run([TOOL, *([command] if command else []), "--help"], capture_output=True, text=True, check=True)
    assert " ".join(lines).split() == piped.stdout.split()


def words_of(text):
    """But for what ends a line of a command that goes on, as often as there is room for."""
    return [word for word in text.split() if word != "\\"]


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_servers_help_fits_and_leaves_no_word_out(columns):
    lines = show(None, columns, "--help", tool=SERVER)
    assert_fits(lines, columns)
    piped = subprocess.run([SERVER, "--help"], capture_output=True, text=True, check=True)
    assert words_of(" ".join(lines)) == words_of(piped.stdout)


def test_a_name_has_what_room_there_is(server):
    """Its column is wider on a wide terminal, and cut between characters, never within one."""
    rows = {columns: next(line for line in show(server, columns, "episodes") if "a name" in line) for columns in WIDTHS}
    assert "積み木" in rows[200] and "積み木" not in rows[80]
    assert all(width_of(row[:row.index("…")]) <= columns for columns, row in rows.items())


def test_replay_says_names_and_leaves_out_what_never_moves(server):
    """A table, that is: asked for by name the ground is there, and documents have all."""
    words = ["replay", "slope", "--to", "1", "--speed", "0"]
    moving = [line.split()[2] for line in show(server, 200, *words)[1:-1]]
    assert moving == ["stays", "slides"] * 2
    assert [line.split()[2] for line in show(server, 200, *words, "--body", "ground")[1:-1]] == ["ground"] * 2
    assert "contact ground-slides at" in "\n".join(show(server, 200, *words, "--contacts"))
    assert all(len(json.loads(line)["bodies"]) == 3 for line in show(server, 200, *words, "--json"))
