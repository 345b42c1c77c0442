#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the scenes of tests/scenes whose bodies are computed: those that stand or fall by a closed form, and those of
many bodies. The files are kept, so run it again only when a scene is to change.

  tests/bench/make_scenes.py            writes them
  tests/bench/make_scenes.py --limits   the friction at which each of the first kind begins to hold, from its closed form

All planar ones lie in the plane of x and z; an angle turns about y, z towards x. Units are SI.
"""
import json
import math
import pathlib
import random
import sys

SCENES = pathlib.Path(__file__).resolve().parent.parent / "scenes"
GRAVITY = 9.81
TIME_STEP = 1 / 240
DENSITY = 1000.0
GROUND = {"kind": "STATIC", "shapes": [{"plane": {}, "material": "m"}]}


def rounded(numbers):
    """To 1e-12: less than any tolerance, and the same text from every libm."""
    return [round(number, 12) + 0.0 for number in numbers]


def turned(angle):
    return rounded([math.cos(angle / 2), 0, math.sin(angle / 2), 0])


def up(angle):
    """The z axis of what is turned by the angle, as (x, z)."""
    return math.sin(angle), math.cos(angle)


def along(angle):
    return math.cos(angle), -math.sin(angle)


def box(half, position=(0, 0, 0), angle=0.0, density=DENSITY):
    shape = {"box": {"half_extents": rounded(half)}, "material": "m", "density": density}
    if any(position):
        shape["position"] = rounded(position)
    if angle:
        shape["orientation"] = turned(angle)
    return shape


def body(shapes, position, angle=0.0, **more):
    made = dict(more, position=rounded(position))
    if angle:
        made["orientation"] = turned(angle)
    made["shapes"] = shapes
    return made


def scene(name, about, friction, bodies, gravity=(0, 0, -GRAVITY)):
    return {"name": name, "about": about,
            "settings": {"gravity": rounded(gravity), "time_step": TIME_STEP, "solver": "mdp"},
            "materials": [{"name": "m", "friction": friction}], "bodies": bodies}


# ---- what stands or falls by a closed form

ARCH_COUNT, ARCH_ANGLE, ARCH_RADIUS, ARCH_THICKNESS = 15, math.radians(10), 1.0, 0.25


def voussoir():
    """Two boxes turned against each other by the wedge's angle: the left face of one and the right face of the other are
    the joints. The body's origin lies on the middle radius."""
    inner = ARCH_RADIUS - ARCH_THICKNESS / 2
    half = 0.85 * inner * math.tan(ARCH_ANGLE) / 2  # narrower than the inner width: nothing sticks out at the other joint
    shapes = []
    for side in (-1, 1):
        angle = side * ARCH_ANGLE / 2
        (rx, rz), (tx, tz) = up(angle), along(angle)
        at = ARCH_RADIUS * rx - side * half * tx, 0, ARCH_RADIUS * (rz - 1) - side * half * tz
        shapes.append(box((half, 0.15, ARCH_THICKNESS / 2), at, angle))
    return shapes


def arch():
    """On the joint at the angle a from the crown the thrust H and the weight above, W = w a/ARCH_ANGLE, make the angle
    atan(W/H) with the horizontal, and the joint's normal the angle a: friction must bear the difference. H is free."""
    bodies, height = [GROUND], 0.2 - (ARCH_RADIUS - 0.5) * math.cos(7.5 * ARCH_ANGLE)
    for side in (-1, 1):
        angle = side * 7.5 * ARCH_ANGLE
        (rx, rz), (tx, tz) = up(angle), along(angle)
        at = ARCH_RADIUS * rx + side * 0.2 * tx, 0, height + ARCH_RADIUS * rz + side * 0.2 * tz
        bodies.append(body([box((0.2, 0.3, 0.3))], at, angle, kind="STATIC"))
    shapes = voussoir()
    for i in range(ARCH_COUNT):
        angle = (i - 7) * ARCH_ANGLE
        rx, rz = up(angle)
        bodies.append(body(shapes, (ARCH_RADIUS * rx, 0, height + ARCH_RADIUS * rz), angle))
    return scene("arch", "fifteen voussoirs of 10 degrees between static springers; friction alone holds them", 0.4, bodies)


def arch_limit():
    joints = [(i + 0.5) * ARCH_ANGLE for i in range(8)]

    def needed(c):  # c = w/(ARCH_ANGLE H)
        return max(abs(math.tan(math.atan(c * a) - a)) for a in joints)
    return min(needed(1 + i / 10000) for i in range(20000))


