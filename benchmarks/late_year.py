"""Late changes of a captured table over a simulated year: some each day, of the day before, and the daily trimming."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from deltalake import write_deltalake

from tidemark.capture.snapshots.late.late_change_table import late_path
from tidemark.capture.snapshots.late.late_retention import trim_late_changes
from tidemark.capture.snapshots.tagging import keep_newest
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import table_metrics
from tidemark.dependency_model.time import Calendar
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FIRST: Final = datetime(2025, 1, 1, tzinfo=UTC)
_A_DAY: Final = 100
_SERIES: Final = (("ods_orders", "day", "2025-01-01"),)


def measure_late(folder: Path, days: int, kept: int) -> dict[str, Any]:
    """`late_rows_kept` are those after as many days as tags are kept, `late_rows_year` those in the end."""
    rows = [*_days(folder, days, kept)]
    files = table_metrics(late_path(folder, "ods_orders")).files
    return {"late_rows_kept": rows[min(kept, days - 1)], "late_rows_year": rows[-1], "late_files_year": files}


def _days(folder: Path, days: int, kept: int) -> Iterator[int]:
    """The rows that are there after each day."""
    source = SourceTable("ods_orders", "school.orders", ("a",), ("id",), None, _SERIES, kept={"ods_orders": kept})
    registry, calendar, path = SnapshotRegistry.at(folder / "tags.db"), Calendar("UTC"), late_path(folder, source.name)
    for day in range(days):
        start = _FIRST + timedelta(days=day)
        registry.tag([TaggedSnapshot(source.name, "day", f"{start:%Y-%m-%d}", day, 1, start)])
        keep_newest(registry, source)
        tagged_ms = round((start + timedelta(days=1)).timestamp() * 1000)
        late = {"_batch": [day] * _A_DAY, "_tagged_ms": [tagged_ms] * _A_DAY, "id": [*range(_A_DAY)]}
        write_deltalake(str(path), pa.table(late), mode="append")
        trim_late_changes(registry, folder, source, calendar)
        yield table_metrics(path).rows
