# SPDX-License-Identifier: MIT
"""Scenes from URDF, which is read without MuJoCo: where links stand and how they begin to move, against MuJoCo; what is
repaired, and what is lost."""

import importlib.metadata
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from twin import Twin

from moreau_sim import World, __main__, importers
from moreau_sim.importers._findings import Findings
from moreau_sim.importers._inertias import physical, solid
from moreau_sim.importers._packages import Packages

SOURCE = pathlib.Path(importers.__file__).parents[2]
ARM = """<robot name="arm"><link name="foot"/>
  <link name="lower"><inertial><origin xyz="0 0 0.2" rpy="0.1 0 0"/><mass value="2"/>
  <inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0.001" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.1 0.1 0.4"/></geometry></collision></link>
  <link name="upper"><inertial><origin xyz="0 0 0.15"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="foot"/><child link="lower"/><origin xyz="0 0 0.1"/>
  <axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" effort="50" velocity="3"/><dynamics damping="0.3" friction="0"/></joint>
  <joint name="bend" type="continuous"><parent link="lower"/><child link="upper"/><origin xyz="0 0 0.4" rpy="0 0.2 0"/>
  <axis xyz="0 1 0"/></joint>
  <transmission name="gearbox"/></robot>"""

def inertial(mass, xx, yy, zz, xyz="0 0 0", rpy="0 0 0", xy=0.0):
    return (
        f'<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="0" iyz="0"/></inertial>'
    )


# of every kind of joint one, frames that are turned everywhere, and links that others are fixed to
TREE = f"""<robot name="tree"><link name="rail"/>
  <link name="sled">{inertial(3, 0.02, 0.03, 0.04, "0.1 0 0", "0.3 0.2 0.1", 0.002)}</link>
  <link name="mast">{inertial(1, 0.01, 0.011, 0.004, "0 0 0.3")}</link>
  <link name="lamp">{inertial(0.4, 0.001, 0.002, 0.0025, "0 0.02 0", "1 2 3")}</link>
  <link name="frame"/>
  <link name="plate">{inertial(0.7, 0.003, 0.002, 0.004)}</link>
  <link name="wheel">{inertial(0.5, 0.001, 0.001, 0.0018, "0 0.01 0")}</link>
  <link name="rim">{inertial(0.2, 0.001, 0.002, 0.0025, "0 0.02 0.01", "1 2 3")}</link>
  <link name="bird">{inertial(0.3, 0.001, 0.002, 0.0015, "0.01 0.02 0.03", "0.5 0 0")}</link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="sled"/>
    <origin xyz="1 2 3" rpy="0.1 -0.4 0.9"/><axis xyz="1 2 -1"/><limit lower="-1" upper="1" effort="10"/>
    <dynamics damping="0.7" friction="0.2"/></joint>
  <joint name="stand" type="fixed"><parent link="sled"/><child link="mast"/><origin xyz="0 0 0.1" rpy="0 0 1"/></joint>
  <joint name="hang" type="fixed"><parent link="mast"/><child link="lamp"/><origin xyz="0 0.2 0.5" rpy="1 0 2"/></joint>
  <joint name="weld" type="fixed"><parent link="wheel"/><child link="rim"/><origin xyz="0.1 0 0" rpy="2 0 1"/></joint>
  <joint name="hold" type="fixed"><parent link="lamp"/><child link="frame"/><origin xyz="0.1 0 0" rpy="0 1 0"/></joint>
  <joint name="float" type="floating"><parent link="rail"/><child link="bird"/><origin xyz="0 0 5"/></joint>
  <joint name="table" type="planar"><parent link="frame"/><child link="plate"/>
    <origin xyz="0 0 0.3" rpy="0.2 0.3 0.4"/><axis xyz="1 -2 3"/></joint>
  <joint name="spin" type="continuous"><parent link="plate"/><child link="wheel"/>
    <origin xyz="0.2 0 0" rpy="0 0 -1"/><axis xyz="0 0 -1"/></joint></robot>"""
