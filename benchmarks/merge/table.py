"""The table that batches are merged into: days of equal size, keys that grow with time as order numbers do.

Hundreds of millions of rows are made in minutes, a day at a time: DuckDB makes the rows, their files are written as
they are and named in one commit. Copies share the files, which never change.
"""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, Schema
from deltalake.transaction import AddAction, create_table_with_add_actions

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS: Final = ("id", "dt", "user_id", "amount", "note", "_offset")
FIRST_DAY: Final = date(2023, 1, 1)
_ROWS: Final = """
    SELECT range AS id, range % 1000 AS user_id, CAST(range * 37 % 10000 / 100 AS DECIMAL(10, 2)) AS amount,
           md5(CAST(range AS VARCHAR)) AS note, CAST(0 AS BIGINT) AS _offset
    FROM range({start}, {end})
"""
_SCHEMA: Final = pa.schema(
    [
        ("id", pa.int64()),
        ("dt", pa.date32()),
        ("user_id", pa.int64()),
        ("amount", pa.decimal128(10, 2)),
        ("note", pa.string()),
        ("_offset", pa.int64()),
    ]
)


@dataclass(frozen=True)
class TableShape:
    """`days` partitions of `day_rows` rows in `day_files` files each; a batch has `batch_rows` changes."""

    days: int
    day_rows: int
    day_files: int
    batch_rows: int

    @property
    def rows(self) -> int:
        return self.days * self.day_rows

    def day(self, back: int) -> str:
        """The day that lies `back` days before the last one."""
        return (FIRST_DAY + timedelta(days=self.days - 1 - back)).isoformat()


def built(folder: Path, shape: TableShape) -> Path:
    """The table of that shape below `folder`, made unless it is there."""
    path = folder / f"source_{shape.days}x{shape.day_rows}x{shape.day_files}"
    if not (path / "_delta_log").exists():
        shutil.rmtree(path, ignore_errors=True)
        actions = list(_files(path, shape))
        create_table_with_add_actions(str(path), Schema.from_arrow(_SCHEMA), actions, partition_by=["dt"])
        # As a table has that grew: its log is not read from the first line on.
        DeltaTable(str(path)).create_checkpoint()
    return path


def copied(source: Path, path: Path) -> Path:
    """A copy that shares the data files; what was at `path` is gone."""
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(source, path, copy_function=_link)
    return path


def _link(source: str, target: str) -> None:
    if source.endswith(".parquet") and "_delta_log" not in source:
        Path(target).hardlink_to(source)
    else:
        shutil.copyfile(source, target)


def _files(path: Path, shape: TableShape) -> Iterator[AddAction]:
    connection = duckdb.connect()
    for number in range(shape.days):
        start = number * shape.day_rows
        rows = connection.sql(_ROWS.format(start=start, end=start + shape.day_rows)).to_arrow_table()
        folder = f"dt={shape.day(shape.days - 1 - number)}"
        (path / folder).mkdir(parents=True)
        step = -(-shape.day_rows // shape.day_files)
        for part in range(shape.day_files):
            yield _file(path, f"{folder}/part-{number:05}-{part:02}.parquet", rows.slice(part * step, step))


def _file(path: Path, name: str, rows: pa.Table) -> AddAction:
    pq.write_table(rows, path / name, compression="snappy")
    first, last = rows["id"][0].as_py(), rows["id"][-1].as_py()
    bounds = {"minValues": {"id": first, "_offset": 0}, "maxValues": {"id": last, "_offset": 0}}
    told = {"numRecords": rows.num_rows, **bounds, "nullCount": dict.fromkeys(rows.column_names, 0)}
    day = name.partition("/")[0].removeprefix("dt=")
    return AddAction(name, (path / name).stat().st_size, {"dt": day}, int(time.time() * 1000), True, json.dumps(told))  # noqa: FBT003
