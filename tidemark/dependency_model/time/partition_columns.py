"""The partition columns of a slice's rows.

`dt` is the local date that the slice starts on; slices shorter than a day have `hour`, and `minute`, as text. The hour
that an autumn day repeats keeps its offset (`02+01:00`), so that both are partitions of their own and
`hour BETWEEN '00' AND '23'` still takes the whole day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tidemark.dependency_model.time.period import Period

PARTITION_COLUMNS: Final = ("dt", "hour", "minute")
"""All of them, from the longest to the shortest."""


def partition_columns(period: Period | None) -> tuple[str, ...]:
    """The columns that tell the slice of a row."""
    if period is None:
        return ()
    if not period.is_clock:
        return PARTITION_COLUMNS[:1]
    return PARTITION_COLUMNS[:2] if period.minutes == 60 else PARTITION_COLUMNS


def clock_values(key: str) -> tuple[str, ...]:
    """The values of the partition columns, as text, of a slice shorter than a day: date, hour and, if any, minute."""
    day, _, clock = key.partition("T")
    if clock[2:3] != ":":
        return day, clock
    return day, clock[:2] + clock[5:], clock[3:5]
