# SPDX-License-Identifier: MIT
"""Shapes from files: a cube weighs what a cube does, a ring keeps its hole, and bad files get a sentence."""

import re
import struct
import subprocess
import sys

import numpy as np
import pytest

from moreau_sim import World, geometry

CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
SQUARES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
CUBE = np.array([t for a, b, c, d in SQUARES for t in ((a, b, c), (a, c, d))])


@pytest.fixture
def trimesh():
    pytest.importorskip("scipy", reason="hulls are found by scipy (pip install 'moreau-sim[mesh]')")
    return pytest.importorskip("trimesh", reason="files are read by trimesh (pip install 'moreau-sim[mesh]')")


def write_stl(path, points, triangles):
    """A binary one, which has every corner of every triangle."""
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *points[t].ravel(), 0) for t in triangles)
    path.write_bytes(bytes(80) + struct.pack("<I", len(triangles)) + rows)
    return path


def ring(around=16, across=8, radius=1.0, thick=0.3):
    """A torus about z, and its volume."""
    u, v = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(across) * 2 * np.pi / across, indexing="ij")
    far = radius + thick * np.cos(v)
    points = np.stack((far * np.cos(u), far * np.sin(u), thick * np.sin(v)), axis=-1).reshape(-1, 3)
    triangles = []
    for i in range(around):
        for k in range(across):
            a, b = i * across + k, (i + 1) % around * across + k
            c, d = (i + 1) % around * across + (k + 1) % across, i * across + (k + 1) % across
            triangles += [(a, b, c), (a, c, d)]
    return points, np.array(triangles)


def weigh(client, made, **body):
    scene = {"geometries": made.geometries, "bodies": [{"name": "part", "shapes": made.shapes(), **body}]}
    world = World.create(client, scene)
    return client.world_get(world=world.id, definition=True), world


def test_a_cube_weighs_what_a_cube_does(trimesh, client, tmp_path):
    made = geometry.load(write_stl(tmp_path / "cube.stl", CORNERS - 0.5, CUBE), scale=[0.2, 0.3, 0.4])
    assert "36 points, 12 triangles" in str(made) and "1 hull of 8 corners" in repr(made)
    a, b, c = 0.2, 0.3, 0.4
    volume = a * b * c
    expected = np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 12.0
    assert made.volume == pytest.approx(volume, rel=1e-6)
    assert np.allclose(made.inertia, np.diag(volume * expected), rtol=1e-6, atol=1e-12)
    got, _ = weigh(client, made)
    assert got.mass[0] == pytest.approx(1000.0 * volume, rel=1e-6)
    assert np.allclose(got.inertia[:3], 1000.0 * volume * expected, rtol=1e-6)
    assert np.allclose(got.inertia[3:], 0.0, atol=1e-9)
    # the same numbers in the shape itself
    scene = {"bodies": [{"name": "part", "shapes": made.inline(density=500)}]}
    world = World.create(client, scene)
    assert client.world_get(world=world.id, definition=True).mass[0] == pytest.approx(500.0 * volume, rel=1e-6)


