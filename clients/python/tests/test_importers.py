# SPDX-License-Identifier: MIT
"""Scenes from MJCF: where bodies stand and how they begin to move, against MuJoCo itself. (URDF: test_urdf.py.)"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from twin import Twin

import moreau_sim.group
from moreau_sim import World, __main__, importers
from moreau_sim import protocol as p
from moreau_sim.importers import _poses

SOURCE = pathlib.Path(importers.__file__).parents[2]
PENDULUM = """<mujoco><option timestep="0.01"/><worldbody><body name="arm" pos="0 0 1" euler="0 20 0">
  <joint name="swing" axis="0 1 0.2" ref="15" springref="-30" stiffness="3" damping="0.1" armature="0.02"
  frictionloss="0.5" range="-90 120"/>
  <geom name="rod" type="capsule" fromto="0 0 0 0.1 0 -0.6" size="0.03"/>
  <site name="tip"/></body></worldbody></mujoco>"""
CART = """<mujoco><worldbody><body name="cart"><joint name="rail" type="slide" axis="1 0 0" range="-1 1"/>
  <geom type="box" size="0.2 0.1 0.05"/>
  <body name="pole"><joint name="hinge" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 1" size="0.02"/></body></body></worldbody></mujoco>"""
# turns that do not meet, a ball, a free body, a move after a turn, and something welded on
MIXED = """<mujoco><worldbody>
  <body name="base" pos="0 1 2"><freejoint name="fly"/><geom type="box" size="0.1 0.2 0.3"/>
    <body name="welded" pos="0.3 0 0" euler="10 20 30"><geom size="0.05"/>
      <body name="shoulder" pos="0 0.2 0"><joint name="a" axis="1 0 0"/><joint name="b" axis="1 1 0"/>
      <joint name="c" axis="0 0 1" pos="0.1 0 0" ref="20"/>
        <joint name="d" type="slide" axis="0 -1 0" ref="0.1"/><geom type="capsule" size="0.04 0.2"/>
        <body name="hand" pos="0 0 0.4"><joint name="ball" type="ball" damping="0.1" armature="0.01"/>
        <geom type="capsule" size="0.05 0.1"/></body></body></body></body>
  <body name="planar"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
  <joint name="turn" axis="0 -1 0"/>
    <geom type="capsule" size="0.05 0.3"/></body>
  <geom type="plane" size="1 1 1" pos="0 0 -9"/></worldbody></mujoco>"""
# a cart that the floor lets through, and what it carries not
FERRY = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><geom size="1" pos="3 0 0"/><geom size="1" pos="-3 0 0"/>
  <body name="cart"><joint name="rail" type="slide"/><geom type="box" size="1 1 1" contype="0" conaffinity="0"/>
  <body name="pole"><joint name="hinge"/><geom type="box" size="1 1 1"/></body></body></worldbody></mujoco>"""
TEXTS = {"ferry": FERRY, "pendulum": PENDULUM, "cart-pole": CART, "mixed": MIXED}
GYMNASIUM = ("ant", "humanoid", "half_cheetah", "walker2d_v5", "inverted_double_pendulum")


@pytest.fixture
def mujoco(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes a log where it stands
    return pytest.importorskip("mujoco", reason="without MuJoCo's parser (pip install mujoco) nothing is imported")


def model_file(name, folder):
    if name in GYMNASIUM:
        gymnasium = pytest.importorskip("gymnasium", reason="its models come with Gymnasium (pip install gymnasium)")
        return pathlib.Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"
    path = folder / f"{name}.xml"
    path.write_text(TEXTS[name])
    return path


@pytest.mark.parametrize("name", [*TEXTS, *GYMNASIUM])
def test_bodies_stand_and_begin_to_move_as_in_mujoco(mujoco, client, tmp_path, name):
    twin = Twin(mujoco, client, model_file(name, tmp_path))
    moving = twin.model.body_mass[twin.model.body_weldid != 0].sum()
    assert client.world_get(world=twin.world.id, definition=True).mass.sum() == pytest.approx(moving, rel=1e-14)
    free = sum(kind == 0 for kind in twin.model.jnt_type)
    assert len(twin.imported.joints) == twin.model.njnt - free
    twin.mujoco.mj_forward(twin.model, twin.data)
    assert twin.pose_error() < 1e-9
    rng = np.random.default_rng(7)
    for _ in range(5):
        twin.draw(rng)
        assert twin.pose_error() < 1e-9
        worst, size = twin.acceleration_error()
        assert worst < 1e-6 * max(size, 1.0)


def test_controls_do_what_they_do_in_mujoco(mujoco, client, tmp_path):
    path = tmp_path / "driven.xml"
    path.write_text(CART.replace("</mujoco>", """<actuator>
      <motor joint="rail" gear="7" ctrlrange="-1 1" name="push"/>
      <position joint="hinge" kp="30" kv="2" gear="1.5" name="hold" forcerange="-4 4"/>
      <velocity joint="hinge" kv="3" gear="-2" name="turn"/></actuator></mujoco>"""))
    twin = Twin(mujoco, client, path)
    controls = {control.name: control for control in twin.imported.controls}
    assert list(controls) == ["push", "hold", "turn"]
    assert (controls["push"].low, controls["push"].high) == (-1.0, 1.0)
    rng = np.random.default_rng(3)
    for _ in range(4):
        twin.data.ctrl[:] = rng.normal(size=3) * [1.0, 0.02, 0.02]
        twin.draw(rng)
        twin.data.qpos[1] *= 0.02  # forces within what they are bounded by
        twin.data.qvel[1] *= 0.02
        twin.mujoco.mj_forward(twin.model, twin.data)
        twin.write()
        columns = {name: np.zeros(2) for name in ("effort", "target", "target_velocity")}
        for control, number in zip(twin.imported.controls, twin.data.ctrl):
            number = np.clip(number, control.low, control.high)
            columns[control.quantity][twin.at[control.joint][1] + control.axis] += control.scale * number
        client.world_set(
            world=twin.world.id, joints=[1, 2], **{f"joint_{name}": column for name, column in columns.items()}
        )
        worst, size = twin.acceleration_error()
        assert worst < 1e-6 * size


def command(twin, client):
    """MuJoCo's control numbers, on top of what the scene begins with."""
    columns = {name: np.zeros(twin.axes) for name in ("effort", "target", "target_velocity")}
    for joint in twin.scene["joints"][: len(twin.at)]:
        for name, column in columns.items():
            for axis, number in enumerate(joint.get(name, [])):
                column[twin.at[joint["name"]][1] + axis] = number
    for control, number in zip(twin.imported.controls, twin.data.ctrl):
        number = np.clip(number, control.low, control.high)
        columns[control.quantity][twin.at[control.joint][1] + control.axis] += control.scale * number
    joints = np.arange(1, len(twin.at) + 1, dtype=np.uint64)
    client.world_set(
        world=twin.world.id, joints=joints, **{f"joint_{name}": column for name, column in columns.items()}
    )


# a gain of its own, with and without a constant; a bound of all that acts; two on one joint that is bounded
AFFINE = CART.replace("</mujoco>", """<actuator>
  <general name="own" joint="rail" gainprm="3" biastype="affine" biasprm="0.5 -20 -2" gear="1.5" forcerange="-9 9"/>
  <motor name="push" joint="hinge" gear="2"/>
  <general name="pull" joint="hinge" gainprm="7" biastype="affine" biasprm="-0.3 0 -4"/></actuator></mujoco>""")
AFFINE = AFFINE.replace('name="hinge"', 'name="hinge" actuatorfrcrange="-1.5 1.5"')


