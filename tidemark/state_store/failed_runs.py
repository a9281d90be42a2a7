"""Why slices failed, as the state store has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import select

from tidemark.dependency_model.status import Event
from tidemark.state_store.row_codec import TRANSITION, sub_text, transition_of
from tidemark.state_store.schema import TRANSITIONS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database


class FailedRun(NamedTuple):
    """`why` is one sentence, `run_id` the run's id in Dagster (None where there was no run), `at` in UTC."""

    why: str
    run_id: str | None
    at: datetime


_COLUMNS: Final = TRANSITIONS.c


def failed_runs(database: Database, slices: Iterable[Slice]) -> dict[Slice, FailedRun]:
    """The last failure of each slice that has failed. Raises StateStoreDownError."""
    failed: dict[Slice, FailedRun] = {}
    query = select(*(_COLUMNS[name] for name in TRANSITION)).where(_COLUMNS.event == Event.FAILED.value)
    newest = query.order_by(_COLUMNS.seq.desc()).limit(1)
    with database.reading() as connection:
        for slice_ in slices:
            is_its = (_COLUMNS.entity == slice_.entity) & (_COLUMNS.key == slice_.key)
            row = connection.execute(newest.where(is_its, _COLUMNS.sub == sub_text(slice_.sub))).one_or_none()
            if row is not None:
                step = transition_of(row)
                failed[slice_] = FailedRun(step.why, step.run_in_dagster or step.facts.run_id, step.event_time)
    return failed
