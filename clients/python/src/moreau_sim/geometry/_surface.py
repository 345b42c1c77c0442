# SPDX-License-Identifier: MIT
"""Surfaces of triangles, such as the server takes: what it would refuse is left out, or said in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._geometry import Geometry, GeometryError, Vectors, count, integrals, sides, usable

SLIVER = 1.001e-6  # height over the longest edge: a rounding above what the server takes
POINTS_MAX, TRIANGLES_MAX = 1 << 20, 1 << 21

Triangles = NDArray[np.int64]


def surface(points: Any, triangles: Any, *, name: str = "surface", two_sided: bool = False) -> Geometry:
    """Triangles, whose corners go counter-clockwise seen from where they push, or two-sided ones. Points at one place
    are made one, and slivers left out."""
    p, t = usable(points, triangles, name)
    before = len(p)
    p, back = np.unique(p + 0.0, axis=0, return_inverse=True)  # + 0.0: -0 is 0
    t = back.reshape(-1)[t]
    t, said = _without_slivers(p, t)
    if len(t) == 0:
        raise GeometryError(f"{name}: there is no triangle with an area in it")
    used, back = np.unique(t, return_inverse=True)
    p, t = p[used], back.reshape(-1, 3)
    if len(p) > POINTS_MAX or len(t) > TRIANGLES_MAX:
        raise GeometryError(f"{name}: {len(p):,} points and {len(t):,} triangles; {POINTS_MAX:,} and "
                            f"{TRIANGLES_MAX:,} are the most")
    open_edges, wrong = _edges(t)
    if wrong and not two_sided:
        raise GeometryError(f"{name}: {count(wrong, 'edge')} of more than two triangles, or of two that look to "
                            "opposite sides: mend the file, or take it two-sided (two_sided=True)")
    report = [f"{count(len(t), 'triangle')} between {count(len(p), 'point')}, {sides(p)}", *said]
    if before > len(p):
        report.append(f"{count(before - len(p), 'point')} that stood where others do, or that nothing used, left out")
    whole = (np.nan, np.full(3, np.nan), np.full((3, 3), np.nan))
    if open_edges:
        report.append(f"open: {count(open_edges, 'edge')} of one triangle alone")
    elif not wrong:
        whole = integrals(p, t)
        report.append("closed" if whole[0] > 0.0 else "closed, and looks inwards: it holds what is inside of it")
    form: dict[str, Any] = {"points": p.ravel().tolist(), "triangles": t.ravel().tolist()}
    if two_sided:
        form["two_sided"] = True
        report.append("two-sided")
    return Geometry(name, [{"mesh": form}], report, *whole)


def _without_slivers(p: Vectors, t: Triangles) -> tuple[Triangles, list[str]]:
    corner = p[t]
    edges = corner[:, [1, 2, 0]] - corner
    longest = np.linalg.norm(edges, axis=2).max(axis=1, initial=0.0)
    twice_area = np.linalg.norm(np.cross(edges[:, 0], -edges[:, 2]), axis=1)
    good = twice_area > SLIVER * longest**2
    dropped = len(t) - int(np.count_nonzero(good))
    return t[good], [f"{count(dropped, 'sliver')} of no area left out"] if dropped else []


def _edges(t: Triangles) -> tuple[int, int]:
    """How many are of one triangle, and how many of more than two or of two that go along them the same way."""
    ends = np.concatenate((t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]))
    forward = ends[:, 0] < ends[:, 1]
    _, edge = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    edge = edge.reshape(-1)
    of, along = np.bincount(edge), np.bincount(edge, weights=forward)
    return int(np.count_nonzero(of == 1)), int(np.count_nonzero((of > 2) | ((of == 2) & (along != 1))))