# legs by two joints with nothing between, and a hand that has shapes and no mass
LIGHT = f"""<robot name="light"><link name="hip"/><link name="between"/>
  <link name="thigh">{inertial(2, 0.02, 0.02, 0.005, "0 0 -0.2")}</link>
  <link name="hand"><collision><geometry><cylinder radius="0.05" length="0.2"/></geometry></collision></link>
  <link name="tip"/>
  <joint name="a" type="continuous"><parent link="hip"/><child link="between"/><axis xyz="1 0 0"/></joint>
  <joint name="b" type="continuous"><parent link="between"/><child link="thigh"/><axis xyz="0 1 0"/></joint>
  <joint name="c" type="continuous"><parent link="thigh"/><child link="hand"/><origin xyz="0 0 -0.4"/></joint>
  <joint name="d" type="continuous"><parent link="hand"/><child link="tip"/><origin xyz="0 0 0.2"/></joint></robot>"""


@pytest.fixture
def mujoco(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes a log where it stands
    return pytest.importorskip("mujoco", reason="MuJoCo judges (pip install mujoco)")


def write(folder, text, name="robot.urdf"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def judge(mujoco, path, imported, *, free_base=False):
    """The robot as MuJoCo takes it: without shapes, and the links of bodies that were repaired, or that it refuses,
    weighing together what they do here."""
    named = {note.split(":")[0] for note in imported.notes}
    # 3.2 takes no notice of how the axes of an inertia are turned
    is_old = tuple(map(int, mujoco.__version__.split(".")[:2])) < (3, 3)
    owners = {place.body for link, place in imported.bodies.items() if is_old or link in named}
    while True:
        root = ElementTree.parse(path).getroot()
        is_fused = free_base or any(joint.get("type") == "floating" for joint in root.findall("joint"))
        settings = ElementTree.SubElement(root, "mujoco")
        ElementTree.SubElement(settings, "compiler", fusestatic=str(is_fused).lower())
        for link in root.findall("link"):
            for element in [*link.findall("visual"), *link.findall("collision")]:
                link.remove(element)
            if imported.bodies[link.get("name")].body in owners:
                weigh(link, imported)
        if free_base:
            stand_free(root)
        try:
            return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
        except ValueError as error:
            refused = re.search("Element name '([^']*)'", str(error))
            owner = imported.bodies[refused[1]].body if refused and refused[1] in imported.bodies else None
            if owner is None or owner in owners:
                raise
            owners.add(owner)


def weigh(link, imported):
    for element in link.findall("inertial"):
        link.remove(element)
    body = next((body for body in imported.json["bodies"] if body["name"] == link.get("name")), {})
    if "mass" in body:
        element = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(element, "origin", xyz=" ".join(map(repr, body["center_of_mass"])))
        ElementTree.SubElement(element, "mass", value=repr(body["mass"]))
        names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        ElementTree.SubElement(element, "inertia", dict(zip(names, map(repr, body["inertia"]))))


def stand_free(root):
    children = {joint.find("child").get("link") for joint in root.findall("joint")}
    base = next(link.get("name") for link in root.findall("link") if link.get("name") not in children)
    ElementTree.SubElement(root, "link", name="the world of it")
    joint = ElementTree.SubElement(root, "joint", name="free of it", type="floating")
    ElementTree.SubElement(joint, "parent", link="the world of it")
    ElementTree.SubElement(joint, "child", link=base)


def compare(mujoco, client, path, *, draws=5, **options):
    """The largest errors of poses, and of accelerations as a share of the largest one."""
    model = judge(mujoco, path, importers.load(path, **options), free_base=options.get("free_base", False))
    twin = Twin(mujoco, client, path, model=model, **options)
    rng = np.random.default_rng(7)
    poses, shares = [], []
    for _ in range(draws):
        twin.draw(rng)
        poses.append(twin.pose_error())
        worst, size = twin.acceleration_error()
        shares.append(worst / max(size, 1.0))
    return max(poses), max(shares), twin


FREE = ARM.replace('<link name="foot"/>', f'<link name="foot">{inertial(4, 0.1, 0.2, 0.15, "0 0.1 0")}</link>')


@pytest.mark.parametrize("text, free_base", [(ARM, False), (FREE, True), (TREE, False), (LIGHT, False), (LIGHT, True)])
def test_links_stand_and_begin_to_move_as_in_mujoco(mujoco, client, tmp_path, text, free_base):
    poses, share, twin = compare(mujoco, client, write(tmp_path, text), free_base=free_base)
    assert poses < 1e-9 and share < 1e-6
    assert len(twin.names) == len({place.body for place in twin.imported.bodies.values()} - {"world"})


def test_it_is_read_without_mujoco(tmp_path):
    write(tmp_path, "raise ImportError('not here')\n", "mujoco.py")
    path = write(tmp_path, TREE)
    words = [sys.executable, "-m", "moreau_sim", "import", path]
    environment = {"PYTHONPATH": f"{tmp_path}:{SOURCE}", "PATH": ""}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "usable: nothing physical is lost"


def test_a_scene_of_a_robot_is_one_that_the_server_takes(client, tmp_path, capsys):
    path, scene = write(tmp_path, TREE), tmp_path / "scene.json"
    assert __main__.main(["import", str(path), "-o", str(scene)]) == 0
    assert World.create(client, scene).step(10).reports.converged.all()
    joints = {joint["name"]: joint for joint in importers.load(path).json["joints"]}
    assert joints["slide"] | {"low": [-1], "high": [1], "damping": [0.7], "friction": [0.2]} == joints["slide"]
    assert joints["slide"]["effort_max"] == [10] and joints["table"]["axes"] == ["MOVE_X", "MOVE_Y", "TURN_Z"]
    (slide, spin) = importers.load(path).controls
    assert (slide.low, slide.high, spin.high) == (-10, 10, np.inf)


def test_what_a_robot_has_beside_its_links_is_listed(tmp_path):
    imported = importers.load(write(tmp_path, ARM))
    said = "\n".join(imported.unsupported)
    assert "limits of velocity" in said and "turn" in said and "<transmission> of URDF: gearbox" in said
    assert imported.controls[0].velocity_max == 3
    assert imported.verdict == "usable: nothing physical is lost"
    assert not any(loss.is_physical for loss in imported.losses)


MESHES = f"""<robot name="m"><link name="base"/><link name="arm">{inertial(1, 1, 1, 1)}
  <visual><geometry><mesh filename="package://nowhere/nothing.stl"/></geometry></visual>
  <collision><geometry><mesh filename="package://robots/meshes/here.stl"/></geometry></collision>
  <collision><geometry><mesh filename="package:///meshes/gone.stl"/></geometry></collision>
  <collision><geometry><box size="1 2 3"/></geometry></collision></link>
  <link name="tip">{inertial(3, 1, 1, 1)}<collision><geometry><sphere radius="1"/></geometry></collision></link>
  <joint name="a" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="b" type="continuous"><parent link="arm"/><child link="tip"/><mimic joint="gone"/></joint></robot>
  """


def test_what_is_lost_has_a_weight(tmp_path):
    path = write(tmp_path, MESHES, "robots/urdf/m.urdf")
    write(tmp_path, "solid", "robots/meshes/here.stl")
    imported = importers.load(path)
    meshes, mimic = (loss for loss in imported.losses if loss.is_physical)
    assert meshes.geometry == 0.5 and meshes.mass == 0 and str(meshes).endswith("(50 % of collision geometry)")
    assert mimic.mass == 0.75 and "'gone', which is no joint" in mimic.sentence
    assert imported.verdict == "lost, or other than in the model: 75 % of mass, 50 % of collision geometry"
    # of a mesh that is only seen nobody asks
    notes = "\n".join(imported.notes)
    assert "not found: package:///meshes/gone.stl" in notes and "nothing.stl" not in notes
    # and why one that is there touches nothing
    assert ("here.stl: there are no triangles" in notes) != ("pip install 'moreau-sim[mesh]'" in notes)


@pytest.mark.parametrize("new, words", [("c", "'c', which is no joint"), ("b", "not one number")])
def test_followers_of_nothing_move_by_themselves(tmp_path, new, words):
    text = MESHES.replace('<mimic joint="gone"/>', f'<mimic joint="{new}"/>')
    imported = importers.load(write(tmp_path, text))
    assert any(words in loss.sentence and loss.mass == 0.75 for loss in imported.losses)
    assert [joint["name"] for joint in imported.json["joints"]] == ["a", "b"]


def test_losses_that_are_of_the_same_things_count_once():
    findings = Findings()
    for k in range(4):
        findings.has("geometry", k)
    findings.add("one", of=[("geometry", 0, 1.0), ("geometry", 1, 1.0)])
    findings.add("other", of=[("geometry", 1, 1.0)])
    findings.add("sensors", physical=False)
    assert findings.verdict() == "lost, or other than in the model: 50 % of collision geometry"
    findings.add("what nobody can weigh")
    assert findings.verdict().endswith("50 % of collision geometry and 1 thing whose weight is not known")


def test_packages_are_found_where_they_may_be(tmp_path, monkeypatch):
    urdf = write(tmp_path, "", "ws/robots/go/urdf/go.urdf")
    beside = write(tmp_path, "", "ws/robots/go/meshes/a.stl")
    given = write(tmp_path, "", "else/where/pkg/b c.stl")
    ros = write(tmp_path, "", "ros/share/other/c.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path}/ros/share")
    packages = Packages(urdf, [tmp_path / "else/where"])
    assert packages.find("package://go/meshes/a.stl") == beside  # a folder above that is called so
    assert packages.find("package://robots/go/meshes/a.stl") == beside
    assert packages.find("package:///go/meshes/a.stl") == beside
    assert packages.find("../meshes/a.stl").samefile(beside)
    assert packages.find(beside.as_uri()) == packages.find(str(beside)) == beside
    assert packages.find("package://pkg/b%20c.stl") == given
    assert packages.find("package://other/c.stl") == ros
    assert packages.find("package://other/d.stl") is None
    assert Packages(urdf, [tmp_path / "else/where/pkg"]).find("package://pkg/b c.stl") == given


@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_a_follower_is_a_gear_and_its_offset_a_length(client, tmp_path, offset):
    mimic = f'<mimic joint="slide" multiplier="-2" offset="{offset}"/>'
    text = TREE.replace('<axis xyz="0 0 -1"/>', f'<axis xyz="0 0 -1"/>{mimic}')
    imported = importers.load(write(tmp_path, text))
    assert imported.verdict.startswith("usable")
    assert [control.name for control in imported.controls] == ["slide"]
    world = World.create(client, imported.scene)
    for _ in range(5):
        world.step(20)
        numbers = dict(zip((joint["name"] for joint in imported.json["joints"]), range(9)))
        assert list(numbers) == ["slide", "table", "spin", "spin follows slide"]
        position = world.joints().position
        assert position[4] == pytest.approx(offset - 2 * position[0], abs=1e-6)
    assert abs(position[0]) > 0.01


def test_who_follows_what_does_not_move_stays(client, tmp_path):
    text = TREE.replace('<axis xyz="0 0 -1"/>', '<axis xyz="0 0 -1"/><mimic joint="hang" offset="0.4"/>')
    imported = importers.load(write(tmp_path, text))
    assert imported.verdict.startswith("usable")
    world = World.create(client, imported.scene)
    world.step(100)
    assert world.joints().position[4] == pytest.approx(0.4, abs=1e-9)


def test_joints_begin_within_their_limits(client, tmp_path):
    text = ARM.replace('lower="-1" upper="2"', 'lower="0.5" upper="2"')
    imported = importers.load(write(tmp_path, text))
    assert World.create(client, imported.scene).joints().position == pytest.approx([0.5, 0])
    assert any("begin where their limits do" in note and "turn" in note for note in imported.notes)


@pytest.mark.parametrize("touches_itself", [False, True])
def test_an_arm_does_not_touch_what_it_stands_on(client, tmp_path, touches_itself):
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    text = ARM.replace('<link name="foot"/>', f'<link name="foot">{box}</link>')
    imported = importers.load(write(tmp_path, text), self_collisions=touches_itself)
    assert [body.get("kind") for body in imported.json["bodies"]] == ["STATIC", None, None]
    # and something that is no part of it
    imported.json["bodies"].append({"position": [0, 0, 0.5], "shapes": [{"sphere": {"radius": 0.1}}]})
    world = World.create(client, imported.json)
    world.step(1)
    touching = client.world_contacts(world=world.id)
    pairs = {tuple(sorted(pair)) for pair in zip(touching.body_a.tolist(), touching.body_b.tolist())}
    foot, lower, upper, other = world.ids
    # the lower link stands in the middle of the foot, and so does the upper one, which hangs on the lower
    assert (foot, lower) not in pairs and (lower, upper) not in pairs
    assert ((foot, upper) in pairs) == touches_itself
    assert {(foot, other), (upper, other)} <= pairs
    assert any("do not touch each other" in note for note in imported.notes) == (not touches_itself)


# ---- repairs


@pytest.mark.parametrize(
    "given, made, words",
    [
        ([1.0, 2.0, 2.5], [1.0, 2.0, 2.5], ""),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], ""),  # a plate
        ([0.95, 2.0, 3.0], [0.975, 2.025, 3.0], "by 1.7 %"),
        ([-1.0, 2.0, 2.0], [0.0, 2.5, 2.5], "negative moment (-1)"),
        ([0.0, 0.0, 1.0], [0.5, 0.5, 1.0], "by 100 %"),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], ""),
    ],
)
def test_inertias_become_those_of_bodies(given, made, words):
    turned, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    for axes in (np.eye(3), turned):
        better, wrong = physical(axes @ np.diag(given) @ axes.T, 1.0)
        assert better == pytest.approx(axes @ np.diag(made) @ axes.T, abs=1e-8)
        assert words in wrong and bool(wrong) == bool(words)


