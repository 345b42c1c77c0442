#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs of primitives and a bowl of mixed bodies, beside MuJoCo and Bullet in one run; tables in Markdown.

    python3 tests/bench/peers/shapes.py build/release/clients/moreau-bench pairs
    python3 tests/bench/peers/shapes.py build/release/clients/moreau-bench bowl

Wants mujoco, pybullet and numpy of PyPI. `moreau bench shapes` makes 256 pairs of every two kinds, and times them; each
engine is given the same ones, far from each other and at rest, and asked for its contacts alone: `mj_collision` with
explicit pairs, `performCollisionDetection`. What the same bodies take where nothing is near is subtracted from all that
goes through a broad phase, ours in a step included. MuJoCo's meshes are their hulls, so ground of triangles is a height
field to it. Of the bowl the engines' poses are judged by our geometry: `moreau bench shapes --scene`.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pybullet

ROUNDS, CALLS, PER_SIDE = 9, 8, 16
REACH, PITCH, GROUND_PITCH = 0.02, 4.0, 2.0  # as bench_shapes.c has them
GROUND_HALF, GROUND_CELL = 17.0, 0.25
GROUNDS = ("plane", "mesh", "height_field")
SHORT, LONG = 0.1314327780297834, 0.2126627020880095
HULL = [p for a in (SHORT, -SHORT) for b in (LONG, -LONG) for p in ((0, a, b), (a, b, 0), (b, 0, a))]
SCENE = Path(__file__).resolve().parents[2] / "scenes" / "moving" / "bowl-mixed-1000.json"


def median_ns(ask: Any) -> float:
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time_ns()
        for _ in range(CALLS):
            ask()
        times.append((time.process_time_ns() - begun) / CALLS)
    return statistics.median(times)


