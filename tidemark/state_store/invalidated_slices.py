"""Slices that became invalid, by transition: the start of an invalid state in Dagster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.state_store.row_codec import sub_of
from tidemark.state_store.schema import TRANSITIONS

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

INVALIDATES: Final = (Event.QUALITY_FAILED, Event.FLAGGED, Event.TAINTED, Event.OVERWRITTEN)


def invalidated_slices(database: Database, after: int, until: int, most: int) -> tuple[list[Slice], int]:
    """Invalidated slices of the next transitions after a number, limited, and the number up to which they are complete.

    Raises StateStoreDownError.
    """
    columns = TRANSITIONS.c
    query = (
        select(columns.entity, columns.key, columns.sub, columns.seq)
        .where(columns.seq > after, columns.seq <= until, columns.event.in_([event.value for event in INVALIDATES]))
        .order_by(columns.seq)
        .limit(most)
    )
    with database.reading() as connection:
        rows = connection.execute(query).all()
    slices = [Slice(entity, key, sub_of(sub)) for entity, key, sub, _ in rows]
    return slices, rows[-1].seq if len(rows) == most else until
