"""Removes runs that ended long ago from Dagster's storage (`runs_days`).

A run stays while something may look at it: an active slice, an active backfill of Tidemark or Dagster, an active run
that repeats it, or a center that has not read its events. Runs of assets that the project does not compute stay too.
The newest materialization of each partition is kept, so no slice changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.center.detectors.event_log import TIME_CURSOR
from tidemark.center.launchers.run_tags import BACKFILL_TAG
from tidemark.dagster_internals.backfills import BACKFILL_TAG as DAGSTER_BACKFILL_TAG
from tidemark.dagster_internals.backfills import open_backfill_ids
from tidemark.dagster_internals.stored_runs import (
    assets_of_runs,
    remove_files_without_run,
    remove_runs,
    stores_rows,
)
from tidemark.state_store.backfills import Backfills
from tidemark.warm_runs.run_identity import RUN_TAG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.state_store.store import StateStore
    from tidemark.warehouse.warehouse import Warehouse

OWN_JOBS: Final = frozenset({"cluster", "rebuild", "repair", "vacuum"})
"""Jobs of Tidemark without assets."""
_UNREAD: Final = timedelta(minutes=10)
"""Events within this time of the newest one that the center read may be unread."""
_ENDED: Final = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
_ACTIVE: Final = tuple(status for status in dg.DagsterRunStatus if status not in _ENDED)


@dataclass(frozen=True)
class _InUse:
    """The active work, by the ids that runs have in their tags."""

    runs: frozenset[str]
    backfills: frozenset[str]
    dagster_backfills: frozenset[str]

    def has(self, run: dg.DagsterRun) -> bool:
        return (
            not self.runs.isdisjoint({run.run_id, run.tags.get(RUN_TAG)})
            or run.tags.get(BACKFILL_TAG) in self.backfills
            or run.tags.get(DAGSTER_BACKFILL_TAG) in self.dagster_backfills
        )


class OldRuns:
    """For one project and its Dagster storage."""

    def __init__(self, warehouse: Warehouse, store: StateStore) -> None:
        self._warehouse, self._store = warehouse, store
        self._days = warehouse.settings.runs_days
        self._pages: Iterator[list[str]] = iter(())

    def poll(self, instance: dg.DagsterInstance, now: datetime, most: int) -> int:
        """Remove some of the next `most` old runs; returns the number. After the last one it begins again."""
        page = next(self._pages, None)
        if page is None:
            self._pages = self.pages(instance, now, most)
            page = next(self._pages, [])
        if page:
            remove_runs(instance, page)
        return len(page)

    def remove_files(self, instance: dg.DagsterInstance, now: datetime, most: int) -> int:
        """Remove old SQLite files of events without a run; returns the number."""
        before = self._before(now)
        return remove_files_without_run(instance, before.timestamp(), most) if before else 0

    def pages(self, instance: dg.DagsterInstance, now: datetime, size: int) -> Iterator[list[str]]:
        """The ids of runs to remove, oldest first, among `size` runs at once. Reads only."""
        before = self._before(now)
        if before is None or not stores_rows(instance):
            return
        after: datetime | None = None
        while records := instance.get_run_records(
            dg.RunsFilter(statuses=list(_ENDED), updated_after=after, updated_before=before),
            limit=size,
            order_by="update_timestamp",
            ascending=True,
        ):
            after = records[-1].update_timestamp
            yield self._removable(instance, [record.dagster_run for record in records])

    def _before(self, now: datetime) -> datetime | None:
        """Runs that ended before this instant are old; None if all runs are kept, or the center has read no event."""
        newest_read = float(self._store.read.cursor(TIME_CURSOR) or 0)
        if not self._days or not newest_read:
            return None
        return min(now - timedelta(days=self._days), datetime.fromtimestamp(newest_read, UTC) - _UNREAD)

    def _removable(self, instance: dg.DagsterInstance, runs: list[dg.DagsterRun]) -> list[str]:
        in_use, assets = self._in_use(instance), assets_of_runs(instance, [run.run_id for run in runs])
        return [
            run.run_id
            for run in runs
            if self._is_ours(run, assets.get(run.run_id, frozenset())) and not in_use.has(run)
        ]

    def _is_ours(self, run: dg.DagsterRun, named: frozenset[dg.AssetKey]) -> bool:
        keys = {*named, *(run.asset_selection or ())}
        return all(self._is_computed(key) for key in keys) if keys else run.job_name in OWN_JOBS

    def _is_computed(self, key: dg.AssetKey) -> bool:
        name = key.to_user_string()
        return name in self._warehouse.entities and not self._warehouse.is_external(name)

    def _in_use(self, instance: dg.DagsterInstance) -> _InUse:
        active = instance.get_runs(dg.RunsFilter(statuses=list(_ACTIVE)))
        repeated = {run_id for run in active for run_id in (run.parent_run_id, run.root_run_id) if run_id}
        backfills = Backfills(self._store.database).active()
        return _InUse(
            runs=frozenset({*self._store.read.runs_under_way(), *repeated}),
            backfills=frozenset(str(row.number) for row in backfills),
            dagster_backfills=open_backfill_ids(instance),
        )
