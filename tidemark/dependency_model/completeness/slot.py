"""A slot: the time range whose records are counted at the source and in the lake, and when the counts agree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final

AT_LEAST: Final = Fraction("0.99995")
"""The default share of seed 002: 99.995 %."""


class LateCounts(Enum):
    """The effect of late counts on a complete slot: it is judged again, or stays complete."""

    RESTATE = "restate"
    KEEP = "keep"


@dataclass(slots=True)
class Slot:
    """`[start, end)` in minutes since 1970-01-01T00:00Z, and the number of records with that event time."""

    start: int
    end: int
    source: int = 0
    lake: int = 0

    @property
    def missing(self) -> int:
        """The records that the lake lacks; negative if it has too many."""
        return self.source - self.lake

    def agrees(self, at_least: Fraction) -> bool:
        """Whether the lake has at least this share, and at most as many too many. Exact, without rounding."""
        return abs(self.missing) * at_least.denominator <= (at_least.denominator - at_least.numerator) * self.source


def ratio(source: int, lake: int) -> float:
    """The lake's share, for people: 1.0 if both are zero, infinite if only the source is."""
    if not source:
        return 1.0 if not lake else float("inf")
    return lake / source