def test_affine_laws_and_their_bounds_are_those_of_mujoco(mujoco, client, tmp_path):
    path = tmp_path / "affine.xml"
    path.write_text(AFFINE)
    twin = Twin(mujoco, client, path)
    assert twin.imported.verdict == "usable: nothing physical is lost"
    assert [control.quantity for control in twin.imported.controls] == ["effort"] * 3
    (rail, hinge) = twin.imported.json["joints"]
    assert rail["stall_effort"] == [pytest.approx(1.5 * 9)] and hinge["stall_effort"] == [1.5]
    rng = np.random.default_rng(5)
    bounded = [0, 0]
    for _ in range(20):
        twin.data.ctrl[:] = rng.normal(size=3) * [1.0, 0.3, 0.1]
        twin.draw(rng)
        twin.data.qvel[:] *= 0.2
        twin.mujoco.mj_forward(twin.model, twin.data)
        twin.write()
        command(twin, client)
        worst, size = twin.acceleration_error()
        assert worst < 1e-6 * size
        bounded[0] += abs(twin.data.actuator_force[0]) == 9.0
        bounded[1] += abs(twin.data.qfrc_actuator[1]) == 1.5
    assert all(0 < count < 20 for count in bounded)


# MuJoCo's Euler and SYMPLECTIC are one along an axis where nothing is implicit: to rounding, the whole way
@pytest.mark.parametrize("early", ["false", "true"])
@pytest.mark.parametrize("bound", ["", 'forcerange="-50 50"'])
def test_an_activation_is_a_lag(mujoco, client, tmp_path, early, bound):
    path = tmp_path / "slow.xml"
    path.write_text(f"""<mujoco><option timestep="0.002"/><worldbody><body>
      <joint name="rail" type="slide" axis="1 0 0"/><geom size="0.1" mass="3"/></body></worldbody><actuator>
      <general name="push" joint="rail" dyntype="filterexact" dynprm="0.03" gainprm="90" actearly="{early}" {bound}/>
      </actuator></mujoco>""")
    twin = Twin(mujoco, client, path)
    assert twin.imported.verdict == "usable: nothing physical is lost"
    (joint,) = twin.imported.json["joints"]
    assert (joint["lag_time"], joint["delay_steps"]) == ([0.03], [0.0 if early == "true" else 1.0])
    twin.world = World.create(client, twin.scene, time_step=0.002)
    rng = np.random.default_rng(2)
    for step in range(200):
        if step % 10 == 0:
            twin.data.ctrl[:] = rng.normal()
            command(twin, client)
        twin.mujoco.mj_step(twin.model, twin.data)
        twin.world.step(1)
        position = client.world_get(world=twin.world.id, joints=True).joint_position
        assert position == pytest.approx(twin.data.qpos, abs=1e-13)
    assert abs(twin.data.qpos[0]) > 0.01


def test_what_lags_otherwise_on_one_joint_is_listed(mujoco, tmp_path):
    path = tmp_path / "two.xml"
    path.write_text(CART.replace("</mujoco>", """<actuator>
      <position name="quick" joint="rail" kp="5" timeconst="0.1"/><motor name="at once" joint="rail"/>
      <general name="wide" joint="hinge" dyntype="filter" dynprm="1" actlimited="true" actrange="-1 1"/>
      <general name="up" joint="hinge" gainprm="1" biastype="affine" biasprm="0 1 0"/></actuator></mujoco>"""))
    imported = importers.load(path)
    assert [sentence for sentence in imported.unsupported if "act" in sentence] == [
        "actuators that lag otherwise than another of their joint do nothing: at once",
        "ranges of activation: wide",
        "actuators whose force grows with place or velocity do nothing: up",
    ]


def test_what_is_held_against_gravity_as_a_whole_falls_less(mujoco, client, tmp_path):
    path = tmp_path / "light.xml"
    path.write_text(CART.replace('<body name="cart"', '<body name="cart" gravcomp="0.75"').replace(
        '<body name="pole"', '<body name="pole" gravcomp="0.75"'))
    twin = Twin(mujoco, client, path)
    assert twin.imported.verdict == "usable: nothing physical is lost"
    twin.draw(np.random.default_rng(4))
    worst, size = twin.acceleration_error()
    assert worst < 1e-6 * size


LIGHTER = """<mujoco><option gravity="1 2 -9" timestep="0.002" integrator="{integrator}"/><worldbody>
  <body name="base" euler="10 20 30" gravcomp="{share}"><freejoint name="base"/><geom type="box" size="0.1 0.2 0.3"/>
    <body name="arm" pos="0.3 0 0" gravcomp="1"><joint name="arm" axis="0 1 1"/>
      <geom type="box" size="0.2 0.02 0.05" pos="0.2 0 0"/>
      <body name="weight" pos="0.5 0.1 0" euler="0 40 0" gravcomp="0.5"><geom size="0.1" pos="0 0.05 0.1"/></body>
      <body name="hand" pos="0.4 0 0"><joint name="hand" type="ball"/><geom size="0.06" pos="0.1 0 0"/></body></body>
    <body name="tail" pos="-0.3 0 0" gravcomp="-0.4"><joint name="tail" axis="1 0 1"/>
      <geom type="capsule" size="0.02 0.2" pos="0 0 -0.2"/></body></body>
  <body name="post" pos="2 0 0" gravcomp="1.2"><joint name="post" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_what_is_held_against_gravity_body_by_body_falls_as_in_mujoco(mujoco, client, tmp_path, share):
    path = tmp_path / "lighter.xml"
    path.write_text(LIGHTER.format(share=share, integrator="Euler"))
    twin = Twin(mujoco, client, path)
    assert twin.imported.verdict == "usable: nothing physical is lost"
    assert any("gravity compensation that differs" in note for note in twin.imported.notes)
    rng = np.random.default_rng(4)
    for _ in range(5):
        twin.draw(rng)
        worst, size = twin.acceleration_error()
        assert worst < 1e-6 * size


def test_what_actuators_hold_against_gravity_is_listed(mujoco, tmp_path):
    path = tmp_path / "lighter.xml"
    text = LIGHTER.format(share=0, integrator="Euler")
    path.write_text(text.replace('<joint name="arm"', '<joint name="arm" actuatorgravcomp="true"'))
    imported = importers.load(path)
    assert any("gravity compensation by actuators: arm" in sentence for sentence in imported.unsupported)
    assert not any(joint.get("as_rows") for joint in imported.json["joints"])


def test_what_hangs_in_balance_stays(client, tmp_path, mujoco):
    path = tmp_path / "lighter.xml"
    path.write_text("""<mujoco><option gravity="0 0 -9.81"/><worldbody>
      <body name="held" pos="0 0 1" gravcomp="1"><freejoint/><geom size="0.1"/></body>
      <body name="falls" pos="1 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>""")
    imported = importers.load(path)
    world = World.create(client, imported.json, time_step=0.01)
    world.step(100)
    state = world.state()
    assert state.pose[0, :3] == pytest.approx([0, 0, 1], abs=1e-12)
    assert state.pose[1, 2] == pytest.approx(1 - 9.81 * 1e-4 * 100 * 101 / 2, abs=1e-9)


@pytest.mark.parametrize("name", ["ferry", "mixed", "ant", "humanoid", "half_cheetah"])
def test_those_touch_that_touch_in_mujoco(mujoco, tmp_path, name):
    path = model_file(name, tmp_path)
    imported, model = importers.load(path), mujoco.MjModel.from_xml_path(str(path))
    # with margins beyond everything its collision finds whatever its filters let through
    model.geom_margin[:] = 1e3
    if hasattr(model, "body_margin"):
        model.body_margin[:] = 1e3
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    touching = {tuple(sorted(map(int, contact.geom))) for contact in data.contact[: data.ncon]}
    place = []  # of each geom: its body here, and its shape
    seen = {}
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        owner = imported.bodies[model.body(body).name or f"body {body}"].body if body else "world"
        shapes = next(one for one in imported.json["bodies"] if one["name"] == owner)["shapes"]
        place.append((owner, shapes[seen.setdefault(owner, 0)]))
        seen[owner] += 1
    joined = {frozenset((joint.get("body_a"), joint["body_b"])) for joint in imported.json["joints"]}
    compared = 0
    for a in range(model.ngeom):
        for b in range(a):
            (body_a, one), (body_b, other) = place[a], place[b]
            if body_a != body_b and frozenset((body_a, body_b)) not in joined:
                here = one.get("group", 1) & other.get("mask", 2**32 - 1) and other.get("group", 1) & one.get(
                    "mask", 2**32 - 1
                )
                assert bool(here) == ((b, a) in touching), (model.geom(a).name, model.geom(b).name)
                compared += 1
            else:
                assert (b, a) not in touching
    assert compared > 4


