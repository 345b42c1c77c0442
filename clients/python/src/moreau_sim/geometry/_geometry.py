# SPDX-License-Identifier: MIT
"""What is made of a file or of arrays."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


class GeometryError(ValueError):
    """There is no shape in it; it says why."""


@dataclass
class Geometry:
    """Hulls, or one surface, as scenes have them.

    name      what they are called in a scene; several hulls are called name 1, name 2, …
    forms     each {"hull": {"points": […]}} or {"mesh": {"points": […], "triangles": […]}}
    report    sentences: what was done to the file
    volume    [m^3] of the hulls together; of a surface what it encloses, or nan where it is open
    center    [m] the middle of that volume
    inertia   [m^5] 3 x 3 about the centre, at a density of 1
    """

    name: str
    forms: list[dict[str, Any]]
    report: list[str] = field(default_factory=list)
    volume: float = np.nan
    center: Vectors = field(default_factory=lambda: np.full(3, np.nan))
    inertia: Vectors = field(default_factory=lambda: np.full((3, 3), np.nan))

    @property
    def names(self) -> list[str]:
        """Of each form."""
        if len(self.forms) == 1:
            return [self.name]
        return [f"{self.name} {number}" for number in range(1, len(self.forms) + 1)]

    @property
    def geometries(self) -> list[dict[str, Any]]:
        """For a scene's `geometries`."""
        return [{"name": name, **copy.deepcopy(form)} for name, form in zip(self.names, self.forms)]

    def shapes(self, **more: Any) -> list[dict[str, Any]]:
        """For the `shapes` of a body of a scene that has the geometries; `more` goes to each of them: material,
        density, position, orientation, group, mask."""
        return [{kind: {"geometry": name}} | more for name, form in zip(self.names, self.forms) for kind in form]

    def inline(self, **more: Any) -> list[dict[str, Any]]:
        """Likewise, with the numbers in the shapes themselves: the scene needs no geometries."""
        return [copy.deepcopy(form) | more for form in self.forms]

    def __str__(self) -> str:
        return "\n".join([f"{self.name}:", *(f"  {sentence}" for sentence in self.report)])

    def __repr__(self) -> str:
        return f"<Geometry {self.name}: {'; '.join(self.report)}>"


def integrals(points: Vectors, triangles: NDArray[np.int64]) -> tuple[float, Vectors, Vectors]:
    """Volume, centre and inertia about it, at a density of 1, of what closed triangles enclose."""
    origin = points[triangles].reshape(-1, 3).mean(axis=0)
    corner = points[triangles] - origin
    six = np.einsum("ni,ni->n", corner[:, 0], np.cross(corner[:, 1], corner[:, 2]))  # times a tetrahedron's volume
    volume = float(six.sum() / 6.0)
    if volume == 0.0:
        return 0.0, origin, np.zeros((3, 3))
    total = corner.sum(axis=1)
    center = np.einsum("n,ni->i", six, total) / (24.0 * volume)
    seconds = np.einsum("n,nki,nkj->ij", six, corner, corner) + np.einsum("n,ni,nj->ij", six, total, total)
    seconds = seconds / 120.0 - volume * np.outer(center, center)
    return volume, origin + center, np.asarray(np.trace(seconds) * np.eye(3) - seconds)


def count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def sides(points: Vectors) -> str:
    return " x ".join(f"{side:.4g}" for side in np.ptp(points, axis=0)) + " m"


def usable(points: Any, triangles: Any, name: str) -> tuple[Vectors, NDArray[np.int64]]:
    """As arrays of numbers that a shape can have."""
    try:
        p = np.asarray(points, dtype=float).reshape(-1, 3)
        t = np.asarray(triangles, dtype=np.int64).reshape(-1, 3)
    except (TypeError, ValueError):
        raise GeometryError(f"{name}: points and triangles are three numbers each") from None
    if len(p) == 0:
        raise GeometryError(f"{name}: there are no points in it")
    wrong = int(np.count_nonzero(~np.isfinite(p).all(axis=1)))
    if wrong:
        raise GeometryError(f"{name}: {count(wrong, 'point is', 'points are')} not finite")
    if len(t) and (t.min() < 0 or t.max() >= len(p)):
        raise GeometryError(f"{name}: triangles name points that are not there: there are {len(p):,}")
    far = float(np.abs(p).max())
    if far > 1e6:
        raise GeometryError(f"{name}: a coordinate is {far:.3g} m, and 1e6 m is the most; is there a scale?")
    return p, t