def test_solids_weigh_what_they_do_in_the_server(client, tmp_path):
    forms = [
        {"sphere": {"radius": 0.3}},
        {"box": {"half_extents": [0.1, 0.2, 0.3]}},
        {"cylinder": {"radius": 0.2, "half_length": 0.4}},
        {"capsule": {"radius": 0.2, "half_length": 0.4}},
    ]
    world = World.create(client, {"bodies": [{"name": str(k), "shapes": [form]} for k, form in enumerate(forms)]})
    known = client.world_get(world=world.id, definition=True)
    for k, form in enumerate(forms):
        weight = solid(form)
        assert weight.mass == pytest.approx(known.mass[k], rel=1e-12)
        assert np.diag(weight.inertia) == pytest.approx(known.inertia[6 * k : 6 * k + 3], rel=1e-12)


def test_repairs_are_said_or_refused(client, tmp_path, capsys):
    text = ARM.replace('ixx="0.01" iyy="0.01" izz="0.002"', 'ixx="0.004" iyy="0.0057" izz="0.01"')
    path = write(tmp_path, text)
    (note,) = (note for note in importers.load(path).notes if note.startswith("upper"))
    words = "upper: inertia violates the triangle inequality by 3 %"
    assert note == f"{words}: moments 0.004, 0.0057, 0.01 made 0.00415, 0.00585, 0.01"
    World.create(client, importers.load(path).scene)
    with pytest.raises(importers.ImportFailed, match="upper: inertia violates"):
        importers.load(path, strict=True)
    assert __main__.main(["import", str(path), "--strict"]) == 1
    assert __main__.main(["import", str(path)]) == 0
    assert f"note: {note}" in capsys.readouterr().err