CARD_ANGLE, CARD_LENGTH, CARD_THICKNESS = math.radians(60), 0.2, 0.005
CARD_REST = CARD_LENGTH - 2 * CARD_THICKNESS  # where on the left card, from its foot, the right one leans; its length


def card(foot, length, side):
    """A card on the edge of its underside, which stands at `foot` (x, z), leaning to the right (side 1) or left."""
    lean = side * (math.pi / 2 - CARD_ANGLE)
    (ux, uz), (nx, nz) = up(lean), along(lean)
    away = -side * CARD_THICKNESS / 2
    at = foot[0] + length / 2 * ux + away * nx, 0, foot[1] + length / 2 * uz + away * nz
    return body([box((CARD_THICKNESS / 2, 0.06, length / 2))], at, lean)


def frame(x, z):
    """Two cards; the right one's upper edge rests on the underside of the left one."""
    span = 2 * CARD_REST * math.cos(CARD_ANGLE)
    return [card((x, z), CARD_LENGTH, 1), card((x + span, z), CARD_REST, -1)]


def card_frame():
    return scene("card-frame", "two cards lean on each other", 0.5, [GROUND] + frame(0, 0))


def card_house():
    """Two frames, a card across them, and a frame on that."""
    pitch, thick = 0.24, CARD_THICKNESS
    top_x = CARD_LENGTH * math.cos(CARD_ANGLE) - thick * math.sin(CARD_ANGLE)  # of a left card's highest edge
    top_z = CARD_LENGTH * math.sin(CARD_ANGLE) + thick * math.cos(CARD_ANGLE)
    middle = top_x + pitch / 2
    roof = body([box((0.16, 0.06, thick / 2))], (middle, 0, top_z + thick / 2))
    upper = frame(middle - CARD_REST * math.cos(CARD_ANGLE), top_z + thick)
    return scene("card-house", "seven cards on two floors", 0.8, [GROUND] + frame(0, 0) + frame(pitch, 0) + [roof] + upper)


def card_limit():
    """Two bodies, three edges: the moments about both feet give the force (-H, V) on the left card where they lean."""
    c, s, rest, half = math.cos(CARD_ANGLE), math.sin(CARD_ANGLE), CARD_REST, CARD_THICKNESS / 2
    left, right = CARD_LENGTH, rest  # weights, in units of a metre of card
    a = (CARD_LENGTH / 2 * c - half * s) * left    # rest (c V + s H) = a
    b = (rest / 2 * c - half * s) * right          # rest (s H - c V) = b
    push, lift = (a + b) / (2 * rest * s), (a - b) / (2 * rest * c)
    lean = abs(lift * s - push * c) / (push * s + lift * c)
    return max(lean, push / (left - lift), push / (right + lift))


WEDGE_ANGLE, WEDGE_TOP, WEDGE_WALL = math.radians(30), 0.25, 0.2


def wedge():
    """A block between an incline, which is a wedge on the ground, and a wall: it pushes the wedge away from the wall."""
    nx, nz = up(WEDGE_ANGLE)
    half = 0.03
    incline = [box((0.25, 0.1, 0.02), (-0.1, 0, 0.02)),
               box((0.2, 0.1, half), (-half * nx, 0, WEDGE_TOP - half * nz), WEDGE_ANGLE)]
    foot = 0.05
    block = [box((0.1, 0.1, foot), (foot * nx, 0, foot * nz), WEDGE_ANGLE),
             box((0.15, 0.1, 0.1), (WEDGE_WALL - 0.15, 0, 0.25))]
    wall = {"kind": "STATIC", "position": [WEDGE_WALL, 0, 0], "shapes": [{"plane": {"normal": [-1, 0, 0]}, "material": "m"}]}
    return scene("wedge", "a block slides down between a wall and a wedge, unless friction holds both", 0.5,
                 [GROUND, wall, body(incline, (0, 0, 0)), body(block, (0, 0, WEDGE_TOP))])


def wedge_limit():
    """Block down, wedge away from the wall, all three surfaces slipping: N between the two from the block's weight P,
    N (cos a + 2 mu sin a - mu^2 cos a) = P; the wedge holds where N (sin a - mu cos a) <= mu (w + N (cos a + mu sin a))."""
    def volume(b):
        half = b["box"]["half_extents"]
        return half[0] * half[1] * half[2]
    made = wedge()["bodies"]
    w, p = (sum(volume(b) for b in made[i]["shapes"]) for i in (2, 3))
    c, s = math.cos(WEDGE_ANGLE), math.sin(WEDGE_ANGLE)
    low, high = 0.0, math.tan(WEDGE_ANGLE)
    for _ in range(100):
        mu = (low + high) / 2
        n = p / (c + 2 * mu * s - mu * mu * c)
        low, high = (mu, high) if n * (s - mu * c) > mu * (w + n * (c + mu * s)) else (low, mu)
    return high


