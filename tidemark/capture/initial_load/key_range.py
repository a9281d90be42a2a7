"""Rows of a table in a range of integer keys, for a load of only the rows that are wrong."""

import re
from dataclasses import dataclass
from typing import Final, Self

from tidemark.capture.initial_load.errors import KeyRangeError
from tidemark.quoting.spark import quote

_TEXT: Final = re.compile(r"(?P<low>-?\d{1,20})?\.\.(?P<high>-?\d{1,20})?")
_INTEGER: Final = re.compile(r"(?:tiny|small|medium|big)?int(?:eger)?\b", re.IGNORECASE)


@dataclass(frozen=True)
class KeyRange:
    """Keys from `low` to `high`, both included; None means no bound on that side.

    Only integers are allowed: the source orders text by a collation, and the lake by another.
    """

    column: str
    low: int | None
    high: int | None

    @classmethod
    def parse(cls, text: str, column: str) -> Self:
        """Parses `1000..1999`, `1000..` or `..1999`. Raises KeyRangeError."""
        match = _TEXT.fullmatch(text)
        if match is None or text == "..":
            raise KeyRangeError.of_text(text)
        low, high = (None if bound is None else int(bound) for bound in (match["low"], match["high"]))
        if low is not None and high is not None and low > high:
            raise KeyRangeError.of_text(text)
        return cls(column, low, high)

    @property
    def condition(self) -> str:
        """A condition that is valid SQL at the source and in the lake."""
        name, bounds = quote(self.column), ((">=", self.low), ("<=", self.high))
        return " AND ".join(f"{name} {compared} {bound}" for compared, bound in bounds if bound is not None)


def is_integer(printed: str) -> bool:
    """Whether a column's type, as the server prints it, is an integer type."""
    return _INTEGER.match(printed) is not None