def place(trial: dict[str, Any], i: int, away: float) -> tuple[list[float], list[float]]:
    """The two poses of pair i; b moved away from a, as moreau-bench moves it."""
    pitch = GROUND_PITCH if trial["a"] in GROUNDS else PITCH
    shift = np.array([pitch * (i % PER_SIDE - (PER_SIDE - 1) / 2), pitch * (i // PER_SIDE - (PER_SIDE - 1) / 2), 0])
    a, b = (np.array(pose, dtype=float) for pose in trial["pairs"][i])
    b[:3] += away * (b[:3] - a[:3]) / np.linalg.norm(b[:3] - a[:3])
    a[:3] += shift
    b[:3] += shift
    return list(a), list(b)


# ---- MuJoCo

MUJOCO_GEOMS = {
    "sphere": "type='sphere' size='0.25'", "box": "type='box' size='0.25 0.2 0.15'",
    "capsule": "type='capsule' size='0.15 0.2'", "cylinder": "type='cylinder' size='0.2 0.2'",
    "hull": "type='mesh' mesh='hull'", "plane": "type='plane' size='0 0 1'",
    "height_field": "type='hfield' hfield='ground'"}


def numbers(values: Any) -> str:
    return " ".join(f"{v:.17g}" for v in values)


def mujoco_body(kind: str, name: str, pose: list[float]) -> str:
    return (f"<body pos='{numbers(pose[:3])}' quat='{numbers(pose[3:])}'><freejoint/>"
            f"<geom name='{name}' {MUJOCO_GEOMS[kind]} contype='0' conaffinity='0' margin='{REACH}'/></body>")


def mujoco_model(trial: dict[str, Any], away: float) -> mujoco.MjModel:
    side = int(2 * GROUND_HALF / GROUND_CELL) + 1
    bodies, pairs = [], []
    is_ground = trial["a"] in GROUNDS
    if is_ground:
        bodies.append(f"<geom name='ground' {MUJOCO_GEOMS[trial['a']]} contype='0' conaffinity='0'/>")
    for i in range(len(trial["pairs"])):
        a, b = place(trial, i, away)
        if not is_ground:
            bodies.append(mujoco_body(trial["a"], f"a{i}", a))
        bodies.append(mujoco_body(trial["b"], f"b{i}", b))
        first = "ground" if is_ground else f"a{i}"
        pairs.append(f"<pair geom1='{first}' geom2='b{i}' margin='{REACH}'/>")
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><size memory='300M'/><asset><mesh name='hull' vertex='{numbers(np.ravel(HULL))}'/>"
        f"<hfield name='ground' nrow='{side}' ncol='{side}' size='{GROUND_HALF} {GROUND_HALF} 1 1'/></asset>"
        f"<worldbody>{''.join(bodies)}</worldbody><contact>{''.join(pairs)}</contact></mujoco>")


def mujoco_ns(trial: dict[str, Any]) -> float:
    if trial["a"] == "mesh":
        return math.nan
    found = []
    for away in (0.0, 1.0):
        model = mujoco_model(trial, away)
        data = mujoco.MjData(model)
        mujoco.mj_fwdPosition(model, data)
        found.append((median_ns(lambda m=model, d=data: mujoco.mj_collision(m, d)), data.ncon))
    count = len(trial["pairs"])
    if found[0][1] < count:
        print(f"mujoco, {trial['a']} and {trial['b']}, {trial['distance']}: {found[0][1]} contacts", file=sys.stderr)
    return (found[0][0] - found[1][0]) / count


# ---- Bullet

def ground_triangles() -> tuple[list[list[float]], list[int]]:
    side = int(2 * GROUND_HALF / GROUND_CELL)
    points = [[GROUND_CELL * i - GROUND_HALF, GROUND_CELL * k - GROUND_HALF, 0.0]
              for k in range(side + 1) for i in range(side + 1)]
    triangles: list[int] = []
    for k in range(side):
        for i in range(side):
            low = k * (side + 1) + i
            triangles += [low, low + 1, low + side + 2, low, low + side + 2, low + side + 1]
    return points, triangles


def bullet_shape(kind: str) -> int:
    if kind == "mesh":
        points, triangles = ground_triangles()
        return pybullet.createCollisionShape(pybullet.GEOM_MESH, vertices=points, indices=triangles,
                                             flags=pybullet.GEOM_FORCE_CONCAVE_TRIMESH)
    if kind == "height_field":
        side = int(2 * GROUND_HALF / GROUND_CELL) + 1
        return pybullet.createCollisionShape(pybullet.GEOM_HEIGHTFIELD, meshScale=[GROUND_CELL, GROUND_CELL, 1],
                                             heightfieldData=[0.0] * side**2, numHeightfieldRows=side,
                                             numHeightfieldColumns=side)
    made: dict[str, dict[str, Any]] = {
        "sphere": {"shapeType": pybullet.GEOM_SPHERE, "radius": 0.25},
        "box": {"shapeType": pybullet.GEOM_BOX, "halfExtents": [0.25, 0.2, 0.15]},
        "capsule": {"shapeType": pybullet.GEOM_CAPSULE, "radius": 0.15, "height": 0.4},
        "cylinder": {"shapeType": pybullet.GEOM_CYLINDER, "radius": 0.2, "height": 0.4},
        "hull": {"shapeType": pybullet.GEOM_MESH, "vertices": HULL},
        "plane": {"shapeType": pybullet.GEOM_PLANE, "planeNormal": [0, 0, 1]}}
    return pybullet.createCollisionShape(**made[kind])


def bullet_body(shape: int, pose: list[float], mass: float = 1.0) -> int:
    return pybullet.createMultiBody(mass, shape, -1, pose[:3], [*pose[4:], pose[3]])


def bullet_ns(trial: dict[str, Any]) -> float:
    found = []
    for away in (0.0, 1.0):
        pybullet.connect(pybullet.DIRECT)
        a, b = bullet_shape(trial["a"]), bullet_shape(trial["b"])
        is_ground = trial["a"] in GROUNDS
        if is_ground:
            bullet_body(a, [0, 0, 0, 1, 0, 0, 0], 0.0)
        for i in range(len(trial["pairs"])):
            first, second = place(trial, i, away)
            if not is_ground:
                bullet_body(a, first)
            bullet_body(b, second)
        pybullet.performCollisionDetection()
        found.append((median_ns(pybullet.performCollisionDetection), len(pybullet.getContactPoints())))
        pybullet.disconnect()
    count = len(trial["pairs"])
    if found[0][1] < count:
        print(f"bullet, {trial['a']} and {trial['b']}, {trial['distance']}: {found[0][1]} contacts", file=sys.stderr)
    return (found[0][0] - found[1][0]) / count


def told(ns: float) -> str:
    return "–" if math.isnan(ns) else f"{ns:,.0f}" if ns >= 100 else f"{ns:.2g}"


def pairs(bench: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([bench, "shapes", "--write", folder], check=True, stdout=subprocess.DEVNULL)
        text = (Path(folder) / "shapes.jsonl").read_text()
    trials = [json.loads(part) for part in text.replace("]}\n{", "]}\0{").split("\0")]
    print("| pair | distance | narrow phase | in a step | MuJoCo | Bullet |\n| --- | --- | --- | --- | --- | --- |")
    for trial in trials:
        narrow = trial["narrow_ns"] or math.nan
        print(f"| {trial['a']}, {trial['b']} | {trial['distance']} | {told(narrow)} | {told(trial['step_ns'])} "
              f"| {told(mujoco_ns(trial))} | {told(bullet_ns(trial))} |", flush=True)


# ---- the bowl

PHASES, PHASE_STEPS = 4, 120


def judged(bench: str, scene: dict[str, Any], poses: list[list[float]]) -> list[float]:
    """Deepest and mean overlap [mm] of bodies that are at those places."""
    for body, pose in zip(scene["bodies"][1:], poses, strict=True):
        body["position"], body["orientation"] = pose[:3], pose[3:]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(scene, file)
        file.flush()
        done = subprocess.run([bench, "shapes", "--scene", file.name, "--json"], check=True, capture_output=True, text=True)
    return [row["value"] for row in json.loads(done.stdout)["rows"][:2]]


def hull_points(scene: dict[str, Any], name: str) -> list[list[float]]:
    flat = next(g["hull"]["points"] for g in scene["geometries"] if g["name"] == name)
    return [flat[i:i + 3] for i in range(0, len(flat), 3)]


def bullet_bowl(scene: dict[str, Any]) -> tuple[Any, Any]:
    pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -9.81)
    pybullet.setPhysicsEngineParameter(fixedTimeStep=1 / 240, numSolverIterations=10, enableSAT=1)
    mesh = next(g["mesh"] for g in scene["geometries"] if g["name"] == "bowl")
    points = [mesh["points"][i:i + 3] for i in range(0, len(mesh["points"]), 3)]
    bowl = pybullet.createCollisionShape(pybullet.GEOM_MESH, vertices=points, indices=mesh["triangles"],
                                         flags=pybullet.GEOM_FORCE_CONCAVE_TRIMESH)
    bodies = [bullet_body(bowl, [0, 0, 0, 1, 0, 0, 0], 0.0)]
    shapes: dict[str, int] = {}
    for body in scene["bodies"][1:]:
        key = json.dumps(body["shapes"])
        kind, size = next((k, v) for k, v in body["shapes"][0].items() if isinstance(v, dict))
        if key not in shapes:
            shapes[key] = (
                pybullet.createCollisionShape(pybullet.GEOM_MESH, vertices=hull_points(scene, size["geometry"]))
                if kind == "hull" else
                pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=size["half_extents"]) if kind == "box" else
                pybullet.createCollisionShape(pybullet.GEOM_CAPSULE if kind == "capsule" else pybullet.GEOM_CYLINDER,
                                              radius=size["radius"], height=2 * size["half_length"]))
        bodies.append(bullet_body(shapes[key], body["position"] + body["orientation"], 1.0))
    for body in bodies:
        pybullet.changeDynamics(body, -1, lateralFriction=math.sqrt(0.5), restitution=0, linearDamping=0, angularDamping=0)

    def poses() -> list[list[float]]:
        got = (pybullet.getBasePositionAndOrientation(body) for body in bodies[1:])
        return [[*p, q[3], *q[:3]] for p, q in got]
    return pybullet.stepSimulation, poses


def bowl(bench: str) -> None:
    scene = json.loads(SCENE.read_text())
    step, poses = bullet_bowl(scene)
    print("| Bullet, 10 iterations | step p50 | p99 | deepest overlap | mean |\n| --- | --- | --- | --- | --- |")
    for phase in range(PHASES):
        times = []
        deepest, mean = 0.0, 0.0
        for i in range(PHASE_STEPS):
            begun = time.process_time_ns()
            step()
            times.append((time.process_time_ns() - begun) * 1e-6)
            if i % 30 == 29:
                deep, mean = judged(bench, scene, poses())
                deepest = max(deepest, deep)
        times.sort()
        print(f"| {phase / 2} to {(phase + 1) / 2} s | {times[60]:.1f} ms | {times[-2]:.1f} ms | {deepest:.2f} mm "
              f"| {mean:.2f} mm |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in ("pairs", "bowl"):
        sys.exit(__doc__)
    {"pairs": pairs, "bowl": bowl}[sys.argv[2]](sys.argv[1])
