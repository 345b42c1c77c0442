# SPDX-License-Identifier: MIT
"""Scenes from MJCF and URDF files, read by MuJoCo's own parser: the optional extra `moreau-sim[import]`.

    imported = moreau_sim.importers.load("ant.xml")
    for sentence in imported.unsupported:
        print(sentence)
    world = moreau_sim.World.create(client, imported.scene)

`python -m moreau_sim import FILE` does the same on the command line.

Bodies that no joint holds apart are one body here. Two or three joints of one body are one joint of as many
axes where their axes stand at right angles and meet; otherwise bodies of a billionth of its mass stand
between. Mocap bodies are kinematic. Numbers of joints are MuJoCo's own: a position here is the same number there, `ref`
included.
"""

from ._actuators import Control
from ._joints import Numbers
from ._load import Imported, ImportFailed, Place, load

__all__ = ["Control", "ImportFailed", "Imported", "Numbers", "Place", "load"]