def tower(count=5, slope=0.15):
    """Slides where friction is below the slope of the ground, tips where width over height is."""
    boxes = [body([box((0.1, 0.1, 0.1))], (0, 0, 0.1 + 0.2 * i)) for i in range(count)]
    size = GRAVITY / math.hypot(1, slope)
    return scene("tower", "five boxes on each other on ground of slope 0.15, which lies level here: gravity does not",
                 0.5, [GROUND] + boxes, (slope * size, 0, -size))


def mass_ladder():
    boxes = [body([box((0.1, 0.1, 0.1), density=10.0 ** i / 0.008)], (0, 0, 0.1 + 0.2 * i)) for i in range(7)]
    return scene("mass-ladder", "seven boxes on each other, from 1 kg below to 1,000,000 kg on top", 0.5, [GROUND] + boxes)


# ---- many bodies

def brick_bond():
    """A floor of bricks in running bond: in front of each brick's side two others lie, half and half."""
    bricks = [body([box((0.25, 0.25, 0.1))], (0.5 * i, 0.5 * j + 0.25 * (i % 2), -0.1), kind="STATIC")
              for i in range(-2, 8) for j in range(-3, 4)]
    slides = body([box((0.2, 0.15, 0.1))], (0, 0.013, 0.1), linear_velocity=[3, 0.3, 0])
    made = scene("brick-bond", "a box slides over a floor of bricks as over one plane, and no brick's side stops it", 0.1, [slides] + bricks)
    made["settings"]["parameters"] = tight("mdp")
    return made


def walls(half):
    q = math.sqrt(0.5)
    places = [((-half, 0, 0), (q, 0, q, 0)), ((half, 0, 0), (q, 0, -q, 0)),
              ((0, -half, 0), (q, -q, 0, 0)), ((0, half, 0), (q, q, 0, 0))]
    return [{"kind": "STATIC", "position": rounded(p), "orientation": rounded(o),
             "shapes": [{"plane": {}, "material": "m"}]} for p, o in places]


def ball(radius, position, density=DENSITY, **more):
    return body([{"sphere": {"radius": round(radius, 6)}, "material": "m", "density": density}], position, **more)


def balls(name, per_side, radius, about):
    """A loose lattice of balls of many sizes, which falls into a box."""
    chance, pitch = random.Random(name), 2.3 * radius
    bodies = [GROUND] + walls(per_side * pitch / 2)
    for i in range(per_side ** 3):
        layer, rest = divmod(i, per_side ** 2)
        at = [pitch * (k - (per_side - 1) / 2) + chance.uniform(-0.05, 0.05) * radius for k in reversed(divmod(rest, per_side))]
        bodies.append(ball(radius * chance.uniform(0.9, 1.1), [round(x, 6) for x in at + [pitch * (layer + 0.6)]]))
    return scene(name, about, 0.5, bodies)


