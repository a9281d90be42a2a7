"""Row count and content checksum of a logical table, by SQL in the database.

Checksum = sum over all rows of all shards of the first 15 hexadecimal digits of MD5(s) as a number, where s is the
shard's name and the values of `columns` joined by '|', NULL as backslash N: order-free, and exact (no floating point).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.components.workload.schema import DATABASE, LogicalTable, shard_name

if TYPE_CHECKING:
    from pymysql.cursors import Cursor


@dataclass(frozen=True)
class Content:
    """What a logical table holds."""

    rows: int
    checksum: str
    columns: tuple[str, ...]


def content(cursor: Cursor, table: LogicalTable) -> Content:
    """Count and checksum of a table, over all of its columns as they are now; the session's time zone must be UTC."""
    columns = _columns(cursor, table.physical[0])
    rows, checksum = 0, 0
    for physical in table.physical:
        cursor.execute(_query(physical, columns))
        counted, summed = cursor.fetchall()[0]
        rows, checksum = rows + int(counted), checksum + int(summed)
    return Content(rows, str(checksum), columns)


def _columns(cursor: Cursor, physical: str) -> tuple[str, ...]:
    cursor.execute(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
        (DATABASE, physical),
    )
    return tuple(str(name) for (name,) in cursor.fetchall())


def _query(physical: str, columns: tuple[str, ...]) -> str:
    values = ", ".join(f"IFNULL({column}, '\\\\N')" for column in columns)
    text = f"CONCAT_WS('|', '{shard_name(physical)}', {values})"
    number = f"CAST(CONV(LEFT(MD5({text}), 15), 16, 10) AS DECIMAL(38, 0))"
    return f"SELECT COUNT(*), COALESCE(SUM({number}), 0) FROM {DATABASE}.{physical}"  # noqa: S608 - own names only
