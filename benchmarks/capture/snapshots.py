"""How long after the last event of an hour each of many tables has its name, in one process."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.capture.messages import FIRST_MS, INSTANCES, BinlogWriter, fill, row
from benchmarks.capture.world import CapturedWarehouse
from benchmarks.timing import Timer
from tidemark.capture.source_table import SourceTable
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import kafka

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

# The first one makes the tables.
_HOURS: Final = 6
_HOUR_MS: Final = 3_600_000
_CHANGES: Final = 100


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Hour after hour arrives and is taken in; raises RuntimeError when a table is without its name."""
    tables = [_table(number) for number in range(arguments.tables)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        broker = stack.enter_context(kafka(jars(), Path(folder) / "kafka"))
        for instance in INSTANCES:
            broker.create_topic(f"cdc.{instance}")
        captured = CapturedWarehouse.at(Path(folder) / "data", broker.bootstrap_servers, tables)
        logs = {name: BinlogWriter(name) for name in INSTANCES}
        timer = Timer(1)
        for hour in range(_HOURS):
            fill(broker.bootstrap_servers, INSTANCES, lambda name, hour=hour: _changes(logs[name], hour, tables))  # type: ignore[misc]
            captured.ingestion.step()
            fill(broker.bootstrap_servers, INSTANCES, lambda name, hour=hour: [_last(logs[name], hour)])  # type: ignore[misc]
            timer.run(captured.ingestion.step)
            _check(captured, tables, hour)
    return {
        "snapshot_delay_s_max": round(max(timer.wall[1:]), 2),
        "snapshot_cpu_ms_per_table": round(1000 * max(timer.cpu[1:]) / len(tables)),
        "tables": len(tables),
        "hours": _HOURS - 1,
    }


def _table(number: int) -> SourceTable:
    """One of the tables, on two of the instances."""
    name = f"ods_t{number}"
    where = INSTANCES[:2] if number % 2 else INSTANCES[2:]
    series = ((f"{name}_1h", "hour", "2026-03-23T00"),)
    return SourceTable(name, f"school.t{number}_*", where, ("order_id",), None, series)


def _changes(binlog: BinlogWriter, hour: int, tables: list[SourceTable]) -> Iterator[str]:
    """An hour's changes of all tables that the instance has, then its heartbeat short of the end."""
    at_ms = FIRST_MS + hour * _HOUR_MS
    for number, table in enumerate(tables):
        if binlog.instance not in table.instances:
            continue
        physical = f"t{number}_{table.instances.index(binlog.instance)}"
        if hour == 0:
            yield binlog.created(physical, at_ms)
        for change in range(_CHANGES):
            order_id = (hour * _CHANGES + change) * 2 + table.instances.index(binlog.instance)
            yield binlog.change(physical, "c", "null", row(order_id, "new"), at_ms + 1000 * change)
    yield binlog.heartbeat(_utc(at_ms + _HOUR_MS - 1000))


def _last(binlog: BinlogWriter, hour: int) -> str:
    """The heartbeat at the hour's end."""
    return binlog.heartbeat(_utc(FIRST_MS + (hour + 1) * _HOUR_MS))


def _utc(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def _check(captured: CapturedWarehouse, tables: list[SourceTable], hour: int) -> None:
    for table in tables:
        names = captured.registry.of(f"{table.name}_1h")
        if len(names) != hour + 1 or names[-1].rows != (hour + 1) * 2 * _CHANGES:
            raise RuntimeError(f"{table.name}: {len(names)} names after {hour + 1} hours, the last {names[-1:]}")
