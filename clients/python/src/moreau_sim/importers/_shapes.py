# SPDX-License-Identifier: MIT
"""Geoms: spheres, boxes, capsules, cylinders, planes, meshes and height fields, what they are made of, and which of
them touch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..geometry import GeometryError
from ._assets import Assets
from ._bodies import Bodies, is_off
from ._findings import Findings, Weight
from ._frictions import Rubbing, materials_of
from ._poses import Vector, matrix, pose

GROUPS_MAX = 32
SPIN = "torsional and rolling friction"


def _form(mujoco: Any, kind: int, size: Any) -> dict[str, Any] | None:
    geom = mujoco.mjtGeom
    if kind == int(geom.mjGEOM_SPHERE):
        return {"sphere": {"radius": float(size[0])}}
    if kind == int(geom.mjGEOM_BOX):
        return {"box": {"half_extents": [float(half) for half in size]}}
    if kind == int(geom.mjGEOM_CAPSULE):
        return {"capsule": {"radius": float(size[0]), "half_length": float(size[1])}}
    if kind == int(geom.mjGEOM_CYLINDER):
        return {"cylinder": {"radius": float(size[0]), "half_length": float(size[1])}}
    if kind == int(geom.mjGEOM_PLANE):
        return {"plane": {}}
    return None


class Shapes:
    """The geoms that the scene has, each with its body and what it is there."""

    def __init__(self, mujoco: Any, bodies: Bodies, findings: Findings) -> None:
        self.model = bodies.model
        self.are_off = is_off(mujoco, self.model, "CONTACT", "CONSTRAINT")
        self.bodies = bodies
        self.findings = findings
        self.forms: dict[int, dict[str, Any]] = {}  # by geom
        self.assets = Assets(mujoco, self.model, findings)
        self.materials: list[dict[str, Any]] = []
        self.pairs: list[dict[str, Any]] = []  # of materials
        for geom in range(self.model.ngeom):
            if self.touches(geom):
                findings.has("geometry", geom)
            form = _form(mujoco, int(self.model.geom_type[geom]), self.model.geom_size[geom]) or self._worn(geom)
            kind = mujoco.mjtGeom(int(self.model.geom_type[geom])).name.removeprefix("mjGEOM_").lower()
            kind = f"an {kind}" if kind[0] in "aeh" else f"a {kind}"  # ellipsoid, hfield, arrow
            if form is not None and self._may_wear(geom, form):
                self.forms[geom] = form
                self._place(geom, form)
            elif self.touches(geom):  # others are only seen
                where = " on a body that moves" if form else ""
                sentence = f"geoms that are {kind}{where} touch nothing (their mass counts)"
                findings.add(sentence, self.name(geom), self.weight(geom))
        for geom in self.forms:
            if self.model.geom_condim[geom] > 3 and self.touches(geom):
                findings.add(SPIN, self.name(geom), self.weight(geom))

    def _worn(self, geom: int) -> dict[str, Any] | None:
        """Of a mesh or a height field that something may meet; a mesh that is only seen is not asked for."""
        try:
            return self.assets.form(geom) if self.touches(geom) else None
        except GeometryError as error:
            self.findings.note("meshes that have no hull", str(error))
            return None

    def _may_wear(self, geom: int, form: dict[str, Any]) -> bool:
        root = self.bodies.root[int(self.model.geom_bodyid[geom])]
        if "height_field" in form:
            return root == 0 or self.bodies.is_mocap(root)
        return "plane" not in form or root == 0

    def name(self, geom: int) -> str:
        return self.model.geom(geom).name or f"geom {geom} of {self.bodies.name(int(self.model.geom_bodyid[geom]))}"

    def touches(self, geom: int) -> bool:
        """Whether anything may meet it in the model."""
        m = self.model
        if self.are_off:
            return False
        return bool(m.geom_contype[geom] or m.geom_conaffinity[geom] or geom in m.pair_geom1 or geom in m.pair_geom2)

    def weight(self, geom: int) -> list[Weight]:
        return [("geometry", geom, 1.0)] if self.touches(geom) else []

    def _place(self, geom: int, form: dict[str, Any]) -> None:
        body = int(self.model.geom_bodyid[geom])
        # what is fixed is one body, whose axes are the world's
        place = self.bodies.in_world[body] if self.bodies.root[body] == 0 else self.bodies.in_root[body]
        place = place.then(pose(self.model.geom_pos[geom], self.model.geom_quat[geom]))
        if "plane" in form:
            normal = matrix(place.orientation)[:, 2]
            form["plane"] = {"normal": normal.tolist(), "offset": float(normal @ place.position)}
        else:
            form["position"] = place.position.tolist()
            form["orientation"] = place.orientation.tolist()

    def of(self, root: int) -> list[dict[str, Any]]:
        """The shapes of a body of the scene."""
        return [
            form for geom, form in self.forms.items() if self.bodies.root[int(self.model.geom_bodyid[geom])] == root
        ]

    # ---- how they rub

    def _frictions(self) -> Vector:
        """Of each pair of the geoms that are here, if it touches: of the one with the larger priority, or else the
        larger, and none where neither has a condim above 1."""
        m, geoms = self.model, list(self.forms)
        friction, condim = m.geom_friction[geoms, 0], m.geom_condim[geoms]
        priority = m.geom_priority[geoms]
        rubs = np.where(condim > 1, friction, 0.0)
        pairs = np.maximum(friction[:, None], friction[None, :])
        pairs[np.maximum(condim[:, None], condim[None, :]) <= 1] = 0.0
        pairs = np.where(priority[:, None] > priority[None, :], rubs[:, None], pairs)
        pairs = np.where(priority[:, None] < priority[None, :], rubs[None, :], pairs)
        for pair, (a, b) in enumerate(zip(m.pair_geom1, m.pair_geom2)):
            if a in self.forms and b in self.forms:
                i, j = geoms.index(int(a)), geoms.index(int(b))
                along = m.pair_friction[pair][:2] if m.pair_dim[pair] > 1 else np.zeros(2)
                pairs[i, j] = pairs[j, i] = along[0]
                both = self.weight(a) + self.weight(b)
                if along[0] != along[1]:
                    self.findings.add("pairs with other frictions across", f"{self.name(a)} - {self.name(b)}", both)
                if m.pair_dim[pair] > 3:
                    self.findings.add(SPIN, f"{self.name(a)} - {self.name(b)}", both)
        return np.asarray(pairs)

    def _rub(self, touch: NDArray[np.bool_]) -> None:
        """Gives the shapes materials by which pairs that touch rub as they do in the model."""
        m, geoms = self.model, list(self.forms)
        paired = {*m.pair_geom1.tolist(), *m.pair_geom2.tolist()}
        kinds = [
            Rubbing(
                float(m.geom_friction[geom][0]),
                int(m.geom_condim[geom]) == 1,
                int(m.geom_priority[geom]),
                geom if geom in paired else None,
            )
            for geom in geoms
        ]
        wanted = np.where(touch, self._frictions(), np.nan)
        self.materials, material, self.pairs, wrong = materials_of(kinds, wanted)
        for geom, which, is_wrong in zip(geoms, material, wrong):
            self.forms[geom]["material"] = self.materials[which]["name"]
            if is_wrong:
                self.findings.add("more pairs of geoms than a scene may have", self.name(geom), self.weight(geom))

    # ---- which touch

    def _wanted(self, is_parent_filtered: bool) -> NDArray[np.bool_]:
        """Which pairs touch in the model, of the geoms that are here."""
        m, geoms = self.model, list(self.forms)
        kind = np.array([m.geom_contype[g] for g in geoms], dtype=np.int64)
        affinity = np.array([m.geom_conaffinity[g] for g in geoms], dtype=np.int64)
        touch: NDArray[np.bool_] = (kind[:, None] & affinity[None, :]) != 0
        touch |= touch.T
        if self.are_off:
            return np.zeros_like(touch)
        body = [int(m.geom_bodyid[g]) for g in geoms]
        excluded = {int(signature) for signature in m.exclude_signature}
        for i in range(len(geoms)):
            for j in range(i):
                low, high = sorted((self.bodies.root[body[i]], self.bodies.root[body[j]]))
                related = low != 0 and is_parent_filtered and low in (self.bodies.parent(high), high)
                a, b = sorted((body[i], body[j]))
                if related or (a << 16) + b in excluded or (b << 16) + a in excluded:
                    touch[i, j] = touch[j, i] = False
        for a, b in zip(m.pair_geom1, m.pair_geom2):
            if a in self.forms and b in self.forms:
                i, j = geoms.index(int(a)), geoms.index(int(b))
                touch[i, j] = touch[j, i] = True
        return touch

    def assign_groups(
        self, adjacent: set[tuple[int, int]], is_parent_filtered: bool, first: int | None = None
    ) -> None:
        """Gives the shapes groups and masks by which those touch that touch in the model. `adjacent` bodies
        (roots, the smaller first) do not touch each other here in any case. `first` is the first group that may be
        taken; given, all that is of none of these touches, too."""
        geoms = list(self.forms)
        root = [self.bodies.root[int(self.model.geom_bodyid[g])] for g in geoms]
        wanted = self._wanted(is_parent_filtered)
        matters = np.ones((len(root), len(root)), dtype=bool)
        for i, a in enumerate(root):
            for j, b in enumerate(root):
                matters[i, j] = a != b and (min(a, b), max(a, b)) not in adjacent
        self._rub(wanted & matters)
        if bool(np.all(wanted | ~matters)):
            return  # everything touches everything, as shapes do by themselves
        members = _classes(wanted, matters)
        reach = np.array(
            [[bool(np.any(wanted[np.ix_(a, b)] & matters[np.ix_(a, b)])) for b in members] for a in members]
        )
        most, lowest = GROUPS_MAX - (first or 0), first or 0
        while len(members) > most:
            self.findings.add(
                f"more than {most} collision groups are needed: the last ones touch more than in the model",
                of=[weight for group in members[-2:] for k in group for weight in self.weight(geoms[k])],
            )
            members[-2] += members.pop()
            reach[-2] |= reach[-1]
            reach[:, -2] |= reach[:, -1]
            reach = reach[:-1, :-1]
        for own, indices in enumerate(members):
            mask = sum(1 << lowest + other for other in range(len(members)) if reach[own, other])
            if first is not None and mask:  # whatever else comes into the scene
                mask |= 0xFFFFFFFF - sum(1 << lowest + other for other in range(len(members)))
            for index in indices:
                self.forms[geoms[index]] |= {"group": 1 << lowest + own if mask else 0, "mask": mask}


def _classes(wanted: NDArray[np.bool_], matters: NDArray[np.bool_]) -> list[list[int]]:
    """Geoms that may stand in one group: no third one, nor one of them, touches some of them and not others."""
    members: list[list[int]] = []
    rows: list[tuple[NDArray[np.bool_], NDArray[np.bool_]]] = []  # what a class touches, and what is known of it
    for i in range(len(wanted)):
        for k, (touches, known) in enumerate(rows):
            if not np.any((touches != wanted[i]) & known & matters[i]):
                rows[k] = (np.where(known, touches, wanted[i]), known | matters[i])
                members[k].append(i)
                break
        else:
            rows.append((wanted[i].copy(), matters[i].copy()))
            members.append([i])
    return members
