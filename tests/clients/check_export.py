# SPDX-License-Identifier: MIT
"""`moreau export --csv` and `--npz`, read back by NumPy and compared to the bit with what the server says."""

import contextlib
import csv
import json
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import time

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Group, World, channel, protocol

TOOL = os.environ["MOREAU_BIN"]
SCENES = pathlib.Path(__file__).parent.parent / "scenes"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with moreau_sim.launch(db=tmp_path_factory.mktemp("db") / "episodes.db", workers=2) as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    with server.client(timeout_s=60.0) as client:
        yield client


def run(server, *words, **more):
    return subprocess.run([TOOL, "export", "--server", server.address, *map(str, words)], capture_output=True, text=True, **more)


def export(server, *words):
    done = run(server, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def record(client, scene, name, steps=60, content="INPUTS", **settings):
    world = World.create(client, scene, **settings)
    with world.record(name, content=getattr(protocol.Episode.Content, content), stride=1):
        world.step(steps)
    return world


def frames_of(client, episode, **what):
    """What EpisodeReplay sends, frame by frame: step, time, {body: (pose, velocity)}, contacts, joints."""
    for event in client.episode_replay(episode=episode, speed=0.0, **what):
        at = listed = contact = 0
        ids = []
        for i, step in enumerate(event.step):
            count = int(event.body_count[i])
            if event.ids_count[i]:
                ids = event.ids[listed : listed + int(event.ids_count[i])].tolist()
                listed += int(event.ids_count[i])
            pose = event.pose.reshape(-1, 7)[at : at + count]
            velocity = event.velocity.reshape(-1, 6)[at : at + count]
            at += count
            touching = slice(contact, contact + int(event.contact_count[i])) if len(event.contact_count) else None
            contact = touching.stop if touching else 0
            bodies = {body: (pose[k], velocity[k]) for k, body in enumerate(ids[:count])}
            yield int(step), float(event.time[i]), bodies, event.contacts, touching


def same_bits(a, b):
    a, b = np.ascontiguousarray(a, dtype=np.float64), np.ascontiguousarray(b, dtype=np.float64)
    return a.shape == b.shape and np.array_equal(a.view(np.uint64), b.view(np.uint64))


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


POSE, VELOCITY = ("x", "y", "z", "qw", "qx", "qy", "qz"), ("vx", "vy", "vz", "wx", "wy", "wz")


def numbers(row, names):
    return [float(row[name]) for name in names]


def check_bodies(client, server, episode, folder, *words, **what):
    """Compares both formats with the frames of the wire; how many frames there were."""
    export(server, episode, "--npz", folder / "a.npz", *words)
    export(server, episode, "--csv", folder / "a.csv", *words)
    arrays = np.load(folder / "a.npz", allow_pickle=False)
    rows = iter(rows_of(folder / "a.csv"))
    place = {int(body): k for k, body in enumerate(arrays["body"])}
    count = 0
    for k, (step, when, bodies, _, _) in enumerate(frames_of(client, episode, **what)):
        assert arrays["step"][k] == step and same_bits(arrays["time"][k], when)
        assert set(np.flatnonzero(arrays["present"][k])) == {place[body] for body in bodies}
        for body, (pose, velocity) in bodies.items():
            assert same_bits(arrays["pose"][k, place[body]], pose)
            assert same_bits(arrays["velocity"][k, place[body]], velocity)
            row = next(rows)
            assert int(row["step"]) == step and int(row["body"]) == body and same_bits(float(row["time"]), when)
            assert same_bits(numbers(row, POSE), pose) and same_bits(numbers(row, VELOCITY), velocity)
        gone = ~arrays["present"][k]
        assert np.isnan(arrays["pose"][k, gone]).all() and np.isnan(arrays["velocity"][k, gone]).all()
        count += 1
    assert next(rows, None) is None and len(arrays["step"]) == count
    return count


def test_a_fall_is_the_closed_form(client, server, tmp_path):
    ball = {"bodies": [{"name": "a \"ball\", grün", "position": [0.1, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]}]}
    record(client, ball, "fall", steps=200, time_step=0.001)
    assert check_bodies(client, server, "fall", tmp_path) == 201
    arrays = np.load(tmp_path / "a.npz")
    # symplectic Euler: h^2 g n (n + 1)/2, to rounding of 200 sums
    n = np.arange(201)
    assert arrays["pose"][:, 0, 2] == pytest.approx(1.0 - 9.81e-6 * n * (n + 1) / 2, abs=1e-12)
    assert arrays["velocity"][:, 0, 2] == pytest.approx(-9.81e-3 * n, abs=1e-12)
    name = ball["bodies"][0]["name"]
    assert arrays["body_name"].tolist() == [name] and rows_of(tmp_path / "a.csv")[0]["name"] == name
    assert str(arrays["name"]) == "fall" and str(arrays["episode"]) == client.episode_describe(episode="fall").episode.episode


@pytest.mark.parametrize("content", ["INPUTS", "FRAMES"])
def test_every_stride_and_range_is_what_the_server_replays(client, server, tmp_path, content):
    record(client, SCENES / "stack10.json", f"stack {content}", content=content)
    assert check_bodies(client, server, f"stack {content}", tmp_path) == 61
    words = ("--from", 7, "--to", 50, "--stride", 9)
    assert check_bodies(client, server, f"stack {content}", tmp_path, *words, first=7, last=50, stride=9) == 5
    assert check_bodies(client, server, f"stack {content}", tmp_path, "--from", 60, first=60) == 1


def test_bodies_that_come_and_go_are_there_when_they_are(client, server, tmp_path):
    world = World.create(client, SCENES / "stack10.json")
    first = world.ids.tolist()
    with world.record("come and go"):
        world.step(5)
        new = client.world_add_bodies(world=world.id, pose=[[9, 9, 9, 1, 0, 0, 0]] * 2, mass=[1, 1], inertia=[[1, 1, 1, 0, 0, 0]] * 2).ids
        world.step(5)
        client.world_remove(world=world.id, bodies=[first[3], int(new[0])])
        world.step(5)
    assert check_bodies(client, server, "come and go", tmp_path) == 16
    arrays = np.load(tmp_path / "a.npz")
    present = dict(zip(arrays["body"].tolist(), arrays["present"].T.astype(int).tolist()))
    # what was added behind step 5 is there from step 6 on, what was removed behind step 10 up to there
    assert present[first[0]] == [1] * 16
    assert present[first[3]] == [1] * 11 + [0] * 5
    assert present[int(new[0])] == [0] * 6 + [1] * 5 + [0] * 5
    assert present[int(new[1])] == [0] * 6 + [1] * 10


def test_bodies_that_come_back_have_their_places(client, server, tmp_path):
    world = World.create(client, SCENES / "stack10.json")
    snapshot = client.snapshot_take(world=world.id).snapshot
    client.world_remove(world=world.id, bodies=[int(world.ids[1]), int(world.ids[4])])
    with world.record("come back"):
        world.step(5)
        client.snapshot_restore(world=world.id, snapshot=snapshot)
        world.step(5)
    assert check_bodies(client, server, "come back", tmp_path) == 11
    arrays = np.load(tmp_path / "a.npz")
    assert arrays["body"].tolist() == world.ids.tolist() and arrays["present"].sum() == 6 * 9 + 5 * 11


def test_only_wanted_bodies_are_there(client, server, tmp_path):
    record(client, SCENES / "stack10.json", "few", steps=3)
    export(server, "few", "--npz", tmp_path / "a.npz", "--body", "box2", "--body", 5, "--what", "poses,contacts")
    arrays = np.load(tmp_path / "a.npz")
    assert arrays["body_name"].tolist() == ["box2", "box4"] and "velocity" not in arrays and arrays["pose"].shape == (4, 2, 7)
    touching = np.stack([arrays["contact_body_a"], arrays["contact_body_b"]], 1)
    assert len(touching) and (np.isin(touching, [3, 5]).any(axis=1)).all()


def test_contacts_are_those_of_the_server(client, server, tmp_path):
    record(client, SCENES / "falling.json", "heap", steps=150)
    export(server, "heap", "--npz", tmp_path / "a.npz", "--what", "contacts")
    export(server, "heap", "--csv", tmp_path / "a.csv", "--what", "contacts")
    arrays = np.load(tmp_path / "a.npz")
    rows = rows_of(tmp_path / "a.csv")
    columns = {"point": 3, "frame": 9, "gap": 1, "impulse": 3, "velocity": 3, "friction": 1}
    names = list(rows[0])
    total = 0
    for k, (step, _, _, contacts, where) in enumerate(frames_of(client, "heap", contacts=True)):
        mine = slice(int(arrays["contact_first"][k]), int(arrays["contact_first"][k + 1]))
        assert mine.stop - mine.start == where.stop - where.start
        for name in ("body_a", "body_b", "feature"):
            assert np.array_equal(arrays[f"contact_{name}"][mine], getattr(contacts, name)[where])
            assert [int(row[name]) for row in rows[mine]] == getattr(contacts, name)[where].tolist()
        at = names.index("px")
        for name, width in columns.items():
            theirs = getattr(contacts, name).reshape(-1, width)[where]
            assert same_bits(arrays[f"contact_{name}"][mine].reshape(-1, width), theirs)
            assert same_bits([numbers(row, names[at : at + width]) for row in rows[mine]] if len(theirs) else theirs, theirs)
            at += width
        total = mine.stop
    assert total == len(rows) == len(arrays["contact_gap"]) > 100


SWING = {
    "bodies": [
        {"name": "arm", "position": [1, 0, 0], "mass": 2, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        {"name": "hand", "position": [2, 0, 0], "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        {"name": "weight", "position": [0, 5, 0], "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
    ],
    "joints": [
        {"kind": "HINGE", "body_b": "arm", "anchor": [0, 0, 0], "axis": [0, 1, 0]},
        {"kind": "BALL", "body_a": "arm", "body_b": "hand", "anchor": [2, 0, 0]},
        {"kind": "SLIDER", "body_b": "weight", "anchor": [0, 5, 0], "axis": [0, 0, 1]},
    ],
}


def test_joints_are_those_of_the_server(client, server, tmp_path):
    record(client, SWING, "swing", steps=30)
    export(server, "swing", "--npz", tmp_path / "a.npz", "--what", "joints")
    export(server, "swing", "--csv", tmp_path / "out", "--what", "poses,joints")
    assert sorted(os.listdir(tmp_path / "out")) == ["bodies.csv", "joints.csv"]
    arrays = np.load(tmp_path / "a.npz")
    assert arrays["joint_position_first"].tolist() == [0, 1, 5, 6] and arrays["joint_axis_first"].tolist() == [0, 1, 4, 5]
    rows = rows_of(tmp_path / "out" / "joints.csv")
    events = list(client.episode_replay(episode="swing", speed=0.0, joints=True))
    for name in ("position", "velocity", "target", "target_velocity", "effort"):
        theirs = np.concatenate([getattr(event, f"joint_{name}") for event in events]).reshape(31, -1)
        assert same_bits(arrays[f"joint_{name}"], theirs)
        told = np.array([float(row[name]) for row in rows if row[name] != ""]).reshape(31, -1)
        assert same_bits(told, theirs)
    axes = [(row["joint"], row["axis"]) for row in rows[:6]]
    assert [axis for _, axis in axes[1:5]] == ["turn_w", "turn_x", "turn_y", "turn_z"] and axes[0][1].startswith("turn_")
    # the weight slides freely: symplectic Euler at the default 1/240 s, to rounding of 30 sums
    n = np.arange(31)
    h = client.episode_describe(episode="swing").episode.time_step
    assert arrays["joint_position"][:, 5] == pytest.approx(-9.81 * h * h * n * (n + 1) / 2, abs=1e-13)


def test_reports_are_those_of_the_server(client, server, tmp_path):
    record(client, SCENES / "stack10.json", "judged", steps=40, content="FRAMES")
    export(server, "judged", "--npz", tmp_path / "a.npz", "--what", "reports", "--stride", 2)
    export(server, "judged", "--csv", tmp_path / "a.csv", "--what", "reports", "--stride", 2)
    theirs = moreau_sim.Episode(client, "judged").arrays(poses=False, velocities=False, reports=True, stride=2)
    arrays = np.load(tmp_path / "a.npz")
    rows = rows_of(tmp_path / "a.csv")
    assert sorted(arrays) == sorted(theirs) and len(rows) == 20 and rows[0]["step"] == "2"
    for name in theirs:
        assert np.array_equal(arrays[name], theirs[name], equal_nan=arrays[name].dtype == np.float64), name
        if name.startswith("report_") and name != "report_present":
            assert [float(row[name[7:]]) for row in rows] == theirs[name][1:].tolist()
    # and so are those that moreau replay shows
    words = [TOOL, "replay", "judged", "--server", server.address, "--json", "--reports", "--stride", "2"]
    shown = [json.loads(line) for line in subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()]
    assert "report" not in shown[0]
    for name in shown[1]["report"]:
        assert [frame["report"][name] for frame in shown[1:]] == theirs[f"report_{name}"][1:].tolist()


def test_an_episode_of_a_group_is_exported(client, server, tmp_path):
    scene = {"bodies": [{"name": "ball", "position": [0, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]}]}
    with Group.create(client, scene, count=2, action=[channel("BODY_FORCE", "ball")], observation=[channel("BODY_POSITION", "ball")], step_limit=20, record="farm") as group:
        group.reset()
        for _ in range(20):
            group.step(np.full((2, 3), 0.5))
    episode = client.episode_list(name="farm").episodes[0].episode
    assert check_bodies(client, server, episode, tmp_path) == 21


def test_a_folder_takes_a_table(client, server, tmp_path):
    record(client, SWING, "folder", steps=2)
    assert export(server, "folder", "--csv", tmp_path)["frames"] == 3
    assert len(rows_of(tmp_path / "bodies.csv")) == 9


@pytest.mark.parametrize(
    "words, status, sentence",
    [
        (["none such", "--csv", "OUT"], 1, "No episode"),
        (["bad", "--csv", "OUT", "--body", "nobody"], 2, "nobody"),
        (["bad", "--npz", "OUT", "--body", "99"], 1, "none of the frames has body 99"),
        (["bad", "--npz", "OUT", "--from", "11"], 2, "steps 0 to 10"),
        (["bad", "--csv", "OUT", "--to", "11"], 1, "--to: "),
        (["bad", "--csv", "OUT", "--from", "5", "--to", "4"], 2, "steps 0 to 10"),
        (["bad", "--csv", "OUT", "--what", "poses,colours"], 2, "colours"),
        (["bad", "--csv", "OUT", "--what", ""], 2, "--what"),
        (["bad", "--csv", "OUT", "--stride", "0"], 2, "--stride"),
        (["bad", "--csv", "OUT", "--npz", "OUT"], 2, "one of"),
        (["bad"], 2, "one of"),
        (["bad", "--csv", "OUT", "--db", "some.db"], 2, "moreau-server --db some.db"),
        (["bad", "--mcap", "OUT"], 2, "python -m moreau_sim export bad --mcap"),
        (["bad", "--csv", "OUT/none/x"], 2, "No such file"),
        (["bad", "--npz", "OUT/none/x"], 2, "No such file"),
        (["bad", "--csv", "OUT/none/x", "--what", "poses,joints,reports"], 2, "3 tables go into a folder"),
        (["bad", "--npz", "/dev/null"], 2, "no file"),
        (["bad", "--npz", "."], 2, "a folder"),
        (["bad", "--csv", "/dev/full"], 1, "No space left"),
    ],
)
def test_mistakes_are_told_and_leave_no_file(client, server, tmp_path, words, status, sentence):
    if client.episode_list(name="bad").total == 0:
        record(client, SWING, "bad", steps=10)
    done = run(server, *[word.replace("OUT", str(tmp_path / "out")) for word in words], cwd=tmp_path)
    assert done.returncode == status and sentence in done.stderr, done.stderr
    assert os.listdir(tmp_path) == []


def test_a_page_takes_a_file_of_this_version_and_none_of_a_newer_one(tmp_path):
    path, page, out = tmp_path / "episodes.db", tmp_path / "page", tmp_path / "out"
    with moreau_sim.launch(db=path, workers=1) as server, server.client(timeout_s=60.0) as client:
        record(client, SWING, "kept", steps=10)
    page.write_text("<html><!-- episode --></html>")
    words = [TOOL, "export", "kept", "--db", str(path), "--html", str(out), "--page", str(page)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and out.stat().st_size > 10_000, done.stderr
    out.unlink()
    with contextlib.closing(sqlite3.connect(path)) as log:
        version = log.execute("PRAGMA user_version").fetchone()[0]
        log.execute(f"PRAGMA user_version = {version + 1}")
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1 and f"version {version + 1} of" in done.stderr and f"version {version}:" in done.stderr, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["episodes.db", "page"]


def little_room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.parametrize("words", [["--npz", "out"], ["--csv", "out"], ["--csv", "out", "--what", "poses,joints,contacts"]])
def test_a_full_disk_leaves_what_was_there(client, server, tmp_path, words):
    if client.episode_list(name="large").total == 0:
        record(client, SCENES / "stack10.json", "large", steps=100)
    if "--what" not in words:
        (tmp_path / "out").write_text("old")
    # Python ignores the signal that a file is too long, and so does its child
    done = run(server, "large", *words, cwd=tmp_path, preexec_fn=little_room, restore_signals=False)
    assert done.returncode == 1 and "cannot write out" in done.stderr, done.stderr
    assert os.listdir(tmp_path) == ([] if "--what" in words else ["out"])
    assert "--what" in words or (tmp_path / "out").read_text() == "old"


@pytest.mark.parametrize("option", ["--csv", "--npz"])
def test_an_interrupt_leaves_no_file(client, server, tmp_path, option):
    # long enough that it is still under way when the signal comes, on whatever machine
    for steps in (2000, 20_000, 200_000):
        name = f"endless {steps}"
        if client.episode_list(name=name).total == 0:
            record(client, SCENES / "two-balls-meet.json", name, steps=steps)
        tool = subprocess.Popen([TOOL, "export", "--server", server.address, name, option, "out"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        while tool.poll() is None and not os.listdir(tmp_path):
            time.sleep(0.001)
        tool.send_signal(signal.SIGINT)
        said = tool.communicate()[1]
        if tool.returncode != 0:
            break
        (tmp_path / "out").unlink()
    assert tool.returncode == 1 and "interrupted" in said, said
    assert os.listdir(tmp_path) == []
