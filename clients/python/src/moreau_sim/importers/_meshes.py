# SPDX-License-Identifier: MIT
"""Meshes of URDF that links collide by: their convex hulls, or several of each by CoACD. Those that are only seen are
never looked for."""

from __future__ import annotations

import pathlib
from typing import Any

from .. import geometry
from ._findings import Findings, Weight
from ._packages import Packages
from ._poses import Vector

Wanted = tuple[str, tuple[float, ...]]  # its URI and its scale


class Meshes:
    """The scene's geometries, each once however many links have it."""

    def __init__(self, packages: Packages, findings: Findings, *, decompose: bool) -> None:
        self.packages = packages
        self.findings = findings
        self.decompose = decompose
        self.scene: list[dict[str, Any]] = []
        self._made: dict[Wanted, geometry.Geometry | str] = {}  # or why not

    def find(self, uri: str, scale: Vector) -> geometry.Geometry | None:
        """None: there is none to be had."""
        made = self._find(uri, scale)
        return None if isinstance(made, str) else made

    def miss(self, uri: str, scale: Vector, link: str, of: list[Weight]) -> None:
        """Lists one that is not to be had."""
        reason = str(self._find(uri, scale))
        self.findings.add("meshes touch nothing (the mass of their links counts)", link, of)
        self.findings.note(reason, uri if "not found" in reason else "")

    def _find(self, uri: str, scale: Vector) -> geometry.Geometry | str:
        key = (uri, tuple(scale.tolist()))
        if key not in self._made:
            self._made[key] = self._load(uri, scale)
        return self._made[key]

    def _load(self, uri: str, scale: Vector) -> geometry.Geometry | str:
        path = self.packages.find(uri)
        if path is None:
            return "files of meshes that are not found"
        try:
            made = geometry.load(path, scale=scale.tolist(), decompose=self.decompose, name=self._name(path))
        except geometry.GeometryError as error:
            sentence = str(error)
            # of a package that is not there once, and not of each file
            return sentence.partition(": ")[2] if "pip install" in sentence else sentence
        self.scene += made.geometries
        self.findings.note(f"meshes are {'hulls by CoACD' if self.decompose else 'their convex hulls'}", made.name)
        for sentence in made.report:
            if "farthest out" in sentence:
                self.findings.note(f"{made.name}: {sentence}")
        return made

    def _name(self, path: pathlib.Path) -> str:
        """That no other has: two files may be called alike, and one may be there in two sizes."""
        others = {made.name for made in self._made.values() if not isinstance(made, str)}
        names = [path.stem] + [f"{path.stem} ({number})" for number in range(2, len(others) + 2)]
        return next(name for name in names if name not in others)
