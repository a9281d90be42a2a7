"""Small Arrow tables that have what hurts."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa

DAY = dt.date(2026, 3, 29)
NEXT_DAY = dt.date(2026, 3, 30)


def gmv(*amounts: str) -> pa.Table:
    """One row a course, as the GMV figure has them."""
    return pa.table(
        {
            "course_id": pa.array(range(1, len(amounts) + 1), pa.int32()),
            "gmv": pa.array([Decimal(amount) for amount in amounts], pa.decimal128(12, 2)),
        }
    )


def all_types() -> pa.Table:
    """Every stored type, each with values at its edges and a null."""
    # Paris has no half past two on that day; a wall clock's reading is stored all the same.
    lacking_hour = dt.datetime.fromisoformat("2026-03-29T02:30:00")
    instant = dt.datetime(2026, 3, 29, 0, 59, 59, 999999, tzinfo=dt.UTC)
    return pa.table(
        {
            "flag": pa.array([True, False, None], pa.bool_()),
            "small": pa.array([-(2**15), 2**15 - 1, None], pa.int16()),
            "middle": pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
            "big": pa.array([-(2**63), 2**63 - 1, None], pa.int64()),
            "ratio": pa.array([0.1, -1e300, None], pa.float64()),
            "money": pa.array([Decimal("-0.01"), Decimal("99999999.99"), None], pa.decimal128(10, 2)),
            "fine": pa.array([Decimal("1E-10"), Decimal(0), None], pa.decimal128(38, 10)),
            "text": pa.array(["", 'it\'s "quoted" \\N \t \r\n ; -- 🌊', None], pa.string()),
            "day": pa.array([DAY, dt.date(1970, 1, 1), None], pa.date32()),
            "wall_clock": pa.array([lacking_hour, lacking_hour - dt.timedelta(days=9999), None], pa.timestamp("us")),
            "instant": pa.array([instant, instant - dt.timedelta(days=9999), None], pa.timestamp("us", "UTC")),
        }
    )


def rows(data: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of some columns, in an order that does not depend on the store."""
    picked = data.select(list(columns) or data.column_names)
    return sorted(zip(*(column.to_pylist() for column in picked.columns), strict=True), key=repr)
