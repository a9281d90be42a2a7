"""Slices that broke a blocking rule, as they were told: what alerts about rules are raised from."""

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
    """By slice why, of transitions after a number up to another one, at most 10,000 slices the newest.

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
