# SPDX-License-Identifier: MIT
"""Friction of pairs of geoms, as materials of a scene whose rule is MAXIMUM: the larger friction, or that of the one
with the higher priority. What a model has otherwise, as where neither of two has a condim above 1, or where it names
the pair, is a pair of materials of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._poses import Vector

FRICTION_MAX = 1e6  # of a scene
PAIRS_MAX = 4096  # likewise


@dataclass(frozen=True)
class Rubbing:
    """What of a geom counts as it rubs. Those that are alike have one material."""

    friction: float
    slides: bool  # it has a condim of 1
    priority: int
    alone: int | None = None  # the number of a geom that a pair names


def _name(kind: Rubbing, friction: float) -> str:
    """Of each kind its own, and shorter than the 64 bytes that a scene has for it."""
    short = f"{kind.friction:g}"
    words = [f"friction {short if float(short) == kind.friction else kind.friction}"]
    words += ["of which nothing is felt"] if friction == 0.0 < kind.friction else []
    words += ["condim 1"] if kind.slides else []
    words += [f"priority {kind.priority}"] if kind.priority else []
    words += [f"geom {kind.alone}"] if kind.alone is not None else []
    return ", ".join(words)


def _rule(a: dict[str, Any], b: dict[str, Any]) -> float:
    """What a world of that rule has."""
    ranks = [float(material.get("priority", 0)) for material in (a, b)]
    frictions = [float(material["friction"]) for material in (a, b)]
    return max(frictions) if ranks[0] == ranks[1] else frictions[0] if ranks[0] > ranks[1] else frictions[1]


def materials_of(
    kinds: list[Rubbing], wanted: Vector
) -> tuple[list[dict[str, Any]], list[int], list[dict[str, Any]], NDArray[np.bool_]]:
    """Of geoms of these kinds, for pairs whose friction is `wanted` (a symmetric matrix, nan where two do not touch):
    materials, which of them each geom has, pairs of materials, and which geoms rub otherwise, as there would be too
    many pairs."""
    place = {kind: index for index, kind in enumerate(dict.fromkeys(kinds))}
    material = [place[kind] for kind in kinds]
    touching: dict[tuple[int, int], float] = {}
    for i, j in np.argwhere(~np.isnan(wanted)):
        touching[min(material[i], material[j]), max(material[i], material[j])] = float(wanted[i, j])
    materials = []
    for kind, index in place.items():
        of_it = [friction for pair, friction in touching.items() if index in pair]
        friction = min(kind.friction, FRICTION_MAX)
        if of_it and not any(of_it):
            friction = 0.0  # who rubs at nothing that it touches
        one: dict[str, Any] = {"name": _name(kind, friction), "friction": friction}
        materials.append(one | ({"priority": kind.priority} if kind.priority else {}))
    pairs = [
        {"a": materials[a]["name"], "b": materials[b]["name"], "friction": min(friction, FRICTION_MAX)}
        for (a, b), friction in sorted(touching.items())
        if friction != _rule(materials[a], materials[b])
    ]
    known = {(pair["a"], pair["b"]) for pair in pairs[PAIRS_MAX:]}
    wrong = np.zeros(len(kinds), dtype=bool)
    for a, b in touching:
        if (materials[a]["name"], materials[b]["name"]) in known:
            wrong |= np.isin(material, (a, b))
    return materials, material, pairs[:PAIRS_MAX], wrong
