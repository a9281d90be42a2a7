"""Looks up many slices at once, each by index and without a table scan, in the way of each database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, or_

from tidemark.state_store.bulk_write import text_array
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

_CHUNK = 5_000
_ALTERNATIVES: Final = 300
"""SQLite parses expressions of at most 1,000 levels."""

_SLICES: Final = {
    "sqlite": """
        SELECT slices.* FROM json_each(?) AS wanted CROSS JOIN slices ON slices.entity = wanted.value ->> 0
            AND slices.key = wanted.value ->> 1 AND slices.sub = wanted.value ->> 2""",
    "postgresql": """
        SELECT slices.* FROM unnest(%s::text[], %s::text[], %s::text[]) AS wanted (entity, key, sub)
        CROSS JOIN LATERAL (SELECT * FROM slices WHERE slices.entity = wanted.entity
            AND slices.key = wanted.key AND slices.sub = wanted.sub OFFSET 0) AS slices""",
}
_BEFORE: Final = {
    "sqlite": "SELECT slices.* FROM slices WHERE entity = ? AND sub = ? AND key < ? ORDER BY key DESC LIMIT ?",
    "postgresql": """
        SELECT slices.* FROM unnest(%s::text[], %s::text[]) AS wanted (entity, sub)
        CROSS JOIN LATERAL (SELECT * FROM slices WHERE slices.entity = wanted.entity AND slices.sub = wanted.sub
            AND slices.key < %s ORDER BY slices.key DESC LIMIT %s) AS slices""",
}
"""Queries with the columns of `CURRENT`, in the same order."""
ARRIVALS: Final = ("completed", "backfilled", "observed", "reached")
"""Events that bring rows: one without a version makes the version before it outdated."""
_VERSIONS: Final = {
    "sqlite": f"""
        SELECT told.entity, told.key, told.sub, told.snapshot_id FROM json_each(?) AS wanted
        CROSS JOIN transitions AS told ON told.entity = wanted.value ->> 0
            AND told.key = wanted.value ->> 1 AND told.sub = wanted.value ->> 2
        WHERE told.snapshot_id IS NOT NULL OR told.event IN {ARRIVALS} ORDER BY told.seq""",  # noqa: S608 - our words
    "postgresql": f"""
        SELECT told.entity, told.key, told.sub, told.snapshot_id
        FROM unnest(%s::text[], %s::text[], %s::text[]) AS wanted (entity, key, sub)
        CROSS JOIN LATERAL (SELECT * FROM transitions WHERE transitions.entity = wanted.entity
            AND transitions.key = wanted.key AND transitions.sub = wanted.sub OFFSET 0) AS told
        WHERE told.snapshot_id IS NOT NULL OR told.event IN {ARRIVALS} ORDER BY told.seq""",  # noqa: S608 - our words
}


def slices_of(connection: Connection, wanted: Sequence[tuple[str, str, str]]) -> list[Any]:
    """Rows of slices by entity, key and sub."""
    return _rows(connection, _SLICES, wanted)


def versions_of(connection: Connection, wanted: Sequence[tuple[str, str, str]]) -> list[Any]:
    """Entity, key, sub and version (or None) for each arrival of these slices, in order for each slice."""
    return _rows(connection, _VERSIONS, wanted)


def slices_before(connection: Connection, wanted: Sequence[tuple[str, str]], before: str, limit: int) -> list[Any]:
    """The last rows of each entity and sub whose keys sort before a text, newest first."""
    if not wanted:
        return []
    if connection.dialect.name == "sqlite":
        text = _BEFORE["sqlite"]
        return [row for place in wanted for row in raw(connection, text, (*place, before, limit))]
    places = map(text_array, zip(*wanted, strict=True))
    return raw(connection, _BEFORE["postgresql"], (*places, before, limit))


def _rows(connection: Connection, texts: Mapping[str, str], wanted: Sequence[tuple[str, str, str]]) -> list[Any]:
    rows: list[Any] = []
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        if connection.dialect.name == "sqlite":
            rows += raw(connection, texts["sqlite"], (json_text(chunk),))
        else:
            rows += raw(connection, texts["postgresql"], tuple(map(text_array, zip(*chunk, strict=True))))
    return rows


def alternatives_of(columns: Any, wanted: Sequence[tuple[str, str, str]]) -> Iterator[ColumnElement[bool]]:
    """Conditions for rows of these entities, keys and subs, some in each condition, that use an index.

    With a list of triples, SQLite would scan the whole table.
    """
    for start in range(0, len(wanted), _ALTERNATIVES):
        places = wanted[start : start + _ALTERNATIVES]
        yield or_(
            *(and_(columns.entity == entity, columns.key == key, columns.sub == sub) for entity, key, sub in places)
        )


def raw(connection: Connection, text: str, values: Any) -> list[Any]:
    """Plain rows of the driver: creating Row objects would cost as much as reading."""
    cursor = connection.exec_driver_sql(text, values).cursor
    return list(cursor.fetchall()) if cursor is not None else []
