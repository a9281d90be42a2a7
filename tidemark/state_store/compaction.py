"""Making the past smaller: of what happened to a slice before an instant, its last transition stays.

What the slices are now, and what they were at that instant or later, reads as before; the way there is gone. How often
the present generation of a slice failed stays, too: who counts attempts would begin again.
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
"""Transitions a commit deletes: others who write, and the lease's renewal, wait no longer than for that."""


def compact(database: Database, before: datetime, most: int | None = None) -> int:
    """Delete the transitions that a later one of the same slice, also before `before`, has replaced; returns how many.

    Event ids go with them: a report that comes again after so long is known only by its slice's run state. The
    `launched` of a slice that is under way stays, as it says what the run reads. No more than about `most`.
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
    """The numbers of the next transitions after `last` that were deleted, in order."""
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
    """Whether a failure is of the present generation of a slice that is not there yet."""
    slices = SLICES.c
    return exists().where(
        slices.entity == failed.entity,
        slices.key == failed.key,
        slices.sub == failed.sub,
        slices.generation == failed.generation,
        slices.life != "completed",
    )
