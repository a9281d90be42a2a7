"""Removes late changes that no tag needs any more, after `keep_snapshots` has dropped tags."""

from typing import Final

from tidemark.capture.snapshots.late.late_change_table import late_path
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import open_table
from tidemark.dependency_model.time import Calendar, Period
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.table_location import TableLocation

_SMALL_FILES: Final = 50


def trim_late_changes(
    registry: SnapshotRegistry, warehouse: TableLocation, source: SourceTable, calendar: Calendar
) -> int:
    """Remove the table's late changes that belong to no tagged snapshot, and compact small files.

    Returns the number of removed rows. A change belongs to slices that were tagged before it came (`_tagged_ms`). The
    caller holds the capture's lock.
    """
    path = late_path(warehouse, source.name)
    if not table_exists(path):
        return 0
    oldest_ms = _oldest_end(registry, source, calendar)
    if oldest_ms is None:
        return 0
    table = open_table(path)
    rows = int(table.delete(f"_tagged_ms < {oldest_ms}")["num_deleted_rows"] or 0)
    if len(table.file_uris()) > _SMALL_FILES:
        table.optimize.compact()
    table.vacuum(dry_run=False)
    return rows


def _oldest_end(registry: SnapshotRegistry, source: SourceTable, calendar: Calendar) -> int | None:
    """The end (epoch ms) of the oldest slice with a tag or candidate; None without one, when nothing may be removed."""
    ends = [
        source.calendar_of(entity, calendar).window(Period.parse(period), snapshot.slice).end
        for entity, period, _ in source.snapshot_series
        for snapshot in (
            *registry.of(entity, period)[:1],
            *(candidate.snapshot for candidate in registry.candidates.of(entity, period)[:1]),
        )
    ]
    return round(min(ends).timestamp() * 1000) if ends else None
