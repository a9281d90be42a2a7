"""Compacts old transitions: before an instant, only the last transition of each slice stays.

Current states, and states at that instant or later, do not change; the steps before are deleted. The failures of a
slice's present generation stay too, because attempts are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import delete, exists, or_, select

from tidemark.state_store.schema import SLICES, TRANSITIONS
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement

    from tidemark.state_store.database import Database

BATCH: Final = 2_000
"""Transitions that one commit deletes, so that other writers and the lease's renewal wait only briefly."""


def compact(database: Database, before: datetime, most: int | None = None) -> int:
    """Delete transitions before `before` that a later one of the same slice has replaced; returns their number.

    Their event ids are deleted too: a report that is repeated much later is recognized only by the slice's run state.
    The `launched` of an active slice stays, because it says what the run reads. Deletes about `most` at a time.
    """
    deleted, last = 0, 0
    while most is None or deleted < most:
        numbers = _delete_some(database, microseconds(before), last)
        deleted += len(numbers)
        if len(numbers) < BATCH:
            break
        last = numbers[-1]
    return deleted


def _delete_some(database: Database, limit: int, last: int) -> list[int]:
    """Numbers of the deleted transitions after `last`, in order."""
    older, newer = TRANSITIONS.alias("older"), TRANSITIONS.alias("newer")
    replaced = (
        select(older.c.seq)
        .where(
            older.c.seq > last,
            older.c.record_time < limit,
            exists().where(
                newer.c.entity == older.c.entity,
                newer.c.key == older.c.key,
                newer.c.sub == older.c.sub,
                newer.c.seq > older.c.seq,
                newer.c.record_time < limit,
                ~newer.c.life.in_(("launched", "running")),
            ),
            or_(older.c.event.not_in(("failed", "cancelled")), ~_counts(older.c)),
        )
        .order_by(older.c.seq)
        .limit(BATCH)
    )
    with database.writing() as connection:
        numbers = list(connection.execute(replaced).scalars())
        if numbers:
            connection.execute(delete(TRANSITIONS).where(TRANSITIONS.c.seq.in_(numbers)))
    return numbers


def _counts(failed: Any) -> ColumnElement[bool]:
    """Whether a failure belongs to the present generation of a slice that is not complete yet."""
    slices = SLICES.c
    return exists().where(
        slices.entity == failed.entity,
        slices.key == failed.key,
        slices.sub == failed.sub,
        slices.generation == failed.generation,
        slices.life != "completed",
    )
