"""What an hour's snapshot costs when the table has ten times the rows and the hour the same changes."""

from __future__ import annotations

import random
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.capture.messages import FIRST_MS, BinlogWriter, fill, row
from benchmarks.capture.world import CapturedWarehouse
from benchmarks.timing import Timer
from tidemark.capture.source_table import SourceTable
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import kafka
from tidemark.delta.delta_rs_table import read_table
from tidemark.spark.session import spark_session

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_HOURS: Final = 6
_HOUR_MS: Final = 3_600_000
_TIMES: Final = 10
_CHANGES: Final = 50_000
# Of an hour's changes two in five are new orders, the others change those of the last days, one in forty any.
_NEW: Final = 0.4
_ANY: Final = 0.025
_NEAR_ORDERS: Final = 100_000
_FILE_ROWS: Final = 250_000
_INSTANCE: Final = "a"
_BOUNDARIES: Final = (("ods_orders_1h", "hour", "2026-03-23T00"),)
_ORDERS: Final = SourceTable("ods_orders", "school.orders_*", (_INSTANCE,), ("order_id",), None, _BOUNDARIES)


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Both tables take in the same hours, in turns; raises RuntimeError when they do not name the same growth."""
    rows = arguments.rows
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        broker = stack.enter_context(kafka(jars(), Path(folder) / "kafka"))
        broker.create_topic(f"cdc.{_INSTANCE}")
        binlog = BinlogWriter(_INSTANCE)
        fill(broker.bootstrap_servers, [_INSTANCE], lambda _: _beginning(binlog, rows))
        small, large = (
            CapturedWarehouse.at(Path(folder) / name, broker.bootstrap_servers, [_ORDERS])
            for name in ("small", "large")
        )
        for entry, first in ((small, (_TIMES - 1) * rows), (large, 0)):
            entry.ingestion.step()
            _fill_table(entry, first, _TIMES * rows)
        timers = Timer(1), Timer(1)
        for hour in range(1, _HOURS + 1):
            fill(broker.bootstrap_servers, [_INSTANCE], lambda _, hour=hour: _hour(binlog, hour, rows))  # type: ignore[misc]
            for timer, captured in list(zip(timers, (small, large), strict=True))[:: 1 if hour % 2 else -1]:
                timer.run(captured.ingestion.step)
        grown = [[name.rows for name in run.registry.of("ods_orders_1h")] for run in (small, large)]
    more = {large_rows - small_rows for small_rows, large_rows in zip(*grown, strict=True)}
    if more != {rows * (_TIMES - 1)}:
        raise RuntimeError(f"the tables' names have {grown[0]} and {grown[1]} rows")
    figures = [timer.figures(name) for timer, name in zip(timers, ("hour_small", "hour_large"), strict=True)]
    return {
        "hourly_cost_ratio_10x": round(timers[1].seconds / timers[0].seconds, 2),
        "hourly_cpu_ratio_10x": round(figures[1]["hour_large_cpu_seconds"] / figures[0]["hour_small_cpu_seconds"], 2),
        "hour_changes": _CHANGES,
        "rows_small": rows,
        **figures[0],
        **figures[1],
    }


def _beginning(binlog: BinlogWriter, rows: int) -> Iterator[str]:
    """The table is there, and its newest order."""
    yield binlog.created("orders_0", FIRST_MS)
    yield binlog.change("orders_0", "c", "null", row(_TIMES * rows, "new"), FIRST_MS)
    yield binlog.heartbeat(datetime.fromtimestamp(FIRST_MS / 1000 + 60, UTC))


def _hour(binlog: BinlogWriter, hour: int, rows: int) -> Iterator[str]:
    """The changes of an hour, and the heartbeat that ends it."""
    chance, newest = random.Random(hour), _TIMES * rows + hour * _CHANGES
    at_ms = FIRST_MS + (hour - 1) * _HOUR_MS + 120_000
    for number in range(_CHANGES):
        what = chance.random()
        if what < _NEW:
            yield binlog.change("orders_0", "c", "null", row(newest + number, "new"), at_ms)
            continue
        near = min(rows, _NEAR_ORDERS) if what > _NEW + _ANY else rows
        order_id = _TIMES * rows - 1 - chance.randrange(near)
        yield binlog.change("orders_0", "u", row(order_id, "new"), row(order_id, f"{hour}"), at_ms)
    yield binlog.heartbeat(datetime.fromtimestamp((FIRST_MS + hour * _HOUR_MS) / 1000, UTC))


def _fill_table(captured: CapturedWarehouse, first: int, end: int) -> None:
    """The orders `[first, end)` as if they had been captured, in files by their numbers."""
    spark, path = spark_session(captured.settings), captured.settings.warehouse / "ods_orders"
    (like,) = read_table(spark, path).collect()
    given = {"order_id": "id", "user_id": "id % 65537", "course_id": "id % 997", "_offset": "0"}
    fields = [
        f"CAST({given.get(field.name, _literal(like[field.name]))} AS {field.dataType.simpleString()}) AS {field.name}"
        for field in read_table(spark, path).schema
    ]
    old = spark.range(first, end, 1, max(1, (end - first) // _FILE_ROWS)).selectExpr(*fields)
    old.write.format("delta").mode("append").save(str(path))


def _literal(value: object) -> str:
    return "NULL" if value is None else f"'{value}'"
