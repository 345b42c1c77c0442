#!/usr/bin/env python3
"""Prints a scene of N bodies of three kinds that fly through each other's neighbourhood and touch nothing: what a viewer has to draw, and no more.

    large.py N
"""
import json
import math
import sys

SPACING = 0.5  # [m]


def main(count):
    side = math.ceil(count ** (1 / 3))
    shapes = [{"sphere": {"radius": 0.08}}, {"box": {"half_extents": [0.05, 0.06, 0.07]}}, {"capsule": {"radius": 0.04, "half_length": 0.06}}]
    bodies = [{
        "position": [SPACING * (i % side), SPACING * (i // side % side), SPACING * (i // side ** 2)],
        "linear_velocity": [0.02 * math.sin(i), 0.02 * math.cos(i), 0.01 * math.sin(2 * i)],
        "angular_velocity": [math.sin(3 * i), math.cos(2 * i), 1], "shapes": [shapes[i % 3]]} for i in range(count)]
    print(json.dumps({"settings": {"gravity": [0, 0, 0], "time_step": 0.002}, "bodies": bodies}))


main(int(sys.argv[1]))