def test_what_acts_along_an_axis_comes_along(mujoco, tmp_path):
    imported = importers.load(model_file("pendulum", tmp_path))
    (joint,) = imported.json["joints"]
    rad = np.pi / 180
    expected = {"low": -90 * rad, "high": 120 * rad, "stiffness": 3, "rest": -30 * rad, "damping": 0.1, "friction": 0.5}
    expected |= {"armature": 0.02, "position": 15 * rad}
    assert {name: joint[name] for name in expected} == {
        name: [pytest.approx(number, rel=1e-14)] for name, number in expected.items()
    }
    assert imported.unsupported == ["sites (1)"]
    assert imported.json["settings"]["time_step"] == 0.01


def test_what_a_scene_cannot_say_is_listed(mujoco, tmp_path):
    path = tmp_path / "odd.xml"
    path.write_text("""<mujoco><option integrator="RK4" density="1.2" wind="1 0 0"/><worldbody><body name="b">
    <joint name="j" stiffness="1"/>
      <geom name="tin" type="cylinder" size="0.1 0.2" margin="0.01"/>
      <geom name="ball" size="0.1" condim="6" friction="0.5"/></body>
      <body name="c" pos="1 0 0"><joint name="k" type="ball" range="0 30" limited="true"/>
      <geom name="egg" type="ellipsoid" size="0.1 0.2 0.3"/></body></worldbody>
      <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed><fixed name="s"><joint joint="j" coef="2"/></fixed>
      </tendon><equality><tendon name="bent" tendon1="t" tendon2="s" polycoef="0 1 1"/></equality>
      <actuator><muscle name="m" joint="j" lengthrange="0 1"/><motor name="o" joint="k"/>
      <general name="g" joint="j" dyntype="filter" dynprm="1"/></actuator></mujoco>""")
    imported = importers.load(path)
    tin = {"radius": pytest.approx(0.1), "half_length": pytest.approx(0.2)}
    shapes = [shape for body in imported.json["bodies"] for shape in body["shapes"]]
    assert [shape["cylinder"] for shape in shapes if "cylinder" in shape] == [tin]
    said = "\n".join(imported.unsupported)
    assert imported.json["settings"]["integrator"] == "RK4" and "RK4" not in said
    assert any("ellipsoids are hulls" in note and "egg" in note for note in imported.notes)
    for word in (
        "tin",
        "wind",
        "torsional",
        "limits of ball joints: k",
        "tendons that nothing acts along: t, s",
        "equality constraints (tendon): bent",
        "margin",
        "ball joints do nothing: o",
        "a state of their own do nothing: m",
    ):
        assert word in said, said
    assert "nothing: m, g" not in said and [control.name for control in imported.controls] == ["g"]


def test_what_is_lost_has_a_weight(mujoco, tmp_path):
    path = tmp_path / "weights.xml"
    path.write_text("""<mujoco><asset><mesh name="dice" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
      <mesh name="leaf" vertex="0 0 0 1 0 0 0 1 0 0 0 1e-8" inertia="shell"/></asset><worldbody>
      <geom name="floor" type="plane" size="1 1 1" friction="0.8" solref="0.01 1"/>
      <body name="a"><joint name="j"/><joint name="i" axis="1 0 0"/>
      <geom type="box" size="0.1 0.1 0.1" mass="3" friction="0.8"/>
      <geom type="mesh" mesh="dice" mass="0" contype="0" conaffinity="0" condim="6" friction="0.1"/>
      <body name="b" pos="1 0 0"><joint name="k" type="ball" limited="true" range="0 1"/>
      <geom name="rock" type="mesh" mesh="leaf" mass="1" friction="0.8"/><site name="s"/></body></body>
      <site name="t"/></worldbody>
      <sensor><jointpos joint="j"/></sensor><tendon>
      <fixed name="slack"><joint joint="j" coef="1"/><joint joint="i" coef="1"/></fixed>
      <spatial name="taut" stiffness="1"><site site="s"/><site site="t"/></spatial></tendon>
      <actuator><motor joint="j"/><motor joint="j"/><motor joint="j"/><motor tendon="taut"/></actuator></mujoco>""")
    imported = importers.load(path)
    physical = [loss for loss in imported.losses if loss.is_physical]
    weights = {loss.sentence: (loss.mass, loss.geometry, loss.actuators) for loss in physical}
    assert weights == {  # of three geoms that may touch one has no hull, and what is only seen is not asked for
        "geoms that are a mesh touch nothing (their mass counts): rock": (0, pytest.approx(1 / 3), 0),
        "limits of ball joints: k": (0.25, 0, 0),
        "actuators on tendons that are no sum of joints do nothing: actuator 3": (0, 0, 0.25),
        "tendons: taut": (0.25, 0, 0),
    }
    others = [loss.sentence.split(":")[0] for loss in imported.losses if not loss.is_physical]
    assert others == ["tendons that nothing acts along", "solref of geoms", "sites (2)"]
    assert imported.verdict.endswith("25 % of mass, 33 % of collision geometry, 25 % of actuators")


SWUM = """<mujoco><option density="{density}" viscosity="{viscosity}" gravity="0 0 -1"/><worldbody>
  <body name="a" euler="10 20 30"><freejoint name="a"/><geom type="box" size="0.1 0.2 0.3" density="500"/>
    <geom type="box" size="0.05 0.1 0.02" pos="0.2 0.1 0" euler="20 0 40"/>
    <body name="b" pos="0.3 0 0"><joint name="b" axis="0 1 1"/><joint name="d" axis="1 1 0"/>
      <geom type="box" size="0.2 0.02 0.05" pos="0.2 0 0"/>
      {more}</body></body></worldbody></mujoco>"""
WELDED = '<body name="c" pos="0.5 0 0"><geom size="0.1"/></body>'


@pytest.mark.parametrize(("density", "viscosity"), [(1000, 0), (0, 2), (700, 5)])
def test_a_fluid_drags_as_mujocos(mujoco, client, tmp_path, density, viscosity):
    path = tmp_path / "swum.xml"
    path.write_text(SWUM.format(density=density, viscosity=viscosity, more=""))
    twin = Twin(mujoco, client, path)
    assert twin.imported.verdict.startswith("usable: nothing physical")
    still = client.world_get(world=twin.world.id).settings
    assert (still.fluid_density, still.fluid_viscosity) == (density, viscosity)
    rng = np.random.default_rng(8)
    for _ in range(5):
        twin.draw(rng)
        error, largest = twin.acceleration_error()
        # of h = 1e-7 the drag takes 1e-7 of itself; b has two joints, and what stands between them next to none
        assert error < 1e-6 * max(largest, 1.0)
    path.write_text(SWUM.format(density=density, viscosity=viscosity, more=WELDED))
    assert "a fluid drags at what is welded as at one body: b" in importers.load(path).unsupported


def test_what_swims_is_recorded_proven_and_forked(mujoco, client, tmp_path):
    path = tmp_path / "swum.xml"
    path.write_text(SWUM.format(density=700, viscosity=5, more=""))
    world = World.create(client, importers.load(path).scene)
    said = client.world_scene(world=world.id).scene.settings
    assert (said.fluid_density, said.fluid_viscosity) == (700, 5)
    episode = client.episode_start(world=world.id, keyframe_steps=7).episode
    world.step(20)
    half = world.state().pose
    client.world_set(world=world.id, settings=p.WorldSettings(fluid_density=100.0))
    world.step(20)
    client.episode_stop(episode=episode)
    assert client.episode_verify(episode=episode).result().verified
    forked = client.episode_fork(episode=episode, step=20).world
    assert np.array_equal(np.reshape(client.world_get(world=forked).pose, (-1, 7)), half)
    client.world_set(world=forked, settings=p.WorldSettings(fluid_density=100.0))
    client.world_step(worlds=[forked], steps=20)
    assert np.array_equal(np.reshape(client.world_get(world=forked).pose, (-1, 7)), world.state().pose)


