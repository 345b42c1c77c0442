# SPDX-License-Identifier: MIT
"""Meshes, height fields and ellipsoids of MJCF: the scene's geometries, each once however many geoms wear it. A mesh is
its convex hull to MuJoCo, wherever it stands, and so it is here."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry._hulls import CORNERS_MAX, refuse_thin, thinned
from ._findings import Findings
from ._poses import Vector

# of the corners of a ball of radius 1, 256 of them: its faces are as far inside as they are outside
BALL_RADIUS = 2.0 / (1.0 + 0.98549)


class Assets:
    def __init__(self, mujoco: Any, model: Any, findings: Findings) -> None:
        self.kinds = {int(mujoco.mjtGeom.mjGEOM_MESH): self.hull, int(mujoco.mjtGeom.mjGEOM_HFIELD): self.field}
        self.ellipsoid = int(mujoco.mjtGeom.mjGEOM_ELLIPSOID)
        self.model = model
        self.findings = findings
        self.scene: list[dict[str, Any]] = []
        self._names: dict[tuple[str, int], str] = {}
        self._eggs: dict[str, str] = {}

    def form(self, geom: int) -> dict[str, Any] | None:
        """What a geom wears; None: it is of another kind. GeometryError: the server has no such shape."""
        if int(self.model.geom_type[geom]) == self.ellipsoid:
            return self.egg(geom)
        make = self.kinds.get(int(self.model.geom_type[geom]))
        return make(int(self.model.geom_dataid[geom])) if make else None

    def hull(self, mesh: int) -> dict[str, Any]:
        if ("mesh", mesh) not in self._names:
            corners = self._corners(mesh)
            refuse_thin(corners, self.model.mesh(mesh).name or f"mesh {mesh}")
            hull: dict[str, Any] = {"points": thinned(corners).ravel().tolist()}
            if len(corners) > CORNERS_MAX:
                hull["vertices_max"] = CORNERS_MAX
                sentence = f"hulls of meshes of more than {CORNERS_MAX} corners: those farthest out are taken"
                self.findings.note(sentence, self.model.mesh(mesh).name or f"mesh {mesh}")
            self._add("mesh", mesh, {"hull": hull})
        return {"hull": {"geometry": self._names["mesh", mesh]}}

    def egg(self, geom: int) -> dict[str, Any]:
        """A hull between the ellipsoid and what is around it, as far from the one as from the other. Those of one size
        are one."""
        halves = self.model.geom_size[geom]
        name = "ellipsoid " + " ".join(f"{half:.17g}" for half in halves)
        if name not in self._eggs:
            self._eggs[name] = f"ellipsoid {len(self._eggs) + 1}"
            self.scene.append({"name": self._eggs[name], "hull": {"points": (_ball() * halves).ravel().tolist()}})
            sentence = f"ellipsoids are hulls of {CORNERS_MAX} corners, to 1 % of their half axes"
            self.findings.note(sentence, self.model.geom(geom).name or f"geom {geom}")
        return {"hull": {"geometry": self._eggs[name]}}

    def _corners(self, mesh: int) -> Vector:
        """Of its hull, as far as its maxhullvert lets it grow; all points, where MuJoCo made none."""
        m = self.model
        first, graph = int(m.mesh_vertadr[mesh]), int(m.mesh_graphadr[mesh])
        points = np.asarray(m.mesh_vert[first : first + int(m.mesh_vertnum[mesh])], dtype=float)
        if graph < 0:
            return np.unique(points, axis=0)
        # how many corners and faces, where the edges of each corner begin, and then which point each is
        corners = int(m.mesh_graph[graph])
        return np.asarray(points[np.sort(m.mesh_graph[graph + 2 + corners : graph + 2 + 2 * corners])])

    def field(self, field: int) -> dict[str, Any]:
        if ("hfield", field) not in self._names:
            m = self.model
            columns, rows = int(m.hfield_ncol[field]), int(m.hfield_nrow[field])
            across, along, high, _ = (float(size) for size in m.hfield_size[field])
            first = int(m.hfield_adr[field])
            heights = np.asarray(m.hfield_data[first : first + columns * rows], dtype=float) * high
            ground = {
                "columns": columns,
                "rows": rows,
                "spacing": [2.0 * across / (columns - 1), 2.0 * along / (rows - 1)],
                "heights": heights.tolist(),
            }
            self.findings.note("height fields are solid below, as deep as they are wide", m.hfield(field).name)
            self._add("hfield", field, {"height_field": ground})
        return {"height_field": {"geometry": self._names["hfield", field]}}

    def _add(self, kind: str, which: int, form: dict[str, Any]) -> None:
        name = getattr(self.model, kind)(which).name or f"{kind} {which}"
        if name in self._names.values() or name in self._eggs.values():
            name = f"{kind} {name}"
        self._names[kind, which] = name
        self.scene.append({"name": name, **form})


def _ball() -> Vector:
    """Corners of a ball of radius 1, along a spiral on which each has as much of the surface."""
    k = np.arange(CORNERS_MAX) + 0.5
    z, turned = 1.0 - 2.0 * k / CORNERS_MAX, k * np.pi * (3.0 - np.sqrt(5.0))
    across = np.sqrt(1.0 - z * z)
    return BALL_RADIUS * np.column_stack([across * np.cos(turned), across * np.sin(turned), z])
