# SPDX-License-Identifier: MIT
"""Convex hulls, one or many. Those of the server are built there; here it is found which points are their corners."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._geometry import Geometry, GeometryError, Vectors, count, integrals, sides, usable

CORNERS_MAX = 256  # of a hull in the server
POINTS_MAX = 10_000  # that it builds one of
GRID = 1e-6  # of its size: where corners go of a hull that has too many
THIN = 1e-6  # of its size: thinner it has no volume


def hulls(parts: Any, *, name: str = "hull", vertices_max: int = 0) -> Geometry:
    """Of each of several sets of points their convex hull.

    vertices_max  4 … 256: so many corners at most, those farthest out; 0: as many as a hull may have
    """
    if vertices_max and not 4 <= vertices_max <= CORNERS_MAX:
        raise GeometryError(f"{name}: vertices_max is 4 to {CORNERS_MAX}, or 0, not {vertices_max}")
    found = [_hull(points, name, vertices_max or CORNERS_MAX) for points in parts]
    if not found:
        raise GeometryError(f"{name}: there are no points in it")
    corners = sum(len(points) for points, _, _ in found)
    report = [f"{count(len(found), 'hull')} of {count(corners, 'corner')}"]
    cut = sum(len(points) > (vertices_max or CORNERS_MAX) for points, _, _ in found)
    if cut:
        most = vertices_max or CORNERS_MAX
        report.append(f"{count(cut, 'hull')} of more than {most} corners: the {most} farthest out are taken")
    volumes = np.array([whole[0] for _, _, whole in found])
    volume = float(volumes.sum())
    center = np.asarray(sum(whole[0] * whole[1] for _, _, whole in found) / volume)
    inertia = np.zeros((3, 3))
    for _, _, (share, middle, about) in found:
        arm = middle - center
        inertia += about + share * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    report.append(f"{volume:.4g} m^3 in {sides(np.concatenate([points for points, _, _ in found]))}")
    return Geometry(name, [form for _, form, _ in found], report, volume, center, inertia)


def _hull(points: Any, name: str, most: int) -> tuple[Vectors, dict[str, Any], tuple[float, Vectors, Vectors]]:
    p, _ = usable(points, [], name)
    refuse_thin(p, name)
    corners, whole = _corners(p, name)
    form: dict[str, Any] = {"points": thinned(corners).ravel().tolist()}
    if len(corners) > most:
        form["vertices_max"] = most
    return corners, {"hull": form}, whole


def refuse_thin(p: Vectors, name: str) -> None:
    size = float(np.linalg.norm(np.ptp(p, axis=0)))
    spread = np.linalg.svd(p - p.mean(axis=0), compute_uv=False) if len(p) > 3 else np.zeros(3)
    where = next((where for share, where in zip(spread, ("in one place", "in a line", "in a plane"))
                  if share <= THIN * max(size, 1e-6)), "")
    if len(p) < 4 or where:
        raise GeometryError(f"{name}: {count(len(p), 'point')} {where or 'alone'}: they have no hull with a volume")


def _corners(p: Vectors, name: str) -> tuple[Vectors, tuple[float, Vectors, Vectors]]:
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError as error:
        raise GeometryError(f"{name}: hulls are found by scipy: pip install 'moreau-sim[mesh]' ({error})") from None
    try:
        hull = ConvexHull(p)
    except QhullError as error:
        raise GeometryError(f"{name}: there is no hull: {str(error).splitlines()[0]}") from None
    faces = np.asarray(hull.simplices, dtype=np.int64)
    # qhull says which way a face looks beside it, and not by the order of its corners
    normals = np.cross(p[faces[:, 1]] - p[faces[:, 0]], p[faces[:, 2]] - p[faces[:, 0]])
    inward = np.einsum("ni,ni->n", normals, hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return p[np.sort(hull.vertices)], integrals(p, faces)


def thinned(corners: Vectors) -> Vectors:
    """As many as the server builds a hull of: those farthest in directions spread over the sphere. Where some are to be
    left out, they go onto a fine grid: corners of something round lie nearly in planes, of which Qhull, as it leaves
    some out, may make faces that do not fit; of those on a grid it sees that they do, or do not."""
    if len(corners) <= CORNERS_MAX:
        return corners
    cell = GRID * float(np.linalg.norm(np.ptp(corners, axis=0)))
    corners = np.unique(np.round(corners / cell) * cell, axis=0)
    if len(corners) <= POINTS_MAX:
        return corners
    k = np.arange(POINTS_MAX // 2)
    z, turn = (2.0 * k + 1.0) / len(k) - 1.0, k * np.pi * (3.0 - np.sqrt(5.0))
    directions = np.stack((np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z), axis=1)
    kept = [np.argmax(corners @ some.T, axis=0) for some in np.array_split(directions, 50)]
    return np.asarray(corners[np.unique(np.concatenate(kept))])
