# SPDX-License-Identifier: MIT
"""Frictions of shapes from frictions of pairs.

A scene gives each shape a number m, and a pair of them the friction sqrt(m_a m_b); a model may have any rule for pairs.
Where numbers exist that give every pair that touches what it should have, they are found: the logarithms are those of a
linear system. Of all solutions it is the one nearest to the model's own numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._poses import Vector

FRICTION_MAX = 1e6  # of a scene
ROUNDING = 1e-9


def shape_frictions(
    own: Vector, wanted: Vector, kind: list[int], is_fixed: NDArray[np.bool_]
) -> tuple[Vector, NDArray[np.bool_]]:
    """Of shapes with frictions of their `own`, for pairs whose friction is `wanted` (a symmetric matrix, nan where two
    do not touch): the shapes' numbers, and which pairs get another friction. Shapes of one `kind` get one number. Where
    not all pairs can be right, those with what is fixed may be."""
    touches = ~np.isnan(wanted)
    # who has friction with nobody that it touches
    slides = touches.any(axis=1) & ~(touches & (wanted > 0.0)).any(axis=1)
    start, positive = np.where(own > 0.0, own, 1.0), np.where(wanted > 0.0, wanted, np.nan)
    with_fixed = np.where(is_fixed[:, None] | is_fixed[None, :], positive, np.nan)
    best, wrong = own, touches
    for candidate in (own, _solved(start, positive, kind), _solved(start, with_fixed, kind)):
        numbers = np.where(slides, 0.0, candidate)
        errs = _wrong(numbers, wanted)
        if best is own or (errs.sum() < wrong.sum() and numbers.max(initial=0.0) <= FRICTION_MAX):
            best, wrong = numbers, errs
    return best, wrong


def _wrong(numbers: Vector, wanted: Vector) -> NDArray[np.bool_]:
    has = np.sqrt(np.outer(numbers, numbers))
    known = np.where(np.isnan(wanted), has, wanted)
    return np.asarray(np.abs(has - known) > ROUNDING * np.maximum(has, known))


def _solved(own: Vector, wanted: Vector, kind: list[int]) -> Vector:
    """By least squares, of as many unknowns as there are kinds."""
    places = {name: place for place, name in enumerate(dict.fromkeys(kind))}
    place = np.array([places[name] for name in kind], dtype=int)
    equations = {
        (*sorted((place[i], place[j])), float(wanted[i, j])) for i, j in np.argwhere(~np.isnan(wanted)) if j <= i
    }
    start = np.zeros(len(places))
    start[place] = np.log(own)
    rows, rest = np.zeros((len(equations), len(places))), np.zeros(len(equations))
    for row, (a, b, friction) in enumerate(sorted(equations)):
        rows[row, a] += 1.0
        rows[row, b] += 1.0
        rest[row] = 2.0 * np.log(friction) - start[a] - start[b]
    change = np.linalg.lstsq(rows, rest, rcond=None)[0] if len(equations) else np.zeros(len(places))
    change[np.abs(change) < ROUNDING] = 0.0  # what is as it should be stays as it is written
    return np.asarray(own * np.exp(change[place]))