def test_of_arrays_it_is_the_same(trimesh, client):
    made = geometry.hulls([CORNERS, CORNERS * 0.5 + [2.0, 0.0, 0.0]], name="two")
    assert made.names == ["two 1", "two 2"] and made.volume == pytest.approx(1.125)
    assert np.allclose(made.center, np.array([0.5 + 0.125 * 2.25, 0.53125, 0.53125]) / 1.125)
    got, _ = weigh(client, made)
    assert got.mass[0] == pytest.approx(1125.0)
    # about the body's origin, which is where its middle is
    tensor = 1000.0 * made.inertia
    wanted = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    assert np.allclose(got.inertia, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ending", ["obj", "ply", "glb", "dae"])
def test_files_of_every_kind_are_read(trimesh, tmp_path, ending):
    if ending == "dae":
        pytest.importorskip("collada", reason="COLLADA is read by pycollada (pip install 'moreau-sim[mesh]')")
    path = tmp_path / f"part.{ending}"
    trimesh.Trimesh(CORNERS, CUBE, process=False).export(path)
    if ending == "dae":
        text = path.read_text()
        said = '<unit name="millimeter" meter="0.001"/>'
        text = re.sub(r"<unit[^>]*/>", said, text) if "<unit" in text else text.replace("<asset>", f"<asset>{said}")
        path.write_text(text)
    made = geometry.load(path, scale=2.0)
    assert made.volume == pytest.approx(8e-9 if ending == "dae" else 8.0)
    assert ("in units of 0.001 m" in str(made)) == (ending == "dae")


# A box from (0.1, 0.2, 0.4) to (1.1, 2.2, 3.4). A quarter turn about x takes y to z and z to -y, one about y x to z and
# z to -x.
@pytest.mark.parametrize(("up", "middle"), [("X", [-1.9, 1.2, 0.6]), ("Y", [0.6, -1.9, 1.2]), ("Z", [0.6, 1.2, 1.9]),
                                            ("", [0.6, -1.9, 1.2])])
def test_what_a_file_says_is_up_is_turned_to_z(trimesh, tmp_path, up, middle):
    pytest.importorskip("collada", reason="COLLADA is read by pycollada (pip install 'moreau-sim[mesh]')")
    path = tmp_path / "part.dae"
    trimesh.Trimesh(CORNERS * [1.0, 2.0, 3.0] + [0.1, 0.2, 0.4], CUBE, process=False).export(path)
    text = re.sub(r"<up_axis>.*?</up_axis>", "", path.read_text())
    path.write_text(text.replace("</asset>", f"<up_axis>{up}_UP</up_axis></asset>") if up else text)
    for z_up, expected in ((False, [0.6, 1.2, 1.9]), (True, middle)):
        made = geometry.load(path, z_up=z_up)
        points = np.reshape(made.geometries[0]["hull"]["points"], (-1, 3))
        assert np.mean(points, axis=0) == pytest.approx(expected)
        assert made.volume == pytest.approx(6.0)
        assert ("was up" in str(made), "up is" in str(made)) == (z_up and up != "Z", not z_up and up != "Z")


def test_files_that_do_not_say_what_is_up_are_not_turned(trimesh, tmp_path):
    path = tmp_path / "part.stl"
    trimesh.Trimesh(CORNERS, CUBE, process=False).export(path)
    with pytest.raises(geometry.GeometryError, match="do not say what is up"):
        geometry.load(path, z_up=True)


def test_corners_that_are_too_many_are_said(trimesh, client):
    rng = np.random.default_rng(1)
    ball = rng.normal(size=(12000, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    made = geometry.hulls([ball], name="ball")
    assert "1 hull of more than 256 corners: the 256 farthest out are taken" in made.report
    got, _ = weigh(client, made)  # the server takes it
    assert got.mass[0] == pytest.approx(1000.0 * made.volume, rel=0.05)
    few = geometry.hulls([ball], vertices_max=20)
    assert few.forms[0]["hull"]["vertices_max"] == 20
    weigh(client, few)


def test_a_surface_loses_what_the_server_refuses(trimesh, client, tmp_path):
    n = 5
    x, y = np.meshgrid(np.arange(n), np.arange(n))
    points = np.stack((x.ravel(), y.ravel(), np.zeros(n * n)), axis=1).astype(float)
    squares = [i * n + k for i in range(n - 1) for k in range(n - 1)]
    triangles = [t for s in squares for t in ((s, s + 1, s + n + 1), (s, s + n + 1, s + n))]
    bad = [(0, 0, 1), (0, 1, 2), (3, 8, 3)]  # no area: two corners are one, all three in a line
    made = geometry.load(write_stl(tmp_path / "floor.stl", points, np.array(triangles + bad)), surface=True)
    assert "3 slivers of no area left out" in str(made) and "open: 16 edges of one triangle alone" in str(made)
    assert "32 triangles between 25 points" in str(made)
    scene = {
        "geometries": made.geometries,
        "bodies": [
            {"name": "ground", "kind": "STATIC", "shapes": made.shapes()},
            {"name": "ball", "position": [2.3, 1.7, 0.5], "shapes": [{"sphere": {"radius": 0.1}}]},
        ],
    }
    world = World.create(client, scene)
    world.step(480)
    assert world.state().pose.reshape(-1, 7)[-1][2] == pytest.approx(0.1, abs=1e-3)


def test_surfaces_that_look_both_ways_are_two_sided(trimesh, client):
    turned = np.array([*CUBE[:-1], CUBE[-1][::-1]])
    with pytest.raises(geometry.GeometryError, match="3 edges of more than two.*two_sided=True"):
        geometry.surface(CORNERS, turned)
    made = geometry.surface(CORNERS, turned, two_sided=True)
    weigh(client, made, kind="STATIC")
    assert "closed" in geometry.surface(CORNERS, CUBE).report
    assert any("looks inwards" in sentence for sentence in geometry.surface(CORNERS, CUBE[:, ::-1]).report)
    assert geometry.surface(CORNERS, CUBE).volume == pytest.approx(1.0)


def test_a_mirror_turns_nothing_inside_out(trimesh, tmp_path):
    path = write_stl(tmp_path / "cube.stl", CORNERS, CUBE)
    assert "closed" in geometry.load(path, scale=[1, 1, -1], surface=True).report


def test_a_ring_keeps_its_hole(trimesh, client, tmp_path):
    pytest.importorskip("coacd", reason="shapes are decomposed by CoACD (pip install 'moreau-sim[coacd]')")
    points, triangles = ring()
    made = geometry.load(write_stl(tmp_path / "ring.stl", points, triangles), decompose=True)
    volume = geometry.surface(points, triangles).volume
    assert len(made.forms) > 3 and "by CoACD (threshold 0.05, seed 0)" in str(made)
    assert made.volume == pytest.approx(volume, rel=0.06)
    scene = {
        "settings": {"gravity": [0, 0, -9.81]},
        "geometries": made.geometries,
        "bodies": [
            {"name": "ring", "kind": "STATIC", "shapes": made.shapes()},
            {"name": "through", "position": [0, 0, 1], "shapes": [{"sphere": {"radius": 0.4}}]},
            {"name": "onto", "position": [1, 0, 1], "shapes": [{"sphere": {"radius": 0.1}}]},
        ],
    }
    world = World.create(client, scene)
    world.step(100)
    heights = world.state().pose.reshape(-1, 7)[-2:, 2]
    assert heights[0] == pytest.approx(1.0 - 9.81 * (100 / 240) ** 2 / 2.0, abs=0.02)  # nothing held it
    assert heights[1] > 0.35
    scene["geometries"] = geometry.hulls([points], name=made.names[0]).geometries
    scene["bodies"][0]["shapes"] = [{"hull": {"geometry": made.names[0]}}]
    solid = World.create(client, scene)
    solid.step(100)
    assert solid.state().pose.reshape(-1, 7)[-2, 2] > 0.4  # its hull has none


@pytest.mark.parametrize("name, content, words, options", [
    ("gone.stl", None, "no such file", {}),
    ("part.step", b"ISO", "reads no .step", {}),
    ("part", b"solid", "file without an ending", {}),
    ("empty.stl", b"", "no triangles", {}),
    ("text.stl", b"once upon a time", "no triangles", {}),
    ("text.obj", b"once upon a time", "no triangles", {}),
    ("text.glb", b"once upon a time", "is not read", {}),
    ("nan.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n", "1 point is not finite", {}),
    ("flat.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n", "in a plane", {}),
    ("three.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "no hull with a volume", {}),
    ("line.obj", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "no triangle with an area", {"surface": True}),
    ("big.obj", b"v 0 0 0\nv 1e5 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n", "is there a scale", {"scale": 1000}),
    ("any.obj", b"", "surface or decompose", {"surface": True, "decompose": True}),
    ("any.obj", b"", "only a surface is two-sided", {"two_sided": True}),
    ("any.obj", b"", "finite and not 0", {"scale": [1, 0, 1]}),
    ("any.obj", b"", "one number or three", {"scale": "big"}),
])
def test_bad_files_get_a_sentence(trimesh, tmp_path, name, content, words, options):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(geometry.GeometryError, match=re.escape(words)) as error:
        geometry.load(path, **options)
    assert path.stem in str(error.value) and "\n" not in str(error.value)


def test_what_is_not_installed_is_said(tmp_path):
    """And importing the package imports none of it."""
    script = """
import sys
import moreau_sim.geometry
assert not {"trimesh", "scipy", "coacd"} & set(sys.modules)
sys.modules.update(trimesh=None, coacd=None, scipy=None)
corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
for call in (lambda: moreau_sim.geometry.load("a.stl"), lambda: moreau_sim.geometry.hulls([corners])):
    try:
        call()
    except moreau_sim.geometry.GeometryError as error:
        print(error)
"""
    source = str(next(iter(geometry.__path__)) + "/../..")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={"PYTHONPATH": source})
    assert done.stdout.count("pip install 'moreau-sim[mesh]'") == 2, done.stderr
