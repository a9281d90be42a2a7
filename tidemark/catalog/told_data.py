"""The table versions and rows that runs reported for slices, from the state store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import and_, func, or_, select

from tidemark.catalog.partition_contents import ToldData
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.row_codec import sub_of, sub_text
from tidemark.state_store.schema import SLICES, TRANSITIONS
from tidemark.state_store.slice_lookup import alternatives_of
from tidemark.state_store.transition import microseconds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from sqlalchemy import ColumnElement

    from tidemark.state_store.database import Database

NOTHING: Final = ToldData()


def versions_told_since(database: Database, seq: int) -> tuple[int, dict[Slice, int]]:
    """The number of the last transition, and the newest version of each slice in transitions after `seq`."""
    columns, told, last = TRANSITIONS.c, dict[Slice, int](), seq
    query = select(columns.seq, columns.entity, columns.key, columns.sub, columns.snapshot_id)
    query = query.where(columns.seq > seq, columns.snapshot_id.is_not(None)).order_by(columns.seq)
    with database.reading() as connection:
        for last, entity, key, sub, version in connection.execute(query):  # noqa: B007 - the last one is returned
            if version.isdecimal():
                told[Slice(entity, key, sub_of(sub))] = int(version)
    return last, told


def told_data(database: Database, slices: Iterable[Slice], until: datetime | None = None) -> dict[Slice, ToldData]:
    """The last reported version and rows of each slice, by `until` if given."""
    wanted = [(slice_.entity, slice_.key, sub_text(slice_.sub)) for slice_ in slices]
    columns, told = TRANSITIONS.c, dict[Slice, ToldData]()
    query = (
        select(columns.entity, columns.key, columns.sub, columns.snapshot_id, columns.row_count)
        .where(or_(columns.snapshot_id.is_not(None), columns.row_count.is_not(None)))
        .order_by(columns.seq)
    )
    query = query if until is None else query.where(columns.record_time <= microseconds(until))
    with database.reading() as connection:
        for are_some in alternatives_of(columns, wanted):
            for entity, key, sub, version, rows in connection.execute(query.where(are_some)):
                told[Slice(entity, key, sub_of(sub))] = ToldData(_number(version), rows)
    return told


def told_totals(database: Database, entities: Iterable[str]) -> dict[str, ToldData]:
    """The last reported version of each entity, and the reported rows of all of its completed slices."""
    columns, slices = TRANSITIONS.c, SLICES.c
    same = and_(slices.entity == columns.entity, slices.key == columns.key, slices.sub == columns.sub)
    rows = select(columns.entity, func.sum(columns.row_count), func.max(columns.seq))
    rows = rows.join(SLICES, same).where(_is_newest_of({*entities}), slices.life == "completed")
    with database.reading() as connection:
        told = {entity: (int(total), last) for entity, total, last in connection.execute(rows.group_by(columns.entity))}
        last_ones = select(columns.seq, columns.snapshot_id).where(columns.seq.in_([last for _, last in told.values()]))
        versions = {seq: _number(version) for seq, version in connection.execute(last_ones)}
    return {entity: ToldData(versions[last], total) for entity, (total, last) in told.items()}


def past_totals(database: Database, completed: Iterable[Slice], until: datetime) -> dict[str, ToldData]:
    """What `told_totals` answered at an aware instant, at which these slices were completed."""
    there, columns, totals = {*completed}, TRANSITIONS.c, dict[str, ToldData]()
    query = select(columns.entity, columns.key, columns.sub, columns.row_count, columns.snapshot_id)
    query = query.where(_is_newest_of({slice_.entity for slice_ in there}, until)).order_by(columns.seq)
    with database.reading() as connection:
        for entity, key, sub, rows, version in connection.execute(query):
            if Slice(entity, key, sub_of(sub)) in there:
                before = totals.get(entity, NOTHING).rows or 0
                totals[entity] = ToldData(_number(version), before + rows)
    return totals


def _is_newest_of(entities: Collection[str], until: datetime | None = None) -> ColumnElement[bool]:
    """The condition for the last transition of each slice that has rows, by `until` if given."""
    columns = TRANSITIONS.c
    newest = select(func.max(columns.seq)).where(columns.entity.in_(entities), columns.row_count.is_not(None))
    newest = newest if until is None else newest.where(columns.record_time <= microseconds(until))
    return columns.seq.in_(newest.group_by(columns.entity, columns.key, columns.sub))


def _number(version: str | None) -> int | None:
    """A version of a Delta table; None for other systems' versions."""
    return int(version) if version and version.isdecimal() else None
