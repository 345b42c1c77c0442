# SPDX-License-Identifier: MIT
"""Scenes from MJCF and URDF files. URDF is read here; MJCF by MuJoCo's own parser, the optional extra
`moreau-sim[import]`.

    imported = moreau_sim.importers.load("ant.xml")
    print(imported.verdict)
    for loss in imported.losses:
        print(loss)
    world = moreau_sim.World.create(client, imported.scene)

`python -m moreau_sim import FILE` does the same on the command line.

Bodies that no joint holds apart are one body here. Two or three joints of one body are one joint of as many
axes where their axes stand at right angles and meet; otherwise bodies of a billionth of its mass stand
between. Mocap bodies are kinematic. Numbers of joints are the model's own: a position here is the same number there,
`ref` included. A free joint along which nothing acts is none here; one with armature, damping, dry friction or a spring
is of coordinates (FREE). Ellipsoids are hulls of 256 corners.

Actuators are forces, and drives towards targets and rates, by any affine law whose force does not grow with place
or rate; activations of first order are lags (`lag_time`), and what bounds all that acts on a joint, to both sides
alike, is its motor's `stall_effort`. Gravity compensation of all that moves, alike, is less gravity.

Key-frames are in `starts`, and `World.create(client, imported.at("home"))` begins in one.

Of URDF: the root stands fast in the world, unless free_base says otherwise, and links do not
touch each other, unless self_collisions says so. Inertias that no body has are made such
that one has them, and `notes` says so of each; `strict=True` refuses them. A link that moves and has neither mass nor
shapes weighs a millionth of what hangs on it, or a ten-thousandth of the robot where nothing does. `<mimic>` is a gear,
or, with an offset, a tendon.
"""

from ._actuators import Control
from ._findings import Loss
from ._imported import Imported, ImportFailed, Place
from ._joints import Numbers
from ._load import load
from ._starts import Start

__all__ = ["Control", "ImportFailed", "Imported", "Loss", "Numbers", "Place", "Start", "load"]