PULLED = """<mujoco><option gravity="0 0 0"/><worldbody>
  <body name="a"><joint name="a" type="slide" axis="1 0 0"/><geom size="0.1" mass="2"/></body>
  <body name="b" pos="0 1 0"><joint name="b" axis="0 0 1" ref="20"/><geom size="0.1" pos="0.5 0 0"/></body>
  <body name="c" pos="0 2 0"><joint name="c" axis="0 0 1"/><geom size="0.1" pos="0.5 0 0" mass="3"/></body>
  <body name="d" pos="0 3 0"><joint name="d" axis="0 0 1"/><geom size="0.1" pos="0.5 0 0" mass="1"/></body></worldbody>
  <tendon><fixed name="one"><joint joint="a" coef="3"/><joint joint="b" coef="0"/></fixed>
    <fixed name="place"><joint joint="b" coef="-0.5"/></fixed>
    <fixed name="both"><joint joint="c" coef="0.5"/><joint joint="d" coef="2"/></fixed>
    <fixed name="tie"><joint joint="c" coef="1"/><joint joint="d" coef="-2"/></fixed>
    <fixed name="far"><joint joint="a" coef="1"/><joint joint="c" coef="1"/></fixed></tendon>
  <equality><tendon tendon1="tie"/></equality>
  <actuator><motor name="pull" tendon="one" gear="0.5"/><position name="hold" tendon="place" kp="5" kv="0.3"/>
    <motor name="grip" tendon="both"/><motor name="none" tendon="far"/></actuator></mujoco>"""


def test_what_pulls_at_tendons_acts_on_joints(mujoco, client, tmp_path):
    path = tmp_path / "pulled.xml"
    path.write_text(PULLED)
    twin = Twin(mujoco, client, path)
    assert twin.imported.verdict == "usable: nothing physical is lost"
    controls = {control.name: control for control in twin.imported.controls}
    # d is half of c: 1 N m along `both` is 0.5 N m on c and 2 N m on d, 1.5 N m on c in all
    assert {name: (one.joint, one.scale) for name, one in controls.items() if one.quantity == "effort"} == {
        "pull": ("a", pytest.approx(1.5)), "grip": ("c", pytest.approx(1.5)), "none": ("far", 1.0)}  # fmt: skip
    rng = np.random.default_rng(2)
    for _ in range(3):  # of what is not tied, as constraints are off
        twin.draw(rng)
        twin.data.ctrl[[0, 1, 3]] = rng.normal(size=3)
        mujoco.mj_forward(twin.model, twin.data)
        for name, told in zip(("pull", "hold", "none"), twin.data.ctrl[[0, 1, 3]]):
            column = {"effort": "joint_effort", "target": "joint_target"}[controls[name].quantity]
            which = 1 + [joint["name"] for joint in twin.scene["joints"]].index(controls[name].joint)
            number = [float(controls[name].scale * told)]
            client.world_set(world=twin.world.id, joints=[which], **{column: number})
        error, largest = twin.acceleration_error()
        assert error < 1e-7 * max(largest, 1.0)


