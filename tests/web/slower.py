#!/usr/bin/env python3
"""Prints a scene with another time step.

    slower.py SCENE.json STEPS_PER_SECOND
"""
import json
import pathlib
import sys

scene = json.loads(pathlib.Path(sys.argv[1]).read_text())
scene.setdefault("settings", {})["time_step"] = 1 / float(sys.argv[2])
print(json.dumps(scene))
