# SPDX-License-Identifier: MIT
"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Problem:
    """Something that is not as it should be."""

    check: str  # of Report.checks
    mode: str  # autoreset mode that it was found in; "": of all
    text: str

    def __str__(self) -> str:
        return f"{self.check}{f' ({self.mode})' if self.mode else ''}: {self.text}"


@dataclass
class Report:
    """What was checked, what was wrong, and what could not be checked and why."""

    name: str
    checks: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems

    def add(self, check: str, mode: str, text: str) -> None:
        problem = Problem(check, mode, text)
        # one of a kind is enough: it is the first that is looked into
        if not any(
            (known.check, known.mode) == (check, mode) and known.text[:40] == text[:40] for known in self.problems
        ):
            self.problems.append(problem)

    def skip(self, text: str) -> None:
        if text not in self.skipped:
            self.skipped.append(text)

    def __str__(self) -> str:
        verdict = "as it should be" if self.ok else f"{len(self.problems)} problem{'s' * (len(self.problems) > 1)}"
        lines = [f"{self.name}: {verdict}", f"  checked: {', '.join(self.checks)}"]
        lines += [f"  PROBLEM  {problem}" for problem in self.problems]
        lines += [f"  not checked: {text}" for text in self.skipped]
        return "\n".join(lines)