EGGS = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body name="a" pos="0 0 0.5"><freejoint name="a"/><geom type="ellipsoid" size="0.3 0.2 0.1"/></body>
  <body name="b" pos="3 0 0.5"><freejoint name="b"/><geom name="twin" type="ellipsoid" size="0.3 0.2 0.1"/></body>
  <body name="c" pos="6 0 0.5"><freejoint name="c"/><geom type="ellipsoid" size="0.1 0.1 0.5"/></body>
  </worldbody></mujoco>"""


def test_ellipsoids_are_hulls_to_a_hundredth(mujoco, client, tmp_path):
    path = tmp_path / "eggs.xml"
    path.write_text(EGGS)
    imported = importers.load(path)
    assert imported.verdict.startswith("usable") and len(imported.json["geometries"]) == 2  # those alike are one
    rng = np.random.default_rng(4)
    for geometry, halves in zip(imported.json["geometries"], ([0.3, 0.2, 0.1], [0.1, 0.1, 0.5])):
        corners = np.reshape(geometry["hull"]["points"], (-1, 3))
        ways = rng.normal(size=(500, 3))
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        reach, wanted = (corners @ ways.T).max(axis=0), np.linalg.norm(ways * halves, axis=1)
        # how far it comes along any direction; that of the ellipsoid is sqrt(sum (a n)^2)
        assert np.abs(reach / wanted - 1.0).max() < 0.01
    world = World.create(client, imported.scene)
    world.step(2000)
    heights = world.state().pose[:2, 2]
    assert heights == pytest.approx(0.1, abs=0.001)  # they lie on their shortest axes


FELT = """<mujoco><option gravity="1 2 -9"/><worldbody>
  <body name="base" pos="1 2 3" euler="10 20 30"><joint name="base" type="free" armature="0.3" damping="0.7"
    frictionloss="0.2" {spring}/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0.05"/>
    <body name="arm" pos="0.2 0 0"><joint name="arm" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0.1"/></body></body>
  <body name="ball" pos="0 0 9"><freejoint name="ball"/><geom size="0.1"/></body></worldbody>
  <keyframe><key name="thrown" qpos="1 1 1 0.5 0.5 0.5 -0.5 0.7 0 0 2 1 0 0 0" qvel="1 2 3 4 5 6 7 0 0 0 0 0 0"/>
  </keyframe></mujoco>"""


def test_what_acts_along_free_joints_comes_along(mujoco, client, tmp_path):
    path = tmp_path / "felt.xml"
    path.write_text(FELT.format(spring=""))
    twin = Twin(mujoco, client, path)
    assert twin.imported.verdict.startswith("usable: nothing physical")
    assert "base" in twin.imported.joints and "ball" not in twin.imported.joints  # along which nothing acts
    (joint,) = (one for one in twin.imported.json["joints"] if one["name"] == "base")
    assert joint["kind"] == "FREE" and joint["friction"] == [0.2] * 6
    rng = np.random.default_rng(5)
    for _ in range(5):
        twin.draw(rng)
        assert twin.pose_error() < 1e-12
        error, largest = twin.acceleration_error()
        assert error < 1e-7 * max(largest, 1.0)
    world = World.create(client, twin.imported.at("thrown"))  # in which all of it stands in numbers of joints
    numbers = client.world_get(world=world.id, joints=True)
    assert numbers.joint_position == pytest.approx([1, 1, 1, 0.5, 0.5, 0.5, -0.5, 0.7])
    assert numbers.joint_velocity == pytest.approx([1, 2, 3, 4, 5, 6, 7])


@pytest.mark.parametrize("turned", [False, True])
def test_springs_of_free_joints_rest_where_they_begin(mujoco, client, tmp_path, turned):
    path = tmp_path / "sprung.xml"
    text = FELT.format(spring='stiffness="30"')
    path.write_text(text if turned else text.replace('euler="10 20 30"', ""))
    twin = Twin(mujoco, client, path)
    if turned:
        assert "springs of free joints that rest turned: base" in twin.imported.unsupported
        return
    twin.draw(np.random.default_rng(6))
    error, largest = twin.acceleration_error()
    assert error < 1e-7 * max(largest, 1.0)


# a loop of four bars, a box that is welded to another and one to a place, and two joints of which one follows
HELD = """<mujoco><option gravity="1 0 -9.8"/><worldbody><site name="up there" pos="3 0 2" euler="0 0 30"/>
  <body name="a"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.02"/>
    <body name="b" pos="0 0 1"><joint name="b" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 1 0 0" size="0.02"/>
      <body name="fork" pos="1 0 0" euler="0 20 0"><geom size="0.03"/></body></body></body>
  <body name="c" pos="1 0 0"><joint name="c" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 1" size="0.02"/></body>
  <body name="box" pos="2 0 0" euler="20 30 40"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
  <body name="lid" pos="2 0 0.5"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
  <body name="lamp" pos="3.05 -0.08660254037844387 2" euler="0 0 30"><freejoint/><geom type="box" size="0.1 0.2 0.3"/>
    <site name="hook" pos="0 0.1 0"/></body>
  <body name="x" pos="5 0 0"><joint name="x" axis="1 0 0" ref="20"/><geom size="0.1" pos="0 0.3 0"/></body>
  <body name="y" pos="6 0 0"><joint name="y" axis="1 0 0" ref="-40"/><geom size="0.1" pos="0 0.3 0"/></body>
  <body name="z" pos="7 0 0"><joint name="z" axis="1 0 0" ref="10"/><geom size="0.1" pos="0 0.3 0"/></body></worldbody>
  <equality><connect name="loop" body1="fork" body2="c" anchor="0 0 0"/><weld body1="box" body2="lid"/>
  <weld site1="up there" site2="hook"/><joint joint1="z" polycoef="0.5 0 0 0 0"/>
  <joint joint1="y" joint2="x" polycoef="0 -2 0 0 0"/>
  <weld name="off" body1="box" body2="c" active="false"/></equality></mujoco>"""


def test_what_equalities_hold_stays_held(mujoco, client, tmp_path):
    path = tmp_path / "held.xml"
    path.write_text(HELD)
    imported = importers.load(path)
    assert imported.verdict == "usable: nothing physical is lost"
    assert [sentence for sentence in imported.unsupported if "equality" in sentence] == [
        "equality constraints that begin inactive: off"
    ]
    for body in imported.json["bodies"]:
        for shape in body["shapes"]:
            shape["mask"] = 0
    # as MuJoCo's constraints have it the model stands as it is held
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert sorted(np.abs(data.efc_pos[: data.ne]))[-2] < 1e-9 and data.ne == 3 + 6 + 6 + 1 + 1
    world = World.create(client, imported.json)
    names = [body["name"] for body in imported.json["bodies"]]
    first = world.state().pose.copy()

    def at(body):
        pose = world.state().pose[names.index(imported.bodies[body].body)]
        return _poses.pose(pose[:3], pose[3:]).then(imported.bodies[body].pose)

    def apart(a, b):
        return np.array(at(a).inverse().then(at(b)).numbers())

    before = apart("box", "lid")
    bar, fork = at("c").inverse().then(at("fork")).position, at("fork").orientation
    world.step(200)
    assert apart("box", "lid") == pytest.approx(before, abs=1e-4)
    assert at("c").inverse().then(at("fork")).position == pytest.approx(bar, abs=1e-4)
    assert at("fork").orientation == pytest.approx(fork, abs=1e-4)  # of a parallelogram
    state = world.state().pose
    assert state[names.index("lamp")] == pytest.approx(first[names.index("lamp")], abs=1e-6)
    x, y, z = world.joints().position[3:6]
    assert z == pytest.approx(np.radians(10) + 0.5, abs=1e-3)
    assert abs(x - np.radians(20)) > 0.1 and y == pytest.approx(-2 * x, abs=1e-5)
    # MuJoCo's are soft: after 0.4 s they are as far as that goes
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    for _ in range(200):
        mujoco.mj_step(model, data)
    there = [data.qpos[model.jnt_qposadr[model.jnt(name).id]] for name in "abcxy"]
    assert world.joints().position[:5] == pytest.approx(there, abs=2e-3) and abs(there[0]) > 0.1
    assert np.abs(state[names.index("box")] - first[names.index("box")]).max() > 0.1


KEYS = """<actuator><position joint="c" kp="3" name="hold"/><motor joint="a" gear="2" name="push"/></actuator>
  <keyframe><key name="home" qpos="%s" qvel="%s" ctrl="0.5 -0.25" mpos="1 2 3" mquat="0 1 0 0"/><key/></keyframe>"""


def test_key_frames_are_named_starts(mujoco, client, tmp_path, capsys):
    rng = np.random.default_rng(5)
    path = tmp_path / "keys.xml"
    hand = '<body name="hand there" mocap="true"/></worldbody>'
    qpos, qvel = rng.normal(size=18), rng.normal(size=16)
    words = [" ".join(map(repr, numbers.tolist())) for numbers in (qpos, qvel)]
    path.write_text(MIXED.replace("</worldbody>", hand).replace("</mujoco>", KEYS % tuple(words) + "</mujoco>"))
    twin = Twin(mujoco, client, path)
    imported = twin.imported
    assert list(imported.starts) == ["home", "key 1"] and not any("key" in words for words in imported.unsupported)
    mujoco.mj_resetDataKeyframe(twin.model, twin.data, 0)
    mujoco.mj_forward(twin.model, twin.data)
    # the twin's world is of the scene as it begins; it has no shapes, which change nothing of this
    scene = imported.at("home")
    twin.write()
    told, world = twin.world, World.create(client, scene)
    names = [body["name"] for body in scene["bodies"]]
    for body in twin.names:
        there, here = twin.names.index(body), names.index(body)
        for column in ("pose", "velocity"):
            if body != "hand there":
                expected = getattr(told.state(), column)[there]
                assert getattr(world.state(), column)[here] == pytest.approx(expected, abs=1e-12), (body, column)
    assert world.state().pose[names.index("hand there")] == pytest.approx([1, 2, 3, 0, 1, 0, 0])
    joints = {joint["name"]: joint for joint in scene["joints"]}
    controls = {control.name: control for control in imported.controls}
    held, pushed = controls["hold"], controls["push"]
    assert joints[held.joint]["target"][held.axis] == 0.5 and joints[pushed.joint]["effort"][pushed.axis] == -0.5
    assert imported.json["joints"] != scene["joints"]
    with pytest.raises(KeyError, match="there are: home, key 1"):
        imported.at("nowhere")
    assert __main__.main(["import", str(path), "--start", "home"]) == 0
    assert json.loads(capsys.readouterr().out) == scene
    assert __main__.main(["import", str(path), "--start", "nowhere"]) == 1
    assert "there are: home, key 1" in capsys.readouterr().err


# frictions, priorities and condims of all sorts; what the pair names has them otherwise
RUBBING = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.7"/>
  <body name="a" pos="0 0 0"><freejoint/><geom size="1" friction="0.9" condim="1"/></body>
  <body name="b" pos="1.9 0 0"><freejoint/><geom name="one" size="1" friction="1.9"/></body>
  <body name="c" pos="3.8 0 0"><freejoint/><geom size="1" friction="0.2" condim="1"/></body>
  <body name="d" pos="5.7 0 0"><freejoint/><geom size="1" friction="0.3" priority="1"/></body>
  <body name="e" pos="7.6 0 0"><freejoint/><geom size="1" friction="1.5" priority="1" condim="1"/></body>
  <body name="f" pos="9.5 0 0"><freejoint/><geom size="1" friction="0.9" priority="-2"/></body>
  <body name="g" pos="1 1.5 0"><freejoint/><geom size="1" friction="0.4" condim="1"/></body>
  </worldbody>%s</mujoco>"""
PAIR = '<contact><pair geom1="floor" geom2="one" friction="0.05 0.05"/></contact>'


@pytest.mark.parametrize("more", ["", PAIR])
def test_pairs_rub_as_in_mujoco(mujoco, client, tmp_path, more):
    path = tmp_path / "rubbing.xml"
    path.write_text(RUBBING % more)
    imported = importers.load(path)
    assert imported.verdict == "usable: nothing physical is lost"
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    met = {}
    for contact in data.contact[: data.ncon]:
        names = [model.body(model.geom_bodyid[geom]).name for geom in contact.geom]
        met[frozenset(names)] = contact.friction[0] if contact.dim > 1 else 0.0
    assert len(met) == 14 and len(set(met.values())) == (7 if more else 6)
    # what a world makes of them is asked of the world: the numbers of its contacts
    world = World.create(client, imported.scene)
    world.step(1)
    touches = client.world_contacts(world=world.id)
    names = {world_id: body["name"] for world_id, body in zip(world.ids, imported.json["bodies"])}
    has = {frozenset((names[a], names[b])): mu for a, b, mu in zip(touches.body_a, touches.body_b, touches.friction)}
    for pair, friction in met.items():
        assert has[pair] == pytest.approx(friction, abs=0.0), pair