def heap_12():
    """Boxes at random orientations, which fall into a narrow box."""
    chance, bodies = random.Random("heap-12"), [GROUND] + walls(0.27)
    for i in range(12):
        layer, column = divmod(i, 4)
        at = [0.27 * (column % 2 - 0.5), 0.27 * (column // 2 - 0.5), 0.2 + 0.3 * layer]
        q = [chance.uniform(-1, 1) for _ in range(4)]
        size = math.sqrt(sum(x * x for x in q))
        made = body([box((0.1, 0.08, 0.06))], [round(x + chance.uniform(-0.01, 0.01), 6) for x in at])
        bodies.append(dict({"position": made["position"], "orientation": [round(x / size, 9) for x in q]}, shapes=made["shapes"]))
    return scene("heap-12", "twelve boxes fall into a narrow box", 0.5, bodies)


def pyramid_6_kicked():
    chance, bodies = random.Random("pyramid-6-kicked"), [GROUND]
    for course in range(3):
        for i in range(3 - course):
            kick = [round(chance.uniform(-1, 1), 6) for _ in range(3)]
            bodies.append(body([box((0.1, 0.1, 0.1))], (0.202 * (i + course / 2), 0, 0.1 + 0.2 * course), linear_velocity=kick))
    return scene("pyramid-6-kicked", "six boxes in a pyramid, each kicked", 0.5, bodies)


def wall_105_hit():
    boxes = []
    for course in range(10):
        count = 11 - course % 2
        boxes += [body([box((0.2, 0.1, 0.1))], (0.404 * (i - (count - 1) / 2), 0, 0.1 + 0.2 * course)) for i in range(count)]
    hit = ball(0.2, (0.1, -0.7, 1.0), 2000.0, linear_velocity=[0, 8, 0])
    return scene("wall-105-hit", "a wall of 105 boxes in half bond, and a ball that hits it after 12 steps", 0.5, [GROUND] + boxes + [hit])


# ---- the papers' scenes; what they come to is in tests/system/check_scenes.c

def heap_mixed_300():
    """Boxes, capsules and balls in turn, at random orientations, in layers of 36 above a square box."""
    chance, bodies = random.Random("heap-mixed-300"), [GROUND] + walls(0.86)
    kinds = [box((0.1, 0.08, 0.06)), {"capsule": {"radius": 0.06, "half_length": 0.08}, "material": "m", "density": DENSITY},
             {"sphere": {"radius": 0.09}, "material": "m", "density": DENSITY}]
    for i in range(300):
        layer, rest = divmod(i, 36)
        at = [0.28 * (k - 2.5) + chance.uniform(-0.01, 0.01) for k in reversed(divmod(rest, 6))] + [0.16 + 0.29 * layer]
        q = [chance.gauss(0, 1) for _ in range(4)]
        size = math.sqrt(sum(x * x for x in q))
        bodies.append({"position": [round(x, 6) for x in at], "orientation": [round(x / size, 9) for x in q],
                       "shapes": [kinds[i % 3]]})
    return scene("heap-mixed-300", "300 boxes, capsules and balls fall into a square box", 0.5, bodies)


def paper(name, about, solver, step, materials, bodies, gravity=(0, 0, -GRAVITY), **settings):
    """With contact planes of the start of a step, as the papers have them. The first material is the ground's."""
    ground = {"name": "ground", "kind": "STATIC", "shapes": [{"plane": {}, "material": materials[0]["name"]}]}
    return {"name": name, "about": about,
            "settings": dict({"gravity": rounded(gravity), "time_step": step, "solver": solver, "contact_plane": "START"}, **settings),
            "materials": materials, "bodies": [ground] + bodies}


def solid_ball(name, position, radius=0.1, material="m", **more):
    """1 kg, and the inertia of a solid ball."""
    return body([{"sphere": {"radius": radius}, "material": material}], position, name=name, mass=1, **more)


def tight(solver):
    return {solver: {"tolerance": 1e-12, "max_iterations": 100000}}


def sliding_ball():
    return paper("sliding-ball", "a ball set down at 10 m/s: convex friction throws it up, Coulomb's lets it slide until it rolls "
                 "(Negrut, Serban, Tasora)", "ccp", 0.001, [{"name": "m", "friction": 0.2}],
                 [solid_ball("ball", (0, 0, 0.1), linear_velocity=[10, 0, 0])], parameters=tight("ccp"))


def box_on_slope():
    angle = math.radians(30)
    box_ = body([box((0.5, 0.5, 0.25))], (0, 0, 0.25), name="box", mass=2)
    return paper("box-on-slope", "a box slides down 30 degrees, which lie level here: gravity does not. Under convex friction it hovers "
                 "(Negrut, Serban, Tasora)", "ccp", 0.001, [{"name": "m", "friction": 0.3}], [box_],
                 (GRAVITY * math.sin(angle), 0, -GRAVITY * math.cos(angle)), parameters=tight("ccp"))


def box_on_ramp():
    angle = math.radians(15)
    box_ = body([box((0.5, 0.5, 0.5))], (0, 0, 0.5), name="box", mass=1)
    return paper("box-on-ramp", "a cube slides down 15 degrees, which lie level here: gravity does not (Drumwright)", "compliant", 0.01,
                 [{"name": "m", "friction": 0.125, "stiffness": 2e9, "damping": 2}], [box_],
                 (9.8 * math.sin(angle), 0, -9.8 * math.cos(angle)), parameters=tight("compliant"))


def ball_stack():
    balls_ = [solid_ball(f"ball{i + 1}", (0, 0, 0.15 + 0.25 * i)) for i in range(10)]
    return paper("ball-stack", "ten balls, 5 cm above each other, fall onto springs and dampers in steps of 10 ms (Drumwright)", "compliant",
                 0.01, [{"name": "m", "friction": 0, "stiffness": 2e9, "damping": 2}], balls_, margin=0.2, parameters=tight("compliant"))


def dropped_ball():
    return paper("dropped-ball", "a ball falls 5 cm onto a spring that dissipates (Castro, Permenter, Han)", "sap", 0.001,
                 [{"name": "rigid", "friction": 0.5}, {"name": "soft", "friction": 0.5, "stiffness": 1e4, "dissipation_time": 0.01}],
                 [solid_ball("ball", (0, 0, 0.15), material="soft")], margin=0.2, parameters=tight("sap"))


def ball_column():
    balls_ = [solid_ball(f"ball{i + 1}", (0, 0, 0.1 + 0.2 * i)) for i in range(10)]
    return paper("ball-column", "ten balls rest exactly on each other: sweeps from bottom to top take hundreds to tell each what it bears "
                 "(Preclik, Eibl, Ruede)", "mdp", 0.001, [{"name": "m", "friction": 0.4}], balls_, parameters=tight("mdp"))


def kicked_column():
    balls_ = [solid_ball(f"ball{i + 1}", (0.003 * (i % 2), 0.002 * (i % 3), 0.1 + 0.202 * i)) for i in range(10)]
    balls_[0]["linear_velocity"] = [0.3, 0, 0]
    return paper("kicked-column", "a column of ten balls, nearly touching, whose lowest is kicked (Preclik, Eibl, Ruede)", "mdp", 0.001,
                 [{"name": "m", "friction": 0.4}], balls_, margin=0.02,
                 parameters={"mdp": dict(tight("mdp")["mdp"], overlap_correction=1)}, recovery_speed=1e9, rotation="EXPLICIT")


def dumbbell():
    """Two balls as one body, as much turned about y."""
    angle = 0.9
    shapes = [{"sphere": {"radius": 0.1}, "position": [x, 0, 0], "material": "m"} for x in (0.3, -0.3)]
    rod = {"name": "dumbbell", "position": [0, 0, 0.3 * math.sin(angle) + 0.12], "orientation": [math.cos(angle / 2), 0, math.sin(angle / 2), 0],
           "linear_velocity": [-3, 0.8, -0.5], "angular_velocity": [0.5, 1, 2], "mass": 1, "inertia": [0.004, 0.03, 0.03, 0, 0, 0],
           "shapes": shapes}
    return paper("dumbbell", "a dumbbell lands on friction of 1.5 and tells maximum dissipation from Coulomb's law (Preclik, Eibl, Ruede)", "mdp",
                 0.0005, [{"name": "m", "friction": 1.5}], [rod], margin=0.2,
                 parameters={"mdp": dict(tight("mdp")["mdp"], overlap_correction=1)}, recovery_speed=1e9, rotation="EXPLICIT")


def two_balls_meet():
    still = solid_ball("still", (0, 0, 0), 0.5)
    comes = dict(solid_ball("comes", (0, 0, 0), 0.5, linear_velocity=[1.3, -0.4, 0.25], angular_velocity=[0.3, -0.2, 0.7]),
                 position=[-math.cos(0.4), -math.sin(0.4), 0])
    made = paper("two-balls-meet", "two balls meet obliquely, and stick where they touch (Preclik, Eibl, Ruede)", "mdp", 0.001,
                 [{"name": "m", "friction": 0.2}], [comes, still], (0, 0, 0), parameters=tight("mdp"))
    made["bodies"].pop(0)  # no ground
    return made


SMALL = [arch, card_frame, card_house, wedge, tower, mass_ladder, brick_bond, heap_12, pyramid_6_kicked, sliding_ball, box_on_slope, box_on_ramp,
         ball_stack, dropped_ball, ball_column, kicked_column, dumbbell, two_balls_meet,
         lambda: balls("balls-27", 3, 0.1, "27 balls fall into a box")]
LARGE = [lambda: balls("balls-125", 5, 0.1, "125 balls fall into a box"),
         lambda: balls("pile-1000", 10, 0.05, "1,000 balls fall into a box"), wall_105_hit]
MOVING = [heap_mixed_300]


def write(made, folder):
    bodies = ",\n".join("  " + json.dumps(b) for b in made["bodies"])
    head = json.dumps(dict(made, bodies=[]), indent=1)
    text = head[:head.rindex("[]")] + "[\n" + bodies + "\n ]\n}\n"
    (folder / f"{made['name']}.json").write_text(text)


def main():
    if sys.argv[1:] == ["--limits"]:
        print(f"arch {arch_limit():.4f}\ncard-frame {card_limit():.4f}\nwedge {wedge_limit():.4f}\ntower 0.15")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        for folder, scenes in ((SCENES, SMALL), (SCENES / "large", LARGE), (SCENES / "moving", MOVING)):
            for make in scenes:
                write(make(), folder)


if __name__ == "__main__":
    main()
