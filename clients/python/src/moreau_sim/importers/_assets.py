# SPDX-License-Identifier: MIT
"""Meshes and height fields of MJCF: the scene's geometries, each once however many geoms wear it. A mesh is its convex
hull to MuJoCo, wherever it stands, and so it is here."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry._hulls import CORNERS_MAX, refuse_thin, thinned
from ._findings import Findings
from ._poses import Vector


class Assets:
    def __init__(self, mujoco: Any, model: Any, findings: Findings) -> None:
        self.kinds = {int(mujoco.mjtGeom.mjGEOM_MESH): self.hull, int(mujoco.mjtGeom.mjGEOM_HFIELD): self.field}
        self.model = model
        self.findings = findings
        self.scene: list[dict[str, Any]] = []
        self._names: dict[tuple[str, int], str] = {}

    def form(self, geom: int) -> dict[str, Any] | None:
        """What a geom wears; None: it is of another kind. GeometryError: the server has no such shape."""
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
        if name in self._names.values():
            name = f"{kind} {name}"
        self._names[kind, which] = name
        self.scene.append({"name": name, **form})