def test_materials_have_names_of_their_own(mujoco, client, tmp_path):
    path, long = tmp_path / "smooth.xml", "n" * 80
    path.write_text(f"""<mujoco><worldbody><geom type="plane" size="1 1 1" condim="1" friction="0.3"/>
      <geom name="{long}" pos="0 0 9" size="1" friction="0"/>
      <body pos="0 0 1"><freejoint/><geom size="1" condim="1" friction="0.12345678901"/></body>
      <body pos="3 0 1"><freejoint/><geom name="o" size="1" condim="1" priority="-7"/></body></worldbody>
      <contact><pair geom1="{long}" geom2="o"/></contact></mujoco>""")
    imported = importers.load(path)
    names = [material["name"] for material in imported.json["materials"]]
    assert len(set(names)) == len(names) >= 4 and max(map(len, names)) < 64
    World.create(client, imported.scene).step(1)


def test_materials_are_as_written_where_all_rub_alike(mujoco, tmp_path):
    path = tmp_path / "cart.xml"
    path.write_text(CART)
    scene = importers.load(path).json
    assert scene["materials"] == [{"name": "friction 1", "friction": 1.0}] and "material_pairs" not in scene
    assert scene["settings"]["friction_rule"] == "MAXIMUM"


TIED = """<mujoco><option gravity="0 0 -9"/><worldbody><body name="a"><joint name="j" axis="1 2 -1"/>
  <inertial mass="1" pos="0.3 0.1 0" diaginertia="1 2 2.5"/>
  <body name="b" pos="0.5 0 0.2"><joint name="k" axis="0 1 3"/>
  <inertial mass="2" pos="0 0.4 0.1" diaginertia="1 1 1.5"/></body></body></worldbody>
  <tendon><fixed name="t" range="0 1" limited="true" stiffness="7"><joint joint="j" coef="0.5"/>
  <joint joint="k" coef="-0.2"/></fixed></tendon>
  <equality><tendon tendon1="t" %s/></equality></mujoco>"""


def test_a_tendon_of_two_joints_that_is_held_is_a_gear(mujoco, client, tmp_path):
    path = tmp_path / "tied.xml"
    path.write_text(TIED % "")
    imported = importers.load(path)
    assert imported.verdict == "usable: nothing physical is lost"
    (gear,) = (joint for joint in imported.json["joints"] if joint["kind"] == "GEAR")
    assert (gear["joint_a"], gear["joint_b"], gear["ratio"]) == ("j", "k", 2.5)
    world = World.create(client, imported.scene, time_step=1e-3)
    world.step(500)
    turned = client.world_get(world=world.id, joints=True).joint_position
    # it swings, and both are as far as the gear has it, to what its steps leave open
    assert abs(turned[0]) > 0.05 and turned[1] == pytest.approx(2.5 * turned[0], abs=1e-6)
    # what holds it at another length is no multiple
    path.write_text(TIED % 'polycoef="0.1 0 0 0 0"')
    imported = importers.load(path)
    assert imported.verdict == "usable: nothing physical is lost"
    held, sprung = (joint for joint in imported.json["joints"] if joint["kind"] == "TENDON")
    assert (held["low"], held["high"]) == ([0.1], [0.1]) and sprung["stiffness"] == [7] and "low" not in sprung
    world = World.create(client, imported.scene, time_step=1e-3)
    world.step(500)
    turned = client.world_get(world=world.id, joints=True).joint_position
    assert 0.5 * turned[0] - 0.2 * turned[1] == pytest.approx(0.1, abs=1e-6) == turned[2]


SENSED = """<mujoco><option timestep="1e-4"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="a" pos="0 0 1" euler="10 20 30"><freejoint name="free"/>
    <geom type="box" size="0.1 0.2 0.3" pos="0.02 0 0"/>
    <site name="eye" pos="0.05 0 -0.35" euler="150 10 0"/><site name="on" pos="0.1 0.05 0.1" euler="20 0 40"/>
    <body name="b" pos="0.3 0 0"><joint name="b" axis="0 1 1"/><joint name="s" type="slide" axis="1 0 0"/>
      <geom type="box" size="0.2 0.02 0.05" pos="0.2 0 0"/>
      <body name="c" pos="0.4 0 0"><joint name="c" type="ball"/><geom size="0.05" pos="0.1 0 0"/></body></body></body>
  </worldbody>
  <tendon><fixed name="t"><joint joint="b" coef="2"/><joint joint="s" coef="-1"/></fixed></tendon>
  <sensor><jointpos name="1" joint="b"/><jointvel name="2" joint="s"/><accelerometer name="3" site="on"/>
    <gyro name="4" site="on"/><rangefinder name="5" site="eye" cutoff="5"/>
    <framepos name="6" objtype="xbody" objname="b"/>
    <framequat name="7" objtype="xbody" objname="a"/><frameangvel name="8" objtype="site" objname="on"/>
    <framelinvel name="9" objtype="body" objname="b"/><ballquat name="10" joint="c"/><ballangvel name="11" joint="c"/>
    <tendonpos name="12" tendon="t"/><tendonvel name="13" tendon="t"/><clock name="14"/>
    <touch name="no" site="on"/><framepos name="nor" objtype="site" objname="on"/></sensor>
  <keyframe><key name="go" qpos="0 0 1 0.9 0.1 0.2 0.3 0.4 0.1 0.9 0.3 0.1 0.2"
    qvel="0.3 0.1 -0.2 1 2 -1 0.5 0.3 1 -2 0.5"/></keyframe></mujoco>"""


def test_sensors_are_channels_that_say_what_mujocos_do(mujoco, server, tmp_path):
    path = tmp_path / "felt.xml"
    path.write_text(SENSED)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
    data.qpos[9:13] /= np.linalg.norm(data.qpos[9:13])
    gym = pytest.importorskip("moreau_sim.gym", reason="the environments need Gymnasium")
    with gym.from_file(
        path, observation="sensors", action=[moreau_sim.group.channel("JOINT_EFFORT", "b")], start="go", substeps=1,
        reward=lambda moment: moment.observation[:, 0], address=server.address,
    ) as env:  # fmt: skip
        imported = env.environment.imported
        assert [sensor.name for sensor in imported.sensors] == [str(k) for k in range(1, 15)]
        said = "\n".join(imported.unsupported)
        assert "no channel is (touch): no" in said and "no channel is (framepos): nor" in said
        env.reset(seed=0)
        seen, *_ = env.step(np.zeros(1, dtype=np.float32))
    mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    told = data.sensordata[: len(seen)]
    # after a step of 1e-4 s, of first order, of rates of some 1/s; observations are floats. Of turns both signs are one
    for at, size in ((12, 4), (22, 4)):
        seen[at : at + size] *= np.sign(seen[at : at + size] @ told[at : at + size])
    assert seen == pytest.approx(told, rel=2e-3, abs=2e-3)


BOUNDED = (
    "<mujoco><option gravity='0 0 -9'/><worldbody>"
    + "".join(
        f"""<body name="{name}" pos="0 {k} 0"><joint name="{name}" axis="1 {k} -1" {more}/>
        <inertial mass="1" pos="0.3 0.1 0" diaginertia="1 2 2.5"/></body>"""
        for k, (name, more) in enumerate([*((name, "") for name in "abcde"), ("f", "actuatorfrcrange='-2 0.4'")])
    )
    + """</worldbody><actuator>
  <position name="a" joint="a" kp="30" kv="2" gear="1.5" forcerange="-1 3"/>
  <general name="b" joint="b" gainprm="2" biastype="affine" biasprm="0.7 -5 -1" forcerange="0.5 2"/>
  <general name="c" joint="c" dyntype="filter" dynprm="1" gainprm="4" biastype="affine" biasprm="0 0 -3"
    forcerange="-3 -0.2"/>
  <velocity name="d" joint="d" kv="6" gear="-2" forcerange="-1 4"/>
  <motor name="e" joint="e" gear="-3" forcerange="-2 0.5"/>
  <position name="f" joint="f" kp="20"/><motor name="g" joint="f"/></actuator></mujoco>"""
)