def test_links_without_mass_have_little(client, tmp_path):
    imported = importers.load(write(tmp_path, LIGHT))
    mass = {body["name"]: body["mass"] for body in imported.json["bodies"]}
    assert mass["hand"] == pytest.approx(1000 * np.pi * 0.05**2 * 0.2)
    assert mass["between"] == pytest.approx(1e-6 * (2 + mass["hand"] + mass["tip"]))
    assert mass["tip"] == pytest.approx(1e-4 * 2)
    for name in ("between", "hand", "tip"):
        assert any(note.startswith(f"{name}: moves and has no") for note in imported.notes)
    with pytest.raises(importers.ImportFailed, match="between"):
        importers.load(tmp_path / "robot.urdf", strict=True)
    # and a point, which has no inertia
    text = ARM.replace('ixx="0.01" iyy="0.01" izz="0.002"', 'ixx="0" iyy="0" izz="0"')
    assert any("at no effort" in note for note in importers.load(write(tmp_path, text)).notes)


@pytest.mark.parametrize(
    "old, new, words",
    [
        ('<parent link="foot"/>', '<parent link="hand"/>', "'hand'"),
        ('type="revolute"', 'type="screw"', "'screw'"),
        ('<mass value="2"/>', '<mass value="heavy"/>', "lower: <mass value='heavy'> is not a number"),
        ('xyz="0 0 0.2"', 'xyz="0 0"', "3 numbers"),
        ('name="bend"', 'name="turn"', "two joints are called turn"),
        ('<link name="upper">', '<link name="lower">', "two links are called lower"),
        ('<child link="upper"/>', '<child link="lower"/>', "lower hangs on two joints, turn and bend"),
        ('<parent link="foot"/>', '<parent link="upper"/>', "in a circle: bend, turn"),
        ('<link name="foot"/>', "<link/>", "a link has no name"),
    ],
)
def test_what_is_no_robot_is_refused_with_a_sentence(tmp_path, old, new, words):
    assert old in ARM
    path = write(tmp_path, ARM.replace(old, new, 1))
    with pytest.raises(importers.ImportFailed) as caught:
        importers.load(path)
    assert str(caught.value).startswith(str(path)) and words in str(caught.value)


