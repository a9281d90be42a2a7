"""When slices started, ended and failed: what durations are learned from (seed capability A9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status.slice_status import RunState
from tidemark.state_store.row_codec import sub_of
from tidemark.state_store.schema import TRANSITIONS
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

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
    query = (
        select(
            columns.entity,
            columns.key,
            columns.sub,
            columns.event,
            columns.life,
            columns.event_time,
            columns.generation,
        )
        .where(columns.record_time >= microseconds(since))
        .order_by(columns.seq)
    )
    if entities is not None:
        query = query.where(columns.entity.in_(entities))
    with database.reading() as connection:
        return [
            Timing(Slice(entity, key, sub_of(sub)), event, RunState(life), at / 1e6, generation)
            for entity, key, sub, event, life, at, generation in connection.execute(query)
        ]
