"""Slices that failed a blocking rule, for alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.state_store.row_codec import sub_of
from tidemark.state_store.schema import TRANSITIONS

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

AT_ONCE: Final = 10_000


def broken_rules(database: Database, after: int, until: int) -> dict[Slice, str]:
    """The reason by slice, from transitions between two numbers, at most the newest 10,000 slices.

    Raises StateStoreDownError.
    """
    columns = TRANSITIONS.c
    query = (
        select(columns.entity, columns.key, columns.sub, columns.why)
        .where(columns.seq > after, columns.seq <= until, columns.event == Event.QUALITY_FAILED.value)
        .order_by(columns.seq.desc())
        .limit(AT_ONCE)
    )
    with database.reading() as connection:
        rows = connection.execute(query).all()
    return {Slice(entity, key, sub_of(sub)): why for entity, key, sub, why in reversed(rows)}
