# SPDX-License-Identifier: MIT
"""What a scene cannot say of a model: collected while it is read, so that nothing is dropped silently."""

from __future__ import annotations

NAMES_SHOWN = 6


class Findings:
    """Sentences, each with the elements that it is true of."""

    def __init__(self) -> None:
        self._of: dict[str, list[str]] = {}

    def add(self, sentence: str, element: str = "") -> None:
        elements = self._of.setdefault(sentence, [])
        if element and element not in elements:
            elements.append(element)

    def sentences(self) -> list[str]:
        return [_with(sentence, elements) for sentence, elements in self._of.items()]


def _with(sentence: str, elements: list[str]) -> str:
    if not elements:
        return sentence
    shown = ", ".join(elements[:NAMES_SHOWN])
    more = f" and {len(elements) - NAMES_SHOWN} more" if len(elements) > NAMES_SHOWN else ""
    return f"{sentence}: {shown}{more}"
