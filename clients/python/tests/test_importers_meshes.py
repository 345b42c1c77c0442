# SPDX-License-Identifier: MIT
"""Meshes and height fields of MJCF, and meshes of URDF: where their surfaces are, and what hangs on them."""

import struct
import zlib

import numpy as np
import pytest
from twin import Twin

from moreau_sim import World, importers

WEDGE = "-1 -1 0  1 -1 0  -1 1 0  1 1 0  0.4 -0.2 1.5  0.1 0.6 1.1"
MODEL = f"""<mujoco><option timestep="0.002"/><asset>
  <mesh name="wedge" vertex="{WEDGE}" scale="0.2 0.3 -0.4" refpos="0.1 0.2 0.3" refquat="0.8 0.6 0 0"/>
  <mesh name="stone" vertex="{WEDGE}" scale="0.5 0.5 0.5"/>
  <hfield name="hills" nrow="4" ncol="5" size="2 1.5 0.6 0.3"
  elevation="0 1 2 1 0  3 0 1 4 2  1 5 2 0 1  2 1 0 3 5"/>
  <hfield name="stone" file="dunes.png" size="1 1 0.5 0.1"/></asset><worldbody>
  <geom type="hfield" hfield="hills" pos="0 0 0.1" euler="0 0 30"/>
  <geom type="hfield" hfield="stone" pos="8 0 0"/>
  <geom type="mesh" mesh="stone" pos="4 0 0" euler="20 30 0"/>
  <body name="flyer" pos="-4 0 1" euler="10 20 30"><freejoint/><geom type="mesh" mesh="wedge" euler="0 40 0"/>
    <geom type="mesh" mesh="stone" contype="0" conaffinity="0" pos="0 0 9"/>
    <body name="flap" pos="0.2 0 0"><joint name="flap" axis="0 1 1"/><geom type="mesh" mesh="wedge" pos="0.3 0 0"/>
    <geom type="cylinder" size="0.1 0.2" pos="0.6 0.2 0"/></body></body>
  <body name="lift" pos="12 0 0" mocap="true"><geom type="hfield" hfield="hills"/></body>
  </worldbody></mujoco>"""


@pytest.fixture
def mujoco(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes a log where it stands
    return pytest.importorskip("mujoco", reason="without MuJoCo's parser (pip install mujoco) nothing is imported")


def write_png(path, grey):
    """Of 8 bits."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(row) for row in grey.astype(np.uint8))
    chunks = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def model_file(folder):
    write_png(folder / "dunes.png", np.random.default_rng(4).integers(0, 256, size=(6, 7)))
    path = folder / "model.xml"
    path.write_text(MODEL)
    return path


def test_meshes_and_height_fields_move_as_in_mujoco(mujoco, client, tmp_path):
    twin = Twin(mujoco, client, model_file(tmp_path))
    assert twin.imported.verdict == "usable: nothing physical is lost"
    rng = np.random.default_rng(7)
    for _ in range(5):
        twin.draw(rng)
        assert twin.pose_error() < 1e-9
        worst, size = twin.acceleration_error()
        assert worst < 1e-6 * max(size, 1.0)


def test_their_surfaces_are_where_mujocos_are(mujoco, client, tmp_path):
    path = model_file(tmp_path)
    imported = importers.load(path)
    scene = imported.json
    # each once, and called by one name each
    assert [one["name"] for one in scene["geometries"]] == ["hills", "stone", "mesh stone", "wedge"]
    assert next(one for one in scene["bodies"] if one["name"] == "lift")["kind"] == "KINEMATIC"
    assert len(next(one for one in scene["bodies"] if one["name"] == "flyer")["shapes"]) == 1  # one is only seen
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rng = np.random.default_rng(5)
    world = World.create(client, imported.scene)
    met, geom = 0, np.zeros(1, dtype=np.int32)
    groups = np.ones(6, dtype=np.uint8)
    for at in (0.0, 4.0, 8.0, -4.0, 12.0):
        origins = np.column_stack((rng.uniform(-1, 1, (60, 2)) + [at, 0.0], np.full(60, 4.0)))
        ways = np.column_stack((rng.uniform(-0.5, 0.5, (60, 2)), np.full(60, -6.0)))
        hits = world.ray_cast(origins, ways)
        for origin, way, fraction in zip(origins, ways, hits.fraction):
            far = mujoco.mj_ray(model, data, origin, way, groups, 1, -1, geom)
            seen = far >= 0.0 and model.geom_contype[geom[0]] and far <= 1.0
            assert seen or not fraction < 1.0, (at, origin)
            if seen:
                assert fraction == pytest.approx(far, abs=2e-6), (at, origin)
                met += 1
    assert met > 150


def test_hulls_have_no_more_corners_than_mujocos(mujoco, client, tmp_path):
    rng = np.random.default_rng(2)
    ball = rng.normal(size=(900, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    text = " ".join(f"{number:.6f}" for number in ball.ravel())
    path = tmp_path / "balls.xml"
    path.write_text(f"""<mujoco><asset><mesh name="few" vertex="{text}" maxhullvert="30"/>
      <mesh name="all" vertex="{text}"/></asset><worldbody><body><freejoint/><geom type="mesh" mesh="few"/></body>
      <body pos="3 0 0"><freejoint/><geom type="mesh" mesh="all"/></body></worldbody></mujoco>""")
    imported = importers.load(path)
    few, every = (one["hull"] for one in imported.json["geometries"])
    assert len(few["points"]) <= 3 * 30 and "vertices_max" not in few
    assert len(every["points"]) == 3 * 900 and every["vertices_max"] == 256
    assert any("more than 256 corners" in note and "all" in note for note in imported.notes)
    World.create(client, imported.scene)


def test_what_is_no_ground_here_is_listed(mujoco, tmp_path):
    path = tmp_path / "raft.xml"
    path.write_text("""<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="0 1 1 0"/></asset>
      <worldbody><body name="raft"><freejoint/><geom type="box" size="1 1 1"/><geom name="sea" type="hfield" hfield="h"
      mass="0"/></body></worldbody></mujoco>""")
    imported = importers.load(path)
    assert "geoms that are an hfield on a body that moves touch nothing (their mass counts): sea" in imported.unsupported
    assert imported.verdict.endswith("50 % of collision geometry")