# ---- xacro

MACROS = """<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="1"/>
  <xacro:include filename="$(find parts)/foot.xacro"/><xacro:foot/><link name="top"><inertial>
  <mass value="${2 * $(arg mass)}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="foot"/><child link="top"/></joint></robot>"""
FOOT = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="foot"><link name="foot"/></xacro:macro>
  </robot>"""


def test_macros_are_expanded(tmp_path, capsys):
    pytest.importorskip("xacro", reason="macros are expanded by it (pip install xacro)")
    path = write(tmp_path, MACROS, "robots/x.urdf.xacro")
    with pytest.raises(importers.ImportFailed, match="no folder of a package parts"):
        importers.load(path)
    write(tmp_path, FOOT, "others/parts/foot.xacro")
    imported = importers.load(path, package_path=[tmp_path / "others"], arguments={"mass": "3"})
    assert imported.json["bodies"][0]["mass"] == 6
    words = ["import", str(path), "--package-path", str(tmp_path / "others"), "--arg", "mass=4"]
    assert __main__.main(words) == 0
    assert '"mass": 8.0' in capsys.readouterr().out


def test_without_the_package_of_macros_a_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(importers.ImportFailed, match="pip install xacro"):
        importers.load(write(tmp_path, MACROS, "x.xacro"))


# ---- real ones


def test_robots_that_people_have(mujoco, client):
    """The table in the README. Who installs example-robot-data beside MuJoCo has it compared."""
    try:
        distribution = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the robots are those of a package (pip install example-robot-data)")
    files = sorted(distribution.locate_file(file) for file in distribution.files or () if file.suffix == ".urdf")
    imported, whole, alike, shares = [], [], [], []
    for path in files:
        try:
            one = importers.load(path)
        except importers.ImportFailed as error:
            print(error)
            continue
        imported.append(path)
        whole += [path] if one.verdict.startswith("usable") else []
        for scene in (one.json, importers.load(path, free_base=True).json):
            # meshes are judged elsewhere: of some the server builds no hull yet
            for body in scene["bodies"]:
                body["shapes"] = [shape for shape in body.get("shapes", []) if "hull" not in shape]
            scene.pop("geometries", None)
            world = World.create(client, scene)
            assert world.step(50).reports.converged.all(), path
            client.world_destroy(world=world.id)
        if not one.joints:
            alike.append(path)
            continue
        poses, share, _ = compare(mujoco, client, path, draws=2)
        shares.append(share)
        if poses < 1e-9 and share < 1e-6:
            alike.append(path)
        else:
            print(f"{path}: poses differ by {poses:.2g}, accelerations by {share:.2g}")
    print(f"{len(files)} files: {len(imported)} imported, {len(whole)} lose nothing physical, {len(alike)} accelerate")
    print(f"as in MuJoCo: differences at most {max(shares):.2g}, median {np.median(shares):.2g}")
    assert len(files) >= 69 and len(imported) >= len(files) - 1  # ur3.urdf has nothing in it
    assert len(alike) == len(imported) and len(whole) >= 18


def test_two_robots_in_one_scene_touch_where_each_has_a_group(tmp_path):
    path = tmp_path / "leg.urdf"
    path.write_text(
        """<robot name="leg"><link name="foot"><inertial><mass value="1"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""
    )

    def shape(**options):
        [body] = importers.load(path, free_base=True, **options).json["bodies"]
        return body["shapes"][0]

    def touch(a, b):
        return bool(a["group"] & b["mask"] and b["group"] & a["mask"])

    first, second = shape(), shape(collision_group=2)
    assert not touch(first, first) and not touch(second, second) and not touch(first, shape())
    assert touch(first, second)
    with pytest.raises(ValueError, match="0 to 31, not 32"):
        importers.load(path, collision_group=32)
