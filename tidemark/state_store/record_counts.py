"""Counts of records by event time, reported for the source and the lake (seed capability C4).

A part of a side (a Kafka partition, a commit, a file) reports how many records of a minute it has. A new report
replaces the old one, so repeated reports count once, and their order does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from sqlalchemy import case, func, select
from sqlalchemy.dialects import postgresql, sqlite

from tidemark.state_store.schema import COUNTED_LOGS, RECORD_COUNTS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy import Connection

    from tidemark.state_store.database import Database

Side = Literal["source", "lake"]
_SIDES: Final = ("source", "lake")
_AT_ONCE: Final = 500
"""Parts in one statement."""
_FORGOTTEN: Final = "forgotten"
"""The side of a name's row whose records hold the minute before which counts were deleted."""
_FINAL: Final = "final"
"""The side of a name's row whose records hold the minute up to which the source's counts are final."""


class RecordCount(NamedTuple):
    """`minute` counts from 1970-01-01T00:00Z."""

    name: str
    minute: int
    side: Side
    part: str
    records: int


class RecordCounts:
    """The counts in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def report(self, counts: Sequence[RecordCount], final: Mapping[str, int]) -> None:
        """Store counts, and by name the minute up to which the source's counts are final, in one transaction.

        Raises StateStoreDownError.
        """
        with self._database.writing() as connection:
            number = _next_report(connection)
            known = {name: _final(connection, name) for name in final}
            rows = [{**count._asdict(), "report": number} for count in counts]
            rows += [_final_row(name, max(until, known[name]), number) for name, until in final.items()]
            if rows:
                _put(connection, rows)

    def within(self, name: str, first: int, end: int) -> list[tuple[int, str, str, int]]:
        """(minute, side, part, records) of the minutes `[first, end)`."""
        columns = RECORD_COUNTS.c
        query = (
            select(columns.minute, columns.side, columns.part, columns.records)
            .where(columns.name == name, columns.minute >= first, columns.minute < end, columns.side.in_(_SIDES))
            .order_by(columns.minute, columns.side, columns.part)
        )
        with self._database.reading() as connection:
            return [(row.minute, row.side, row.part, row.records) for row in connection.execute(query)]

    def by_slot(self, name: str, minutes: tuple[int, int], length: int, phase: int) -> dict[int, tuple[int, int]]:
        """Records of the source and of the lake by the start of each slot, all parts added up.

        Slots without any count in `[first, end)` are left out; the first slot of a day begins at minute `phase`.
        """
        columns = RECORD_COUNTS.c
        start = (columns.minute - (columns.minute - phase) % length).label("slot_start")
        of = {side: func.sum(case((columns.side == side, columns.records), else_=0)) for side in ("source", "lake")}
        query = (
            select(start, of["source"], of["lake"])
            .where(columns.name == name, columns.minute >= minutes[0], columns.minute < minutes[1])
            .where(columns.side.in_(_SIDES))
            .group_by("slot_start")
        )
        with self._database.reading() as connection:
            return {at: (int(source), int(lake)) for at, source, lake in connection.execute(query)}

    def position(self, name: str) -> tuple[int, str] | None:
        """The last counted commit of the lake, and the stamp of its file; None if none was counted."""
        columns = COUNTED_LOGS.c
        with self._database.reading() as connection:
            row = connection.execute(select(columns.version, columns.stamp).where(columns.name == name)).one_or_none()
        return None if row is None else (row.version, row.stamp)

    def report_lake(
        self,
        name: str,
        counts: Sequence[RecordCount],
        removed: Collection[str] | None,
        position: tuple[int, str] | None,
        final: int = 0,
        *,
        is_source_anew: bool = False,
    ) -> None:
        """Store counts of commits up to a position, in one transaction; `removed` parts get zero records.

        Without `removed`, all known parts are replaced. If the commits also contain the source's counts, these are
        among `counts`, are `final` up to a minute, and with `is_source_anew` replace all earlier ones. Raises
        StateStoreDownError.
        """
        columns = RECORD_COUNTS.c
        of_lake = (columns.name == name) & (columns.side == "lake") & (columns.records != 0)
        parts = [None] if removed is None else sorted(removed)
        with self._database.writing() as connection:
            number = _next_report(connection)
            for start in range(0, len(parts), _AT_ONCE):
                these = of_lake if removed is None else of_lake & columns.part.in_(parts[start : start + _AT_ONCE])
                connection.execute(RECORD_COUNTS.update().where(these).values(records=0, report=number))
            if is_source_anew:
                of_source = (columns.name == name) & (columns.side == "source") & (columns.records != 0)
                connection.execute(RECORD_COUNTS.update().where(of_source).values(records=0, report=number))
            if counts:
                _put(connection, [{**count._asdict(), "report": number} for count in counts])
            if final > _final(connection, name):
                _put(connection, [_final_row(name, final, number)])
            connection.execute(COUNTED_LOGS.delete().where(COUNTED_LOGS.c.name == name))
            if position is not None:
                connection.execute(COUNTED_LOGS.insert().values(name=name, version=position[0], stamp=position[1]))

    def forget_before(self, name: str, minute: int) -> None:
        """Delete older counts; final minutes stay final. This is a report too, so readers of counts read again."""
        columns = RECORD_COUNTS.c
        old = (columns.name == name) & (columns.minute < minute) & (columns.side.in_(_SIDES))
        with self._database.writing() as connection:
            number = _next_report(connection)
            if connection.execute(RECORD_COUNTS.delete().where(old)).rowcount:
                # Numbers are never reused, even if the newest report only has deleted counts.
                until = max(minute, _noted(connection, name, _FORGOTTEN)[0])
                note = {"name": name, "minute": 0, "side": _FORGOTTEN, "part": "", "records": until}
                _put(connection, [{**note, "report": number}])

    def forgotten(self, name: str) -> tuple[int, int]:
        """The minute before which counts were deleted, and the number of that report; 0 for never."""
        with self._database.reading() as connection:
            return _noted(connection, name, _FORGOTTEN)

    def newest_report(self) -> int:
        """The number of the last report; 0 before the first."""
        with self._database.reading() as connection:
            return _next_report(connection) - 1

    def final_until(self, name: str) -> int:
        """The minute up to which the source's counts are final; 0 if unknown."""
        with self._database.reading() as connection:
            return _final(connection, name)

    def reported_after(self, report: int, most: int) -> list[tuple[int, str, int]]:
        """(report, name, minute) of counts after a report, in order."""
        columns = RECORD_COUNTS.c
        query = (
            select(columns.report, columns.name, columns.minute)
            .where(columns.report > report, columns.side.in_(_SIDES))
            .order_by(columns.report)
            .limit(most)
        )
        with self._database.reading() as connection:
            return [(row.report, row.name, row.minute) for row in connection.execute(query)]


def _next_report(connection: Connection) -> int:
    return int(connection.execute(select(func.coalesce(func.max(RECORD_COUNTS.c.report), 0))).scalar_one()) + 1


def _final(connection: Connection, name: str) -> int:
    return _noted(connection, name, _FINAL)[0]


def _noted(connection: Connection, name: str, side: str) -> tuple[int, int]:
    """The value of a name's note, and the report that wrote it; 0 if there is none."""
    columns = RECORD_COUNTS.c
    query = select(columns.records, columns.report)
    row = connection.execute(query.where(columns.name == name, columns.minute == 0, columns.side == side)).one_or_none()
    return (0, 0) if row is None else (row.records, row.report)


def _final_row(name: str, until: int, number: int) -> dict[str, object]:
    return {"name": name, "minute": 0, "side": _FINAL, "part": "", "records": until, "report": number}


def _put(connection: Connection, rows: list[dict[str, object]]) -> None:
    """Insert rows, or update the numbers of existing ones."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(RECORD_COUNTS)
    new = {"records": statement.excluded.records, "report": statement.excluded.report}
    connection.execute(
        statement.on_conflict_do_update(index_elements=["name", "minute", "side", "part"], set_=new), rows
    )
