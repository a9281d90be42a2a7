"""Why slices failed, from the state store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import case, func, select

from tidemark.dependency_model.status import Event
from tidemark.state_store.row_codec import TRANSITION, sub_text, transition_of
from tidemark.state_store.schema import TRANSITIONS
from tidemark.state_store.transition import FailureCount, microseconds

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database


class FailedRun(NamedTuple):
    """`why` is one sentence, `run_id` the run's id in Dagster (None without a run), `at` in UTC.

    `failures` is the number of failures of the slice's generation by then.
    """

    why: str
    run_id: str | None
    at: datetime
    failures: FailureCount


_COLUMNS: Final = TRANSITIONS.c
_ENDS: Final = (Event.FAILED.value, Event.CANCELLED.value)


def failed_runs(database: Database, slices: Iterable[Slice], until: datetime | None = None) -> dict[Slice, FailedRun]:
    """The last failure of each slice, recorded by the given instant if there is one.

    Raises StateStoreDownError.
    """
    failed: dict[Slice, FailedRun] = {}
    failure = func.sum(case((_COLUMNS.event == Event.FAILED.value, 1), else_=0))
    times = failure.over(partition_by=_COLUMNS.generation)
    query = select(*(_COLUMNS[name] for name in TRANSITION), times).where(_COLUMNS.event.in_(_ENDS))
    query = query if until is None else query.where(_COLUMNS.record_time <= microseconds(until))
    newest = query.order_by(_COLUMNS.seq.desc()).limit(1)
    with database.reading() as connection:
        for slice_ in slices:
            is_its = (_COLUMNS.entity == slice_.entity) & (_COLUMNS.key == slice_.key)
            row = connection.execute(newest.where(is_its, _COLUMNS.sub == sub_text(slice_.sub))).one_or_none()
            if row is not None:
                step = transition_of(row[:-1])
                is_held = step.event is Event.CANCELLED
                count = FailureCount(step.status.generation, int(row[-1]), step.seq, step.record_time, is_held=is_held)
                failed[slice_] = FailedRun(step.why, step.run_in_dagster or step.facts.run_id, step.event_time, count)
    return failed
