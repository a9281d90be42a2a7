"""When slices started, ended and failed: what durations are learned from (seed capability A9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status.slice_status import RunState
from tidemark.state_store.row_codec import sub_of
from tidemark.state_store.schema import TRANSITIONS
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement

    from tidemark.state_store.database import Database


class Timing(NamedTuple):
    """A slice came to a run state at `at`, seconds since 1970."""

    slice: Slice
    event: str
    run_state: RunState
    at: float
    generation: int


def timings(database: Database, since: datetime, entities: Collection[str] | None = None) -> list[Timing]:
    """All transitions recorded since an instant (aware), of all entities or of some, in order.

    Raises StateStoreDownError.
    """
    columns = TRANSITIONS.c
    query = select(*_columns()).where(columns.record_time >= microseconds(since)).order_by(columns.seq)
    if entities is not None:
        query = query.where(columns.entity.in_(entities))
    with database.reading() as connection:
        return [_timing(row) for row in connection.execute(query)]


def newest_timings(database: Database, after: int, most: int) -> tuple[int, list[Timing]]:
    """The newest transitions after a number, at most so many, in order; and the number of the last of them.

    Raises StateStoreDownError.
    """
    seq = TRANSITIONS.c.seq
    query = select(*_columns(), seq).where(seq > after).order_by(seq.desc()).limit(most)
    with database.reading() as connection:
        rows = connection.execute(query).all()
    return (rows[0].seq if rows else after), [_timing(row[:-1]) for row in reversed(rows)]


def _columns() -> tuple[ColumnElement[Any], ...]:
    columns = TRANSITIONS.c
    return (
        columns.entity,
        columns.key,
        columns.sub,
        columns.event,
        columns.life,
        columns.event_time,
        columns.generation,
    )


def _timing(row: Sequence[Any]) -> Timing:
    entity, key, sub, event, life, at, generation = row
    return Timing(Slice(entity, key, sub_of(sub)), event, RunState(life), at / 1e6, generation)
