"""Results of runs that had ended before: a run whose host was given up may go on, and tell of slices that are others'.

The order is that of Dagster's event log in PostgreSQL, where the events of all runs are numbered together. Any other
storage is of one machine, whose workers are gone before their runs are closed.
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
    """Which materializations are too late to count: of a run that was closed before, and was not the slice's last."""

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}

    def is_late(
        self, instance: dg.DagsterInstance, slice_: Slice, last_runs: Mapping[Slice, str], run: str, at: tuple[str, int]
    ) -> bool:
        """`run` is the center's id of the run that tells, `at` that of Dagster with the event's number."""
        dagster_run, storage_id = at
        last = last_runs.get(slice_)
        if last is None or last == run or not isinstance(instance.event_log_storage, PostgresEventLogStorage):
            return False
        end = self._end_of(instance, dagster_run)
        return end is not None and end < storage_id

    def _end_of(self, instance: dg.DagsterInstance, run_id: str) -> int | None:
        """The number of the event that closed a run in vain; None while it goes on, and where it succeeded."""
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
