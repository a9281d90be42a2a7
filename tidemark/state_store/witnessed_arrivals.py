"""When external slices were seen to come, as the store remembers: what the crawl learns from when it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.state_store.row_codec import sub_of
from tidemark.state_store.schema import TRANSITIONS
from tidemark.state_store.transition import instant_of

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.state_store.database import Database

WITNESS: Final = "probe"
"""Who reports a slice that a probe saw to come."""
LATECOMER: Final = "probe, late"
"""Who reports one that was there before anybody looked."""


def witnessed_arrivals(database: Database, entity: str, most: int) -> list[tuple[Slice, datetime]]:
    """Slices of an entity with when they were first seen, oldest of the newest first."""
    columns = TRANSITIONS.c
    query = (
        select(columns.key, columns.sub, columns.event_time)
        .where(columns.entity == entity, columns.event == Event.OBSERVED.value, columns.who == WITNESS)
        .order_by(columns.key.desc())
        .limit(most)
    )
    with database.reading() as connection:
        rows = connection.execute(query).all()
    return [(Slice(entity, key, sub_of(sub)), instant_of(when)) for key, sub, when in reversed(rows)]
