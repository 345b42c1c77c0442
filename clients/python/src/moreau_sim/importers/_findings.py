# SPDX-License-Identifier: MIT
"""What a scene cannot say of a model, and how much of the model that is: collected while it is read, so that nothing is
dropped silently. Beside it what was done to the model: numbers that no body has, made such that one has them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

NAMES_SHOWN = 6
# what there is of a model to be lost, in words
PARTS = {"mass": "mass", "geometry": "collision geometry", "actuators": "actuators"}

Weight = tuple[str, Hashable, float]  # one of PARTS, which one of those, and how much of it: [kg], a shape, an actuator


@dataclass(frozen=True)
class Loss:
    """A sentence of what the scene does not have, and the shares, 0 … 1, of the model that it is true of. What is not
    physical moves nothing: sensors, sites, what other programs are told, settings of another's scheme."""

    sentence: str
    is_physical: bool
    mass: float
    geometry: float
    actuators: float

    def __str__(self) -> str:
        shares = _shares({part: getattr(self, part) for part in PARTS})
        if self.is_physical:
            return f"{self.sentence} ({shares or 'its weight is not known'})"
        return f"{self.sentence} (not physical)"


@dataclass
class _Entry:
    is_physical: bool
    elements: list[str] = field(default_factory=list)
    weights: dict[tuple[str, Hashable], float] = field(default_factory=dict)


class Findings:
    """Sentences, each with the elements that it is true of."""

    def __init__(self) -> None:
        self._of: dict[str, _Entry] = {}
        self._all: dict[tuple[str, Hashable], float] = {}
        self._notes: dict[str, list[str]] = {}
        self.repairs: list[str] = []

    def add(self, sentence: str, element: str = "", of: Iterable[Weight] = (), *, physical: bool = True) -> None:
        entry = self._of.setdefault(sentence, _Entry(physical))
        if element and element not in entry.elements:
            entry.elements.append(element)
        entry.weights |= {(part, which): amount for part, which, amount in of}

    def has(self, part: str, which: Hashable, amount: float = 1.0) -> None:
        """The model has this: shares are of all of these."""
        self._all[part, which] = amount

    def note(self, sentence: str, element: str = "") -> None:
        """What is as the model has it, or was chosen where it does not say."""
        elements = self._notes.setdefault(sentence, [])
        if element and element not in elements:
            elements.append(element)

    def repair(self, sentence: str) -> None:
        """What is not as the model has it, because no body is so."""
        self.repairs.append(sentence)

    def sentences(self) -> list[str]:
        return [_with(sentence, entry.elements) for sentence, entry in self._of.items()]

    def notes(self) -> list[str]:
        return self.repairs + [_with(sentence, elements) for sentence, elements in self._notes.items()]

    def losses(self) -> list[Loss]:
        return [
            Loss(_with(sentence, entry.elements), entry.is_physical, **self._share(entry.weights))
            for sentence, entry in self._of.items()
        ]

    def verdict(self) -> str:
        """One line for all of it. What two sentences are true of counts once."""
        physical = [entry for entry in self._of.values() if entry.is_physical]
        if not physical:
            return "usable: nothing physical is lost"
        weights = {key: amount for entry in physical for key, amount in entry.weights.items()}
        shares = _shares(self._share(weights))
        unknown = sum(not any(self._share(entry.weights).values()) for entry in physical)
        parts = [shares] if shares else []
        if unknown:
            parts.append(f"{unknown} thing{'s' if unknown > 1 else ''} whose weight is not known")
        return f"lost, or other than in the model: {' and '.join(parts)}"

    def _share(self, weights: dict[tuple[str, Hashable], float]) -> dict[str, float]:
        shares = dict.fromkeys(PARTS, 0.0)
        for part in PARTS:
            total = sum(amount for key, amount in self._all.items() if key[0] == part)
            if total > 0.0:
                some = sum(amount for key, amount in weights.items() if key[0] == part and key in self._all)
                shares[part] = min(some / total, 1.0)
        return shares


def _shares(share: dict[str, float]) -> str:
    return ", ".join(f"{_percent(share[part])} of {words}" for part, words in PARTS.items() if share[part] > 0.0)


def _percent(share: float) -> str:
    return "less than 1 %" if share < 0.01 else f"{share * 100.0:.0f} %"


def _with(sentence: str, elements: list[str]) -> str:
    if not elements:
        return sentence
    shown = ", ".join(elements[:NAMES_SHOWN])
    more = f" and {len(elements) - NAMES_SHOWN} more" if len(elements) > NAMES_SHOWN else ""
    return f"{sentence}: {shown}{more}"
