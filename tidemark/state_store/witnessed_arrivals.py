"""Stored arrivals of external slices, from which the crawl learns at its start."""

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
"""The reporter of a slice whose arrival a probe saw."""
LATECOMER: Final = "probe, late"
"""The reporter of a slice that existed before the first look."""
AGAIN: Final = "probe, again"
"""The reporter of a slice about which something was reported before."""

ORIGIN: Final = "replica"
"""The parameter of an observed slice of a replica: the facts that travelled with it from its source."""


def witnessed_arrivals(database: Database, entity: str, most: int) -> list[tuple[Slice, datetime]]:
    """The newest slices of an entity with the time of their first sight, oldest first."""
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