def test_forces_stay_within_ranges_that_are_not_symmetric(mujoco, client, tmp_path):
    path = tmp_path / "bounded.xml"
    path.write_text(BOUNDED)
    twin = Twin(mujoco, client, path)
    assert twin.imported.verdict == "usable: nothing physical is lost"
    rng = np.random.default_rng(9)
    clipped = 0
    for _ in range(12):
        twin.data.ctrl[:] = rng.normal(size=7) * 0.5
        twin.data.act[:] = 0.0
        twin.draw(rng)
        command(twin, client)
        worst, size = twin.acceleration_error()
        assert worst < 1e-6 * size
        ranges = twin.model.actuator_forcerange
        at = np.abs(twin.data.actuator_force[:, None] - ranges).min(axis=1) < 1e-12
        clipped += at[:5].sum()
    assert clipped > 12  # forces were at their bounds, and between them
    # the same by what a learner is told of a control
    for control in twin.imported.controls:
        scene = next(joint for joint in twin.imported.json["joints"] if joint["name"] == control.joint)
        first = min(max(0.0, control.low), control.high)
        if control.name not in "fg":
            told = control.scale * first + control.offset
            assert scene.get(control.quantity, [0.0])[control.axis] == pytest.approx(told, abs=1e-15)


STRUNG = """<mujoco><option gravity="0 0 -9"/><worldbody><body name="a" euler="10 20 30">
  <joint name="j" axis="1 2 -1"/><joint name="i" axis="1 0 0" type="slide"/><joint name="h" axis="0 1 0"/>
  <inertial mass="1" pos="0.3 0.1 0" diaginertia="1 2 2.5"/>
  <body name="b" pos="0.5 0 0.2"><joint name="k" axis="0 1 3" ref="20"/>
  <inertial mass="2" pos="0 0.4 0.1" diaginertia="1 1 1.5"/>
  <body name="c" pos="0.5 0 0.2"><joint name="l" type="slide" axis="0 1 3"/>
  <inertial mass="1.5" pos="0 0.2 0.1" diaginertia="1 1 1.5"/></body></body></body></worldbody>
  <tendon><fixed name="sprung" stiffness="7" damping="0.4" springlength="0.3"><joint joint="j" coef="0.5"/>
    <joint joint="k" coef="-0.2"/><joint joint="l" coef="1.3"/><joint joint="h" coef="0.7"/></fixed>
  <fixed name="j" stiffness="3"><joint joint="i" coef="-0.9"/><joint joint="j" coef="1.1"/></fixed>
  <fixed name="pulled"><joint joint="j" coef="1"/><joint joint="k" coef="1"/><joint joint="i" coef="-2"/></fixed>
  <fixed name="idle"><joint joint="k" coef="1"/><joint joint="l" coef="1"/></fixed></tendon>
  <actuator><position name="p" tendon="pulled" kp="30" kv="2" gear="0.7" ctrlrange="-2 2" ctrllimited="true"/>
    <motor name="m" tendon="sprung" gear="1.5"/></actuator></mujoco>"""


def test_tendons_over_many_joints_pull_as_mujocos(mujoco, client, tmp_path):
    path = tmp_path / "strung.xml"
    path.write_text(STRUNG)
    twin = Twin(mujoco, client, path)
    assert twin.imported.verdict == "usable: nothing physical is lost"
    assert "tendons that nothing acts along: idle" in twin.imported.unsupported
    names = [joint["name"] for joint in twin.scene["joints"]]
    assert names[-3:] == ["pulled", "sprung", "j tendon"]  # of j there is a joint
    rng = np.random.default_rng(3)
    for _ in range(4):
        twin.draw(rng)
        twin.data.ctrl[:] = rng.normal(size=2)
        mujoco.mj_forward(twin.model, twin.data)
        for control, told in zip(twin.imported.controls, twin.data.ctrl):
            which = [1 + names.index(control.joint)]
            column = {"effort": "joint_effort", "target": "joint_target"}[control.quantity]
            client.world_set(world=twin.world.id, joints=which, **{column: [float(control.scale * told)]})
        error, largest = twin.acceleration_error()
        assert error < 1e-6 * max(largest, 1.0)  # of h = 1e-7 velocities change by 1e-7 of themselves
        lengths = client.world_get(world=twin.world.id, joints=True).joint_position[-3:]
        there = [twin.data.ten_length[twin.model.tendon(name).id] for name in ("pulled", "sprung", "j")]
        assert lengths == pytest.approx(there, abs=1e-5)


def test_an_environment_pulls_at_a_tendon(mujoco, server, tmp_path):
    path = tmp_path / "strung.xml"
    path.write_text(STRUNG)
    gym = pytest.importorskip("moreau_sim.gym", reason="the environments need Gymnasium")
    with gym.from_file(path, reward=lambda m: m.observation[:, 0], address=server.address) as env:
        assert env.action_space.shape == (2,) and env.observation_space.shape == (10,)
        env.reset(seed=1)
        pulled, _, _, _, _ = env.step(np.array([1.0, 0.0], dtype=np.float32))
        env.reset(seed=1)
        idle, _, _, _, _ = env.step(np.array([0.0, 0.0], dtype=np.float32))
        assert np.abs(pulled - idle).max() > 1e-3


AWAY = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body></worldbody>
  <actuator><position name="p" joint="j" kp="20" ctrlrange="0.3 0.9" ctrllimited="true"/></actuator>
  <keyframe><key name="bent" ctrl="0.5"/></keyframe></mujoco>"""


def test_a_control_that_is_not_told_is_what_of_its_range_is_nearest_to_0(mujoco, tmp_path):
    path = tmp_path / "away.xml"
    path.write_text(AWAY)
    imported = importers.load(path)
    assert imported.json["joints"][0]["target"] == [0.3]
    assert imported.at("bent")["joints"][0]["target"] == pytest.approx([0.5], rel=1e-15)


FLAGS = """<mujoco><option><flag %s="disable"/></option><worldbody><geom type="plane" size="1 1 1"/>
  <body name="a" pos="0 0 1"><joint name="j" range="-1 1" limited="true" stiffness="3" damping="2" frictionloss="0.5"/>
  <geom size="0.1"/></body><body name="b" pos="1 0 1"><joint name="k"/><geom size="0.1"/></body></worldbody>
  <equality><joint joint1="j" joint2="k"/></equality></mujoco>"""


@pytest.mark.parametrize(
    ("flag", "gone"),
    [
        ("contact", {"touch"}),
        ("limit", {"low", "high"}),
        ("frictionloss", {"friction"}),
        ("equality", {"gear"}),
        ("constraint", {"touch", "low", "high", "friction", "gear"}),
    ],
)
def test_what_options_disable_is_not_there(mujoco, tmp_path, flag, gone):
    path = tmp_path / "flags.xml"
    path.write_text(FLAGS % flag)
    imported = importers.load(path)
    assert imported.verdict == "usable: nothing physical is lost"
    joint = imported.json["joints"][0]
    shape = imported.json["bodies"][0]["shapes"][0]
    has = {name for name in ("low", "high", "stiffness", "damping", "friction") if name in joint}
    has |= {"gear"} if any(joint["kind"] == "GEAR" for joint in imported.json["joints"]) else set()
    has |= {"touch"} if shape.get("mask", 1) else set()
    assert has == {"low", "high", "stiffness", "damping", "friction", "gear", "touch"} - gone


MOCAP = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body name="target" mocap="true" pos="0 0 2" euler="0 0 90">
  <geom name="palm" type="box" size="0.1 0.2 0.3" contype="0"/>
    <body name="tip" pos="0.5 0 0"><geom name="ball" size="0.1"/></body>
    <body name="tail" pos="0 0 -0.5"><joint name="wag" axis="0 1 0"/>
    <geom name="rod" type="capsule" size="0.05 0.2"/></body></body>
  <body name="mark" mocap="true" pos="3 0 1"><site name="cross"/></body>
  <body name="free" pos="-3 0 1"><freejoint/><geom name="cube" type="box" size="0.1 0.1 0.1"/></body></worldbody>
  <equality><weld body1="target" body2="free"/></equality></mujoco>"""


