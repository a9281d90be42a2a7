"""How much one request may ask for: counted by arithmetic, before anything is expanded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tidemark.errors import ParseError

MAX_SLICES: Final = 1_000
"""So many slices, and so many dates, one request stands for without anybody's yes; all of its subjects together."""


@dataclass(slots=True)
class Allowance:
    """What is left of `most`; one object goes through all subjects of a request."""

    most: int = MAX_SLICES
    slices: int = field(init=False)
    dates: int = field(init=False)

    def __post_init__(self) -> None:
        self.slices = self.dates = self.most

    def take_slices(self, count: int) -> None:
        """So many more slices are going to be made. Raises ParseError where they are too many."""
        if count > self.slices:
            raise _too_many("slices", count, self.slices, self.most)
        self.slices -= count

    def take_dates(self, count: int) -> None:
        """So many more dates or hours are going to be read. Raises ParseError where they are too many."""
        if count > self.dates:
            raise _too_many("dates", count, self.dates, self.most)
        self.dates -= count


def _too_many(what: str, count: int, left: int, most: int) -> ParseError:
    return ParseError(
        f"too many {what} in one request",
        expected=f"at most {most:,} in all",
        found=f"{count:,} where {left:,} are left",
        hint="ask in several requests",
    )
