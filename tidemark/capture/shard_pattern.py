"""The physical tables of a declared name: a single table, or numbered shards.

`school.orders_*` matches shards numbered from 0 to 9999, `school.orders_{0..31}` only the shards of that range, and
`school.orders_{00..31}` the same range with two digits. The underscore is optional: `school.sbtest*`,
`school.sbtest{1..8}`. A name with any other ending, such as `orders_20260323` (a backup of that day) or `orders_old`,
is not a shard.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_ANY: Final = "*"
_RANGE: Final = re.compile(r"(?P<prefix>.+)\{(?P<first>\d{1,4})\.\.(?P<last>\d{1,4})\}")
_HIGHEST: Final = 9_999


@dataclass(frozen=True)
class ShardPattern:
    """`prefix` is the name before the number (`school.orders_`); `first` is None for a single table.

    Numbers have exactly `digits` digits. With None they are not padded; with `is_any` they have up to four digits and
    may have leading zeros.
    """

    prefix: str
    first: int | None = None
    last: int = _HIGHEST
    digits: int | None = None
    is_any: bool = False

    @classmethod
    def parse(cls, table: str) -> "ShardPattern":
        """Parses a declared name."""
        if table.endswith(_ANY):
            return cls(table.removesuffix(_ANY), 0, is_any=True)
        match = _RANGE.fullmatch(table)
        if match is None:
            return cls(table)
        is_padded = len(match["first"]) == len(match["last"]) > 1
        digits = len(match["last"]) if is_padded and match["first"].startswith("0") else None
        return cls(match["prefix"], int(match["first"]), int(match["last"]), digits)

    @property
    def base(self) -> str:
        """The name without its number: `school.orders`."""
        return self.prefix if self.first is None else self.prefix.removesuffix("_")

    def matches(self, physical: str) -> bool:
        """Whether the physical table matches this pattern."""
        return self._regex.fullmatch(physical) is not None

    @property
    def example(self) -> str:
        """The first physical table that matches."""
        return self.prefix if self.first is None else f"{self.prefix}{self._shown(self.first)}"

    def overlaps(self, other: "ShardPattern") -> str | None:
        """A physical table that both patterns match, or None."""
        names = (self.example, other.example)
        return next((name for name in names if self.matches(name) and other.matches(name)), None)

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        if self.first is None:
            return re.compile(re.escape(self.prefix))
        if self.is_any:
            return re.compile(re.escape(self.prefix) + "[0-9]{1,4}")
        numbers = "|".join(self._shown(number) for number in range(self.first, self.last + 1))
        return re.compile(f"{re.escape(self.prefix)}(?:{numbers})")

    def _shown(self, number: int) -> str:
        return f"{number:0{self.digits or 1}d}"
