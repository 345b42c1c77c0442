# SPDX-License-Identifier: MIT
"""Inertias that a body can have, made of those that a file gives.

A tensor I is that of some spread of mass where its second moments S = tr(I)/2 1 - I are positive semidefinite: then its
moments are not negative, and none is larger than the sum of the two others. What is not so is replaced by the tensor
whose S is nearest: the same axes, and the negative ones of the second moments at 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bodies import Mass
from ._poses import Pose, Vector, matrix

ROUNDING = 1e-9  # of the largest moment: what the server forgives too
SPECK = 1e-18  # [m^2] of a moment per mass: what a tensor that should be 0 may hold
THIN = 1e-10  # [m^2] of a moment per mass: below it a body is a point or a needle, which turns at no effort
LEAST = 1e-6  # [m^2] what such a body gets added: as if its mass were 1 mm away from its centre
DENSITY = 1000.0  # [kg/m^3] of shapes


def physical(inertia: Vector, mass: float) -> tuple[Vector, str]:
    """A tensor that a body can have, and in words what was wrong with the given one; "" if it was no more than
    rounding."""
    moments, axes = np.linalg.eigh(inertia)
    size = float(np.abs(moments).max())
    seconds = moments.sum() / 2.0 - moments
    if seconds.min() >= 0.0:
        return inertia, ""
    clamped = np.maximum(seconds, ROUNDING * size)  # a little above 0: other programs forgive no rounding
    made = clamped.sum() - clamped
    better = axes @ np.diag(made) @ axes.T
    if seconds.min() >= -ROUNDING * size - SPECK * mass:
        return better, ""
    wrong = f"violates the triangle inequality by {_percent(-2.0 * float(seconds.min()) / size)}"
    if moments.min() < -ROUNDING * size - SPECK * mass:
        wrong = f"has a negative moment ({moments.min():.3g})"
    return better, f"{wrong}: moments {_list(moments)} made {_list(np.sort(made))}"


def _percent(share: float) -> str:
    return f"{share * 100.0:.2g} %" if share < 0.995 else f"{share * 100.0:.0f} %"


def _list(numbers: Vector) -> str:
    return ", ".join(f"{number:.4g}" for number in numbers)


def is_thin(weight: Mass) -> bool:
    """Whether it turns about some axis at no effort."""
    return float(np.linalg.eigvalsh(weight.inertia).min()) < THIN * weight.mass


def solid(form: dict[str, Any]) -> Mass | None:
    """Of a shape, in its own axes, at the density of water."""
    if "sphere" in form:
        radius = form["sphere"]["radius"]
        return _solid(4.0 / 3.0 * np.pi * radius**3, np.full(3, radius**2 / 5.0))
    if "box" in form:
        half = np.array(form["box"]["half_extents"])
        return _solid(8.0 * float(np.prod(half)), half**2 / 3.0)
    if "cylinder" in form:
        radius, half_length = form["cylinder"]["radius"], form["cylinder"]["half_length"]
        squares = np.array([radius**2 / 4.0, radius**2 / 4.0, half_length**2 / 3.0])
        return _solid(2.0 * np.pi * radius**2 * half_length, squares)
    if "capsule" in form:
        radius, half_length = form["capsule"]["radius"], form["capsule"]["half_length"]
        # of the cylinder and of the ball in two halves, 3/8 of a radius being where the middle of a half is
        parts = np.array([2.0 * half_length, 4.0 / 3.0 * radius]) * np.pi * radius**2
        across = parts @ [radius**2 / 4.0, radius**2 / 5.0]
        along = parts @ [half_length**2 / 3.0, half_length**2 + 0.75 * half_length * radius + radius**2 / 5.0]
        return _solid(float(parts.sum()), np.array([across, across, along]) / parts.sum())
    return None


def _solid(volume: float, mean_squares: Vector) -> Mass:
    mass = DENSITY * volume
    return Mass(mass, np.zeros(3), mass * np.diag(mean_squares.sum() - mean_squares))


def placed(weight: Mass, place: Pose) -> Mass:
    """What stands at a pose, from there."""
    axes = matrix(place.orientation)
    return Mass(weight.mass, place.position + axes @ weight.center, axes @ weight.inertia @ axes.T)
