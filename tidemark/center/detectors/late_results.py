"""Detects results of runs that had already ended: a run of a lost host may continue, and report slices of another run.

The order is that of Dagster's event log in PostgreSQL, which numbers the events of all runs. Any other storage belongs
to one machine, whose workers end before their runs are closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg
from dagster import DagsterEventType
from dagster_postgres import PostgresEventLogStorage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.slice import Slice

_GIVEN_UP: Final = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
_ENDS: Final = {DagsterEventType.RUN_FAILURE, DagsterEventType.RUN_CANCELED}
_MOST_RUNS: Final = 1_000


class LateResults:
    """Finds materializations that are too late: their run was closed before, and was not the slice's last run."""

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}

    def is_late(
        self, instance: dg.DagsterInstance, slice_: Slice, last_runs: Mapping[Slice, str], run: str, at: tuple[str, int]
    ) -> bool:
        """`run` is the center's run id, `at` Dagster's run id with the event's number."""
        dagster_run, storage_id = at
        last = last_runs.get(slice_)
        if last is None or last == run or not isinstance(instance.event_log_storage, PostgresEventLogStorage):
            return False
        end = self._end_of(instance, dagster_run)
        return end is not None and end < storage_id

    def _end_of(self, instance: dg.DagsterInstance, run_id: str) -> int | None:
        """The number of the event that closed a failed run; None while it is active, or after a success."""
        if run_id in self._ends:
            return self._ends[run_id]
        run = instance.get_run_by_id(run_id) if run_id else None
        if run is None or run.status not in _GIVEN_UP:
            return None
        records = instance.get_records_for_run(run_id, of_type=_ENDS, limit=1).records
        if not records:
            return None
        if len(self._ends) >= _MOST_RUNS:
            self._ends.clear()
        self._ends[run_id] = records[0].storage_id
        return self._ends[run_id]
