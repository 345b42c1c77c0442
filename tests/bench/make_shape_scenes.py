#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the scenes of tests/scenes that are made of hulls, cylinders, meshes and height fields; what they come to is in
tests/wire/check_shape_scenes.c, and the bowl is of `moreau bench shapes`. The files are kept, so run it again only when a
scene is to change.

  tests/bench/make_shape_scenes.py
"""
import itertools
import json
import math
import random

import make_scenes
from make_scenes import DENSITY, GRAVITY, SCENES, body, box, rounded, scene


def written(number):
    """To 1e-5: what is computed anew has the same text with every libm."""
    return round(number, 5) + 0.0


# ---- pieces

def prism(corners, half):
    """A hull in its built form: a polygon of (x, z), counter-clockwise seen from -y, between y = -half and half."""
    count = len(corners)
    points = [(x, side * half, z) for side in (-1, 1) for x, z in corners]
    faces = [list(range(count)), list(reversed(range(count, 2 * count)))]
    faces += [[i, i + count, (i + 1) % count + count, (i + 1) % count] for i in range(count)]
    return {"points": rounded(itertools.chain(*points)), "faces": [{"points": face} for face in faces]}


def octahedron(x, y, z):
    points = [(x, 0, 0), (-x, 0, 0), (0, y, 0), (0, -y, 0), (0, 0, z), (0, 0, -z)]
    faces = [[a, b, c] if sign > 0 else [a, c, b] for a, b, c, sign in (
        (0, 2, 4, 1), (0, 2, 5, -1), (0, 3, 4, -1), (0, 3, 5, 1), (1, 2, 4, -1), (1, 2, 5, 1), (1, 3, 4, 1), (1, 3, 5, -1))]
    return {"points": rounded(itertools.chain(*points)), "faces": [{"points": face} for face in faces]}


def nut(radius, half):
    return prism([(radius * math.cos(math.pi * i / 3), radius * math.sin(math.pi * i / 3)) for i in range(6)], half)


def wedge(size):
    return prism([(-size, -size / 2), (size, -size / 2), (0, size)], 0.8 * size)


def mixed(size):
    """One of each: the geometries that they share, and a shape of each kind. No point is nearer to their middle than half a
    size, or farther from it than 1.5."""
    geometries = [{"name": "nut", "hull": nut(size, 0.7 * size)}, {"name": "wedge", "hull": wedge(size)},
                  {"name": "gem", "hull": octahedron(1.2 * size, size, 1.1 * size)}]
    shapes = [{"hull": {"geometry": "nut"}}, {"cylinder": {"radius": 0.8 * size, "half_length": 0.7 * size}},
              {"hull": {"geometry": "wedge"}}, {"box": {"half_extents": rounded([size, 0.75 * size, 0.6 * size])}},
              {"hull": {"geometry": "gem"}}, {"capsule": {"radius": 0.6 * size, "half_length": 0.5 * size}}]
    return geometries, [dict(shape, material="m", density=DENSITY) for shape in shapes]


def scattered(chance, shapes, count, places):
    """So many bodies, of each shape in turn, at the next places, turned anyhow."""
    bodies = []
    for i, at in zip(range(count), places):
        q = [chance.gauss(0, 1) for _ in range(4)]
        size = math.sqrt(sum(x * x for x in q))
        bodies.append({"position": [written(x + chance.uniform(-0.01, 0.01)) for x in at],
                       "orientation": [written(x / size) for x in q], "shapes": [shapes[i % len(shapes)]]})
    assert len(bodies) == count
    return bodies


def layers(pitch, low, is_inside):
    """Places of a cubic grid from a height on, upwards."""
    for layer in itertools.count():
        z = low + pitch * layer
        for x, y in itertools.product(range(-20, 21), repeat=2):
            if is_inside(pitch * x, pitch * y, z):
                yield pitch * x, pitch * y, z


def of_revolution(profile, sides):
    """A mesh about z through (radius, z), from below upwards, looking inwards; at radius 0 it ends in a point."""
    points, rings, triangles = [], [], []
    for radius, z in profile:
        count = sides if radius > 0 else 1
        rings.append([len(points) // 3 + i % count for i in range(sides)])
        for i in range(count):
            angle = 2 * math.pi * i / sides
            points += [written(radius * math.cos(angle)), written(radius * math.sin(angle)), written(z)]
    for low, high in itertools.pairwise(rings):
        for i in range(sides):
            j = (i + 1) % sides
            if low[0] != low[1]:
                triangles += [low[i], high[i], low[j]]
            if high[0] != high[1]:
                triangles += [low[j], high[i], high[j]]
    return {"points": points, "triangles": triangles}


# ---- scenes

def arch_hulls():
    """The arch of make_scenes.py, whose voussoirs are wedges of one piece here: the same joints, and so the same limit."""
    radius, angle, thickness = make_scenes.ARCH_RADIUS, make_scenes.ARCH_ANGLE, make_scenes.ARCH_THICKNESS
    made = make_scenes.arch()
    corners = [(r * math.sin(side * angle / 2), r * math.cos(side * angle / 2) - radius)
               for r, side in ((radius - thickness / 2, -1), (radius - thickness / 2, 1), (radius + thickness / 2, 1),
                               (radius + thickness / 2, -1))]
    stone = {"hull": {"geometry": "voussoir"}, "material": "m", "density": DENSITY}
    bodies = [dict(b, shapes=[stone]) if b.get("kind") != "STATIC" else b for b in made["bodies"]]
    return dict(made, name="arch-hulls", about="fifteen voussoirs, each a hull, between static springers; friction alone holds them",
                geometries=[{"name": "voussoir", "hull": prism(corners, 0.15)}], bodies=bodies)


DOMINO_HEIGHT, DOMINO_DEPTH, DOMINO_PITCH = 0.5, 0.06, 0.2


def dominoes_200():
    """What touches slides without friction, and feet do not slide: then the fall is that of one angle, which the test
    integrates. The first one begins as if pushed at its top."""
    stone = [{"box": {"half_extents": [DOMINO_DEPTH / 2, 0.12, DOMINO_HEIGHT / 2]}, "material": "stone", "density": 700}]
    spin = 1.5 * math.sqrt(GRAVITY / DOMINO_HEIGHT)
    bodies = [body(stone, (DOMINO_PITCH * i, 0, DOMINO_HEIGHT / 2)) for i in range(200)]
    bodies[0].update(angular_velocity=rounded([0, spin, 0]),
                     linear_velocity=rounded([spin * DOMINO_HEIGHT / 2, 0, spin * DOMINO_DEPTH / 2]))
    made = scene("dominoes-200", "200 dominoes in a row, the first one pushed", 1,
                 [{"kind": "STATIC", "shapes": [{"plane": {}, "material": "m"}]}] + bodies)
    made["settings"].update(time_step=1 / 480, sleep_speed=0.02)
    made["materials"].append({"name": "stone", "friction": 1})
    made["material_pairs"] = [{"a": "stone", "b": "stone", "friction": 0}]
    return made


GLASS = [(0, -2.3), (1.2, -2.3), (1.2, -1.4), (0.28, -0.1), (0.28, 0.1), (1.2, 1.4), (1.2, 3.2), (0, 3.2)]


def hourglass_300():
    """The neck is five bodies wide: nothing arches over it for long."""
    chance = random.Random("hourglass-300")
    geometries, shapes = mixed(0.06)
    geometries.append({"name": "glass", "mesh": of_revolution(GLASS, 24)})
    glass = {"name": "glass", "kind": "STATIC", "shapes": [{"mesh": {"geometry": "glass"}, "material": "m"}]}
    places = layers(0.21, 0.6, lambda x, y, z: math.hypot(x, y) < min(0.7 * z, 1.0))
    made = scene("hourglass-300", "300 hulls, cylinders, boxes and capsules run through an hourglass of a mesh", 0.3,
                 [glass] + scattered(chance, shapes, 300, places))
    return dict(made, geometries=geometries)


RUN_RADIUS, RUN_BORE, RUN_DROP, RUN_TURNS = 0.8, 0.12, 0.2, 2.5


def marble_run():
    """A channel, a circle's lower 220 degrees across, that winds down and ends in a wall."""
    steps, across = 120, 14
    points, triangles = [], []
    for i in range(steps + 1):
        angle = 2 * math.pi * RUN_TURNS * i / steps
        (c, s), z = (math.cos(angle), math.sin(angle)), -RUN_DROP * RUN_TURNS * i / steps
        for k in range(across + 1):
            lean = math.radians(220) * (k / across - 0.5)
            r = RUN_RADIUS + RUN_BORE * math.sin(lean)
            points += [written(r * c), written(r * s), written(z - RUN_BORE * math.cos(lean))]
    for i, k in itertools.product(range(steps), range(across)):
        a, b = i * (across + 1) + k, (i + 1) * (across + 1) + k
        triangles += [a, a + 1, b, a + 1, b + 1, b]
    for ring in (0, steps * (across + 1)):  # both ends are shut
        for k in range(1, across):
            corners = [ring, ring + k, ring + k + 1]
            triangles += corners if ring else reversed(corners)
    run = {"name": "run", "kind": "STATIC", "shapes": [{"mesh": {"points": points, "triangles": triangles, "two_sided": True},
                                                        "material": "m"}]}
    start = 2 * math.pi * RUN_TURNS * 3 / steps
    low = -RUN_DROP * RUN_TURNS * 3 / steps - RUN_BORE
    ball = {"name": "marble", "shapes": [{"sphere": {"radius": 0.04}, "material": "m", "density": 2500}],
            "position": rounded([RUN_RADIUS * math.cos(start), RUN_RADIUS * math.sin(start), low + 0.042])}
    return scene("marble-run", "a marble rolls down a winding channel of triangles", 0.4, [run, ball])


