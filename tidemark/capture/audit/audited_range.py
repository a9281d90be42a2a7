"""The rows of a shard that are compared together: a range of its key, in groups with counts and checksums.

A range is over the key's first column if both sides order its values alike, as for numbers and dates. Texts have a
collation that the lake does not have. For them a range is every `slices`-th row by the CRC-32 of the key.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from tidemark.capture.schema.lake_column_types import SourceColumn
from tidemark.capture.schema.source_types import INTEGERS

BUCKETS: Final = 256
_TIMES: Final = frozenset({"DATE", "DATETIME", "TIMESTAMP"})


@dataclass(frozen=True)
class AuditedRange:
    """Rows above `low` up to and including `high` (None: no bound), limited to slice `slice_` of `slices`."""

    low: str | None = None
    high: str | None = None
    slice_: int = 0
    slices: int = 1

    def __str__(self) -> str:
        if self.slices > 1:
            return f"slice {self.slice_ + 1} of {self.slices}"
        return f"{self.low or ''}..{self.high or ''}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Self:
        """The range of a value from `to_json`."""
        return cls(**entry)


@dataclass(frozen=True)
class Patch:
    """A range of a shard (`a.school.orders_3`), or some buckets of it.

    `first_values` limits the rows to some values of the key's first column, an integer; an empty tuple means all rows.
    The values are few, so that the source finds them by its index and does not read the range again.
    """

    table: str
    shard: str
    range: AuditedRange
    buckets: tuple[int, ...] = ()
    first_values: tuple[int, ...] = ()

    @property
    def instance(self) -> str:
        """The shard's instance: `a`."""
        return self.shard.partition(".")[0]

    @property
    def physical(self) -> str:
        """The physical table: `school.orders_3`."""
        return self.shard.partition(".")[2]


def is_ordered(column: SourceColumn) -> bool:
    """Whether both sides order the values of a key's first column alike."""
    return column.source_type.word in INTEGERS | _TIMES


def bucket_sql(key_text: str, key_range: AuditedRange, integer_division: str) -> str:
    """SQL of a row's bucket."""
    return f"MOD(CRC32({key_text}) {integer_division} {key_range.slices}, {BUCKETS})"


def is_in_slice(key_text: str, key_range: AuditedRange) -> str:
    """SQL of whether a row is in the range's slice."""
    return "TRUE" if key_range.slices == 1 else f"MOD(CRC32({key_text}), {key_range.slices}) = {key_range.slice_}"


def is_in_buckets(bucket: str, buckets: Collection[int]) -> str:
    """SQL of whether a row is in one of the buckets. An empty collection means all buckets."""
    return f"{bucket} IN ({', '.join(str(int(number)) for number in buckets)})" if buckets else "TRUE"
