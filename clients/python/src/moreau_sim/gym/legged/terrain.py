# SPDX-License-Identifier: MIT
"""Ground as a grid of heights, flat where robots begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
FLAT, EDGE = 0.5, 1.0  # [m] around the middle that is level, and from where on it is all that the terrain is


@dataclass(frozen=True)
class Terrain:
    """Heights [m] over a grid in x and y whose middle is the origin: rows along y, in each along x."""

    heights: Array
    spacing: float  # [m]

    @classmethod
    def rough(cls, height: float, *, size: float = 24.0, spacing: float = 0.15, seed: int = 0) -> Terrain:
        """Bumps, each point drawn within +-height."""
        count = _count(size, spacing)
        drawn = np.random.default_rng(seed).uniform(-height, height, (count, count))
        return cls(drawn * _share(count, spacing), spacing)

    @classmethod
    def hills(
        cls, height: float, *, length: float = 2.5, size: float = 24.0, spacing: float = 0.15, seed: int = 0
    ) -> Terrain:
        """Waves of so many metres in two directions that lie askew, within +-height."""
        count = _count(size, spacing)
        ways = np.random.default_rng(seed).uniform(0, 2 * np.pi, 4)
        along = spacing * (np.arange(count) - (count - 1) / 2)
        x, y = np.meshgrid(along, along)
        turns = 2 * np.pi / length
        waves = sum(
            np.sin(turns * (np.cos(way) * x + np.sin(way) * y) + phase)
            for way, phase in ((ways[0], ways[1]), (ways[0] + 1.9, ways[2]))
        )
        return cls(0.5 * height * waves * _share(count, spacing), spacing)

    def __add__(self, other: Terrain) -> Terrain:
        if self.heights.shape != other.heights.shape or self.spacing != other.spacing:
            raise ValueError("terrains are added that have one grid")
        return Terrain(self.heights + other.heights, self.spacing)

    def geometry(self, name: str) -> dict[str, Any]:
        """As scenes have it."""
        rows, columns = self.heights.shape
        field = {"columns": columns, "rows": rows, "spacing": [self.spacing] * 2}
        return {"name": name, "height_field": field | {"heights": self.heights.ravel().tolist()}}

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """[m] at places of it: of each cell two triangles, which have the diagonal from its first corner in common."""
        rows, columns = self.heights.shape
        u = np.asarray(x, np.float64) / self.spacing + (columns - 1) / 2
        v = np.asarray(y, np.float64) / self.spacing + (rows - 1) / 2
        i = np.clip(np.floor(u).astype(int), 0, columns - 2)
        j = np.clip(np.floor(v).astype(int), 0, rows - 2)
        u, v = u - i, v - j
        first, last = self.heights[j, i], self.heights[j + 1, i + 1]
        right, left = self.heights[j, i + 1], self.heights[j + 1, i]
        below = first + u * (right - first) + v * (last - right)
        above = first + v * (left - first) + u * (last - left)
        return np.asarray(np.where(u >= v, below, above), np.float64)


def _count(size: float, spacing: float) -> int:
    return 2 * round(0.5 * size / spacing) + 1


def _share(count: int, spacing: float) -> Array:
    """Of the terrain that is there: none in the middle."""
    along = spacing * (np.arange(count) - (count - 1) / 2)
    away = np.hypot(*np.meshgrid(along, along))
    return np.asarray(np.clip((away - FLAT) / (EDGE - FLAT), 0.0, 1.0), np.float64)