def hill(x, y):
    """Hills that grow towards +x, of slopes up to 0.35, and level ground about the origin."""
    grown = min(max((x - 1.5) / 3, 0), 1)
    return grown * (0.25 * (1 - math.cos(1.1 * (x - 1.5))) + 0.08 * math.sin(1.3 * y + 0.6 * x))


WHEEL_RADIUS, WHEEL_SPEED = 0.25, 8.0


def car(heights, name, about, speed):
    """A chassis on four cylinders, each driven, which already turn; the wheels take themselves to WHEEL_SPEED."""
    columns, rows, spacing = 57, 25, 0.3
    field = {"columns": columns, "rows": rows, "spacing": [spacing, spacing],
             "heights": [written(heights(spacing * (i - columns // 2) + 4, spacing * (k - rows // 2)))
                         for k, i in itertools.product(range(rows), range(columns))]}
    ground = {"name": "ground", "kind": "STATIC", "position": [4, 0, 0],
              "shapes": [{"height_field": field, "material": "ground"}]}
    chassis = {"name": "chassis", "position": [0, 0, 0.34], "linear_velocity": [speed, 0, 0],
               "shapes": [{"box": {"half_extents": [0.75, 0.25, 0.08]}, "material": "body", "density": 400}]}
    bodies, joints = [ground, chassis], []
    quarter = rounded([math.sqrt(0.5), math.sqrt(0.5), 0, 0])
    for end, side in itertools.product((1, -1), (1, -1)):
        wheel = f"wheel {'front' if end > 0 else 'rear'} {'left' if side > 0 else 'right'}"
        at = rounded([0.6 * end, 0.42 * side, WHEEL_RADIUS])
        bodies.append({"name": wheel, "position": at, "orientation": quarter, "linear_velocity": [speed, 0, 0],
                       "angular_velocity": [0, WHEEL_SPEED, 0],
                       "shapes": [{"cylinder": {"radius": WHEEL_RADIUS, "half_length": 0.06}, "material": "body",
                                   "density": 500}]})
        joints.append({"name": wheel.replace("wheel", "axle"), "kind": "HINGE", "body_a": "chassis", "body_b": wheel,
                       "anchor": at, "axis": [0, 1, 0], "drive_damping": [1e4], "target_velocity": [WHEEL_SPEED]})
    made = scene(name, about, 0.5, bodies)
    made["materials"] = [{"name": "ground", "friction": 0.6}, {"name": "body", "friction": 0.6}]
    return dict(made, joints=joints)


def car_hills():
    made = car(hill, "car-hills", "a car whose four wheels are cylinders drives over hills of a height field, and a ball rolls there",
               WHEEL_SPEED * WHEEL_RADIUS)
    made["bodies"].append({"name": "ball", "position": [5.2, 1.4, 1.0],
                           "shapes": [{"sphere": {"radius": 0.2}, "material": "body", "density": 300}]})
    return made


def car_slope():
    """Level here: the test has gravity lean."""
    return car(lambda x, y: 0.0, "car-slope", "a car whose wheels turn already is set down on a plane of triangles", 0.0)


def bin_200():
    """Five boxes make the bin."""
    chance, half, wall, height = random.Random("bin-200"), 0.6, 0.1, 0.9
    walls = [box((half + 2 * wall, half + 2 * wall, wall), (0, 0, -wall))]
    for side in (-1, 1):
        walls.append(box((wall, half + 2 * wall, height), (side * (half + wall), 0, height)))
        walls.append(box((half, wall, height), (0, side * (half + wall), height)))
    geometries, shapes = mixed(0.06)
    corner = [dict(shapes[3], box={"half_extents": [0.08, 0.025, 0.025]}, position=[0, 0, -0.04]),
              dict(shapes[3], box={"half_extents": [0.025, 0.025, 0.04]}, position=[0.055, 0, 0.025])]
    bodies = [{"name": "bin", "kind": "STATIC", "shapes": walls}]
    places = layers(0.24, 0.2, lambda x, y, z: max(abs(x), abs(y)) < 0.5)
    bodies += scattered(chance, shapes + [{"sphere": {"radius": 0.06}, "material": "m", "density": DENSITY}], 200, places)
    for b in bodies[8::8]:  # every eighth an angle of two boxes
        b["shapes"] = corner
    made = scene("bin-200", "200 hulls, cylinders, boxes, capsules, balls and angles fall into a bin", 0.5, bodies)
    return dict(made, geometries=geometries)


def bowl_mixed_1000():
    """A paraboloid of 768 triangles, shut by nothing."""
    chance, rise = random.Random("bowl-mixed-1000"), 0.35
    geometries, shapes = mixed(0.06)
    profile = [(0, 0)] + [(r / 5, rise * (r / 5) ** 2) for r in range(1, 17)]
    geometries.append({"name": "bowl", "mesh": of_revolution(profile, 24)})
    bowl = {"name": "bowl", "kind": "STATIC", "shapes": [{"mesh": {"geometry": "bowl"}, "material": "m"}]}
    places = layers(0.22, 0.9, lambda x, y, z: math.hypot(x, y) < 1.2)
    made = scene("bowl-mixed-1000", "1,000 hulls, cylinders, boxes and capsules fall into a bowl of triangles", 0.5,
                 [bowl] + scattered(chance, shapes, 1000, places))
    return dict(made, geometries=geometries)


def write(made, folder):
    """A line for each body, joint and geometry."""
    parts = []
    for key, value in made.items():
        if key in ("bodies", "joints", "geometries"):
            parts.append(f' "{key}": [\n' + ",\n".join("  " + json.dumps(entry) for entry in value) + "\n ]")
        else:
            parts.append(f' "{key}": {json.dumps(value)}')
    folder.mkdir(exist_ok=True)
    (folder / f"{made['name']}.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")


FOLDERS = (("shapes", (arch_hulls, marble_run, car_hills, car_slope)),
           ("large", (dominoes_200, hourglass_300, bin_200)), ("moving", (bowl_mixed_1000,)))

if __name__ == "__main__":
    for folder, makers in FOLDERS:
        for make in makers:
            write(make(), SCENES / folder)
