"""The meaning of another system's placeholder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.foreign_sql.date_pattern import has_clock
from tidemark.dependency_model.time.period import Period

if TYPE_CHECKING:
    from tidemark.dependency_model.lineage.foreign_sql.moment import Moment


@dataclass(frozen=True, slots=True)
class Meaning:
    """The system and the meaning of a placeholder, in words, and its replacement.

    The replacement is a `moment`, the name of a `table`, or empty if the information is elsewhere (`is_needless`).
    Otherwise `advice` says what a person must do. `parameter` is the name of a value that a scheduler sets.
    """

    system: str
    words: str
    moment: Moment | None = None
    table: str = ""
    is_needless: bool = False
    advice: str = ""
    parameter: str = ""

    def to_write(self, period: Period = Period.DAY) -> str:
        """The advice on what to write instead."""
        if self.table:
            return f"the entity's name: {self.table}"
        if self.is_needless:
            return "nothing: leave it out"
        if self.moment is None:
            return self.advice
        text = self.moment.sql(period)
        if text is None:
            hourly = self.moment.sql(Period.HOUR)
            advice = "a time of the slice, as :period_start: at which time of the day it was planned is not known"
            return self.advice or (f"{advice}; in an entity of hours {hourly}" if hourly else advice)
        pattern = self.moment.pattern
        if "dd" not in pattern or has_clock(pattern):
            return text
        return f"{self.moment.date(period)}, a DATE; {text} where a text is compared"
