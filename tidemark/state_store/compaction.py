"""Making the past smaller: of what happened to a slice before an instant, its last transition stays.

What the slices are now, and what they were at that instant or later, reads as before; the way there is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, exists, select

from tidemark.state_store.schema import TRANSITIONS
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.state_store.database import Database


def compact(database: Database, before: datetime) -> int:
    """Delete the transitions that a later one of the same slice, also before `before`, has replaced; returns how many.

    Event ids go with them: a report that comes again after so long is known only by its slice's run state. The
    `launched` of a slice that is under way stays, as it says what the run reads.
    """
    older, newer = TRANSITIONS.alias("older"), TRANSITIONS.alias("newer")
    limit = microseconds(before)
    replaced = select(older.c.seq).where(
        older.c.record_time < limit,
        exists().where(
            newer.c.entity == older.c.entity,
            newer.c.key == older.c.key,
            newer.c.sub == older.c.sub,
            newer.c.seq > older.c.seq,
            newer.c.record_time < limit,
            ~newer.c.life.in_(("launched", "running")),
        ),
    )
    with database.writing() as connection:
        return connection.execute(delete(TRANSITIONS).where(TRANSITIONS.c.seq.in_(replaced))).rowcount
