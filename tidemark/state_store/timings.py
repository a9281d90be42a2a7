"""Start, end and failure times of slices, for learning durations (seed capability A9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, select

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status.slice_status import RunState
from tidemark.state_store.row_codec import sub_of
from tidemark.state_store.schema import SLICE_CODES, TRANSITIONS
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select

    from tidemark.state_store.database import Database


class Timing(NamedTuple):
    """The time `at` which a slice reached a run state, in seconds since 1970, with the run, its rows and its code.

    The last three are None or empty if not reported, or if the slice was computed again since (code).
    """

    slice: Slice
    event: str
    run_state: RunState
    at: float
    generation: int
    run_id: str | None = None
    rows: int | None = None
    code: str = ""


def timings(
    database: Database,
    since: datetime,
    entities: Collection[str] | None = None,
    *,
    after: int = 0,
    until: int | None = None,
) -> list[Timing]:
    """Transitions since an instant (aware), in order; for given entities, one entity after the other.

    `after` (excluded) and `until` (included) are numbers of transitions. Raises StateStoreDownError.
    """
    columns = TRANSITIONS.c
    is_wanted = (columns.record_time >= microseconds(since)) & (columns.seq > after)
    query = _selected().where(is_wanted).order_by(columns.seq)
    query = query if until is None else query.where(columns.seq <= until)
    with database.reading() as connection:
        if entities is None:
            return [_timing(row) for row in connection.execute(query)]
        told: list[Timing] = []
        for name in entities:  # one index range for each entity
            told += [_timing(row) for row in connection.execute(query.where(columns.entity == name))]
        return told


def newest_timings(database: Database, after: int, most: int) -> tuple[int, list[Timing]]:
    """The newest transitions after a number, limited, in order; and the number of the last one.

    Raises StateStoreDownError.
    """
    seq = TRANSITIONS.c.seq
    query = _selected(seq).where(seq > after).order_by(seq.desc()).limit(most)
    with database.reading() as connection:
        rows = connection.execute(query).all()
    return (rows[0].seq if rows else after), [_timing(row[:-1]) for row in reversed(rows)]


def _selected(*more: ColumnElement[Any]) -> Select[Any]:
    """Columns of a timing, and `more`."""
    columns = TRANSITIONS.c
    names = ("entity", "key", "sub", "generation")
    of_run = and_(columns.life == RunState.COMPLETED.value, *(SLICE_CODES.c[name] == columns[name] for name in names))
    return select(
        columns.entity,
        columns.key,
        columns.sub,
        columns.event,
        columns.life,
        columns.event_time,
        columns.generation,
        columns.run_id,
        columns.row_count,
        SLICE_CODES.c.code,
        *more,
    ).select_from(TRANSITIONS.outerjoin(SLICE_CODES, of_run))


def _timing(row: Sequence[Any]) -> Timing:
    entity, key, sub, event, life, at, generation, run_id, rows, code = row
    return Timing(
        Slice(entity, key, sub_of(sub)), event, RunState(life), at / 1e6, generation, run_id, rows, code or ""
    )
