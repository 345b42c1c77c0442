# SPDX-License-Identifier: MIT
"""A file of triangles to a shape."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._geometry import Geometry, GeometryError, Vectors, count, usable
from ._hulls import hulls
from ._surface import surface as make_surface


def load(
    path: str | os.PathLike[str],
    *,
    scale: float | Sequence[float] = 1.0,
    decompose: bool = False,
    surface: bool = False,
    two_sided: bool = False,
    vertices_max: int = 0,
    threshold: float = 0.05,
    seed: int = 0,
    z_up: bool = False,
    name: str = "",
) -> Geometry:
    """The convex hull of what is in a file, or as below. All its parts are one, where its nodes put them. GeometryError
    says why it cannot.

    scale         one number, or three along x, y and z: metres per unit of the file (0.001 of millimetres)
    decompose     several hulls, by CoACD: `threshold` 0.01 … 1 is how far they may be from the file, and the same
                  `seed` gives the same ones
    surface       the triangles themselves, for static and kinematic bodies; `two_sided`: they push to both sides
    vertices_max  of hulls: 4 … 256 corners at most
    z_up          turned so that what the file says is up is z: COLLADA's up_axis (y where it is silent), y of glTF;
                  other kinds say nothing. `scale` is along the file's axes
    name          what it is called in a scene; default: the file's name without its ending
    """
    path = pathlib.Path(path)
    name = name or path.stem
    factor = _factor(scale, name)
    if surface and decompose:
        raise GeometryError(f"{name}: surface or decompose, not both")
    if two_sided and not surface:
        raise GeometryError(f"{name}: only a surface is two-sided (surface=True)")
    points, triangles, unit = _read(path)
    points, triangles = usable(points * (factor * unit), triangles, name)
    up = _up(path)
    if z_up and up is None:
        raise GeometryError(f"{name}: files of {path.suffix} do not say what is up: turn the shape (z_up=False)")
    if z_up:
        points = points[:, _TO_Z[up or "z"][0]] * _TO_Z[up or "z"][1]
    if np.prod(factor) < 0.0:
        triangles = triangles[:, ::-1]  # a mirror turns them inside out
    read = f"{path.name}: {count(len(points), 'point')}, {count(len(triangles), 'triangle')}"
    if unit != 1.0:
        read += f", in units of {unit:g} m, as the file says"
    if up is not None and up != "z":
        read += f", turned: {up} was up" if z_up else f"; up is {up}, as the file has it (z_up=True turns it)"
    if surface:
        made = make_surface(points, triangles, name=name, two_sided=two_sided)
    elif decompose:
        made = hulls(_decomposed(points, triangles, name, threshold, seed), name=name, vertices_max=vertices_max)
        made.report[0] += f", by CoACD (threshold {threshold:g}, seed {seed})"
    else:
        made = hulls([points], name=name, vertices_max=vertices_max)
    made.report.insert(0, read)
    return made


def _factor(scale: Any, name: str) -> Vectors:
    try:
        factor = np.broadcast_to(np.asarray(scale, dtype=float), 3)
    except (TypeError, ValueError):
        raise GeometryError(f"{name}: scale is one number or three, not {scale!r}") from None
    if not np.all(np.isfinite(factor)) or np.any(factor == 0.0):
        raise GeometryError(f"{name}: scale {scale!r}: its numbers are finite and not 0")
    return factor


def _read(path: pathlib.Path) -> tuple[Vectors, NDArray[np.int64], float]:
    """Points, triangles, and how many metres a unit is."""
    try:
        import trimesh
    except ImportError as error:
        raise GeometryError(f"{path}: files of triangles are read by trimesh: pip install 'moreau-sim[mesh]' "
                            f"({error})") from None
    if not path.is_file():
        raise GeometryError(f"{path}: there is no such file")
    if path.suffix.lower().lstrip(".") not in trimesh.available_formats():
        raise GeometryError(f"{path}: trimesh reads no {path.suffix or 'file without an ending'} here")
    try:
        scene = trimesh.load_scene(os.fspath(path), process=False)
        mesh = scene.to_mesh()
        points, triangles = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int64)
    except Exception as error:  # its readers raise whatever they stumble over
        raise GeometryError(f"{path}: it is not read: {str(error) or type(error).__name__}") from None
    if len(triangles) == 0:
        raise GeometryError(f"{path}: there are no triangles in it")
    used, back = np.unique(triangles, return_inverse=True)
    if used[0] < 0 or used[-1] >= len(points):
        raise GeometryError(f"{path}: its triangles name points that are not there: there are {len(points):,}")
    return points[used], back.reshape(-1, 3), _unit(path, scene)


def _unit(path: pathlib.Path, scene: Any) -> float:
    """COLLADA says what its unit is, and trimesh leaves it to us: "0.001 * meters"."""
    if path.suffix.lower() != ".dae":
        return 1.0
    said = {one.metadata.get("units") for one in [scene, *scene.geometry.values()]} - {None, "meters"}
    try:
        return float(str(said.pop()).split("*")[0]) if len(said) == 1 else 1.0
    except ValueError:
        return 1.0


# Which coordinates become x, y and z, and with which sign: turns, no mirrors.
_TO_Z = {"x": ([2, 1, 0], np.array([-1.0, 1.0, 1.0])), "y": ([0, 2, 1], np.array([1.0, -1.0, 1.0])),
         "z": ([0, 1, 2], np.ones(3))}


def _up(path: pathlib.Path) -> str | None:
    """What is up, of a file whose kind says so."""
    kind = path.suffix.lower()
    if kind in (".glb", ".gltf"):
        return "y"
    if kind != ".dae":
        return None
    said = re.search(rb"<up_axis>\s*([XYZ])_UP\s*</up_axis>", path.read_bytes())
    return said[1].decode().lower() if said else "y"


def _decomposed(points: Vectors, triangles: NDArray[np.int64], name: str, threshold: float, seed: int) -> list[Vectors]:
    try:
        import coacd
    except ImportError as error:
        raise GeometryError(f"{name}: CoACD decomposes shapes: pip install 'moreau-sim[coacd]' ({error})") from None
    if not 0.01 <= threshold <= 1.0:
        raise GeometryError(f"{name}: threshold is 0.01 to 1, not {threshold:g}")
    merged, back = np.unique(points + 0.0, axis=0, return_inverse=True)
    try:
        coacd.set_log_level("error")
        parts = coacd.run_coacd(coacd.Mesh(merged, back.reshape(-1)[triangles]), threshold=threshold, seed=seed)
    except Exception as error:
        raise GeometryError(f"{name}: CoACD does not take it: {error}") from None
    return [np.asarray(corners, dtype=float) for corners, _ in parts]
