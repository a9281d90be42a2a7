"""Trims capture's side tables once a day: old records of the dead-letter queue, and old unrouted changes.

Late changes go when no tag needs them, whatever their age. Records of the dead-letter queue without a readable time
stay, because their age is unknown.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from deltalake import CommitProperties

from tidemark.capture.commits.commit_state import last_commit
from tidemark.capture.snapshots.late.late_change_table import FOLDER
from tidemark.capture.snapshots.late.late_retention import trim_late_changes
from tidemark.capture.source.dead_letters import TABLE as DEAD_LETTERS
from tidemark.capture.source.unrouted import TABLE as UNROUTED
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import open_table
from tidemark.dependency_model.time import Calendar
from tidemark.state_store.notes import Notes
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings
from tidemark.system.table_location import TableLocation

NOTES: Final = "capture trimmed"
"""The kind of the notes: by table, when (ISO, UTC) it was last trimmed."""
_SIDE_TABLES: Final = "_side_tables"
_EVERY: Final = timedelta(days=1)
_SMALL_FILES: Final = 50


def trim_if_due(
    settings: Settings, now: datetime, registry: SnapshotRegistry, sources: Sequence[SourceTable] = ()
) -> Mapping[str, int]:
    """Trim side tables and late changes once a day, but not on a table's first day.

    Returns how many rows were removed from each table. `now` is aware. The caller holds the leases of the tables'
    instances.
    """
    notes = Notes(registry.database, NOTES)
    due = _due(notes.all(), [_SIDE_TABLES, *(source.name for source in sources)], now)
    if not due:
        return {}
    notes.put(dict.fromkeys(due, now.isoformat()))
    calendar = Calendar(settings.time_zone)
    late = {
        f"{FOLDER}/{source.name}": trim_late_changes(registry, settings.warehouse, source, calendar)
        for source in sources
        if due.get(source.name)
    }
    removed = trim(settings.warehouse, now - timedelta(days=settings.history_days)) if due.get(_SIDE_TABLES) else {}
    return {**removed, **{name: rows for name, rows in late.items() if rows}}


def _due(noted: Mapping[str, str], names: Sequence[str], now: datetime) -> dict[str, bool]:
    """The tables that are due, and whether they were noted before."""
    last = {name: datetime.fromisoformat(noted[name]) for name in names if name in noted}
    return {name: name in last for name in names if name not in last or now - last[name] >= _EVERY}


def trim(warehouse: TableLocation, before: datetime) -> Mapping[str, int]:
    """Remove records from before an instant, and compact small files. Returns the removed rows of each table."""
    removed = {name: _trim(warehouse / name, before) for name in (DEAD_LETTERS, UNROUTED)}
    return {name: rows for name, rows in removed.items() if rows}


def _trim(path: TableLocation, before: datetime) -> int:
    if not table_exists(path):
        return 0
    state = last_commit(path)
    # Repeat the newest commit's state, so that it stays readable.
    said = {"userMetadata": state.state.to_json()} if state else {}
    properties = CommitProperties(custom_metadata=said)
    table = open_table(path)
    result = table.delete(f"event_time < '{before:%Y-%m-%d %H:%M:%S}'", commit_properties=properties)
    rows = int(result["num_deleted_rows"] or 0)
    if len(table.file_uris()) > _SMALL_FILES:
        table.optimize.compact(commit_properties=properties)
    table.vacuum(dry_run=False)
    return rows
