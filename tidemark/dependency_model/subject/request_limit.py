"""The limits of one request, counted before anything is expanded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tidemark.errors import ParseError

MAX_SLICES: Final = 1_000
"""The most slices, and the most dates, that all subjects of a request may have together."""


@dataclass(slots=True)
class Allowance:
    """The remaining slices and dates of `most`. All subjects of a request share one object."""

    most: int = MAX_SLICES
    slices: int = field(init=False)
    dates: int = field(init=False)

    def __post_init__(self) -> None:
        self.slices = self.dates = self.most

    def take_slices(self, count: int) -> None:
        """Takes `count` slices from the rest. Raises ParseError if too few are left."""
        if count > self.slices:
            raise _too_many("slices", count, self.slices, self.most)
        self.slices -= count

    def take_dates(self, count: int) -> None:
        """Takes `count` dates or hours from the rest. Raises ParseError if too few are left."""
        if count > self.dates:
            raise _too_many("dates", count, self.dates, self.most)
        self.dates -= count


def _too_many(what: str, count: int, left: int, most: int) -> ParseError:
    return ParseError(
        f"too many {what} in one request",
        expected=f"at most {most:,} in total",
        found=f"{count:,}, and {left:,} are left",
        hint="split it into several requests",
    )
