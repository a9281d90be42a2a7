"""A slot: the stretch whose records are counted, at the source and in the lake, and when the two agree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final

AT_LEAST: Final = Fraction("0.99995")
"""Seed 002's share: 99.995 %."""


class LateCounts(Enum):
    """What becomes of a complete slot when more counts come: it is open again, or stays as it was."""

    RESTATE = "restate"
    KEEP = "keep"


@dataclass(slots=True)
class Slot:
    """`[start, end)` in minutes since 1970-01-01T00:00Z, and the records of that event time."""

    start: int
    end: int
    source: int = 0
    lake: int = 0

    @property
    def missing(self) -> int:
        """How many records the lake lacks; negative where it has too many."""
        return self.source - self.lake

    def agrees(self, at_least: Fraction) -> bool:
        """Whether the lake has at least this share, and no more too many: exactly, without rounding."""
        return abs(self.missing) * at_least.denominator <= (at_least.denominator - at_least.numerator) * self.source


def ratio(source: int, lake: int) -> float:
    """The lake's share, for people; of nothing, nothing is missing."""
    if not source:
        return 1.0 if not lake else float("inf")
    return lake / source
