# SPDX-License-Identifier: MIT
"""What is asked of worlds, judged before anything is sent: of a group and of a fleet alike, nothing is done by
halves."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

SEED_MAX = 2**64 - 1
_LARGEST: dict[np.dtype[Any], float] = {np.dtype(name): float(np.finfo(name).max) for name in ("<f4", "<f8")}


class Named(NamedTuple):
    """The worlds that a mask names, of those that there are."""

    mask: NDArray[np.bool_] | None  # None: all
    worlds: NDArray[np.intp]

    @property
    def bits(self) -> bytes | None:
        """As the wire has them."""
        return None if self.mask is None else packed(self.mask)


def packed(mask: NDArray[np.bool_]) -> bytes:
    return np.packbits(mask, bitorder="little").tobytes()


def named(mask: ArrayLike | None, count: int) -> Named:
    if mask is None:
        return Named(None, np.arange(count))
    bits = np.asarray(mask)
    if bits.dtype != np.bool_ or bits.shape != (count,):
        raise ValueError(f"mask: {count} booleans are asked for, not {bits.dtype} of shape {bits.shape}")
    if not bits.any():
        raise ValueError("mask: it names no world")
    return Named(bits, np.flatnonzero(bits))


def actions_for(
    worlds: NDArray[np.intp], actions: ArrayLike, columns: int, dtype: np.dtype[Any], *, copy: bool = False
) -> NDArray[Any]:
    """A row for each of the worlds, as numbers of this type: what it does not hold is not finite."""
    given = np.asarray(actions)
    if given.shape != (len(worlds), columns) or given.dtype.kind not in "fiub":
        raise ValueError(
            f"actions: {len(worlds)} x {columns} numbers are asked for, not {given.dtype} of shape {given.shape}"
        )
    if given.dtype.kind == "f" and given.size:
        # as floats of Python: the largest double is beyond a float32, and is not made one
        least, most = float(np.minimum.reduce(given, axis=None)), float(np.maximum.reduce(given, axis=None))
        # what is not a number is no smaller than anything
        if not -_LARGEST[dtype] <= least <= most <= _LARGEST[dtype]:
            _check_finite(worlds, given, dtype)
    return given.astype(dtype, copy=copy)


def _check_finite(worlds: NDArray[np.intp], given: NDArray[Any], dtype: np.dtype[Any]) -> None:
    with np.errstate(over="ignore"):
        is_finite = np.isfinite(given.astype(dtype)).all(axis=1)
    if not is_finite.all():
        row = int(np.flatnonzero(~is_finite)[0])
        what = f"not finite as {dtype.name}" if np.isfinite(given[row]).all() else "not finite"
        raise ValueError(f"the action of world {worlds[row]} is {what} ({given[row]}); no world has stepped")


def seeds_for(rows: int, seed: int | Sequence[int] | None) -> NDArray[Any] | None:
    """One for all, or one for each."""
    if seed is None:
        return None
    seeds = np.atleast_1d(np.asarray(seed, dtype=object))
    if len(seeds) not in (1, rows):
        raise ValueError(f"seed: one, or {rows} are asked for, not {len(seeds)}")
    for one in seeds:
        try:
            is_seed = 0 <= operator.index(one) <= SEED_MAX
        except TypeError:
            is_seed = False
        if not is_seed:
            raise ValueError(f"seed: whole numbers from 0 to 2^64 - 1 are asked for, not {one!r}")
    return seeds


def values_for(rows: int, values: ArrayLike | None, columns: int) -> NDArray[np.float64] | None:
    """What a reset adds, a row for each; the caller's array is left alone."""
    if values is None:
        return None
    numbers = np.array(values, dtype=float)
    if numbers.shape != (rows, columns):
        raise ValueError(f"values: {rows} x {columns} numbers are asked for, not an array of shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise ValueError("values: they must be finite")
    return numbers


class Returns(NamedTuple):
    """What episodes of worlds earned."""

    world: NDArray[np.intp]
    earned: NDArray[np.float64]
    doubtful: NDArray[np.float64] | None  # the part of it that was earned in doubtful steps


def returns_of(worlds: ArrayLike, returns: ArrayLike, doubtful: ArrayLike | None) -> Returns:
    numbers = np.asarray(returns, dtype=float)
    part = None if doubtful is None else np.asarray(doubtful, dtype=float)
    if not np.isfinite(numbers).all() or (part is not None and not np.isfinite(part).all()):
        raise ValueError("returns: they must be finite")
    if part is not None and part.shape != numbers.shape:
        raise ValueError(f"doubtful: {numbers.size} numbers are asked for, not {part.size}")
    return Returns(np.asarray(worlds, dtype=np.intp), numbers, part)
