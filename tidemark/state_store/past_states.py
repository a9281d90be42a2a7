"""States of slices at a past instant: the last transition of each that was recorded by then (seed capability D8).

The slices of a range of keys (a day, a month) come from the projection. The transitions of each are read backwards by
index, so the cost depends only on the requested slices. For times older than `history_days`, the last transition of a
slice stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.slice import Slice
from tidemark.state_store.row_codec import STATUS, readable_status, sub_of
from tidemark.state_store.slice_lookup import raw
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.database import Database

_FAR: Final = "~"
"""Sorts after every key."""
_COLUMNS: Final = f"slices.entity, slices.key, slices.sub, {', '.join(f'last.{name}' for name in STATUS)}, last.seq"
_LAST: Final = {
    "sqlite": f"""
        SELECT {_COLUMNS} FROM slices CROSS JOIN transitions AS last ON last.seq = (
            SELECT seq FROM transitions AS past WHERE past.entity = slices.entity AND past.key = slices.key
            AND past.sub = slices.sub AND past.record_time <= ? ORDER BY past.seq DESC LIMIT 1)
        WHERE slices.key >= ? AND slices.key < ? AND slices.seq > 0""",  # noqa: S608 - names of our columns
    "postgresql": f"""
        SELECT {_COLUMNS} FROM slices CROSS JOIN LATERAL (
            SELECT * FROM transitions AS past WHERE past.entity = slices.entity
            AND past.key = slices.key COLLATE "default" AND past.sub = slices.sub AND past.record_time <= %s
            ORDER BY past.seq DESC LIMIT 1) AS last
        WHERE slices.key >= %s AND slices.key < %s AND slices.seq > 0""",  # noqa: S608
}

_OF_ENTITY: Final = {"sqlite": " AND slices.entity = ?", "postgresql": " AND slices.entity = %s"}


class PastState(NamedTuple):
    """A slice after transition `seq`, the last one that was recorded by then."""

    slice: Slice
    status: SliceStatus
    seq: int


def states_at(
    database: Database, when: datetime, first: str = "", end: str = _FAR, *, entity: str | None = None
) -> list[PastState]:
    """Slices with an event by `when` (aware), with keys from `first` (included) to `end` (excluded).

    For all entities, or for one. Raises StateStoreDownError.
    """
    values = (microseconds(when), first, end)
    with database.reading() as connection:
        name = connection.dialect.name
        if entity is None:
            rows = raw(connection, _LAST[name], values)
        else:
            rows = raw(connection, _LAST[name] + _OF_ENTITY[name], (*values, entity))
    return [
        PastState(Slice(entity, key, sub_of(sub)), readable_status(status)[0], seq)
        for entity, key, sub, *status, seq in rows
    ]
