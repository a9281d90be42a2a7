"""The business time of a slice as query parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.value_range import Type, Value, point
from tidemark.dependency_model.time.date_grid import DateGrid, day_of
from tidemark.dependency_model.time.partition_columns import PARTITION_COLUMNS, clock_values, partition_columns

if TYPE_CHECKING:
    from tidemark.dependency_model.time.grid import Grid
    from tidemark.dependency_model.time.period import Period


def parameters(grid: Grid, ordinal: int) -> dict[str, Value]:
    """`:biz_date`, `:biz_hour`, `:biz_minute`, `:period_start` and `:period_end` of a slice, as values."""
    values: dict[str, Value] = {
        "period_start": point(Type.TIMESTAMP, grid.start(ordinal) * 1_000_000),
        "period_end": point(Type.TIMESTAMP, grid.start(ordinal + 1) * 1_000_000),
    }
    if isinstance(grid, DateGrid):
        return {**values, "biz_date": point(Type.DATE, grid.first_day(ordinal))}
    day, *clock = clock_values(grid.key(ordinal))
    values["biz_date"] = point(Type.DATE, day_of(day))
    return values | {
        f"biz_{name}": point(Type.STRING, text) for name, text in zip(PARTITION_COLUMNS[1:], clock, strict=False)
    }


def parameter_names(period: Period | None) -> tuple[str, ...]:
    """The parameters that a query of a period may use."""
    if period is None:
        return ()
    clock = (f"biz_{name}" for name in partition_columns(period)[1:])
    return ("biz_date", "period_start", "period_end", *clock)
