"""Removes runs from Dagster's storage, but keeps the newest materialization of each partition.

`DagsterInstance.delete_run` also deletes the materializations. Dagster's pages, sensors and probes of assets would then
show existing partitions as missing. It leaves the results of checks, and with SQLite a file of 135 kB for each run. So
the rows are deleted here. A materialization that is kept has no run, and the results of the checks of its run stay.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dagster import AssetKey, DagsterEventType, EventLogEntry
from dagster._core.storage.event_log import SqlEventLogStorage, SqlEventLogStorageTable, SqliteEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, AssetEventTagsTable
from dagster._core.storage.runs import SqlRunStorage
from dagster._core.storage.runs.schema import RunsTable
from dagster._serdes import deserialize_value
from sqlalchemy import and_, delete, exists, or_, select

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import dagster as dg
    from sqlalchemy import Connection, Select

_EVENTS: Final = SqlEventLogStorageTable.c
_MATERIALIZATION: Final = DagsterEventType.ASSET_MATERIALIZATION.value
_SIDE_FILES: Final = ("", "-wal", "-shm")


def stores_rows(instance: dg.DagsterInstance) -> bool:
    """Whether runs and events are in a database whose tables are known here: SQLite or PostgreSQL."""
    has_events = isinstance(instance.event_log_storage, SqlEventLogStorage)
    return has_events and isinstance(instance.run_storage, SqlRunStorage)


def assets_of_runs(instance: dg.DagsterInstance, run_ids: Collection[str]) -> Mapping[str, frozenset[AssetKey]]:
    """The assets that the events of each run name."""
    asked = select(_EVENTS.run_id, _EVENTS.asset_key).where(_EVENTS.run_id.in_(run_ids), _EVENTS.asset_key.is_not(None))
    with _log(instance).index_connection() as connection:
        rows = connection.execute(asked.distinct()).all()
    keys = {run_id: set[AssetKey]() for run_id, _ in rows}
    for run_id, text in rows:
        if (key := AssetKey.from_db_string(text)) is not None:
            keys[run_id].add(key)
    return {run_id: frozenset(named) for run_id, named in keys.items()}


def kept_check_results(instance: dg.DagsterInstance, run_id: str, asset: str) -> list[dg.EventLogEntry]:
    """The events of an asset's checks in a run that was removed."""
    if not stores_rows(instance):
        return []
    checks = AssetCheckExecutionsTable.c
    is_of_run = and_(checks.asset_key == AssetKey([asset]).to_string(), checks.run_id == run_id)
    asked = select(checks.evaluation_event).where(is_of_run, checks.evaluation_event.is_not(None))
    with _log(instance).index_connection() as connection:
        texts = connection.execute(asked.order_by(checks.id)).scalars().all()
    return [deserialize_value(text, EventLogEntry) for text in texts]


def remove_runs(instance: dg.DagsterInstance, run_ids: Sequence[str]) -> None:
    """Remove runs, all in few transactions. The run itself goes last: after a crash, it is removed again."""
    log = _log(instance)
    with log.index_connection() as connection:
        _remove_rows(connection, run_ids)
    for run_id in run_ids:
        if isinstance(log, SqliteEventLogStorage):
            for suffix in _SIDE_FILES:
                Path(log.path_for_shard(run_id) + suffix).unlink(missing_ok=True)
        instance.compute_log_manager.delete_logs(prefix=[run_id, "compute_logs"])
    runs: Any = instance.run_storage
    with runs.connect() as connection:
        connection.execute(delete(RunsTable).where(RunsTable.c.run_id.in_(run_ids)))  # its tags go with it


def remove_files_without_run(instance: dg.DagsterInstance, before: float, most: int) -> int:
    """Remove at most `most` SQLite files of events that no run has, last written before `before` (epoch seconds).

    Dagster makes one for each result of a check that no run reports. Its index has the same events.
    """
    log = instance.event_log_storage
    if not isinstance(log, SqliteEventLogStorage):
        return 0
    index = Path(log.path_for_shard("index"))
    removed = 0
    for file in index.parent.glob("?*.db"):
        if removed == most:
            break
        with suppress(FileNotFoundError):
            if file != index and file.stat().st_mtime < before and not instance.has_run(file.stem):
                for suffix in _SIDE_FILES:
                    Path(f"{file}{suffix}").unlink(missing_ok=True)
                removed += 1
    return removed


def _log(instance: dg.DagsterInstance) -> Any:
    return instance.event_log_storage


def _remove_rows(connection: Connection, run_ids: Sequence[str]) -> None:
    is_of_runs = _EVENTS.run_id.in_(run_ids)
    # By the runs alone: with the kind of events, SQLite would read all events of the kind.
    told = connection.execute(select(_EVENTS.id, _EVENTS.run_id, _EVENTS.dagster_event_type).where(is_of_runs)).all()
    materialized = {number: run_id for number, run_id, kind in told if kind == _MATERIALIZATION}
    kept = connection.execute(_newest_of_partitions().where(_EVENTS.id.in_(materialized))).scalars().all()
    others = set(run_ids) - {materialized[number] for number in kept}
    is_removed = and_(is_of_runs, _EVENTS.id.not_in(kept))
    assets = connection.execute(select(_EVENTS.asset_key).where(is_of_runs).distinct()).scalars().all()
    checks, tags = AssetCheckExecutionsTable, AssetEventTagsTable
    connection.execute(delete(checks).where(checks.c.asset_key.in_(assets), checks.c.run_id.in_(others)))
    connection.execute(delete(tags).where(tags.c.event_id.in_(select(_EVENTS.id).where(is_removed))))
    connection.execute(delete(SqlEventLogStorageTable).where(is_removed))


def _newest_of_partitions() -> Select[Any]:
    """The numbers of materializations that no later one of their partition replaces."""
    later = SqlEventLogStorageTable.alias().c
    is_later = exists().where(
        later.asset_key == _EVENTS.asset_key, later.dagster_event_type == _MATERIALIZATION, later.id > _EVENTS.id
    )
    is_replaced = or_(
        is_later.where(later.partition == _EVENTS.partition),
        and_(_EVENTS.partition.is_(None), is_later.where(later.partition.is_(None))),
    )
    return select(_EVENTS.id).where(~is_replaced)
