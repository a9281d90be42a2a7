"""What tables cost that are captured beside one that has stopped, against the same tables without it."""

from __future__ import annotations

import statistics
import tempfile
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.capture.messages import FIRST_MS, BinlogWriter, fill, row
from benchmarks.capture.world import CapturedWarehouse
from tidemark.capture.errors import ColumnTypeError
from tidemark.capture.source_table import SourceTable
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import kafka

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_HOURS: Final = 7
_HOUR_MS: Final = 3_600_000
_INSTANCE: Final = "a"
_SOUND: Final = 4
_BROKEN: Final = "broken"


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Hours of the same changes, in turns; raises RuntimeError when a table that is sound is not whole."""
    names = [f"table{number}" for number in range(_SOUND)]
    sound = [_table(name) for name in names]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        broker = stack.enter_context(kafka(jars(), Path(folder) / "kafka"))
        broker.create_topic(f"cdc.{_INSTANCE}")
        binlog = BinlogWriter(_INSTANCE)
        servers = broker.bootstrap_servers
        fill(servers, [_INSTANCE], lambda _: _beginning(binlog, names))
        alone = CapturedWarehouse.at(Path(folder) / "alone", servers, sound)
        beside = CapturedWarehouse.at(Path(folder) / "beside", servers, [*sound, _table(_BROKEN)])
        seconds: dict[int, list[float]] = {id(alone): [], id(beside): []}
        for hour in range(1, _HOURS + 1):
            fill(servers, [_INSTANCE], lambda _, hour=hour: _hour(binlog, names, hour, arguments.broken_changes))  # type: ignore[misc]
            for captured in (alone, beside)[:: 1 if hour % 2 else -1]:
                begun = time.perf_counter()
                with suppress(ColumnTypeError):
                    captured.ingestion.step()
                seconds[id(captured)].append(time.perf_counter() - begun)
        tagged = {len(captured.registry.of(f"ods_{name}")) for captured in (alone, beside) for name in names}
    if tagged != {_HOURS}:
        raise RuntimeError(f"hours of the sound tables that are tagged: {tagged}, instead of {_HOURS}")
    # In the first hour the table stops.
    without, with_it = (statistics.median(seconds[id(captured)][1:]) for captured in (alone, beside))
    return {
        "broken_table_cost_ratio": round(with_it / without, 3),
        "broken_hour_s_alone": round(without, 2),
        "broken_hour_s_beside": round(with_it, 2),
        "broken_hours": _HOURS - 1,
        "broken_changes": arguments.broken_changes,
        "broken_sound_tables": _SOUND,
    }


def _table(name: str) -> SourceTable:
    series = ((f"ods_{name}", "hour", "2026-03-23T00"),)
    return SourceTable(f"ods_{name}", f"school.{name}", (_INSTANCE,), ("order_id",), None, series)


def _beginning(binlog: BinlogWriter, names: list[str]) -> Iterator[str]:
    """The tables are there, and a column of one gets a type that is no wider one."""
    for name in (*names, _BROKEN):
        yield binlog.created(name, FIRST_MS)
        yield binlog.change(name, "c", "null", row(0, "new"), FIRST_MS)
    yield binlog.created(_BROKEN, FIRST_MS).replace('"DECIMAL"', '"VARCHAR"')
    yield binlog.change(_BROKEN, "c", "null", row(1, "new"), FIRST_MS)


def _hour(binlog: BinlogWriter, names: list[str], hour: int, changes: int) -> Iterator[str]:
    """New orders in all tables, also in the one that stopped, and the heartbeat that ends the hour."""
    at_ms = FIRST_MS + (hour - 1) * _HOUR_MS + 120_000
    tables = (*names, _BROKEN)
    for number in range(changes):
        yield binlog.change(tables[number % len(tables)], "c", "null", row(hour * changes + number, "new"), at_ms)
    yield binlog.heartbeat(datetime.fromtimestamp((FIRST_MS + hour * _HOUR_MS) / 1000, UTC))
