# SPDX-License-Identifier: MIT
"""Meshes and height fields of MJCF, and meshes of URDF: where their surfaces are, and what hangs on them."""

import importlib.util
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
    sentence = "geoms that are an hfield on a body that moves touch nothing (their mass counts): sea"
    assert sentence in imported.unsupported
    assert imported.verdict.endswith("50 % of collision geometry")


URDF = """<robot name="m"><link name="base"/><link name="arm">
  <visual><geometry><mesh filename="package://nowhere/nothing.stl"/></geometry></visual>
  <collision><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>
    <geometry><mesh filename="cube.obj" scale="0.1 0.2 0.3"/></geometry></collision>
  <collision><origin xyz="-1 0 0"/><geometry><mesh filename="cube.obj"/></geometry></collision>
  <collision><origin xyz="-3 0 0"/><geometry><mesh filename="cube.obj"/></geometry></collision></link>
  <link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  <collision><geometry><mesh filename="gone.stl"/></geometry></collision>
  <collision><geometry><mesh filename="bad.stl"/></geometry></collision></link>
  <joint name="a" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="b" type="continuous"><parent link="arm"/><child link="tip"/></joint></robot>"""


def test_links_of_urdf_collide_by_hulls_of_their_meshes(client, tmp_path):
    pytest.importorskip("scipy", reason="hulls are found by scipy (pip install 'moreau-sim[mesh]')")
    pytest.importorskip("trimesh", reason="files are read by trimesh (pip install 'moreau-sim[mesh]')")
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
    (tmp_path / "cube.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + faces)
    (tmp_path / "bad.stl").write_text("once upon a time")
    path = tmp_path / "robot.urdf"
    path.write_text(URDF)
    imported = importers.load(path)
    assert [one["name"] for one in imported.json["geometries"]] == ["cube", "cube (2)"]  # once each, in two sizes
    arm = next(one for one in imported.json["bodies"] if one["name"] == "arm")
    assert [shape["hull"]["geometry"] for shape in arm["shapes"]] == ["cube", "cube (2)", "cube (2)"]
    # the arm has no <inertial>: it weighs what its hulls do
    mass = np.array([6.0, 1000.0, 1000.0])
    middles = np.array([[1.0 - 0.1, 0.05, 0.15], [-0.5, 0.5, 0.5], [-2.5, 0.5, 0.5]])
    assert arm["mass"] == pytest.approx(mass.sum())
    assert np.allclose(arm["center_of_mass"], mass @ middles / mass.sum())
    physical = [loss for loss in imported.losses if loss.is_physical]
    assert [(loss.sentence, loss.geometry) for loss in physical] == [
        ("meshes touch nothing (the mass of their links counts): tip", pytest.approx(0.4))
    ]
    notes = "\n".join(imported.notes)
    assert "not found: gone.stl" in notes and "bad.stl: there are no triangles in it" in notes
    assert "nothing.stl" not in notes and "meshes are their convex hulls: cube, cube (2)" in notes
    # the server sees them where they are
    world = World.create(client, imported.scene)
    hits = world.ray_cast([[0.9, 0.05, 5.0], [-0.5, 0.5, 5.0], [0.9, 0.15, 5.0]], [0, 0, -10])
    assert hits.fraction[:2] == pytest.approx([0.47, 0.4]) and not hits.fraction[2] < 1.0
    if importlib.util.find_spec("coacd"):
        several = importers.load(path, decompose=True)
        assert "meshes are hulls by CoACD: cube, cube (2)" in "\n".join(several.notes)
