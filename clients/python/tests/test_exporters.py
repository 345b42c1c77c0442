# SPDX-License-Identifier: MIT
"""MCAP, read back with its own reader."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import moreau_sim
from moreau_sim import Episode, World, exporters
from moreau_sim.__main__ import main

pytest.importorskip("mcap_protobuf", reason="needs moreau-sim[mcap]")
pytest.importorskip("foxglove_schemas_protobuf", reason="needs moreau-sim[mcap]")
from mcap.reader import make_reader  # noqa: E402
from mcap_protobuf.decoder import DecoderFactory  # noqa: E402

SCENE = {
    "bodies": [
        {"name": "slope", "kind": "STATIC", "shapes": [{"plane": {"normal": [0.3, 0, 1], "offset": -0.5}}]},
        {"name": "ball", "position": [0, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]},
        {
            "name": "box",
            "position": [1, 0, 1],
            "shapes": [{"box": {"half_extents": [0.1, 0.2, 0.3]}, "position": [0, 0, 0.05]}],
        },
        {
            "position": [2, 0, 2],
            "shapes": [{"capsule": {"radius": 0.1, "half_length": 0.2}, "orientation": [1, 1, 0, 0]}],
        },
    ]
}


def messages(path, topic):
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        for schema, _channel, message, decoded in reader.iter_decoded_messages(topics=[topic]):
            yield schema, message, decoded


def steps(path):
    with open(path, "rb") as file:
        return [
            json.loads(message.data)
            for _, _, message in make_reader(file, validate_crcs=True).iter_messages(topics=["/step"])
        ]


def vector(v):
    return [v.x, v.y, v.z]


def quaternion(q):
    return [q.w, q.x, q.y, q.z]


@pytest.fixture
def slide(client):
    world = World.create(client, SCENE)
    with world.record() as id:
        world.step(150)
    yield Episode(client, id)
    world.destroy()


def test_frames_are_where_the_bodies_are(slide, tmp_path):
    written = exporters.mcap(slide, tmp_path / "a.mcap", contacts=True, reports=True, stride=3)
    assert written == exporters.Written(51, 4, 0) and os.listdir(tmp_path) == ["a.mcap"]
    arrays = slide.arrays(stride=3, contacts=True, reports=True)
    found = list(messages(tmp_path / "a.mcap", "/tf"))
    assert [schema.name for schema, _, _ in found] == ["foxglove.FrameTransforms"] * 51
    for k, (_, message, frames) in enumerate(found):
        assert message.log_time == round(arrays["time"][k] * 1e9)
        assert [frame.child_frame_id for frame in frames.transforms] == ["slope", "ball", "box", "body 4"]
        assert {frame.parent_frame_id for frame in frames.transforms} == {"world"}
        assert [vector(frame.translation) + quaternion(frame.rotation) for frame in frames.transforms] == arrays[
            "pose"
        ][k].tolist()
    for k, step in enumerate(steps(tmp_path / "a.mcap")):
        assert step["step"] == 3 * k and step["time"] == arrays["time"][k]
        assert step["bodies"]["box"]["velocity"] + step["bodies"]["box"]["spin"] == arrays["velocity"][k, 2].tolist()
        mine = slice(int(arrays["contact_first"][k]), int(arrays["contact_first"][k + 1]))
        assert step["contacts"] == mine.stop - mine.start
        assert step["impulse"] == arrays["contact_impulse"][mine, 0].max(initial=0)
        assert ("report" in step) == (k > 0)
        for name, number in step.get("report", {}).items():
            assert number == arrays[f"report_{name}"][k]
    assert step["contacts"] > 0 and len(step["report"]) == 27


def test_shapes_are_those_of_the_scene(slide, tmp_path):
    exporters.mcap(slide, tmp_path / "a.mcap", last=5)
    [(schema, _, update)] = messages(tmp_path / "a.mcap", "/scene")
    assert schema.name == "foxglove.SceneUpdate"
    slope, ball, box, capsule = update.entities
    for entity, name in zip(update.entities, ("slope", "ball", "box", "body 4"), strict=True):
        assert entity.id == entity.frame_id == name and entity.frame_locked and not entity.lifetime.nanos
    assert vector(ball.spheres[0].size) == [0.2] * 3
    assert vector(box.cubes[0].size) == [0.2, 0.4, 0.6] and vector(box.cubes[0].pose.position) == [0, 0, 0.05]
    [cylinder], ends = capsule.cylinders, [vector(end.pose.position) for end in capsule.spheres]
    assert vector(cylinder.size) == [0.2, 0.2, 0.4] and (cylinder.bottom_scale, cylinder.top_scale) == (1, 1)
    # a quarter turn about x takes z to -y
    assert np.array(ends) == pytest.approx(np.array([[0, 0.2, 0], [0, -0.2, 0]]), abs=1e-15)
    # the top of the slab is the plane: normal . x = offset
    slab = slope.cubes[0]
    normal = np.array([0.3, 0, 1]) / np.hypot(0.3, 1)
    w, *v = quaternion(slab.pose.orientation)
    up = np.array([0, 0, 1.0])
    turned = up + 2 * w * np.cross(v, up) + 2 * np.cross(v, np.cross(v, up))
    assert turned == pytest.approx(normal, abs=1e-15)
    top = np.array(vector(slab.pose.position)) + turned * slab.size.z / 2
    assert top @ normal == pytest.approx(-0.5, abs=1e-12)


def test_arrows_are_along_the_impulses(slide, tmp_path):
    exporters.mcap(slide, tmp_path / "a.mcap", first=150, contacts=True)
    arrays = slide.arrays(first=150, contacts=True)
    [(_, _, update)] = messages(tmp_path / "a.mcap", "/contacts")
    impulses = np.einsum("ni,nij->nj", arrays["contact_impulse"], arrays["contact_frame"])
    sizes = np.linalg.norm(impulses, axis=1)
    arrows = update.entities[0].arrows
    assert update.entities[0].frame_id == "world" and len(arrows) == (sizes > 0).sum() > 0
    for arrow, impulse, point in zip(arrows, impulses[sizes > 0], arrays["contact_point"][sizes > 0], strict=True):
        w, *v = quaternion(arrow.pose.orientation)
        x = np.array([1.0, 0, 0])
        along = x + 2 * w * np.cross(v, x) + 2 * np.cross(v, np.cross(v, x))
        # rounding of a square root and three products
        assert along == pytest.approx(impulse / np.linalg.norm(impulse), abs=1e-14)
        assert arrow.shaft_length + arrow.head_length == pytest.approx(np.linalg.norm(impulse) / sizes.max(), abs=1e-14)
        assert vector(arrow.pose.position) == point.tolist()


def test_each_message_says_all_that_is_there(client, tmp_path):
    world = World.create(client, SCENE)
    with world.record() as id:
        world.step(2)
        shape = client.world_add_shapes(
            world=world.id, primitive_count=[1], kind=[int(moreau_sim.protocol.Primitive.Kind.SPHERE)], size=[0.5, 0, 0]
        ).ids
        [new] = client.world_add_bodies(world=world.id, pose=[9, 9, 9, 1, 0, 0, 0], shape=shape).ids.tolist()
        world.step(2)
        client.world_remove(world=world.id, bodies=[int(world.ids[1])])
        world.step(2)
    before = client.world_list().total
    written = exporters.mcap(Episode(client, id), tmp_path / "a.mcap")
    assert written == exporters.Written(7, 5, 0) and client.world_list().total == before
    told = [
        (message.log_time, [entity.id for entity in update.entities])
        for _, message, update in messages(tmp_path / "a.mcap", "/scene")
    ]
    h = 1e9 / 240
    first = ["slope", "ball", "box", "body 4"]
    assert told == [
        (0, first),
        (round(3 * h), [*first, f"body {new}"]),
        (round(5 * h), [*(first[:1] + first[2:]), f"body {new}"]),
    ]
    *_, (_, _, last) = messages(tmp_path / "a.mcap", "/scene")
    assert last.deletions[0].type == last.deletions[0].ALL and vector(last.entities[-1].spheres[0].size) == [1, 1, 1]


def test_time_does_not_go_back_where_the_world_does(client, tmp_path):
    world = World.create(client, SCENE)
    with world.record() as id:
        snapshot = client.snapshot_take(world=world.id).snapshot
        world.step(3)
        client.snapshot_restore(world=world.id, snapshot=snapshot)
        world.step(3)
    exporters.mcap(Episode(client, id), tmp_path / "a.mcap")
    times = [message.log_time for _, message, _ in messages(tmp_path / "a.mcap", "/tf")]
    assert len(times) == 7 and (np.diff(times) > 0).all()


def test_the_command_writes_and_says_why_not(slide, server, tmp_path, capsys):
    words = ["export", slide.id[:8], "--server", server.address, "--mcap", str(tmp_path / "a.mcap")]
    assert main([*words, "--from", "10", "--to", "20", "--contacts"]) == 0
    assert "11 frames, 4 bodies" in capsys.readouterr().err
    (tmp_path / "a.mcap").write_text("old")
    for more, sentence in (
        (["--from", "151"], "steps 0 to 150"),
        (["--mcap", str(tmp_path / "none" / "a")], "No such file"),
        (["--server", "unix:/nowhere"], "unix:/nowhere"),
        (["--stride", "0"], "stride"),
    ):
        assert main([*words, *more]) == 1
        assert sentence in capsys.readouterr().err
    assert main(["export", "none such", *words[2:]]) == 1
    assert "No episode" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["a.mcap"] and (tmp_path / "a.mcap").read_text() == "old"


def test_an_interrupt_leaves_no_file(client, server, tmp_path, monkeypatch):
    world = World.create(client, SCENE)
    with world.record() as id:
        world.step(20_000)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    words = [sys.executable, "-m", "moreau_sim", "export", id, "--server", server.address, "--mcap", "out"]
    tool = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while tool.poll() is None and not os.listdir(tmp_path):
        time.sleep(0.001)
    tool.send_signal(signal.SIGINT)
    said = tool.communicate()[1]
    assert tool.returncode == 1 and "interrupted" in said, said
    assert os.listdir(tmp_path) == []
