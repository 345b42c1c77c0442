# SPDX-License-Identifier: MIT
"""Shapes from files of triangles: STL, OBJ, PLY, GLB, DAE and what else trimesh reads (`pip install
'moreau-sim[mesh]'`).

    part = moreau_sim.geometry.load("part.stl", scale=0.001)
    print(part)  # what was made of it
    scene["geometries"] = part.geometries
    scene["bodies"].append({"name": "part", "shapes": part.shapes(density=2700)})

A hull is what a body that moves can wear; `decompose=True` makes several of it, by CoACD (`moreau-sim[coacd]`), so that
holes stay holes; `surface=True` is the triangles themselves, for static and kinematic bodies. `hulls` and `surface` do
the same from arrays.
"""

from ._geometry import Geometry, GeometryError
from ._hulls import hulls
from ._load import load
from ._surface import surface

__all__ = ["Geometry", "GeometryError", "hulls", "load", "surface"]