def test_mocap_bodies_are_kinematic(mujoco, client, tmp_path):
    path = tmp_path / "mocap.xml"
    path.write_text(MOCAP)
    imported = importers.load(path)
    assert any("mocap bodies are kinematic" in note and "(2)" in note for note in imported.notes)
    kinds = {body["name"]: body.get("kind", "DYNAMIC") for body in imported.json["bodies"]}
    assert kinds == {
        "target": "KINEMATIC",
        "tail": "DYNAMIC",
        "mark": "KINEMATIC",
        "free": "DYNAMIC",
        "world": "STATIC",
    }
    # what is welded to one is a part of it, a quarter turn from its axes
    assert imported.bodies["tip"].body == "target"
    assert imported.bodies["tip"].pose.position == pytest.approx([0.5, 0, 0])
    assert [len(body["shapes"]) for body in imported.json["bodies"] if body["name"] in ("target", "mark")] == [2, 0]
    world = World.create(client, imported.scene)
    before = world.state().pose.copy()
    target, mark = (index for index, body in enumerate(imported.json["bodies"]) if body["name"] in ("target", "mark"))
    assert before[target] == pytest.approx([0, 0, 2, np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    world.move([world.ids[target]], velocity=[0.5, 0, 0, 0, 0, 0])
    world.step(100, time_step=0.001)
    after = world.state().pose
    # 100 steps of a millisecond at 0.5 m/s, to rounding
    assert after[target] - before[target] == pytest.approx([0.05, 0, 0, 0, 0, 0, 0], abs=1e-12)
    assert np.array_equal(after[mark], before[mark])


# An arm that lies in the floor that it turns on, and a cart in its rails.
ARENAS = {
    "arm": """<mujoco><option timestep="0.02"/><worldbody><geom type="plane" size="1 1 1"/>
      <body pos="0 0 0.01"><geom type="capsule" fromto="0 0 0 0.12 0 0" size="0.01"/>
      <joint name="a" axis="0 0 1" damping="1e-5"/>
      <body pos="0.12 0 0"><geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01"/>
      <joint name="b" axis="0 0 1" range="-160 160" damping="1e-5"/>
      <body pos="0.12 0 0"><geom size="0.01"/></body></body></body></worldbody></mujoco>""",
    "cart": """<mujoco><option timestep="0.01"/><worldbody>
      <geom type="capsule" pos="0 0.07 1" zaxis="1 0 0" size="0.02 2"/>
      <geom type="capsule" pos="0 -0.07 1" zaxis="1 0 0" size="0.02 2"/>
      <body pos="0 0 1"><joint name="a" type="slide" axis="1 0 0"/><geom type="box" size="0.2 0.15 0.1" mass="1"/>
      <body><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 1" size="0.045" mass="0.1"/></body></body></worldbody></mujoco>""",
}


@pytest.mark.parametrize("solver", ["mdp", "lcp", "ccp", "sap", "compliant"])
@pytest.mark.parametrize("name", ARENAS)
def test_what_lies_in_its_arena_moves_as_in_none(mujoco, client, tmp_path, name, solver):
    path = tmp_path / f"{name}.xml"
    path.write_text(ARENAS[name])
    scene = importers.load(path).json
    scene["settings"]["solver"] = solver
    moved = []
    for arena in (True, False):
        for body in scene["bodies"]:
            if not arena and body.get("kind") == "STATIC":
                body["shapes"] = []
        (tmp_path / "scene.json").write_text(json.dumps(scene))
        world = World.create(client, tmp_path / "scene.json")
        # against the floor and the rails nothing can move
        client.world_set(world=world.id, joints=[1, 2], joint_velocity=[0.4, -1.0])
        reports = world.step(100).reports
        assert reports.converged.all()
        assert np.any(reports.idle) == arena
        moved.append(world.joints().position)
    assert np.abs(moved[0]).max() > 0.01
    assert moved[0] == pytest.approx(moved[1], abs=1e-9)


def test_files_that_are_no_models_are_refused_with_a_sentence(mujoco, tmp_path):
    for text in (
        "no xml",
        "<html/>",
        "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
        "<mujoco><nonsense/></mujoco>",
    ):
        path = tmp_path / "bad.xml"
        path.write_text(text)
        with pytest.raises(importers.ImportFailed, match="bad.xml"):
            importers.load(path)
    with pytest.raises(importers.ImportFailed, match="nowhere"):
        importers.load(tmp_path / "nowhere.xml")


def test_the_command_writes_a_scene_that_the_server_takes(mujoco, client, tmp_path, capsys):
    path = model_file("mixed", tmp_path)
    assert __main__.main(["import", str(path), "-o", str(tmp_path / "scene.json")]) == 0
    assert World.create(client, tmp_path / "scene.json").step(10).reports.converged.all()
    assert __main__.main(["import", str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "scene.json").read_text())
    assert __main__.main(["import", str(tmp_path / "nowhere.xml")]) == 1
    assert "nowhere" in capsys.readouterr().err


def test_without_the_parser_a_sentence_says_what_to_install(tmp_path):
    (tmp_path / "mujoco.py").write_text("raise ImportError('not here')\n")
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM)
    environment = dict(os.environ, PYTHONPATH=f"{tmp_path}{os.pathsep}{SOURCE}")
    done = subprocess.run(
        [sys.executable, "-m", "moreau_sim", "import", path], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1 and done.stdout == ""
    assert "pip install 'moreau-sim[import]'" in done.stderr and "Traceback" not in done.stderr


def test_poses_compose_and_quaternions_come_back():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b = (_poses.pose(rng.normal(size=3), q / np.linalg.norm(q)) for q in rng.normal(size=(2, 4)))
        again = _poses.quaternion(_poses.matrix(a.orientation))
        assert min(np.abs(again - a.orientation).max(), np.abs(again + a.orientation).max()) < 1e-14
        back = a.then(b).then(b.inverse())
        assert np.abs(back.position - a.position).max() < 1e-13
        assert min(np.abs(back.orientation - sign * a.orientation).max() for sign in (1, -1)) < 1e-14


def test_a_model_leaves_groups_to_others_where_it_is_told_which_are_its_own(mujoco, tmp_path):
    path = tmp_path / "two.xml"
    path.write_text(
        """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body name="a" pos="0 0 1"><freejoint/><geom size="0.1"/></body>
        <body name="b" pos="0 0 2"><freejoint/><geom size="0.1"/></body></worldbody>
        <contact><exclude body1="a" body2="b"/></contact></mujoco>"""
    )

    def shapes(**options):
        bodies = importers.load(path, **options).json["bodies"]
        return {body["name"]: body["shapes"][0] for body in bodies}

    def touch(a, b):
        return bool(a["group"] & b["mask"] and b["group"] & a["mask"])

    one, other = shapes(collision_group=1), shapes(collision_group=5)
    for own in (one, other):
        assert not touch(own["a"], own["b"]) and touch(own["a"], own["world"]) and touch(own["b"], own["world"])
    assert all(touch(a, b) for a in one.values() for b in other.values())
    assert all(touch(a, {"group": 1, "mask": 2**32 - 1}) for a in one.values())
    assert not touch(shapes()["a"], {"group": 1 << 9, "mask": 2**32 - 1})  # as it always was
